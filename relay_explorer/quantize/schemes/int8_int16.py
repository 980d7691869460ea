"""The scheme of the Relay paper's experiments on two ARM boards: 8-bit operands and 16-bit accumulators.

A processor's vectors hold twice as many 16-bit accumulators as 32-bit ones. The product of two 8-bit integers
needs up to 16 bits. Operands of this scheme lie between -127 and 127, and only two of the greatest products
are sure to fit into an accumulator. The scheme works because addition in 16 bits wraps around: if the final
sum fits, overflows on the way to it cancel. So the scale of each channel's weights is chosen such that the
sums seen in calibration fit, with a margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...ops.calls import relay
from ...ops.numeric import np
from ..calibrators import MaxAbs
from ..following import as_input, follow, is_float, left_alone
from ..integers import channels_match, is_layer, is_product, output_axis, output_axis_of_weight, product
from ..quantized import Quantized
from ..quantizer import Calibrator, Parameters, Quantizer, Role, parameters
from ..scheme import Annotation, Candidate, Keep, Observed, Operand, Scheme, Site, check_keep

HIGHEST = 2**15 - 1  # of an accumulator


@dataclass(frozen=True)
class Int8Int16(Scheme):
    """8-bit symmetric operands, a scale per output channel, and 16-bit accumulators.

    `margin` is the factor by which later sums may exceed those seen in calibration: 2 leaves one bit. A sum
    beyond it wraps around, from 32767 to -32768, which is an error of the size of the whole range. Needs a
    dataset. `keep` are the indices of the layers that stay in float, negative ones from the last.
    """

    name = "int8_int16"
    margin: float = 2.0
    calibrator: Calibrator = MaxAbs()
    keep: Sequence[int] = ()

    def __post_init__(self) -> None:
        check_keep(self.keep)
        if not 1 <= self.margin < math.inf:
            raise RelayError(f"the margin is a finite factor of at least 1, not {self.margin:g}")

    @property
    def data(self) -> Quantizer:
        return Quantizer(Role.INPUT, calibrator=self.calibrator)

    def shared(self, value: Operand) -> Quantizer | None:
        """Store a value that several calls use in 8 bits, once."""
        return as_input(value.role, self.data)

    def annotate(self, candidate: Candidate) -> Annotation | Keep | None:
        if not is_product(candidate.op):
            return follow(candidate, self.data)
        data, weight = candidate.operands
        if not is_layer(candidate.op) or not weight.is_constant:
            return Keep("its second operand is not the constant weight of a layer")
        if not (is_float(data.original) and is_float(weight.original)):
            return Keep("its operands are not float32")
        if not channels_match(candidate.call):
            return Keep("its weight does not have one channel for each output channel")
        of_weight = Quantizer(Role.WEIGHT, axis=output_axis_of_weight(candidate.call), calibrator=MaxAbs())
        sums = Quantizer(Role.ACTIVATION, 16, axis=output_axis(candidate.call))
        why = "its sums are accumulated in 16 bits"
        return left_alone(candidate, self.keep) or Annotation([self.data, of_weight], sums, why)

    def calibrate(self, site: Site, observed: Observed) -> Parameters:
        """Choose the scale of a weight such that its sums fit into 16 bits; that of the sums follows."""
        if site.quantizer.role is Role.INPUT:
            return super().calibrate(site, observed)
        peers = observed.peers[0].parameters
        if site.quantizer.role is Role.ACTIVATION:
            if not {0, 1} <= set(peers):  # an operand without elements
                return parameters(site.quantizer, observed.statistics.low, observed.statistics.high)
            scale = peers[0].scale * peers[1].scale
            why = "the scale of a product is the product of the scales"
            return parameters(site.quantizer, -scale * HIGHEST, scale * HIGHEST, "product", why)
        result = super().calibrate(site, observed)
        needed = result.scale
        for call in observed.peers:
            if 0 not in call.parameters:  # no run of the calibration reached this call
                continue
            sums = call.statistics[None]
            greatest = np.maximum(np.abs(sums.low), np.abs(sums.high)) * self.margin
            needed = np.maximum(needed, greatest / (HIGHEST * call.parameters[0].scale))
        wider = int((needed > result.scale).sum())
        why = f"{wider} of {needed.size} channels have coarser steps, so that their sums fit in 16 bits"
        if site.quantizer.axis is None:  # one scale, which is the coarsest that a channel needs
            needed = np.asarray(needed.max(), "float32")
            why = f"the steps are wide enough for the sums of {wider} of the channels to fit in 16 bits"
            if not wider:
                why = "the sums of all channels fit in 16 bits"
        bound = needed * site.quantizer.highest
        return parameters(site.quantizer, -bound, bound, "sums", why)

    def realize(
        self, call: Call, operands: Sequence[Quantized | Expr]
    ) -> Quantized | Sequence[Quantized] | Expr | None:
        """Accumulate in 16 bits. The bias and all later operators use 32 bits."""
        assert isinstance(call.op, Op)
        if not is_product(call.op):
            return super().realize(call, operands)
        sums = product(call, operands, "int16")
        return None if sums is None else sums.but(relay.cast(sums.expr, "int32"), "int32")

    def requantize(self, value: Quantized, site: Site) -> Quantized:
        """Leave sums as they are: they have the scale of their site already."""
        return value if site.quantizer.role is Role.ACTIVATION else super().requantize(value, site)
