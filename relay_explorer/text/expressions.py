"""Parse expressions (figure 1 of the paper, in the notation of the text format 0.0.5)."""

from __future__ import annotations

import re

from ..ir.attrs import Attrs
from ..ir.errors import AttributeSchemaError, Note, UnknownOperatorError
from ..ir.expr import (
    Call,
    Constant,
    Expr,
    Let,
    TupleGetItem,
    Var,
)
from ..ir.ndarray import NDArray
from ..ir.op import Op
from ..ir.trampoline import Steps
from ..ir.types import Type
from .attributes import ParsedAttrs, free_attrs
from .lexer import near
from .literals import SPECIAL, scalar
from .patterns import PatternSyntax

INFIX = {
    "*": (4, "multiply"), "/": (4, "divide"), "+": (3, "add"), "-": (3, "subtract"),
    "<": (2, "less"), ">": (2, "greater"), "<=": (2, "less_equal"), ">=": (2, "greater_equal"),
    "==": (1, "equal"), "!=": (1, "not_equal"),
}  # fmt: skip
_DECLARATION = re.compile(r"\btype\b[^{}]*\{([^{}]*)\}")
_LOOKAHEAD = 100_000  # the number of characters that are searched for a later declaration
_GOES_ON = frozenset(("(", "[", "field", *INFIX))  # tokens that may continue an expression after an operand


