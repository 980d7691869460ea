"""Type inference, recorded and replayed step by step."""

from __future__ import annotations
