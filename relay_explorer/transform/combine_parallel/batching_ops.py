"""BatchingOps: all that can be computed side by side becomes one operator."""

from __future__ import annotations

from ..infrastructure import Contract, Sequential
from .batch_matmul import CombineParallelBatchMatmul
from .conv2d import CombineParallelConv2D
from .dense import CombineParallelDense


class BatchingOps(Sequential):
    """CombineParallelConv2D, CombineParallelDense, CombineParallelBatchMatmul, from three branches each."""

    contract = Contract(error=1e-5)

    def __init__(self) -> None:
        super().__init__(
            [CombineParallelConv2D(), CombineParallelDense(), CombineParallelBatchMatmul()],
            name="BatchingOps",
        )
