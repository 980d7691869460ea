"""Modules that are imported at the first use of one of their names."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """A stand-in for the module `path`. If its import fails, the ImportError has the message `help`."""

    def __init__(self, path: str, help: str = "") -> None:
        self.__dict__.update(_path=path, _help=help)

    def __getattr__(self, name: str) -> Any:
        path, help = self.__dict__["_path"], self.__dict__["_help"]
        if name == "__wrapped__":  # inspect looks it up on every object
            raise AttributeError(name)
        try:
            module = import_module(path)
        except ImportError:
            if not help:
                raise
            raise ImportError(help) from None
        value = getattr(module, name)
        self.__dict__[name] = value  # so that later accesses bypass this method
        return value
