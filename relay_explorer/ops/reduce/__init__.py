"""Reductions: operators that reduce whole axes of a tensor to one element each."""

from __future__ import annotations
