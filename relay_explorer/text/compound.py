"""Parse operands that begin with a bracket or a keyword: tuples, functions, `if`, `match`, …."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.adt import Clause, Match
from ..ir.attrs import DictAttrs
from ..ir.errors import Note
from ..ir.expr import Expr, Function, If, RefCreate, RefRead, RefWrite, Tuple, Var
from ..ir.trampoline import Steps
from .attributes import ParsedAttrs
from .expressions import COMPOUND, ExpressionSyntax
from .metadata import MetaTable


class CompoundSyntax(ExpressionSyntax):
    """Parse operands that contain other expressions.

    Functions whose constructs may nest are generators (see ir/trampoline.py).
    """

    def __init__(self, text: str, source_name: str, meta: MetaTable) -> None:
        super().__init__(text, source_name, meta)
        self._readers: dict[str, Callable[[int], Steps[Expr]]] = {
            "fn": self.function,
            "if": self._if,
            "match": self._match_clauses,
            "ref": lambda start: self._reference("ref", start),
            "ref_read": lambda start: self._reference("ref_read", start),
            "ref_write": lambda start: self._reference("ref_write", start),
        }

    def compound(self) -> Steps[Expr]:
        """Parse an operand that begins with a bracket or a keyword."""
        start = self.start
        word = self.text if self.kind == "name" else ""
        steps: Steps[Expr]
        if self.kind == "(":
            steps = self._parentheses()
        elif self.kind == "{":
            steps = self.braces("in a block")
        elif word == "let":
            steps = self.block()
        elif word == "meta":
            return self._meta(start)
        elif word in self._readers:
            self.advance()
            steps = self._readers[word](start)
        else:
            what = f"the keyword `{word}`" if word in COMPOUND else self.found()
            raise self.error(f"expected an expression, found {what}")
        value: Expr = yield steps
        return value

    def _meta(self, start: int) -> Expr:
        value = self.meta_reference()
        if not isinstance(value, Expr):
            raise self.error("this entry of the metadata is not an expression", start, self.last)
        return value

    def _parentheses(self) -> Steps[Expr]:
        """Parse `()`, `(e)`, `(e,)` or `(e, e)`."""
        opened, comma = self.start, False
        fields: list[Expr] = []
        self.advance()
        while self.kind != ")":
            fields.append((yield self.block()))
            comma = self.kind == ","
            if not comma:
                break
            self.advance()
        self.expect(")", "or `,`", opened)
        if len(fields) == 1 and not comma:
            return fields[0]
        return Tuple(fields, self.span(opened, self.last))

    def braces(self, where: str) -> Steps[Expr]:
        """Parse `{ … }`."""
        opened = self.start
        self.expect("{", where)
        value: Expr = yield self.block()
        self.expect("}", "after the value", opened)
        return value

    def _if(self, start: int) -> Steps[Expr]:
        opened = self.start
        self.expect("(", "and a condition after `if`")
        cond = yield self.expression()
        self.expect(")", "after the condition of `if`", opened)
        then = yield self.braces("before what happens if the condition holds")
        if self.kind != "name" or self.text != "else":
            raise self.error(
                f"expected `else` after the first branch of `if`, found {self.found()}",
                help=["an `if` is a value, so it has two branches"],
            )
        self.advance()
        otherwise = yield self.braces("after `else`")
        return If(cond, then, otherwise, self.span(start, self.last))

    def _match_clauses(self, start: int) -> Steps[Expr]:
        complete = self.kind != "?"
        if not complete:
            self.advance()
        opened = self.start
        self.expect("(", "and a value after `match`")
        data = yield self.expression()
        self.expect(")", "after the value of `match`", opened)
        opened = self.start
        self.expect("{", "before the clauses of `match`")
        clauses = []
        while self.kind != "}":
            at, mark = self.start, len(self.undo)
            pattern = self.pattern({})
            self.expect("=>", "after the pattern")
            value = yield self.block()
            self.unwind(mark)
            clauses.append(Clause(pattern, value, self.span(at, self.last)))
            if self.kind not in (",", ";"):
                break
            self.advance()
        self.expect("}", "or `,` after a clause of `match`", opened)
        return Match(data, clauses, complete, self.span(start, self.last))

    def _reference(self, word: str, start: int) -> Steps[Expr]:
        opened = self.start
        self.expect("(", f"after `{word}`")
        first = yield self.expression()
        if word == "ref_write":
            self.expect(",", "and a value after the reference of `ref_write`", opened)
            second = yield self.expression()
        self.expect(")", f"after the argument{'s' if word == 'ref_write' else ''} of `{word}`", opened)
        span = self.span(start, self.last)
        if word == "ref":
            return RefCreate(first, span)
        return RefRead(first, span) if word == "ref_read" else RefWrite(first, second, span)

    def function(self, start: int) -> Steps[Function]:
        """Parse a function from its type parameters on."""
        outer, mark = self.type_vars, len(self.undo)
        type_params = self.type_params() if self.kind == "[" else []
        params, parsed = self._parameters()
        ret_type = None
        if self.kind == "->":
            self.advance()
            ret_type = self.type()
        body = yield self.braces("before the body of the function")
        self.unwind(mark)
        self.type_vars = outer
        attrs = DictAttrs({name: value for name, (value, _, _) in parsed.items()})
        return Function(params, body, ret_type, type_params, attrs, self.span(start, self.last))

    def _parameters(self) -> tuple[list[Var], ParsedAttrs]:
        opened = self.start
        self.expect("(", "before the parameters")
        params: list[Var] = []
        attrs: ParsedAttrs = {}
        starts: dict[str, int] = {}
        while self.kind != ")":
            name, start = self.text, self.start
            if self.kind in ("name", "quoted"):
                key = self.quoted_name() if self.kind == "quoted" else name
                if key is name:
                    self.advance()
                if self.kind != "=":
                    raise self.error(
                        f"expected a parameter (`%x`) or an attribute (`Primitive=1`), found `{name[:40]}`",
                        start,
                        self.last,
                    )
                self.attribute(key, start, self.last, attrs)
            else:
                variable = self.binder("as a parameter")
                if name in starts:
                    raise self.error(
                        f"two parameters are called `{name}`", start, start + len(name),
                        notes=[Note("the first is here", self.span(starts[name], starts[name] + len(name)))],
                        help=["rename one of them"],
                    )  # fmt: skip
                starts[name] = start
                self.define(name, variable)
                params.append(variable)
            if self.kind != ",":
                break
            self.advance()
        self.expect(")", "or `,` after a parameter", opened)
        return params, attrs
