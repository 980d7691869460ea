"""Convert a module, or a recorded run, to plain data that the front end draws."""

from __future__ import annotations
