"""Read ONNX graphs into `Body` objects: nodes as `Node`s in an order in which values are defined before they
are used, attributes as Python values, weights as arrays. Structural errors of the file are found here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any as Anything

from ...ir.ndarray import NDArray
from ..base.errors import ModelFileError
from ..base.source import Node
from . import provenance
from .tensors import Tensors
from .types import plain

DEEPEST = 30  # subgraphs within subgraphs
_NAMED = 5  # values that an error about a cycle names


class Body:
    """A graph, a subgraph or the body of a function, ready to be imported.

    `inputs` are the names of the formal inputs, without those that are weights, and `input_types` their ONNX
    types (None where a function or a subgraph does not declare one). `nodes` are in order; `live` are those
    that the outputs need. `captured` are the names that come from the graphs around it.
    """

    __slots__ = (
        "captured",
        "input_types",
        "inputs",
        "live",
        "name",
        "nodes",
        "output_types",
        "outputs",
        "weights",
    )

    def __init__(self, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.input_types: tuple[Anything, ...] = (None,) * len(self.inputs)
        self.output_types: tuple[Anything, ...] = (None,) * len(self.outputs)
        self.weights: dict[str, NDArray] = {}
        self.nodes: list[Node] = []
        self.live: list[Node] = []
        self.captured: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<graph {self.name} of {len(self.nodes)} nodes>"


class Reader:
    """Reads graphs and functions of one model; `tensors` decodes its tensors."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors

    def graph(self, proto: Anything, depth: int = 0, *, main: bool = False) -> Body:
        """Read a `GraphProto`; raise a ModelFileError where it is inconsistent."""
        weights: dict[str, NDArray] = {}
        for index, tensor in enumerate(proto.initializer):
            name = plain(tensor.name)
            if name in weights:
                raise ModelFileError(f"the initializer %{name} is defined twice")
            weights[name] = self.tensors.initializer(tensor, index) if main else self.tensors.array(tensor)
        for sparse in proto.sparse_initializer:
            name = plain(sparse.values.name)
            if name in weights:
                raise ModelFileError(f"the initializer %{name} is defined twice")
            weights[name] = self.tensors.dense(sparse)
        formal = [value for value in proto.input if value.name not in weights]
        outputs = list(proto.output)
        body = self.body(
            plain(proto.name),
            [plain(value.name) for value in formal],
            [plain(value.name) for value in outputs],
            proto.node,
            weights,
            depth,
        )
        body.input_types = tuple([value.type if value.HasField("type") else None for value in formal])
        body.output_types = tuple([value.type if value.HasField("type") else None for value in outputs])
        if main and body.captured:
            self._report_undefined(body)
        return body

    def body(
        self,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        nodes: Iterable[Anything],
        weights: Mapping[str, NDArray] | None = None,
        depth: int = 0,
    ) -> Body:
        """Read `NodeProto`s that compute `outputs` from `inputs`."""
        if depth > DEEPEST:
            raise ModelFileError(f"the model's subgraphs are nested more than {DEEPEST} deep")
        body = Body(name, inputs, outputs)
        body.weights = dict(weights or {})
        body.nodes = [self.node(proto, depth) for proto in nodes]
        _order(body)
        return body

    def node(self, proto: Anything, depth: int = 0) -> Node:
        """Read a `NodeProto`."""
        inputs, outputs = tuple(map(plain, proto.input)), tuple(map(plain, proto.output))
        operator, domain = plain(proto.op_type), plain(proto.domain)
        name = plain(proto.name) or next((output for output in outputs if output), operator)
        attrs: dict[str, Anything] = {}
        for attribute in proto.attribute:
            try:
                attrs[plain(attribute.name)] = self.attribute(attribute, depth)
            except ModelFileError as error:
                raise ModelFileError(
                    f"the attribute `{attribute.name}` of node `{name}` ({operator}): {error.message}",
                    help=error.help,
                ) from error
        scope, location = provenance.of(proto)
        op = operator if domain in ("", "ai.onnx") else f"{domain}.{operator}"
        return Node(op, name, inputs, outputs, attrs, scope, location, proto)

    def attribute(self, proto: Anything, depth: int = 0) -> Anything:
        """Return the value of an `AttributeProto`: a number, a string, an NDArray, a Body, or a list of
        them.
        """
        decode = _DECODERS.get(proto.type)
        if decode is None:
            raise ModelFileError(f"an attribute of the kind {proto.type} is not defined by ONNX")
        return decode(self, proto, depth)

    def _report_undefined(self, body: Body) -> None:
        for node in body.nodes:
            for name in _uses(node):
                if name in body.captured:
                    raise ModelFileError(
                        f"node `{node.name}` ({node.op}) uses %{name}, which is neither an input, nor a "
                        "weight, nor the output of a node",
                        help=["the file may have lost its weights: export the model with its parameters"],
                    )
        missing = next(name for name in body.outputs if name in body.captured)
        raise ModelFileError(f"the output %{missing} of the model is not defined")


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


