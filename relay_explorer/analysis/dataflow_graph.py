"""The dataflow graph of a function, on which operator fusion works.

Nodes are expressions: calls, tuples, projections, constants, variables and so on. An edge leads from an
expression to a use of it, with the pattern of that use. An expression with a use that cannot be part of a
kernel (the result of a function, the condition of an `if`, the value of a `let`, a field of a tuple that is
not a tensor) is *held*: it must be materialized as a separate value.
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
    """A node of the graph: its index in post-order, its pattern, its uses, and whether it is held."""

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
    """The dataflow nodes of a typed expression, in post-order. `patterns` overrides the patterns of
    operators, by name.
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
        """Record the pattern of an expression, and the uses of its operands."""
        node = self._node(expr)
        match expr:
            case Call():
                self._link_call(expr, node)
            case Tuple():
                node.pattern = OpPattern.TUPLE
                for field in expr.fields:
                    if isinstance(field._checked_type, TensorType):  # a global name has no index of its own
                        self._node(field).uses.append((node, OpPattern.INJECTIVE))
                    else:
                        self._hold(field)
            case TupleGetItem():
                # A kernel takes tensors, and tuples that contain only tensors.
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
    """Return the pattern of a call of an operator, which also depends on how the output's shape is
    computed.
    """
    if sized_by_values(op) and _is_dynamic(call.checked_type):
        # The size of the output is computed from the values of the inputs, so these must be computed before.
        return OpPattern.OPAQUE
    return op.pattern


def sized_by_values(op: Op) -> bool:
    """Whether the size of an operator's output may depend on the values of its arguments."""
    return op.has(Trait.SIZED_BY_VALUES)


def _use_pattern(call: Call, arg: Expr, pattern: OpPattern) -> OpPattern:
    """Return the pattern of one use: a broadcast that does not expand this argument is element-wise with
    respect to it.
    """
    if pattern == OpPattern.BROADCAST:
        out, operand = call.checked_type, arg.checked_type
        if isinstance(out, TensorType) and isinstance(operand, TensorType) and same_shape(out, operand):
            return OpPattern.ELEMWISE
    return pattern


def same_shape(a: TensorType, b: TensorType) -> bool:
    """Whether two shapes are statically known to be equal."""
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
    """The post-dominators of a dataflow graph: for each node, the node where all paths from it meet again.
    They form the tree of `dominators` from a virtual node that joins all held values, along the uses in
    reverse. `parent[k]` is the first node that all paths from node `k` pass through, None where there is none
    (it is held, or its uses never meet); `pattern[k]` is the most opaque pattern of a use on these paths.
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
        for node in reversed(nodes):  # the uses of a node come after it
            if self.parent[node.index] is not None:
                self.pattern[node.index] = self._pattern(node)

    def _pattern(self, node: FlowNode) -> OpPattern:
        """Return the most opaque pattern on the paths from a node to its post-dominator: of its uses, and of
        those on the paths from its users, which the tree already contains.
        """
        pattern = OpPattern.ELEMWISE
        end = self.parent[node.index]
        visited: set[int] = set()
        for user, kind in node.uses:
            pattern = max(pattern, kind)
            at: int | None = user.index
            while at != end and at is not None and at not in visited:
                visited.add(at)
                pattern = max(pattern, self.pattern[at])
                at = self.parent[at]
        return pattern
