"""Why the error grows where it does: the noise that each quantizer adds, and what it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...quantize import Quantization
from ..format import Sentence
from . import sentences as say
from .format import Site
from .programs import Programs
from .sites import noise, unequal_channels

UNEQUAL = 4.0  # times the range of a typical channel, from which one scale for all is to blame


def noisiest(errors: Mapping[int, float], programs: Programs) -> int:
    """Return the row that adds most noise to that of the values it reads; -1 if there is none."""
    worst, most = -1, 0.0
    for row, error in errors.items():
        read = read_errors(row, errors, programs)
        if read is None:
            continue  # where the noise came from is not known
        added = 10 ** (-error / 10) - max((10 ** (-value / 10) for value in read), default=0.0)
        if added > most:
            worst, most = row, added
    return worst


def read_errors(row: int, errors: Mapping[int, float], programs: Programs) -> list[float] | None:
    """Return the errors of the values that a row reads, through tuples and names; None if that of a value is
    not known, because it comes from another function.
    """
    values: list[float] = []
    pending, seen = programs.inputs(row), {row}
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        if at in errors:
            values.append(errors[at])
        elif programs.is_measured(at):
            continue  # a value without noise
        elif programs.comes_from_elsewhere(at):
            return None
        else:
            pending += programs.inputs(at)
    return values


class Reasons:
    """Explains the error of a row, in decibels in `errors`, by the quantizers that are about it."""

    def __init__(
        self,
        quantization: Quantization,
        sites: Sequence[Site],
        programs: Programs,
        errors: Mapping[int, float],
    ) -> None:
        self.quantization, self.sites, self.programs, self.errors = quantization, sites, programs, errors
        self._about: dict[int, list[int]] = {}
        for number, site in enumerate(quantization.sites):
            for row in {sites[number].row, *(programs.row(use.call) for use in site.uses)}:
                self._about.setdefault(row, []).append(number)

    def reason(self, row: int) -> Sentence:
        """Return the reason: what adds most noise among clipping, rounding, and one scale for unequal
        channels; where nothing is rounded, the errors of the operands.
        """
        candidates = []
        for number in self._about.get(row, ()):
            site = self.quantization.sites[number]
            clipping, rounding = noise(site.statistics, site.quantizer, site.parameters)
            candidates.append((clipping + rounding, clipping, rounding, number))
        if not candidates or max(candidates)[0] <= 0:
            return say.because_operands(self.errors[row], read_errors(row, self.errors, self.programs))
        _, clipping, rounding, number = max(candidates)
        site, shown = self.quantization.sites[number], self.sites[number]
        if clipping > rounding:
            return say.because_clipping(shown)
        ratio = unequal_channels(site.statistics, site.quantizer)
        if ratio >= UNEQUAL:
            return say.because_channels(shown, ratio)
        return say.because_rounding(shown)
