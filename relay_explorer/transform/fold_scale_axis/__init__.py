"""FoldScaleAxis: fold per-channel multiplications into weights."""

from __future__ import annotations

from ...ir.lazy_dataclass import dataclass
from ..fold_constant import FoldConstant
from ..infrastructure import Contract, FixedSequential, Pass
from .backward import BackwardFoldScaleAxis
from .forward import ForwardFoldScaleAxis


@dataclass(frozen=True, init=False)
class FoldScaleAxis(FixedSequential):
    """Run BackwardFoldScaleAxis, ForwardFoldScaleAxis and FoldConstant.

    After SimplifyInference, this folds the scales of batch normalization into the convolutions.
    """

    contract = Contract(error=1e-4)

    def steps(self) -> tuple[Pass, ...]:
        return BackwardFoldScaleAxis(), ForwardFoldScaleAxis(), FoldConstant()
