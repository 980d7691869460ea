"""The rows of a run: the functions that it entered, and the expressions that can have a value in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...execute.code import Code
from ...execute.record import Evaluation
from ...execute.values import Closure
from ...ir.adt import Constructor, Match, PatternConstructor, pattern_vars
from ...ir.expr import Expr, Function, If, Let, Var
from ...ir.module import IRModule
from ...ir.scopes import LEAVES
from ...ir.types import GlobalTypeVar, Type
from ...ir.walk import post_order, type_children, types_in
from ...text import rows as printed
from ..rows import program_rows
from .format import NameRow

_WHAT = {printed.BINDING: "binding", printed.LET: "let"}


class Alias(NamedTuple):
    """A row that only names a value computed elsewhere. It shows that value once its block is entered."""

    block: int
    name: int
    source: Expr


class RunRows:
    """The program of a run as rows. `names` lists the expressions that can have a value."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.module = ran(evaluation)
        self.program = program_rows(self.module)
        self.names: list[NameRow] = []
        self.by_expr: dict[Expr, int] = {}
        self.aliases_in: dict[int, list[Alias]] = {}  # by the row that opens a block
        self.aliases_of: dict[Expr, list[Alias]] = {}  # by the expression that they name
        self._global_names = {id(f): f"@{v.name_hint}" for v, f in self.module.functions.items()}
        # As in the compiled code, a `let` stands for its body, and its variable for the bound value.
        self._same: dict[Expr, Expr] = {}
        self._branches: dict[tuple[int, int], int] = {}  # by `match` or `if`, and number: the branch's row
        self._exprs: dict[Code, list[Expr]] = {}
        self._kinds: dict[Expr, str] = {}
        for function in self.module.functions.values():
            self._read(function)
        self._name_rows()

    # -- reading the program

    def _read(self, root: Expr) -> None:
        for node in post_order(root):
            match node:
                case Let():
                    self._same[node], self._same[node.var] = node.body, node.value
                case Function():
                    self._kinds.update(dict.fromkeys(node.params, "parameter"))
                case If():
                    row = self.program.row(node)
                    self._branches[id(node), 0], self._branches[id(node), 1] = row, self.end(row)
                case Match():
                    row = self.program.row(node) + 1
                    for number, clause in enumerate(node.clauses):
                        self._kinds.update(dict.fromkeys(pattern_vars(clause.lhs), "pattern"))
                        self._branches[id(node), number] = row
                        row = self.end(row) + 1

    def _name_rows(self) -> None:
        source = self.program.source
        functions = {self.program.row(f) for f in self._functions()}
        blocks = functions | set(self._branches.values())
        open_blocks: list[int] = []
        for index, row in enumerate(source):
            while open_blocks and self.end(open_blocks[-1]) <= index:
                open_blocks.pop()
            if row.expr is not None and row.kind != printed.HEADER:
                self._name_row(index, row, open_blocks[-1] if open_blocks else -1)
            for token in row.tokens:  # variables of patterns, and of code that is never run
                if isinstance(token.expr, Var) and token.expr in self._kinds:
                    self.name_of(token.expr)
            if index in blocks:
                open_blocks.append(index)

    def _functions(self) -> Iterator[Function]:
        for root in self.module.functions.values():
            yield from (node for node in post_order(root) if isinstance(node, Function))

    def _name_row(self, index: int, row: printed.Row, block: int) -> None:
        expr = row.expr
        assert expr is not None
        if row.kind in (printed.PARAM, printed.BRANCH):
            return
        source = self.same(expr)
        if expr.__class__ not in LEAVES and source is expr and self.program.defines(index) is expr:
            self.name_of(expr)
            return
        name = next((t.text for t in row.tokens if t.cls == printed.LOCAL and row.kind == printed.LET), "")
        alias = Alias(block, len(self.names), source)
        self.names.append(NameRow(name, index, _WHAT.get(row.kind, "result")))
        self.aliases_in.setdefault(block, []).append(alias)
        self.aliases_of.setdefault(source, []).append(alias)
        for token in row.tokens:
            if row.kind == printed.LET and token.cls == printed.LOCAL and isinstance(token.expr, Var):
                self.by_expr.setdefault(token.expr, alias.name)
                break

    # -- lookups

    def same(self, expr: Expr) -> Expr:
        """Return the expression that computes the value of an expression."""
        while expr in self._same:
            expr = self._same[expr]
        return expr

    def name_of(self, expr: Expr) -> int:
        """Return the index of `expr`'s name in `names`."""
        index = self.by_expr.get(expr)
        if index is None:
            index = self.by_expr[expr] = len(self.names)
            row = self.program.row(expr)
            kind = self.program.source[row].kind if row >= 0 else -1
            what = self._kinds.get(expr) or _WHAT.get(kind, "result")
            self.names.append(NameRow(self.program.name(expr) or "", row, what))
        return index

    def called(self, expr: Expr) -> str:
        """Return the name of `expr`, or an empty string."""
        return self.names[self.name_of(expr)].name

    def reference(self, expr: Expr) -> int:
        """Return the index of the name that a token for `expr` refers to, or -1."""
        index = self.by_expr.get(expr)
        return index if index is not None else self.by_expr.get(self.same(expr), -1)

    def row(self, expr: Expr) -> int:
        return self.program.row(expr)

    def end(self, row: int) -> int:
        """Return the closing row of the block that `row` opens; `row` itself where it opens none."""
        return max(row, self.program.source[row].end) if row >= 0 else -1

    def branch(self, node: Expr, number: int) -> int:
        """Return the row that opens branch `number`, from 0, of an `if` or `match`."""
        return self._branches.get((id(node), number), -1)

    def pattern(self, node: Match, number: int) -> str:
        """Return the pattern of a clause as the program writes it."""
        row = self.branch(node, number)
        text = ""
        while 0 <= row < len(self.program.source) and " => {" not in text:
            joins = self.program.source[row].joins if text else ""
            text += (joins or "") + self.program.source[row].text
            row += 1
        return text.partition(" => {")[0]

    def function_name(self, closure: Closure) -> str:
        """Return a function's name, `@sum`, or, if it has no global one, how its text begins, `fn (%x)`."""
        function = closure.function
        name = self._global_names.get(id(function))
        if name is not None:
            return name
        params = [self.program.name(p) or f"%{p.name_hint}" for p in function.params]
        shown = params if len(params) <= 4 else [*params[:3], "…"]
        return f"fn ({', '.join(shown)})"

    def frame_name(self, closure: Closure) -> str:
        """Return the title of a frame: the name of the function, or of the variable that a `let` binds it
        to.
        """
        if id(closure.function) in self._global_names:
            return self.function_name(closure)
        return self.program.name(closure.function) or "fn"

    def exprs(self, code: Code) -> list[Expr]:
        """Return the expression in each slot of a frame."""
        ordered = self._exprs.get(code)
        if ordered is None:
            slots = sorted((slot, order) for order, slot in enumerate(code.slots.values()))
            exprs = list(code.slots)
            ordered = self._exprs[code] = [exprs[order] for _, order in slots]
        return ordered

    def captured_names(self, closure: Closure) -> list[str]:
        """Return the names of the values that a closure captured."""
        exprs = self.exprs(closure.code)
        return [self.called(exprs[slot]) for _, slot in closure.code.captures]


