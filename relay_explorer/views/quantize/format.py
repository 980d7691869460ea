"""The data of the quantization view: a float program, the quantizer of each value, and the integer
program.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Passage, Question, Remark, Sentence, View
from ..schema import (
    Amount,
    Flat,
    Index,
    OneOf,
    SentenceOrNone,
    Size,
    Wire,
    as_object,
)

ProgramRow = Annotated[int, Index("split")]
ProgramRowOrNone = Annotated[int, Index("split", none=True)]
StepIndex = Annotated[int, Index("steps")]
SiteIndex = Annotated[int, Index("sites")]
IntegerIndex = Annotated[int, Index("integers")]
VariantIndex = Annotated[int, Index("variants")]


class Phase(IntEnum):
    """The phases of quantization, and the comparison with the float program at the end."""

    FLOAT = 0
    ANNOTATE = 1
    CALIBRATE = 2
    REALIZE = 3
    COMPARE = 4


class QuantizeMark(IntEnum):
    """The kind of a step."""

    BEGIN = 0
    SIMULATED = 1
    LEFT = 2
    CALIBRATED = 3
    REALIZED = 4
    REQUANTIZED = 5
    CANCELLED = 6
    ERROR = 7
    END = 8


class Fate(IntEnum):
    """What became of a row: nothing to quantize, computed in integers, left in floating point, gone, because
    the integer program has no line for it, or computed in floating point with integer weights.
    """

    NONE = 0
    INTEGER = 1
    FLOAT = 2
    GONE = 3
    WEIGHTS = 4


class LineKind(IntEnum):
    """The purpose of a line of the integer program."""

    OTHER = 0
    COMPUTE = 1
    QUANTIZE = 2
    REQUANTIZE = 3
    DEQUANTIZE = 4
    FLOAT = 5


class Histogram(NamedTuple):
    """How many of the observed values are in each of the equally wide bins from `low` to `high`."""

    low: float
    high: float
    counts: tuple[Amount, ...]


class Threshold(NamedTuple):
    """A threshold that the calibration tried, and how bad it is by the measure of its method."""

    at: float
    cost: float


class Site(NamedTuple):
    """A value that is quantized: the row beside which it is shown, what it is there (`%x`, `weight`), and its
    quantizer. `observed` and `kept` are the smallest and the largest value that calibration saw, and those
    that the integers can represent; `clipped` counts the values outside. There is one scale and one zero
    point for each channel or group, or only one.
    """

    row: ProgramRow
    name: str
    role: str
    bits: Amount
    signed: bool
    symmetric: bool
    per: Annotated[str, OneOf(("tensor", "channel", "group"))]
    rule: SentenceOrNone
    method: str
    why: SentenceOrNone
    low: float
    high: float
    kept_low: float
    kept_high: float
    values: Amount
    tensors: Amount
    clipped: Amount
    histogram: Histogram | None
    tried: Annotated[tuple[Threshold, ...], Flat()]
    scales: tuple[float, ...]
    zeros: tuple[int, ...]


class RowState(NamedTuple):
    """What became of a row of the program. `error` is the signal-to-quantization-noise ratio (SQNR) of its
    value in the simulated quantized program, in decibels; `otherwise` that of the program's result if the
    scheme had decided about this layer the other way: left it in float, or not. None: not measured, or exact.
    `say` explains the error.
    """

    fate: Fate
    error: float | None
    otherwise: float | None
    say: SentenceOrNone


class IntegerRow(NamedTuple):
    """A row of the integer program: the row that it came from, its purpose, and the step that adds it."""

    source: ProgramRowOrNone
    kind: LineKind
    born: StepIndex


class QuantizeStep(NamedTuple):
    """One decision about the row `row`, and the values that it is about."""

    mark: Annotated[int, OneOf(QuantizeMark)]
    phase: Phase
    row: ProgramRowOrNone
    say: Sentence
    sites: tuple[SiteIndex, ...] = ()


class Axis(NamedTuple):
    """A question of the what-if list, and its answers."""

    name: str
    options: tuple[str, ...]


class RowError(NamedTuple):
    """The SQNR of a row's value, in decibels."""

    row: ProgramRow
    error: float


class VariantSite(NamedTuple):
    """The bits of a site in a variant, and the values that its integers can represent."""

    site: SiteIndex
    bits: Amount
    kept_low: float
    kept_high: float


