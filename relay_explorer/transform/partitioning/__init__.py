"""Partition a program for external compilers: annotate, merge, and cut out regions (TVM's BYOC flow)."""

from __future__ import annotations
