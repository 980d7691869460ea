"""What the tests of the TorchScript importer share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from relay_explorer import relay
from relay_explorer.frontends import from_pytorch
from relay_explorer.ir.expr import Call
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import post_order


class Calls(torch.nn.Module):
    """A module whose `forward` is a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def infos(args: Sequence[torch.Tensor]) -> list[tuple[str, Any]]:
    """Return the descriptions of inputs with the shapes of `args`."""
    return [(f"x{at}", (tuple(arg.shape), str(arg.dtype)[6:])) for at, arg in enumerate(args)]


def scripted(model: torch.nn.Module) -> Any:
    """Return a model as TorchScript; PyTorch's advice to use torch.export instead is not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(model.eval())


def traced(model: torch.nn.Module, args: Sequence[torch.Tensor]) -> Any:
    """Return a traced model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.trace(model.eval(), tuple(arg.clone() for arg in args))


def traced_function(function: Callable[..., Any], *args: torch.Tensor) -> Any:
    """Return a traced function, which is no module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.trace(function, args)


def flat(value: Any) -> list[Any]:
    """Return the tensors and numbers in nested results; a Relay list counts like a Python list."""
    if hasattr(value, "constructor"):
        return [leaf for field in value.fields for leaf in flat(field)]
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in flat(part)]
    return [np.asarray(value.numpy() if hasattr(value, "numpy") else value)]


def same(
    module: Any,
    args: Sequence[torch.Tensor],
    input_infos: Sequence[tuple[str, Any]] | None = None,
    tolerance: float = 1e-5,
    **options: Any,
) -> IRModule:
    """Import a TorchScript module, and compare its results for `args` with PyTorch's; return the module."""
    with torch.no_grad():
        mod, params = from_pytorch(module, input_infos or infos(args), **options)
        run = relay.create_executor("debug", mod).evaluate()
        results = flat(run(*[arg.numpy() for arg in args], **params))
        expected = flat(module(*[arg.clone() for arg in args]))
    assert len(results) == len(expected)
    for ours, theirs in zip(results, expected):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype or theirs.dtype == np.float64
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    return mod


def same_traced(function: Callable[..., Any], *args: torch.Tensor, **options: Any) -> IRModule:
    """Trace a function, import it, and compare its results with PyTorch's."""
    return same(traced(Calls(function), args), args, **options)


def imported(
    module: torch.nn.Module, *args: torch.Tensor, script: bool = False
) -> tuple[np.ndarray[Any, Any], IRModule]:
    """Trace or script a module, import it, and return its result for `args`."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        copies = tuple(arg.clone() for arg in args)
        graph = torch.jit.script(module) if script else torch.jit.trace(module, copies, check_trace=False)
        mod, params = from_pytorch(graph, [(f"x{at}", arg.shape) for at, arg in enumerate(args)])
    result = relay.create_executor("debug", mod).evaluate()(*[arg.numpy() for arg in args], **params)
    return result.numpy(), mod


def operators(mod: IRModule) -> list[str]:
    """Return the names of the operators that `@main` calls, in order."""
    calls = [node for node in post_order(mod["main"]) if isinstance(node, Call)]
    return [call.op.name for call in calls if isinstance(call.op, Op)]
