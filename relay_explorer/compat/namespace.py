"""Modules that gather names from other modules: `tvm.relay.expr` is a list of places where they are
defined.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Mapping
from typing import Any

from .. import _missing as missing

ROOT = f"{__package__}.tvm"
PACKAGE = __package__.rpartition(".")[0]


class Namespace(types.ModuleType):
    """A module whose names are looked up in `places` when they are first used.

    A place is `module` (all its public names), `module:name`, or `module:name as other`, with modules named
    relative to this package.
    """

    def __init__(self, name: str, places: tuple[str, ...]) -> None:
        doc = f"The names of `{name}` for old code, looked up in {', '.join(places) or 'its submodules'}."
        super().__init__(ROOT + name.removeprefix("tvm"), doc)
        self.__path__: list[str] = []
        self.__package__ = self.__name__
        self._tvm_name = name
        self._places = places

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return dir(self)
        if name.startswith("__"):
            raise AttributeError(name)
        for place in self._places:
            value = _look(place, name)
            if value is not None:
                setattr(self, name, value)
                return value
        raise missing.attribute_error(self._tvm_name, name, dir(self), self)

    def __dir__(self) -> list[str]:
        names = {name for name in self.__dict__ if not name.startswith("_")}
        for place in self._places:
            module, _, rest = place.partition(":")
            if rest:
                names.add(rest.split(" as ")[-1])
            else:
                names.update(_public(_load(module)))
        return sorted(names)


def _load(path: str) -> types.ModuleType:
    """Import the module at `path`; `relay.nn` and the like are not files but attributes of the façade."""
    if path.startswith("relay."):
        loaded: types.ModuleType = getattr(importlib.import_module(f"{PACKAGE}.relay"), path[len("relay.") :])
        return loaded
    return importlib.import_module(f"{PACKAGE}.{path}")


def _public(module: types.ModuleType) -> list[str]:
    own: list[str] = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", module.__name__) != "__future__"
    ]
    return own


def _look(place: str, name: str) -> Any:
    """Return the value of `name` in `place`, or None."""
    module, _, rest = place.partition(":")
    if not rest:
        loaded = _load(module)
        if name in _public(loaded):
            return getattr(loaded, name)
        return None
    original, _, shown = rest.partition(" as ")
    if name != (shown or original):
        return None
    return getattr(_load(module), original, None)


def build(table: Mapping[str, tuple[str, ...]], root: types.ModuleType) -> None:
    """Create a module for each entry of `table` (by TVM's names, parents first) below `root`."""
    modules: dict[str, types.ModuleType] = {"tvm": root}
    for name, places in table.items():
        parent, _, leaf = name.rpartition(".")
        module = modules[name] = Namespace(name, places)
        setattr(modules[parent], leaf, module)
        sys.modules[module.__name__] = module
