"""Import one ONNX graph, subgraph or function body: its values by name, and its nodes in order.

`Importer` is the state that all graphs of one model share; `Graph` is one graph in it. A converter gets the
`Graph` of its node:

    g.context                    types and known values of expressions (`frontends.base.context.Context`)
    g.opset                      the version of the standard operators, an int
    g.attr(node, "axis", 0)      an attribute as a Python value
    g.subgraph(body, arguments)  import the `Body` of an attribute such as Loop's `body`: bind its formal
                                 inputs to `arguments`, and return the expressions of its outputs. The body
                                 can use the values of the graphs around it. A converter may call this again
                                 with other arguments.
    g.value(name)                the value of a name in scope
    g.relay_type(type_proto)     the Relay type of an ONNX type

Attributes are ints, floats, strings, lists of them, `NDArray` (tensors) and `Body` (graphs).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.ndarray import NDArray
from ...ir.size import SizeVar
from ...ir.types import Type
from ..base.context import Context, results_of
from ..base.errors import ModelFileError
from ..base.names import unused
from ..base.source import Node
from . import registry
from .body import Body, Reader
from .expansion import expansion
from .few_bits import FewBits, of_result
from .registry import OnnxConverter
from .types import identifier, relay_type

MOST_NODES = 200_000  # that functions and subgraphs of one model expand to
Convert = Callable[[Node, list[Anything]], Anything]


class Importer:
    """What all graphs of one imported model share.

    `opsets` maps each domain to its version. `functions` are the model's own `FunctionProto`s, by (domain,
    name). `reader` reads nodes and graphs: `reader.body(name, inputs, outputs, node_protos)` gives a
    `Body`. With `freeze`, weights are constants.
    """

    def __init__(
        self,
        context: Context,
        opsets: Mapping[str, int],
        functions: Mapping[tuple[str, str], Anything],
        reader: Reader,
        freeze: bool,
        options: Mapping[str, Anything],
    ) -> None:
        self.context = context
        self.opsets = dict(opsets)
        self.functions = dict(functions)
        self.reader = reader
        self.freeze = freeze
        self.options = dict(options)
        self.sizes: dict[str, SizeVar] = {}
        self._weights: dict[int, Expr] = {}
        self.few_bits: dict[Expr, FewBits] = {}  # the values whose elements have fewer bits than a byte
        self.calls: tuple[str, ...] = ()  # the functions that are being expanded
        self.expanded = 0  # nodes of expanded functions and of subgraphs so far

    def count(self, nodes: int) -> None:
        """Count nodes that a function or a subgraph adds; raise a ModelFileError where they become too many.

        A small file can call functions within functions, and nest loops, any number of times.
        """
        self.expanded += nodes
        if self.expanded > MOST_NODES:
            raise ModelFileError(
                f"the functions and subgraphs of the model expand to more than {MOST_NODES} nodes"
            )

    def size(self, name: str) -> SizeVar:
        """Return the named size of a `dim_param`: the same object for the same name."""
        named = self.sizes.get(name)
        if named is None:
            label = unused(identifier(name), {size.name for size in self.sizes.values()})
            named = self.sizes[name] = SizeVar(label)
        return named

    def weight(self, name: str, value: NDArray) -> Expr:
        """Return the expression of an initializer: the same one at every call."""
        expr = self._weights.get(id(value))
        if expr is None:
            unique = unused(name, self.context.params)  # another subgraph may have a weight of that name
            expr = self._weights[id(value)] = self.context.weight(unique, value, self.freeze)
            if (type_ := self.reader.tensors.few_bits(value)) is not None:
                self.few_bits[expr] = type_
        return expr

    def supports(self, node: Node) -> bool:
        """Whether a node of the model's graph can be converted."""
        return node.op in self.context.convert_map or self.converter(node, self.opsets) is not None

    def converter(self, node: Node, opsets: Mapping[str, int]) -> OnnxConverter | None:
        """Return what converts a node: a registered converter, or the expansion of a function; or None."""
        domain, operator = domain_and_operator(node)
        if (domain, operator) not in self.functions:
            registered = registry.find(domain, operator, opsets.get(domain, opsets.get("", 1)))
            if registered is not None:
                return registered
        return expansion(self, node, opsets)


