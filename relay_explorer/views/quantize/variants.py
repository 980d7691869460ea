"""What if: other bits, ranges, scales, methods, and the layers that the scheme skips. Each variant
runs the real phases annotate and calibrate, and is compared with the float program in simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.types import TensorType
from ...ir.walk import post_order
from ...quantize import Quantization, Quantizer, Role, Site
from ...quantize.annotation import annotate_module
from ...quantize.calibration import calibrated, observed
from ...quantize.observation import Inputs
from ...quantize.quantizer import Parameters
from ...quantize.scheme import Observed, Scheme
from ...quantize.statistics import Statistics, of_values
from .changes import LARGEST, METHODS, Change, Changed
from .format import Axis, RowError, Variant, VariantSite
from .measure import Errors, Measured, Observation
from .sites import kept

MAX_WORK = 100_000_000  # elements that all variants together compute; beyond, fewer of them are tried
MAX_VARIANTS = 160
LEFT, QUANTIZED = "left in float", "quantized"


class Annotated(NamedTuple):
    """An annotated program, its sites, and what calibration saw at them."""

    module: IRModule
    sites: Sequence[Site]
    statistics: dict[int, Statistics]


class Simulation(NamedTuple):
    """A quantized program in simulation: its sites, and the program whose rows are observed."""

    sites: Sequence[Site]
    program: Measured


class WhatIf:
    """The variants of a quantization. `row(expr)` is the row from which an expression of any phase came,
    and `layers` are those of the layers; `left` are those of them that the scheme leaves in float. `target`
    is the row whose error tells how good a variant is, -1 for the program's result.
    """

    def __init__(
        self,
        quantization: Quantization,
        dataset: Sequence[Inputs],
        row: Callable[[Expr], int],
        layers: Sequence[int],
        left: Sequence[int],
        target: int,
    ) -> None:
        self.quantization, self.dataset, self.row = quantization, dataset, row
        self.layers, self.left, self.target = tuple(layers), tuple(left), target
        ends = dict.fromkeys((*self.layers[:1], *self.layers[-1:]))
        self.other = self.left or tuple(ends)  # about which the last question is
        self.float_bytes = constant_bytes(quantization.float_program)
        self.axes, self._changes, self.asked = self._questions()
        self._has_last = bool(self.axes) and LEFT in self.axes[-1].options
        own = {site.index: site.statistics for site in quantization.sites if site.statistics is not None}
        self._annotated: dict[frozenset[int], Annotated] = {
            frozenset(): Annotated(quantization.annotated, quantization.sites, own)
        }
        self._known: dict[tuple[object, ...], Parameters] = {}
        self._constants: dict[tuple[int, object], Statistics] = {}

    # -- the questions

    def _questions(self) -> tuple[tuple[Axis, ...], tuple[tuple[object, ...], ...], tuple[int, ...]]:
        """Return the axes, the value of each option (None: as the scheme has it), and the scheme's choice."""
        inputs = [site for site in self.quantization.sites if site.quantizer.role is Role.INPUT]
        weights = [site for site in self.quantization.sites if site.quantizer.role is Role.WEIGHT]
        first = (inputs or weights)[0] if inputs or weights else None
        axes: list[Axis] = []
        values: list[tuple[object, ...]] = []
        asked: list[int] = []

        def ask(name: str, options: dict[str, object], own: str) -> None:
            """Add a question whose option `own` is the scheme's."""
            names = list(options)
            if own not in options:
                names.insert(0, own)
            axes.append(Axis(name, tuple(names)))
            values.append(tuple(None if option == own else options[option] for option in names))
            asked.append(names.index(own))

        if first is None:
            return (), (), ()
        bits = sorted({site.quantizer.bits for site in (*inputs, *weights)})
        mixed = " and ".join(map(str, bits))
        ask("bits", {"4": 4, "8": 8, "16": 16}, mixed)
        if inputs:
            symmetric = "symmetric" if inputs[0].quantizer.symmetric else "asymmetric"
            ask("symmetry of activations", {"symmetric": True, "asymmetric": False}, symmetric)
        if weights:
            how = weights[0].quantizer
            own = "per channel" if how.axis is not None else "per tensor"
            if how.group is not None:
                own = f"in groups of {how.group}"
            ask("scales of weights", {"per tensor": False, "per channel": True}, own)
        if inputs:
            methods = {name: name for name in (LARGEST, *METHODS)}
            parameters = inputs[0].parameters
            own = parameters.method if parameters is not None else "not calibrated"
            own = {"max": LARGEST, "min and max": LARGEST}.get(own, own)
            ask("calibration of activations", dict(methods), own)
        if self.left and self.can_quantize:
            ask("layers that the scheme skips", {LEFT: False, QUANTIZED: True}, LEFT)
        elif not self.left and len(self.layers) > 1:
            ask("first and last layer", {QUANTIZED: False, LEFT: True}, QUANTIZED)
        return tuple(axes), tuple(values), tuple(asked)

    def choices(self, work: int) -> list[tuple[int, ...]]:
        """Return the combinations that are tried, where one takes `work`: all, if there is time for them,
        else those that differ from the scheme in one answer, or none; the scheme's own first.
        """
        every = list(itertools.product(*(range(len(axis.options)) for axis in self.axes)))
        if len(every) > MAX_VARIANTS or work * len(every) > MAX_WORK:
            every = [c for c in every if sum(a != b for a, b in zip(c, self.asked, strict=True)) <= 1]
        if work * len(every) > MAX_WORK:
            every = [self.asked] if self.axes else []
        return sorted(every, key=lambda choice: choice != self.asked)

    def change(self, choice: Sequence[int]) -> tuple[Change, bool]:
        """Return the change of a combination, and whether it decides the other way about the layers
        of the last question.
        """
        fields = {
            "bits": "bits", "symmetry of activations": "symmetric", "scales of weights": "per_channel",
            "calibration of activations": "method",
        }  # fmt: skip
        chosen = {
            fields[axis.name]: values[option]
            for axis, values, option in zip(self.axes, self._changes, choice, strict=True)
            if axis.name in fields
        }
        return Change(**chosen), self._has_last and choice[-1] != self.asked[-1]  # type: ignore[arg-type]  # the values are those of the options

    # -- the answers

    def simulate(self, change: Change, other: Sequence[int] = ()) -> Simulation:
        """Annotate and calibrate the program with a change. Raise a RelayError where a phase refuses it."""
        from dataclasses import replace

        start = self._annotate(frozenset(other))
        sites = [replace(site, quantizer=change.quantizer(site)) for site in start.sites]
        statistics = {
            site.index: self._statistics(site, start.statistics[site.index])
            for site in sites
            if site.index in start.statistics
        }
        scheme = Changed(self.quantization.scheme, change)
        module, done = calibrated(start.module, _Remembering(scheme, self._known), sites, statistics)
        return Simulation(done, Measured(module, self.row))

    def _annotate(self, other: frozenset[int]) -> Annotated:
        """Annotate the program, deciding about some rows the other way."""
        if other not in self._annotated:
            data = self._quantizer(Role.INPUT)
            weight = self._quantizer(Role.WEIGHT)
            scheme = Changed(self.quantization.scheme, Change(), other, self.row, data, weight)
            module, run = annotate_module(self.quantization.float_program, scheme)
            statistics = observed(module, scheme, run.sites, self.dataset, True)
            self._annotated[other] = Annotated(module, run.sites, statistics)
        return self._annotated[other]

    @property
    def can_quantize(self) -> bool:
        """Whether the scheme has quantizers for the operands of a layer that it leaves in float."""
        return None not in (self._quantizer(Role.INPUT), self._quantizer(Role.WEIGHT))

    def _quantizer(self, role: Role) -> Quantizer | None:
        return next((site.quantizer for site in self.quantization.sites if site.quantizer.role is role), None)

    def _statistics(self, site: Site, seen: Statistics) -> Statistics:
        """Return the statistics of a site; of a constant, with the ranges that its quantizer needs."""
        from dataclasses import replace

        if not isinstance(site.expr, Constant):
            return seen
        key = (id(site.expr), (site.quantizer.axis, site.quantizer.group))
        if key not in self._constants:
            values = site.expr.data.numpy()
            self._constants[key] = replace(of_values([values], site.quantizer), values=values)
        return self._constants[key]

    def decided_otherwise(
        self, row: int, exact: Sequence[Observation], inputs: Sequence[Inputs]
    ) -> float | None:
        """Return the ratio of the target if the scheme had decided about a layer the other way."""
        simulation = self.simulate(Change(), (row,))
        errors = Errors()
        for wanted, each in zip(exact, inputs, strict=True):
            errors.add(wanted, simulation.program.run(each))
        return errors.at(self.target)


