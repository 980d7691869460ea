"""FoldScaleAxis: multiplications by a number for each channel disappear into weights."""

from __future__ import annotations

from ..fold_constant import FoldConstant
from ..infrastructure import Contract, Sequential
from .backward import BackwardFoldScaleAxis
from .forward import ForwardFoldScaleAxis


class FoldScaleAxis(Sequential):
    """BackwardFoldScaleAxis, ForwardFoldScaleAxis and FoldConstant. After SimplifyInference, it takes the
    scales of batch normalization into the convolutions.
    """

    contract = Contract(error=1e-4)

    def __init__(self) -> None:
        super().__init__(
            [BackwardFoldScaleAxis(), ForwardFoldScaleAxis(), FoldConstant()], name="FoldScaleAxis"
        )
