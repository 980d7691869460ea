"""The IR explorer's data: the program's rows, and its expressions as a graph with types and costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...analysis.cost import Cost, costs, elements, weights
from ...ir.adt import Constructor, Match, pattern_vars
from ...ir.errors import RelayError
from ...ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.op import Op
from ...ir.show import short_type
from ...ir.types import Type
from ...ir.walk import children, post_order
from ...text.spelling import Spelling
from ..families import describe
from ..provenance import Provenance
from ..rows import ProgramRows, program_rows, type_text
from ..words import counted
from .blocks import Groups
from .devices import placements
from .format import Edge, Family, IRView, Node, Scope, Totals
from .statistics import statistics

if TYPE_CHECKING:
    from .times import Measured, Times

NAMES = (Op, Constructor)  # callees that are part of a call, not values of their own


def ir_view(
    program: IRModule,
    title: str = "",
    params: Mapping[str, NDArray] | None = None,
    run: Measured | None = None,
) -> IRView:
    """Build the view of a module. Types are inferred here; an ill-typed module is shown without them, and the
    summary says why. `params` are the values of parameters by name, where they are known, and `run` is a
    measured run of the module.
    """
    return _Builder(program).view(title, params or {}, run)


class _Builder:
    """Numbers the expressions, and collects the data of each."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.types, self.costs, self.learnt, self.error = _inferred(module)
        self.program: ProgramRows = program_rows(module, self.types)
        self.values = {
            n.var: n.value for f in module.functions.values() for n in post_order(f) if isinstance(n, Let)
        }
        self.patterns: dict[Var, Match] = {}
        self.passed = _passed(module)
        self.exprs = list(self._values())
        self.provenance = Provenance.of(self.exprs)
        self.number = {expr: i for i, expr in enumerate(self.exprs)}
        self.edges = list(self._edges())
        self.uses = [0] * len(self.exprs)
        for edge in self.edges:
            self.uses[edge.source] += 1
        self.spelling = Spelling()
        self.families: dict[Family, int] = {}

    def view(self, title: str, params: Mapping[str, NDArray], run: Measured | None) -> IRView:
        groups = Groups(self.program, self.module, self.exprs, self.edges)
        nodes = tuple(self._node(i, expr, groups.of[i]) for i, expr in enumerate(self.exprs))
        totals = Totals(
            nodes=len(nodes),
            calls=sum(isinstance(e, Call) for e in self.exprs),
            params=sum(self.learnt.values()),
            flops=sum(n.flops for n in nodes),
            bytes=sum(n.bytes for n in nodes),
        )
        times = None
        if run is not None:
            from .times import kernel_times

            times = kernel_times(self.module, self.number, [node.flops for node in nodes], run)
        return IRView(
            title=title or _title(self.module),
            summary=self._summary(totals, groups) + _measured(times),
            rows=self.program.filled(self._ref, self._defined),
            families=tuple(self.families),
            nodes=nodes,
            edges=tuple(self.edges),
            groups=tuple(groups.groups),
            scopes=tuple(self._scopes()),
            totals=totals,
            devices=tuple(placements(self.exprs, self.edges)),
            times=() if times is None else times.times,
            values=tuple(statistics(self._tensors(params))),
        )

    def _tensors(self, params: Mapping[str, NDArray]) -> Iterator[tuple[int, NDArray]]:
        """Iterate over the tensors of the program, and the expressions that stand for them."""
        for index, expr in enumerate(self.exprs):
            tensor = params.get(expr.name_hint) if isinstance(expr, Var) else None
            if isinstance(expr, Constant) and expr.data.shape:
                tensor = expr.data
            if tensor is not None:
                yield index, tensor

    # -- which expressions are nodes

    def _values(self) -> Iterator[Expr]:
        """Iterate over the expressions that are drawn, in the order of evaluation."""
        visited: set[Expr] = set()
        for function in self.module.functions.values():
            for node in post_order(function):
                if isinstance(node, Match):
                    for clause in node.clauses:
                        for variable in pattern_vars(clause.lhs):
                            self.patterns[variable] = node
            for node in post_order(function):
                if node is function or node in visited or not self._drawn(node):
                    continue
                visited.add(node)
                yield node

    def _drawn(self, node: Expr) -> bool:
        """Whether an expression is drawn. A `let` and its variable are drawn as the value; operators
        and constructors only where they are passed as values.
        """
        if isinstance(node, Let) or node in self.values:
            return False
        return not isinstance(node, (*NAMES, GlobalVar)) or node in self.passed

    def _value(self, expr: Expr) -> Expr:
        """Return the expression that computes an expression's value: the body of a `let`, the bound value of
        its variable.
        """
        while True:
            if isinstance(expr, Let):
                expr = expr.body
            elif isinstance(expr, Var) and expr in self.values:
                expr = self.values[expr]
            else:
                return expr

    # -- edges

    def _edges(self) -> Iterator[Edge]:
        for target, expr in enumerate(self.exprs):
            for operand, part in enumerate(self._operands(expr)):
                source = self.number.get(self._value(part))
                if source is not None:
                    yield Edge(source, target, operand)

    def _operands(self, expr: Expr) -> Sequence[Expr]:
        """Return the operands of an expression. If the callee of a call is computed, it comes last."""
        match expr:
            case Call():
                return expr.args if isinstance(expr.op, (*NAMES, GlobalVar)) else (*expr.args, expr.op)
            case Function():
                return (expr.body,)
            case Var():
                return (self.patterns[expr].data,) if expr in self.patterns else ()
        return children(expr)

    # -- the data of a node

    def _node(self, index: int, expr: Expr, group: int) -> Node:
        family, detail = describe(expr)
        type_ = self.types.get(expr)
        cost = self.costs.get(expr, Cost())
        params = self.learnt.get(expr, 0) if isinstance(expr, (Var, Constant)) else cost.parameters
        full, short = _shown(type_)
        return Node(
            label=self._label(expr),
            family=self.families.setdefault(family, len(self.families)),
            row=self.program.row(expr),
            type=full,
            short=short,
            params=params,
            flops=cost.flops,
            bytes=cost.bytes,
            attributes=self._attributes(expr),
            group=group,
            uses=self.uses[index],
            detail=detail,
            imported=None if self.provenance is None else self.provenance.main(expr),
        )

    def _label(self, expr: Expr) -> str:
        match expr:
            case Call(op=Op() as op):
                return op.name
            case Call(op=Constructor() as constructor):
                return constructor.name_hint
            case Call():
                return self._name(self._value(expr.op)) or "call"
            case TupleGetItem():
                return f".{expr.index}"
            case Constant():
                return "constant" if expr.data.shape else self.spelling.constant(expr)
            case Op():
                return expr.name
            case Constructor():
                return expr.name_hint
            case Function():
                return f"fn {self._name(expr) or ''}".rstrip()
        words: dict[type[Expr], str] = {
            Tuple: "tuple", If: "if", Match: "match",
            RefCreate: "ref", RefRead: "ref_read", RefWrite: "ref_write",
        }  # fmt: skip
        return words.get(type(expr)) or self._name(expr) or type(expr).__name__

    def _name(self, expr: Expr) -> str | None:
        if isinstance(expr, GlobalVar):
            return f"@{expr.name_hint}"
        return self.program.name(expr)

    def _attributes(self, expr: Expr) -> str:
        if isinstance(expr, Call):
            return "".join(t.text for t in self.spelling.call_attrs(expr))
        if isinstance(expr, Function):
            return ", ".join(
                "".join(t.text for t in pair) for pair in self.spelling.function_attrs(expr.attrs)
            )
        return ""

    # -- references from the text

    def _ref(self, expr: Expr) -> int:
        return self.number.get(self._value(expr), -1)

    def _defined(self, expr: Expr) -> int:
        return self.number.get(expr, -1)

    def _scopes(self) -> Iterator[Scope]:
        """Iterate over the scope of each `let`: from the row after it, and after the blocks that its value
        opens, to the end of its block.
        """
        rows = self.program.rows
        closes = _block_ends(self.program)
        for variable in self.values:
            row = self.program.row(variable)
            first = row + 1
            while rows[first - 1].end >= first:
                first = rows[first - 1].end + 1
            if first <= closes[row]:
                yield Scope(row, first, closes[row])

    # -- the whole

    def _summary(self, totals: Totals, groups: Groups) -> str:
        names = [f"@{v.name_hint}" for v in self.module.functions]
        if not names:
            return "The module is empty."
        what = names[0] if len(names) == 1 else counted(len(names), "function")
        shared = sum(
            uses > 1 and not isinstance(e, (Var, Constant))
            for e, uses in zip(self.exprs, self.uses, strict=True)
        )
        parts = [counted(totals.calls, "call")]
        if totals.params:
            parts.append(counted(totals.params, "parameter"))
        if self.error is None:
            parts.append(counted(totals.flops, "floating-point operation"))
        if shared:
            parts.append(f"{counted(shared, 'result')} used more than once")
        if groups.modules:
            parts.append(counted(groups.modules, "module"))
        elif groups.blocks:
            parts.append(f"{counted(groups.blocks, 'repeated block')}")
        text = f"{what}: {', '.join(parts)}."
        if self.error is not None:
            text += f" It is not well typed, so it is shown without types: {_sentence(self.error)}"
        return text