class Graph:
    """A graph while it is imported: `values` holds its values by name, `outer` is the graph around it."""

    def __init__(
        self,
        importer: Importer,
        body: Body,
        outer: Graph | None = None,
        opsets: Mapping[str, int] | None = None,
    ) -> None:
        self.importer = importer
        self.context = importer.context
        self.body = body
        self.outer = outer
        self.opsets: Mapping[str, int] = opsets or (outer.opsets if outer else importer.opsets)
        self.values: dict[str, Expr] = {}

    @property
    def opset(self) -> int:
        """The version of the standard operators."""
        return self.opsets.get("", 1)

    @property
    def options(self) -> Mapping[str, Anything]:
        """The user's `convert_config`."""
        return self.importer.options

    def attr(self, node: Node, name: str, default: Anything = None) -> Anything:
        """Return an attribute of a node as a Python value, or `default` where the node does not have it."""
        return node.attrs.get(name, default)

    def required(self, node: Node, name: str) -> Anything:
        """Return an attribute that the node must have; else raise a RelayError."""
        if name not in node.attrs:
            raise ModelFileError(f"the attribute `{name}`, which {node.op} requires, is missing")
        return node.attrs[name]

    def relay_type(self, proto: Anything) -> Type:
        """Return the Relay type of an ONNX `TypeProto`."""
        return relay_type(proto, self.importer)

    def value(self, name: str) -> Expr:
        """Return the value of a name in this graph or in one around it; raise a ModelFileError if there is
        none.
        """
        graph: Graph | None = self
        while graph is not None:
            result = graph.values.get(name)
            if result is not None:
                return result
            if name in graph.body.weights:
                result = graph.values[name] = self.importer.weight(name, graph.body.weights[name])
                return result
            graph = graph.outer
        raise ModelFileError(f"the value %{name} is used but never defined")

    def subgraph(self, body: Body, arguments: Sequence[Expr]) -> list[Expr]:
        """Import a body with `arguments` for its formal inputs; return the expressions of its outputs."""
        if len(arguments) != len(body.inputs):
            raise ModelFileError(
                f"the subgraph `{body.name}` has {len(body.inputs)} inputs, but {len(arguments)} are given"
            )
        self.importer.count(len(body.live))
        inner = Graph(self.importer, body, self)
        inner.values.update(zip(body.inputs, arguments))
        return inner.run()

    def run(self) -> list[Expr]:
        """Convert the nodes that the outputs need, and return the outputs."""
        for node in self.body.live:
            self.convert(node)
        return [self.value(name) for name in self.body.outputs]

    def convert(self, node: Node) -> None:
        """Convert one node, and bind its results to the names of its outputs."""
        inputs: list[Anything] = [self.value(name) if name else None for name in node.inputs]
        form = self.importer.converter(node, self.opsets)
        few_bits: list[FewBits | None] = [None]

        def convert(_: Node, operands: list[Anything]) -> Anything:
            assert form is not None, f"{node.op} has been checked to have a converter"
            few_bits[0] = of_result(self.importer, node, operands)
            results = results_of(form(self, node, operands))
            wanted = [index for index, name in enumerate(node.outputs) if name]
            if wanted and wanted[-1] >= len(results):
                raise RelayError(
                    f"this {node.op} has {len(node.outputs)} outputs, but the importer can compute only the "
                    f"first {len(results)}"
                )
            return results[: len(node.outputs)]

        results = self.context.convert(node, inputs, convert)
        named = [name for name in node.outputs if name]
        if len(results) < len(node.outputs) and len(results) < len(named):
            raise RelayError(f"the converter of {node.op} returned {len(results)} of {len(named)} outputs")
        for name, result in zip(node.outputs, results):
            if few_bits[0] is not None:
                self.importer.few_bits[result] = few_bits[0]
            if name:
                self.values[name] = result


def domain_and_operator(node: Node) -> tuple[str, str]:
    """Return a node's domain ("" for the standard's) and the operator's name in it."""
    proto: Anything = node.original
    return registry.canonical(proto.domain), proto.op_type
