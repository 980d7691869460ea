"""`image.resize1d`, `resize2d` and `resize3d`: data interpolated to another size along its spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any as Anything
from typing import ParamSpec, TypeAlias, TypeVar

from ...ir.attrs import Attrs, Dims, DType, Floats, attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call, Constant, Expr
from ...ir.ndarray import NDArray
from ...ir.op import Flops, OpPattern, Reference, RelationError, size_of
from ...ir.size import Value
from ...ir.types import TensorType, Type
from ..arguments import Operand, computed, int_const, static_ints
from ..examples import IMAGE, SIGNAL, VOLUME
from ..interpolate import resized
from ..layouts.images import resize as resize_layout
from ..layouts.layout import NO_LAYOUT_RULE, LayoutRule
from ..nn.layout import layout_map
from ..numeric import Array, element_type
from ..operator import Example, call, operator
from ..relation import forward
from ..te.image import resized_tensor
from ..te.lowered import Lowered, Lowering
from ..te.tensors import Tensor
from .resize_gradient import RESIZED
from .shapes import canonical_shape, checked_size

__all__ = ["resize1d", "resize2d", "resize3d"]

P = ParamSpec("P")
R = TypeVar("R")
Extents: TypeAlias = Value | Sequence[Value] | Expr

_METHODS = ("nearest_neighbor", "linear", "cubic")
ROI = 'The part that is resized, for the mode "tf_crop_and_resize".'


def corners(roi: Sequence[float] | Expr | None, axes: int) -> list[float] | None:
    """Return the region of interest: its lowest corner, then its highest; None where the program computes
    it.
    """
    if isinstance(roi, Expr):
        return roi.data.values() if isinstance(roi, Constant) else None
    return [0.0] * (2 * axes) if roi is None else [float(value) for value in roi]


class Resize1DAttrs(Attrs, key="relay.attrs.Resize1DAttrs"):
    size: Dims | None = attr(
        None,
        "The extents of the result, one for each spatial axis.",
        normal=partial(static_ints, name="size"),
    )
    roi: Floats | None = attr(None, ROI, normal=partial(corners, axes=1))
    layout: str = attr("NCW", "The layout of data and result.")
    method: str = attr("linear", '"nearest_neighbor", "linear" or "cubic".')
    coordinate_transformation_mode: str = attr(
        "half_pixel",
        '"half_pixel", "align_corners", "asymmetric" and others: how positions of the result map to those '
        "of the data.",
    )
    rounding_method: str = attr("round", '"round", "floor", "ceil" and others: which neighbour is nearest.')
    cubic_alpha: float = attr(-0.5, "The coefficient of the cubic spline.")
    cubic_exclude: int = attr(0, "Whether cubic interpolation ignores elements outside the data.")
    extrapolation_value: float = attr(0.0, "The value outside the part that is resized.")
    out_dtype: DType | None = attr(None, "The element type of the result; None is the data's.")


class Resize2DAttrs(Resize1DAttrs, key="relay.attrs.Resize2DAttrs"):
    roi: Floats | None = attr(None, ROI, normal=partial(corners, axes=2))
    layout: str = attr("NCHW", "The layout of data and result.")


class Resize3DAttrs(Resize1DAttrs, key="relay.attrs.Resize3DAttrs"):
    roi: Floats | None = attr(None, ROI, normal=partial(corners, axes=3))
    layout: str = attr("NCDHW", "The layout of data and result.")


def _sized(canonical: str) -> Callable[[Anything, Type], Type]:
    def result(attrs: Anything, data: Type) -> Type:
        x, shape, backward = canonical_shape(data, attrs.layout, canonical)
        size = checked_size(attrs.size, len(canonical) - 2, "size")
        if attrs.method not in _METHODS:
            raise RelationError(f'method is "{attrs.method:.20}", but it is one of {", ".join(_METHODS)}')
        return TensorType.of(backward(shape[:2] + size), attrs.out_dtype or x.dtype)

    return result


def _resize_flops(axes: int) -> Flops:
    """Count a multiply-add for each of the neighbours that an element is interpolated from."""

    def flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
        neighbours = {"linear": 2, "cubic": 4}.get(attrs.method)
        return 0 if neighbours is None else 2 * neighbours**axes * size_of(output)

    return flops


def _reference(canonical: str) -> Reference:
    """Make the reference implementation, which truncates the results for integers."""

    def compute(attrs: Anything, x: Array) -> Array:
        layout = layout_map(attrs.layout, canonical)
        values = resized(attrs, layout.unpack(x), attrs.size, attrs.roi or ())
        return layout.pack(values.astype(element_type(str(attrs.out_dtype or x.dtype))))

    return compute


def _lowering(canonical: str) -> Lowering:
    def lower(call: Lowered) -> list[Tensor]:
        attrs, count = call.attrs, len(canonical) - 2
        roi = attrs.roi or (0.0,) * count + (1.0,) * count
        return [
            resized_tensor(call, attrs, attrs.size, lambda axis: (roi[axis], roi[axis + count]), canonical)
        ]

    return lower


def _resize(
    axes: int,
    attrs: type[Attrs],
    canonical: str,
    example: Example,
    layout: LayoutRule | NotApplicable = NO_LAYOUT_RULE,
    precision: Precision = Precision.UNLISTED,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the operator that resizes `axes` spatial axes."""
    return operator(
        f"image.resize{axes}d",
        description="Resizes the data along "
        f"{('1 spatial axis', '2 spatial axes', '3 spatial axes')[axes - 1]} by interpolation.",
        formula=r"y_p = \sum_q w(p \cdot n / m - q)\, x_q",
        family="image",
        level=5,
        relation=forward(f"Resize{axes}D", "{out} = {0} with the spatial extents `size`", _sized(canonical)),
        pattern=OpPattern.INJECTIVE,
        flops=_resize_flops(axes),
        reference=_reference(canonical),
        gradient=RESIZED,
        lowering=_lowering(canonical),
        layout=layout,
        precision=precision,
        example=example,
        attrs=attrs,
    )


