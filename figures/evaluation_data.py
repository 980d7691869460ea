"""The measurements that chapter 33 sets beside the paper's evaluation, for its charts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "relay_explorer" / "lower" / "profiling" / "measured" / "evaluation.json"


@cache
def collected() -> dict[str, Any]:
    """Return what `benchmarks/evaluation.py` wrote."""
    tables: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
    return tables
