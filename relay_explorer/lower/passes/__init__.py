"""The passes that transform a program before its operators are fused into kernels, one per file."""

from __future__ import annotations