def _measured(times: Times | None) -> str:
    if times is None or not times.ns:
        return ""
    text = f" Its kernels took {times.ns / 1e6:.3g} ms"
    share = times.unplaced / times.ns
    return text + (f", {share:.0%} of it in kernels that belong to no node." if share >= 0.005 else ".")


def _sentence(error: RelayError) -> str:
    return error.message.rstrip(".") + "."


def _inferred(
    module: IRModule,
) -> tuple[dict[Expr, Type], dict[Expr, Cost], dict[Expr, int], RelayError | None]:
    """Return the types, costs and numbers of learned parameters by expression of the module, and the error if
    inference fails.
    """
    from ...typing.infer import infer_types

    originals = {node for function in module.functions.values() for node in post_order(function)}
    try:
        typed = infer_types(module)
    except RelayError as error:
        known_types: dict[Expr, Type] = {
            n: n._checked_type
            for n in originals
            if n._checked_type is not None and n.__class__ in (Var, Constant)
        }
        return known_types, {}, {}, error
    source: dict[Expr, Expr] = {}
    for function in typed.functions.values():
        for node in post_order(function):
            source[node] = node if node in originals else node.origin[0]
    types = {old: new._checked_type for new, old in source.items() if new._checked_type is not None}
    for function in typed.functions.values():
        for node in post_order(function):
            if isinstance(node, Match):
                types |= {
                    (v if v in originals or not v.origin else _first(v)): v._checked_type
                    for c in node.clauses
                    for v in pattern_vars(c.lhs)
                    if v._checked_type is not None
                }
    cost_of = {source[new]: cost for new, cost in costs(typed).items()}
    learnt = {source[new]: elements(new._checked_type) for new in weights(typed.functions.values())}
    return types, cost_of, learnt, None


