"""Measurements, each a ratio against what a user would pick instead. `make bench` runs all of them."""

from __future__ import annotations
