"""`tvm.topi.testing`: operators that take elements from where they lie, in NumPy, by their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def gather_python(data: Any, axis: int, indices: Any) -> Any:
    """Elements of the data, of which `indices` names the place along `axis`."""
    import numpy

    return numpy.take_along_axis(data, indices, axis)


def gather_nd_python(a_np: Any, indices_np: Any) -> Any:
    """`y[…] = a[i₀[…], i₁[…], …]`, where the rows of `indices_np` are i₀, i₁ …"""
    return a_np[tuple(indices_np)]


def slice_axis_python(data: Any, axis: int, begin: int, end: int | None = None) -> Any:
    """From `begin` to before `end` along one axis."""
    where = [slice(None)] * data.ndim
    where[axis] = slice(begin, end)
    return data[tuple(where)]


def _slices(
    rank: int, begin: Any, end: Any, strides: Any, slice_mode: str, axes: Sequence[int] | None
) -> tuple[slice, ...]:
    """Slices, one an axis. None in `begin` or `end` is all that way; in "size" mode `end` counts, and -1 is
    all that is left.
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
    """Every `strides`-th element from `begin` to before `end`, on the first axes or those in `axes`."""
    return data[_slices(data.ndim, begin, end, strides, slice_mode, axes)]


def strided_set_python(
    data: Any, v: Any, begin: Sequence[int | None], end: Sequence[int | None], strides: Sequence[int] | None
) -> Any:
    """Replace what `strided_slice_python` would take of the data by `v`."""
    out = data.copy()
    out[_slices(data.ndim, begin, end, strides, "end", None)] = v
    return out


def one_hot(indices: Any, on_value: float, off_value: float, depth: int, axis: int, dtype: str) -> Any:
    """Return an array with a new axis of extent `depth`, which holds `on_value` at the position that the
    index names, and `off_value` elsewhere.
    """
    import numpy

    places = numpy.arange(depth)
    hot = numpy.asarray(indices)[..., None] == places
    axis = axis if axis >= 0 else axis + hot.ndim
    return numpy.moveaxis(numpy.where(hot, on_value, off_value).astype(dtype), -1, axis)


def sequence_mask(data: Any, valid_length: Any, mask_value: float, axis: int) -> Any:
    """Replace the data from `valid_length` on along `axis`, 0 or 1, by `mask_value`; the other of the two
    axes is the batch.
    """
    import numpy

    steps = numpy.arange(data.shape[axis])
    lengths = numpy.asarray(valid_length)
    beyond = steps[:, None] >= lengths if axis == 0 else steps >= lengths[:, None]
    out = data.copy()
    out[beyond] = mask_value
    return out


def depth_to_space_python(data: Any, block_size: int, mode: str = "DCR") -> Any:
    """(N, C, H, W) to (N, C / b², H b, W b). In "DCR" the channel's number is (row in the block, column in
    it, channel of the result), in "CRD" (channel, row, column).
    """
    n, c, h, w = data.shape
    b = block_size
    if mode == "DCR":
        blocks = data.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        blocks = data.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return blocks.reshape(n, c // (b * b), h * b, w * b)


def space_to_depth_python(data: Any, block_size: int) -> Any:
    """(N, C, H, W) to (N, C b², H / b, W / b): the inverse of `depth_to_space_python` in "DCR"."""
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
    """Blocks of the axes after the first become images of the batch: one image for each place in a block."""
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


def reorg_python(a_np: Any, stride: int) -> Any:
    """Rearrange (N, C, H, W) to (N, C s², H / s, W / s) as YOLO does: the tensor is read as if it had C / s²
    channels of an image s times as large, whose blocks become channels.
    """
    n, c, h, w = a_np.shape
    s = stride
    large = a_np.reshape(n, c // (s * s), h * s, w * s)
    blocks = large.reshape(n, c // (s * s), h, s, w, s).transpose(0, 3, 5, 1, 2, 4)
    return blocks.reshape(n, c * s * s, h // s, w // s)


def matrix_set_diag(
    input_np: Any, diagonal: Any, k: int | Sequence[int] = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """Matrices with other diagonals: the `k`-th, or from the first to the second of `k`, the highest in the
    first row of `diagonal`. Shorter ones lie to the side that `align` says: of those above the main diagonal,
    then of those below.
    """
    low, high = (k, k) if isinstance(k, int) else (k[0], k[-1])
    rows, columns = input_np.shape[-2:]
    above, below = align.split("_")
    out = input_np.copy()
    for number, offset in enumerate(range(high, low - 1, -1)):
        row = diagonal[..., number, :] if low != high else diagonal
        length = min(rows + min(offset, 0), columns - max(offset, 0))
        right = (above if offset >= 0 else below) == "RIGHT"
        first = row.shape[-1] - length if right and low != high else 0
        for step in range(length):
            out[..., step + max(0, -offset), step + max(0, offset)] = row[..., first + step]
    return out


def searchsorted_ref(sorted_sequence: Any, values: Any, right: bool, out_dtype: str) -> Any:
    """Where each of `values` goes in its row of `sorted_sequence`; one row serves all."""
    import numpy

    side: Any = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return numpy.searchsorted(sorted_sequence, values, side).astype(out_dtype)
    rows = sorted_sequence.reshape(-1, sorted_sequence.shape[-1])
    asked = values.reshape(-1, values.shape[-1])
    found = [numpy.searchsorted(row, ask, side) for row, ask in zip(rows, asked)]
    return numpy.stack(found).reshape(values.shape).astype(out_dtype)
