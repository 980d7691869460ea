"""Operators on images: resizing, cutting out, sampling at computed places. `relay.image` is this module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import Attrs, Dims, DType, Floats, Ints, attr, required
from ..ir.declaration import NotApplicable, Precision
from ..ir.expr import Call, Constant, Expr
from ..ir.ndarray import NDArray
from ..ir.op import Flops, Op, OpPattern, RelationError, size_of
from ..ir.show import show_shape
from ..ir.types import Dim, Shape, Size, TensorType, Type
from .arguments import Operand, computed, expr, int_const, static_ints
from .declare import declare
from .examples import IMAGE, ints, t
from .interpolate import resized, sampled
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, element_type, np, numbers
from .operator import call, operator
from .relation import forward, integers, same_dim, tensor
from .te import image as image_te

__all__ = ["affine_grid", "crop_and_resize", "grid_sample", "resize1d", "resize2d", "resize3d"]

_METHODS = ("nearest_neighbor", "linear", "cubic")


class Resize1DAttrs(Attrs, key="relay.attrs.Resize1DAttrs"):
    size: Dims | None = attr(None, "The extents of the result, one for each axis of space.")
    roi: Floats | None = attr(None, 'The part that is resized, for the mode "tf_crop_and_resize".')
    layout: str = attr("NCW", "The layout of data and result.")
    method: str = attr("linear", '"nearest_neighbor", "linear" or "cubic".')
    coordinate_transformation_mode: str = attr(
        "half_pixel",
        '"half_pixel", "align_corners", "asymmetric" and others: which place of the data one of the '
        "result is.",
    )
    rounding_method: str = attr("round", '"round", "floor", "ceil" and others: which neighbour is nearest.')
    cubic_alpha: float = attr(-0.5, "The coefficient of the cubic spline.")
    cubic_exclude: int = attr(0, "Whether places outside the data are left out of cubic interpolation.")
    extrapolation_value: float = attr(0.0, "What stands outside the part that is resized.")
    out_dtype: DType | None = attr(None, "The element type of the result; None is the data's.")


class Resize2DAttrs(Resize1DAttrs, key="relay.attrs.Resize2DAttrs"):
    layout: str = attr("NCHW", "The layout of data and result.")


class Resize3DAttrs(Resize1DAttrs, key="relay.attrs.Resize3DAttrs"):
    layout: str = attr("NCDHW", "The layout of data and result.")


def _laid_out(type_: Type, layout: str, canonical: str) -> tuple[TensorType, Shape, Callable[[Shape], Shape]]:
    """Data as a tensor, its shape in canonical order, and the way back to its layout."""
    from .nn.layout import layout_map  # nn stands below this file

    x = tensor(type_, 0, "data")
    mapped = layout_map(layout, canonical)
    return x, mapped.forward(x.shape, 0, "data"), mapped.backward


def _size(size: Dims | None, axes: int, name: str) -> Dims:
    """Check the extents that were asked for: one for each axis, a positive number or the name of a size."""
    if size is None or len(size) != axes or not all(isinstance(n, Size) or _is_positive(n) for n in size):
        raise RelationError(
            f"{name}={size if size is None else list(size)} must be {axes} positive "
            f"number{'s' if axes > 1 else ''}"
        )
    return size


def _is_positive(extent: Anything) -> bool:
    return isinstance(extent, int) and extent > 0


def _resize(canonical: str) -> Callable[[Anything, Type], Type]:
    def result(attrs: Anything, data: Type) -> Type:
        x, shape, back = _laid_out(data, attrs.layout, canonical)
        size = _size(attrs.size, len(canonical) - 2, "size")
        if attrs.method not in _METHODS:
            raise RelationError(f'method is "{attrs.method:.20}", but it is one of {", ".join(_METHODS)}')
        return TensorType.of(back(shape[:2] + size), attrs.out_dtype or x.dtype)

    return result


def _resize_flops(axes: int) -> Flops:
    """A multiply-add for each of the neighbours that an element is interpolated from."""

    def flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
        neighbours = {"linear": 2, "cubic": 4}.get(attrs.method)
        return 0 if neighbours is None else 2 * neighbours**axes * size_of(output)

    return flops


def _resized(attrs: Anything, x: Array, canonical: str, size: Ints, roi: Floats) -> Array:
    from .nn.layout import layout_map  # nn stands below this file

    mapped = layout_map(attrs.layout, canonical)
    return mapped.pack(_converted(resized(attrs, mapped.unpack(x), size, roi), attrs.out_dtype or x.dtype))


def _converted(y: Array, dtype: object) -> Array:
    """Interpolated values in the result's element type; integers drop the fraction."""
    return y.astype(element_type(str(dtype)))


