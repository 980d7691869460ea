"""Measurements, each a ratio to an alternative that a user would otherwise choose. `make bench` runs all of
them.
"""

from __future__ import annotations
