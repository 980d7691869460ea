"""The registry of services for executables that later packages implement: saving, profiling and measuring.

The packages register their functions here when they are imported, so that an executable depends on neither
file formats nor timers. `link` and `saving` import them, so they are registered before an executable exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
_services: dict[str, Callable[..., Any]] = {}


def provides(name: str) -> Callable[[Function], Function]:
    """Register the decorated function as the service `name`: "save", "profile" or "measure"."""

    def register(function: Function) -> Function:
        _services[name] = function
        return function

    return register


def service(name: str) -> Callable[..., Any]:
    """Return the function that is registered as a service."""
    return _services[name]
