"""What the page offers: the views with their options, the passes, and programs to start from."""

from __future__ import annotations

from typing import Any

from ..transform.infrastructure import list_passes
from ..views.registry import views
from .examples import EXAMPLES

#: Views that need what does not run in a page, and where they can be seen.
LEFT_OUT = {
    "lowering": "it needs TVM's code generators: see chapter 21, or use the package in Python",
    "source": "it shows the nodes of an imported model, which its text does not keep: see chapter 9",
    "quantize": "it calibrates with NumPy: see chapter 20, or use the package in Python",
}

#: In the order in which the page lists them.
VIEWS = (
    "types", "ir", "sharing", "fusion", "pipeline", "partial", "gradient", "evaluation", "machine", "memory",
    "costs", "compare",
)  # fmt: skip


def description() -> dict[str, Any]:
    """Return the choices of the page as plain data."""
    every = views()
    return {
        "views": [
            {"name": name, "help": every[name].help, "options": list(every[name].option_names())}
            for name in VIEWS
        ],
        "passes": [{"usage": entry.usage, "summary": entry.summary} for entry in list_passes()],
        "examples": [
            {
                "title": example.title,
                "view": example.view,
                "text": example.text,
                "options": dict(example.options),
            }
            for example in EXAMPLES
        ],
    }
