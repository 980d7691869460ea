"""What the page offers: the views with their options, the passes, and programs to start from."""

from __future__ import annotations

from typing import Any

from ..transform.infrastructure import list_passes
from ..views.registry import views
from .examples import EXAMPLES

MAX_MODEL = 256_000_000  # bytes of a file with a model

#: Views that need what does not run in a page, and where they can be seen.
LEFT_OUT = {
    "lowering": "it needs TVM's code generators: see chapter 21, or use the package in Python",
    "quantize": "it calibrates with NumPy: see chapter 20, or use the package in Python",
}

#: In the order in which the page lists them.
VIEWS = (
    "types", "ir", "sharing", "fusion", "pipeline", "partial", "gradient", "evaluation", "machine", "memory",
    "costs", "compare", "source",
)  # fmt: skip


def options_of(view: str) -> tuple[str, ...]:
    """Return the options of a view in the page. Kernels are not timed there, and arguments only for that are
    no option.
    """
    names = views()[view].option_names()
    return tuple([name for name in names if name != "args" or "measure" not in names])


def description() -> dict[str, Any]:
    """Return the choices of the page as plain data."""
    every = views()
    return {
        "views": [
            {"name": name, "help": every[name].help, "options": list(options_of(name))} for name in VIEWS
        ],
        "largest_model": MAX_MODEL,
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
