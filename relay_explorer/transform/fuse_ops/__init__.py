"""FuseOps: group operators that can be computed in one loop nest into kernels, as the paper does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from ...analysis.dataflow_graph import DataflowGraph
from ...ir.annotate import set_origin, set_span
from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.walk import children, post_order, rebuild
from ...typing import infer_types
from ..infrastructure import AtLeast, Pass, PassContext
from .groups import MAX_FUSED, Group, Limits, Partition

PATTERNS = "relay.FuseOps.patterns"


@dataclass(frozen=True)
class FuseOps(Pass):
    """Group operators into functions with the attribute `Primitive`, each of which becomes one kernel.

    `fuse_opt_level` 0 puts every operator into a kernel of its own; 1 and more fuse; -1 takes the level of
    the context. `max_depth` bounds the nodes of a kernel; without it, the context's option
    `relay.FuseOps.max_depth` (256) does. The context's option `relay.max_function_args` bounds the arguments
    of a kernel, its result included (no limit by default, unless the current target of old code has one);
    `relay.FuseOps.link_params` keeps constants inside kernels, and `relay.FuseOps.patterns` overrides the
    patterns of operators by name, for example to make one opaque that a compiler cannot compute in a loop.
    """

    name = "FuseOps"
    opt_level = 0
    required = ("InferType",)

    fuse_opt_level: Annotated[int, AtLeast(-1)] = -1
    max_depth: Annotated[int, AtLeast(1)] | None = None

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        limits = self.limits(ctx)
        new = infer_types(mod)
        link, patterns = ctx.config.get("relay.FuseOps.link_params", False), ctx.config.get(PATTERNS)
        for var, function in new.functions.items():
            if isinstance(function, Function):
                new[var] = fuse(function, limits, bool(link), patterns)
        return new

    def limits(self, ctx: PassContext) -> Limits:
        level = ctx.opt_level if self.fuse_opt_level < 0 else self.fuse_opt_level
        depth = self.max_depth
        if depth is None:
            depth = int(ctx.config.get("relay.FuseOps.max_depth", MAX_FUSED))
        return Limits(level, depth, int(ctx.option("relay.max_function_args", 0)))


def fuse(
    function: Function,
    limits: Limits,
    link_params: bool = False,
    patterns: Mapping[str, int] | None = None,
) -> Function:
    """Fuse the operators of a typed function."""
    if "Primitive" in function.attrs:
        return function
    partition = Partition(DataflowGraph(function, patterns), limits)
    result = _Kernels(partition, link_params).rewritten(function)
    assert isinstance(result, Function)
    return result


class _Kernels:
    """Builds the functions of the groups of a partition."""

    def __init__(self, partition: Partition, link_params: bool) -> None:
        self.partition = partition
        self.graph = partition.graph
        self.link_params = link_params
        self.memo: dict[int, Expr] = {}

    def rewritten(self, root: Expr) -> Expr:
        for node in post_order(root):
            self.memo[id(node)] = self._rewritten(node)
        return self.memo[id(root)]

    def _rewritten(self, node: Expr) -> Expr:
        if isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == "annotation.stop_fusion":
            return self.memo[id(node.args[0])]
        if node in self.graph and self._is_kernel(node):
            return self._kernel(node)
        return rebuild(node, [self.memo[id(part)] for part in children(node)])

    def _group(self, node: Expr) -> Group:
        return self.partition.group_of(self.graph[node])

    def _is_kernel(self, node: Expr) -> bool:
        """Whether an expression is the result of a kernel: a call of an operator, or a field of a tuple that
        is computed in the kernel.
        """
        if self._group(node).root.expr is not node:
            return False
        if isinstance(node, Call):
            return isinstance(node.op, Op) and not node.op.get_attr("TNonComputational")
        if isinstance(node, TupleGetItem):
            tuple_value = node.tuple_value
            return tuple_value in self.graph and self._group(tuple_value).root.expr is node
        return False

    def _kernel(self, root: Expr) -> Expr:
        """Build the call of a primitive function that computes `root`. Its parameters are the values from
        other groups, in the order in which the body uses them.
        """
        group = self._group(root)
        params: dict[int, Var] = {}
        arguments: list[Expr] = []
        inner: dict[Expr, Expr] = {}
        members = self._members(root, group)
        for member in members:
            for part in _operands(member):
                if part not in inner:
                    inner[part] = self._argument(part, params, arguments)
            inner[member] = _within(member, [inner[part] for part in _operands(member)])
        attrs: dict[str, object] = {"Primitive": 1}
        if all(isinstance(m, Call) and isinstance(m.op, Op) and m.op.has(Trait.RESHAPE) for m in members):
            attrs["relay.reshape_only"] = 1
        function = Function(list(params.values()), inner[root], root.checked_type, None, attrs)
        set_origin(function, tuple(members))
        call = Call(function, arguments)
        set_origin(call, (root,))
        emit_rewrite(
            self._kernel, members, call, sentence="A group is one function, which becomes one kernel."
        )
        set_span(call, root.span)
        return call

    def _members(self, root: Expr, group: Group) -> list[Expr]:
        """Return the expressions that a kernel computes, in post-order."""
        members: dict[Expr, Expr] = {}
        pending = [root]
        while pending:
            node = pending.pop()
            if node not in members:
                members[node] = node
                pending += [p for p in _operands(node) if p in self.graph and self._group(p) is group]
        return sorted(members.values(), key=lambda node: self.graph[node].index)

    def _argument(self, node: Expr, params: dict[int, Var], arguments: list[Expr]) -> Expr:
        """Return the parameter for a value from outside the kernel."""
        value = self.memo[id(node)]
        if self.link_params and isinstance(value, Constant):
            return value
        if id(value) not in params:
            params[id(value)] = Var(f"p{len(params)}", node.checked_type)
            arguments.append(value)
        return params[id(value)]


def _operands(node: Expr) -> tuple[Expr, ...]:
    """Return the parts of a kernel's member that are values."""
    return node.args if isinstance(node, Call) else children(node)


def _within(node: Expr, parts: list[Expr]) -> Expr:
    """Rebuild a kernel's member on its new parts."""
    if isinstance(node, Call):
        parts = [node.op, *parts]
    return rebuild(node, parts) if isinstance(node, (Call, Tuple, TupleGetItem)) else node
