"""Layouts: the order of a tensor's axes in memory. In "NCHW" the channels come before the rows; in "NCHW4c"
they are split into blocks of 4 (axis C counts the blocks, c the channels within one).

Relations compute in one canonical order, and use a `LayoutMap` to convert from a layout and back.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ...ir.op import RelationError
from ...ir.show import show_shape
from ...ir.types import Any, Dim, Shape
from ..numeric import Array
from ..relation import times as times

UNKNOWN = Any()
_SYNTAX = 'a layout names each axis by a capital letter, and blocks as 4c: "NCHW", "NHWC", "NCHW4c"'


def parse_layout(name: str) -> tuple[tuple[str, int], ...]:
    """Parse a layout into its axes in order: ("C", 1) is a whole axis or its number of blocks, ("c", 4) the
    index within a block of 4. Of two blocks of one axis, as in "OI16i2i", the first counts blocks of the
    second.

    Raise a RelationError where `name` is not a layout.
    """
    axes: list[tuple[str, int]] = []
    number = ""
    for letter in name:
        if letter in "0123456789" and len(number) < 9:
            number += letter
        elif (
            letter.isascii()
            and letter.isalpha()
            and letter.isupper() == (not number)
            and (number == "" or int(number) > 0)
        ):
            axes.append((letter, int(number or 1)))
            number = ""
        else:
            raise RelationError(f'"{name[:40]}" is not a layout', _SYNTAX)
    letters = [letter for letter, _ in axes]
    whole = [letter for letter in letters if letter.isupper()]
    if number or not axes or len(set(whole)) < len(whole) or not {x.upper() for x in letters} <= set(whole):
        raise RelationError(f'"{name[:40]}" is not a layout', _SYNTAX)
    return tuple(axes)


class LayoutMap:
    """Converts shapes between the layout `name` and the order `canonical`. Use `layout_map`, which caches the
    maps.
    """

    __slots__ = ("axes", "canonical", "factors", "identity", "name", "places", "rank", "steps")

    def __init__(self, name: str, canonical: str) -> None:
        axes = parse_layout(name)
        order = {letter: position for position, (letter, _) in enumerate(axes)}
        if {letter for letter in order if letter.isupper()} != set(canonical):
            raise RelationError(
                f'the layout "{name[:40]}" does not have exactly the axes {", ".join(canonical)}',
                f'an order of these axes is needed, such as "{canonical}"',
            )
        self.name = name
        self.canonical = canonical
        self.rank = len(axes)
        self.axes = axes
        self.places = tuple(order[letter] for letter in canonical)
        # For each axis of the layout, the distance along the whole axis between two of its indices.
        self.steps = tuple(
            math.prod(
                size
                for other, size in axes[position + 1 if letter.islower() else 0 :]
                if other == letter.lower()
            )
            for position, (letter, _) in enumerate(axes)
        )
        self.factors = tuple(self.steps[position] for position in self.places)
        self.identity = name == canonical

    def forward(self, shape: Shape, operand: int, argument: str) -> Shape:
        """Convert `shape` from this layout to canonical order; raise a RelationError where it does not fit
        the layout.
        """
        if len(shape) != self.rank:
            raise RelationError(
                f"{argument} has {many(len(shape), 'axis', 'axes')}, {show_shape(shape)}, but its "
                f"layout {self.name} names "
                f"{self.rank}",
                *_rank_help(len(shape), self),
                culprits=(operand,),
            )
        if self.identity:
            return shape
        for dim, (letter, factor) in zip(shape, self.axes, strict=True):
            if letter.islower() and isinstance(dim, int) and dim != factor:
                raise RelationError(
                    f"{argument} has blocks of {dim} on axis {letter}, but its layout {self.name} says "
                    f"blocks of {factor}",
                    "relay.layout_transform changes a tensor's layout",
                    culprits=(operand,),
                )
        return tuple([times(shape[at], factor) for at, factor in zip(self.places, self.factors, strict=True)])

    def backward(self, shape: Shape) -> Shape:
        """Convert `shape` from canonical order to this layout; raise a RelationError where a block size does
        not divide an axis.
        """
        if self.identity:
            return shape
        whole = dict(zip(self.canonical, shape, strict=True))
        out: list[Dim] = []
        blocks = dict(zip(self.canonical, self.factors, strict=True))
        for letter, factor in self.axes:
            out.append(
                factor
                if letter.islower()
                else divided(whole[letter], blocks[letter], f"axis {letter} of layout {self.name}")
            )
        return tuple(out)

    def unpack(self, array: Array) -> Array:
        """Convert `array` from this layout to canonical order, joining blocks."""
        order = [position for letter in self.canonical for position in self._positions_of(letter)]
        return array.transpose(order).reshape(self.forward(array.shape, 0, "the data"))

    def pack(self, array: Array) -> Array:
        """Convert `array` from canonical order to this layout."""
        order: list[int] = []
        shape: list[int] = []
        for letter, extent, factor in zip(self.canonical, array.shape, self.factors, strict=True):
            whole, *blocks = self._positions_of(letter)
            order += [whole, *blocks]
            shape += [extent // factor, *(self.axes[position][1] for position in blocks)]
        self.backward(array.shape)  # raises where blocks do not divide an axis
        return array.reshape(shape).transpose([order.index(position) for position in range(self.rank)])

    def _positions_of(self, letter: str) -> list[int]:
        """Return the positions of an axis and of its blocks, the outermost first."""
        inner = [position for position, (other, _) in enumerate(self.axes) if other == letter.lower()]
        return [self.places[self.canonical.index(letter)], *inner]


@lru_cache(maxsize=512)
def layout_map(name: str, canonical: str) -> LayoutMap:
    """Return the LayoutMap from the layout `name` to the order `canonical`."""
    return LayoutMap(name, canonical)


def _rank_help(rank: int, layout: LayoutMap) -> list[str]:
    if rank == layout.rank - 1 and layout.name.startswith("N"):
        return ["the batch axis may be missing: relay.expand_dims(…, axis=0) adds one"]
    if layout.rank == len(layout.canonical) < rank:
        return [f'if the channels lie in blocks, say so in the layout, as in "{layout.canonical}4c"']
    return []


def many(number: int, one: str, more: str) -> str:
    """Write a count with its noun: `1 axis`, `2 axes`."""
    return f"{number} {one if number == 1 else more}"


def divided(dim: Dim, factor: int, what: str, *help: str) -> Dim:
    """Divide `dim` by `factor`; raise a RelationError that names `what` where there is a remainder."""
    if factor == 1:
        return dim
    if isinstance(dim, int) and dim % factor:
        raise RelationError(f"{what} is {dim}, which {factor} does not divide", *help)
    return dim // factor  # type: ignore[return-value]  # whole


def plus(dim: Dim, amount: int) -> Dim:
    """Return `dim` plus `amount`."""
    return dim + amount  # type: ignore[return-value]  # whole


def count(shape: Shape) -> Dim:
    """Return the number of elements of `shape`."""
    total: Dim = 1
    for dim in shape:
        total = times(total, dim)
    return total
