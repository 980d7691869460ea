"""Convert the subgraphs of a TFLite model, operator by operator."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, Function, Tuple
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.show import counted
from ...ir.types import Any as Unknown
from ...ir.types import Dim, TensorType
from ...ops import namespaces as relay
from ..base.context import Context, Results, results_of
from ..base.context import Converter as UserConverter
from ..base.errors import SHAPE_OPTION, ModelFileError, check_supported
from ..base.integers import with_integers
from ..base.names import unused
from ..base.source import Node
from .lookup import table_kernel
from .old_converter import ExprTable, OperatorConverter
from .operation import Operation
from .quantization import RANGES, quantized
from .reader import OUTSIDE_RELAY, Model, Operator, Subgraph, Tensor, read
from .reference_kernels import reference_kernel
from .table import CONVERTERS

if TYPE_CHECKING:
    from numpy import ndarray as Array

_SUBGRAPHS = {
    "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
    "IF": ("then_subgraph_index", "else_subgraph_index"),
    "CALL": ("subgraph",),
    "CALL_ONCE": ("init_subgraph_index",),
}  # fmt: skip
_EXPANSION = 64  # times that an operator may be converted on average: loops and branches convert theirs again
_WEIGHT = 2  # elements from which on a constant of real numbers is a parameter


def from_tflite(
    model: object,
    shape_dict: Mapping[str, Sequence[Dim]] | None = None,
    dtype_dict: Mapping[str, str] | None = None,
    op_converter: type[OperatorConverter] | None = None,
    *,
    convert_map: Mapping[str, UserConverter] | None = None,
    integers: bool = False,
    reference_kernels: bool = False,
) -> tuple[IRModule, dict[str, NDArray]]:
    """Convert a TFLite model to Relay; return the module and the weights by name.

    `model` is a path, bytes, or a `tflite.Model`. `shape_dict` and `dtype_dict` give shapes and element types
    of inputs by name; a dimension may be an int, `relay.Any()` or a named size. By default they are the
    file's, and a dynamic dimension is `?`. `convert_map` has converters of your own by operator
    (`"HARD_SWISH"`, or a custom operator's name): `convert(node, inputs)` returns the result for the operands
    as they are stored. With `integers`, all operators of a quantized model that can do so compute with
    integers; without, convolutions, dense layers and pools do. With `reference_kernels`, layers, sums,
    products, means, conversions and resized images of 8 bits compute what TensorFlow Lite's reference kernels
    compute, instead of its default ones; the results differ by one step in few elements. `op_converter` is a
    subclass of `OperatorConverter`, as scripts written for TVM define it.
    """
    contents = read(model)
    name = Path(model).name if isinstance(model, (str, Path)) else contents.subgraphs[0].name
    static = f"from_tflite(…, shape_dict={{…}}), or {SHAPE_OPTION}"
    context = Context(name, "TFLite", convert_map, static)
    importer = Importer(contents, context, op_converter, reference_kernels)
    importer.check()
    module = importer.main(dict(shape_dict or {}), dict(dtype_dict or {}))
    return (with_integers(module) if integers else module), context.params


class Frame:
    """One conversion of a subgraph: the expressions of its tensors."""

    def __init__(self, importer: Importer, number: int, scope: tuple[str, ...]) -> None:
        self.importer = importer
        self.context = importer.context
        self.number = number
        self.graph: Subgraph = importer.model.subgraphs[number]
        self.scope = scope
        self.exprs: dict[int, Expr] = {}
        self.handles: dict[int, str] = {}
        self._memo: dict[Hashable, Expr] = {}
        self.old: OperatorConverter | None = importer.old_converter(self)

    def value(self, tensor: Tensor) -> Expr:
        """Return the stored value of a tensor."""
        cached = self.exprs.get(tensor.index)
        if cached is None:
            cached = self.exprs[tensor.index] = self._initial(tensor)
        return cached

    def _initial(self, tensor: Tensor) -> Expr:
        if tensor.data is not None:
            return self.weight(tensor, "", lambda values: values)
        if (
            tensor.is_variable or 0 in tensor.shape
        ):  # a state is zero at first; an empty constant has no bytes
            if tensor.dtype in OUTSIDE_RELAY:
                raise RelayError(
                    f"the state `{tensor.name}` has type {tensor.dtype}, which Relay does not have"
                )
            if -1 in tensor.shape:
                raise RelayError(
                    f"the state `{tensor.name}` must have a static shape, not {list(tensor.shape)}",
                    help=["convert the model again with inputs of static shape"],
                )
            zero = tensor.quantization.zero_point[0] if tensor.quantization and tensor.dtype in RANGES else 0
            if zero:
                return relay.full(_scalar(zero, tensor.dtype), tensor.shape, tensor.dtype)
            return relay.zeros(tensor.shape, tensor.dtype)
        raise ModelFileError(
            f"tensor `{tensor.name}` is read before an operator has computed it",
            help=["the operators of a TFLite file must be in the order of their execution, without cycles"],
        )

    def weight(self, tensor: Tensor, form: str, change: Callable[[Array], Array]) -> Expr:
        """Return a constant after `change`, such as a transposition, whose name is `form`."""
        return self.importer.weight(self.number, tensor, form, change)

    def once(self, key: Hashable, build: Callable[[], Expr]) -> Expr:
        """Return `build()`, or the result of the first call with this key."""
        if key not in self._memo:
            self._memo[key] = build()
        return self._memo[key]


class Importer:
    """One import. `variables` are the values that CALL_ONCE gives resource variables, by name. `reference`
    asks for the arithmetic of TensorFlow Lite's reference kernels.
    """

    def __init__(
        self,
        model: Model,
        context: Context,
        op_converter: type[OperatorConverter] | None,
        reference: bool = False,
    ) -> None:
        self.reference = reference
        self.model = model
        self.context = context
        self.op_converter = op_converter
        self.variables: dict[str, Expr] = {}
        self.initializing = False
        self._weights: dict[tuple[int, int, str], Expr] = {}
        self._names: set[str] = set()
        self._left = 1024 + _EXPANSION * sum(len(graph.operators) for graph in model.subgraphs)
        self._active: list[int] = []

    def old_converter(self, frame: Frame) -> OperatorConverter | None:
        """Return an old script's converter for a subgraph, if it has one."""
        if self.op_converter is None:
            return None
        return self.op_converter(self.model.original, frame.graph.original, ExprTable(frame))

    # -- checks

    def check(self) -> None:
        """Raise one error for all operators that have no converter."""
        own: set[str] = set(self.context.convert_map)
        if self.op_converter is not None:
            own |= set(Frame(self, 0, ()).old.convert_map)  # type: ignore[union-attr]  # it is given
        check_supported(
            self._nodes(), lambda node: node.op in own or node.op in CONVERTERS, "TFLite", "from_tflite"
        )

    def _nodes(self) -> Iterator[Node]:
        """Yield the operators of the main subgraph and of those that it reaches."""
        pending, seen = [0], {0}
        while pending:
            number = pending.pop()
            graph = self.model.subgraphs[number]
            for operator in graph.operators:
                yield self._node(graph, operator, () if number == 0 else (graph.name,))
                for attribute in _SUBGRAPHS.get(operator.name, ()):
                    inner = self.subgraph_index(operator.attrs.get(attribute, 0), operator.name)
                    if inner not in seen:
                        seen.add(inner)
                        pending.append(inner)

    def subgraph_index(self, number: int, of: str) -> int:
        """Return the index of a subgraph after checking it."""
        if not 0 < number < len(self.model.subgraphs):
            raise ModelFileError(
                f"{of} refers to subgraph {number}; the file has {len(self.model.subgraphs)} subgraphs, of "
                "which the first is the model itself"
            )
        return number

    # -- building

    def main(self, shapes: dict[str, Sequence[Dim]], dtypes: dict[str, str]) -> IRModule:
        """Convert the main subgraph to `@main`."""
        graph = self.model.subgraphs[0]
        names = [graph.tensors[index].name for index in graph.inputs]
        for name in (*shapes, *dtypes):
            if name not in names:
                raise RelayError(
                    f"the model has no input `{name}`", help=[f"its inputs are {', '.join(names)}"]
                )
        params = []
        for index in graph.inputs:
            tensor = graph.tensors[index]
            if tensor.dtype in OUTSIDE_RELAY:
                raise RelayError(
                    f"the input `{tensor.name}` has type {tensor.dtype}, which Relay does not have"
                )
            shape = shapes.get(tensor.name)
            if shape is None:
                shape = [Unknown() if extent == -1 else extent for extent in tensor.shape]
            type_ = TensorType(list(shape), dtypes.get(tensor.name, tensor.dtype))
            params.append(self.context.variable(self.unique(tensor.name), type_))
        results = self.run(0, params, ())
        body = results[0] if len(results) == 1 else Tuple(results)
        module = self.context.main(params, body)
        function = module["main"]
        assert isinstance(function, Function)
        module["main"] = function.with_attr(
            "output_tensor_names", [graph.tensors[index].name for index in graph.outputs]
        )
        return module

    def run(self, number: int, args: Sequence[Expr], scope: tuple[str, ...]) -> list[Expr]:
        """Convert a subgraph applied to `args`; return its results."""
        if number in self._active:
            raise ModelFileError(f"subgraph `{self.model.subgraphs[number].name}` contains itself")
        self._active.append(number)
        try:
            frame = Frame(self, number, scope)
            if len(args) != len(frame.graph.inputs):
                raise ModelFileError(
                    f"subgraph `{frame.graph.name}` has {counted(len(frame.graph.inputs), 'input')}, but is "
                    f"called with {len(args)}"
                )
            frame.exprs.update(zip(frame.graph.inputs, args))
            for operator in frame.graph.operators:
                self._operator(frame, operator)
            return [frame.value(frame.graph.tensors[index]) for index in frame.graph.outputs]
        finally:
            self._active.pop()

    def _operator(self, frame: Frame, operator: Operator) -> None:
        self._left -= 1
        if self._left < 0:
            raise ModelFileError(
                "the subgraphs of the model's loops and conditionals expand to more than "
                f"{_EXPANSION} times its operators"
            )
        node = self._node(frame.graph, operator, frame.scope)
        inputs: list[Expr] = []
        if operator.name in self.context.convert_map:
            inputs = [frame.value(frame.graph.tensors[index]) for index in operator.inputs if index >= 0]
        results = self.context.convert(node, inputs, lambda node, inputs: self._converted(frame, operator))
        if len(results) != len(operator.outputs):
            raise RelayError(
                f"the converter of {operator.name} returns {len(results)} values; the operator "
                f"`{node.name}` has {len(operator.outputs)}"
            )
        frame.exprs.update(zip(operator.outputs, results))

    def _converted(self, frame: Frame, operator: Operator) -> Results:
        if frame.old is not None and operator.name in frame.old.convert_map:
            return frame.old.convert_map[operator.name](operator.original)
        convert, mode = CONVERTERS[operator.name]
        op = Operation(frame, operator, mode)
        kernel = reference_kernel(op) or table_kernel(op)
        if kernel is not None:
            convert, op.mode = kernel, "own"
        if op.mode == "stored" and not _alike(op):
            op.mode = "real"
        results = list(results_of(convert(op)))
        for index, result in enumerate(results):
            tensor = op.result(index)
            if op.mode == "real" and tensor.quantization is not None and tensor.dtype in RANGES:
                results[index] = quantized(self.context, result, tensor.quantization, tensor.dtype)
            elif tensor.dtype not in OUTSIDE_RELAY and self.context.dtype(result) != tensor.dtype:
                raise RelayError(
                    f"the result has element type {self.context.dtype(result)}, but the file says "
                    f"{tensor.dtype}"
                )
        return results

    def _node(self, graph: Subgraph, operator: Operator, scope: tuple[str, ...]) -> Node:
        tensors = graph.tensors
        outputs = [tensors[index].name for index in operator.outputs]
        first = outputs[0] if outputs else operator.name
        return Node(
            operator.name,
            first,
            [tensors[index].name if index >= 0 else "" for index in operator.inputs],
            outputs,
            {key: value for key, value in operator.attrs.items() if key != "custom_options"},
            (*scope, *_path(first)),
            original=operator.original,
        )

    def weight(self, number: int, tensor: Tensor, form: str, change: Callable[[Array], Array]) -> Expr:
        """Return a constant of the file after `change`; one with several real or quantized elements is a
        parameter.
        """
        key = (number, tensor.index, form)
        cached = self._weights.get(key)
        if cached is None:
            assert tensor.data is not None
            value = NDArray.sharing(change(tensor.data))
            real = value.dtype.startswith("float") or tensor.quantization is not None
            if real and tensor.data.size >= _WEIGHT:
                name = self.unique(f"{tensor.name}:{form}" if form else tensor.name)
                cached = self.context.weight(name, value, freeze=False)
            else:
                cached = Constant(value)
            self._weights[key] = cached
        return cached

    def unique(self, name: str) -> str:
        """Return a name, derived from `name`, that no parameter of `@main` has yet."""
        result = unused(name, self._names)
        self._names.add(result)
        return result


def _alike(op: Operation) -> bool:
    """Whether the quantized operands and results have one quantization."""
    tensors = [op.tensor(index) for index in range(len(op)) if op.has(index)]
    tensors += [op.result(index) for index in range(len(op.operator.outputs))]
    kinds = {
        (tensor.dtype, tensor.quantization)
        for tensor in tensors
        if tensor.quantization is not None and tensor.dtype in RANGES
    }
    return len(kinds) <= 1 and not any(kind.per_channel for _, kind in kinds if kind is not None)


def _path(name: str) -> tuple[str, ...]:
    """Return the module path in the name that TensorFlow gives a tensor, `model/dense/MatMul;…`."""
    parts = name.partition(";")[0].split("/")[:-1]
    return tuple([part for part in parts if part and not part.startswith("StatefulPartitionedCall")])


def _scalar(value: Any, dtype: str) -> Expr:
    return Constant(NDArray.scalar(value, dtype))
