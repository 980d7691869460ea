"""Relay, the functional, typed language for deep learning, in readable Python, with explorers that show
what a compiler does.

    from relay_explorer import relay, explore, models
    explore(models.load("lenet"), view="types")

Importing this package loads nothing else: its parts are loaded when they are first named.

Public, and kept from release to release, are the names of this module (`relay`, `explore`, `build`, `load`,
`models`, `testing` …), and what these packages list in their `__all__`: `ir`, `text`, `typing`, `prelude`,
`ops`, `analysis`, `dataflow_pattern`, `transform`, `execute`, `models`, `testing`, `grading`, `compat`.
Import them from the package. Every other module is internal: anyone may look inside, as the book does, and it
may change with any release. What begins with an underscore is for its own package alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _project

if TYPE_CHECKING:
    from . import models, relay, testing
    from .explorer import Explorer, explore
    from .lower.build import build
    from .lower.saving import load

__version__ = _project.VERSION

__all__ = ["Explorer", "__version__", "build", "explore", "load", "models", "relay", "testing"]

_PLACES = {
    "explore": ".explorer:explore",
    "Explorer": ".explorer:Explorer",
    "build": ".lower.build:build",
    "load": ".lower.saving:load",
    "models": ".models",
    "relay": ".relay",
    "testing": ".testing",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"relay_explorer has no {name!r}; it has {', '.join(__all__)}")
    module, _, attribute = place.partition(":")
    found: Any = importlib.import_module(module, __name__)
    if attribute:
        found = getattr(found, attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
