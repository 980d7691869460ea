"""Export PyTorch functions and modules, import them, and compare what Relay computes with PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from relay_explorer import relay
from relay_explorer.frontends.torch_export import from_exported_program
from relay_explorer.ir.module import IRModule


class Wrapped(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def exported(model: nn.Module | Callable[..., Any], args: Sequence[Any], dynamic: Any = None) -> Any:
    """Export a model in eval mode, or a function."""
    module = model if isinstance(model, nn.Module) else Wrapped(model)
    if not isinstance(model, nn.Module) and dynamic is not None:
        dynamic = (tuple(dynamic),)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return torch.export.export(module.eval(), tuple(args), dynamic_shapes=dynamic, strict=False)


def leaves(value: Any) -> list[torch.Tensor]:
    """Return the tensors in nested containers, in PyTorch's order; numbers as tensors."""
    found = torch.utils._pytree.tree_leaves(value)
    return [torch.as_tensor(leaf) for leaf in found if leaf is not None]


def computed(mod: IRModule, params: Any, args: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """Interpret a module; return its results as NumPy arrays."""
    inputs = [leaf.numpy() for leaf in leaves([a for a in args if not isinstance(a, (int, float, str))])]
    result: Any = relay.create_executor("debug", mod, params=params).evaluate()(*inputs)
    values = list(result) if type(result).__name__ in ("ADT", "tuple", "list") else [result]
    return [np.asarray(value.numpy() if hasattr(value, "numpy") else value) for value in values]


def assert_close(results: Sequence[Any], expected: Sequence[Any], tolerance: float) -> None:
    """Compare arrays with tensors: the types, the shapes and the values."""
    assert len(results) == len(expected)
    for result, tensor in zip(results, expected):
        wanted = tensor.detach().numpy()
        assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


def check(
    model: nn.Module | Callable[..., Any],
    *args: Any,
    dynamic: Any = None,
    others: Sequence[Sequence[Any]] = (),
    tolerance: float = 1e-5,
) -> IRModule:
    """Import a model, and compare its results for `args` and for `others` with those of PyTorch."""
    program = exported(model, args, dynamic)
    mod, params = from_exported_program(program)
    for given in (args, *others):
        copies = [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in given]
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            expected = leaves(model(*copies))
        assert_close(computed(mod, params, given)[: len(expected)], expected, tolerance)
    return mod
