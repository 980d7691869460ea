"""The graph of a function's data flow that operator fusion looks at (section 4.4 of the paper).

Nodes are what may be computed: calls, tuples, projections, constants, variables, and whatever else stands in
an expression. An edge leads from an expression to what uses it, with the pattern of that use. An expression
that is used by something that no kernel can hold (the result of a function, the condition of an `if`, the
value of a `let`, a field of a tuple that is no tensor) is *held*: it must exist as a value of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.adt import Match
from ..ir.declaration import Trait
from ..ir.expr import (
    Call,
    Constant,
    Expr,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ..ir.op import Op, OpPattern
from ..ir.types import Any, TensorType, TupleType, Type
from ..ir.walk import children, post_order
from .dominators import dominator_tree

_IN_GRAPH = (Call, Constant, Tuple, TupleGetItem, Var, Let, If, Match, RefCreate, RefRead, RefWrite)
_SIMPLE = frozenset(("int32", "int64", "float32", "float64", "bool", "float16", "uint8", "int8"))


class FlowNode:
    """An expression in the graph: its place in post-order, its pattern, its uses, whether it is held."""

    __slots__ = ("expr", "held", "index", "pattern", "uses")

    def __init__(self, expr: Expr) -> None:
        self.expr = expr
        self.index = -1
        self.pattern = OpPattern.OPAQUE
        self.uses: list[tuple[FlowNode, OpPattern]] = []
        self.held = False

    def __repr__(self) -> str:
        return f"<FlowNode {self.index}: {type(self.expr).__name__}>"


class DataflowGraph:
    """The nodes of the data flow of an expression whose types are known, in post-order. `patterns` supposes
    other patterns than the operators have, by name.
    """

    def __init__(self, root: Expr, patterns: Mapping[str, int] | None = None) -> None:
        self._patterns = patterns or {}
        self._found: dict[Expr, FlowNode] = {}
        self._hold(root)
        order = post_order(root)
        for expr in order:
            self._link(expr)
        self.nodes = [self._node(expr) for expr in order if isinstance(expr, _IN_GRAPH)]
        for index, node in enumerate(self.nodes):
            node.index = index

    def __getitem__(self, expr: Expr) -> FlowNode:
        return self._found[expr]

    def __contains__(self, expr: Expr) -> bool:
        node = self._found.get(expr)
        return node is not None and node.index >= 0

    def _node(self, expr: Expr) -> FlowNode:
        node = self._found.get(expr)
        if node is None:
            node = self._found[expr] = FlowNode(expr)
        return node

    def _hold(self, *exprs: Expr) -> None:
        for expr in exprs:
            self._node(expr).held = True

    def _link(self, expr: Expr) -> None:
        """Notes the pattern of an expression, and that it uses its parts."""
        node = self._node(expr)
        match expr:
            case Call():
                self._link_call(expr, node)
            case Tuple():
                node.pattern = OpPattern.TUPLE
                for field in expr.fields:
                    if isinstance(
                        field._checked_type, TensorType
                    ):  # a name of the module has none of its own
                        self._node(field).uses.append((node, OpPattern.INJECTIVE))
                    else:
                        self._hold(field)
            case TupleGetItem():
                # A kernel takes tensors, and tuples of nothing but tensors.
                if _all_tensors(expr.tuple_value.checked_type):
                    node.pattern = OpPattern.INJECTIVE
                    self._node(expr.tuple_value).uses.append((node, OpPattern.INJECTIVE))
                else:
                    self._hold(expr.tuple_value)
            case Constant():
                simple = not expr.data.shape and expr.data.dtype in _SIMPLE
                node.pattern = OpPattern.ELEMWISE if simple else OpPattern.OPAQUE
            case _:
                self._hold(*children(expr))

    def _link_call(self, call: Call, node: FlowNode) -> None:
        self._hold(call.op)
        if isinstance(call.op, Op):
            declared = self._patterns.get(call.op.name)
            node.pattern = pattern_of(call, call.op) if declared is None else OpPattern(declared)
        for arg in call.args:
            self._node(arg).uses.append((node, _use_pattern(call, arg, node.pattern)))


def pattern_of(call: Call, op: Op) -> OpPattern:
    """The pattern of a call of an operator: what its output's shape depends on decides, too."""
    if sized_by_values(op) and _is_dynamic(call.checked_type):
        # The size of its output is computed from the values of its inputs: these must exist.
        return OpPattern.OPAQUE
    return op.pattern


def sized_by_values(op: Op) -> bool:
    """Whether the size of what an operator gives may depend on the values of its arguments."""
    return op.has(Trait.SIZED_BY_VALUES)


def _use_pattern(call: Call, arg: Expr, pattern: OpPattern) -> OpPattern:
    """A broadcast that does not stretch this argument is element-wise in it."""
    if pattern == OpPattern.BROADCAST:
        out, given = call.checked_type, arg.checked_type
        if isinstance(out, TensorType) and isinstance(given, TensorType) and same_shape(out, given):
            return OpPattern.ELEMWISE
    return pattern


def same_shape(a: TensorType, b: TensorType) -> bool:
    """Whether two shapes are known to be the same."""
    if len(a.shape) != len(b.shape):
        return False
    return all(not isinstance(x, Any) and not isinstance(y, Any) and x == y for x, y in zip(a.shape, b.shape))


def _all_tensors(type_: Type) -> bool:
    return isinstance(type_, TupleType) and all(isinstance(f, TensorType) for f in type_.fields)


def _is_dynamic(type_: Type) -> bool:
    if isinstance(type_, TensorType):
        return not type_.is_static
    return isinstance(type_, TupleType) and any(map(_is_dynamic, type_.fields))


class PostDominators:
    """The post-dominators of a data flow: for each node, where all its uses meet again. It is the tree of
    `dominators` from the place where all values that are held come together, back along the uses.

    `parent[k]` is the node that all ways from node `k` pass first, None where there is none (it is held, or
    its uses never meet); `pattern[k]` is the most opaque pattern of a use on the way there.
    """

    def __init__(self, graph: DataflowGraph) -> None:
        nodes = graph.nodes
        end = len(nodes)
        sources: list[list[int]] = [[] for _ in nodes]
        for node in nodes:
            for user, _ in node.uses:
                sources[user.index].append(node.index)
        sources.append([node.index for node in nodes if node.held or not node.uses])
        tree = dominator_tree(end, sources.__getitem__)
        above = [tree.immediate(k) for k in range(end)]
        self.parent = [None if at == end else at for at in above]
        self.pattern = [OpPattern.OPAQUE] * end
        for node in reversed(nodes):  # what uses a node stands after it
            if self.parent[node.index] is not None:
                self.pattern[node.index] = self._pattern(node)

    def _pattern(self, node: FlowNode) -> OpPattern:
        """The most opaque pattern on the ways from a node to where they meet: of its uses, and of those on
        the ways that lead on from its users, which the tree knows already.
        """
        pattern = OpPattern.ELEMWISE
        end = self.parent[node.index]
        seen: set[int] = set()
        for user, kind in node.uses:
            pattern = max(pattern, kind)
            at: int | None = user.index
            while at != end and at is not None and at not in seen:
                seen.add(at)
                pattern = max(pattern, self.pattern[at])
                at = self.parent[at]
        return pattern
