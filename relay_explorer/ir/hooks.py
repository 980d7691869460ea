"""The functions that a layer needs from layers above it: print, parse, declare operators, run a program.

`ir` imports none of these layers. Each registers its functions here when it is loaded, and `hook` loads the
layer that provides a function when the function is first requested: the only upward import of the package.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any as Anything

PROVIDERS = {
    "show": "text",  # print a node, for `str`
    "astext": "text",  # print a node as a whole program
    "parse": "text",  # parse a module from text
    "load_operators": "ops",  # declare every operator of the package
    "why_left_out": "ops.left_out",  # why an operator of TVM is not declared
    "import_library": "prelude",  # add a library, such as prelude.rly, to a module
    "run_observed": "execute.observe",  # run a program and receive the values of its operator calls
    "create_executor": "lower.executor",  # run programs that are compiled
    "plot": "interop.charts",  # draw a profile, a measurement, a memory plan, a calibration
    "executor": "execute.executor",  # run programs in the interpreter, to calibrate their quantization
}
_functions: dict[str, Callable[..., Anything]] = {}


def provide(name: str, function: Callable[..., Anything]) -> None:
    """Register the function that `hook(name)` returns."""
    if name not in PROVIDERS:
        raise KeyError(f"no layer asks for `{name}`, only for {', '.join(PROVIDERS)}")
    _functions[name] = function


def hook(name: str) -> Callable[..., Anything]:
    """Return the function registered under `name`, loading the layer that registers it."""
    function = _functions.get(name)
    if function is None:
        importlib.import_module(f"..{PROVIDERS[name]}", __package__)
        function = _functions[name]
    return function
