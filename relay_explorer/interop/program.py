"""The expressions of a program as nodes of a graph: their keys, and the attributes that describe them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..analysis.cost import call_cost, nbytes
from ..ir.adt import Constructor, Match, pattern_vars
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Let, TupleGetItem, Var
from ..ir.module import IRModule
from ..ir.op import Op, OpPattern
from ..ir.scopes import Layout, NoNames, Scope, common
from ..ir.show import short_type, show_type
from ..typing import infer_types
from ..views.families import describe
from ..views.rows import ProgramRows, program_rows
from .operands import in_order, operands


class Program:
    """A module, a function or another expression. `order` lists its expressions, each after its operands, and
    `node_of` maps each to its index in this order, which is the key of its node. `roots` maps names to the
    functions of the module, or "" to the expression itself.
    """

    def __init__(self, program: IRModule | Expr) -> None:
        self.given = program
        self.roots: dict[str, Expr]
        if isinstance(program, IRModule):
            self.roots = {var.name_hint: function for var, function in program.functions.items()}
        else:
            self.roots = {"": program}
        self.node_of: dict[Expr, int] = {}
        self.home: dict[Expr, str] = {}
        for name, root in self.roots.items():
            for expr in in_order(root):
                if expr not in self.node_of:
                    self.node_of[expr] = len(self.node_of)
                    self.home[expr] = name
        self.order = list(self.node_of)
        self.typed = self._typed()
        self._rows = self._printed()
        self._scopes = {name: _Scopes(root, self) for name, root in self.roots.items()}

    # -- what is known about an expression

    def name(self, expr: Expr) -> str:
        """Return the program's name for a value (`%x`, `%3`, `@main`), or "" if there is none."""
        name = self._rows.name(expr) if self._rows is not None else None
        if name is None and isinstance(expr, Var):
            name = f"%{expr.name_hint}"
        if name is None and isinstance(expr, GlobalVar):
            name = f"@{expr.name_hint}"
        return name or ""

    def label(self, expr: Expr) -> str:
        """Return a value's name and operation, `%3 = add`, or only one of them if it lacks the other."""
        name, what = self.name(expr), operation(expr)
        return f"{name} = {what}" if name and what and name != what else name or what

    def describe(self, expr: Expr) -> dict[str, Any]:
        """Return the attributes of a node, as `to_networkx` documents them."""
        typed = self.typed.get(expr, expr)
        attributes: dict[str, Any] = {
            "kind": type(expr).__name__,
            "name": self.name(expr),
            "label": self.label(expr),
            "family": describe(expr)[0].name,
            "function": f"@{self.home[expr]}" if self.home[expr] else "",
            "scope": self._scopes[self.home[expr]].of(expr),
        }
        if isinstance(expr, Call):
            attributes |= _of_call(expr, typed)
        elif isinstance(expr, TupleGetItem):
            attributes["index"] = expr.index
        if typed._checked_type is not None:
            attributes["type"] = show_type(typed._checked_type)
            attributes["short_type"] = short_type(typed._checked_type)
            attributes["size"] = nbytes(typed._checked_type)
        if expr.span is not None:
            attributes["span"] = str(expr.span)
        for name, root in self.roots.items():
            if expr is root and name:
                attributes["defines"] = name
        attributes["expr"] = expr
        return attributes

    # -- computed once

    def _typed(self) -> dict[Expr, Expr]:
        """Return, for each expression without a type, its typed copy; none where the program has no types."""
        if all(_has_type(expr) for expr in self.order):
            return {}
        module = self.given if isinstance(self.given, IRModule) else None
        try:
            if module is None:
                assert isinstance(self.given, Expr)
                typed = infer_types(IRModule.from_expr(self.given))
                main = typed["main"]
                roots: dict[str, Expr] = {"": main if isinstance(self.given, Function) else main.body}
            else:
                typed = infer_types(module)
                roots = {var.name_hint: function for var, function in typed.functions.items()}
        except RelayError:
            return {}
        copies: dict[Expr, Expr] = {}
        for name, root in self.roots.items():
            before, after = in_order(root), in_order(roots[name])
            if len(before) == len(after):
                copies.update(zip(before, after))
        return copies

    def _printed(self) -> ProgramRows | None:
        try:
            return program_rows(self.given)
        except RelayError:  # nested too deeply to be printed
            return None


