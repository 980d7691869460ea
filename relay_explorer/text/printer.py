"""Print programs as rows of tokens, and the rows as text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..ir.adt import Clause, Match, Pattern, TypeData
from ..ir.expr import Expr, Function, GlobalVar, If, Let
from ..ir.module import IRModule
from ..ir.scopes import Layout, Scope
from ..ir.trampoline import Steps, run
from ..ir.types import Type
from .inline import Inline
from .metadata import write
from .names import global_name, plain_name
from .rows import (
    BINDING,
    BLANK,
    BRANCH,
    CLOSE,
    COMMENT,
    CONSTRUCTOR,
    GLOBAL,
    HEADER,
    LET,
    LOCAL,
    PARAM,
    PLAIN,
    RESULT,
    TYPE,
    TYPE_NAME,
    Row,
    Token,
    keyword,
    lines,
    plain,
)  # fmt: skip
from .spelling import Spelling, is_computed

Annotate = Callable[[Expr], str]
Comment = Callable[[Expr, Spelling, bool], str]
VERSION_LINE = '#[version = "0.0.5"]'
_OMITTED = "/* the data of the constants is left out: astext(show_meta_data=True) has it */"


def program_text(node: object, show_meta_data: bool = True, annotate: Annotate | None = None) -> str:
    """Print `node` with the version line and, unless `show_meta_data` is False, the data of its constants."""
    printer = Printer(comment) if annotate is None else Printer(lambda expr, spelling, shown: annotate(expr))
    printer.inline.typed_constants = annotate is None
    printer.add(node)
    text = "\n".join([VERSION_LINE, *lines(printer.rows)])
    if printer.spelling.meta:
        return f"{text}\n\n" + (write(printer.spelling.meta) if show_meta_data else f"{_OMITTED}\n")
    return (
        f"{text}\n" if isinstance(node, IRModule) else text
    )  # as in TVM, an expression ends without a newline


def short_text(node: object) -> str:
    """Print `node` without version line and data."""
    printer = Printer(comment)
    printer.add(node)
    return "\n".join(lines(printer.rows))


def program_rows(node: IRModule | Expr) -> list[Row]:
    """Return the rows of the canonical print of a module or an expression, without types in comments."""
    printer = Printer(lambda expr, spelling, shown: "")
    printer.add(node)
    return printer.rows


def comment(expr: Expr, spelling: Spelling, shown: bool) -> str:
    """Return the comment on an expression: `ty=…` where inference has typed a computed value whose type is
    not `shown` beside it, and `span=…` where the expression is a layer of an imported model, whose span
    refers to no text.
    """
    type_ = expr._checked_type
    parts = [] if shown or type_ is None or not is_computed(expr) else [f"ty={spelling.type(type_)}"]
    span = expr.span
    if span is not None and not span.source.text and span.source.name:
        parts.append(f"span={span}")
    return " ".join(parts)


class Printer:
    """Collects the rows of a program.

    `comment_on` returns the text to print after an expression, or an empty one; its last argument says
    whether the type is already shown.
    """

    def __init__(self, comment_on: Comment) -> None:
        self.rows: list[Row] = []
        self.spelling = Spelling()
        self.inline = Inline(self.spelling)
        self._comment_on = comment_on
        self._depth = 0
        self._next = 0

    def add(self, node: object) -> None:
        """Print a module, an expression, a type, a pattern or a declaration."""
        if isinstance(node, IRModule):
            self._module(node)
        elif isinstance(node, Expr):
            self._root(node, lambda layout: self._block(layout, layout.root, node))
        elif isinstance(node, TypeData):
            self._type_data(node)
        elif isinstance(node, Type):
            self._row(TYPE, [Token(TYPE_NAME, self.spelling.type(node))])
        elif isinstance(node, Pattern):
            self._row(BRANCH, self.spelling.pattern(node))
        elif isinstance(node, Clause):
            match = Match(GlobalVar("_"), [node])  # only the clause is printed
            self._root(match, lambda layout: self._clause(match, 1, layout, "}"))
        else:
            raise TypeError(f"the text format has no {type(node).__name__}")

    def _row(self, kind: int, tokens: list[Token], expr: Expr | None = None, joins: str | None = None) -> Row:
        row = Row(kind, self._depth, tokens, expr, joins)
        self.rows.append(row)
        return row

    def _close(self, opening: Row, tokens: list[Token], kind: int = CLOSE) -> Row:
        """Print the last row of a block, at the depth of its first."""
        self._depth -= 1
        opening.end = len(self.rows)
        return self._row(kind, tokens)

    def _tail(self, node: Expr, tail: str, shown: bool = True) -> list[Token]:
        """Return the end of a statement: a comment on `node`, without its type if `shown`, and a
        semicolon.
        """
        text = self._comment_on(node, self.spelling, not shown)
        remark = [Token(COMMENT, self.spelling.comment(text))] if text else []
        return [*remark, plain(tail)] if tail else remark

    def _module(self, module: IRModule) -> None:
        definitions: list[Callable[[], None]] = []
        for data in module.type_definitions.values():
            self.spelling.declare(data)
            definitions.append(partial(self._type_data, data))
        for variable, function in module.functions.items():
            head = [keyword("def"), plain(" "), Token(GLOBAL, global_name(variable.name_hint), variable)]
            definitions.append(partial(self._definition, head, function))
        for number, define in enumerate(definitions):
            if number:
                self._row(BLANK, [])
            define()

    def _definition(self, head: list[Token], function: Function) -> None:
        self._root(function, lambda layout: self._function(HEADER, head, function, layout, []))

    def _root(self, expr: Expr, emit: Callable[[Layout], Steps[None]]) -> None:
        """Print one expression with its own scopes; its free variables are declared before it."""
        self.spelling.definition()
        declared = len(self.spelling.free)
        layout = Layout(expr, self.spelling, self._next)
        self._next = layout.next
        for variable in self.spelling.free[declared:]:
            tokens = [keyword("free_var"), plain(" "), *self.spelling.binder(variable), plain(";")]
            self._row(PARAM, tokens, variable)
        run(emit(layout))

    def _type_data(self, data: TypeData) -> None:
        spelling = self.spelling
        spelling.definition()
        params = f"[{', '.join(map(spelling.type_var, data.type_vars))}]" if data.type_vars else ""
        head = [keyword("type"), plain(" "), Token(TYPE_NAME, plain_name(data.header.name_hint) + params)]
        if not data.constructors:
            self._row(TYPE, [keyword("extern"), plain(" "), *head])
            return
        opening = self._row(TYPE, [*head, plain(" {")])
        self._depth += 1
        for constructor in data.constructors:
            tokens = [Token(CONSTRUCTOR, plain_name(constructor.name_hint), constructor)]
            if constructor.inputs:
                inner = ", ".join(map(spelling.type, constructor.inputs))
                tokens += [plain("("), Token(TYPE_NAME, inner), plain(")")]
            self._row(TYPE, [*tokens, plain(",")], constructor)
        self._close(opening, [plain("}")])

    def _block(self, layout: Layout, scope: Scope, node: Expr) -> Steps[None]:
        """Print the bindings of a scope, its `let`s, and its value."""
        while True:
            for bound in scope.bindings:
                head = [self.inline.number(bound, layout), plain(" = ")]
                yield self._statement(BINDING, head, bound, layout, self._tail(bound, ";"), True)
            if not (isinstance(node, Let) and layout.in_place(node)):
                break
            yield self._let(node, layout)
            scope, node = layout.inner[id(node), 1], node.body
        in_full = layout.in_place(node)
        yield self._statement(RESULT, [], node, layout, self._tail(node, "", in_full), in_full)

    def _let(self, let: Let, layout: Layout) -> Steps[None]:
        """Print `let %x: T = value;`."""
        head = [keyword("let"), plain(" "), *self.spelling.binder(let.var), plain(" = ")]
        in_full = layout.in_place(let.value)
        tail = self._tail(let.value, ";", in_full and let.var.type_annotation is None)
        return self._statement(LET, head, let.value, layout, tail, in_full)

    def _statement(
        self, kind: int, head: list[Token], node: Expr, layout: Layout, tail: list[Token], in_full: bool
    ) -> Steps[None]:
        """Print one binding, `let` or value, between `head` and `tail`; unless `in_full`, only its name."""
        if not in_full:
            self._row(kind, [*head, self.inline.atom(node, layout), *tail], node)
        elif isinstance(node, Function):
            yield self._function(kind, [*head, keyword("fn"), plain(" ")], node, layout, tail)
        elif isinstance(node, If):
            yield self._if(kind, head, node, layout, tail)
        elif isinstance(node, Match):
            yield self._match(kind, head, node, layout, tail)
        elif isinstance(node, Let):  # a `let` as a value is printed in parentheses
            opening = self._row(kind, [*head, plain("(")], node)
            self._depth += 1
            yield self._let(node, layout)
            yield self._block(layout, layout.inner[id(node), 1], node.body)
            self._close(opening, [plain(")"), *tail])
        else:
            self._row(kind, [*head, *self.inline.in_full(node, layout), *tail], node)

    def _function(
        self, kind: int, head: list[Token], function: Function, layout: Layout, tail: list[Token]
    ) -> Steps[None]:
        """Print a function: a row for its head, one for each parameter, one for its result type, and its
        body.
        """
        spelling = self.spelling
        items: list[tuple[list[Token], Expr | None]] = [(spelling.binder(p), p) for p in function.params]
        items += [(tokens, None) for tokens in spelling.function_attrs(function.attrs)]
        if function.type_params:
            names = ", ".join(map(spelling.type_var, function.type_params))
            head = [*head, plain("["), Token(TYPE_NAME, names), plain("]")]
        result: list[Token] = []
        if function.ret_type is not None:
            result = [plain(" -> "), Token(TYPE_NAME, spelling.type(function.ret_type))]
        rest = [] if items else [plain(")"), *result, plain(" {")]
        opening = self._row(kind, [*head, plain("("), *rest], function)
        if items:
            self._depth += 1
            for number, (tokens, expr) in enumerate(items, 1):
                comma = [plain(",")] if number < len(items) else []
                self._row(PARAM, [*tokens, *comma], expr, " " if number > 1 else "")
            self._depth -= 1
            self._row(HEADER, [plain(")"), *result, plain(" {")], None, "")
        self._depth += 1
        yield self._block(layout, layout.inner[id(function), 0], function.body)
        self._close(opening, [plain("}"), *tail])

    def _if(self, kind: int, head: list[Token], node: If, layout: Layout, tail: list[Token]) -> Steps[None]:
        cond = self.inline.atom(node.cond, layout)
        opening = self._row(kind, [*head, keyword("if"), plain(" ("), cond, plain(") {")], node)
        self._depth += 1
        yield self._block(layout, layout.inner[id(node), 1], node.true_branch)
        middle = self._close(opening, [plain("} "), keyword("else"), plain(" {")], BRANCH)
        self._depth += 1
        yield self._block(layout, layout.inner[id(node), 2], node.false_branch)
        self._close(middle, [plain("}"), *tail])

    def _match(
        self, kind: int, head: list[Token], node: Match, layout: Layout, tail: list[Token]
    ) -> Steps[None]:
        word = keyword("match" if node.complete else "match?")
        data = self.inline.atom(node.data, layout)
        opening = self._row(kind, [*head, word, plain(" ("), data, plain(") {")], node)
        self._depth += 1
        for number in range(1, len(node.clauses) + 1):
            yield self._clause(node, number, layout, "},")
        self._close(opening, [plain("}"), *tail])

    def _clause(self, node: Match, number: int, layout: Layout, end: str) -> Steps[None]:
        """Print clause `number`, from 1, of a match."""
        clause = node.clauses[number - 1]
        first = self._clause_head(clause)
        self._depth += 1
        yield self._block(layout, layout.inner[id(node), number], clause.rhs)
        self._close(first, [plain(end)])

    def _clause_head(self, clause: Clause) -> Row:
        """Print the rows of a pattern, one for each variable, and ` => {`."""
        pieces: list[list[Token]] = [[]]
        for token in self.spelling.pattern(clause.lhs):
            if token.cls == LOCAL:
                pieces.append([])
            pieces[-1].append(token)
        arrow = plain(" => {")
        if not pieces[0]:  # the pattern is a variable
            return self._row(BRANCH, [*pieces[1], arrow], pieces[1][0].expr)
        if len(pieces) == 1:
            return self._row(BRANCH, [*pieces[0], arrow])
        closing: list[Token] = []
        while pieces[-1][-1].cls == PLAIN and pieces[-1][-1].text in (")", ",)"):
            closing.insert(0, pieces[-1].pop())
        first = self._row(BRANCH, pieces[0])
        self._depth += 1
        joins = ""
        for piece in pieces[1:]:
            space = piece[-1].text == ", "
            self._row(PARAM, [*piece[:-1], plain(",")] if space else piece, piece[0].expr, joins)
            joins = " " if space else ""
        self._depth -= 1
        self._row(BRANCH, [*closing, arrow], None, "")
        return first
