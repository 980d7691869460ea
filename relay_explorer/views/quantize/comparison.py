"""The comparison of the quantized program with the float program, and of what else could have been chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...quantize import Quantization
from .format import Variant
from .inputs import Data
from .measure import Errors, Measured, Observation
from .programs import Programs
from .variants import MAX_WORK, WhatIf, answered, variant

OVERFLOWING = 6.0  # decibels by which integers are worse than their simulation
MAX_LAYERS = 12  # about which the opposite decision is tried


class Comparison:
    """The quantized program beside the float program, on the inputs; and what else could have been chosen."""

    def __init__(
        self,
        quantization: Quantization,
        data: Data,
        programs: Programs,
        layers: Sequence[int],
        left: Sequence[int],
        target: int,
    ) -> None:
        self.exact: list[Observation] = []
        self.whatif = WhatIf(quantization, data.dataset, programs.row, layers, left, target)
        # The annotated program computes what the float program computes, and has its sites.
        exact = Measured(quantization.annotated, programs.row)
        simulated = Measured(quantization.calibrated, programs.row)
        integer = Measured(quantization.realized, programs.integer_target(target))
        own, real = Errors(), Errors()
        for each in data.compared:
            wanted = exact.run(each)
            self.exact.append(wanted)
            own.add(wanted, simulated.run(each))
            real.add(wanted, integer.run(each))
            if 3 * sum(observation.work for observation in self.exact) > MAX_WORK:
                break  # a large program is compared on few inputs
        self.inputs = data.compared[: len(self.exact)]
        self.row_errors: Mapping[int, float] = {
            row: noise.decibels for row, noise in sorted(own.rows.items()) if noise.decibels is not None
        }
        self.simulated, self.same = own.at(target), real.same
        reached = target < 0 or target in real.rows
        self.result = real.at(target) if reached else self.simulated
        work = exact.size + sum(observation.work for observation in self.exact)
        self.variants: list[Variant] = []
        self.otherwise: dict[int, float | None] = {}
        if not self.inputs or not self.whatif.axes:
            return
        asked, *choices = self.whatif.choices(work)
        self.variants = [
            variant(asked, quantization.sites, own, self.whatif),
            *answered(self.whatif, self.exact, self.inputs, choices),
        ]
        most = min(MAX_LAYERS, MAX_WORK // max(work, 1))
        for row in dict.fromkeys((*left, *_spread(layers))):
            if len(self.otherwise) < most and (row not in left or self.whatif.can_quantize):
                self.otherwise[row] = self.whatif.decided_otherwise(row, self.exact, self.inputs)

    @property
    def overflowing(self) -> bool:
        """Whether the integers are much worse than their simulation, in which accumulators cannot
        overflow.
        """
        if self.result is None:
            return False
        return self.simulated is None or self.result < self.simulated - OVERFLOWING


def _spread(layers: Sequence[int]) -> list[int]:
    """Return the layers in the order in which they are tried: from both ends inwards."""
    order: list[int] = []
    rest = list(layers)
    while rest:
        order.append(rest.pop(0))
        if rest:
            order.append(rest.pop())
    return order