def _has_type(expr: Expr) -> bool:
    return expr._checked_type is not None or isinstance(expr, (Op, Constructor, GlobalVar))


def operation(expr: Expr) -> str:
    """Return the operation that computes a value: an operator, a field, or a construct such as `if`."""
    match expr:
        case Call(op=Op() | Constructor() as callee):
            return callee.name
        case Call(op=GlobalVar() as callee):
            return f"@{callee.name_hint}"
        case Call(op=Var() as callee):
            return f"%{callee.name_hint}"
        case Call():
            return "fn"
        case TupleGetItem():
            return f".{expr.index}"
        case Constant():
            return _number(expr.data.item()) if not expr.data.shape else "constant"
        case Var():
            return ""
        case GlobalVar():
            return f"@{expr.name_hint}"
        case Op() | Constructor():
            return expr.name
        case Function():
            return "fn"
    return _WORDS.get(type(expr).__name__, type(expr).__name__.lower())


def _number(value: Any) -> str:
    """Print a number in at most six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


_WORDS = {"RefCreate": "ref", "RefRead": "ref read", "RefWrite": "ref write"}


def _of_call(call: Call, typed: Expr) -> dict[str, Any]:
    attributes: dict[str, Any] = {"op": operation(call)}
    if isinstance(call.op, Op):
        attributes["attrs"] = {} if call.attrs is None else dict(call.attrs.items())
        attributes["pattern"] = OpPattern(call.op.pattern).name
        if typed._checked_type is not None and isinstance(typed, Call):
            cost = call_cost(typed)
            attributes |= {"flops": cost.flops, "bytes": cost.bytes}
    return attributes


class _Scopes:
    """The scope of each expression: the functions, branches and clauses around it, the outermost first."""

    def __init__(self, root: Expr, program: Program) -> None:
        self.layout = layout = Layout(root, NoNames())
        self.words: dict[Scope, str] = {}
        self._of_leaf: dict[Expr, Scope] = {}
        for node in reversed(layout.order):
            self._open(node, program)
        for node in layout.order:
            self._place_leaves(node)

    def _open(self, node: Expr, program: Program) -> None:
        """Name the scopes that an expression opens, and place the variables that it binds."""
        layout = self.layout
        for number, word in _opened(node, program):
            scope = layout.inner.get((id(node), number))
            if scope is not None:
                self.words[scope] = word
        if isinstance(node, Function):
            scope = layout.inner[id(node), 0]
            self._of_leaf.update(dict.fromkeys(node.params, scope))
        elif isinstance(node, Let):
            self._of_leaf[node.var] = layout.scope_of[id(node)]
        elif isinstance(node, Match):
            for number, clause in enumerate(node.clauses, 1):
                scope = layout.inner[id(node), number]
                self._of_leaf.update(dict.fromkeys(pattern_vars(clause.lhs), scope))

    def _place_leaves(self, node: Expr) -> None:
        """Place the constants and names that an expression uses: in the innermost scope around their uses."""
        for operand in operands(node):
            leaf = operand.value
            if isinstance(leaf, (Constant, GlobalVar, Op, Constructor)):
                scope = self.layout.inner.get((id(node), operand.number), self.layout.scope_of[id(node)])
                before = self._of_leaf.get(leaf)
                self._of_leaf[leaf] = scope if before is None else common(before, scope)

    def of(self, expr: Expr) -> tuple[str, ...]:
        scope = self.layout.scope_of.get(id(expr)) or self._of_leaf.get(expr)
        if scope is None:
            return ()
        return tuple(reversed([word for word in self._outward(scope) if word]))

    def _outward(self, scope: Scope) -> Iterator[str]:
        while True:
            yield self.words.get(scope, "")
            if scope.parent is scope:
                return
            scope = scope.parent


def _opened(node: Expr, program: Program) -> list[tuple[int, str]]:
    """Return the scopes that an expression opens, each with its name."""
    name = program.name(node)
    match node:
        case Function():
            return [(0, name or "fn")]
        case If():
            of = f"if {name}".rstrip()
            return [(1, f"{of}: true"), (2, f"{of}: false")]
        case Match():
            of = f"match {name}".rstrip()
            return [(number, f"{of}: {clause.lhs!r}") for number, clause in enumerate(node.clauses, 1)]
    return []