def _declare_resize(axes: int, attrs: type[Attrs], canonical: str) -> Op:
    return declare(
        f"image.resize{axes}d",
        f"The data interpolated to another size along {('1 axis', '2 axes', '3 axes')[axes - 1]} of space.",
        formula=r"y_p = \sum_q w(p \cdot n / m - q)\, x_q",
        relation=forward(
            f"Resize{axes}D", "{out} = {0} with its axes of space of `size`", _resize(canonical)
        ),
        attrs=attrs,
        pattern=OpPattern.INJECTIVE,
        flops=_resize_flops(axes),
        compute=lambda attrs, x: _resized(attrs, x, canonical, attrs.size, attrs.roi or ()),
        family="image",
        level=5,
        gradient="image.resized",
        lowering=f"image.resize{axes}d",
    )


_RESIZE1D = _declare_resize(1, Resize1DAttrs, "NCW")
_RESIZE2D = _declare_resize(2, Resize2DAttrs, "NCHW")
_RESIZE3D = _declare_resize(3, Resize3DAttrs, "NCDHW")


def _corners(roi: Sequence[float] | Expr | None, axes: int) -> Expr:
    """The part that is resized, from its least corner to its greatest, as an expression."""
    if isinstance(roi, Expr):
        return roi
    numbers = [0.0] * (2 * axes) if roi is None else [float(v) for v in roi]
    return Constant(NDArray.from_list([*numbers], (len(numbers),), "float32"))


def _resize_builder(op: Op, axes: int, attrs_class: type[Attrs], layout_default: str) -> Callable[..., Expr]:
    def build(
        data: Expr,
        size: int | Sequence[int] | Expr,
        roi: Sequence[float] | Expr | None = None,
        layout: str = layout_default,
        method: str = "linear",
        coordinate_transformation_mode: str = "half_pixel",
        rounding_method: str = "",
        cubic_alpha: float = -0.5,
        cubic_exclude: int = 0,
        extrapolation_value: float = 0.0,
        out_dtype: object = None,
    ) -> Expr:
        corners = _corners(roi, axes)
        dynamic = axes == 2 and (computed(size) or computed(corners))
        attrs = attrs_class(
            size=None if dynamic else static_ints(size, "size"),
            roi=corners.data.values() if isinstance(corners, Constant) else None,
            layout=layout,
            method=method,
            coordinate_transformation_mode=coordinate_transformation_mode,
            rounding_method=rounding_method,
            cubic_alpha=cubic_alpha,
            cubic_exclude=cubic_exclude,
            extrapolation_value=extrapolation_value,
            out_dtype=out_dtype,
        )
        if dynamic:
            return Call(Op.get("dyn.image.resize2d"), [expr(data), int_const(size), corners], attrs)
        return Call(op, [expr(data)], attrs)

    build.__name__ = build.__qualname__ = f"resize{axes}d"
    build.__module__ = __name__
    build.__doc__ = f"{op.description} `data` has the layout `layout`; `size` is that of the result."
    return build


resize1d = _resize_builder(_RESIZE1D, 1, Resize1DAttrs, "NCW")
resize2d = _resize_builder(_RESIZE2D, 2, Resize2DAttrs, "NCHW")
resize3d = _resize_builder(_RESIZE3D, 3, Resize3DAttrs, "NCDHW")


