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
    "there are importers for ONNX, PyTorch, TensorFlow, Keras, TFLite and MXNet: for another framework, "
    "convert the model to ONNX and use relay.frontend.from_onnx"
)

_TENSORS = (
    "tensor expressions are those of the installed TVM, which has no te.create_schedule and no schedules of "
    "topi any more: its schedules are real_tvm('tvm.s_tir')"
)

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
    "tvm.rpc": "programs run on this machine: rpc.LocalSession() has a connection's interface",
    "tvm.micro": _COMPILER,
    "tvm.driver": "the command relay-explorer compiles, runs and profiles models: relay-explorer --help",
    "tvm.relay.backend.te_compiler": _COMPILER,
    "tvm.relay.frontend": _IMPORTERS,
    "tvm.relay.collage": _COMPILER,
    "tvm.te": _TENSORS,
    "tvm.topi": _TENSORS,
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
