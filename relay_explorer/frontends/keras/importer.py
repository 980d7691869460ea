"""Convert the graph of a Keras model, layer by layer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.expr import Expr, Tuple
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.show import counted
from ...ir.types import Any as Unknown
from ...ir.types import Dim, TensorType
from ...ops import namespaces as relay
from ..base.context import Context
from ..base.context import Converter as UserConverter
from ..base.errors import SHAPE_OPTION, check_supported
from ..base.names import unused
from ..base.source import Node
from .call import CONVERTERS, USES_MASK, Call, Value, bind, shared
from .graph import (
    Step,
    check_graph,
    history,
    inputs_of,
    is_graph,
    key,
    kind_of,
    name_of,
    outputs_of,
    replaced,
    steps,
    tensors,
)  # fmt: skip
from .masks import check_mask, mask_of
from .table import LOADED

if TYPE_CHECKING:
    from numpy import ndarray as Array

_LAYOUTS = ("NCHW", "NHWC", "NCW", "NWC", "NCDHW", "NDHWC")
_ORDERED = ("Embedding", "Permute")  # their operands are not images, whatever their rank
_ORDERED_RESULTS = (*_ORDERED, "MultiHeadAttention", "GroupQueryAttention")
assert LOADED


def from_keras(
    model: Any,
    shape: Mapping[str, Sequence[Dim]] | None = None,
    layout: str = "NCHW",
    *,
    convert_map: Mapping[str, UserConverter] | None = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """Convert a Keras model to Relay; return the module and the weights by name.

    `model` is a functional or sequential model of Keras 3 or tf-keras, or the path of a `.keras` or `.h5`
    file, of which only configuration and weights are read. `shape` gives the shapes of inputs by name; a
    dimension may be an int, `relay.Any()` or a named size. By default the batch size is 1, and other dynamic
    dimensions are `?`.

    `layout` is the order of the axes of inputs and outputs that have channels. With "NCHW", inputs and
    outputs of rank 4 have their channels first, although they are last in the model. Inputs that only
    `Embedding` and `Permute` read, and these layers' results, keep the model's order. As in TVM, "NCHW" also
    applies to some tensors of rank 3: inputs that only `Dot`, or a `Reshape` to an image, reads; the result
    of a `Reshape` from an image; and the result of `Dot` on such inputs. "NCDHW" and "NCW" do the same for
    ranks 5 and 3. "NHWC" and the others keep the model's order, and so does a model whose layers have
    `data_format="channels_first"`.

    `convert_map` has converters of your own by class name, with the module for classes that are not Keras's:
    `convert(node, inputs)` returns the result, for operands in Keras's order; `node.original` is the layer.
    """
    if layout not in _LAYOUTS:
        raise RelayError(
            f"the layout {layout!r} is not supported", help=[f"the layouts are {', '.join(_LAYOUTS)}"]
        )
    if isinstance(model, (str, Path)):
        from .files import load

        model = load(Path(model))
    check_graph(model)
    static = f"from_keras(…, shape={{…}}), or {SHAPE_OPTION}"
    context = Context(str(model.name), "Keras", convert_map, static)
    importer = Importer(context, model, layout)
    importer.check()
    return importer.main(dict(shape or {})), context.params


class Importer:
    """One import of a model."""

    def __init__(self, context: Context, model: Any, layout: str) -> None:
        self.context = context
        self.model = model
        self._first_rank = len(layout) if layout[1] == "C" and not _is_channels_first(model) else 0
        if layout[1] != "C" and _is_channels_first(model):
            raise RelayError(
                f"the model's layers have their channels first, which the layout {layout!r} contradicts",
                help=['leave out the layout, or give "NCHW"'],
            )
        self._weights: dict[tuple[int, str], Expr] = {}
        self._moved: dict[tuple[Expr, bool], Expr] = {}
        self._names: set[str] = set()
        self._layer_names: dict[int, str] = {}

    # -- layouts

    def wants_first(self, rank: int) -> bool:
        """Whether images of a rank have their channels first in the program."""
        return rank == self._first_rank

    def to_first(self, x: Expr) -> Expr:
        """Move the channels from the last axis to the second."""
        rank = self.context.rank(x)
        return self._move(x, True, (0, rank - 1, *range(1, rank - 1)))

    def to_last(self, x: Expr) -> Expr:
        """Move the channels from the second axis to the last."""
        rank = self.context.rank(x)
        return self._move(x, False, (0, *range(2, rank), 1))

    def _move(self, x: Expr, first: bool, axes: tuple[int, ...]) -> Expr:
        cached = self._moved.get((x, first))
        if cached is None:
            cached = self._moved[(x, first)] = relay.transpose(x, axes)
            self._moved[(cached, not first)] = x  # moving back gives the original
        return cached

    # -- checks

    def check(self) -> None:
        """Raise one error for all layers and operations that have no converter."""

        def supported(node: Node) -> bool:
            return node.op in CONVERTERS or node.op in self.context.convert_map

        check_supported(self._nodes(self.model, ()), supported, "Keras", "from_keras")

    def _nodes(self, model: Any, scope: tuple[str, ...]) -> Iterator[Node]:
        for step, _ in steps(model):
            inner = _inner(step.operation)
            if is_graph(inner) and step.kind not in self.context.convert_map:
                yield from self._nodes(inner, (*scope, str(inner.name)))
            else:
                yield self._node(step, scope)
                if inner is not step.operation and step.kind not in self.context.convert_map:
                    yield self._node(Step(inner, (), {}, []), scope)

    def _node(self, step: Step, scope: tuple[str, ...]) -> Node:
        operation = step.operation
        return Node(
            step.kind,
            str(operation.name),
            [str(getattr(tensor, "name", "")) for tensor in tensors([step.args, step.kwargs])],
            [str(getattr(tensor, "name", "")) for tensor in step.outputs],
            _configuration(operation),
            scope,
            original=operation,
        )

    # -- building

    def main(self, shapes: dict[str, Sequence[Dim]]) -> IRModule:
        """Convert the model to `@main`."""
        inputs = inputs_of(self.model)
        names = [name_of(tensor) for tensor in inputs]
        for name in shapes:
            if name not in names:
                raise RelayError(
                    f"the model has no input `{name}`", help=[f"its inputs are {', '.join(names)}"]
                )
        readers = self._readers()
        params, values = [], []
        for tensor, name in zip(inputs, names):
            rank = len(tensor.shape)
            first = self._is_given_first(rank, readers.get(key(tensor), []))
            extents = self._extents(tensor, first) if name not in shapes else list(shapes[name])
            if len(extents) != rank:
                raise RelayError(
                    f"`shape` gives `{name}` {len(extents)} axes, but the model's input has {rank}"
                )
            self._check_extents(tensor, extents, first)
            variable = self.context.variable(self.unique(name), TensorType(extents, _dtype(tensor)))
            params.append(variable)
            values.append(Value(variable, first))
        results = [
            self._result(tensor, value)
            for tensor, value in zip(outputs_of(self.model), self.run(self.model, values, ()))
        ]
        body = results[0] if len(results) == 1 else Tuple(results)
        return self.context.main(params, body)

    def _result(self, tensor: Any, value: Value) -> Expr:
        """Return a result with the channels first if the layout asks for it."""
        kind = kind_of(history(tensor)[0])
        if value.first or not self.wants_first(self.context.rank(value.expr)) or kind in _ORDERED_RESULTS:
            return value.expr
        return self.to_first(value.expr)

    def _extents(self, tensor: Any, first: bool) -> list[Dim]:
        batch, *others = tensor.shape
        extents: list[Dim] = [1 if batch is None else int(batch)]
        extents += [Unknown() if extent is None else int(extent) for extent in others]
        return [extents[0], extents[-1], *extents[1:-1]] if first else extents

    def _check_extents(self, tensor: Any, extents: Sequence[Dim], first: bool) -> None:
        wanted = list(tensor.shape)
        if first:
            wanted = [wanted[0], wanted[-1], *wanted[1:-1]]
        for extent, model in zip(extents, wanted):
            if isinstance(extent, int) and model is not None and extent != int(model):
                order = " (with the channels first)" if first else ""
                raise RelayError(
                    f"the shape {tuple(extents)} of input `{name_of(tensor)}` disagrees with the model's, "
                    f"{tuple(wanted)}{order}",
                    help=['with layout="NHWC", shapes are in the model\'s order'] if first else [],
                )

    def _is_given_first(self, rank: int, readers: list[Step]) -> bool:
        """Whether an input that the steps `readers` read is given with its channels first."""
        kinds = {step.kind for step in readers}
        if self.wants_first(rank):
            return not (kinds and kinds <= set(_ORDERED))
        if self._first_rank == 4 and rank == 3 and kinds:
            # TVM's importer took these for images as well.
            return kinds == {"Dot"} or all(
                step.kind == "Reshape" and len(step.operation.target_shape) == 3 for step in readers
            )
        return False

    def _readers(self) -> dict[tuple[int, int, int], list[Step]]:
        """Return the steps that read each tensor."""
        readers: dict[tuple[int, int, int], list[Step]] = {}
        for step, _ in steps(self.model):
            for tensor in tensors([step.args, step.kwargs]):
                readers.setdefault(key(tensor), []).append(step)
        return readers

    def run(self, model: Any, args: Sequence[Value], scope: tuple[str, ...]) -> list[Value]:
        """Convert a model applied to `args`; return its results."""
        values: dict[tuple[int, int, int], Value] = {}
        inputs = inputs_of(model)
        if len(inputs) != len(args):
            raise RelayError(
                f"the model `{model.name}` has {counted(len(inputs), 'input')}, but is called with "
                f"{len(args)}"
            )
        for tensor, value in zip(inputs, args):
            values[key(tensor)] = value
        for step, number in steps(model):
            results = self._step(step, scope, lambda tensor: values[key(tensor)])
            for index, result in enumerate(results):
                values[(id(step.operation), number, index)] = result
        return [values[key(tensor)] for tensor in outputs_of(model)]

    def _step(self, step: Step, scope: tuple[str, ...], value_of: Callable[[Any], Value]) -> list[Value]:
        inputs = [value_of(tensor) for tensor in tensors([step.args, step.kwargs])]
        if step.kwargs.get("training") is True and not _trains_by_default(step.operation):
            raise RelayError(
                f"`{step.operation.name}` is called with training=True, so that it behaves as in training",
                help=["build the model for inference: leave out `training`"],
            )
        if is_graph(step.operation) and step.kind not in self.context.convert_map:
            return self.run(step.operation, inputs, (*scope, str(step.operation.name)))
        args, kwargs = replaced(step.args, value_of), replaced(step.kwargs, value_of)
        return self.apply(step, inputs, bind(step.operation, args, kwargs), scope)

    def apply(
        self, step: Step, inputs: list[Value], arguments: dict[str, Any], scope: tuple[str, ...] = ()
    ) -> list[Value]:
        """Convert one call of a layer."""
        values: list[Value] = []
        operands: list[Expr] = []
        if step.kind in self.context.convert_map:
            operands = [self.to_last(value.expr) if value.first else value.expr for value in inputs]
            for operand in operands:
                self.context.type(operand)

        def convert(node: Node, given: list[Expr]) -> list[Expr]:
            if step.kind not in USES_MASK:
                check_mask(step, inputs)
            call = Call(self, step, inputs, arguments)
            results = CONVERTERS[step.kind](call)
            parts = [results] if isinstance(results, (Value, Expr)) else list(results)
            values.extend([part if isinstance(part, Value) else Value(part) for part in parts])
            return [value.expr for value in values]

        exprs = self.context.convert(self._node(step, scope), operands, convert)
        if not values:
            values = [Value(expr) for expr in exprs]
        for value, expr in zip(values, exprs):
            value.expr = expr
        for value in values:
            if value.mask is None and step.kind not in USES_MASK:
                value.mask = mask_of(self, step, inputs)
        return values

    # -- weights

    def weight(self, layer: Any, name: str, make: Callable[[], Array]) -> Expr:
        """Return a weight as a parameter; `make` gives its values when it is first used."""
        cached = self._weights.get((id(layer), name))
        if cached is None:
            values = shared(make())
            unique = self.unique(f"{self.weight_name(layer)}.{name}")
            cached = self._weights[(id(layer), name)] = self.context.weight(unique, values, freeze=False)
        return cached

    def weight_name(self, layer: Any) -> str:
        """Return a layer's name for its weights; layers of nested models may have one name."""
        return self._layer_names.setdefault(id(layer), str(layer.name))

    def unique(self, name: str) -> str:
        """Return a name, derived from `name`, that no parameter of `@main` has yet."""
        result = unused(name, self._names)
        self._names.add(result)
        return result


