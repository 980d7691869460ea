"""Operators that resize or pad images by amounts that the program computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

from ...ir.attrs import Attrs
from ...ir.declaration import NotApplicable
from ...ir.expr import Call
from ...ir.op import Reference, RelationError
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..examples import IMAGE, VOLUME, X, ints, t
from ..image.resize import Resize2DAttrs
from ..nn.layout import layout_map
from ..nn.pad import PadAttrs
from ..nn.upsampling import UpSampling3DAttrs, UpSamplingAttrs
from ..numeric import Array, np, numbers
from ..operator import call
from ..relation import UNKNOWN, integers, same_dim, scalar, tensor
from .declaring import dynamic, static_value

__all__ = []

_NO_GRADIENT = NotApplicable("there is no gradient rule for images whose size the program computes")


def _resize2d(attrs: Resize2DAttrs, data: Type, size: Type, roi: Type) -> Type:
    x = tensor(data, 0, "data")
    mapped = layout_map(attrs.layout, "NCHW")
    extents = tensor(size, 1, "size")  # of any element type, as in TVM
    if len(extents.shape) != 1 or extents.shape[0] != 2:
        raise RelationError("size must be two integers: rows and columns", culprits=(1,))
    tensor(roi, 2, "roi")
    shape = mapped.forward(x.shape, 0, "data")
    return TensorType.of(mapped.backward((*shape[:2], UNKNOWN, UNKNOWN)), attrs.out_dtype or x.dtype)


def _resized(attrs: Resize2DAttrs, x: Array, size: Array, roi: Array) -> Anything:
    if size.min() < 1:
        raise ValueError(f"size is {size.tolist()}, but every extent must be at least 1")
    whole = numbers(size.astype("int64"))
    return static_value("image.resize2d", attrs.replace(size=whole, roi=roi.reshape(-1).tolist()), x)


@dynamic(
    "image.resize2d",
    description="Works like image.resize2d, with a size that the program computes.",
    relation=("DynamicImageResize2D", _resize2d, "{out} = {0} with ? rows and columns"),
    inputs=("data", "size", "roi"),
    attrs=Resize2DAttrs,
    reference=_resized,
    gradient=_NO_GRADIENT,
    example=lambda build: build(IMAGE, ints(2), t(4, name="roi")),
)
def resize2d(data: Operand, size: Operand, roi: Operand, **attributes: object) -> Call:
    """Resize images to `size`: rows and columns. `attributes` are those of `relay.image.resize2d`."""
    return call("dyn.image.resize2d", [data, size, roi], **{"size": None, "roi": None, **attributes})


def _larger(axes: str) -> Callable[..., Type]:
    """Make the function of a type relation for upsampling along `axes`; the factors follow the data."""

    def result(attrs: Anything, data: Type, *scales: Type) -> Type:
        x = tensor(data, 0, "data")
        for operand, (axis, scale) in enumerate(zip(axes, scales, strict=True), 1):
            scalar(scale, operand, f"scale_{axis.lower()}")
        layout = layout_map(attrs.layout, "NC" + axes)
        shape = layout.forward(x.shape, 0, "data")
        return TensorType.of(layout.backward((*shape[:2], *[UNKNOWN] * len(axes))), x.dtype)

    return result


def _scaled(operator: str, names: tuple[str, ...]) -> Reference:
    """Make the reference implementation: the operands after the data become the attributes `names`."""

    def compute(attrs: Attrs, x: Array, *scales: Array) -> Anything:
        factors = {name: float(scale) for name, scale in zip(names, scales, strict=True)}
        for name, factor in factors.items():
            if not 0 < factor < 1e9:
                raise ValueError(f"{name} is {factor}, but it must be positive")
        return static_value(operator, attrs.replace(**factors), x)

    return compute


_TYPE_FORMULA = "{out} = {0} with extent ? on the spatial axes"


@dynamic(
    "nn.upsampling",
    description="Works like nn.upsampling, with scale factors that the program computes.",
    relation=("DynamicUpSampling", _larger("HW"), _TYPE_FORMULA),
    inputs=("data", "scale_h", "scale_w"),
    attrs=UpSamplingAttrs,
    level=2,
    reference=_scaled("nn.upsampling", ("scale_h", "scale_w")),
    gradient=_NO_GRADIENT,
    lenient_in_tvm="",
    example=lambda build: build(IMAGE, t(name="h"), 2.0),
)
def upsampling(data: Operand, scale_h: Operand, scale_w: Operand, **attributes: object) -> Call:
    """Multiply rows and columns by factors. `attributes` are those of `relay.nn.upsampling`."""
    return call("dyn.nn.upsampling", [data, scale_h, scale_w], scale_h=0, scale_w=0, **attributes)


@dynamic(
    "nn.upsampling3d",
    description="Works like nn.upsampling3d, with scale factors that the program computes.",
    relation=("DynamicUpSampling3D", _larger("DHW"), _TYPE_FORMULA),
    inputs=("data", "scale_d", "scale_h", "scale_w"),
    attrs=UpSampling3DAttrs,
    level=2,
    reference=_scaled("nn.upsampling3d", ("scale_d", "scale_h", "scale_w")),
    gradient=_NO_GRADIENT,
    lenient_in_tvm="",
    example=lambda build: build(VOLUME, t(name="d"), t(name="h"), 2.0),
)
def upsampling3d(
    data: Operand, scale_d: Operand, scale_h: Operand, scale_w: Operand, **attributes: object
) -> Call:
    """Multiply depth, rows and columns by factors. `attributes` are those of `relay.nn.upsampling3d`."""
    factors = {"scale_d": 0, "scale_h": 0, "scale_w": 0}
    return call("dyn.nn.upsampling3d", [data, scale_d, scale_h, scale_w], **factors, **attributes)


def _pad(attrs: PadAttrs, data: Type, pad_width: Type, pad_value: Type) -> Type:
    x, widths = tensor(data, 0, "data"), integers(pad_width, 1, "pad_width")
    scalar(pad_value, 2, "pad_value")
    rank = len(x.shape)
    fits = len(widths.shape) == 2 and same_dim(widths.shape[0], rank) and same_dim(widths.shape[1], 2)
    if not fits:
        raise RelationError(
            f"pad_width must hold a pair for each of the {rank} axes, as a matrix of shape ({rank}, 2), "
            f"not {widths}",
            culprits=(0, 1),
        )
    return TensorType.of((UNKNOWN,) * rank, x.dtype)


def _widened(attrs: PadAttrs, x: Array, pad_width: Array, pad_value: Array) -> Anything:
    pairs = [tuple(pair) for pair in pad_width.tolist()]
    if np.any(pad_width.sum(1) + x.shape < 0):
        raise ValueError(f"pad_width is {pad_width.tolist()}, which crops more elements than there are")
    return static_value("nn.pad", attrs.replace(pad_width=pairs), x, pad_value)


@dynamic(
    "nn.pad",
    description="Works like nn.pad, with padding widths that the program computes.",
    relation=("DynamicPad", _pad, "{out} has the rank of {0}, and every extent is ?"),
    inputs=("data", "pad_width", "pad_value"),
    attrs=PadAttrs,
    level=2,
    reference=_widened,
    gradient=_NO_GRADIENT,
    lenient_in_tvm="",
    example=lambda build: build(X, ints(2, 2), 0),
)
def pad(data: Operand, pad_width: Operand, pad_value: Operand, pad_mode: str = "constant") -> Call:
    """Pad `data` by `pad_width`, a matrix of a pair (before, after) for each axis."""
    return call("dyn.nn.pad", [data, pad_width, pad_value], pad_width=(), pad_mode=pad_mode)
