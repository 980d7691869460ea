"""The backend: what `torch.compile` calls with each graph that it captures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ..base.require import require
from .names import placeholder_names
from .options import Options
from .runner import Runner


def relay_backend(
    graph: Any, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None, mode: str = ""
) -> Callable[..., Any]:
    """Compile a graph that PyTorch's Dynamo captured; return a function that computes it.

        compiled = torch.compile(model, backend="relay")
        compiled = torch.compile(model, backend="relay", options={"opt_level": 2, "check": False})

    PyTorch makes the graph functional and reduces it to ATen operators. Relay imports and compiles the graph
    at its first call; `last_compiled()` then returns the program. See `Options` for the options; `mode` is
    ignored, because it chooses among algorithms of PyTorch's own backend.

    A graph that cannot be compiled runs in PyTorch, after one RelayFallbackWarning that says why. Where
    gradients are needed, Relay computes the forward pass, and PyTorch the backward pass.

    Dynamic shapes become named sizes, so that one program serves all sizes that PyTorch's guards admit.
    """
    require("torch", "torch")
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch._aot_autograd.utils import make_boxed_func

    chosen = Options.of(options)
    names = placeholder_names(graph)

    def forward(inner: Any, _: Sequence[Any]) -> Any:
        return Runner(inner, names, chosen, training=True)

    def inference(inner: Any, _: Sequence[Any]) -> Any:
        return Runner(inner, names, chosen, training=False)

    def backward(inner: Any, _: Sequence[Any]) -> Any:
        return make_boxed_func(inner.forward)

    compiler = aot_autograd(
        fw_compiler=forward,
        bw_compiler=backward,
        inference_compiler=inference,
        decompositions=_decompositions(),
    )
    compiled: Callable[..., Any] = compiler(graph, example_inputs)
    return compiled


@cache
def _decompositions() -> dict[Any, Callable[..., Any]]:
    """Return PyTorch's decompositions of operators that have no converter."""
    import torch
    from torch._decomp import core_aten_decompositions

    from ..torch_export.importer import is_supported
    from ..torch_export.provenance import operator_name

    return {
        operator: function
        for operator, function in core_aten_decompositions().items()
        if isinstance(operator, torch._ops.OpOverload) and not is_supported(*operator_name(operator))
    }
