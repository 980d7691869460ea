"""What is done to a program before its operators are fused into kernels: one pass a file."""

from __future__ import annotations
