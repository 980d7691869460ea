"""Operators being grouped into kernels, decision by decision."""

from __future__ import annotations
