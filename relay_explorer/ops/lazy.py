"""Modules that are imported when the first of their names is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """A stand-in for the module `path`. Where that cannot be imported, an ImportError says `help`."""

    def __init__(self, path: str, help: str = "") -> None:
        self.__dict__.update(_path=path, _help=help)

    def __getattr__(self, name: str) -> Any:
        path, help = self.__dict__["_path"], self.__dict__["_help"]
        if name == "__wrapped__":  # inspect asks every object for it
            raise AttributeError(name)
        try:
            module = import_module(path)
        except ImportError:
            if not help:
                raise
            raise ImportError(help) from None
        value = getattr(module, name)
        self.__dict__[name] = value  # later accesses find it without this method
        return value
