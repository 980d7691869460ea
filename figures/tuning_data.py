"""The measurements of `benchmarks/tuning.py`, for the figures of chapter 26."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "relay_explorer" / "lower" / "profiling" / "measured" / "tuning.json"


@cache
def measured() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
    return table
