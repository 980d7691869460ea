"""Graphs of TensorFlow: the nodes of a GraphDef, or of a function of its library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any as Anything

from ..base.errors import ModelFileError
from .tensors import attribute

Ref = tuple[str, int]  # the result of a node: its name and the number of the result

# The names of the results of operators that have several, in order. In functions, results are named.
_RESULTS: dict[str, tuple[str, ...]] = {
    op: tuple(names.split())
    for ops, names in (
        ("TopK TopKV2", "values indices"),
        ("Switch RefSwitch", "output_false output_true"),
        ("Merge RefMerge", "output value_index"),
        ("Unique UniqueV2", "y idx"),
        ("UniqueWithCounts UniqueWithCountsV2", "y idx count"),
        ("FusedBatchNorm FusedBatchNormV2", "y batch_mean batch_variance reserve_space_1 reserve_space_2"),
        (
            "FusedBatchNormV3",
            "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3",
        ),
        ("SparseFillEmptyRows", "output_indices output_values empty_row_indicator reverse_index_map"),
        ("SparseReshape", "output_indices output_shape"),
        ("TensorArrayV3", "handle flow"),
        ("TensorArrayConcatV3", "value lengths"),
        ("TensorListPopBack", "output_handle tensor"),
        ("TensorListConcat TensorListConcatV2", "tensor lengths"),
        ("CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections"),
        ("NonMaxSuppressionV4", "selected_indices valid_outputs"),
        ("NonMaxSuppressionV5", "selected_indices selected_scores valid_outputs"),
        ("SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits", "loss backprop"),
        ("LSTMBlockCell BlockLSTM BlockLSTMV2", "i cs f o ci co h"),
        ("GRUBlockCell", "r u c h"),
        ("MaxPoolWithArgmax", "output argmax"),
        ("BroadcastGradientArgs", "r0 r1"),
        ("ListDiff", "out idx"),
        ("Qr", "q r"),
        ("Svd", "s u v"),
        ("SelfAdjointEigV2", "e v"),
        ("StatelessRandomGetKeyCounter", "key counter"),
    )
    for op in ops.split()
}


class GraphNode:
    """A node: its operator, the results that it takes, the nodes that must run before it, its attributes."""

    __slots__ = ("_attrs", "_proto", "controls", "device", "inputs", "name", "op")

    def __init__(
        self, name: str, op: str, inputs: Sequence[Ref], controls: Sequence[str], proto: Anything
    ) -> None:
        self.name = name
        self.op = op
        self.inputs = tuple(inputs)
        self.controls = tuple(controls)
        self.device = str(proto.device) if proto is not None else ""
        self._proto = proto
        self._attrs: dict[str, Anything] | None = None

    @property
    def attrs(self) -> Mapping[str, Anything]:
        """The attributes as Python values, read at the first use."""
        if self._attrs is None:
            values = self._proto.attr if self._proto is not None else {}
            self._attrs = {key: attribute(values[key]) for key in sorted(values)}
        return self._attrs

    def __repr__(self) -> str:
        return f"<{self.op} {self.name}>"


class Graph:
    """The nodes by name, in the order of the file. A function has `args`, the names of its parameters, which
    are nodes of the operator `_Arg`, and `results`. `calls` are the functions that nodes name.
    """

    def __init__(
        self, name: str, nodes: Iterable[GraphNode], args: Sequence[str] = (), results: Sequence[Ref] = ()
    ) -> None:
        self.name = name
        self.nodes: dict[str, GraphNode] = {}
        for node in nodes:
            if node.name in self.nodes:
                raise ModelFileError(f"two nodes of {self.label} have the name `{node.name}`")
            self.nodes[node.name] = node
        self.args = tuple(args)
        self.results = tuple(results)
        for node in self.nodes.values():
            for source, _ in node.inputs:
                self._require(source, f"the node `{node.name}` ({node.op})")
        for source, _ in self.results:
            self._require(source, "a result")
        self._used = {ref for node in self.nodes.values() for ref in node.inputs} | set(self.results)

    def request(self, refs: Sequence[Ref]) -> None:
        """Make `refs` the results of the graph."""
        self.results = tuple(refs)
        self._used |= set(refs)

    def uses(self, ref: Ref) -> bool:
        """Whether a result of a node is an operand of another or a result of the graph."""
        return ref in self._used

    @property
    def label(self) -> str:
        """What errors call it."""
        return f"the function `{self.name}`" if self.name else "the graph"

    def _require(self, source: str, who: str) -> None:
        if source not in self.nodes:
            raise ModelFileError(
                f"{who} of {self.label} takes the result of `{source}`, which does not exist"
            )

    def node(self, name: str) -> GraphNode:
        """Return a node that must exist."""
        self._require(name, "a node")
        return self.nodes[name]


def graph_of(proto: Anything) -> Graph:
    """Return the main graph of a GraphDef."""
    return Graph("", [_node(node, _plain_ref) for node in proto.node])


def functions_of(proto: Anything) -> dict[str, Anything]:
    """Return the functions in the library of a GraphDef, not read yet, by name."""
    return {function.signature.name: function for function in proto.library.function}


def function_graph(proto: Anything) -> Graph:
    """Return the graph of a function."""
    args = [str(arg.name) for arg in proto.signature.input_arg]
    ops = {str(node.name): str(node.op) for node in proto.node_def}

    def ref(text: str) -> Ref:
        name, _, rest = text.partition(":")
        if not rest:
            return name, 0
        result, _, number = rest.rpartition(":")
        return name, _position(ops.get(name, ""), result, _number(number, text))

    nodes = [GraphNode(arg, "_Arg", (), (), None) for arg in args]
    nodes += [_node(node, ref) for node in proto.node_def]
    name = str(proto.signature.name)
    results = []
    for arg in proto.signature.output_arg:
        if arg.name not in proto.ret:
            raise ModelFileError(f"the function `{name}` does not define its result `{arg.name}`")
        results.append(ref(proto.ret[arg.name]))
    return Graph(name, nodes, args, results)


def ref_of(text: str) -> Ref:
    """Return the result that a name such as `add`, `split:1` or `Identity:output:0` refers to."""
    name, _, rest = text.partition(":")
    return name, _number(rest.rpartition(":")[2], text) if rest else 0


def _node(proto: Anything, ref: Anything) -> GraphNode:
    inputs = [ref(text) for text in proto.input if not text.startswith("^")]
    controls = [text[1:] for text in proto.input if text.startswith("^")]
    if not proto.name or not proto.op:
        raise ModelFileError("a node of the graph has no name or no operator")
    return GraphNode(str(proto.name), str(proto.op), inputs, controls, proto)


def _plain_ref(text: str) -> Ref:
    name, _, number = text.partition(":")
    return name, _number(number, text) if number else 0


def _number(text: str, whole: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise ModelFileError(f"`{whole[:200]}` does not name the result of a node")
    return int(text)


def _position(op: str, result: str, number: int) -> int:
    """Return the position, among all results of an operator, of element `number` of the result named."""
    names = _RESULTS.get(op, ())
    return names.index(result) + number if result in names else number
