"""Build loops from Python: a loop in Relay is a function that calls itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .errors import RelayError
from .expr import Call, Expr, Function, If, Let, Tuple, Var, as_expr


def while_loop(
    cond: Callable[..., Expr],
    loop_vars: Sequence[Expr],
    loop_bodies: Callable[..., Sequence[object]],
) -> Let:
    """Build a function that loops as long as a condition holds. It takes the initial values, and returns the
    final ones as a tuple.

    `cond` builds the condition from the loop's variables, `loop_bodies` their next values, one per variable.
    Only the names and types of `loop_vars` are used; the loop has its own variables.

        i, total = relay.var("i", "int32"), relay.var("total", "int32")
        below = lambda i, t: relay.less(i, relay.const(10))
        loop = while_loop(below, [i, total], lambda i, t: (i + 1, t + i))
        loop(relay.const(0), relay.const(0))         # (10, 45)
    """
    names = [v.name_hint if isinstance(v, Var) else f"arg{k}" for k, v in enumerate(loop_vars)]
    types = [v.type_annotation if isinstance(v, Var) else v._checked_type for v in loop_vars]
    params = [Var(name, type_) for name, type_ in zip(names, types)]
    following = [as_expr(value) for value in loop_bodies(*params)]
    if len(following) != len(params):
        raise RelayError(
            f"the loop has {len(params)} variables, but its body returns {len(following)} values"
        )
    loop = Var("while_loop")
    body = If(as_expr(cond(*params)), Call(loop, following), Tuple(params))
    return Let(loop, Function(params, body), loop)


__all__ = ["while_loop"]
