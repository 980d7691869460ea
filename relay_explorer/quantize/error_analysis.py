"""Measure how far the calibrated program, which simulates the quantization, is from the float one.

The ratio of signal to quantization noise (SQNR) of a value is 10 · log₁₀(Σ x² / Σ (x − y)²) decibels, where x
are its elements in the float program, and y those in the calibrated one. Each bit of precision is worth about
6 decibels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any as Anything

from ..ir.errors import RelayError
from ..ir.expr import Call, Expr
from ..ir.hooks import hook
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.walk import post_order
from ..ops.numeric import Array, np
from .observation import Dataset, arguments, batches_of
from .provenance import origins
from .quantization import Quantization
from .quantizer import to_integers, to_reals
from .scheme import Site


@dataclass(frozen=True)
class LineError:
    """The error of one call of the float program, over all its evaluations.

    `sqnr` is in decibels: infinity where both programs agree, minus infinity where the float values are all 0
    and the others are not. `largest` is the greatest absolute difference. `count` is the number of elements.
    """

    expr: Call
    function: str
    sqnr: float
    largest: float
    count: int


@dataclass(frozen=True)
class SiteError:
    """The error of one site, in decibels. `sqnr` compares the calibrated program's value there, after it is
    quantized, with the float program's value. `own` is the error of this site alone: that of quantizing the
    float program's value.

    `clipped` is the fraction of the values that lie beyond the range.
    """

    site: Site
    sqnr: float
    own: float
    clipped: float


class _Sums:
    """The energy of a signal and of its error."""

    __slots__ = ("count", "largest", "noise", "signal")

    def __init__(self) -> None:
        self.signal = self.noise = self.largest = 0.0
        self.count = 0

    def add(self, x: Array, y: Array) -> None:
        difference = x.astype("float64") - y
        self.signal += float((x.astype("float64") ** 2).sum())
        self.noise += float((difference**2).sum())
        self.largest = max(self.largest, float(np.abs(difference).max(initial=0)))
        self.count += x.size

    @property
    def decibels(self) -> float:
        if not self.noise:
            return math.inf
        return 10 * math.log10(self.signal / self.noise) if self.signal else -math.inf


def line_errors(quantization: Quantization, dataset: Dataset) -> tuple[LineError, ...]:
    """Run the float and the calibrated program on a dataset, and compare the value of each operator call
    whose result is a floating-point tensor. The errors are in the order of the float program's text.

    A call may be evaluated more than once. The n-th evaluations in both programs are paired, and skipped
    where their shapes differ; after different branches they need not correspond.
    """
    sums: dict[Expr, _Sums] = {}
    calls = origins(quantization.calibrated, quantization.float_program)
    for batch in batches_of(dataset):
        floats = _values(quantization.float_program, batch, {})
        others = _values(quantization.calibrated, batch, calls)
        for call, values in floats.items():
            for x, y in zip(values, others.get(call, [])):
                if x.shape == y.shape:
                    sums.setdefault(call, _Sums()).add(x, y)
    if not sums:
        raise RelayError(
            "there is nothing to compare: the dataset has no inputs, or the program computes no floats"
        )
    errors = []
    for var, function in quantization.float_program.functions.items():
        for node in post_order(function):
            if isinstance(node, Call) and node in sums:
                total = sums[node]
                errors.append(LineError(node, var.name_hint, total.decibels, total.largest, total.count))
    return tuple(errors)


def site_errors(quantization: Quantization, dataset: Dataset) -> tuple[SiteError, ...]:
    """Compare the value at each calibrated site in the float program with the quantized value there in the
    calibrated program, on a dataset. The errors are in the order of the sites; evaluations are paired as by
    `line_errors`.
    """
    from ..ops.simulated_quantize import observing

    total: dict[int, _Sums] = {}
    own: dict[int, _Sums] = {}
    beyond: dict[int, int] = {}
    sites = {site.index: site for site in quantization.sites if site.parameters is not None}

    def seen(mod: IRModule, batch: Anything) -> dict[int, list[Array]]:
        values: dict[int, list[Array]] = {}
        main = mod["main"]
        with observing(lambda index, x: values.setdefault(index, []).append(x.copy())):
            hook("executor")("debug", mod).evaluate()(*arguments(main, batch))
        return values

    for batch in batches_of(dataset):
        floats = seen(quantization.annotated, batch)
        others = seen(quantization.calibrated, batch)
        for index, site in sites.items():
            for x, y in zip(floats.get(index, []), others.get(index, [])):
                if x.shape != y.shape:
                    continue
                total.setdefault(index, _Sums()).add(x, _rounded(y, site))
                own.setdefault(index, _Sums()).add(x, _rounded(x, site))
                beyond[index] = beyond.get(index, 0) + _beyond(x, site)
    return tuple(
        SiteError(
            sites[index], total[index].decibels, own[index].decibels, beyond[index] / max(own[index].count, 1)
        )
        for index in sorted(total)
    )


def _rounded(x: Array, site: Site) -> Array:
    """Return the real values that the integers of a site stand for."""
    assert site.parameters is not None
    return to_reals(to_integers(x, site.quantizer, site.parameters), site.quantizer, site.parameters)


def _beyond(x: Array, site: Site) -> int:
    """Count the values beyond the range of a site: those that are clipped, not only rounded."""
    from .quantizer import spread

    assert site.parameters is not None
    parameters, half = site.parameters, spread(site.parameters.scale, site.quantizer, x.shape) / 2
    low, high = (spread(bound, site.quantizer, x.shape) for bound in (parameters.low, parameters.high))
    return int(((x < low - half) | (x > high + half)).sum())


def _values(mod: IRModule, batch: Anything, calls: Mapping[Expr, Expr]) -> dict[Expr, list[Array]]:
    """Run a module on one input; return the floating-point values of its calls, or of their origins."""
    values: dict[Expr, list[Array]] = {}

    def receive(node: Expr, value: Anything) -> None:
        if calls:
            if node not in calls:
                return
            node = calls[node]
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            values.setdefault(node, []).append(value)

    main = mod["main"]
    hook("run_observed")(mod, arguments(main, batch), receive)
    return values