def _trains_by_default(operation: Any) -> bool:
    """Whether `training=True` is the default of a layer's call, as it is of preprocessing."""
    training = inspect.signature(operation.call).parameters.get("training")
    return training is not None and training.default is True


def _inner(operation: Any) -> Any:
    """Return the layer that a wrapper applies, or the operation itself."""
    if kind_of(operation) in ("TimeDistributed", "SpectralNormalization"):
        return operation.layer
    return operation


def _is_channels_first(model: Any) -> bool:
    """Whether the layers with channels have them first."""
    formats = set()
    for step, _ in steps(model):
        inner = _inner(step.operation)
        if is_graph(inner):
            formats.add("channels_first" if _is_channels_first(inner) else None)
        elif step.kind != "Flatten":
            formats.add(getattr(inner, "data_format", None))
    return "channels_first" in formats


def _dtype(tensor: Any) -> str:
    dtype = tensor.dtype
    name = str(getattr(dtype, "name", dtype))
    if name in ("string", "complex64", "complex128"):
        raise RelayError(f"the input `{name_of(tensor)}` has type {name}, which Relay does not have")
    return name


def _configuration(operation: Any) -> dict[str, Any]:
    """Return the plain values of an operation's configuration, for the node list."""
    try:
        config = operation.get_config()
    except (NotImplementedError, TypeError, ValueError, AttributeError, RuntimeError):
        return {}
    hidden = ("name", "trainable", "dtype", "seed")
    return {
        name: value
        for name, value in config.items()
        if name not in hidden and isinstance(value, (bool, int, float, str, tuple, list))
    }
