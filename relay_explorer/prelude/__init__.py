"""Relay's standard library, written in Relay: `prelude.rly` has options, lists and trees, `nat.rly` natural
numbers.

TVM's prelude also had tensor arrays, one set of functions for each element type; they are not here.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ..ir.adt import Constructor
from ..ir.equal import structural_equal
from ..ir.errors import ModuleError
from ..ir.expr import GlobalVar
from ..ir.module import IRModule
from ..ir.types import GlobalTypeVar
from ..text import parse
from ..typing import infer_types

LIBRARIES = ("prelude.rly", "nat.rly")


@cache
def library(name: str) -> IRModule:
    """The typed module of a library; one module a name, which nobody may change. A ModuleError where there
    is no such library.
    """
    if name not in LIBRARIES:
        raise ModuleError(
            f"there is no library `{name[:200]}`",
            help=[f"there are {', '.join(f'`{known}`' for known in LIBRARIES)}"],
        )
    text = files(__name__).joinpath(name).read_text("utf-8")
    return infer_types(parse(text, name))


def import_library(module: IRModule, name: str) -> None:
    """Adds a library's types and functions to `module`. What it has from the library already stays; a name
    that it gives to something else is a ModuleError, and then nothing is added.
    """
    source = library(name)
    types = [(v, d) for v, d in source.type_definitions.items() if not _has_type(module, v, name)]
    functions = [(v, f) for v, f in source.functions.items() if not _has_function(module, v, name)]
    for type_var, data in types:
        module.add_type(type_var, data)
    for var, function in functions:
        module.add_function(var, function)


def _has_type(module: IRModule, var: GlobalTypeVar, name: str) -> bool:
    own = module.type_definitions.get(var)
    if own is None:
        return False
    if own is library(name).type_definitions[var] or structural_equal(
        own, library(name).type_definitions[var]
    ):
        return True
    raise ModuleError(f"the module has a type `{var.name_hint}` of its own, and so has `{name}`", own.span)


def _has_function(module: IRModule, var: GlobalVar, name: str) -> bool:
    if var not in module:
        return False
    own = module[var]
    if own is library(name)[var] or structural_equal(own, library(name)[var]):
        return True
    raise ModuleError(
        f"the module has a function `@{var.name_hint}` of its own, and so has `{name}`", own.span
    )


class Prelude:
    """A module with the prelude in it: `Prelude(mod)` adds it to `mod`, `Prelude()` to an empty one.

    Its functions are attributes: `prelude.map(f, xs)` is a call, `prelude.mod` the module.

        prelude = Prelude()
        _, cons, nil = prelude.mod.get_type("List")
        prelude.length(cons(relay.const(1), nil()))
    """

    def __init__(self, mod: IRModule | None = None) -> None:
        self.mod = IRModule() if mod is None else mod
        self.load_prelude()

    def load_prelude(self) -> None:
        """Adds the library, and makes its functions attributes."""
        self.mod.import_from_std("prelude.rly")
        for var in library("prelude.rly").functions:
            setattr(self, var.name_hint, self.mod.get_global_var(var.name_hint))

    def get_name(self, canonical: str, dtype: str | None = None) -> str:
        """The name in the module of what is called `canonical`. Functions that exist once an element type,
        as a program may declare them, end in it: `get_name("read", "int8")` is `"read_int8"`.
        """
        return canonical if dtype is None else f"{canonical}_{dtype}"

    def get_global_var(self, canonical: str, dtype: str | None = None) -> GlobalVar:
        """The function of that name; a ModuleError names near ones when there is none."""
        return self.mod.get_global_var(self.get_name(canonical, dtype))

    def get_type(self, canonical: str, dtype: str | None = None) -> GlobalTypeVar:
        """The type of that name. (`prelude.mod.get_type` gives its constructors too.)"""
        return self.mod.get_global_type_var(self.get_name(canonical, dtype))

    def get_ctor(self, ty_name: str, canonical: str, dtype: str | None = None) -> Constructor:
        """The constructor `canonical` of the type `ty_name`; a ModuleError where there is none."""
        data = self.mod.type_definitions[self.get_type(ty_name)]
        wanted = self.get_name(canonical, dtype)
        for constructor in data.constructors:
            if constructor.name_hint == wanted:
                return constructor
        names = ", ".join(f"`{c.name_hint}`" for c in data.constructors)
        raise ModuleError(f"the type `{ty_name}` has no constructor `{wanted}`", help=[f"it has {names}"])


__all__ = ["LIBRARIES", "Prelude", "import_library", "library"]
