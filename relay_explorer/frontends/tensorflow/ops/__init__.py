"""The converters of TensorFlow's operators, by family. Importing this package declares them."""

from __future__ import annotations

from . import (
    arrays,
    cells,
    control,
    convolution,
    creation,
    elementwise,
    image,
    indexing,
    linear,
    normalization,
    pooling,
    reduction,
    segments,
    selection,
    shapes,
    sparse,
)

__all__ = [
    "arrays", "cells", "control", "convolution", "creation", "elementwise", "image", "indexing", "linear",
    "normalization", "pooling", "reduction", "segments", "selection", "shapes", "sparse",
]  # fmt: skip
