"""Collect what the gradient explorer shows of a function: its values, the lines of the backward pass, and
what is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ...analysis.cost import call_cost, nbytes
from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr, Function, Let, Tuple, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.show import short_type
from ...ir.types import TensorType, TupleType, Type
from ...ir.walk import children, post_order
from ...text import rows as printed
from ...transform.differentiation.first_order import Derivation
from ...transform.differentiation.reverse_mode import Visit
from ...typing import infer_types
from ..format import Row, RowKind, Token
from ..fusion.view import label
from ..rows import ProgramRows, program_rows
from .format import Kept, Line, Role, Use, Value


def _shape_operand(value: Expr) -> int | None:
    """Return the index of the operand of which only the shape is used; None if there is none."""
    if not isinstance(value, Call) or not isinstance(value.op, Op):
        return None
    return 0 if value.op.has(Trait.TYPE_OF_FIRST) else 1 if value.op.has(Trait.TYPE_OF_SECOND) else None


class Parts:
    """The parts of the view: values, lines and rows, and their names in sentences."""

    def __init__(self, module: IRModule, name: str, derivation: Derivation, visits: Sequence[Visit]) -> None:
        self.made = derivation
        alone = IRModule()
        alone[name] = derivation.function
        self.program: ProgramRows = program_rows(alone)
        whole = module.copy()
        whole["differentiated"] = derivation.function
        typed = infer_types(whole)["differentiated"]
        assert isinstance(typed, Function)
        self.bindings = _bindings(derivation.function.body)
        self.typed = [value for _, value in _bindings(typed.body)]
        self.params = list(derivation.function.params)
        self.forward = self.bindings[: derivation.forward]
        self.back = self.bindings[derivation.forward : -2]  # without the tuples of the results
        self.number: dict[Var, int] = {
            var: k for k, var in enumerate([*self.params, *(var for var, _ in self.forward)])
        }
        self._names = list(self.number)
        self._forward: dict[Var, Expr] = dict(self.forward)
        self.line: dict[Var, int] = {var: k for k, (var, _) in enumerate(self.back)}
        self.visits = visits

    # -- names

    def _var(self, expr: Expr | None) -> Var | None:
        """Return the variable that an expression of a visit is bound to."""
        bound = self.made.variables.get(id(expr), expr)
        return bound if isinstance(bound, Var) else None

    def value_of(self, expr: Expr | None) -> int:
        var = self._var(expr)
        return -1 if var is None else self.number.get(var, -1)

    def line_of(self, expr: Expr | None) -> int:
        var = self._var(expr)
        return -1 if var is None else self.line.get(var, -1)

    def title(self, value: int) -> str:
        """Return the name of a value in sentences: `%x3 tanh`, `%w`."""
        value_info = self.values[value]
        plain = value < len(self.params) or value_info.label.startswith(".")
        return value_info.name if plain else f"{value_info.name} {value_info.label}"

    def name(self, line: int) -> str:
        return self.lines[line].name if line >= 0 else ""

    def ref(self, expr: Expr) -> int:
        if isinstance(expr, Var) and expr in self.number:
            return self.number[expr]
        if isinstance(expr, Var) and expr in self.line:
            return len(self.number) + self.line[expr]
        return -1

    # -- the lines

    @cached_property
    def owners(self) -> list[tuple[int, Role]]:
        """The value beside which each line is shown, and the purpose of the line."""
        owners: dict[int, tuple[int, Role]] = {}
        for visit in self.visits:
            for role, exprs in ((Role.SUM, visit.sums), (Role.RULE, visit.made)):
                for expr in exprs:
                    if (line := self.line_of(expr)) >= 0:
                        owners.setdefault(line, (self.value_of(visit.node), self._role(role, line)))
        for number, by in enumerate(self._by_params()):
            for line in self._below(by):
                owners.setdefault(line, (number, Role.ZEROS))
        first = self.value_of(self.visits[0].node) if self.visits else 0
        reached = {line for visit in self.visits[:1] for line in self._below(visit.derivative)}
        for line in range(len(self.back)):
            if line not in owners or (line in reached and owners[line][1] == Role.ZEROS):
                owners[line] = (first, Role.BEGINNING)
        return [owners[line] for line in range(len(self.back))]

    def _role(self, role: Role, line: int) -> Role:
        """Return the role of a line that combines derivatives: only an addition is a sum."""
        value = self.back[line][1]
        adds = isinstance(value, Call) and isinstance(value.op, Op) and value.op.name == "add"
        return role if adds else Role.RULE

    def _by_params(self) -> Sequence[Expr]:
        values = dict(self.bindings)
        whole = values[self.bindings[-1][0]]
        assert isinstance(whole, Tuple)
        by = values.get(whole.fields[1]) if isinstance(whole.fields[1], Var) else whole.fields[1]
        return by.fields if isinstance(by, Tuple) else ()

    def _below(self, expr: Expr | None) -> list[int]:
        """Return the lines that compute a derivative or, if it is a tuple, its fields."""
        values, pending, lines = dict(self.back), [expr], []
        while pending:
            var = self._var(pending.pop())
            if var is not None and var in self.line:
                lines.append(self.line[var])
                if isinstance(values[var], Tuple):
                    pending += values[var].fields  # type: ignore[attr-defined]  # a tuple's
        return lines

    @cached_property
    def lines(self) -> list[Line]:
        lines = []
        for number, (var, value) in enumerate(self.back):
            typed = self.typed[self.made.forward + number]
            owner, role = self.owners[number]
            row = self.program.source[self.program.row(var)]
            tokens = [
                Token(t.cls, t.text, -1 if t.expr is None else self.ref(t.expr))
                for t in row.tokens
                if t.cls != printed.KEYWORD or t.text.strip() != "let"
            ]
            flops = call_cost(typed).flops if isinstance(typed, Call) else 0
            name = self.program.name(var) or ""
            lines.append(
                Line(
                    owner, role, _trimmed(tokens), name, short_type(typed.checked_type), flops,
                    nbytes(typed.checked_type), self._uses(value),
                )
            )  # fmt: skip
        return lines

    def _uses(self, value: Expr) -> tuple[Use, ...]:
        shape = _shape_operand(value)
        arguments = value.args if isinstance(value, Call) else children(value)
        uses: dict[int, Kept] = {}
        for at, part in enumerate(arguments):
            number = self.value_of(part)
            if number >= 0:
                how = Kept.SHAPE if at == shape else Kept.NUMBERS
                uses[number] = min(uses.get(number, how), how)
        by_value: dict[int, Kept] = {}
        for number, how in self._spread(Use(number, how) for number, how in uses.items()):
            by_value[number] = min(by_value.get(number, how), how)
        return tuple(Use(number, how) for number, how in sorted(by_value.items()))

    # -- the values

    @cached_property
    def kept(self) -> list[Kept]:
        """What the backward pass uses of each value. A tuple has no elements of its own: a use of it counts
        for its fields.
        """
        uses = [Kept.NOT] * len(self.number)
        for value, how in (use for _, line in self.back for use in self._uses(line)):
            if uses[value] != Kept.NUMBERS:
                uses[value] = how
        return uses

    def _spread(self, uses: Iterable[Use]) -> Iterator[Use]:
        """Iterate over the uses, replacing those of a tuple by uses of its fields."""
        pending = list(uses)
        while pending:
            use = pending.pop()
            inner = self._forward.get(self._names[use.value])
            if isinstance(inner, Tuple):
                pending += [Use(n, use.how) for part in inner.fields if (n := self.value_of(part)) >= 0]
            else:
                yield use

    @cached_property
    def values(self) -> list[Value]:
        users: list[list[int]] = [[] for _ in self._names]
        for var, value in self.forward:
            for source in dict.fromkeys(self.value_of(part) for part in _free(value)):
                if 0 <= source < self.number[var]:  # a function may refer to itself
                    users[source].append(self.number[var])
        whole = {self.value_of(v.node): self.line_of(v.derivative) for v in self.visits}
        values = []
        for number, var in enumerate(self._names):
            at = number - len(self.params)
            expr: Expr = self.forward[at][1] if at >= 0 else var
            type_ = self.typed[at].checked_type if at >= 0 else var.checked_type
            what = "parameter" if at < 0 else label(expr)
            is_given = at < 0 or isinstance(expr, Constant)
            size = 0 if isinstance(expr, Tuple) else nbytes(type_)
            name = self.program.name(var) or ""
            values.append(
                Value(
                    self.program.row(var), name, what, short_type(type_), size, is_given, self.kept[number],
                    whole.get(number, -1), tuple(users[number]),
                )
            )  # fmt: skip
        return values

    @cached_property
    def exact(self) -> bool:
        """Whether the sizes of all stored values are static."""
        types = [p.checked_type for p in self.params] + [
            self.typed[k].checked_type for k in range(self.made.forward)
        ]
        return all(_is_static(t) for t, how in zip(types, self.kept, strict=True) if how == Kept.NUMBERS)

    def held(self, lines: Iterable[int]) -> set[int]:
        """Return the computed values whose elements these lines read."""
        uses = (use for line in lines for use in self.lines[line].uses if use.how == Kept.NUMBERS)
        return {value for value, _ in uses if not self.values[value].given}

    # -- the rows

    def rows(self) -> tuple[Row, ...]:
        """Return the forward program's rows, with a result row that names the derivatives."""
        rows = self.program.filled(self.ref)
        after = [var for var, _ in self.bindings[self.made.forward :]]
        first = self.program.row(after[0])
        last = len(rows) - 1
        source = self.program.source
        whole = self._tokens(self.bindings[-1][1])
        closing = first + 1
        filled = [row._replace(end=closing) if row.end >= last else row for row in rows[:first]]
        filled.append(Row(int(RowKind.RESULT), source[first].depth, tuple(whole), -1, -1))
        filled.append(rows[last])
        return tuple(filled)

    def _tokens(self, whole: Expr) -> list[Token]:
        values = dict(self.bindings[-2:-1])
        tokens: list[Token] = []
        stack: list[Expr | str] = [whole]
        while stack:
            part = stack.pop()
            if isinstance(part, Var) and part in values:
                part = values[part]
            if isinstance(part, str):
                tokens.append(Token(printed.PLAIN, part, -1))
            elif isinstance(part, Tuple):
                tokens.append(Token(printed.PLAIN, "(", -1))
                stack.append(",)" if len(part.fields) == 1 else ")")
                for at, field in reversed(list(enumerate(part.fields))):
                    stack += [field, ", "] if at else [field]
            else:
                name = self.program.name(part) if isinstance(part, Var) else None
                tokens.append(Token(printed.LOCAL, name or label(part), self.ref(part)))
        return tokens


def _bindings(body: Expr) -> list[tuple[Var, Expr]]:
    bindings = []
    while isinstance(body, Let):
        bindings.append((body.var, body.value))
        body = body.body
    return bindings


def _free(value: Expr) -> Iterable[Expr]:
    """Return the variables of a bound value, including those in its blocks."""
    return [node for node in post_order(value) if isinstance(node, Var)]


def _is_static(type_: Type) -> bool:
    if isinstance(type_, TupleType):
        return all(map(_is_static, type_.fields))
    return not isinstance(type_, TensorType) or type_.is_static


def _trimmed(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Remove the surrounding white space and the `;` from a row."""
    trimmed = list(tokens)
    while trimmed and not trimmed[0].text.strip():
        trimmed.pop(0)
    if trimmed:
        trimmed[0] = trimmed[0]._replace(text=trimmed[0].text.lstrip())
        trimmed[-1] = trimmed[-1]._replace(text=trimmed[-1].text.rstrip().removesuffix(";"))
    return tuple(t for t in trimmed if t.text)
