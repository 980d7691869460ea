"""Operators that resize the spatial axes, or trade them for channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, attr, required
from ...ir.declaration import Precision
from ...ir.expr import Call, Constant, Expr, const
from ...ir.op import Compute, Op, OpPattern, Relation, RelationError, Reporter, flops_per_output, no_flops
from ...ir.types import Dim, IncompleteType, TensorType, Type
from ..arguments import Operand, computed, expr
from ..declare import declare
from ..examples import IMAGE
from ..gradient_tools import MOVED
from ..image import Resize2DAttrs
from ..interpolate import resized
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array
from ..operator import call, operator
from ..relation import tensor
from ..te.lowered import Lowered
from ..te.tensors import Tensor, Value, View, laid_out, quotient, remainder
from .layout import divided, layout_map, times

__all__ = ["depth_to_space", "space_to_depth", "upsampling", "upsampling3d"]

LAYOUT = "The order of the data's axes."


class UpSamplingAttrs(Attrs, key="relay.attrs.UpSamplingAttrs"):
    scale_h: float = required("The factor of the height.")
    scale_w: float = required("The factor of the width.")
    layout: str = attr("NCHW", LAYOUT)
    method: str = attr(
        "nearest_neighbor", 'How new elements are computed: "nearest_neighbor", "bilinear" or "bicubic".'
    )
    align_corners: bool = attr(False, "Whether the corners of data and output have the same centres.")


class UpSampling3DAttrs(Attrs, key="relay.attrs.UpSampling3DAttrs"):
    scale_d: float = required("The factor of the depth.")
    scale_h: float = required("The factor of the height.")
    scale_w: float = required("The factor of the width.")
    layout: str = attr("NCDHW", LAYOUT)
    method: str = attr(
        "nearest_neighbor", 'How new elements are computed: "nearest_neighbor" or "trilinear".'
    )
    coordinate_transformation_mode: str = attr(
        "half_pixel", 'Where elements lie: "half_pixel", "align_corners" or "asymmetric".'
    )


class SubPixelAttrs(Attrs, key="relay.attrs.SubPixelAttrs"):
    block_size: int = attr(1, "The side of the square blocks.")
    layout: str = attr("NCHW", LAYOUT)
    mode: str = attr(
        "DCR",
        'How channels are numbered: "DCR" block first, "CRD" (or "CDR") output channel first.',
    )


def _scaled(name: str, axes: str, factors: tuple[str, ...], methods: tuple[str, ...]) -> Relation:
    """Input of any layout; output the same with round(dᵢ · scaleᵢ) on the spatial axes."""

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        if attrs.method not in methods:
            raise RelationError(
                f'method="{attrs.method[:40]}" is not known', f"the methods are {', '.join(methods)}"
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
    """None to copy the nearest element; else a multiply and an add for each neighbour that is mixed."""
    neighbours = {"nearest_neighbor": 0, "bilinear": 4, "bicubic": 16, "trilinear": 8}.get(attrs.method, 0)
    return 2 * neighbours * flops_per_output(attrs, inputs, output)


def _enlarged(axes: str, factors: tuple[str, ...]) -> Compute:
    """Resizing by `factors`, in the words of image.resize2d."""

    def compute(attrs: Anything, x: Array) -> Array:
        if isinstance(attrs, UpSamplingAttrs):
            mode = "align_corners" if attrs.align_corners else "asymmetric"
        else:
            mode = attrs.coordinate_transformation_mode
        method = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}.get(
            attrs.method, attrs.method
        )
        how = Resize2DAttrs(method=method, coordinate_transformation_mode=mode, rounding_method="")
        layout = layout_map(attrs.layout, "NC" + axes)
        data = layout.unpack(x)
        size = [round(dim * attrs[factor]) for dim, factor in zip(data.shape[2:], factors, strict=True)]
        return layout.pack(resized(how, data, tuple(size), ()).astype(x.dtype))

    return compute


def _upsampling(name: str, description: str, attrs: type[Attrs], relation: Relation, compute: Compute) -> Op:
    return declare(
        name,
        description,
        formula=r"y_{\ldots,i} = \mathrm{interpolate}(x_{\ldots}, i / s)",
        relation=relation,
        attrs=attrs,
        pattern=OpPattern.INJECTIVE,
        flops=_upsampling_flops,
        compute=compute,
        family="image",
        level=2,
        lenient_in_tvm="It accepted any method, and factors that are not positive.",
        gradient="image.resized",
        lowering="image." + name.removeprefix("nn."),
    )


_UPSAMPLING = _upsampling(
    "nn.upsampling",
    "Enlarges images by interpolation.",
    UpSamplingAttrs,
    _scaled("UpSampling", "HW", ("scale_h", "scale_w"), ("nearest_neighbor", "bilinear", "bicubic")),
    _enlarged("HW", ("scale_h", "scale_w")),
)
_UPSAMPLING3D = _upsampling(
    "nn.upsampling3d",
    "Enlarges volumes by interpolation.",
    UpSampling3DAttrs,
    _scaled("UpSampling3D", "DHW", ("scale_d", "scale_h", "scale_w"), ("nearest_neighbor", "trilinear")),
    _enlarged("DHW", ("scale_d", "scale_h", "scale_w")),
)


def _number(scale: object) -> Anything:
    """A factor given as a constant is that constant's number."""
    return scale.data.values()[0] if isinstance(scale, Constant) else scale


