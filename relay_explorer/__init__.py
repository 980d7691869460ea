"""Relay, the functional, typed language for deep learning, in readable Python, with explorers that show
what a compiler does.

    from relay_explorer import relay, explore, models
    explore(models.load("lenet"), view="types")

Importing this package loads nothing else: its parts are loaded at their first use.

The public names, which remain stable between releases, are those of this module (`relay`, `explore`, `build`,
`load`, `models`, `testing` …), and those in the `__all__` of these packages: `ir`, `text`, `typing`,
`prelude`, `ops`, `analysis`, `dataflow_pattern`, `transform`, `quantize`, `execute`, `frontends`, `models`,
`testing`, `interop`, `grading`, `compat`. Import them from the package. Every other module is internal: it
may be read, as the book does, and it may change with any release. Names that begin with an underscore are
private to their package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _project

if TYPE_CHECKING:
    from . import models, relay, testing
    from .explorer import Explorer, explore
    from .frontends.torch_compile import last_compiled
    from .lower.build import build
    from .lower.saving import load

__version__ = _project.VERSION

__all__ = [
    "Explorer",
    "__version__",
    "build",
    "explore",
    "last_compiled",
    "load",
    "models",
    "relay",
    "testing",
]

_PLACES = {
    "explore": ".explorer:explore",
    "Explorer": ".explorer:Explorer",
    "build": ".lower.build:build",
    "last_compiled": ".frontends.torch_compile:last_compiled",
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
    value: Any = importlib.import_module(module, __name__)
    if attribute:
        value = getattr(value, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