def _passed(module: IRModule) -> set[Expr]:
    """Return the operators, constructors and global functions that are passed as values somewhere."""
    return {
        part
        for function in module.functions.values()
        for node in post_order(function)
        for part in (node.args if isinstance(node, Call) else children(node))
        if isinstance(part, (*NAMES, GlobalVar))
    }


def _first(variable: Var) -> Expr:
    return variable.origin[0]


def _shown(type_: Type | None) -> tuple[str, str]:
    """Return a type in full and abbreviated; empty where it is unknown."""
    if type_ is None:
        return "", ""
    return type_text(type_), short_type(type_)


def _title(module: IRModule) -> str:
    names = [f"@{v.name_hint}" for v in module.functions]
    return ", ".join(names[:3]) + ("" if len(names) <= 3 else " …") or "module"


def _block_ends(program: ProgramRows) -> list[int]:
    """Return, for every row, the last row before the closing one of the block that contains it."""
    rows = program.rows
    ends = [len(rows) - 1] * len(rows)
    open_blocks: list[int] = []
    for index, row in enumerate(rows):
        while open_blocks and open_blocks[-1] <= index:
            open_blocks.pop()
        ends[index] = open_blocks[-1] - 1 if open_blocks else len(rows) - 1
        if row.end >= 0:
            open_blocks.append(row.end)
    return ends