class _Remembering(Scheme):
    """A scheme whose calibrations are remembered, because some methods take long. They depend on nothing but
    the statistics and the quantizer, unless a scheme calibrates by a method of its own.
    """

    def __init__(self, scheme: Changed, known: dict[tuple[object, ...], Parameters]) -> None:
        self.scheme, self.known = scheme, known
        own = type(scheme.base).calibrate is not Scheme.calibrate
        self._key: object = scheme.change if own else scheme.change.method

    def calibrate(self, site: Site, observed: Observed) -> Parameters:
        key = (id(observed.statistics), site.quantizer, self._key)
        if key not in self.known:
            self.known[key] = self.scheme.calibrate(site, observed)
        return self.known[key]

    def needs_data(self, quantizer: Quantizer) -> bool:
        return self.scheme.needs_data(quantizer)


def answered(
    whatif: WhatIf, exact: Sequence[Observation], inputs: Sequence[Inputs], choices: Sequence[tuple[int, ...]]
) -> list[Variant]:
    """Compute the answers of some combinations, each on the same inputs."""
    variants = []
    for choice in choices:
        change, otherwise = whatif.change(choice)
        try:
            simulation = whatif.simulate(change, whatif.other if otherwise else ())
        except RelayError as error:
            variants.append(Variant(choice, None, 0, 0, error.message, (), ()))
            continue
        errors = Errors()
        for wanted, each in zip(exact, inputs, strict=True):
            errors.add(wanted, simulation.program.run(each))
        variants.append(variant(choice, simulation.sites, errors, whatif))
    return variants


