"""`nn.upsampling` and `nn.upsampling3d`: enlarge images and volumes by factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any as Anything
from typing import ParamSpec, TypeVar

from ...ir.attrs import Attrs, attr, required
from ...ir.declaration import Precision
from ...ir.expr import Call, Constant, Expr, const
from ...ir.op import OpPattern, Relation, RelationError, Reporter, flops_per_output
from ...ir.types import Dim, IncompleteType, TensorType, Type
from ..arguments import Operand, computed
from ..examples import IMAGE, VOLUME
from ..image.resize_gradient import RESIZED
from ..interpolate import Resizing, resized
from ..layouts.images import resize as resize_layout
from ..numeric import Array
from ..operator import Example, call, operator
from ..relation import tensor
from ..te.image import real, resized_tensor
from ..te.library import te
from ..te.lowered import Lowered
from ..te.tensors import Tensor, View
from .layout import layout_map

__all__ = ["upsampling", "upsampling3d"]

P = ParamSpec("P")
R = TypeVar("R")


class UpSamplingAttrs(Attrs, key="relay.attrs.UpSamplingAttrs"):
    scale_h: float = required("The factor of the height.")
    scale_w: float = required("The factor of the width.")
    layout: str = attr("NCHW", "The order of the data's axes.")
    method: str = attr(
        "nearest_neighbor", 'How new elements are computed: "nearest_neighbor", "bilinear" or "bicubic".'
    )
    align_corners: bool = attr(
        False, "Whether the centres of the corner elements of data and output are aligned."
    )


class UpSampling3DAttrs(Attrs, key="relay.attrs.UpSampling3DAttrs"):
    scale_d: float = required("The factor of the depth.")
    scale_h: float = required("The factor of the height.")
    scale_w: float = required("The factor of the width.")
    layout: str = attr("NCDHW", "The order of the data's axes.")
    method: str = attr(
        "nearest_neighbor", 'How new elements are computed: "nearest_neighbor" or "trilinear".'
    )
    coordinate_transformation_mode: str = attr(
        "half_pixel", 'How output positions map to the data: "half_pixel", "align_corners" or "asymmetric".'
    )


def _scaled(name: str, axes: str, factors: tuple[str, ...], methods: tuple[str, ...]) -> Relation:
    """Build the relation: input in any layout; output the same with round(dᵢ · scaleᵢ) on the spatial
    axes.
    """

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        if attrs.method not in methods:
            raise RelationError(
                f'method="{attrs.method[:40]}" is not a valid method', f"the methods are {', '.join(methods)}"
            )
        layout = layout_map(attrs.layout, "NC" + axes)
        shape = layout.forward(data.shape, 0, "the data")
        sizes = [_times(dim, attrs[factor], factor) for dim, factor in zip(shape[2:], factors, strict=True)]
        reporter.assign(out, TensorType.of(layout.backward((*shape[:2], *sizes)), data.dtype))
        return True

    return Relation(name, rule, "{out} = {0} with scaled axes")


def _times(dim: Dim, factor: float, name: str) -> Dim:
    if not 0 < factor < 1e9:
        raise RelationError(f"{name}={factor} must be positive", "a factor of 1 keeps the size")
    if factor == 1:
        return dim
    return round(dim * factor)  # type: ignore[return-value]  # whole


def _upsampling_flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    """Count nothing for copying the nearest element; else a multiplication and an addition for each
    neighbour.
    """
    neighbours = {"nearest_neighbor": 0, "bilinear": 4, "bicubic": 16, "trilinear": 8}.get(attrs.method, 0)
    return 2 * neighbours * flops_per_output(attrs, inputs, output)


def _resizing(attrs: Anything) -> Resizing:
    """Convert upsampling's attributes to those of `image.resize2d`."""
    if isinstance(attrs, UpSamplingAttrs):
        mode = "align_corners" if attrs.align_corners else "asymmetric"
    else:
        mode = attrs.coordinate_transformation_mode
    methods = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
    return Resizing(methods.get(attrs.method, attrs.method), mode)


def _enlarged(attrs: Anything, x: Array, axes: str, factors: tuple[str, ...]) -> Array:
    layout = layout_map(attrs.layout, "NC" + axes)
    data = layout.unpack(x)
    size = [round(dim * attrs[factor]) for dim, factor in zip(data.shape[2:], factors, strict=True)]
    return layout.pack(resized(_resizing(attrs), data, tuple(size), ()).astype(x.dtype))


