"""The correlation of two images (FlowNet, arXiv 1504.06852)."""

from __future__ import annotations

from ..nn.sliding import sides
from .library import te
from .lowered import Lowered
from .pad import padded
from .reduce import per
from .tensors import Tensor, Value, cast, dims, number, quotient, reduce_axes, stage, sum_type, summed


def correlation(call: Lowered) -> list[Tensor]:
    """Each patch of one image with the patches around its place in another, as their mean over the patch."""
    (a, b), attrs = call.inputs, call.attrs
    dtype, pairs = call.out.dtype, dict(zip((2, 3), sides(attrs.padding, 2), strict=True))
    zero, shift, side = number(0, dtype), attrs.max_displacement, attrs.kernel_size
    first, second = padded(a, pairs, zero, f"{call.name}_pad"), padded(b, pairs, zero, f"{call.name}_pad")
    reach = shift // attrs.stride2
    across = 2 * reach + 1
    border = shift + (side - 1) // 2
    batch, channels, *space = dims(first)
    sizes = [quotient(dim - 2 * border + attrs.stride1 - 1, attrs.stride1) for dim in space]
    c, u, v = reduce_axes([channels, side, side])

    def value(n: Value, q: Value, i: Value, j: Value) -> Value:
        row, column = i * attrs.stride1 + shift + u, j * attrs.stride1 + shift + v
        down, right = (q // across - reach) * attrs.stride2, (q % across - reach) * attrs.stride2
        x, y = first(n, c, row, column), second(n, c, row + down, column + right)
        x, y = cast(x, sum_type(dtype)), cast(y, sum_type(dtype))
        return x * y if attrs.is_multiply else te.abs(x - y)

    shape = (batch, across * across, *sizes)
    total = summed(shape, value, [c, u, v], dtype, f"{call.name}_sum")
    return [stage(shape, lambda *i: per(total(*i), channels * side * side), call.name)]
