"""Layouts, and the rules by which operators carry them from operands to results."""

from __future__ import annotations
