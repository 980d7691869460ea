"""Layouts, and the rules by which operators propagate them from operands to results."""

from __future__ import annotations
