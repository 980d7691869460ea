"""One sample of every view, for what holds in all explorers."""

from __future__ import annotations

import json
from typing import Any

from relay_explorer import explore
from relay_explorer.views import registry
from tests.browser.explorers import Samples
from tests.views.programs import SHARED, program

#: The sample of each view among those that are stored for the front end's tests.
STORED = {
    "compare": "hand",
    "evaluation": "tree",
    "fusion": "obstacle",
    "gradient": "layer",
    "lowering": "layer",
    "machine": "tree",
    "memory": "block",
    "partial": "tree",
    "pipeline": "small",
    "quantize": "layers",
    "run": "small",
    "sharing": "branches",
    "source": "net",
}
VIEWS = sorted({*registry.views(), *STORED})


def sample(view: str) -> dict[str, Any]:
    """A small view of this kind; where none is stored, of a program of three calls."""
    if view in STORED:
        return Samples(view)(STORED[view])
    data: dict[str, Any] = json.loads(explore(program(SHARED), view=view).to_json())
    return data
