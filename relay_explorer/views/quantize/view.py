"""The quantization explorer: a float program, what each phase decided about its lines, the integer program
beside it, the error of each line, and other ways to quantize it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Constant
from ...ir.types import TensorType
from ...quantize import Quantization
from ...quantize.realization import Requantization
from ..words import counted
from . import sentences as say
from .comparison import Comparison
from .errors import Reasons, noisiest, read_errors
from .format import (
    Fate,
    IntegerRow,
    LineKind,
    Phase,
    QuantizeMark,
    QuantizeStep,
    QuantizeTotals,
    QuantizeView,
    RowState,
)
from .inputs import Data
from .programs import Programs
from .sites import place, shown_site
from .variants import answered, constant_bytes, float_types


def quantize_view(quantization: Quantization, data: Data, title: str = "") -> QuantizeView:
    """Build the view of a quantization, compared with the float program on the inputs of `data`."""
    return Builder(quantization, data, title).view()


class LiveQuantization:
    """A quantization shown by a live widget, for which Python can compute any variant."""

    def __init__(self, quantization: Quantization, data: Data, title: str) -> None:
        builder = Builder(quantization, data, title)
        self._comparison = builder.comparison
        self.view: QuantizeView = replace(builder.view(), live=True)

    def answer(self, question: Mapping[str, Any]) -> QuantizeView:
        """Return the view with one more variant, `{"choice": [option of each axis, …]}`. Raise a RelayError
        for options that do not exist.
        """
        choice, axes = question.get("choice"), self.view.axes
        if (
            not isinstance(choice, (list, tuple))
            or len(choice) != len(axes)
            or not all(
                type(option) is int and 0 <= option < len(axis.options) for option, axis in zip(choice, axes)
            )
        ):
            raise RelayError(
                f"{choice!r:.60} does not pick one option for each of the {counted(len(axes), 'setting')}"
            )
        wanted = tuple(choice)
        if wanted not in [variant.choice for variant in self.view.variants]:
            comparison = self._comparison
            new = answered(comparison.whatif, comparison.exact, comparison.inputs, [wanted])
            self.view = replace(self.view, variants=(*self.view.variants, *new))
        return self.view


class Builder:
    """Collects the steps of the phases."""

    def __init__(self, quantization: Quantization, data: Data, title: str) -> None:
        self.quantization, self.data, self.title = quantization, data, title
        self.programs = Programs(quantization)
        self.sites = [shown_site(site, self.programs) for site in quantization.sites]
        self.calls = self.programs.calls
        self.fates = [self.programs.fate(row) for row in range(self.programs.split)]
        self.kept = {self.programs.row(call.call): call.why for call in quantization.kept}
        self.steps: list[QuantizeStep] = []
        self.born: dict[int, int] = {}
        self.target = self.programs.target()
        self.comparison = Comparison(quantization, data, self.programs, self.layers, self.left, self.target)

    # -- the layers

    @cached_property
    def layers(self) -> list[int]:
        """The rows of products with a constant operand."""
        return [row for row in self.calls if self.programs.is_layer(row)]

    @cached_property
    def left(self) -> list[int]:
        """The layers that the scheme leaves in float."""
        uses = [use for site in self.quantization.sites for use in site.uses]
        annotated = {self.programs.row(use.call) for use in uses if use.operand is not None}
        return [row for row in self.layers if row in self.kept and row not in annotated]

    # -- the view

    def view(self) -> QuantizeView:
        comparison = self.comparison
        self._begin()
        self._annotate()
        self._calibrate()
        self._realize()
        worst = noisiest(comparison.row_errors, self.programs)
        reasons = Reasons(self.quantization, self.sites, self.programs, comparison.row_errors)
        totals = self._totals()
        self._compare(worst, reasons, totals)
        states = tuple(
            RowState(
                self.fates[row], comparison.row_errors.get(row), comparison.otherwise.get(row),
                reasons.reason(row) if row in comparison.row_errors else (),
            )
            for row in range(self.programs.split)
        )  # fmt: skip
        rows = self.programs.rows()
        last = len(self.steps) - 1
        integers = tuple(
            IntegerRow(source, kind, self.born.get(number, last))
            for number, (source, kind) in enumerate(self.programs.lines)
        )
        whatif, variants = comparison.whatif, comparison.variants
        return QuantizeView(
            title=self.title or "quantization", rows=rows,
            summary=say.summary(totals, self.scheme, self._target_title),
            scheme=self.scheme, data=self.data.words, split=self.programs.split,
            items=tuple(self.programs.items), states=states, sites=tuple(self.sites), integers=integers,
            steps=tuple(self.steps), axes=whatif.axes if variants else (), variants=tuple(variants),
            asked=0 if variants else -1, totals=totals, start=self._start(), worst=worst,
            target=self.target,
        )  # fmt: skip

    @property
    def _target_title(self) -> str:
        """What the error of the result is measured at, "" for the result itself."""
        return self.programs.title(self.target) if self.target >= 0 else ""

    @property
    def scheme(self) -> str:
        return self.quantization.scheme.name

    def _start(self) -> int:
        """Return the step that tells the story in the first frame: the first range that was found by looking
        at the values of a call's result; without one, at any values.
        """
        looked = [
            (number, self.sites[site])
            for number, step in enumerate(self.steps)
            if step.mark == QuantizeMark.CALIBRATED
            for site in step.sites
            if self.sites[site].role == "value" and self.sites[site].histogram is not None
        ]
        computed = [number for number, site in looked if site.row in self.calls]
        return (computed or [number for number, _ in looked] or [0])[0]

    def _add(
        self, mark: QuantizeMark, phase: Phase, row: int, sentence: tuple[str, ...], sites: Sequence[int] = ()
    ) -> int:
        self.steps.append(QuantizeStep(mark, phase, row, sentence, tuple(sites)))
        return len(self.steps) - 1

    # -- the phases

    def _begin(self) -> None:
        calls = sum(self.fates[row] != Fate.NONE for row in self.calls)
        module = self.quantization.float_program
        sentence = say.begin(calls, float_types(module), constant_bytes(module))
        self._add(QuantizeMark.BEGIN, Phase.FLOAT, -1, sentence)

    def _annotate(self) -> None:
        by_call: dict[int, list[int]] = {}
        for number, site in enumerate(self.quantization.sites):
            for row in dict.fromkeys(self.programs.row(use.call) for use in site.uses):
                by_call.setdefault(row, []).append(number)
        others = []
        for row in self.calls:
            title = self.programs.title(row)
            if numbers := by_call.get(row):
                named = [(self._value(number), self.sites[number]) for number in numbers]
                sentence = say.simulated(title, named, self.sites[numbers[0]].rule)
                self._add(QuantizeMark.SIMULATED, Phase.ANNOTATE, row, sentence, numbers)
            elif row in self.left:
                self._add(QuantizeMark.LEFT, Phase.ANNOTATE, row, say.left(title, self.kept[row]))
            elif self.fates[row] == Fate.FLOAT:
                others.append(title.split(" ")[-1])
        if others:
            self._add(QuantizeMark.LEFT, Phase.ANNOTATE, -1, say.left_others(others, bool(self.left)))

    def _value(self, number: int) -> str:
        """Return what a step calls the value of a site."""
        site = self.quantization.sites[number]
        if isinstance(site.expr, Constant):
            return "its weight"
        return "its result" if site.operand is None else self.sites[number].name

    def _calibrate(self) -> None:
        for number, site in enumerate(self.sites):
            reached = self.quantization.sites[number].parameters is not None
            type_ = self.quantization.sites[number].expr.checked_type
            is_empty = isinstance(type_, TensorType) and 0 in type_.shape
            sentence = say.calibrated(site) if reached else say.unreached(site, is_empty)
            self._add(QuantizeMark.CALIBRATED, Phase.CALIBRATE, site.row, sentence, (number,))

    def _realize(self) -> None:
        first = len(self.steps)
        lines: dict[int, list[int]] = {}
        for number, (source, _) in enumerate(self.programs.lines):
            lines.setdefault(source, []).append(number)
        changes: dict[int, list[Requantization]] = {}
        for change in self.quantization.requantizations:
            changes.setdefault(place(self.quantization.sites[change.site], self.programs), []).append(change)
        following: list[int] = []  # rows that compute on integers between layers, told together
        for row in range(self.programs.split):
            own = lines.get(row, [])
            kinds = {self.programs.lines[line][1] for line in own}
            computing = LineKind.COMPUTE in kinds
            follows = computing and not self.programs.is_product(row)
            if following and own and not follows:
                self._followed(following, lines)
                following = []
            if follows:
                following.append(row)
            elif computing:
                self._multiplied(row, self._of_kind(own, LineKind.COMPUTE))
            converts = kinds & {LineKind.QUANTIZE, LineKind.DEQUANTIZE}
            if following and (row in changes or converts):
                self._followed(following, lines)
                following = []
            for change in changes.get(row, ()):
                self._requantized(row, change, own)
            self._converted(row, own, kinds)
        self._followed(following, lines)
        for number, (_, kind) in enumerate(self.programs.lines):
            if kind in (LineKind.OTHER, LineKind.FLOAT):
                self.born[number] = min(first, len(self.steps) - 1)

    def _multiplied(self, row: int, lines: Sequence[int]) -> None:
        """Add the step of a layer that multiplies integers."""
        line = self.programs.product_line(row, lines)
        operands, result = self.programs.operand_types(line), self.programs.result_type(line)
        sentence = say.multiplies(self.programs.title(row), operands, result)
        self._set_born(lines, self._add(QuantizeMark.REALIZED, Phase.REALIZE, row, sentence))

    def _followed(self, rows: Sequence[int], lines: Mapping[int, Sequence[int]]) -> None:
        """Add one step for calls that compute on integers between layers."""
        if rows:
            keep = all(map(self.programs.keeps_scale, rows))
            sentence = say.follows([self.programs.title(row) for row in rows], keep)
            step = self._add(QuantizeMark.REALIZED, Phase.REALIZE, rows[0], sentence)
            for row in rows:
                self._set_born(self._of_kind(lines.get(row, ()), LineKind.COMPUTE), step)

    def _requantized(self, row: int, change: Requantization, lines: Sequence[int]) -> None:
        site = self.sites[change.site]
        before = change.before.reshape(-1)
        if change.cancelled:
            sentence = say.cancelled(site.name, float(before[0]), before.size > 1)
            self._add(QuantizeMark.CANCELLED, Phase.REALIZE, row, sentence, (change.site,))
            return
        after = float(change.after.reshape(-1)[0])
        conversions = self._of_kind(lines, LineKind.REQUANTIZE)
        stored = self.programs.result_type(conversions[-1]) if conversions else say.dtype(site)
        sentence = say.requantized(site.name, float(before[0]), after, before.size > 1, stored)
        step = self._add(QuantizeMark.REQUANTIZED, Phase.REALIZE, row, sentence, (change.site,))
        self._set_born(conversions, step)

    def _converted(self, row: int, lines: Sequence[int], kinds: set[LineKind]) -> None:
        """Add the steps at which a value becomes integers, or becomes floats again."""
        if LineKind.QUANTIZE in kinds:
            site = next(
                (
                    number
                    for number, shown in enumerate(self.sites)
                    if shown.row == row and shown.role == "value" and shown.scales
                ),
                None,
            )
            if site is not None:
                conversions = self._of_kind(lines, LineKind.QUANTIZE)
                sentence = say.enters(self.sites[site], self.programs.result_type(conversions[-1]))
                step = self._add(QuantizeMark.REALIZED, Phase.REALIZE, row, sentence, (site,))
                self._set_born(conversions, step)
        if LineKind.DEQUANTIZE in kinds:
            is_result = self.programs.computes_result(row)
            is_read = row in self.programs.read
            sentence = say.leaves(self.programs.title(row), is_result, is_read)
            step = self._add(QuantizeMark.REALIZED, Phase.REALIZE, row, sentence)
            self._set_born(self._of_kind(lines, LineKind.DEQUANTIZE), step)

    def _of_kind(self, lines: Sequence[int], kind: LineKind) -> list[int]:
        return [line for line in lines if self.programs.lines[line][1] == kind]

    def _set_born(self, lines: Sequence[int], step: int) -> None:
        for line in lines:
            self.born.setdefault(line, step)

    def _compare(self, worst: int, reasons: Reasons, totals: QuantizeTotals) -> None:
        comparison = self.comparison
        if worst >= 0:
            known = read_errors(worst, comparison.row_errors, self.programs)
            if self.programs.is_parameter(worst):
                known = None
            after, why = comparison.row_errors[worst], reasons.reason(worst)
            sentence = say.noisiest(self.programs.title(worst), known, after, why)
            self._add(QuantizeMark.ERROR, Phase.COMPARE, worst, sentence)
        if comparison.overflowing:
            sentence = say.overflowed(comparison.result, comparison.simulated)
            self._add(QuantizeMark.ERROR, Phase.COMPARE, -1, sentence)
        for row in self._ends():
            title, result = self.programs.title(row), comparison.simulated
            otherwise, tried = comparison.otherwise[row], len(comparison.otherwise)
            is_end = row in (self.layers[0], self.layers[-1])
            if row in self.left:
                sentence = say.if_quantized(title, result, otherwise)
            else:
                sentence = say.if_left(title, is_end, result, otherwise, tried)
            self._add(QuantizeMark.LEFT, Phase.COMPARE, row, sentence)
        self._add(QuantizeMark.END, Phase.COMPARE, -1, say.ended(totals, self._target_title))

    def _ends(self) -> list[int]:
        """Return the layers about which the last steps speak: those that were left in float; without any, the
        one of those tried that costs most.
        """
        tried = self.comparison.otherwise
        if self.left:
            return [row for row in self.left if row in tried]
        return sorted(tried, key=lambda row: (tried[row] is not None, -(tried[row] or 0)))[:1]

    def _totals(self) -> QuantizeTotals:
        comparison = self.comparison
        # Of a recorded quantization, the parameters of `@main` saw a tensor for each input.
        runs = [site.tensors for site in self.sites if self.programs.is_parameter(site.row)]
        cancelled = [change.cancelled for change in self.quantization.requantizations]
        fates = [self.fates[row] for row in self.calls]
        return QuantizeTotals(
            integer=fates.count(Fate.INTEGER), left=fates.count(Fate.FLOAT),
            weights=fates.count(Fate.WEIGHTS),
            requantized=cancelled.count(False), cancelled=cancelled.count(True),
            bytes_before=constant_bytes(self.quantization.float_program),
            bytes_after=constant_bytes(self.quantization.realized),
            calibrated=len(self.data.dataset) if self.data.seen else max(runs, default=0),
            compared=len(comparison.exact),
            same=comparison.same, result=comparison.result,
        )  # fmt: skip