def variant(choice: tuple[int, ...], sites: Sequence[Site], errors: Errors, whatif: WhatIf) -> Variant:
    """Return a variant's data."""
    rows = [
        RowError(row, noise.decibels)
        for row, noise in sorted(errors.rows.items())
        if noise.decibels is not None
    ]
    places = {_place(whatif, site): number for number, site in enumerate(whatif.quantization.sites)}
    ranges = []
    for site in sites:
        number = places.get(_place(whatif, site))
        if number is not None and site.parameters is not None:
            ranges.append(VariantSite(number, site.quantizer.bits, *kept(site.quantizer, site.parameters)))
    return Variant(
        choice,
        errors.at(whatif.target),
        errors.same,
        stored_bytes(whatif.float_bytes, sites),
        "",
        tuple(rows),
        tuple(ranges),
    )


def _place(whatif: WhatIf, site: Site) -> tuple[object, ...]:
    """Return what tells a site apart in all variants: its value, and the operand or result that it is."""
    return whatif.row(site.expr), whatif.row(site.call), site.operand, isinstance(site.expr, Constant)


def constant_bytes(module: IRModule) -> int:
    """Return the bytes of a program's constants."""
    constants = {
        node: node.data.numpy().nbytes
        for function in module.functions.values()
        for node in post_order(function)
        if isinstance(node, Constant)
    }
    return sum(constants.values())


def float_types(module: IRModule) -> list[str]:
    """Return the floating-point element types of the results of a program's calls, in order of appearance."""
    dtypes: dict[str, None] = {}
    for function in module.functions.values():
        for node in post_order(function):
            type_ = node.checked_type if isinstance(node, Call) and isinstance(node.op, Op) else None
            if isinstance(type_, TensorType) and type_.dtype.startswith(("float", "bfloat")):
                dtypes.setdefault(type_.dtype)
    return list(dtypes)


def stored_bytes(float_bytes: int, sites: Sequence[Site]) -> int:
    """Return the bytes of the constants once those of the sites are integers, tightly packed, with their
    scales; in the float program, all constants take `float_bytes`.
    """
    total = float_bytes
    seen: set[Expr] = set()
    for site in sites:
        if isinstance(site.expr, Constant) and site.parameters is not None and site.expr not in seen:
            seen.add(site.expr)
            array = site.expr.data.numpy()
            bits = array.size * site.quantizer.bits
            total += -(-bits // 8) + 4 * int(site.parameters.scale.size) - array.nbytes
    return max(total, 0)
