"""The gradients of operators that look elements up, put them in, or sort them."""

from __future__ import annotations

from ...ir.expr import Call, Expr, const
from ...ir.typed import tensor_type
from ..calls import relay
from ..cast import cast_like
from ..gradient_tools import field_of, zeros_of


def one_hot(call: Call, grad: Expr) -> list[Expr | None]:
    """The two values, each summed over the places where it stands."""
    indices, on, off, *rest = call.args
    assert call.attrs is not None
    dtype = tensor_type(call).dtype
    chosen = Call(call.op, [indices, const(1, dtype), const(0, dtype), *rest], call.attrs)
    by_on = relay.sum(grad * chosen)
    return [None, cast_like(by_on, on), cast_like(relay.sum(grad) - by_on, off), *[None] * len(rest)]


def topk(call: Call, grad: Expr) -> list[Expr | None]:
    x, *rest = call.args
    assert call.attrs is not None
    if call.attrs["ret_type"] == "indices":
        return [None] * len(call.args)
    both = type(call.attrs)(**{**dict(call.attrs.items()), "ret_type": "indices"})
    places = Call(call.op, call.args, both)
    axis = call.attrs["axis"] % len(tensor_type(x).shape)
    by_values = field_of(grad, 0) if call.attrs["ret_type"] == "both" else grad
    return [relay.scatter_elements(zeros_of(x), places, by_values, axis, "update"), *[None] * len(rest)]
