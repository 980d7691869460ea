"""BatchingOps: all passes that combine parallel operators on the same data."""

from __future__ import annotations

from ...ir.lazy_dataclass import dataclass
from ..infrastructure import Contract, FixedSequential, Pass
from .batch_matmul import CombineParallelBatchMatmul
from .conv2d import CombineParallelConv2D
from .dense import CombineParallelDense


@dataclass(frozen=True, init=False)
class BatchingOps(FixedSequential):
    """Run CombineParallelConv2D, CombineParallelDense and CombineParallelBatchMatmul, each where at least
    three branches can be combined.
    """

    contract = Contract(error=1e-5)

    def steps(self) -> tuple[Pass, ...]:
        return CombineParallelConv2D(), CombineParallelDense(), CombineParallelBatchMatmul()
