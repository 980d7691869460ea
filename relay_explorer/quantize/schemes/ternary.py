"""Ternary weights: each is -1, 0 or 1, times a scale for its output channel.

A product with such a weight needs no multiplication, and four weights fit into a byte. After F. Li and B.
  Liu, *Ternary weight networks* (arXiv 1605.04711): the scale minimizes the square error, and weights smaller
  than about half of it become 0. Without training the network again, much accuracy is lost: the scheme shows
  how far rounding alone can go.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.expr import Call, Expr
from ...ir.lazy_dataclass import dataclass
from ..calibrators import LeastSquares, MaxAbs
from ..following import as_input, follow, is_float, layer, left_alone
from ..quantized import Quantized
from ..quantizer import Calibrator, Quantizer, Role
from ..scheme import Annotation, Candidate, Keep, Operand, Scheme, check_keep
from .weights_4bit_groups import packed_dense


@dataclass(frozen=True)
class Ternary(Scheme):
    """Weights of -1, 0 and 1 with a scale per output channel.

    Dense layers keep float activations and pack four weights into a byte. Convolutions multiply 8-bit
    activations, whose range `calibrator` finds. `keep` are the indices of the layers that stay in float,
    negative ones from the last. By default, these are the first and the last: with ternary weights in them,
    too, the accuracy falls much further (`benchmarks/quantized_accuracy.md`).
    """

    name = "ternary"
    calibrator: Calibrator = MaxAbs()
    keep: Sequence[int] = (0, -1)

    def __post_init__(self) -> None:
        check_keep(self.keep)

    @property
    def data(self) -> Quantizer:
        return Quantizer(Role.INPUT, calibrator=self.calibrator)

    @property
    def weight(self) -> Quantizer:
        return Quantizer(Role.WEIGHT, 2, axis=0, calibrator=LeastSquares())

    def shared(self, value: Operand) -> Quantizer | None:
        """Store a value that several calls use in 8 bits, once."""
        return as_input(value.role, self.data)

    def annotate(self, candidate: Candidate) -> Annotation | Keep | None:
        alone = left_alone(candidate, self.keep)
        if alone is not None:
            return alone
        if candidate.op.name == "nn.dense":
            weight = candidate.operands[1]
            if not weight.is_constant or not all(is_float(part.original) for part in candidate.operands):
                return Keep("its operands are not a float32 tensor and a float32 constant")
            return Annotation([None, self.weight], None, "its weights are ternary, its data stays in float")
        if candidate.layer is not None and not candidate.operands[1].is_constant:
            return Keep("its second operand is not a constant weight")
        return layer(candidate, self.data, self.weight) or follow(candidate, self.data)

    def realize(
        self, call: Call, operands: Sequence[Quantized | Expr]
    ) -> Quantized | Sequence[Quantized] | Expr | None:
        """Multiply by packed weights in dense layers, by 8-bit integers in others."""
        data, *rest = operands
        if rest and isinstance(data, Expr) and isinstance(rest[0], Quantized) and call.op.name == "nn.dense":  # type: ignore[attr-defined]  # an operator
            weight = rest[0]
            return packed_dense(data, weight.but(scale=weight.scale.reshape(-1, 1)), 2, 0)
        return super().realize(call, operands)
