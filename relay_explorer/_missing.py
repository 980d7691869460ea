"""Names of TVM that this package does not have, and their replacements, for error messages to old code."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .ops import left_out

_COMPILER = (
    "whole programs are compiled, by relay.build, relay.vm.compile and relay.create_executor; "
    "single kernels are TVM's own: real_tvm('tvm')"
)
_TUNING = (
    "relay_explorer.build(..., search=True) measures several tilings of each kernel; "
    "TVM's own tuner is real_tvm('tvm.s_tir.meta_schedule')"
)
_IMPORTERS = (
    "there are no importers yet: write the program in Relay's text (relay.parse), "
    "build it with relay's operators, or take one of relay_explorer.models"
)

_TENSORS = "tensor expressions are below Relay; they are in the installed TVM (real_tvm('tvm.te'))"

# By TVM's own names, including all dotted names below them.
REMEDIES = {
    "tvm.autotvm": _TUNING,
    "tvm.auto_scheduler": _TUNING,
    "tvm.meta_schedule": _TUNING,
    "tvm.build": _COMPILER,
    "tvm.lower": _COMPILER,
    "tvm.relay.op.strategy": _COMPILER,
    "tvm.relay.testing.to_python": "relay.create_executor runs programs in Python",
    "tvm.relay.testing.run_as_python": "relay.create_executor runs programs in Python",
    "tvm.ir.get_first_structural_mismatch": "relay_explorer.ir.difference says where two programs differ",
    "tvm.rpc": "programs run in this process: use relay.create_executor",
    "tvm.micro": _COMPILER,
    "tvm.driver": "tvmc is part of the installed TVM: relay_explorer.compat.real_tvm('tvm.driver')",
    "tvm.relay.backend.te_compiler": _COMPILER,
    "tvm.relay.frontend": _IMPORTERS,
    "tvm.relay.quantize": "relay_explorer does not quantize programs yet",
    "tvm.relay.collage": _COMPILER,
    "tvm.contrib.download": "relay_explorer downloads nothing: fetch the file first",
    "tvm.contrib.relay_viz.DotPlotter": "omit the plotter: RelayVisualizer(mod) draws without it",
    "tvm.contrib.relay_viz.TermPlotter": "omit the plotter; print(mod) is the program as text",
    "tvm.contrib.relay_viz.interface": "omit plotter and parser: RelayVisualizer(mod) draws without them",
    "tvm.te.compute": _TENSORS,
    "tvm.te.placeholder": _TENSORS,
    "tvm.topi": "NumPy evaluates operators: call them through relay and relay.create_executor",
    "tvm.relax": "Relax is TVM's own: real_tvm('tvm.relax')",
    "tvm.script": "TVMScript is TVM's own: real_tvm('tvm.script')",
    "tvm._ffi": "relay_explorer is written in Python: there are no C++ functions to register or to call",
}


# Names that old code's `tvm` has, but the façade `relay_explorer.relay` does not.
_OF_OLD_CODE = {
    "tvm.relay.build": "relay_explorer.build compiles; old code's is relay_explorer.compat.tvm.relay.build",
    "tvm.relay.vm": "relay_explorer.build compiles; old code's is relay_explorer.compat.tvm.relay.vm",
}


def remedy(name: str) -> str | None:
    """Return the replacement of `name`, a dotted name of TVM, or of the nearest enclosing name."""
    operator = name.removeprefix("tvm.relay.").removeprefix("op.")
    if name not in REMEDIES and operator != name and (why := left_out.reason(operator)):
        return f"the operator is left out: {why}"
    if name in _OF_OLD_CODE:
        return _OF_OLD_CODE[name]
    while name:
        if name in REMEDIES:
            return REMEDIES[name]
        name = name.rpartition(".")[0]
    return None


def _sentence(name: str, near: list[str]) -> str:
    hint = remedy(name)
    if hint is None and near:
        hint = f"did you mean {' or '.join(near)}?"
    if hint is None:
        hint = "relay_explorer brings back tvm.relay and what Relay code used around it, not all of TVM"
    return f"{name} is not in relay_explorer's tvm: {hint}"


def module_error(name: str) -> ModuleNotFoundError:
    """Return the error for `import name`."""
    return ModuleNotFoundError(_sentence(name, []), name=name)


def attribute_error(module: str, name: str, names: Iterable[str], place: object) -> AttributeError:
    """Return the error for `module.name`, where `names` are the names that the module has."""
    near = [f"{module}.{n}" for n in difflib.get_close_matches(name, list(names), n=2, cutoff=0.75)]
    return AttributeError(_sentence(f"{module}.{name}", near), name=name, obj=place)
