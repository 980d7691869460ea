"""Values of running programs: `relay.backend.…`."""

from __future__ import annotations

from . import interpreter as interpreter
