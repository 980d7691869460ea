"""Build `let` and `if` from Python, in the style of statements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import RelayError
from .expr import Expr, If, Let, Var, as_expr
from .types import Type


class _Scope:
    """The bindings so far, and the scope's value; `test` holds the condition and true branch that await their
    `else`.
    """

    def __init__(self) -> None:
        self.bindings: list[tuple[Var, Expr]] = []
        self.value: Expr | None = None
        self.test: tuple[Expr, Expr] | None = None

    def result(self) -> Expr:
        if self.test is not None:
            raise RelayError("an if_scope has no else_scope", help=["both branches need a value"])
        if self.value is None:
            raise RelayError("the scope has no value", help=["end it with ret(value), or with an if"])
        body = self.value
        for var, value in reversed(self.bindings):
            body = Let(var, value, body)
        return body


class ScopeBuilder:
    """Builds nested scopes of `let` and `if` in the order in which they are read.

        sb = ScopeBuilder()
        y = sb.let("y", relay.add(x, x))
        with sb.if_scope(cond):
            sb.ret(y)
        with sb.else_scope():
            sb.ret(x)
        function = relay.Function([x, cond], sb.get())

    Every scope ends with one `ret`, or with an `if`, which is then the scope's value. A scope without either,
    or with two, raises a RelayError.
    """

    def __init__(self) -> None:
        self._scopes = [_Scope()]

    def let(self, var: str | tuple[str, Type] | Var, value: object) -> Var:
        """Bind `value` to a variable, given as one, by name, or by name and type; return the variable."""
        if isinstance(var, tuple):
            var = Var(*var)
        elif isinstance(var, str):
            var = Var(var)
        self._open_scope().bindings.append((var, as_expr(value)))
        return var

    def ret(self, value: object) -> None:
        """Set the value of the current scope."""
        self._open_scope().value = as_expr(value)

    @contextmanager
    def if_scope(self, cond: object) -> Iterator[None]:
        """Open the branch that is taken where `cond`, a scalar bool, holds. An else_scope must follow."""
        outer, test = self._open_scope(), as_expr(cond)
        branch: list[Expr] = []
        with self._inner(branch):
            yield
        outer.test = (test, branch[0])

    @contextmanager
    def else_scope(self) -> Iterator[None]:
        """Open the other branch of the preceding if_scope."""
        outer = self._scopes[-1]
        if outer.test is None:
            raise RelayError("an else_scope needs an if_scope right before it")
        (test, true_branch), branch = outer.test, list[Expr]()
        with self._inner(branch):
            yield
        outer.test, outer.value = None, If(test, true_branch, branch[0])

    def type_of(self, expr: Expr) -> Type | None:
        """Return the type of an expression: the annotation of a variable, otherwise the inferred type."""
        return expr.type_annotation if isinstance(expr, Var) else expr.checked_type

    def get(self) -> Expr:
        """Return the expression built."""
        if len(self._scopes) > 1:
            raise RelayError("get() is called inside an if_scope or else_scope, which is not finished")
        return self._scopes[0].result()

    def _open_scope(self) -> _Scope:
        """Return the current scope, after checking that something can be added to it."""
        scope = self._scopes[-1]
        if scope.test is not None:
            raise RelayError("an if_scope has no else_scope", help=["both branches need a value"])
        if scope.value is not None:
            raise RelayError("the scope already has its value; nothing can come after it")
        return scope

    @contextmanager
    def _inner(self, result: list[Expr]) -> Iterator[None]:
        """Open a nested scope, whose expression is appended to `result` at its end."""
        scope = _Scope()
        self._scopes.append(scope)
        try:
            yield
        finally:
            self._scopes.pop()
        result.append(scope.result())
