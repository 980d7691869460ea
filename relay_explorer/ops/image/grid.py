"""`image.affine_grid` and `image.grid_sample`: images sampled at computed positions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as choices
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr, required
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call
from ...ir.op import OpPattern, RelationError, size_of
from ...ir.show import show_shape
from ...ir.types import Dim, TensorType, Type
from ..arguments import Operand, static_ints
from ..examples import IMAGE, t
from ..interpolate import sampled
from ..layouts.layout import NO_LAYOUT_RULE
from ..nn.layout import layout_map
from ..numeric import Array, np
from ..operator import call, operator
from ..relation import forward, same_dim, tensor
from ..te.image import REAL, Weighted, cubic, real
from ..te.library import te
from ..te.lowered import Lowered
from ..te.tensors import Tensor, Value, View, cast, clamp, dims, every, known, laid_out, select, stage
from .shapes import canonical_shape, checked_size

__all__ = ["affine_grid", "grid_sample"]


def _affine_grid(attrs: Anything, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if len(x.shape) != 3 or not same_dim(x.shape[1], 2) or not same_dim(x.shape[2], 3):
        raise RelationError(
            f"the data must hold one matrix of 2 rows and 3 columns per image, not {show_shape(x.shape)}",
            culprits=(0,),
        )
    return TensorType.of((x.shape[0], 2, *checked_size(attrs.target_shape, 2, "target_shape")), x.dtype)


def _affine(attrs: Anything, matrices: Array) -> Array:
    rows, columns = (np.linspace(-1, 1, extent) for extent in attrs.target_shape)
    y, x = np.meshgrid(rows, columns, indexing="ij")
    return np.einsum("bij,jhw->bihw", matrices, np.stack([x, y, np.ones_like(x)])).astype(matrices.dtype)


def _affine_grid_te(call: Lowered) -> list[Tensor]:
    matrices, (rows, columns) = call.inputs[0], call.attrs.target_shape

    def coordinate(at: Value, count: int) -> Value:
        step = 2 / (count - 1) if count > 1 else 0.0
        return at.astype(REAL) * real(step) - real(1)

    def value(n: Value, k: Value, i: Value, j: Value) -> Value:
        x, y = coordinate(j, columns), coordinate(i, rows)
        total = matrices(n, k, 0).astype(REAL) * x + matrices(n, k, 1).astype(REAL) * y
        return cast(total + matrices(n, k, 2).astype(REAL), call.out.dtype)

    return [stage((dims(matrices)[0], 2, rows, columns), value, call.name)]


@operator(
    "image.affine_grid",
    description="Computes the sampling positions that an affine map of the plane gives.",
    formula=r"y_{b \cdot p} = A_b\, (p_x, p_y, 1)^\top, \quad p \in [-1, 1]^2",
    family="image",
    level=5,
    relation=forward(
        "AffineGrid", "{out} = two coordinates for each element of a grid of `target_shape`", _affine_grid
    ),
    pattern=OpPattern.INJECTIVE,
    flops=lambda attrs, inputs, output: 4 * size_of(output),
    reference=_affine,
    gradient=NotApplicable("there is no gradient rule for affine grids"),
    lowering=_affine_grid_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 2, 3), (4, 4)),
)
def affine_grid(
    data: Operand,
    target_shape: Annotated[Sequence[int], required("The rows and columns of the grid.", kind="Ints")],
) -> Call:
    """Build the grid, (batch, 2, rows, columns), of the affine maps `data`, (batch, 2, 3)."""
    return call("image.affine_grid", [data], target_shape=static_ints(target_shape, "target_shape"))


def _grid_sample(attrs: Anything, data: Type, grid: Type) -> Type:
    canonical = {4: "NCHW", 5: "NCDHW"}.get(len(attrs.layout), "NCHW")
    x, shape, back = canonical_shape(data, attrs.layout, canonical)
    g = tensor(grid, 1, "grid")
    axes = len(canonical) - 2
    if attrs.method not in ("nearest", "bilinear", "bicubic") or (attrs.method == "bicubic" and axes == 3):
        raise RelationError(
            f'method is "{attrs.method:.20}", but it is nearest, bilinear or, in the plane, bicubic'
        )
    if attrs.padding_mode not in ("zeros", "border", "reflection"):
        raise RelationError(
            f'padding_mode is "{attrs.padding_mode:.20}", but it is zeros, border or reflection'
        )
    if len(g.shape) != axes + 2 or not same_dim(g.shape[0], shape[0]) or not same_dim(g.shape[1], axes):
        expected: tuple[Dim | str, ...] = (shape[0], axes, *("depth", "rows", "columns")[3 - axes :])
        raise RelationError(
            f"grid has the shape {show_shape(g.shape)}, but data {show_shape(x.shape)} is sampled by one of "
            f"{show_shape(expected)}",
            "the coordinates must be on axis 1; relay.transpose moves them there",
            culprits=(0, 1),
        )
    return TensorType.of(back((shape[0], shape[1], *g.shape[2:])), x.dtype)


def _grid_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    neighbours = {"bilinear": 2, "bicubic": 4}.get(attrs.method)
    return 0 if neighbours is None else 2 * neighbours ** (len(attrs.layout) - 2) * size_of(output)


def _sampled(attrs: Anything, x: Array, grid: Array) -> Array:
    mapped = layout_map(attrs.layout, {4: "NCHW", 5: "NCDHW"}.get(len(attrs.layout), "NCHW"))
    return mapped.pack(sampled(attrs, mapped.unpack(x), grid).astype(x.dtype))


def _grid_sample_te(call: Lowered) -> list[Tensor]:
    (data, grid), attrs = call.inputs, call.attrs
    layout = layout_map(attrs.layout, {4: "NCHW", 5: "NCDHW"}[len(attrs.layout)])
    view = View(data, layout)
    extents = view.shape[2:]

    def value(n: Value, c: Value, *i: Value) -> Value:
        axes = []
        for axis, extent in enumerate(extents):
            coordinate = grid(n, len(extents) - 1 - axis, *i).astype(REAL)
            position = _unscaled(coordinate, extent, attrs.align_corners)
            if attrs.method != "bicubic":
                position = _brought_in(position, extent, attrs)
            around = _around(position, attrs.method)
            axes.append([(_brought_in(at, extent, attrs), share) for at, share in around])
        total: Anything = real(0)
        for corner in choices(*axes):
            inside, weight, index = [], real(1), []
            for (at, share), extent in zip(corner, extents, strict=True):
                inside += [at >= real(0), at < real(extent)]
                weight = weight * share
                index.append(clamp(at, real(0), real(extent - 1)).astype("int32"))
            term = view(n, c, *index).astype(REAL) * weight
            total = total + select(every(inside), term, real(0))
        return cast(total, view.dtype)

    return [laid_out((*view.shape[:2], *dims(grid)[2:]), layout, value, call.name)]


def _unscaled(coordinate: Value, extent: Anything, align_corners: bool) -> Value:
    """Convert a coordinate from -1 to 1 to a position on an axis."""
    one, half = real(1), real(0.5)
    if align_corners:
        return (coordinate + one) * half * real(extent - 1)
    return ((coordinate + one) * real(extent) - one) * half


def _around(place: Value, method: str) -> list[Weighted]:
    """Return the elements around a position, each with its weight."""
    if method == "nearest":
        return [(te.round(place), real(1))]
    low = te.floor(place)
    if method == "bilinear":
        return [(low, real(1) - (place - low)), (low + real(1), place - low)]
    return [(low + real(n - 1), share) for n, share in enumerate(cubic(place - low, -0.75))]


def _brought_in(place: Value, extent: Anything, attrs: Anything) -> Value:
    """Bring `place` into the axis's range by the padding mode; "zeros" leaves it unchanged."""
    if attrs.padding_mode == "zeros":
        return place
    last = real(extent - 1)
    if attrs.padding_mode == "reflection":
        low, span = (real(0), last) if attrs.align_corners else (real(-0.5), real(extent))
        if attrs.align_corners and known(extent) == 1:
            return real(0)
        distance, period = te.abs(place - low), span * real(2)
        within = distance - te.floor(distance / period) * period
        place = te.min(within, period - within) + low
    return clamp(place, real(0), last)


