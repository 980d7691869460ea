"""The output shapes of all kinds of pools."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.op import RelationError
from ...ir.types import Dim, Shape
from .layout import layout_map, many
from .window import matching_size, total_padding, window_places


def spatial_places(attrs: Anything, axes: str, rank: int, argument: str = "the data") -> tuple[int, ...]:
    """Return the positions of the spatial `axes` ("HW") in the layout `attrs.layout`; raise a RelationError
    where that is not such a layout.
    """
    layout = layout_map(attrs.layout, "NC" + axes)
    if rank != layout.rank:
        raise RelationError(
            f"{argument} has {many(rank, 'axis', 'axes')}, but its layout {layout.name} names {layout.rank}",
            "give the layout that the data has",
            culprits=(0,),
        )
    if attrs.out_layout and attrs.out_layout != attrs.layout:
        raise RelationError(
            f'out_layout="{attrs.out_layout[:40]}" is not the data\'s layout "{layout.name}"',
            "relay.layout_transform changes a tensor's layout",
        )
    if any(factor != 1 for factor in layout.factors[2:]):
        raise RelationError(
            f'the layout "{layout.name}" has blocks on an axis that the window slides over',
            "only N and C may be in blocks",
        )
    return layout.places[2:]


def pooled(shape: Shape, attrs: Anything, axes: str) -> Shape:
    """Return the shape of a pool's output."""
    n = len(axes)
    places = spatial_places(attrs, axes, len(shape))
    matching_size("pool_size", attrs.pool_size, n)
    padding = total_padding(attrs.strides, attrs.dilation, attrs.padding, n)
    sizes = window_places(
        tuple([shape[i] for i in places]),
        attrs.pool_size,
        attrs.strides,
        attrs.dilation,
        padding,
        attrs.ceil_mode,
    )
    out: list[Dim] = list(shape)
    for place, size in zip(places, sizes, strict=True):
        out[place] = size
    return tuple(out)
