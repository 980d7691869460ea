"""Import a graph of ATen operators that `torch.compile` captured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ..aten import Scalar, Value
from ..base.context import Converter
from ..torch_export.importer import Importer


@dataclass(frozen=True)
class Translation:
    """An imported graph.

    `inputs` are the indices of the arguments that the program takes, in the order of its parameters.
    `outputs` says of each result of the graph where it comes from: ("tensor", index of the program's result),
    ("number", index), ("empty", shape and dtype) or ("value", a constant).
    """

    module: IRModule
    params: dict[str, NDArray]
    inputs: list[int]
    outputs: list[tuple[str, Any]]


def translated(
    graph: Any,
    names: Sequence[str],
    frozen: Mapping[int, Any],
    convert_map: Mapping[str, Converter] | None,
) -> Translation:
    """Import a graph. `frozen` maps the indices of inputs that become constants to their tensors."""
    importer = Importer("torch.compile", True, convert_map, "torch.compile(…, dynamic=False)")
    importer.check(graph, "torch.compile")
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    values: dict[int, Value] = {}
    inputs: list[int] = []
    for index, node in enumerate(placeholders):
        described, name = node.meta.get("val"), _name(node, index, names)
        if index in frozen:
            values[index] = importer.weight(name, frozen[index])
        elif hasattr(described, "shape") and hasattr(described, "dtype"):
            values[index] = importer.tensor_input(name, described)
            inputs.append(index)
    for index, node in enumerate(placeholders):
        if index not in values:
            values[index] = _number(importer, node, _name(node, index, names), index, inputs)
    results = importer.run(graph, [values[index] for index in range(len(placeholders))])
    (output,) = [node for node in graph.graph.nodes if node.op == "output"]
    exprs: list[Expr] = []
    outputs = [
        _output(importer, value, fx_value, exprs)
        for value, fx_value in zip(results, _flat(output.args[0]), strict=True)
    ]
    module, params = importer.main(exprs, single=False)
    return Translation(module, params, inputs, outputs)


def _flat(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def _name(node: Any, index: int, names: Sequence[str]) -> str:
    """Return the name of an input of the captured graph; AOTAutograd says which of them it is."""
    original = getattr(node.meta.get("desc"), "idx", None)
    if isinstance(original, int) and original < len(names):
        return names[original]
    return str(node.name)


def _number(importer: Importer, node: Any, name: str, index: int, inputs: list[int]) -> Value:
    """Return the value of an input that is a number: computed from the shapes of tensors where that is
    possible, else a parameter.
    """
    described = node.meta.get("val")
    if type(described).__name__ == "SymInt":
        computed = importer.symbols.scalar(described)
        if computed is not None:
            return computed
    if described is None or (isinstance(described, (int, float)) and not hasattr(described, "node")):
        return described
    inputs.append(index)
    return importer.number_input(name, described)


def _output(importer: Importer, value: Value, fx_value: Any, exprs: list[Expr]) -> tuple[str, Any]:
    """Describe a result, and append the expression that computes it."""
    fake: Any = getattr(fx_value, "meta", {}).get("val")
    if isinstance(value, Scalar):
        exprs.append(value.expr)
        return "number", len(exprs) - 1
    if isinstance(value, Expr):
        exprs.append(value)
        return "tensor", len(exprs) - 1
    if value is None and hasattr(fake, "shape"):
        if all(isinstance(extent, int) for extent in fake.shape) and 0 in fake.shape:
            return "empty", (tuple(fake.shape), fake.dtype)
        raise RelayError(f"the graph returns `{fx_value.name}`, which the importer does not compute")
    return "value", value
