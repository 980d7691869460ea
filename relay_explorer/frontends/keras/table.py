"""All converters by class name: importing the modules registers them."""

from __future__ import annotations

from . import (
    activations,
    attention,
    convolution,
    core,
    merging,
    normalization,
    operations,
    operations_nn,
    pooling,
    preprocessing,
    recurrent,
    reshaping,
    sequences,
    tf_operations,
)

LOADED = (
    activations, attention, convolution, core, merging, normalization, operations, operations_nn, pooling,
    preprocessing, recurrent, reshaping, sequences, tf_operations,
)  # fmt: skip
