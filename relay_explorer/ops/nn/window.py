"""Sliding windows, as in convolutions and pools: normalize their arguments, and count their positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any as Anything

from ...ir.errors import AttributeSchemaError
from ...ir.op import RelationError
from ...ir.types import Dim, Shape
from .layout import many

Sizes = int | Sequence[int]


def per_axis(value: Sizes, axes: int) -> Anything:
    """Repeat one number for every axis: `3` becomes `(3, 3)` for two axes; leave a sequence unchanged."""
    return (value,) * axes if hasattr(value, "__index__") else value


def both_sides(padding: Sizes | str, axes: int) -> tuple[int, ...]:
    """Expand padding to the amounts before each axis, then those after. It is one number, one per axis, or
    already both sides; for 2 axes the result is top, left, bottom, right.
    """
    if isinstance(padding, str):
        raise AttributeSchemaError(
            f'padding is given in numbers, not as "{padding[:40]}"',
            help=["for an output of the data's size at stride 1, give dilation * (kernel_size - 1) // 2"],
        )
    if not isinstance(padding, Iterable):
        return (padding,) * (2 * axes)
    amounts = tuple(padding)
    if len(amounts) == axes:
        return amounts * 2
    if len(amounts) == 2 * axes:
        return amounts
    raise AttributeSchemaError(
        f"padding has {many(len(amounts), 'value', 'values')} for {many(axes, 'axis', 'axes')}",
        help=[f"give one number, {axes} (the same on both sides of an axis) or {2 * axes}"],
    )


@lru_cache(maxsize=4096)
def total_padding(
    strides: tuple[int, ...], dilation: tuple[int, ...], padding: tuple[int, ...], axes: int
) -> tuple[int, ...]:
    """Return the padding of each axis, both sides together.

    Raise a RelationError where strides, dilation or padding do not describe windows over `axes` axes.
    """
    for name, values in (("strides", strides), ("dilation", dilation)):
        if len(values) != axes:
            raise RelationError(
                f"{name}={list(values)} has {many(len(values), 'value', 'values')} for "
                f"{many(axes, 'axis', 'axes')}",
                f"give {axes}",
            )
        if min(values) < 1:
            raise RelationError(f"{name}={list(values)} must be positive")
    if any(p < 0 for p in padding):
        raise RelationError(
            f"padding={list(padding)} must not be negative", "relay.strided_slice cuts edges off"
        )
    if len(padding) == 1:
        return (2 * padding[0],) * axes
    if len(padding) == axes:
        return tuple(2 * p for p in padding)
    if len(padding) == 2 * axes:
        return tuple(padding[i] + padding[i + axes] for i in range(axes))
    raise RelationError(
        f"padding={list(padding)} has {many(len(padding), 'value', 'values')} for "
        f"{many(axes, 'axis', 'axes')}",
        f"give {axes} or {2 * axes} values",
    )


def window_places(
    dims: Shape,
    kernel: Shape,
    strides: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: tuple[int, ...],
    ceil_mode: bool = False,
) -> Shape:
    """Return the number of positions of the window on each axis. `padding` is each axis's total; `ceil_mode`
    also counts a last window that extends beyond it.

    Raise a RelationError where the window is larger than the padded axis.
    """
    out: list[Dim] = []
    for dim, size, stride, step, pad in zip(dims, kernel, strides, dilation, padding, strict=True):
        if isinstance(dim, int) and isinstance(size, int):
            room = dim + pad - step * (size - 1) - 1
            if room < 0 or size < 1:
                _too_large(dim, pad, size, step)
            out.append((room + stride - 1 if ceil_mode else room) // stride + 1)
        else:
            space = dim + (pad - 1) - step * (size - 1)
            out.append((space + (stride - 1 if ceil_mode else 0)) // stride + 1)  # type: ignore[arg-type]
    return tuple(out)


def _too_large(dim: int, pad: int, size: int, step: int) -> None:
    if size < 1:
        raise RelationError(f"a window of size {size} is empty", "give a size of at least 1", culprits=(0,))
    window = f"{size} wide" if step == 1 else f"{step * (size - 1) + 1} wide ({size} at dilation {step})"
    room = f"{dim} wide" if pad == 0 else f"{dim + pad} wide ({dim} and {pad} of padding)"
    raise RelationError(
        f"the window is {window}, but the axis is only {room}",
        "use a smaller window or more padding",
        culprits=(0,),
    )


def matching_size(name: str, sizes: Sequence[int], axes: int) -> None:
    """Raise a RelationError unless `sizes` has one value per axis."""
    if len(sizes) != axes:
        actual = many(len(sizes), "value", "values")
        expected = many(axes, "axis", "axes")
        raise RelationError(f"{name}={list(sizes)} has {actual} for {expected}", f"give {axes}")
