"""Reductions: operators that fold whole axes of a tensor into one number each."""

from __future__ import annotations
