"""Read libraries written in Relay, and add them to modules."""

from __future__ import annotations

import re
from functools import cache

from ..ir.equal import structural_equal
from ..ir.errors import ModuleError
from ..ir.expr import GlobalVar
from ..ir.module import IRModule
from ..ir.types import GlobalTypeVar
from ..text import parse
from ..typing import infer_types

LIBRARIES = ("prelude.rly", "nat.rly", "gradient.rly", "core.rly")
TENSOR_ARRAYS = re.compile(r"tensor_array_(b?float\d+|u?int\d+|bool)\.rly")


def text_of(name: str) -> str:
    """Read a file of this folder."""
    from importlib.resources import files  # imported here because it loads many modules

    return files(__package__).joinpath(name).read_text("utf-8")


@cache
def library(name: str) -> IRModule:
    """Return the typed module of a library, always the same object, which must not be changed. Raise a
    ModuleError where there is no such library. Each element type has a library of tensor arrays
    (`tensor_array_float32.rly`).
    """
    if match := TENSOR_ARRAYS.fullmatch(name):
        return _tensor_arrays(name, match[1])
    if name not in LIBRARIES:
        raise ModuleError(
            f"there is no library `{name[:200]}`",
            help=[
                f"there are {', '.join(f'`{n}`' for n in LIBRARIES)}, and tensor arrays of each "
                "element type: `tensor_array_float32.rly`, …"
            ],
        )
    return infer_types(parse(text_of(name), name))


def _tensor_arrays(name: str, dtype: str) -> IRModule:
    """Return the tensor arrays of an element type, without the prelude's functions that they use."""
    from string import Template

    prelude = library("prelude.rly")
    whole = infer_types(parse(Template(text_of("tensor_array.rly")).substitute(d=dtype), name, prelude))
    return IRModule(
        {v: f for v, f in whole.functions.items() if v not in prelude},
        {v: d for v, d in whole.type_definitions.items() if v not in prelude},
    )


def import_library(module: IRModule, name: str) -> None:
    """Add a library's types and functions to `module`, with those that they use. Definitions that it already
    has from the library are kept; if it has another definition of the same name, raise a ModuleError and add
    nothing.
    """
    sources = [(name, library(name))]
    if TENSOR_ARRAYS.fullmatch(name):
        sources.insert(0, ("prelude.rly", library("prelude.rly")))
    types = [(v, d) for n, s in sources for v, d in s.type_definitions.items() if not _has_type(module, v, n)]
    functions = [
        (v, f) for n, s in sources for v, f in s.functions.items() if not _has_function(module, v, n)
    ]
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
    raise ModuleError(f"both the module and `{name}` define the type `{var.name_hint}`", own.span)


def _has_function(module: IRModule, var: GlobalVar, name: str) -> bool:
    if var not in module:
        return False
    own = module[var]
    if own is library(name)[var] or structural_equal(own, library(name)[var]):
        return True
    raise ModuleError(f"both the module and `{name}` define the function `@{var.name_hint}`", own.span)


_TENSOR_ARRAY_NAME = re.compile(r"(?:tensor|ta_split_helper)\w*_(b?float\d+|u?int\d+|bool)(?:_t)?")


def provide_tensor_arrays(module: IRModule, name: str) -> None:
    """Add the tensor arrays of the element type in which `name` ends, if one of them has this name."""
    match = _TENSOR_ARRAY_NAME.fullmatch(name)
    if match is None:
        return
    source = library(f"tensor_array_{match[1]}.rly")
    if name in source or GlobalTypeVar(name) in source:
        import_library(module, f"tensor_array_{match[1]}.rly")
