"""Convert programs to continuation-passing style, and wrap them for direct callers."""

from __future__ import annotations
