"""Algebraic data types: declarations, constructors, patterns and `match`."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from .expr import Call, Expr, Var, as_expr
from .node import Node
from .span import Span
from .types import GlobalTypeVar, Type, TypeVar


class Constructor(Expr):
    """A constructor of the algebraic data type `belong_to`: applied to arguments of types `inputs`, it makes
    a value of that type.

    `tag` is an integer that also distinguishes it from the constructors of other types: the constructors of
    one type are numbered consecutively, from a base derived from the type's name. A declaration (TypeData)
    sets it.
    """

    __slots__ = ("belong_to", "inputs", "name_hint", "tag")

    def __init__(
        self,
        name_hint: str,
        inputs: Sequence[Type],
        belong_to: GlobalTypeVar,
        tag: int = -1,
        span: Span | None = None,
    ) -> None:
        self._unlock()
        self.name_hint = str(name_hint)
        self.inputs = tuple(inputs)
        self.belong_to = belong_to
        self.tag = tag
        self._lock(span)

    @property
    def name(self) -> str:
        return self.name_hint

    def __call__(self, *args: object) -> Call:
        return Call(self, [as_expr(a) for a in args])


_set_tag = Constructor.__dict__["tag"].__set__  # a declaration numbers its constructors


class TypeData(Type):
    """The declaration `type header[type_vars] { constructors }`."""

    __slots__ = ("constructors", "header", "type_vars")

    def __init__(
        self,
        header: GlobalTypeVar,
        type_vars: Sequence[TypeVar],
        constructors: Sequence[Constructor],
        span: Span | None = None,
    ) -> None:
        self._unlock()
        self.header = header
        self.type_vars = tuple(type_vars)
        self.constructors = tuple(constructors)
        first = 1 + zlib.crc32(header.name_hint.encode()) % 0x7FFE << 16  # below 2 ** 31; never 0
        for number, constructor in enumerate(self.constructors):
            if constructor.tag < 0:
                _set_tag(constructor, first + number)
        self._lock(span)

    def __hash__(self) -> int:
        return hash(self.header)


class Pattern(Node):
    """Base of the patterns on the left-hand side of a match clause. Prints as text: `Cons(%x, _)`."""

    __slots__ = ("span",)
    span: Span | None

    def __repr__(self) -> str:
        parts: list[str] = []
        pending: list[Pattern | str] = [self]
        while pending:
            current = pending.pop()
            if isinstance(current, PatternVar):
                parts.append(f"%{current.var.name_hint}")
            elif isinstance(current, PatternTuple):
                _push(pending, current.patterns, ",)" if len(current.patterns) == 1 else ")")
            elif isinstance(current, PatternConstructor):
                parts.append(current.constructor.name_hint)
                if current.patterns:
                    _push(pending, current.patterns, ")")
            else:
                parts.append(current if isinstance(current, str) else "_")
        return "".join(parts)


class PatternWildcard(Pattern):
    """`_`: matches anything."""

    __slots__ = ()

    def __init__(self, span: Span | None = None) -> None:
        self._unlock()
        self._lock(span)


class PatternVar(Pattern):
    """`%x`: matches anything, and binds it to `var` in the clause."""

    __slots__ = ("var",)

    def __init__(self, var: Var, span: Span | None = None) -> None:
        self._unlock()
        self.var = var
        self._lock(span)


class PatternConstructor(Pattern):
    """`C(p, …)`: matches a value built by `constructor` whose fields match `patterns`."""

    __slots__ = ("constructor", "patterns")

    def __init__(
        self, constructor: Constructor, patterns: Sequence[Pattern] | None = None, span: Span | None = None
    ) -> None:
        self._unlock()
        self.constructor = constructor
        self.patterns = tuple(patterns or ())
        self._lock(span)


class PatternTuple(Pattern):
    """`(p, …)`: matches a tuple whose fields match `patterns`."""

    __slots__ = ("patterns",)

    def __init__(self, patterns: Sequence[Pattern] | None = None, span: Span | None = None) -> None:
        self._unlock()
        self.patterns = tuple(patterns or ())
        self._lock(span)


class Clause(Node):
    """One clause of a match: where `lhs` matches, the value is `rhs`."""

    __slots__ = ("lhs", "rhs", "span")

    def __init__(self, lhs: Pattern, rhs: Expr, span: Span | None = None) -> None:
        self._unlock()
        self.lhs = lhs
        self.rhs = rhs
        self._lock(span)


class Match(Expr):
    """`match (data) { clauses }`: evaluates the first clause that matches; `complete` asserts that some
    clause always does.
    """

    __slots__ = ("clauses", "complete", "data")

    def __init__(
        self, data: Expr, clauses: Sequence[Clause], complete: bool = True, span: Span | None = None
    ) -> None:
        self._unlock()
        self.data = data
        self.clauses = tuple(clauses)
        self.complete = complete
        self._lock(span)


def _push(pending: list[Pattern | str], patterns: Sequence[Pattern], closing: str) -> None:
    pending.append(closing)
    for number, part in enumerate(reversed(patterns)):
        pending += [", ", part] if number else [part]
    pending.append("(")


def pattern_vars(pattern: Pattern) -> list[Var]:
    """Return the variables that a pattern binds, from left to right."""
    variables: list[Var] = []
    pending = [pattern]
    while pending:
        current = pending.pop()
        if isinstance(current, PatternVar):
            variables.append(current.var)
        elif isinstance(current, (PatternConstructor, PatternTuple)):
            pending.extend(reversed(current.patterns))
    return variables
