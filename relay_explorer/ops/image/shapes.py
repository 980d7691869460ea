"""Helpers of the type relations of operators on images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

from ...ir.attrs import Dims
from ...ir.op import RelationError
from ...ir.types import Shape, Size, TensorType, Type
from ..nn.layout import layout_map
from ..relation import tensor


def canonical_shape(
    type_: Type, layout: str, canonical: str
) -> tuple[TensorType, Shape, Callable[[Shape], Shape]]:
    """Return the data's type, its shape in canonical order, and the map of such shapes to `layout`."""
    x = tensor(type_, 0, "data")
    mapped = layout_map(layout, canonical)
    return x, mapped.forward(x.shape, 0, "data"), mapped.backward


def checked_size(size: Dims | None, axes: int, name: str) -> Dims:
    """Return the requested extents, one for each axis, after checking that each is positive or a Size."""
    if size is None or len(size) != axes or not all(isinstance(n, Size) or _is_positive(n) for n in size):
        raise RelationError(
            f"{name}={size if size is None else list(size)} must be {axes} positive "
            f"number{'s' if axes > 1 else ''}"
        )
    return size


def _is_positive(extent: Anything) -> bool:
    return isinstance(extent, int) and extent > 0
