"""TensorFlow Lite's scheme: 8-bit operands whose zero point need not be 0, and a scale per output channel.

After B. Jacob et al., *Quantization and training of neural networks for efficient integer-arithmetic-only
inference* (arXiv 1712.05877), and the specification of TensorFlow Lite's 8-bit quantization.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.lazy_dataclass import dataclass
from ..calibrators import MaxAbs, MinMax
from ..following import as_input, follow, layer, left_alone
from ..quantizer import Calibrator, Quantizer, Role
from ..scheme import Annotation, Candidate, Keep, Operand, Scheme, check_keep


@dataclass(frozen=True)
class PerChannelAsymmetric(Scheme):
    """8-bit activations with a zero point, and symmetric 8-bit weights with a scale per output channel.

    An activation after a ReLU is never negative: with a zero point, all 256 integers cover its range, and a
    symmetric quantizer would waste half of them. Weights are symmetric, because their zero points would cost
    a sum over the data for each result. A bias is added to the 32-bit accumulators. The integer operators are
    those of `qnn`.

    `signed` stores activations as int8 rather than uint8, and `keep` are the indices of the layers that stay
    in float, negative ones from the last.
    """

    name = "per_channel_asymmetric"
    bits: int = 8
    signed: bool = True
    calibrator: Calibrator = MinMax()
    keep: Sequence[int] = ()

    def __post_init__(self) -> None:
        check_keep(self.keep)
        if self.bits > 8:
            raise RelayError(
                f"the operators of `qnn` take weights of at most 8 bits, not {self.bits}",
                help=["a scheme of your own may quantize data to 16 bits, and weights to 8"],
            )

    @property
    def data(self) -> Quantizer:
        return Quantizer(Role.INPUT, self.bits, self.signed, symmetric=False, calibrator=self.calibrator)

    @property
    def weight(self) -> Quantizer:
        return Quantizer(Role.WEIGHT, self.bits, axis=0, calibrator=MaxAbs())

    def shared(self, value: Operand) -> Quantizer | None:
        """Store a value that several calls use in 8 bits, once."""
        return as_input(value.role, self.data)

    def annotate(self, candidate: Candidate) -> Annotation | Keep | None:
        return (
            left_alone(candidate, self.keep)
            or layer(candidate, self.data, self.weight)
            or follow(candidate, self.data)
        )