def ran(evaluation: Evaluation) -> IRModule:
    """Return the functions that a run entered, with the types that they mention, from its module."""
    roots: dict[int, None] = {}
    for activation in (*evaluation.activations, evaluation.steps[-1].activation):
        code = activation.code
        while code.parent is not None:
            code = code.parent
        roots[id(code.function)] = None
    whole = evaluation.module
    functions = {
        var: f for var, f in whole.functions.items() if id(f) in roots or var == evaluation.entry
    }  # in the order of the module
    named = set(types_named(functions.values()))
    types = {var: data for var, data in whole.type_definitions.items() if var.name_hint in named}
    return IRModule(functions, types, source=whole.source)


def types_named(functions: Iterable[Expr]) -> Iterator[str]:
    """Iterate over the names of the types that functions mention."""
    for function in functions:
        pending: list[Type] = list(types_in(function))
        while pending:
            type_ = pending.pop()
            if isinstance(type_, GlobalTypeVar):
                yield type_.name_hint
            pending.extend(type_children(type_))
        for node in post_order(function):
            if isinstance(node, Constructor):
                yield node.belong_to.name_hint
            elif isinstance(node, Match):
                patterns = [clause.lhs for clause in node.clauses]
                for pattern in patterns:  # grows during the iteration
                    if isinstance(pattern, PatternConstructor):
                        yield pattern.constructor.belong_to.name_hint
                    patterns.extend(getattr(pattern, "patterns", ()))
