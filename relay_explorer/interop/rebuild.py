"""Build a program from a data-flow graph of networkx that was cut, relabelled or rewired."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..analysis.well_formed import why_ill_formed
from ..ir.adt import Match
from ..ir.annotate import set_origin
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Tuple, Var
from ..ir.module import IRModule
from ..ir.narrow import as_function
from ..ir.op import Op
from ..ir.types import Type
from ..ir.walk import free_vars, rebuild
from ..typing import infer_types
from .operands import CALLEE, bound, is_named, operands


def rebuilt(graph: Any) -> IRModule | Function:
    """Return the program of a data-flow graph, as `from_networkx` documents it."""
    if graph.graph.get("kind", "dataflow") != "dataflow" or not graph.is_directed():
        kind = graph.graph.get("kind") or type(graph).__name__
        raise RelayError(
            f"only a data-flow graph can become a program, and this is a graph of kind {kind!r}",
            help=['to_networkx(program) makes one; its kind is "dataflow"'],
        )
    builder = _Builder(graph)
    ends = {node: name for node, name in graph.nodes(data="defines") if name}
    if ends:
        module = IRModule({}, graph.graph.get("type_definitions"))
        for node, name in ends.items():
            module[name] = as_function(builder.result[node])
        _check(module)
        return module
    function = builder.function()
    module = IRModule({}, graph.graph.get("type_definitions"))
    module["main"] = function
    _check(module)
    return function


def _check(module: IRModule) -> None:
    """Raise a RelayError where a program has a variable outside its scope, or types that disagree."""
    for function in module.functions.values():
        if (ill := why_ill_formed(function)) is not None:
            raise RelayError(f"the graph is not a program: {ill.message}", ill.span)
    infer_types(module)


class _Builder:
    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.result: dict[Any, Expr] = {}
        self.node_of: dict[Expr, Any] = {expr: n for n, expr in graph.nodes(data="expr") if expr is not None}
        self.params: dict[Expr, Var] = {}  # by the expression that was cut off
        self.inputs = {node: self._inputs(node) for node in graph}
        self.binders = {
            var for _, expr in graph.nodes(data="expr") if isinstance(expr, (Let, Match))
            for var, _, _ in bound(expr)
        }  # fmt: skip
        for node in self._ordered():
            self.result[node] = self._expr(node)

    def function(self) -> Function:
        """Return a function that takes what was cut off, and whose results are the nodes without users."""
        ends = [node for node in self.graph if not self.graph.succ[node]]
        results = [self.result[node] for node in ends]
        if not results:
            raise RelayError("the graph has no nodes, or each of its values is used by another")
        if len(results) > 1:  # an unused variable is not a result
            results = [expr for expr in results if not isinstance(expr, Var)] or results
        body = results[0] if len(results) == 1 else Tuple(results)
        free = free_vars(body)
        return body if isinstance(body, Function) and not free else Function(free, body)

    # -- edges

    def _inputs(self, node: Any) -> dict[int, Any]:
        """Return the operands of a node: by index, the nodes from which they come."""
        inputs: dict[int, Any] = {}
        for source, _, data in self.graph.in_edges(node, data=True):
            index = data.get("operand")
            if not isinstance(index, int):
                raise self._error(node, f"an edge from {self._name(source)} has no attribute `operand`")
            if index in inputs:
                raise self._error(node, f"operand {index} has two edges")
            inputs[index] = source
        return inputs

    def _uses(self, node: Any) -> list[Any]:
        """Return the nodes that have to be built before a node: not the value of a variable that is bound."""
        expr = self.graph.nodes[node].get("expr")
        return [] if isinstance(expr, Var) and expr in self.binders else list(self.inputs[node].values())

    def _ordered(self) -> list[Any]:
        """Return the nodes in an order in which operands come before their users."""
        before = {node: len(self._uses(node)) for node in self.graph}
        users: dict[Any, list[Any]] = {node: [] for node in self.graph}
        for node in self.graph:
            expr = self.graph.nodes[node].get("expr")
            needed = self._uses(node)
            if isinstance(expr, Let) and (var := self.node_of.get(expr.var)) is not None:
                extra = list(self.inputs[var].values())
                before[node] += len(extra)
                needed = [*needed, *extra]
            for source in needed:
                users[source].append(node)
        ready = deque(node for node, count in before.items() if count == 0)
        order = []
        while ready:
            node = ready.popleft()
            order.append(node)
            for user in users[node]:
                before[user] -= 1
                if before[user] == 0:
                    ready.append(user)
        if len(order) < len(before):
            left = [self._name(node) for node, count in before.items() if count > 0]
            shown = ", ".join(left[:6]) + (" …" if len(left) > 6 else "")
            raise RelayError(f"the edges form a cycle, or lead from one: {shown}")
        return order

    # -- nodes

    def _expr(self, node: Any) -> Expr:
        """Build the expression of a node on those of its operands."""
        data = self.graph.nodes[node]
        expr = data.get("expr")
        if expr is None or self._is_changed(data, expr):
            return self._call(node, expr)
        if not isinstance(expr, Expr):
            raise self._error(node, f"its attribute `expr` is of type {type(expr).__name__}")
        match expr:
            case Var():
                values = list(self.inputs[node].values())
                return self.result[values[0]] if values and expr not in self.binders else expr
            case Let():
                return self._let(node, expr)
            case Function():
                body = self._operand(node, 0, expr.body)
                return rebuild(expr, [*expr.params, body])
            case Match():
                parts = [self._operand(node, i, part.value) for i, part in enumerate(operands(expr))]
                return rebuild(expr, parts)
        return self._rebuilt(node, expr) if operands(expr) else expr

    def _rebuilt(self, node: Any, expr: Expr) -> Expr:
        """Rebuild an expression that binds nothing; a call or a tuple may have more or fewer operands."""
        inputs, old = self.inputs[node], {operand.number: operand.value for operand in operands(expr)}
        fixed = not isinstance(expr, (Call, Tuple))
        count = 1 + max([-1, *old] if fixed else [-1, *old, *inputs])
        first = CALLEE if CALLEE in old else 0
        parts = [self._operand(node, index, old.get(index)) for index in range(first, count)]
        if isinstance(expr, Call) and is_named(expr.op):
            parts = [expr.op, *parts]
        if fixed and any(index >= count for index in inputs):
            raise self._error(node, f"there is no operand {max(inputs)}")
        return rebuild(expr, parts)

    def _operand(self, node: Any, index: int, old: Expr | None) -> Expr:
        """Return an operand: what the edge comes from; a parameter where that was cut off."""
        if index in self.inputs[node]:
            return self.result[self.inputs[node][index]]
        if old is None or old in self.node_of:
            where = f"operand {index}" if index != CALLEE else "the callee"
            raise self._error(node, f"{where} has no edge")
        if isinstance(old, (Constant, GlobalVar)):
            return old
        if old not in self.params:
            name = old.name_hint if isinstance(old, Var) else f"p{len(self.params)}"
            self.params[old] = Var(name, self._type(old))
        return self.params[old]

    def _type(self, expr: Expr) -> Type | None:
        """Return the type of an expression that was cut off, if it is known."""
        types: dict[Expr, Type] = self.graph.graph.get("types", {})
        return types.get(expr, expr._checked_type)

    def _let(self, node: Any, let: Let) -> Expr:
        """Build a `let`; only its body where its variable or its value was cut off."""
        body = self._operand(node, 0, let.body)
        var = self.node_of.get(let.var)
        if var is None or not self.inputs[var]:
            return body
        (value,) = self.inputs[var].values()
        return rebuild(let, [let.var, self.result[value], body])

    # -- nodes that are new

    def _is_changed(self, data: Any, expr: Expr) -> bool:
        """Whether another operator, or other attributes, were written into a node."""
        if not (isinstance(expr, Call) and isinstance(expr.op, Op)):
            return False
        attrs = {} if expr.attrs is None else dict(expr.attrs.items())
        return bool(data.get("op", expr.op.name) != expr.op.name or data.get("attrs", attrs) != attrs)

    def _call(self, node: Any, old: Expr | None) -> Expr:
        """Build a call of the operator that a node names."""
        data = self.graph.nodes[node]
        name = data.get("op")
        if not isinstance(name, str):
            raise self._error(node, "it has neither an expression (`expr`) nor an operator (`op`)")
        op = Op.get(name)
        inputs = self.inputs[node]
        args = [self._operand(node, index, None) for index in range(1 + max([-1, *inputs]))]
        attrs = None
        if op.attrs_class is not None:
            attrs = op.attrs_class(**(data.get("attrs") or {}))
        elif data.get("attrs"):
            raise self._error(node, f"`{name}` has no attributes")
        call = Call(op, args, attrs, None, None if old is None else old.span)
        return call if old is None else set_origin(call, (old,))

    # -- messages

    def _name(self, node: Any) -> str:
        return str(self.graph.nodes[node].get("label") or node)

    def _error(self, node: Any, why: str) -> RelayError:
        expr = self.graph.nodes[node].get("expr")
        return RelayError(f"node {node!r} ({self._name(node)}): {why}", getattr(expr, "span", None))