def _factor(scale: object) -> Expr:
    """A factor as an expression, where another is computed."""
    return scale if isinstance(scale, Expr) else const(scale, "float64")


def upsampling(
    data: Expr,
    scale_h: object = 1,
    scale_w: object = 1,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> Call:
    """`data` (N, C, H, W): (N, C, round(H * scale_h), round(W * scale_w)). The program may compute the
    factors.
    """
    if computed(scale_h) or computed(scale_w):
        dynamic = UpSamplingAttrs(
            scale_h=0, scale_w=0, layout=layout, method=method, align_corners=align_corners
        )
        return Call(Op.get("dyn.nn.upsampling"), [expr(data), *map(_factor, (scale_h, scale_w))], dynamic)
    attrs = UpSamplingAttrs(
        scale_h=_number(scale_h),
        scale_w=_number(scale_w),
        layout=layout,
        method=method,
        align_corners=align_corners,
    )
    return Call(_UPSAMPLING, [expr(data)], attrs)


def upsampling3d(
    data: Expr,
    scale_d: object = 1,
    scale_h: object = 1,
    scale_w: object = 1,
    layout: str = "NCDHW",
    method: str = "nearest_neighbor",
    coordinate_transformation_mode: str = "half_pixel",
) -> Call:
    """`data` (N, C, D, H, W): (N, C, round(D * scale_d), round(H * scale_h), round(W * scale_w)). The program
    may compute the factors.
    """
    if computed(scale_d) or computed(scale_h) or computed(scale_w):
        mode = coordinate_transformation_mode
        dynamic = UpSampling3DAttrs(
            scale_d=0,
            scale_h=0,
            scale_w=0,
            layout=layout,
            method=method,
            coordinate_transformation_mode=mode,
        )
        factors = map(_factor, (scale_d, scale_h, scale_w))
        return Call(Op.get("dyn.nn.upsampling3d"), [expr(data), *factors], dynamic)
    attrs = UpSampling3DAttrs(
        scale_d=_number(scale_d),
        scale_h=_number(scale_h),
        scale_w=_number(scale_w),
        layout=layout,
        method=method,
        coordinate_transformation_mode=coordinate_transformation_mode,
    )
    return Call(_UPSAMPLING3D, [expr(data)], attrs)


def _sub_pixel(types: Sequence[Type], attrs: Anything, reporter: Reporter, to_space: bool) -> bool:
    """Between (N, C * b², H, W) and (N, C, H * b, W * b), in any layout."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    block = attrs.block_size
    if block < 1:
        raise RelationError(f"block_size={block} must be positive")
    if attrs.mode not in ("DCR", "CRD", "CDR"):
        raise RelationError(f'mode="{attrs.mode[:40]}" is not known', 'the modes are "DCR" and "CRD"')
    layout = layout_map(attrs.layout, "NCHW")
    batch, channels, height, width = layout.forward(data.shape, 0, "the data")
    if to_space:
        channels = divided(
            channels,
            block * block,
            "the number of channels",
            f"each block of {block} × {block} takes {block * block} channels",
        )
        height, width = times(height, block), times(width, block)
    else:
        help = f"the image must divide into blocks of {block} × {block}; relay.nn.pad can make it so"
        channels = times(channels, block * block)
        height, width = divided(height, block, "the height", help), divided(width, block, "the width", help)
    reporter.assign(out, TensorType.of(layout.backward((batch, channels, height, width)), data.dtype))
    return True


def _depth_to_space(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    return _sub_pixel(types, attrs, reporter, to_space=True)


def _space_to_depth(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    return _sub_pixel(types, attrs, reporter, to_space=False)


def _from_depth(attrs: SubPixelAttrs, x: Array) -> Array:
    layout, b = layout_map(attrs.layout, "NCHW"), attrs.block_size
    n, c, h, w = layout.unpack(x).shape
    shape, order = ((n, b, b, c // b**2, h, w), (0, 3, 4, 1, 5, 2))
    if attrs.mode != "DCR":
        shape, order = ((n, c // b**2, b, b, h, w), (0, 1, 4, 2, 5, 3))
    return layout.pack(layout.unpack(x).reshape(shape).transpose(order).reshape(n, c // b**2, h * b, w * b))


def _to_depth(attrs: SubPixelAttrs, x: Array) -> Array:
    layout, b = layout_map(attrs.layout, "NCHW"), attrs.block_size
    n, c, h, w = layout.unpack(x).shape
    order = (0, 3, 5, 1, 2, 4) if attrs.mode == "DCR" else (0, 1, 3, 5, 2, 4)
    cut = layout.unpack(x).reshape(n, c, h // b, b, w // b, b).transpose(order)
    return layout.pack(cut.reshape(n, c * b**2, h // b, w // b))


LAXER_BLOCKS = "It rounded down where the blocks do not divide an axis."


def _depth_to_space_te(call: Lowered) -> list[Tensor]:
    attrs, layout = call.attrs, layout_map(call.attrs.layout, "NCHW")
    x, b = View(call.inputs[0], layout), call.attrs.block_size
    batch, channels, height, width = x.shape
    each = quotient(channels, b * b)

    def element(n: Value, c: Value, i: Value, j: Value) -> Value:
        within = remainder(i, b) * b + remainder(j, b)
        channel = within * each + c if attrs.mode == "DCR" else c * (b * b) + within
        return x(n, channel, quotient(i, b), quotient(j, b))

    return [laid_out((batch, each, height * b, width * b), layout, element, call.name)]


def _space_to_depth_te(call: Lowered) -> list[Tensor]:
    """TOPI knows the order of channels that Relay calls DCR alone."""
    attrs, layout = call.attrs, layout_map(call.attrs.layout, "NCHW")
    x, b = View(call.inputs[0], layout), call.attrs.block_size
    batch, channels, height, width = x.shape

    def element(n: Value, c: Value, i: Value, j: Value) -> Value:
        if attrs.mode == "DCR":
            within, channel = c // channels, c % channels
        else:
            within, channel = remainder(c, b * b), quotient(c, b * b)
        return x(n, channel, i * b + quotient(within, b), j * b + remainder(within, b))

    shape = (batch, channels * (b * b), quotient(height, b), quotient(width, b))
    return [laid_out(shape, layout, element, call.name)]


@operator(
    "nn.depth_to_space",
    description="Moves channels into square blocks of the image.",
    formula=r"y_{n,c,\,b i + u,\,b j + v} = x_{n,\,(b u + v) C + c,\,i,\,j}",
    family="shape",
    level=5,
    relation=Relation("DepthToSpace", _depth_to_space, "{out} = {0} with C / b², H b, W b"),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_from_depth,
    gradient=MOVED,
    lowering=_depth_to_space_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.FOLLOW,
    example=lambda build: build(IMAGE, 2),
    attrs=SubPixelAttrs,
    lenient_in_tvm=LAXER_BLOCKS,
)
def depth_to_space(data: Operand, block_size: int, layout: str = "NCHW", mode: str = "DCR") -> Call:
    """`data` (N, C, H, W): (N, C / b², H * b, W * b)."""
    return call("nn.depth_to_space", [data], block_size=block_size, layout=layout, mode=mode)


@operator(
    "nn.space_to_depth",
    description="Moves square blocks of the image into channels.",
    formula=r"y_{n,\,(b u + v) C + c,\,i,\,j} = x_{n,c,\,b i + u,\,b j + v}",
    family="shape",
    level=5,
    relation=Relation("SpaceToDepth", _space_to_depth, "{out} = {0} with C b², H / b, W / b"),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_to_depth,
    gradient=MOVED,
    lowering=_space_to_depth_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, 2),
    attrs=SubPixelAttrs,
    lenient_in_tvm=LAXER_BLOCKS,
)
def space_to_depth(data: Operand, block_size: int, layout: str = "NCHW") -> Call:
    """`data` (N, C, H, W): (N, C * b², H / b, W / b)."""
    return call("nn.space_to_depth", [data], block_size=block_size, layout=layout)
