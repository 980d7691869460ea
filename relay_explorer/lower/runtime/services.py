"""What later rooms do with executables: save, profile and measure them.

They register themselves here when they are loaded, so that an executable knows neither file formats nor
clocks. `link` and `saving` load them, and no executable comes from anywhere else.
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
