"""The individual rewrites inside a pass, as the pipeline explorer lists them: in words, with the expressions
before and after the pass that they concern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.adt import Constructor
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Let, Tuple, TupleGetItem, Var
from ...ir.op import Op
from ...ir.recorder import Recorder
from ...ir.rewrites import Rewrite
from ...text.literals import scalar_text
from .format import RewriteStep
from .origins import Origins

MAX_REWRITES = 500  # rewrites of one pass that are shown
MAX_DEPTH, MAX_LENGTH = 3, 160  # of an expression in a line
MAX_SEARCHED = 50  # rebuilt versions that are looked through for a name
_CUT = "…"


def rewrite_steps(
    recorder: Recorder[Rewrite],
    before: Origins,
    after: Origins,
    name: Callable[[Expr], str | None],
    new_name: Callable[[Expr], str | None],
) -> tuple[RewriteStep, ...]:
    """Describe the rewrites of a pass for the view. `name(expr)` is the name of a value in the program
    before the pass, `new_name(expr)` its name in the program after it.
    """
    writer = _Writer(before, name, new_name)
    return tuple(_step(rewrite, before, after, writer) for rewrite in recorder.events)


def _step(rewrite: Rewrite, before: Origins, after: Origins, writer: _Writer) -> RewriteStep:
    old = _items(before, rewrite.at, before.nearest)
    new = _items(after, () if rewrite.after is None else (rewrite.after,), after.made_of)
    if not new and rewrite.after is not None:
        # The result was rewritten again, or copied: take what became of the matched expressions.
        new = tuple(dict.fromkeys(item for number in old for item in after.users.get(number, ())))
    was = ", ".join(writer.named(expr) for expr in rewrite.before[:3])
    if len(rewrite.before) > 3:
        was += f" and {len(rewrite.before) - 3} more"
    if rewrite.after is None:
        became = ""
    elif rewrite.how:
        became = writer.named(rewrite.after)
    else:
        became = writer.result(rewrite.after, rewrite.before)
    first = rewrite.before[0] if len(rewrite.before) == 1 else None
    if first is not None and rewrite.after is not None and writer.text(first) == became:
        was, became = writer.named(first, rewrite.after), writer.text(rewrite.after, first)
    return RewriteStep(
        rewrite.rule, rewrite.name, rewrite.path, rewrite.line, old, new, was, rewrite.how, became
    )


def _items(
    origins: Origins, exprs: Sequence[Expr], find: Callable[[Expr], tuple[int, ...]]
) -> tuple[int, ...]:
    numbers: dict[int, None] = {}
    for expr in exprs:
        numbers.update(dict.fromkeys((origins.items[expr],) if expr in origins.items else find(expr)))
    return tuple(numbers)


class _Writer:
    """Writes expressions in one line, with the program's names for their parts."""

    def __init__(
        self, before: Origins, name: Callable[[Expr], str | None], new_name: Callable[[Expr], str | None]
    ) -> None:
        self.before = before
        self.given = name
        self.new_name = new_name

    def named(self, expr: Expr, beside: Expr | None = None) -> str:
        """Write an expression with its name: `%3 = add(%1, %2)`."""
        name, text = self._name(expr), self.text(expr, beside)
        return f"{name} = {text}" if name and name != text else text

    def result(self, replacement: Expr, before: Sequence[Expr]) -> str:
        """Write the replacement of expressions: by its name, if it is another value of the program."""
        name = self._name(replacement)
        return name if name and all(name != self._name(expr) for expr in before) else self.text(replacement)

    def text(self, expr: Expr, beside: Expr | None = None) -> str:
        """Write the top of an expression, with the attributes in which it differs from `beside`."""
        text = self._text(expr, MAX_DEPTH) + _attributes(expr, beside)
        return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + _CUT

    def _name(self, expr: Expr) -> str | None:
        """Return the program's name of a value, or of the one from which it was rebuilt."""
        for _ in range(MAX_SEARCHED):
            if expr in self.before.items:
                return self.given(expr)
            if isinstance(expr, Constant) or len(expr.origin) != 1:
                return None
            expr = expr.origin[0]
        return None

    def _part(self, expr: Expr, depth: int) -> str:
        return self._name(expr) or (self._text(expr, depth) if depth else _CUT)

    def _text(self, expr: Expr, depth: int) -> str:
        # The recursion is MAX_DEPTH deep.
        match expr:
            case Call():
                parts = [self._part(arg, depth - 1) for arg in expr.args]
                return f"{self._callee(expr, depth - 1)}({', '.join(parts)})"
            case Tuple():
                fields = [self._part(field, depth - 1) for field in expr.fields]
                return f"({', '.join(fields)}{',' if len(fields) == 1 else ''})"
            case TupleGetItem():
                return f"{self._part(expr.tuple_value, depth - 1)}.{expr.index}"
            case Constant():
                return scalar_text(expr.data) or f"constant of shape {expr.data.shape}"
            case Var():
                return self.given(expr) or self.new_name(expr) or f"%{expr.name_hint}"
            case Op():
                return expr.name
            case GlobalVar():
                return f"@{expr.name_hint}"
            case Constructor():
                return expr.name_hint
            case Function():
                return f"fn ({', '.join(f'%{p.name_hint}' for p in expr.params)}) {{{_CUT}}}"
            case Let():
                return f"let {self._text(expr.var, 1)} = {self._part(expr.value, depth - 1)}; {_CUT}"
            case If():
                return f"if ({self._part(expr.cond, depth - 1)}) {{{_CUT}}} else {{{_CUT}}}"
        return type(expr).__name__

    def _callee(self, call: Call, depth: int) -> str:
        if isinstance(call.op, Function) and "Primitive" in call.op.attrs:
            return "kernel"
        return self._part(call.op, depth) if not isinstance(call.op, Op) else call.op.name


def _attributes(expr: Expr, beside: Expr | None) -> str:
    """Write the attributes in which a call differs from another call of the same operator."""
    if not isinstance(expr, Call) or not isinstance(beside, Call) or expr.attrs is None:
        return ""
    other = dict(beside.attrs.items()) if beside.attrs is not None else {}
    differ = [f"{name}={value}" for name, value in expr.attrs.items() if other.get(name) != value]
    return f" [{', '.join(differ)}]" if differ else ""