_Decoder = Callable[[Reader, Anything, int], Anything]
_DECODERS: dict[int, _Decoder] = {
    1: lambda reader, a, depth: a.f,
    2: lambda reader, a, depth: a.i,
    3: lambda reader, a, depth: _text(a.s),
    4: lambda reader, a, depth: reader.tensors.array(a.t),
    5: lambda reader, a, depth: reader.graph(a.g, depth + 1),
    6: lambda reader, a, depth: list(a.floats),
    7: lambda reader, a, depth: list(a.ints),
    8: lambda reader, a, depth: [_text(s) for s in a.strings],
    9: lambda reader, a, depth: [reader.tensors.array(t) for t in a.tensors],
    10: lambda reader, a, depth: [reader.graph(g, depth + 1) for g in a.graphs],
    11: lambda reader, a, depth: reader.tensors.dense(a.sparse_tensor),
    12: lambda reader, a, depth: [reader.tensors.dense(t) for t in a.sparse_tensors],
    13: lambda reader, a, depth: a.tp,
    14: lambda reader, a, depth: list(a.type_protos),
}


def bodies_of(node: Node) -> list[Body]:
    """Return the graphs among a node's attributes."""
    bodies: list[Body] = []
    for value in node.attrs.values():
        if isinstance(value, Body):
            bodies.append(value)
        elif isinstance(value, list) and value and isinstance(value[0], Body):
            bodies += value
    return bodies


def all_nodes(body: Body) -> list[Node]:
    """Return the nodes that the outputs of `body` need, and those of the subgraphs in them."""
    nodes: list[Node] = []
    for node in body.live:
        nodes.append(node)
        for inner in bodies_of(node):
            nodes += all_nodes(inner)
    return nodes


def _uses(node: Node) -> list[str]:
    """Return the names that a node needs, also those that its subgraphs take from outside."""
    names = [name for name in node.inputs if name]
    for body in bodies_of(node):
        names += body.captured
    return names


def _order(body: Body) -> None:
    """Order the nodes of a body, and find which of them the outputs need and what comes from outside."""
    defined: dict[str, int] = {}  # the index of the node, or -1
    for name in body.inputs:
        if name in defined:
            raise ModelFileError(f"two inputs of the graph `{body.name}` have the name %{name}")
        defined[name] = -1
    for name in body.weights:
        defined[name] = -1
    for index, node in enumerate(body.nodes):
        for name in node.outputs:
            if not name:
                continue
            if name in defined:
                raise ModelFileError(
                    f"%{name} is defined twice: an output of node `{node.name}` ({node.op}) has the name of "
                    "another value"
                )
            defined[name] = index
    uses = [_uses(node) for node in body.nodes]
    if any(defined.get(name, -1) >= index for index, names in enumerate(uses) for name in names):
        order = _sorted(body, uses, defined)
        body.nodes = [body.nodes[index] for index in order]
        uses = [uses[index] for index in order]
    needed = {name for name in body.outputs if name}
    live: list[Node] = []
    for node, names in zip(reversed(body.nodes), reversed(uses)):
        if not needed.isdisjoint(node.outputs):
            live.append(node)
            needed.update(names)
    body.live = live[::-1]
    used = {name for names in uses for name in names}
    body.captured = frozenset([name for name in used.union(body.outputs) if name and name not in defined])


def _sorted(body: Body, uses: list[list[str]], defined: Mapping[str, int]) -> list[int]:
    """Return an order of the nodes in which values are defined before they are used, close to the given
    one.
    """
    waiting: list[int] = []
    users: dict[int, list[int]] = {}
    for index, names in enumerate(uses):
        sources = {defined[name] for name in names if defined.get(name, -1) >= 0}
        waiting.append(len(sources))
        for source in sources:
            users.setdefault(source, []).append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0][::-1]
    order: list[int] = []
    while ready:
        index = ready.pop()
        order.append(index)
        for user in reversed(users.get(index, [])):
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    if len(order) < len(body.nodes):
        stuck = [body.nodes[index].name for index, count in enumerate(waiting) if count > 0]
        listed = ", ".join(f"`{name}`" for name in stuck[:_NAMED]) + (", …" if len(stuck) > _NAMED else "")
        raise ModelFileError(
            f"the graph `{body.name}` has a cycle: the inputs of {listed} depend on their own outputs",
            help=["an ONNX graph is acyclic; loops are written with the operators Loop and Scan"],
        )
    return order
