"""Products with a weight of few bits whose groups of columns have scales of their own.

A model stores such a weight as integers of 8 bits, of which it uses 1, 2, 4 or 8, and dequantizes it before
the product. `nn.contrib_dense_nbits` reads the integers, packed into bytes, in their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir import const
from ...ir.expr import Constant, Expr, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from ...ops.nn.nbits import BITS, pack
from ...ops.numeric import Array, np

if TYPE_CHECKING:
    from .context import Aten

_DTYPES = ("float16", "float32", "float64")  # of the data


@dataclass(frozen=True, eq=False)
class Groups:
    """A matrix whose element at column k is `(integer - zero) * scale`, with those of group `k // size`.

    `zero` None stands for 0; `low` and `high` bound the integers.
    """

    integers: Expr
    scale: Expr
    zero: Expr | None
    size: int
    low: int
    high: int


def dense_groups(ctx: Aten, x: Expr, weight: Expr) -> Expr | None:
    """Return the product of rows `x` (…, k) with the transpose of a dequantized weight (n, k), computed from
    its integers; None where the weight is not one of few bits that is known at compile time.
    """
    groups = ctx.groups.get(weight)
    if groups is None or ctx.dtype(x) not in _DTYPES or not isinstance(groups.integers, (Var, Constant)):
        return None
    bits = next((bits for bits in BITS if groups.high - groups.low < 1 << bits), None)
    value = ctx.context.constant(ctx.context.frozen(groups.integers))
    if bits is None or value is None or value.min() < groups.low or value.max() > groups.high:
        return None
    units, features = value.shape
    shape = (units, features // groups.size)
    name = groups.integers.name_hint if isinstance(groups.integers, Var) else ""
    packed = _stored(ctx, f"{name}_packed" if name else "", pack(value.astype("int64") - groups.low, bits))
    scale = relay.reshape(ctx.cast(groups.scale, "float32"), shape)
    zeros = _zeros(ctx, groups, shape, f"{name}_zero_points" if name else "")
    return relay.nn.contrib_dense_nbits(x, packed, scale, zeros, bits, groups.size)


def _stored(ctx: Aten, name: str, value: Array) -> Expr:
    """Return a weight with a name, or a constant without one."""
    return ctx.context.weight(name, NDArray.from_numpy(value), freeze=not name)


def _zeros(ctx: Aten, groups: Groups, shape: tuple[int, int], name: str) -> Expr:
    """Return the zero points of the packed integers, which start at 0; a scalar where they are equal."""
    if groups.zero is None:
        return const(float(-groups.low), "float32")
    value = ctx.context.constant(ctx.context.frozen(groups.zero))
    if value is None:
        moved = relay.subtract(ctx.cast(groups.zero, "float32"), const(float(groups.low), "float32"))
        return relay.reshape(moved, shape)
    points = value.astype("float32").reshape(shape) - np.float32(groups.low)
    if (points == points[0, 0]).all():
        return const(float(points[0, 0]), "float32")
    return _stored(ctx, name, points)
