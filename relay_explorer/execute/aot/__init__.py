"""Ahead-of-time compilation: translate a program of the virtual machine to C, which runs without Python."""

from __future__ import annotations

from .program import NativeSource, native_source

__all__ = ["NativeSource", "native_source"]