class Variant(NamedTuple):
    """Another way to quantize the program: one option of each axis, the ratio of the result in decibels
    (None: exact), on how many of the inputs the largest element of the result is where it was, the bytes of
    the constants, the ratio of each row, and the ranges. A variant that the pass refused has only the reason.
    """

    choice: tuple[Amount, ...]
    result: float | None
    same: Amount
    bytes: Amount
    refused: str
    errors: Annotated[tuple[RowError, ...], Flat()]
    ranges: Annotated[tuple[VariantSite, ...], Flat()]


class Item(NamedTuple):
    """What a token names: the row that defines it, in its own program, and its name, or ""."""

    row: Annotated[int, Index("rows")]
    name: str


@as_object
class QuantizeTotals(NamedTuple):
    """Totals: calls in integers, in floating point, and in floating point with integer weights,
    requantizations that were inserted and that cancelled, the bytes of the constants before and after, the
    inputs of the calibration (0: not known) and of the comparison, and the SQNR of the result in decibels
    (None: exact).
    """

    integer: Amount
    left: Amount
    weights: Amount
    requantized: Amount
    cancelled: Amount
    bytes_before: Amount
    bytes_after: Amount
    calibrated: Amount
    compared: Amount
    same: Amount
    result: float | None


@dataclass(frozen=True)
class QuantizeView(View):
    """A program as it is quantized. The rows are the float program's, and from `split` on those of the
    integer program; `items` are the rows that tokens refer to, with their names. `asked` is the variant that
    the rest of the view describes. `worst` is the row that adds most noise. All results are those of
    `target`: the row from which calls without quantizers compute the program's result, -1 for the result
    itself. If it is `live`, Python can compute other variants.
    """

    kind: ClassVar[str] = "quantize"
    choice_key: ClassVar[str] = "if"
    scheme: str
    data: str
    split: Amount
    items: tuple[Item, ...]
    states: Annotated[tuple[RowState, ...], Flat()]
    sites: tuple[Site, ...]
    integers: Annotated[tuple[IntegerRow, ...], Flat()]
    steps: Annotated[tuple[QuantizeStep, ...], Size(least=1)]
    axes: tuple[Axis, ...]
    variants: tuple[Variant, ...]
    asked: Annotated[int, Index("variants", none=True)]
    totals: QuantizeTotals
    start: StepIndex
    worst: ProgramRowOrNone
    target: ProgramRowOrNone
    live: Annotated[bool, Wire(omitted=True)] = False

    def questions(self) -> tuple[Question, ...]:
        if self.asked < 0:
            return ()
        actual = self.variants[self.asked].choice
        return tuple(Question(axis.name, axis.options, at) for axis, at in zip(self.axes, actual))

    def opening(self) -> str:
        if self.steps[self.start].mark == QuantizeMark.CALIBRATED:
            return "the first range that is derived from observed values"
        return ""

    def notes(self) -> dict[int, str]:
        """Return, by row of the program, its quantizers and its error."""
        notes: dict[int, list[str]] = {}
        for site in self.sites:
            name = "" if site.role == "value" else f"{site.role} "
            notes.setdefault(site.row, []).append(name + quantizer_text(site))
        for row, state in enumerate(self.states):
            if state.fate == Fate.FLOAT:
                notes.setdefault(row, []).append("left in float")
            if state.fate == Fate.WEIGHTS:
                notes.setdefault(row, []).append("integer weights, float arithmetic")
            if state.error is not None:
                notes.setdefault(row, []).append(f"{state.error:.1f} dB")
        return {row: ", ".join(parts) for row, parts in notes.items()}

    def beside(self) -> dict[int, str]:
        return self.notes()

    def passages(self) -> Iterator[Passage | Remark]:
        """Iterate over the float program with its quantizers, which takes up to half of the picture, and the
        integer program.
        """
        beside = self.beside()
        yield Passage(self.rows[: self.split], [beside.get(n, "") for n in range(self.split)], half=True)
        yield Remark(0, "Integer program:")
        rest = self.rows[self.split :]
        yield Passage(rest, [""] * len(rest))

    first_step: ClassVar[int] = 1

    def story(self) -> list[Sentence]:
        return [step.say for step in self.steps]


def quantizer_text(site: Site) -> str:
    """Write a quantizer in few words: `int8`, `uint8, zero point 3`, `int8 per channel`."""
    text = f"{'int' if site.signed else 'uint'}{site.bits}"
    if site.per != "tensor":
        text += f" per {site.per}"
    if len(site.scales) == 1:
        text += f", scale {site.scales[0]:.3g}"
        text += f", zero point {site.zeros[0]}" if site.zeros[0] else ""
    return text
