"""The gradients of operators that look elements up, put them in, or sort them."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, const
from ...ir.typed import tensor_type
from ..calls import relay
from ..gradient_tools import extents, field_of, zeros_of
from ..index import gather as looked_up
from ..index import gather_nd as looked_up_nd
from ..index import scatter_elements as put
from ..index import scatter_nd as put_nd
from ..transform import cast_like
from .shape import moved


def gather(call: Call, grad: Expr) -> list[Expr | None]:
    data, indices = call.args
    assert call.attrs is not None
    dims, taken = extents(data), tensor_type(indices).shape
    axis = call.attrs["axis"] % len(dims)
    if all(dim == dims[a] for a, dim in enumerate(taken) if a != axis):
        return [put(zeros_of(data), indices, grad, axis, "add"), None]
    return moved(call, grad)


def gather_nd(call: Call, grad: Expr) -> list[Expr | None]:
    assert call.attrs is not None
    data, indices = call.args
    if call.attrs["batch_dims"]:
        return moved(call, grad)
    return [put_nd(zeros_of(data), indices, grad, "add"), None]


def scatter_elements(call: Call, grad: Expr) -> list[Expr | None]:
    """What is put in takes the place of what was there; of several at one place, the last one counts, which
    only the program's run can tell: indices must differ.
    """
    _, indices, updates = call.args
    assert call.attrs is not None
    axis, how = call.attrs["axis"], call.attrs["reduction"]
    if how not in ("update", "add"):
        raise _unknown(call, "reduction", how)
    by_data = grad if how == "add" else put(grad, indices, zeros_of(updates), axis, "update")
    return [by_data, None, looked_up(grad, axis, indices)]


def scatter_nd(call: Call, grad: Expr) -> list[Expr | None]:
    _, indices, updates = call.args
    assert call.attrs is not None
    how = call.attrs["mode"]
    if how not in ("update", "add"):
        raise _unknown(call, "mode", how)
    by_data = grad if how == "add" else put_nd(grad, indices, zeros_of(updates), "update")
    return [by_data, None, looked_up_nd(grad, indices)]


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
    return [put(zeros_of(x), places, by_values, axis, "update"), *[None] * len(rest)]


def _unknown(call: Call, name: str, value: str) -> RelayError:
    return RelayError(
        f'the gradient of `{call.op}` is known for {name}="update" and "add", not for "{value:.20}"',
        call.span,
    )
