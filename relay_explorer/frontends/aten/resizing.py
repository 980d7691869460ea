"""Interpolation of signals, images and volumes, and sampling at computed positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from . import scalars
from .context import Aten
from .registry import aten
from .values import Int, Number, Scalar, Value

_RESIZE: dict[int, Callable[..., Expr]] = {
    1: relay.image.resize1d,
    2: relay.image.resize2d,
    3: relay.image.resize3d,
}
_LAYOUT = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def resized(
    ctx: Aten,
    x: Expr,
    method: str,
    sizes: Sequence[Int] | None,
    scales: Sequence[Number | None] | None,
    align_corners: bool = False,
    exact: bool = False,
) -> Expr:
    """Interpolate the spatial axes of data of the layout NCW, NCHW or NCDHW.

    A scale that is given determines the positions of the samples; else the ratio of the sizes does.
    """
    axes = ctx.rank(x) - 2
    factors: list[Number | None] = list(scales) if scales is not None else [None] * axes
    factors = factors * axes if len(factors) == 1 else factors
    extents = list(sizes) if sizes is not None else [_scaled(ctx, x, a, factors[a]) for a in range(axes)]
    extents = [ctx.unwrapped(e) if isinstance(e, Scalar) else e for e in extents]  # type: ignore[misc]
    if not align_corners and any(
        _deviates(ctx.shape(x)[2 + axis], extents[axis], factors[axis]) for axis in range(axes)
    ):
        for axis in range(axes):
            x = _resampled(ctx, x, axis + 2, cast(int, extents[axis]), factors[axis], method, exact)
        return x
    size: Anything = tuple(extents)
    if not all(isinstance(extent, int) for extent in extents):
        size = ctx.vector(extents)
    mode, rounding = "half_pixel", ""
    if align_corners:
        mode = "align_corners"
    elif method == "nearest_neighbor" and not exact:
        mode, rounding = "asymmetric", "floor"
    elif method == "nearest_neighbor":
        rounding = "round_prefer_ceil"
    return _RESIZE[axes](
        x,
        size,
        layout=_LAYOUT[axes],
        method=method,
        coordinate_transformation_mode=mode,
        rounding_method=rounding,
        cubic_alpha=-0.75,
    )


def _scaled(ctx: Aten, x: Expr, axis: int, scale: Number | None) -> Int:
    """Return the extent of an axis times a factor, rounded down."""
    if scale is None:
        raise RelayError("interpolation requires a size or scale factors")
    extent = ctx.size(x, axis + 2)
    if isinstance(scale, float) and scale.is_integer():
        scale = int(scale)
    return cast(Int, scalars.floor_number(ctx, scalars.binary(ctx, "mul", extent, scale)))


def _deviates(extent: Value, result: Value, scale: Value) -> bool:
    """Whether a scale factor is not the ratio of the two extents, so that samples lie elsewhere."""
    if not isinstance(scale, (int, float)) or not isinstance(extent, int) or not isinstance(result, int):
        return False
    return extent * scale != result


def _resampled(
    ctx: Aten, x: Expr, axis: int, count: int, scale: Number | None, method: str, exact: bool
) -> Expr:
    """Interpolate along one axis by a product with a matrix of weights."""
    import numpy as np

    extent = ctx.static_shape(x)[axis]
    ratio = 1 / scale if isinstance(scale, (int, float)) else extent / count
    target = np.arange(count)
    if method == "nearest_neighbor":
        places = np.floor((target + 0.5) * ratio) if exact else np.floor(target * ratio)
        index = np.clip(places, 0, extent - 1).astype("int64")
        return relay.take(x, Constant(NDArray.from_numpy(index)), axis=axis)
    source = (target + 0.5) * ratio - 0.5
    weights = np.zeros((count, extent))
    if method == "linear":
        source = np.maximum(source, 0)
        low = np.minimum(np.floor(source), extent - 1).astype(int)
        share = np.clip(source - low, 0, 1)
        np.add.at(weights, (target, low), 1 - share)
        np.add.at(weights, (target, np.minimum(low + 1, extent - 1)), share)
    else:
        low = np.floor(source).astype(int)
        for offset in range(-1, 3):
            index = np.clip(low + offset, 0, extent - 1)
            np.add.at(weights, (target, index), _cubic(np.abs(source - low - offset)))
    matrix = Constant(NDArray.from_numpy(weights.astype(ctx.dtype(x))))
    rank = ctx.rank(x)
    order = (*range(axis), *range(axis + 1, rank), axis)
    flat = relay.reshape(relay.transpose(x, order), (-1, extent))
    lead = [ctx.sizes(x)[a] for a in order[:-1]]
    result = ctx.reshape(relay.nn.dense(flat, matrix), [*lead, count])
    back = (*range(axis), rank - 1, *range(axis, rank - 1))
    return relay.transpose(result, back)


def _cubic(distance: Anything) -> Anything:
    """Return the weight of a sample in cubic convolution with the coefficient -0.75."""
    import numpy as np

    a = -0.75
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def _register(name: str, method: str, axes: int, *, corners: bool, exact: bool = False) -> None:
    """Register the two forms of an operator: with a size and scales, and (`vec`) with either."""

    def plain(ctx: Aten, x: Expr, size: Sequence[Int], *options: Value) -> Value:
        align = bool(options[0]) if corners else False
        scales = list(options[1:] if corners else options)
        return resized(ctx, x, method, size, cast("list[Number | None]", scales), align, exact)

    def either(ctx: Aten, x: Expr, size: Sequence[Int] | None, *options: Value) -> Value:
        align = bool(options[0]) if corners else False
        scales = cast("Sequence[Number | None] | None", options[-1])
        return resized(ctx, x, method, size, None if size is not None else scales, align, exact)

    aten(name, f"{name}.default")(plain)
    aten(f"{name}.vec")(either)


for _axes in (1, 2, 3):
    _register(f"upsample_nearest{_axes}d", "nearest_neighbor", _axes, corners=False)
    _register(f"_upsample_nearest_exact{_axes}d", "nearest_neighbor", _axes, corners=False, exact=True)
_register("upsample_linear1d", "linear", 1, corners=True)
_register("upsample_bilinear2d", "linear", 2, corners=True)
_register("upsample_trilinear3d", "linear", 3, corners=True)
_register("upsample_bicubic2d", "cubic", 2, corners=True)


@aten("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(ctx: Aten, x: Expr, grid: Expr, mode: int, padding_mode: int, align_corners: bool) -> Value:
    """Sample images or volumes at positions from -1 to 1."""
    rank = ctx.rank(grid)
    return relay.image.grid_sample(
        x,
        relay.transpose(grid, (0, rank - 1, *range(1, rank - 1))),
        method=("bilinear", "nearest", "bicubic")[mode],
        layout=_LAYOUT[rank - 2],
        padding_mode=("zeros", "border", "reflection")[padding_mode],
        align_corners=align_corners,
    )


@aten("affine_grid_generator")
def affine_grid(ctx: Aten, theta: Expr, size: Sequence[int], align_corners: bool) -> Value:
    """Return the positions to which affine maps move those of a regular grid."""
    import numpy as np

    extents = ctx.integers(cast(Value, size), "the size of the grid")
    batch, spatial = extents[0], extents[2:]
    steps = []
    for extent in spatial:
        step = np.linspace(-1, 1, extent) if extent > 1 else np.zeros(1)
        steps.append(step if align_corners else step * ((extent - 1) / extent))
    meshed = np.meshgrid(*steps, indexing="ij")
    base = np.stack([*reversed(meshed), np.ones_like(meshed[0])], -1).reshape(-1, len(spatial) + 1)
    points = Constant(NDArray.from_numpy(base.astype(ctx.dtype(theta))))
    whole = relay.broadcast_to(relay.expand_dims(points, 0), (batch, math.prod(spatial), len(spatial) + 1))
    moved = relay.nn.batch_matmul(whole, theta)
    return relay.reshape(moved, (batch, *spatial, len(spatial)))


@aten("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
def antialiased(ctx: Aten, x: Expr, *options: Value) -> Value:
    """Refuse interpolation with antialiasing, which Relay does not have."""
    raise RelayError(
        "an interpolation with antialiasing cannot be imported",
        help=["interpolate with antialias=False, or resize images before they enter the model"],
    )
