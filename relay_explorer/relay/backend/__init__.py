"""`relay.backend.…`: the values of running programs."""

from __future__ import annotations

from . import interpreter as interpreter
