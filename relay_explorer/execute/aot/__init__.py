"""Ahead of time: a program of the virtual machine as C, which needs no Python when it runs."""

from __future__ import annotations

from .program import NativeSource, native_source

__all__ = ["NativeSource", "native_source"]
