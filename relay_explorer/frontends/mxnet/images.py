"""Operators that resample images."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from .registry import Operation, converts


@converts("UpSampling")
def up_sampling(op: Operation) -> Results:
    scale, kind = op.attrs.int("scale"), op.attrs.text("sample_type")
    if kind == "nearest":
        if len(op) > 1:
            raise RelayError("UpSampling of several tensors at once is not supported")
        return relay.nn.upsampling(op[0], scale, scale)
    if kind != "bilinear":
        raise RelayError(f"UpSampling with sample_type={kind!r} is not supported")
    kernel, channels = 2 * scale - scale % 2, op.extent(0, 1)
    pad = (scale - 1 + 1) // 2 if scale % 2 == 0 else (scale - 1) // 2
    return relay.nn.conv2d_transpose(
        op[0], op[1], strides=(scale, scale), padding=(pad,) * 4, groups=channels, channels=channels,
        kernel_size=(kernel, kernel),
    )  # fmt: skip


@converts("_contrib_BilinearResize2D")
def bilinear_resize(op: Operation) -> Results:
    mode = op.attrs.text("mode", "size")
    height, width = op.extent(0, 2), op.extent(0, 3)
    if mode == "like":
        size = (op.extent(1, 2), op.extent(1, 3))
    elif mode != "size":
        raise RelayError(f"BilinearResize2D with mode={mode!r} is not supported")
    elif op.attrs.has("scale_height"):
        factors = op.attrs.float("scale_height"), op.attrs.float("scale_width")
        size = (int(height * factors[0]), int(width * factors[1]))
    else:
        size = (op.attrs.int("height", 1), op.attrs.int("width", 1))
    corners = op.attrs.bool("align_corners", True)
    return relay.image.resize2d(
        op[0],
        size,
        method="linear",
        coordinate_transformation_mode="align_corners" if corners else "half_pixel",
    )


@converts("BilinearSampler")
def bilinear_sampler(op: Operation) -> Results:
    return relay.image.grid_sample(op[0], op[1], "bilinear", "NCHW")


def _affine(op: Operation, data: Expr, size: tuple[int, ...]) -> Expr:
    return relay.image.affine_grid(relay.reshape(data, (-1, 2, 3)), size)


@converts("GridGenerator")
def grid_generator(op: Operation) -> Results:
    import numpy

    kind = op.attrs.text("transform_type")
    if kind == "affine":
        return _affine(op, op[0], op.attrs.ints("target_shape"))
    if kind != "warp":
        raise RelayError(f"GridGenerator with transform_type={kind!r} is not supported")
    height, width = op.extent(0, 2), op.extent(0, 3)
    rows, columns = numpy.meshgrid(numpy.arange(height), numpy.arange(width), indexing="ij")
    base = numpy.stack([columns, rows])[None].astype(op.dtype())
    size = numpy.array([(width - 1) / 2, (height - 1) / 2], op.dtype()).reshape(1, 2, 1, 1)
    return relay.subtract(relay.divide(relay.add(op[0], const(base)), const(size)), const(1.0, op.dtype()))


@converts("SpatialTransformer")
def spatial_transformer(op: Operation) -> Results:
    grid = _affine(op, op[1], op.attrs.ints("target_shape"))
    return relay.image.grid_sample(op[0], grid, "bilinear", "NCHW")


@converts("Correlation")
def correlation(op: Operation) -> Results:
    pad = op.attrs.int("pad_size", 0)
    return relay.nn.correlation(
        op[0],
        op[1],
        kernel_size=op.attrs.int("kernel_size", 1),
        max_displacement=op.attrs.int("max_displacement", 1),
        stride1=op.attrs.int("stride1", 1),
        stride2=op.attrs.int("stride2", 1),
        padding=(pad, pad),
        is_multiply=op.attrs.bool("is_multiply", True),
        layout="NCHW",
    )
