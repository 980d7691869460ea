"""Programs as rows of tokens, and the rows as text."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.adt import Clause, Constructor, Match, Pattern, TypeData
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.types import Type
from .metadata import write
from .names import global_name, plain_name
from .rows import (
    BINDING, BLANK, BRANCH, CLOSE, COMMENT, CONSTRUCTOR, GLOBAL, HEADER, KEYWORD, LET, LITERAL, LOCAL, OPERATOR, PARAM, PLAIN, RESULT, TYPE, TYPE_NAME, Row, Token, lines,
)  # fmt: skip
from .scopes import Layout, Scope
from .spelling import Spelling, is_computed
from .steps import Steps, run

Annotate = Callable[[Expr], str]
VERSION_LINE = '#[version = "0.0.5"]'


def program_text(node: object, show_meta_data: bool = True, annotate: Annotate | None = None) -> str:
    """`node` with the version line and, unless `show_meta_data` is False, the data of its constants."""
    printer = Printer(annotate or type_comment)
    printer.add(node)
    text = "\n".join([VERSION_LINE, *lines(printer.rows)]) + "\n"
    if printer.spelling.meta:
        text += "\n" + (write(printer.spelling.meta) if show_meta_data else f"{_OMITTED}\n")
    return text


_OMITTED = "/* the data of the constants is left out: astext(show_meta_data=True) has it */"


def short_text(node: object) -> str:
    """`node` without version line and data."""
    printer = Printer(type_comment)
    printer.add(node)
    return "\n".join(lines(printer.rows))


def program_rows(node: IRModule | Expr) -> list[Row]:
    """The rows of the canonical print of a module or an expression, without types in comments."""
    printer = Printer(lambda expr: "")
    printer.add(node)
    return printer.rows


def type_comment(expr: Expr) -> str:
    """`ty=…` where inference has found the type of something computed."""
    return "" if expr._checked_type is None or not is_computed(expr) else "ty"


class Printer:
    """Collects the rows of a program. `annotate` gives the comment to put after an expression, or an empty text."""

    def __init__(self, annotate: Annotate) -> None:
        self.rows: list[Row] = []
        self.spelling = Spelling()
        self._annotate = annotate
        self._depth = 0
        self._next = 0

    def add(self, node: object) -> None:
        """Prints a module, an expression, a type, a pattern or a declaration."""
        if isinstance(node, IRModule):
            self._module(node)
        elif isinstance(node, Expr):
            self._expression(node)
        elif isinstance(node, TypeData):
            self._type_data(node)
        elif isinstance(node, Type):
            self._row(TYPE, [Token(TYPE_NAME, self.spelling.type(node))])
        elif isinstance(node, Pattern):
            self._row(BRANCH, self.spelling.pattern(node))
        elif isinstance(node, Clause):
            self.add(Match(Tuple([]), [node], False))
        else:
            raise TypeError(f"the text format has no {type(node).__name__}")

    def _row(self, kind: int, tokens: list[Token], expr: Expr | None = None, joins: str | None = None) -> Row:
        row = Row(kind, self._depth, tokens, expr, joins)
        self.rows.append(row)
        return row

    def _close(self, opening: Row, tokens: list[Token], kind: int = CLOSE) -> Row:
        """The last row of a block, at the depth of its first."""
        self._depth -= 1
        opening.end = len(self.rows)
        return self._row(kind, tokens)

    def _module(self, module: IRModule) -> None:
        for data in module.type_definitions.values():
            self.spelling.declare(data)
        blank = False
        for data in module.type_definitions.values():
            if blank:
                self._row(BLANK, [])
            self._type_data(data)
            blank = True
        for variable, function in module.functions.items():
            if blank:
                self._row(BLANK, [])
            head = [Token(KEYWORD, "def"), Token(PLAIN, " "), Token(GLOBAL, global_name(variable.name_hint), variable)]
            self._root(function, lambda layout, f=function, h=head: self._function(HEADER, h, f, layout, ""))  # type: ignore[misc]  # bound now
            blank = True

    def _expression(self, expr: Expr) -> None:
        self._root(expr, lambda layout: self._block(layout, layout.root, expr))

    def _root(self, expr: Expr, emit: Callable[[Layout], Steps[None]]) -> None:
        """One expression with numbers of its own scopes; free variables are declared before it."""
        self.spelling.definition()
        known = len(self.spelling.free)
        layout = Layout(expr, self.spelling, self._next)
        self._next = layout.next
        for variable in self.spelling.free[known:]:
            self._row(PARAM, [Token(KEYWORD, "free_var"), Token(PLAIN, " "), *self.spelling.binder(variable), Token(PLAIN, ";")], variable)
        run(emit(layout))

    def _type_data(self, data: TypeData) -> None:
        spelling = self.spelling
        spelling.definition()
        params = f"[{', '.join(map(spelling.type_var, data.type_vars))}]" if data.type_vars else ""
        head = [Token(KEYWORD, "type"), Token(PLAIN, " "), Token(TYPE_NAME, plain_name(data.header.name_hint) + params)]
        if not data.constructors:
            self._row(TYPE, [Token(KEYWORD, "extern"), Token(PLAIN, " "), *head])
            return
        opening = self._row(TYPE, [*head, Token(PLAIN, " {")])
        self._depth += 1
        for constructor in data.constructors:
            tokens = [Token(CONSTRUCTOR, plain_name(constructor.name_hint), constructor)]
            if constructor.inputs:
                inner = ", ".join(map(spelling.type, constructor.inputs))
                tokens += [Token(PLAIN, "("), Token(TYPE_NAME, inner), Token(PLAIN, ")")]
            self._row(TYPE, [*tokens, Token(PLAIN, ",")], constructor)
        self._close(opening, [Token(PLAIN, "}")])

    def _block(self, layout: Layout, scope: Scope, node: Expr) -> Steps[None]:
        """The bindings of a scope, its `let`s, and its value."""
        while True:
            for bound in scope.bindings:
                head = [self._number(layout, bound), Token(PLAIN, " = ")]
                yield self._statement(BINDING, head, bound, layout, ";", True)
            if not (isinstance(node, Let) and layout.in_place(node)):
                break
            head = [Token(KEYWORD, "let"), Token(PLAIN, " "), *self.spelling.binder(node.var), Token(PLAIN, " = ")]
            yield self._statement(LET, head, node.value, layout, ";", layout.in_place(node.value))
            scope, node = layout.inner[id(node), 1], node.body
        yield self._statement(RESULT, [], node, layout, "", layout.in_place(node))

    def _number(self, layout: Layout, node: Expr) -> Token:
        return Token(LOCAL, f"%{layout.numbers[id(node)]}", node)

    def _statement(self, kind: int, head: list[Token], node: Expr, layout: Layout, tail: str, in_full: bool) -> Steps[None]:
        """One binding, `let` or value: rows that begin with `head` and end with `tail`. A node that is not to be written `in_full` is named."""
        if in_full and isinstance(node, Function):
            yield self._function(kind, [*head, Token(KEYWORD, "fn"), Token(PLAIN, " ")], node, layout, tail)
        elif in_full and isinstance(node, If):
            yield self._if(kind, head, node, layout, tail)
        elif in_full and isinstance(node, Match):
            yield self._match(kind, head, node, layout, tail)
        elif in_full and isinstance(node, Let):
            yield self._nested_let(kind, head, node, layout, tail)
        else:
            tokens = self._in_full(node, layout) if in_full else [self._atom(node, layout)]
            self._row(kind, [*head, *tokens, *self._comment(node if in_full else None), *([Token(PLAIN, tail)] if tail else [])], node)

    def _comment(self, node: Expr | None) -> list[Token]:
        text = self._annotate(node) if node is not None else ""
        if not text or node is None:
            return []
        if self._annotate is type_comment:
            text = f"ty={self.spelling.type(node.checked_type)}"
        return [Token(COMMENT, self.spelling.comment(text))]

    def _atom(self, node: Expr, layout: Layout, user: Expr | None = None) -> Token:
        """What is written where `node` is used: a name, a literal, or a number."""
        if isinstance(node, Var):
            return Token(LOCAL, self.spelling.name(node), node)
        if isinstance(node, Constant):
            return Token(LITERAL, self.spelling.constant(node), node)
        if isinstance(node, GlobalVar):
            return Token(GLOBAL, global_name(node.name_hint), node)
        if isinstance(node, Op):
            return Token(OPERATOR, plain_name(node.name), user or node)
        if isinstance(node, Constructor):
            return Token(CONSTRUCTOR, plain_name(node.name_hint), user or node)
        return self._number(layout, node)

    def _in_full(self, node: Expr, layout: Layout) -> list[Token]:
        """An expression of one row."""
        if isinstance(node, Call):
            return self._call(node, layout)
        if isinstance(node, Tuple):
            ends = ",)" if len(node.fields) == 1 else ")"
            return [Token(PLAIN, "("), *self._list(node.fields, layout), Token(PLAIN, ends)]
        if isinstance(node, TupleGetItem):
            return [self._atom(node.tuple_value, layout), Token(PLAIN, f".{node.index}")]
        words = {RefCreate: "ref", RefRead: "ref_read", RefWrite: "ref_write"}
        word = words.get(type(node))
        if word is None:
            return [self._atom(node, layout)]
        parts = (node.value,) if isinstance(node, RefCreate) else (node.ref,) if isinstance(node, RefRead) else (node.ref, node.value)  # type: ignore[attr-defined]  # a RefWrite
        return [Token(KEYWORD, word, node), Token(PLAIN, "("), *self._list(parts, layout), Token(PLAIN, ")")]

    def _list(self, nodes: tuple[Expr, ...], layout: Layout) -> list[Token]:
        tokens: list[Token] = []
        for node in nodes:
            if tokens:
                tokens.append(Token(PLAIN, ", "))
            tokens.append(self._atom(node, layout))
        return tokens

    def _call(self, call: Call, layout: Layout) -> list[Token]:
        tokens = [self._atom(call.op, layout, call)]
        if isinstance(call.op, Constructor) and not call.op.inputs and not call.args:
            return tokens
        if call.type_args and call._checked_type is None and not isinstance(call.op, Op):
            types = ", ".join(map(self.spelling.type, call.type_args))
            tokens += [Token(PLAIN, "["), Token(TYPE_NAME, types), Token(PLAIN, "]")]
        args = self._list(call.args, layout)
        attrs = self.spelling.call_attrs(call)
        between = [Token(PLAIN, ", ")] if args and attrs else []
        return [*tokens, Token(PLAIN, "("), *args, *between, *attrs, Token(PLAIN, ")")]

    def _function(self, kind: int, head: list[Token], function: Function, layout: Layout, tail: str) -> Steps[None]:
        """A function: a row for its head, one a parameter, one for its result's type, and its body."""
        spelling = self.spelling
        params = [(spelling.binder(p), p) for p in function.params]
        items: list[tuple[list[Token], Expr | None]] = [*params, *((a, None) for a in spelling.function_attrs(function.attrs))]
        names = ", ".join(map(spelling.type_var, function.type_params))
        types = [Token(PLAIN, "["), Token(TYPE_NAME, names), Token(PLAIN, "]")] if names else []
        result = [Token(PLAIN, " -> "), Token(TYPE_NAME, spelling.type(function.ret_type))] if function.ret_type is not None else []
        opening = self._row(kind, [*head, *types, Token(PLAIN, "(" if items else "()"), *([] if items else [*result, Token(PLAIN, " {")])], function)
        self._depth += 1
        for number, (tokens, expr) in enumerate(items):
            comma = [Token(PLAIN, ",")] if number + 1 < len(items) else []
            self._row(PARAM, [*tokens, *comma], expr, " " if number else "")
        if items:
            self._depth -= 1
            self._row(HEADER, [Token(PLAIN, ")"), *result, Token(PLAIN, " {")], None, "")
            self._depth += 1
        yield self._block(layout, layout.inner[id(function), 0], function.body)
        self._close(opening, [Token(PLAIN, "}" + tail)])

    def _if(self, kind: int, head: list[Token], node: If, layout: Layout, tail: str) -> Steps[None]:
        tokens = [*head, Token(KEYWORD, "if"), Token(PLAIN, " ("), self._atom(node.cond, layout), Token(PLAIN, ") {")]
        opening = self._row(kind, tokens, node)
        self._depth += 1
        yield self._block(layout, layout.inner[id(node), 1], node.true_branch)
        middle = self._close(opening, [Token(PLAIN, "} "), Token(KEYWORD, "else"), Token(PLAIN, " {")], BRANCH)
        self._depth += 1
        yield self._block(layout, layout.inner[id(node), 2], node.false_branch)
        self._close(middle, [Token(PLAIN, "}"), *self._comment(node), *([Token(PLAIN, tail)] if tail else [])])

    def _match(self, kind: int, head: list[Token], node: Match, layout: Layout, tail: str) -> Steps[None]:
        word = "match" if node.complete else "match?"
        opening = self._row(kind, [*head, Token(KEYWORD, word), Token(PLAIN, " ("), self._atom(node.data, layout), Token(PLAIN, ") {")], node)
        self._depth += 1
        for number, clause in enumerate(node.clauses, 1):
            first = self._clause_head(clause)
            yield self._block(layout, layout.inner[id(node), number], clause.rhs)
            self._close(first, [Token(PLAIN, "},")])
        self._close(opening, [Token(PLAIN, "}"), *self._comment(node), *([Token(PLAIN, tail)] if tail else [])])

    def _clause_head(self, clause: Clause) -> Row:
        """The rows of a pattern: each variable begins one; then ` => {`. One level deeper afterwards."""
        pieces: list[list[Token]] = [[]]
        for token in self.spelling.pattern(clause.lhs):
            if token.cls == LOCAL:
                pieces.append([])
            pieces[-1].append(token)
        arrow = Token(PLAIN, " => {")
        if len(pieces) == 1:
            first = self._row(BRANCH, [*pieces[0], arrow])
            self._depth += 1
            return first
        closing: list[Token] = []
        while pieces[-1][-1].cls == PLAIN and pieces[-1][-1].text in (")", ",)"):
            closing.insert(0, pieces[-1].pop())
        if not pieces[0]:  # the pattern is a variable
            first = self._row(BRANCH, [*pieces[1], *closing, arrow], pieces[1][0].expr)
            self._depth += 1
            return first
        first = self._row(BRANCH, pieces[0])
        self._depth += 1
        for number, piece in enumerate(pieces[1:]):
            joins = " " if number else ""
            if piece[-1].text == ", ":
                piece[-1] = Token(PLAIN, ",")
            self._row(PARAM, piece, piece[0].expr, joins)
        self._depth -= 1
        self._row(BRANCH, [*closing, arrow], None, "")
        self._depth += 1
        return first

    def _nested_let(self, kind: int, head: list[Token], node: Let, layout: Layout, tail: str) -> Steps[None]:
        """A `let` in the place of a value stands in parentheses."""
        opening = self._row(kind, [*head, Token(PLAIN, "(")], node)
        self._depth += 1
        let = [Token(KEYWORD, "let"), Token(PLAIN, " "), *self.spelling.binder(node.var), Token(PLAIN, " = ")]
        yield self._statement(LET, let, node.value, layout, ";", layout.in_place(node.value))
        yield self._block(layout, layout.inner[id(node), 1], node.body)
        self._close(opening, [Token(PLAIN, ")" + tail)])
