"""Layers in blocks of channels: `nn.contrib_conv2d_NCHWc`, its depthwise kin, `nn.contrib_dense_pack`.

An axis that is split is a pair of loops, over blocks and within one. Where the layouts of data, weight and
result split alike, which is how `lower.passes.layouts` lays them, each pair is two subscripts as it is; where
they do not, it is joined and split again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.lazy_dataclass import dataclass
from ..nn.layout import layout_map, parse_layout
from .convolution import places
from .library import tvm
from .lowered import Lowered
from .tensors import Tensor, dims, known, longer, quotient


@dataclass(frozen=True)
class Split:
    """A place on an axis that lies in blocks of `factor`: the block, and the place within it."""

    outer: Any
    inner: Any
    factor: int

    @property
    def whole(self) -> Any:
        return self.outer if self.factor == 1 else self.outer * self.factor + self.inner

    def blocked(self, factor: int) -> Split:
        """The same place, where blocks have another size."""
        if factor == self.factor:
            return self
        if factor == 1:
            return Split(self.whole, 0, 1)
        div, mod = tvm.te.floordiv, tvm.te.floormod
        return Split(div(self.whole, factor), mod(self.whole, factor), factor)


def factor_of(layout: str, letter: str) -> int:
    """The size of an axis's blocks, 1 where it lies whole."""
    return dict(parse_layout(layout)).get(letter.lower(), 1)


def subscripts(layout: str, places: Mapping[str, Any]) -> list[Any]:
    """A tensor's subscripts in a layout, for a place on each axis: a Split, or a plain expression."""
    found = []
    for letter, _ in parse_layout(layout):
        place = places[letter.upper()]
        place = place if isinstance(place, Split) else Split(place, 0, 1)
        part = place.blocked(factor_of(layout, letter))
        found.append(part.outer if letter.isupper() else part.inner)
    return found


def convolution(call: Lowered) -> list[Any]:
    """Sums the products of window and weights; padding is a stage of its own."""
    te = tvm.te
    attrs = call.attrs
    out_layout = attrs.out_layout or attrs.data_layout
    weight, channels, height, width = shape_of(attrs.kernel_layout, "OIHW", call.inputs[1])
    data = padded(call)
    batch, inputs, *space = shape_of(attrs.data_layout, "NCHW", data)
    outputs = weight if attrs.channels is None else attrs.channels
    sizes = [
        places(size, kernel, stride, step, (0, 0))
        for size, kernel, stride, step in zip(space, (height, width), attrs.strides, attrs.dilation)
    ]
    block = factor_of(attrs.data_layout, "C")
    block = block if known(channels) is not None and channels % block == 0 else 1
    extents = {"rc": quotient(channels, block), "rh": height, "rw": width, "ri": block}
    used = [name for name, n in extents.items() if known(n) != 1] or ["rc"]
    axes = {name: te.reduce_axis((0, extents[name]), name) for name in used}
    rc, rh, rw, ri = [axes.get(name, 0) for name in extents]

    def value(*at: Any) -> Any:
        place = place_of(out_layout, at)
        first = _first_channel(place["C"], inputs, outputs, attrs.groups, block)
        within = {"O": place["C"], "I": Split(rc, ri, block), "H": rh, "W": rw}
        seen = {
            "N": place["N"],
            "C": Split(first.outer + rc, first.inner + ri, block) if block > 1 else first.outer + rc,
            "H": place["H"] * attrs.strides[0] + rh * attrs.dilation[0],
            "W": place["W"] * attrs.strides[1] + rw * attrs.dilation[1],
        }
        if _is_depthwise(inputs, outputs, attrs.groups):
            seen["C"] = place["C"]
        x = data(*subscripts(attrs.data_layout, seen)).astype(call.out.dtype)
        w = call.inputs[1](*subscripts(attrs.kernel_layout, within)).astype(call.out.dtype)
        return te.sum(x * w, axis=list(axes.values()))

    return [te.compute(shape_in(out_layout, (batch, outputs, *sizes)), value, name=call.name)]


def _is_depthwise(inputs: Any, outputs: Any, groups: int) -> bool:
    return known(inputs) == known(outputs) == groups > 1


def _first_channel(place: Split, inputs: Any, outputs: Any, groups: int, block: int) -> Split:
    """The first of the data's channels that an output channel sees."""
    if groups == 1:
        return Split(0, 0, block)
    each, made = quotient(inputs, groups), quotient(outputs, groups)
    if place.factor > 1 and known(made) is not None and made % place.factor == 0:
        group = tvm.te.floordiv(place.outer, made // place.factor)
    else:
        group = tvm.te.floordiv(place.whole, made)
    return Split(group * quotient(each, block), 0, block)


def place_of(layout: str, at: Sequence[Any]) -> dict[str, Any]:
    """From subscripts in a layout to a place on each axis; that of the channels is a Split."""
    by_letter = {letter: index for (letter, _), index in zip(parse_layout(layout), at)}
    found: dict[str, Any] = {}
    for letter in "NCHW":
        split = Split(by_letter[letter], by_letter.get(letter.lower(), 0), factor_of(layout, letter))
        found[letter] = split if letter == "C" else split.whole
    return found


def shape_of(layout: str, canonical: str, tensor: Tensor) -> list[Any]:
    """The sizes of a tensor's axes, in canonical order."""
    return list(layout_map(layout, canonical).forward(dims(tensor), 0, "it"))


def shape_in(layout: str, sizes: Sequence[Any]) -> list[Any]:
    """The shape in a layout of a tensor whose sizes are given in the order NCHW."""
    return list(layout_map(layout, "NCHW").backward(tuple(sizes)))


def padded(call: Lowered, least: tuple[Any, Any] | None = None) -> Any:
    """The data with zeros around its rows and columns, and after them up to `least` of each."""
    te, tirx = tvm.te, tvm.tirx
    data, attrs = call.inputs[0], call.attrs
    top, left, bottom, right = sides(attrs.padding)
    letters = [letter for letter, _ in parse_layout(attrs.data_layout)]
    rows, columns = letters.index("H"), letters.index("W")
    shape = list(dims(data))
    if least is not None:
        bottom = longer(bottom, least[0] - shape[rows] - top)
        right = longer(right, least[1] - shape[columns] - left)
    if all(known(width) == 0 for width in (top, left, bottom, right)):
        return data
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
        return tirx.if_then_else(tirx.all(*conditions), data(*inner), tirx.const(0, data.dtype))

    return te.compute(wide, value, name=f"{call.name}_pad")


def sides(padding: Sequence[int]) -> tuple[int, int, int, int]:
    """Top, left, bottom, right."""
    values = [int(p) for p in padding]
    values = values * 4 if len(values) == 1 else values * 2 if len(values) == 2 else values
    return values[0], values[1], values[2], values[3]


def dense(call: Lowered) -> list[Any]:
    """Each row of the data times the weight, which is read a block of features at a time."""
    te = tvm.te
    data, weight = call.inputs
    layout = call.attrs.weight_layout
    block = factor_of(layout, "N")
    *rows, features = dims(data)
    units = layout_map(layout, "NC").forward(dims(weight), 1, "the weight")[0]
    k = te.reduce_axis((0, features), "k")

    def value(*at: Any) -> Any:
        *lead, unit = at
        place = Split(unit, 0, 1).blocked(block)
        w = weight(*subscripts(layout, {"N": place, "C": k}))
        return te.sum(data(*lead, k).astype(call.out.dtype) * w.astype(call.out.dtype), axis=k)

    return [te.compute((*rows, units), value, name=call.name)]