def _enlarged_te(call: Lowered, axes: str, factors: tuple[str, ...]) -> list[Tensor]:
    shape = View(call.inputs[0], layout_map(call.attrs.layout, "NC" + axes)).shape
    size = [_scaled_te(dim, call.attrs[name]) for dim, name in zip(shape[2:], factors, strict=True)]
    return [resized_tensor(call, _resizing(call.attrs), size, lambda axis: (0, 1), "NC" + axes)]


def _scaled_te(dim: Anything, factor: float) -> Anything:
    if isinstance(dim, int):
        return round(dim * factor)
    return dim * int(factor) if factor == int(factor) else te.round(real(dim) * real(factor)).astype("int64")


def _upsampling(
    name: str,
    description: str,
    axes: str,
    attrs: type[Attrs],
    relation: str,
    methods: tuple[str, ...],
    example: Example,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare an operator that enlarges the spatial `axes`."""
    factors = tuple([f"scale_{axis.lower()}" for axis in axes])
    return operator(
        name,
        description=description,
        formula=r"y_{\ldots,i} = \mathrm{interpolate}(x_{\ldots}, i / s)",
        family="image",
        level=2,
        relation=_scaled(relation, axes, factors, methods),
        pattern=OpPattern.INJECTIVE,
        flops=_upsampling_flops,
        reference=partial(_enlarged, axes=axes, factors=factors),
        gradient=RESIZED,
        lowering=partial(_enlarged_te, axes=axes, factors=factors),
        layout=resize_layout,
        precision=Precision.UNLISTED,
        example=example,
        attrs=attrs,
        lenient_in_tvm="It accepted any method, and factors that are not positive.",
    )


def _number(scale: Operand) -> object:
    """Return the value of a constant factor; return any other factor unchanged."""
    return scale.data.values()[0] if isinstance(scale, Constant) else scale


def _built(name: str, data: Operand, scales: dict[str, Operand], **attributes: object) -> Call:
    """Build a call of the operator `name`, or of its `dyn.` variant where the program computes a factor."""
    if not any(computed(scale) for scale in scales.values()):
        return call(name, [data], **{key: _number(scale) for key, scale in scales.items()}, **attributes)
    factors = [scale if isinstance(scale, Expr) else const(scale, "float64") for scale in scales.values()]
    return call(f"dyn.{name}", [data, *factors], **dict.fromkeys(scales, 0), **attributes)


@_upsampling(
    "nn.upsampling",
    "Enlarges images by interpolation.",
    "HW",
    UpSamplingAttrs,
    "UpSampling",
    ("nearest_neighbor", "bilinear", "bicubic"),
    lambda build: build(IMAGE, 2, 2),
)
def upsampling(
    data: Operand,
    scale_h: Operand = 1,
    scale_w: Operand = 1,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> Call:
    """Enlarge `data` (N, C, H, W) to (N, C, round(H * scale_h), round(W * scale_w)).

    The program may compute the factors; then this builds `dyn.nn.upsampling`.
    """
    scales = {"scale_h": scale_h, "scale_w": scale_w}
    return _built("nn.upsampling", data, scales, layout=layout, method=method, align_corners=align_corners)


@_upsampling(
    "nn.upsampling3d",
    "Enlarges volumes by interpolation.",
    "DHW",
    UpSampling3DAttrs,
    "UpSampling3D",
    ("nearest_neighbor", "trilinear"),
    lambda build: build(VOLUME, 2, 2, 2),
)
def upsampling3d(
    data: Operand,
    scale_d: Operand = 1,
    scale_h: Operand = 1,
    scale_w: Operand = 1,
    layout: str = "NCDHW",
    method: str = "nearest_neighbor",
    coordinate_transformation_mode: str = "half_pixel",
) -> Call:
    """Enlarge `data` (N, C, D, H, W) to (N, C, round(D * scale_d), round(H * scale_h), round(W * scale_w)).

    The program may compute the factors; then this builds `dyn.nn.upsampling3d`.
    """
    return _built(
        "nn.upsampling3d",
        data,
        {"scale_d": scale_d, "scale_h": scale_h, "scale_w": scale_w},
        layout=layout,
        method=method,
        coordinate_transformation_mode=coordinate_transformation_mode,
    )