@_resize(1, Resize1DAttrs, "NCW", lambda build: build(SIGNAL, 4))
def resize1d(
    data: Operand,
    size: Extents,
    roi: Sequence[float] | Expr | None = None,
    layout: str = "NCW",
    method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "",
    cubic_alpha: float = -0.5,
    cubic_exclude: int = 0,
    extrapolation_value: float = 0.0,
    out_dtype: object = None,
) -> Call:
    """Interpolate `data`, of the layout `layout`, to `size` along its one spatial axis."""


@_resize(
    2,
    Resize2DAttrs,
    "NCHW",
    lambda build: build(IMAGE, (4, 4), method="cubic", roi=[0.0, 0.0, 0.5, 0.5]),
    resize_layout,
    Precision.FOLLOW,
)
def resize2d(
    data: Operand,
    size: Extents,
    roi: Sequence[float] | Expr | None = None,
    layout: str = "NCHW",
    method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "",
    cubic_alpha: float = -0.5,
    cubic_exclude: int = 0,
    extrapolation_value: float = 0.0,
    out_dtype: object = None,
) -> Call:
    """Interpolate `data`, of the layout `layout`, to `size` along its two spatial axes.

    Where the program computes `size`, this builds `dyn.image.resize2d`.
    """
    operands: list[object] = [data]
    dynamic = computed(size) or computed(roi)
    if dynamic:
        operands += [int_const(size), roi if isinstance(roi, Expr) else _vector(corners(roi, 2) or [])]
    return call(
        "dyn.image.resize2d" if dynamic else "image.resize2d",
        operands,
        size=None if dynamic else static_ints(size, "size"),
        roi=corners(roi, 2),
        layout=layout,
        method=method,
        coordinate_transformation_mode=coordinate_transformation_mode,
        rounding_method=rounding_method,
        cubic_alpha=cubic_alpha,
        cubic_exclude=cubic_exclude,
        extrapolation_value=extrapolation_value,
        out_dtype=out_dtype,
    )


def _vector(values: list[float]) -> Constant:
    return Constant(NDArray.from_list([*values], (len(values),), "float32"))


@_resize(3, Resize3DAttrs, "NCDHW", lambda build: build(VOLUME, (4, 4, 4)))
def resize3d(
    data: Operand,
    size: Extents,
    roi: Sequence[float] | Expr | None = None,
    layout: str = "NCDHW",
    method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "",
    cubic_alpha: float = -0.5,
    cubic_exclude: int = 0,
    extrapolation_value: float = 0.0,
    out_dtype: object = None,
) -> Call:
    """Interpolate `data`, of the layout `layout`, to `size` along its three spatial axes."""
