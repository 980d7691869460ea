"""Reverse-mode automatic differentiation: `gradient`, first order and higher order, and LazyGradientInit."""

from __future__ import annotations
