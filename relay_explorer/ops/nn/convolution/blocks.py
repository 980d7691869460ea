"""Shared by the lowerings of layers whose channels are split into blocks.

A split axis becomes a pair of loops, over blocks and within a block. Where the layouts of data, weight and
result are split alike, as `lower.passes.layouts` chooses them, the two loop variables of a pair directly
serve as two subscripts; otherwise the lowering joins them and splits the result again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....ir.lazy_dataclass import dataclass
from ...te.library import te, tirx
from ...te.lowered import Lowered
from ...te.tensors import Extent, Tensor, dims, known, longer
from ..layout import layout_map, parse_layout
from ..sliding import sides


@dataclass(frozen=True)
class Split:
    """An index along an axis in blocks of `factor`: the index of the block, and the index within it."""

    outer: Any
    inner: Any
    factor: int

    @property
    def whole(self) -> Any:
        """The index along the axis without blocks."""
        return self.outer if self.factor == 1 else self.outer * self.factor + self.inner

    def blocked(self, factor: int) -> Split:
        """Split the same index into blocks of another size."""
        if factor == self.factor:
            return self
        if factor == 1:
            return Split(self.whole, 0, 1)
        if factor % self.factor == 0:
            count = factor // self.factor
            inner = te.floormod(self.outer, count) * self.factor
            return Split(te.floordiv(self.outer, count), inner + self.inner, factor)
        return Split(te.floordiv(self.whole, factor), te.floormod(self.whole, factor), factor)


def factor_of(layout: str, letter: str) -> int:
    """Return the size of an axis's blocks; 1 where the axis is not split."""
    return dict(parse_layout(layout)).get(letter.lower(), 1)


def subscripts(layout: str, indices: Mapping[str, Any]) -> list[Any]:
    """Build a tensor's subscripts in a layout from an index along each axis: a Split, or a plain
    expression.
    """
    result = []
    for letter, _ in parse_layout(layout):
        index = indices[letter.upper()]
        split = index if isinstance(index, Split) else Split(index, 0, 1)
        part = split.blocked(factor_of(layout, letter))
        result.append(part.outer if letter.isupper() else part.inner)
    return result


def indices_of(layout: str, at: Sequence[Any]) -> dict[str, Any]:
    """Build the index along each axis from a tensor's subscripts in a layout; that of the channels is a
    Split.
    """
    by_letter = {letter: index for (letter, _), index in zip(parse_layout(layout), at)}
    index: dict[str, Any] = {}
    for letter in "NCHW":
        split = Split(by_letter[letter], by_letter.get(letter.lower(), 0), factor_of(layout, letter))
        index[letter] = split if letter == "C" else split.whole
    return index


def shape_of(layout: str, canonical: str, tensor: Tensor) -> list[Any]:
    """Return the extents of a tensor's axes in canonical order."""
    return list(layout_map(layout, canonical).forward(dims(tensor), 0, "it"))


def shape_in(layout: str, sizes: Sequence[Any]) -> list[Any]:
    """Return the shape in a layout of a tensor with these extents in the order NCHW."""
    return list(layout_map(layout, "NCHW").backward(tuple(sizes)))


def padded(call: Lowered, least: tuple[Any, Any] | None = None) -> Any:
    """Pad the rows and columns of the data with the attribute `pad_value`, by default 0, to at least `least`
    of each.
    """
    data, attrs = call.inputs[0], call.attrs
    bottom: Extent
    right: Extent
    (top, bottom), (left, right) = sides(attrs.padding, 2)
    letters = [letter for letter, _ in parse_layout(attrs.data_layout)]
    rows, columns = letters.index("H"), letters.index("W")
    shape = list(dims(data))
    if least is not None:
        bottom = longer(bottom, least[0] - shape[rows] - top)
        right = longer(right, least[1] - shape[columns] - left)
    if all(known(width) == 0 for width in (top, left, bottom, right)):
        return data
    border = getattr(attrs, "pad_value", 0)
    wide = list(shape)
    wide[rows] += top + bottom
    wide[columns] += left + right

    def value(*at: Any) -> Any:
        inner = list(at)
        inner[rows], inner[columns] = at[rows] - top, at[columns] - left
        conditions = []
        for axis, before, behind in ((rows, top, bottom), (columns, left, right)):
            if before:
                conditions.append(at[axis] >= before)
            if known(behind) != 0:
                conditions.append(at[axis] < shape[axis] + before)
        return tirx.if_then_else(tirx.all(*conditions), data(*inner), tirx.const(border, data.dtype))

    return te.compute(wide, value, name=f"{call.name}_pad")
