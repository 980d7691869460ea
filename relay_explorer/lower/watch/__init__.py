"""What became of a kernel on its way to machine code, read off and counted. Nothing runs by it."""

from __future__ import annotations
