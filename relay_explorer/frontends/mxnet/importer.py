"""Convert the nodes of a graph in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, Var
from ...ir.ndarray import NDArray
from ...ir.show import counted
from ...ir.types import Dim, TensorType
from ..base.context import Context
from ..base.errors import DynamicShapeError, ModelFileError
from ..base.source import Node
from .registry import CONVERTERS, LOSSES, Operation
from .symbol import VARIABLE, SymbolGraph, SymbolNode
from .weights import weight_shapes

_GIVE_WEIGHTS = "give the weights, arg_params=…, or the shapes of the inputs and weights, shape={…}"


class Importer:
    """One import. `values` are the weights that are given, `shapes` and `dtypes` the inputs' by name."""

    def __init__(
        self,
        context: Context,
        values: Mapping[str, NDArray],
        shapes: Mapping[str, Sequence[Dim]],
        dtypes: str | Mapping[str, str],
    ) -> None:
        self.context = context
        self.values = values
        self.shapes = shapes
        self.dtypes = dtypes
        self.inputs: list[Var] = []  # the parameters that are not weights with values
        self.kept: set[Var] = set()  # those that remain parameters although only their shape is used

    def graph(self, graph: SymbolGraph, arguments: Sequence[Expr] | None = None) -> list[Expr]:
        """Convert a graph; return its results. `arguments` are the values of a subgraph's variables; those of
        the model become parameters when they are first used.
        """
        results: dict[int, tuple[Expr, ...]] = {}
        operands = iter(arguments or ())
        if arguments is not None and len(arguments) != len(graph.variables):
            raise ModelFileError(
                f"a subgraph with {counted(len(graph.variables), 'input')} is called with {len(arguments)}"
            )
        names, outputs = _names(graph)
        for number, node in enumerate(graph.nodes):
            if node.op != VARIABLE:
                self._declare_weights(graph, node, results)
                used = node.inputs[:1] if node.op in LOSSES else node.inputs
                inputs = [self._value(graph, results, reference) for reference in used]
                labels = [names[reference] for reference in used]
                results[number] = self._convert(node, inputs, labels, outputs.get(number, [node.name]))
            elif arguments is not None:
                results[number] = (next(operands),)
        return [self._value(graph, results, head) for head in graph.heads]

    def _convert(
        self, node: SymbolNode, inputs: list[Expr], labels: list[str], outputs: list[str]
    ) -> tuple[Expr, ...]:
        attrs = {key: value for key, value in node.attrs.items() if not key.startswith("__")}
        scope = [part for part in node.attrs.get("__profiler_scope__", "").split(":") if part]
        line = Node(node.op, node.name, labels, outputs, attrs, scope, original=node)
        converter = CONVERTERS.get(node.op)
        if converter is None:
            return self.context.convert(line, inputs, None)
        return self.context.convert(
            line, inputs, lambda _, operands: converter(Operation(self, node, operands))
        )

    def _value(
        self, graph: SymbolGraph, results: dict[int, tuple[Expr, ...]], reference: tuple[int, int]
    ) -> Expr:
        number, index = reference
        node = graph.nodes[number]
        if number not in results:
            results[number] = (self._variable(node, None),)
        if index >= len(results[number]):
            raise RelayError(
                f"result {index} of the node `{node.name}` ({node.op}) is used, but only its first "
                f"{len(results[number])} are imported"
            )
        return results[number][index]

    def _declare_weights(
        self, graph: SymbolGraph, node: SymbolNode, results: dict[int, tuple[Expr, ...]]
    ) -> None:
        """Create the parameters of a layer whose shapes follow from its attributes and its first input."""
        unknown = [
            (index, number)
            for index, (number, _) in enumerate(node.inputs)
            if number not in results and not self._is_known(graph.nodes[number])
        ]
        if not unknown or not node.inputs or unknown[0][0] == 0:
            return
        data = self._value(graph, results, node.inputs[0])
        dtype = self.context.dtype(data)
        dtype = dtype if "float" in dtype else "float32"
        try:
            shapes = weight_shapes(node, self.context.shape(data))
            types = {index: TensorType(shape, dtype) for index, shape in shapes.items()}
        except (RelayError, ValueError, IndexError, ArithmeticError) as error:
            reason = error.message if isinstance(error, RelayError) else error
            raise RelayError(
                f"the shapes of the weights of `{node.name}` ({node.op}) cannot be inferred: {reason}",
                help=[_GIVE_WEIGHTS] if isinstance(error, DynamicShapeError) else [],
            ) from error
        for index, number in unknown:
            if index in types:
                results[number] = (self._variable(graph.nodes[number], types[index]),)

    def _is_known(self, node: SymbolNode) -> bool:
        """Whether the type of a variable is given."""
        return node.op != VARIABLE or node.name in self.values or self._shape(node) is not None

    def _shape(self, node: SymbolNode) -> Sequence[Dim] | None:
        if node.name in self.shapes:
            return self.shapes[node.name]
        declared = node.attrs.ints("__shape__", ()) if "__shape__" in node.attrs else ()
        return declared if declared and all(extent > 0 for extent in declared) else None

    def _variable(self, node: SymbolNode, type_: TensorType | None) -> Expr:
        """Create the parameter for a variable."""
        if node.name in self.values:
            return self.context.weight(node.name, self.values[node.name], freeze=False)
        if type_ is None:
            shape = self._shape(node)
            if shape is None:
                raise RelayError(
                    f"the shape of the input `{node.name}` is not known",
                    help=[f"give it: from_mxnet(symbol, shape={{{node.name!r}: (1, 3, 224, 224)}})"],
                )
            type_ = TensorType(shape, self._dtype(node))
        self.inputs.append(self.context.variable(node.name, type_))
        return self.inputs[-1]

    def _dtype(self, node: SymbolNode) -> str:
        if isinstance(self.dtypes, str):
            declared = (
                node.attrs.dtype("__dtype__", "float32") if node.attrs.get("__dtype__", "-1") != "-1" else ""
            )
            return declared or self.dtypes
        return self.dtypes.get(node.name, "float32")


def _names(graph: SymbolGraph) -> tuple[dict[tuple[int, int], str], dict[int, list[str]]]:
    """Return the names of all results that are used, and those of each node."""
    used = sorted({*graph.heads, *(reference for node in graph.nodes for reference in node.inputs)})
    names = {
        (number, index): graph.nodes[number].name + (f":{index}" if index else "") for number, index in used
    }
    outputs: dict[int, list[str]] = {}
    for (number, _), name in names.items():
        outputs.setdefault(number, []).append(name)
    return names, outputs
