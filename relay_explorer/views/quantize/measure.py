"""Measure the error of each line: run the float program and a quantized one on the same inputs, and compare
what their rows compute. `quantize.error_analysis` compares two programs; here one is compared with many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...analysis.cost import call_cost
from ...execute.observe import run_observed
from ...ir.expr import Call, Constant, Expr, Function
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.types import TensorType
from ...ir.walk import post_order
from ...quantize.annotation import SIMULATE
from ...quantize.observation import Inputs, arguments

if TYPE_CHECKING:
    from numpy import ndarray as Array

VALUE_ELEMENTS, FLOPS_PER_ELEMENT = 2_000, 8  # that take as long as a value, as an element
CALL_ELEMENTS = 60_000  # that take as long as annotating, calibrating and typing a call
FEW_CALLS = 50  # for which that takes little time
EXACT = 200.0  # decibels; a smaller difference is rounding of the measurement itself


class Noise:
    """Sums of squares of a signal, and of its difference to another one."""

    __slots__ = ("noise", "signal")

    def __init__(self) -> None:
        self.signal = 0.0
        self.noise = 0.0

    def add(self, exact: Array, other: Array) -> None:
        """Add a value, and what it became. Infinity and NaN are no signal; where they differ, the noise is
        infinite.
        """
        import numpy as np

        wanted, value = exact.astype("float64"), other.astype("float64")
        same = (wanted == value) | (np.isnan(wanted) & np.isnan(value))
        finite = np.isfinite(wanted)
        self.signal += float(np.square(wanted[finite]).sum())
        with np.errstate(invalid="ignore"):
            noise = float(np.square(np.where(same, 0, wanted - value)).sum())
        self.noise += math.inf if math.isnan(noise) else noise

    @property
    def decibels(self) -> float | None:
        """The ratio of signal to noise in decibels, at least -EXACT; None without noise."""
        if self.noise <= 0:
            return None
        if self.signal <= 0 or math.isinf(self.noise):
            return -EXACT
        ratio = 10 * math.log10(self.signal / self.noise)
        return None if ratio > EXACT else max(round(ratio, 1), -EXACT)


class Errors:
    """The noise of each row's value and of the result, and on how many inputs the largest element of the
    result is where it was.
    """

    def __init__(self) -> None:
        self.rows: dict[int, Noise] = {}
        self.result = Noise()
        self.same = 0

    def at(self, row: int) -> float | None:
        """Return the ratio of a row's value, in decibels; that of the result for -1."""
        noise = self.result if row < 0 else self.rows.get(row)
        return None if noise is None else noise.decibels

    def add(self, exact: Observation, other: Observation) -> None:
        """Add one run. Values are compared in the order in which they were computed; where a branch went
        another way, up to there.
        """
        for row, values in exact.rows.items():
            for wanted, value in zip(values, other.rows.get(row, ()), strict=False):
                if wanted.shape == value.shape:
                    self.rows.setdefault(row, Noise()).add(wanted, value)
        for wanted, value in zip(exact.result, other.result, strict=False):
            if wanted.shape == value.shape:
                self.result.add(wanted, value)
        pairs = zip(exact.result, other.result, strict=False)
        self.same += all(a.shape == b.shape and (not a.size or a.argmax() == b.argmax()) for a, b in pairs)


class Observation:
    """The values that one run computed: those of the rows, in order, and the tensors of the result."""

    def __init__(self) -> None:
        self.rows: dict[int, list[Array]] = {}
        self.result: list[Array] = []
        self.flops = 0

    @property
    def work(self) -> int:
        """How long the run takes, in elements that are computed: a fixed cost for each value, and the
        floating-point operations.
        """
        values = [value for values in self.rows.values() for value in values]
        elements = sum(value.size for value in values)
        return elements + VALUE_ELEMENTS * len(values) + self.flops // FLOPS_PER_ELEMENT


class Measured:
    """A program whose rows are observed: `run(inputs)` returns what they computed. `row(expr)` is the row
    from which an expression came.
    """

    def __init__(self, module: IRModule, row: Callable[[Expr], int]) -> None:
        self.module = module
        self._places = _places(module, row)
        self._flops: dict[Expr, int] = {
            node: call_cost(node).flops for node in self._places if isinstance(node, Call)
        }

    @property
    def size(self) -> int:
        """How long it takes to make another such program, in elements that are computed."""
        return CALL_ELEMENTS * max(0, len(self._places) - FEW_CALLS)

    def run(self, inputs: Inputs) -> Observation:
        observed = Observation()

        def receive(node: Expr, value: Array) -> None:
            row = self._places.get(node)
            if row is not None:
                observed.rows.setdefault(row, []).append(value)
                observed.flops += self._flops[node]

        main = self.module["main"]
        assert isinstance(main, Function)
        result = run_observed(self.module, arguments(main, inputs), receive)
        observed.result = _tensors(result)
        return observed


def _places(module: IRModule, row: Callable[[Expr], int]) -> dict[Expr, int]:
    """Return the expression that computes each row's value: where it is quantized, the first quantization of
    it, because later lines read that; else the last call that came from the row.
    """
    computed: dict[int, Expr] = {}
    quantized: dict[int, Expr] = {}
    for function in module.functions.values():
        for node in post_order(function):
            if not isinstance(node, Call) or not isinstance(node.op, Op):
                continue
            type_ = node._checked_type
            if not isinstance(type_, TensorType) or not type_.dtype.startswith("float"):
                continue
            number = row(node)
            if number < 0:
                continue
            if node.op.name != SIMULATE:
                computed[number] = node
            elif not isinstance(node.args[0], Constant):
                quantized.setdefault(number, node)
    return {node: number for number, node in (computed | quantized).items()}


def _tensors(value: object) -> list[Array]:
    """Return the floating-point tensors of a result, in order."""
    if hasattr(value, "numpy"):
        array = value.numpy()
        return [array] if array.dtype.kind == "f" else []
    parts = value if isinstance(value, (tuple, list)) else getattr(value, "fields", ())
    return [tensor for part in parts for tensor in _tensors(part)]
