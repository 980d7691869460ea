"""Where each value is stored, and from when to when."""

from __future__ import annotations
