"""`tvm.topi.testing`: operators that select and rearrange elements, in NumPy, computed by definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def gather_nd_python(a_np: Any, indices_np: Any) -> Any:
    """Compute `y[…] = a[i₀[…], i₁[…], …]`, where the rows of `indices_np` are i₀, i₁ …"""
    return a_np[tuple(indices_np)]


def slice_axis_python(data: Any, axis: int, begin: int, end: int | None = None) -> Any:
    """Return the slice from `begin` to before `end` along one axis."""
    where = [slice(None)] * data.ndim
    where[axis] = slice(begin, end)
    return data[tuple(where)]


def _slices(
    rank: int, begin: Any, end: Any, strides: Any, slice_mode: str, axes: Sequence[int] | None
) -> tuple[slice, ...]:
    """Return one slice per axis. None in `begin` or `end` means no limit; in the mode "size", `end` contains
    sizes, and -1 means all remaining elements.
    """
    places = list(range(len(begin))) if axes is None else [axis % rank for axis in axes]
    strides = [1] * len(places) if strides is None else list(strides) + [1] * (len(places) - len(strides))
    ends = [] if end is None else list(end)
    where = [slice(None)] * rank
    for number, place in enumerate(places):
        first = None if begin[number] is None else int(begin[number])
        last = None if number >= len(ends) or ends[number] is None else int(ends[number])
        step = int(strides[number])
        if slice_mode == "size":
            start, step = first or 0, 1
            last = None if last is None or last < 0 else start + last
        where[place] = slice(first, last, step)
    return tuple(where)


def strided_slice_python(
    data: Any,
    begin: Sequence[int | None],
    end: Sequence[int | None],
    strides: Sequence[int] | None,
    slice_mode: str = "end",
    axes: Sequence[int] | None = None,
) -> Any:
    """Return every `strides`-th element from `begin` to before `end`, along the first axes or those in
    `axes`.
    """
    return data[_slices(data.ndim, begin, end, strides, slice_mode, axes)]


def strided_set_python(
    data: Any, v: Any, begin: Sequence[int | None], end: Sequence[int | None], strides: Sequence[int] | None
) -> Any:
    """Replace the elements that `strided_slice_python` would select by `v`."""
    out = data.copy()
    out[_slices(data.ndim, begin, end, strides, "end", None)] = v
    return out


def depth_to_space_python(data: Any, block_size: int, mode: str = "DCR") -> Any:
    """Rearrange (N, C, H, W) to (N, C / b², H b, W b). In "DCR" the index of a channel consists of (row in
    the block, column in it, channel of the result), in "CRD" of (channel, row, column).
    """
    n, c, h, w = data.shape
    b = block_size
    if mode == "DCR":
        blocks = data.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        blocks = data.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return blocks.reshape(n, c // (b * b), h * b, w * b)


def space_to_depth_python(data: Any, block_size: int) -> Any:
    """Rearrange (N, C, H, W) to (N, C b², H / b, W / b): the inverse of `depth_to_space_python` in "DCR"."""
    n, c, h, w = data.shape
    b = block_size
    blocks = data.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    return blocks.reshape(n, c * b * b, h // b, w // b)


def space_to_batch_nd_python(
    data: Any,
    block_shape: Sequence[int],
    pad_before_list: Sequence[int],
    pad_after_list: Sequence[int],
    pad_value: float = 0,
) -> Any:
    """Turn blocks of the axes after the first into images of the batch: one image for each position in a
    block.
    """
    import numpy

    axes = len(block_shape)
    around = [(0, 0), *zip(pad_before_list, pad_after_list), *[(0, 0)] * (data.ndim - axes - 1)]
    padded = numpy.pad(data, around, constant_values=pad_value)
    images = [
        padded[(slice(None), *[slice(at, None, block) for at, block in zip(within, block_shape)])]
        for within in numpy.ndindex(*block_shape)
    ]
    return numpy.concatenate(images)


def batch_to_space_nd_python(
    data: Any, block_shape: Sequence[int], crop_begin_list: Sequence[int], crop_end_list: Sequence[int]
) -> Any:
    """Compute the inverse of `space_to_batch_nd_python`, with edges cropped instead of padding."""
    import numpy

    axes, images = len(block_shape), int(numpy.prod(block_shape))
    sizes = [extent * block for extent, block in zip(data.shape[1:], block_shape)]
    out = numpy.zeros((data.shape[0] // images, *sizes, *data.shape[axes + 1 :]), data.dtype)
    for number, within in enumerate(numpy.ndindex(*block_shape)):
        where = [slice(at, None, block) for at, block in zip(within, block_shape)]
        batch = out.shape[0]
        out[(slice(None), *where)] = data[number * batch : (number + 1) * batch]
    cut = [slice(b, size - e) for b, e, size in zip(crop_begin_list, crop_end_list, sizes)]
    return out[(slice(None), *cut)]
