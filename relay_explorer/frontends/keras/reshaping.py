"""Converters of layers that change shapes."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.types import Dim
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from .call import Call, Results, Value, layer
from .convolution import SPACE


def reshaped(call: Call, x: Expr, target: Sequence[int]) -> Expr:
    """Reshape each example of a batch to `target`, in which one size may be -1."""
    sizes = [int(size) for size in target]
    batch, *rest = call.context.shape(x)
    if sizes.count(-1) == 1 and all(isinstance(extent, int) for extent in rest):
        total, known = 1, 1
        for extent in rest:
            total *= extent if isinstance(extent, int) else 1
        for size in sizes:
            known *= 1 if size == -1 else size
        if known:
            sizes[sizes.index(-1)] = total // known
    return relay.reshape(x, (batch if isinstance(batch, int) else -1 if -1 not in sizes else 0, *sizes))


def laid_out(call: Call, x: Expr) -> Value:
    """Return the value of an expression in Keras's order; an image has its channels moved if wanted."""
    if call.importer.wants_first(call.context.rank(x)):
        return Value(call.importer.to_first(x), True)
    return Value(x)


@layer("Flatten")
def _flatten(call: Call) -> Results:
    value = call.value(0)
    x = call.last(value)
    rank = call.context.rank(x)
    if call.attr("data_format") == "channels_first" and rank > 2:
        x = call.importer.to_last(x)
    if rank == 1:
        return relay.expand_dims(x, 1)
    return x if rank == 2 else relay.nn.batch_flatten(x)


@layer("Reshape")
def _reshape(call: Call) -> Results:
    value = call.value(0)
    x = reshaped(call, call.last(value), call.attr("target_shape"))
    if value.first and call.context.rank(x) == 3:  # TVM's importer took it for an image as well
        return Value(call.importer.to_first(x), True)
    return laid_out(call, x)


@layer("Permute")
def _permute(call: Call) -> Results:
    return relay.transpose(call.last(call.value(0)), (0, *[int(axis) for axis in call.attr("dims")]))


@layer("RepeatVector")
def _repeat_vector(call: Call) -> Results:
    return relay.repeat(relay.expand_dims(call.last(call.value(0)), 1), int(call.attr("n")), 1)


def _pairs(value: object, rank: int) -> list[tuple[int, int]]:
    """Return an amount before and after each axis, from a number, one for each axis, or pairs."""
    if isinstance(value, int):
        return [(value, value)] * rank
    assert isinstance(value, (list, tuple))
    if rank == 1 and len(value) == 2 and all(isinstance(size, int) for size in value):
        return [(int(value[0]), int(value[1]))]
    return [(size, size) if isinstance(size, int) else (int(size[0]), int(size[1])) for size in value]


@layer("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def _zero_padding(call: Call) -> Results:
    x, first, value = call.image()
    pairs = _pairs(call.attr("padding"), int(call.kind[-2]))
    widths = [(0, 0), (0, 0), *pairs] if first else [(0, 0), *pairs, (0, 0)]
    return value(relay.nn.pad(x, widths, 0.0))


@layer("Cropping1D", "Cropping2D", "Cropping3D")
def _cropping(call: Call) -> Results:
    x, first, value = call.image()
    pairs = _pairs(call.attr("cropping"), int(call.kind[-2]))
    axes = [axis + (2 if first else 1) for axis in range(len(pairs))]
    begins = [before for before, _ in pairs]
    ends: list[int] = []
    for axis, (before, after) in zip(axes, pairs):
        extent: Dim = call.context.shape(x)[axis]
        if isinstance(extent, int) and before + after >= extent:
            raise RelayError(f"`{call.layer.name}` crops all {extent} elements of an axis")
        ends.append(-after if after else 2**31 - 1)
    return value(relay.strided_slice(x, begins, ends, axes=axes))


@layer("UpSampling1D", "UpSampling2D", "UpSampling3D")
def _up_sampling(call: Call) -> Results:
    rank = int(call.kind[-2])
    x, first, value = call.image()
    size = call.attr("size")
    factors = [int(size)] * rank if isinstance(size, int) else [int(factor) for factor in size]
    how = str(call.attr("interpolation", "nearest"))
    if how == "nearest":
        for axis, factor in enumerate(factors):
            if factor != 1:
                x = relay.repeat(x, factor, axis + (2 if first else 1))
        return value(x)
    if how != "bilinear" or rank != 2:
        raise RelayError(f"UpSampling with the interpolation {how!r} cannot be imported")
    extents = call.context.shape(x)[2:] if first else call.context.shape(x)[1:-1]
    wanted = [extent * factor for extent, factor in zip(extents, factors) if isinstance(extent, int)]
    if len(wanted) != 2:
        raise DynamicShapeError(
            "UpSampling2D with bilinear interpolation requires that the size of the images is known at "
            "compile time"
        )
    layout = f"NC{SPACE[2]}" if first else f"N{SPACE[2]}C"
    return value(relay.image.resize2d(x, wanted, layout=layout, method="linear"))
