"""The scheme of language models: 4-bit weights in groups with a scale each, and float activations.

Generating text one token at a time multiplies a vector by each weight matrix, so the time goes into reading
the weights from memory. With 4 bits and a scale for every 32, they take less than a sixth of the bytes.
Activations stay in float: they are few, and have outliers that 8 bits represent badly. Sixteen integers are
few for a whole row, so each group of 32, 64 or 128 weights along it has a scale of its own. After E. Frantar
et al., *GPTQ* (arXiv 2210.17323), without its error correction: each weight is rounded to the nearest
integer.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, const
from ...ir.lazy_dataclass import dataclass
from ...ops.calls import relay
from ...ops.nn.nbits import pack
from ...ops.numeric import np
from ..calibrators import MaxAbs, MinMax
from ..following import is_float, left_alone
from ..quantized import Quantized
from ..quantizer import Quantizer, Role, to_reals
from ..scheme import Annotation, Candidate, Keep, Scheme, check_keep


@dataclass(frozen=True)
class Weights4BitGroups(Scheme):
    """Weights of dense layers in 4 bits (or 2, or 8), in groups of `group` along the reduction axis.

    `symmetric` groups have a scale only; otherwise each also has a zero point, and uses all 16 integers (at 4
    bits) for its own range. `keep` are the indices of the layers that stay in float, negative ones from the
    last; often the last layer of a language model does. Needs no dataset. Two weights share a byte (at 4
    bits), and `nn.contrib_dense_nbits` unpacks them.
    """

    name = "weights_4bit_groups"
    bits: int = 4
    group: int = 32
    symmetric: bool = True
    keep: Sequence[int] = ()

    def __post_init__(self) -> None:
        check_keep(self.keep)
        if self.bits not in (2, 4, 8):
            raise RelayError(f"weights of {self.bits} bits do not fill bytes evenly: 2, 4 or 8 do")

    @property
    def weight(self) -> Quantizer:
        calibrator = MaxAbs() if self.symmetric else MinMax()
        return Quantizer(
            Role.WEIGHT, self.bits, self.symmetric, self.symmetric, group=self.group, calibrator=calibrator
        )

    def annotate(self, candidate: Candidate) -> Annotation | Keep | None:
        """Quantize the weight of a dense layer, and nothing else."""
        if candidate.op.name != "nn.dense":
            return Keep("only the weights of dense layers are quantized")
        data, weight = candidate.operands
        if not weight.is_constant or not is_float(weight.original) or not is_float(data.original):
            return Keep("its operands are not a float32 tensor and a float32 constant")
        why = f"reading the weights takes most of the time, and {self.bits} bits take less"
        return left_alone(candidate, self.keep) or Annotation([None, self.weight], None, why)

    def realize(self, call: Call, operands: Sequence[Quantized | Expr]) -> Expr | None:
        """Multiply by packed weights, which the kernel unpacks."""
        data, weight = operands
        if not isinstance(data, Expr) or not isinstance(weight, Quantized):
            return None
        return packed_dense(data, weight, self.bits, self.group)

    def dequantize(self, value: Quantized) -> Expr:
        """Multiply by the groups' scales at compile time."""
        return unpacked(value, self.weight)


def packed_dense(data: Expr, weight: Quantized, bits: int, group: int) -> Expr:
    """Build a dense layer whose weights are packed as unsigned integers; signed integers are stored with
    2 ** (bits - 1) added.
    """
    assert isinstance(weight.expr, Constant)
    integers = weight.expr.data.numpy().astype("int32")
    zeros = weight.zero_point
    if weight.dtype.startswith("int"):
        integers, zeros = integers + 2 ** (bits - 1), np.asarray(2 ** (bits - 1))
    return relay.nn.contrib_dense_nbits(
        data,
        const(pack(integers.astype("uint8"), bits)),
        const(weight.scale),
        const(zeros.astype("uint8")),
        bits,
        group,
    )


def unpacked(value: Quantized, quantizer: Quantizer) -> Expr:
    """Return the real weights."""
    from ..quantizer import Parameters

    assert isinstance(value.expr, Constant)
    parameters = Parameters(value.scale, value.zero_point, value.scale, value.scale)
    return const(to_reals(value.expr.data.numpy(), quantizer, parameters))
