"""Expand the sparse constants of a TFLite file into dense ones.

A sparse tensor is stored level by level, as TACO does: the dimensions in `traversal_order`, of which the last
ones are the dimensions inside a block. A dense level stores its size; a compressed level stores, for each
position of the levels above, where its indices begin and end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ir.show import counted
from ..base.errors import ModelFileError

if TYPE_CHECKING:
    from numpy import ndarray as Array

_LARGEST = 1 << 31  # bytes of a tensor that is expanded
_EXPANSION, _SMALL = 1 << 10, 1 << 20  # times that it may be larger than what is stored, if it is not small
_INDEX_TABLES = {1: "Int32Vector", 2: "Uint16Vector", 3: "Uint8Vector"}


def dense(
    raw: Array,
    shape: tuple[int, ...],
    dtype: str,
    sparsity: Any,
    vector: Callable[[Any, str], tuple[Any, ...]],
    objects: Callable[[int, Callable[[int], Any]], list[Any]],
    name: str,
) -> Array:
    """Return the bytes of the dense tensor. Raise a ModelFileError where the levels are inconsistent."""
    import numpy as np

    kind = np.dtype("uint16" if dtype == "bfloat16" else dtype)
    order, block_map = vector(sparsity, "TraversalOrder"), vector(sparsity, "BlockMap")
    levels = objects(sparsity.DimMetadataLength(), sparsity.DimMetadata)
    count = 1
    for extent in shape:
        count *= extent
    size = count * kind.itemsize
    if dtype == "int4" or not 0 <= size <= min(_LARGEST, max(_SMALL, _EXPANSION * raw.size)):
        raise ModelFileError(
            f"the sparse tensor `{name}` of shape {list(shape)} and type {dtype} cannot be made dense: it "
            "is too large, or of type int4"
        )
    if sorted(order) != list(range(len(shape) + len(block_map))) or len(levels) != len(order):
        raise ModelFileError(
            f"the traversal order of the sparse tensor `{name}` must be a permutation of its "
            f"{len(shape) + len(block_map)} dimensions with a level for each, not {list(order)} with "
            f"{counted(len(levels), 'level')}"
        )

    compressed = {
        place: (_indices(level, "Segments", vector), _indices(level, "Indices", vector))
        for place, level in enumerate(levels)
        if level.Format() != 0
    }
    values = raw.view(kind)
    most = len(values) + sum(len(segments) for segments, _ in compressed.values())  # positions of a level
    positions = np.zeros((1, len(order)), np.int64)  # the coordinates of each stored position, by dimension
    for place, (dimension, level) in enumerate(zip(order, levels)):
        if place not in compressed:
            size = int(level.DenseSize())
            if size < 0 or len(positions) * size > most:
                raise ModelFileError(
                    f"the levels of the sparse tensor `{name}` have more positions than values"
                )
            parents = np.repeat(np.arange(len(positions)), size)
            indices = np.tile(np.arange(size), len(positions))
        else:
            segments, indices = compressed[place]
            lengths = np.diff(segments)
            fits = len(lengths) == len(positions) and lengths.sum() == len(indices) and not segments[0]
            if not fits or (lengths < 0).any() or (indices < 0).any():
                raise ModelFileError(f"the segments of the sparse tensor `{name}` are inconsistent")
            parents = np.repeat(np.arange(len(positions)), lengths)
        positions = positions[parents]
        positions[:, dimension] = indices
    if len(values) != len(positions):
        raise ModelFileError(
            f"the sparse tensor `{name}` has {len(values)} values for {counted(len(positions), 'position')}"
        )
    block = {dimension: len(shape) + place for place, dimension in enumerate(block_map)}
    sizes = {dim: int(level.DenseSize()) for dim, level in zip(order, levels) if dim >= len(shape)}
    coordinates = [
        positions[:, axis] * sizes[block[axis]] + positions[:, block[axis]]
        if axis in block
        else positions[:, axis]
        for axis in range(len(shape))
    ]
    result = np.zeros(shape, kind)
    result[tuple(coordinates)] = values
    return result.reshape(-1).view(np.uint8)


def _indices(level: Any, what: str, vector: Callable[[Any, str], tuple[Any, ...]]) -> Array:
    import numpy as np

    from ..base.require import require

    kind = _INDEX_TABLES.get(getattr(level, f"Array{what}Type")())
    table = getattr(level, f"Array{what}")()
    if kind is None or table is None:
        raise ModelFileError("a level of a sparse tensor has no indices")
    values = getattr(require("tflite", "tflite"), kind)()
    values.Init(table.Bytes, table.Pos)
    return np.asarray(vector(values, "Values"), np.int64)
