"""What a variant of a quantization does differently: a scheme around the one that is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...ir.expr import Call, Expr
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...quantize import KLDivergence, MaxAbs, MinMax, Percentile, Quantizer, Role, Site
from ...quantize.following import layer
from ...quantize.forward import Temporary
from ...quantize.integers import is_layer, output_axis_of_weight
from ...quantize.quantizer import Calibrator, Parameters, storage
from ...quantize.scheme import Annotation, Candidate, Keep, Observed, Operand, Scheme
from ...quantize.statistics import Statistics

MERGED = 3  # bins of calibration's histogram, an odd number, so that 0 stays in the middle of a bin
LARGEST = "min–max"
METHODS: dict[str, Calibrator] = {"percentile": Percentile(0.999), "KL divergence": KLDivergence()}


class Change(NamedTuple):
    """What a variant does differently; None leaves it to the scheme."""

    bits: int | None = None
    symmetric: bool | None = None
    per_channel: bool | None = None
    method: str | None = None

    def quantizer(self, site: Site) -> Quantizer:
        """Return a site's quantizer with the changes. Accumulators stay as they are."""
        from dataclasses import replace

        how = site.quantizer
        if how.role not in (Role.INPUT, Role.WEIGHT):
            return how
        if self.bits is not None:
            steps = None if how.steps is None else 2 ** (self.bits - 1)
            how = replace(how, bits=self.bits, steps=steps, dtype=storage(self.bits, how.signed))
        if self.symmetric is not None and how.role is Role.INPUT:
            how = replace(how, symmetric=self.symmetric, steps=None)
        if self.per_channel is not None and how.role is Role.WEIGHT:
            axis = output_axis_of_weight(site.call) if self.per_channel and _has_channels(site.call) else None
            how = replace(how, axis=axis, group=None)
        return how

    def calibrator(self, how: Quantizer) -> Calibrator | None:
        """Return the calibrator of activations; None: as the scheme calibrates them."""
        if self.method is None or how.role is not Role.INPUT:
            return None
        if self.method == LARGEST:
            return MaxAbs() if how.symmetric else MinMax()
        return METHODS[self.method]


def _has_channels(call: Call) -> bool:
    return isinstance(call.op, Op) and is_layer(call.op)


@dataclass(frozen=True)
class Changed(Scheme):
    """A scheme with changes. About the calls in the rows `other` it decides the other way: those that it
    would leave in float are quantized, with the quantizers `data` and `weight`, and those that it would
    quantize are left in float.
    """

    base: Scheme
    change: Change = Change()
    other: frozenset[int] = frozenset()
    row: Callable[[Expr], int] = lambda _: -1
    data: Quantizer | None = None
    weight: Quantizer | None = None

    name = "what if"

    def annotate(self, candidate: Candidate) -> Annotation | Keep | Temporary | Expr | None:
        answer = self.base.annotate(candidate)
        if not self.other or self.row(candidate.call) not in self.other:
            return answer
        if answer is not None and not isinstance(answer, Keep):
            return Keep("what if it were left in float?")
        if self.data is None or self.weight is None:
            return answer
        return layer(candidate, self.data, self.weight)

    def shared(self, value: Operand) -> Quantizer | None:
        return self.base.shared(value)

    def calibrate(self, site: Site, observed: Observed) -> Parameters:
        calibrator = self.change.calibrator(site.quantizer)
        if calibrator is not None:
            return calibrator(_coarser(observed.statistics), site.quantizer)
        return self.base.calibrate(site, observed)

    def needs_data(self, quantizer: Quantizer) -> bool:
        return True


def _coarser(seen: Statistics) -> Statistics:
    """Merge the bins of a histogram, because some methods take long with many."""
    from dataclasses import replace

    if len(seen.counts) % MERGED:
        return seen
    return replace(seen, counts=seen.counts.reshape(-1, MERGED).sum(axis=1), edges=seen.edges[::MERGED])
