"""Models of frameworks as the input of `explore`. A framework is recognized by the names of its classes, so
that none is imported for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.errors import RelayError
from ..ir.module import IRModule

_PYTORCH = "torch.nn.modules.module.Module"
_SCRIPTED = "torch.jit._script.ScriptModule"
_EXPORTED = "torch.export.exported_program.ExportedProgram"
_COMPILED = "relay_explorer.frontends.torch_compile.compiled.Compiled"
_KERAS = ("keras.src.models.model.Model", "tf_keras.src.engine.training.Model")


def imported(x: object) -> IRModule | None:
    """Import a model that needs no example inputs; return None for another value."""
    from .. import frontends

    names = _classes(x)
    if any(name.endswith(".ModelProto") and name.startswith("onnx") for name in names):
        return _module(frontends.from_onnx(x))
    if _COMPILED in names:
        module: IRModule = x.module  # type: ignore[attr-defined]  # what torch.compile made of a graph
        return module
    if _EXPORTED in names:
        return _module(frontends.from_exported_program(x, freeze_params=True))
    if any(name in names for name in _KERAS):
        return _module(frontends.from_keras(x, layout="NHWC"))  # the model's own order of axes
    if any(name.endswith(".GraphDef") and name.startswith("tensorflow") for name in names):
        return _module(frontends.from_tensorflow(x))
    if is_pytorch(x):
        raise RelayError(
            "a PyTorch module is imported for example inputs: they determine the shapes",
            help=["explore(model, args=(x,)), where model(x) would run it"],
        )
    return None


def is_pytorch(x: object) -> bool:
    """Whether a value is a PyTorch module, which is imported for arguments."""
    return _PYTORCH in _classes(x)


def from_pytorch(model: Any, args: Sequence[object]) -> tuple[IRModule, list[Any]]:
    """Import a PyTorch module, with its weights as constants, for arguments; return the module, and the
    tensors among the arguments as NumPy arrays.
    """
    from .. import frontends
    from ..frontends.base.require import require

    torch = require("torch", "torch")
    arguments = tuple(args)
    flat = [value for value in torch.utils._pytree.tree_leaves(arguments) if isinstance(value, torch.Tensor)]
    if _SCRIPTED in _classes(model):
        infos = [
            (f"input{number}", (tuple(value.shape), str(value.dtype).partition(".")[2]))
            for number, value in enumerate(flat)
        ]
        module, params = frontends.from_pytorch(model, infos)
        values = [params.get(param.name_hint) for param in module["main"].params]
        inputs = iter(flat)
        return module, [_array(next(inputs)) if value is None else value for value in values]
    program = torch.export.export(model.eval() if model.training else model, arguments)
    return _module(frontends.from_exported_program(program, freeze_params=True)), [_array(v) for v in flat]


def _array(tensor: Any) -> Any:
    return tensor.detach().cpu().numpy()


def _module(result: tuple[IRModule, Any]) -> IRModule:
    return result[0]


def _classes(x: object) -> list[str]:
    """Return the full names of a value's classes."""
    return [f"{cls.__module__}.{cls.__qualname__}" for cls in type(x).__mro__]
