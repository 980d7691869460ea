"""The program before and after each pass of a pipeline."""

from __future__ import annotations