class ExpressionSyntax(PatternSyntax):
    """Parse expressions. Functions whose constructs may nest are generators (see ir/trampoline.py)."""

    def block(self) -> Steps[Expr]:
        """Parse `let`s, graph bindings and sequenced expressions, then the expression that is the value.

        The block ends where no `;` follows; the closing bracket is not consumed.
        """
        mark = len(self.undo)
        lets: list[tuple[Var, Expr, int]] = []
        while True:
            start = self.start
            node: Expr | None = None
            if self.kind == "graph":
                name = self.text
                self.advance()
                if self.kind == "=":
                    yield self._graph_binding(name, start)
                    continue
                node = self.graph_use(name, start)
            elif self.kind == "name" and self.text == "let":
                lets.append((yield self._let_binding(start)))
                continue
            elif self.kind == "name" and self.text == "free_var":
                self.free_var()
                continue
            if node is None or self.kind in _GOES_ON:
                node = yield self.expression(node, start)
            if self.kind != ";":
                break
            self.advance()
            lets.append((Var("_"), node, start))
        self.unwind(mark)
        for variable, value, start in reversed(lets):
            node = Let(variable, value, node, self.span(start, self.last))
        return node

    def _graph_binding(self, name: str, start: int) -> Steps[None]:
        """Parse the rest of `%0 = value;`: from here on `%0` denotes that very node."""
        first = self.graph_open.get(name)
        if first is not None:
            raise self.error(
                f"`{name}` is defined twice",
                start,
                start + len(name),
                notes=[Note("it was defined here", self.span(first, first + len(name)))],
                help=["a graph name stands for one node; use the next number"],
            )
        self.advance()
        value = yield self.expression()
        self.expect(";", f"after the value of `{name}`")
        self.define_graph(name, value, start)

    def _let_binding(self, start: int) -> Steps[tuple[Var, Expr, int]]:
        """Parse `let %x: T = value;`. A function may call itself through the variable."""
        self.advance()
        name = self.text
        variable = self.binder("after `let`")
        self.expect("=", f"and a value after `let {name}`")
        recursive = self.kind == "name" and self.text == "fn"
        if recursive:
            self.define(name, variable)
        value = yield self.expression()
        if not recursive:
            self.define(name, variable)
        self.expect(";", f"after the value of `let {name}`")
        return variable, value, start

    def free_var(self) -> None:
        """Parse `free_var %x: T;`: a variable that nothing binds."""
        self.advance()
        name = self.text
        self.define(name, self.binder("after `free_var`"))
        self.expect(";", f"after `free_var {name}`")

    def expression(self, node: Expr | None = None, start: int = -1) -> Steps[Expr]:
        """Parse operands joined by infix operators.

        `node` is the first operand if it has been parsed already, and `start` its offset.
        """
        operands: list[tuple[Expr, int]] = []
        operators: list[str] = []
        while True:
            if start < 0:
                start = self.start
            minus: list[int] = []
            if node is None:
                while self.kind == "-":
                    minus.append(self.start)
                    self.advance()
                if minus and (self.kind == "number" or self.text in SPECIAL):
                    node = self._number(minus[0], len(minus) % 2 == 1)
                    minus = []
                else:
                    node = self.simple()
                    if node is None:
                        node = yield self.compound()
            at = minus[-1] + 1 if minus else start
            while self.kind in ("(", "[", "field"):
                node = yield self._postfix(node, at)
            for sign in reversed(minus):
                node = Call(self.operator("negative", sign), [node], span=self.span(sign, self.last))
            operands.append((node, start))
            infix = INFIX.get(self.kind)
            while operators and (infix is None or INFIX[operators[-1]][0] >= infix[0]):
                self._combine(operands, operators)
            if infix is None:
                return operands[0][0]
            operators.append(self.kind)
            self.advance()
            node, start = None, -1

    def _combine(self, operands: list[tuple[Expr, int]], operators: list[str]) -> None:
        right, _ = operands.pop()
        left, start = operands.pop()
        op = self.operator(INFIX[operators.pop()][1], start)
        operands.append(
            (
                Call(op, [left, right], self.call_attrs(op, {}, start), None, self.span(start, self.last)),
                start,
            )
        )

    def simple(self) -> Expr | None:
        """Parse an operand that consists of one token; return None where the current token begins a longer
        one.
        """
        kind, text, start = self.kind, self.text, self.start
        if kind == "local":
            return self.local_use()
        if kind == "graph":
            self.advance()
            return self.graph_use(text, start)
        if kind == "number":
            return self._number(start, False)
        if kind == "global":
            return self.global_use(self.global_name(), start)
        if kind == "name":
            if text in COMPOUND:
                return None
            self.advance()
            return self.named(text, start)
        if kind == "quoted":
            return self.named(self.quoted_name(), start, True)
        return None

    def named(self, name: str, start: int, quoted: bool = False) -> Expr:
        """Return an operator, a constructor, or a constant such as `True`; its token has been consumed.

        A name that an operator and a constructor share denotes the constructor; between backquotes, it
        denotes the operator.
        """
        if name in ("True", "False") and not quoted:
            return Constant(NDArray.scalar(name == "True", "bool"), self.span(start, self.last))
        if name in SPECIAL and not quoted:
            return Constant(scalar(name), self.span(start, self.last))
        constructor = self.constructors.get(name)
        if constructor is not None and not (quoted and name in Op.list_op_names()):
            if constructor.inputs or self.kind in ("(", "["):
                return constructor
            return Call(constructor, [], span=self.span(start, self.last))
        return self.operator(name, start)

    def operator(self, name: str, start: int) -> Op:
        op = self._operators.get(name)
        if op is None:
            try:
                op = self._operators[name] = Op.get(name)
            except UnknownOperatorError as error:
                raise self.error(
                    f"there is no operator or constructor called `{name[:60]}`",
                    start,
                    self.last,
                    help=self._meant(name) or error.help,
                ) from None
        return op

    def _meant(self, name: str) -> list[str]:
        """Return suggestions for a word that is not an operator: a variable or function of that name, or a
        similar constructor.
        """
        if f"%{name}" in self.locals:
            return [f"did you mean `%{name}`?"]
        if name in self.globals:
            return [f"did you mean `@{name}`?"]
        if name == "import":
            return [
                "a text imports nothing: add a library to its module with "
                '`import_from_std("prelude.rly")`, or parse it with that module as `init_module`'
            ]
        for declared in _DECLARATION.finditer(self.content, self.last, self.last + _LOOKAHEAD):
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", declared[1]):
                return [f"move the type that declares `{name}` above its first use"]
        return [h for h in near(name, self.constructors) if h.startswith("did")]

    def _number(self, start: int, negative: bool) -> Constant:
        """Parse a number; `start` is the offset of its minus signs, if any."""
        try:
            data = scalar(self.text, negative)
        except ValueError as error:
            raise self.error(f"`{self.text[:40]}` {error}") from None
        self.advance()
        return Constant(data, self.span(start, self.last))

    def _postfix(self, node: Expr, start: int) -> Steps[Expr]:
        """Parse the suffixes of an operand: `.0`, `(arguments)`, `[types](arguments)`.

        `Nil[]` is the constructor itself, whereas `Nil` alone is a call of it.
        """
        if self.kind == "field":
            if len(self.text) > 10:
                raise self.error(f"no tuple has a field {self.found()}")
            index = int(self.text[1:])
            self.advance()
            return TupleGetItem(node, index, self.span(start, self.last))
        types: list[Type] = []
        if self.kind == "[":
            types, _ = self._types("[", "]", 0)
            if not types and self.kind != "(":
                return node
            if self.kind != "(":
                raise self.error(f"expected `(` and arguments after the type arguments, found {self.found()}")
        args, parsed = yield self._arguments()
        if isinstance(node, Op):
            attrs = self.call_attrs(node, parsed, start)
        else:
            attrs = self._free_attrs(parsed, start) if parsed else None
        return Call(node, args, attrs, types, self.span(start, self.last))

    def _free_attrs(self, parsed: ParsedAttrs, start: int) -> Attrs | None:
        """Return the attributes of a call whose callee is not an operator."""
        try:
            return free_attrs(parsed)
        except AttributeSchemaError as error:
            raise self.error(error.message, start, self.last, help=error.help) from None

    def _arguments(self) -> Steps[tuple[list[Expr], ParsedAttrs]]:
        opened = self.start
        self.advance()
        args: list[Expr] = []
        attrs: ParsedAttrs = {}
        while self.kind != ")":
            start, name = self.start, self.text
            node: Expr | None = None
            quoted = self.kind == "quoted"
            if quoted or (self.kind == "name" and name not in COMPOUND):
                if quoted:
                    name = self.quoted_name()
                else:
                    self.advance()
                if self.kind == "=":
                    self.attribute(name, start, self.last, attrs)
                    if self.kind != ",":
                        break
                    self.advance()
                    continue
                node = self.named(name, start, quoted)
            else:
                node = self.simple()
            if node is None or self.kind in _GOES_ON:
                node = yield self.expression(node, start)
            args.append(node)
            if self.kind != ",":
                break
            self.advance()
        self.expect(")", "or `,` after an argument", opened)
        return args, attrs

    def compound(self) -> Steps[Expr]:
        """Parse an operand that begins with a bracket or a keyword (see compound.py)."""
        raise NotImplementedError


COMPOUND = frozenset(
    ("let", "fn", "if", "match", "ref", "ref_read", "ref_write", "meta", "def", "type", "extern", "else")
)
