"""Partial evaluation: what is computed at compile time, and the residual program."""

from __future__ import annotations
