"""FoldScaleAxis: multiplications by a number for each channel disappear into weights."""

from __future__ import annotations

from dataclasses import dataclass

from ..fold_constant import FoldConstant
from ..infrastructure import Contract, FixedSequential, Pass
from .backward import BackwardFoldScaleAxis
from .forward import ForwardFoldScaleAxis


@dataclass(frozen=True, init=False)
class FoldScaleAxis(FixedSequential):
    """BackwardFoldScaleAxis, ForwardFoldScaleAxis and FoldConstant. After SimplifyInference, it takes the
    scales of batch normalization into the convolutions.
    """

    contract = Contract(error=1e-4)

    def steps(self) -> tuple[Pass, ...]:
        return BackwardFoldScaleAxis(), ForwardFoldScaleAxis(), FoldConstant()