def _crop_and_resize(attrs: Anything, data: Type, boxes: Type, box_indices: Type) -> Type:
    x, shape, back = _laid_out(data, attrs.layout, "NCHW")
    b, i = tensor(boxes, 1, "boxes"), integers(box_indices, 2, "box_indices")
    if len(b.shape) != 2 or not same_dim(b.shape[1], 4):
        raise RelationError(
            f"boxes has the shape {show_shape(b.shape)}, but a box is one row of 4 numbers", culprits=(1,)
        )
    if len(i.shape) != 1 or not same_dim(i.shape[0], b.shape[0]):
        raise RelationError(
            f"there are {b.shape[0]} boxes, but box_indices has the shape {show_shape(i.shape)}",
            "give for each box the number of its image",
            culprits=(1, 2),
        )
    height, width = _size(attrs.crop_size, 2, "crop_size")
    return TensorType.of(back((b.shape[0], shape[1], height, width)), attrs.out_dtype or x.dtype)


def _cropped(attrs: Anything, x: Array, boxes: Array, box_indices: Array) -> Array:
    from .nn.layout import layout_map  # nn stands below this file

    mapped = layout_map(attrs.layout, "NCHW")
    images, size = mapped.unpack(x), attrs.crop_size or ()
    how = Resize2DAttrs(
        method="linear" if attrs.method == "bilinear" else attrs.method,
        coordinate_transformation_mode="tf_crop_and_resize",
        rounding_method="round",
        extrapolation_value=attrs.extrapolation_value,
    )
    crops = np.zeros((len(boxes), images.shape[1], *size))
    for crop, box, image in zip(crops, boxes.tolist(), numbers(box_indices), strict=True):
        crop[:] = resized(how, images[image][None], size, tuple(box))[0]
    return mapped.pack(_converted(crops, attrs.out_dtype or x.dtype))


@operator(
    "image.crop_and_resize",
    description="Boxes cut out of images and interpolated to one size.",
    formula=r"y_{b p} = \sum_q w(\mathit{box}_b(p) - q)\, x_{\mathit{indices}_b q}",
    family="image",
    level=5,
    relation=forward(
        "CropAndResize", "{out} = one image of `crop_size` for each box of {1}", _crop_and_resize
    ),
    pattern=OpPattern.INJECTIVE,
    flops=lambda attrs, inputs, output: 8 * size_of(output) if attrs.method == "bilinear" else 0,
    reference=_cropped,
    gradient=NotApplicable("there is no rule for boxes that are cut out"),
    lowering=image_te.crop_and_resize,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, t(3, 4, name="b"), ints(3), (4, 4), "NCHW"),
    lenient_in_tvm="It did not look at the shapes of boxes and box_indices.",
)
def crop_and_resize(
    data: Operand,
    boxes: Operand,
    box_indices: Operand,
    crop_size: Annotated[
        Sequence[int], attr(None, "The rows and columns that every box becomes.", kind="Ints | None")
    ],
    layout: Annotated[str, attr("NCHW", "The layout of data and result.")],
    method: Annotated[str, attr("bilinear", '"nearest_neighbor" or "bilinear".')] = "bilinear",
    extrapolation_value: Annotated[float, attr(0.0, "What stands outside the image.")] = 0,
    out_dtype: Annotated[
        object, attr(None, "The element type of the result; None is the data's.", kind="DType | None")
    ] = None,
) -> Call:
    """For each row (y1, x1, y2, x2, from 0 to 1) of `boxes` the part of its image, at `crop_size`."""
    return call(
        "image.crop_and_resize",
        [data, boxes, box_indices],
        crop_size=static_ints(crop_size, "crop_size"),
        layout=layout,
        method=method,
        extrapolation_value=extrapolation_value,
        out_dtype=out_dtype,
    )


def _affine_grid(attrs: Anything, data: Type) -> Type:
    x = tensor(data, 0, "data")
    if len(x.shape) != 3 or not same_dim(x.shape[1], 2) or not same_dim(x.shape[2], 3):
        raise RelationError(
            f"the data must hold one matrix of 2 rows and 3 columns an image, not {show_shape(x.shape)}",
            culprits=(0,),
        )
    return TensorType.of((x.shape[0], 2, *_size(attrs.target_shape, 2, "target_shape")), x.dtype)


