"""A recorded run of the interpreter, step by step."""

from __future__ import annotations
