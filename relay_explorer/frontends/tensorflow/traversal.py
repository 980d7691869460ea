"""Walk through graphs: which results a node needs, which nodes results depend on, where values belong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ...ir.expr import Expr
from ..base.errors import ModelFileError
from ..base.source import Node
from .dataflow import EXIT, Dataflow, Frame
from .graph import GraphNode, Ref
from .tensors import FunctionName, Shape

EFFECTS = ("Assert", "NoOp", "ControlTrigger")
WITHOUT_OPERANDS = (*EFFECTS, "Const", "Placeholder", "PlaceholderV2", "_Arg")
VARIABLES = ("VarHandleOp", "VariableV2", "Variable", "VarIsInitializedOp")
INPUTS = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")


class Scope:
    """The values of one instance of a graph: the main graph, a function's call, or a loop's body.

    A loop's body has a `parent`, the scope around it, and a `frame`. `path` names the calls that lead here.
    """

    def __init__(
        self,
        dataflow: Dataflow,
        path: tuple[str, ...] = (),
        parent: Scope | None = None,
        frame: Frame | None = None,
    ) -> None:
        self.dataflow = dataflow
        self.path = path
        self.parent = parent
        self.frame = frame
        self.values: dict[Ref, Expr] = {}
        self.loops: dict[Frame, tuple[Expr, ...]] = {}  # the final values of each loop's variables
        self.running: set[Frame] = set()  # loops that are being converted, or have been
        self.functions: tuple[str, ...] = parent.functions if parent is not None else ()
        # TensorFlow repeats the name of a loop in the names of the nodes of its functions.
        self.prefix: str = parent.prefix if parent is not None else ""
        self.calls: tuple[str, ...] = parent.calls if parent is not None else ()  # the nodes that lead here

    def of(self, frame: Frame | None) -> Scope:
        """Return the scope of a loop's body, among this one and those around it."""
        scope: Scope | None = self
        while scope is not None and scope.frame is not frame:
            scope = scope.parent
        if scope is None:
            label = frame.name if frame is not None else ""
            raise ModelFileError(f"a value of the loop `{label}` is used outside it without an Exit node")
        return scope

    def home(self, name: str) -> Scope:
        """Return the scope that a node's values belong to."""
        return self.of(self.dataflow.frame_of.get(name))


def described(node: GraphNode, path: Sequence[str] = (), prefix: str = "") -> Node:
    """Return the node as the core knows it: its scope is the path in its name, after the calls around it."""
    parts = [*path, *node.name.removeprefix(prefix).split("/")]
    inputs = [name if number == 0 else f"{name}:{number}" for name, number in node.inputs]
    return Node(node.op, "/".join(parts), inputs, (node.name,), node.attrs, parts[:-1])


def declared_shape(node: Node) -> Shape | None:
    """Return the shape that an input declares, or None where the rank is unknown."""
    shape: Shape | None = node.attrs.get("shape")
    inferred = node.attrs.get("_output_shapes")
    if not shape and inferred:  # old files have no attribute `shape`, or an empty one
        shape = inferred[0]
    return shape


def operands(dataflow: Dataflow, name: str) -> Sequence[Ref]:
    """Return the results that a node's conversion needs."""
    node = dataflow.graph.nodes[name]
    if node.op in WITHOUT_OPERANDS:
        return ()
    if node.op in EXIT:
        return [ref for enter in dataflow.exits[name][0].enters for ref in enter.inputs]
    if name in dataflow.choices:
        choices = [dataflow.choices[merge] for merge in dataflow.group(name)]
        return [choices[0][0], *(ref for _, branches in choices for ref in branches)]
    if name in dataflow.merges:
        raise ModelFileError(f"`{name}` (Merge) of a loop is used outside it without an Exit node")
    return node.inputs


def reachable(
    dataflow: Dataflow, refs: Iterable[Ref], function: Callable[[str], Dataflow]
) -> Iterator[tuple[Dataflow, GraphNode]]:
    """Return the nodes that results depend on, with those of the functions that they call."""
    seen: set[tuple[str, str]] = set()
    pending = [(dataflow, name) for name, _ in refs]
    while pending:
        current, name = pending.pop()
        if (current.graph.name, name) in seen:
            continue
        seen.add((current.graph.name, name))
        node = current.graph.node(name)
        yield current, node
        if node.op in WITHOUT_OPERANDS:
            continue
        pending += [(current, source) for source, _ in node.inputs]
        if node.op in EXIT:
            frame = current.exits[name][0]
            pending += [(current, variable.next.name) for variable in frame.variables]
        for value in node.attrs.values():
            for called in value if isinstance(value, tuple) else (value,):
                if isinstance(called, FunctionName) and called:
                    inner = function(called)
                    pending += [(inner, source) for source, _ in inner.graph.results]