def _affine(attrs: Anything, matrices: Array) -> Array:
    rows, columns = (np.linspace(-1, 1, extent) for extent in attrs.target_shape)
    y, x = np.meshgrid(rows, columns, indexing="ij")
    return np.einsum("bij,jhw->bihw", matrices, np.stack([x, y, np.ones_like(x)])).astype(matrices.dtype)


@operator(
    "image.affine_grid",
    description="The places at which an affine map of the plane samples an image.",
    formula=r"y_{b \cdot p} = A_b\, (p_x, p_y, 1)^\top, \quad p \in [-1, 1]^2",
    family="image",
    level=5,
    relation=forward("AffineGrid", "{out} = two coordinates for each place of `target_shape`", _affine_grid),
    pattern=OpPattern.INJECTIVE,
    flops=lambda attrs, inputs, output: 4 * size_of(output),
    reference=_affine,
    gradient=NotApplicable("there is no rule for affine grids"),
    lowering=image_te.affine_grid,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 2, 3), (4, 4)),
)
def affine_grid(
    data: Operand,
    target_shape: Annotated[Sequence[int], required("The rows and columns of the grid.", kind="Ints")],
) -> Call:
    """The grid, (batch, 2, rows, columns), that the affine maps `data`, (batch, 2, 3), make."""
    return call("image.affine_grid", [data], target_shape=static_ints(target_shape, "target_shape"))


def _grid_sample(attrs: Anything, data: Type, grid: Type) -> Type:
    canonical = {4: "NCHW", 5: "NCDHW"}.get(len(attrs.layout), "NCHW")
    x, shape, back = _laid_out(data, attrs.layout, canonical)
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
        want: tuple[Dim | str, ...] = (shape[0], axes, *("depth", "rows", "columns")[3 - axes :])
        raise RelationError(
            f"grid has the shape {show_shape(g.shape)}, but data {show_shape(x.shape)} is sampled by one of "
            f"{show_shape(want)}",
            "the coordinates lie along axis 1; relay.transpose moves them there",
            culprits=(0, 1),
        )
    return TensorType.of(back((shape[0], shape[1], *g.shape[2:])), x.dtype)


def _grid_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    neighbours = {"bilinear": 2, "bicubic": 4}.get(attrs.method)
    return 0 if neighbours is None else 2 * neighbours ** (len(attrs.layout) - 2) * size_of(output)


def _sampled(attrs: Anything, x: Array, grid: Array) -> Array:
    from .nn.layout import layout_map  # nn stands below this file

    mapped = layout_map(attrs.layout, {4: "NCHW", 5: "NCDHW"}.get(len(attrs.layout), "NCHW"))
    return mapped.pack(sampled(attrs, mapped.unpack(x), grid).astype(x.dtype))


@operator(
    "image.grid_sample",
    description="The data interpolated at the places that a grid names.",
    formula=r"y_{b c p} = \sum_q w(\mathit{grid}_{b \cdot p} - q)\, x_{b c q}",
    family="image",
    level=5,
    relation=forward("GridSample", "{out} = {0} with the axes of space of {1}", _grid_sample),
    pattern=OpPattern.INJECTIVE,
    flops=_grid_flops,
    reference=_sampled,
    gradient=NotApplicable("there is no rule for sampling at computed places"),
    lowering=image_te.grid_sample,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, t(1, 2, 4, 4, name="g"), "nearest"),
    lenient_in_tvm="It did not compare the grid's batch and coordinates with the data.",
)
def grid_sample(
    data: Operand,
    grid: Operand,
    method: Annotated[
        str, attr("bilinear", '"nearest", "bilinear" (in space, trilinear) or "bicubic".')
    ] = "bilinear",
    layout: Annotated[str, attr("NCHW", "The layout of data and result: NCHW, or NCDHW in space.")] = "NCHW",
    padding_mode: Annotated[
        str, attr("zeros", '"zeros", "border" or "reflection": what stands outside the image.')
    ] = "zeros",
    align_corners: Annotated[
        bool,
        attr(True, "Whether -1 and 1 are the centres of the corner elements, rather than their outer edges."),
    ] = True,
) -> Call:
    """`data` at the places of `grid`, (batch, 2, rows, columns) or with depth (batch, 3, …), from -1 to 1."""
