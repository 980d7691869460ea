"""A kernel from Relay to machine code, one level beside the next."""

from __future__ import annotations
