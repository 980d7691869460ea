"""ToMixedPrecision: compute in a narrower element type where accuracy allows it."""

from __future__ import annotations
