"""BatchingOps: all that can be computed side by side becomes one operator."""

from __future__ import annotations

from dataclasses import dataclass

from ..infrastructure import Contract, FixedSequential, Pass
from .batch_matmul import CombineParallelBatchMatmul
from .conv2d import CombineParallelConv2D
from .dense import CombineParallelDense


@dataclass(frozen=True, init=False)
class BatchingOps(FixedSequential):
    """CombineParallelConv2D, CombineParallelDense, CombineParallelBatchMatmul, from three branches each."""

    contract = Contract(error=1e-5)

    def steps(self) -> tuple[Pass, ...]:
        return CombineParallelConv2D(), CombineParallelDense(), CombineParallelBatchMatmul()