@operator(
    "image.grid_sample",
    description="Samples the data by interpolation at the positions that a grid holds.",
    formula=r"y_{b c p} = \sum_q w(\mathit{grid}_{b \cdot p} - q)\, x_{b c q}",
    family="image",
    level=5,
    relation=forward("GridSample", "{out} = {0} with the spatial extents of {1}", _grid_sample),
    pattern=OpPattern.INJECTIVE,
    flops=_grid_flops,
    reference=_sampled,
    gradient=NotApplicable("there is no gradient rule for sampling at computed positions"),
    lowering=_grid_sample_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, t(1, 2, 4, 4, name="g"), "nearest"),
    lenient_in_tvm="It did not compare the grid's batch and coordinates with the data.",
)
def grid_sample(
    data: Operand,
    grid: Operand,
    method: Annotated[
        str, attr("bilinear", '"nearest", "bilinear" (for volumes, trilinear) or "bicubic".')
    ] = "bilinear",
    layout: Annotated[
        str, attr("NCHW", "The layout of data and result: NCHW, or NCDHW for volumes.")
    ] = "NCHW",
    padding_mode: Annotated[
        str, attr("zeros", '"zeros", "border" or "reflection": the values outside the image.')
    ] = "zeros",
    align_corners: Annotated[
        bool,
        attr(True, "Whether -1 and 1 are the centres of the corner elements, rather than their outer edges."),
    ] = True,
) -> Call:
    """Sample `data` at the positions of `grid`, (batch, 2, rows, columns) or with depth (batch, 3, …), from
    -1 to 1.
    """
