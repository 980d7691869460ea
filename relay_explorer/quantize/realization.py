"""The third phase: replace simulated quantization by integer arithmetic."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..ir.annotate import set_origin
from ..ir.errors import RelayError
from ..ir.expr import Call, Expr, Function, Tuple, TupleGetItem
from ..ir.module import IRModule
from ..ir.rewrites import emit_rewrite
from ..ir.types import TupleType
from ..ir.walk import children
from ..ops.numeric import Array
from .annotation import SIMULATE, Kept
from .answers import asking
from .forward import Fields, Temporary, Value, flattened, rewrite_forward
from .quantized import Quantized
from .scheme import Scheme, Site


class Requantization(NamedTuple):
    """A value that was already integers when it reached a site: its scales before and after, and whether the
    two are the same, so that no arithmetic was needed.
    """

    site: int
    before: Array
    after: Array
    cancelled: bool


class Realizing:
    """One run of the phase over a module."""

    def __init__(self, scheme: Scheme, sites: Sequence[Site], left: Collection[Expr] = ()) -> None:
        self.scheme = scheme
        self.left = left
        self.sites = {site.index: site for site in sites}
        self.requantizations: list[Requantization] = []
        self.integers: dict[int, Expr] = {}  # by site
        self.float_calls: list[Kept] = []  # of the calibrated program, with quantized operands
        self.function = ""

    def module(self, mod: IRModule) -> IRModule:
        """Realize every function of a typed module."""
        new = mod.copy()
        for var, function in mod.functions.items():
            if isinstance(function, Function) and not {"Compiler", "Primitive"} & set(function.attrs or ()):
                self.function = var.name_hint
                new[var] = rewrite_forward(function, self.call)
        return new

    def call(self, call: Call, operands: Sequence[Value]) -> Value | None:
        """Replace a call by integer arithmetic; None where none of its operands is quantized."""
        if getattr(call.op, "name", "") == SIMULATE:
            return self.simulated(call, operands[0])
        flat = flattened(call.args, operands)
        if call in self.left or not any(isinstance(value, Quantized) for _, value in flat):
            return None
        values = [_accepted(value) for _, value in flat]
        with asking(self.scheme, "realize", self.about(call), call.span):
            result = self.scheme.realize(call, values)
        if result is None:
            self.float_calls.append(Kept(call, self.function, _why_float(call, values)))
            return None
        return self.built(call, result)

    def simulated(self, call: Call, value: Value) -> Value:
        """Quantize a float, or requantize integers."""
        assert call.attrs is not None
        site = self.sites.get(call.attrs["site"])
        if site is None:
            raise RelayError(
                "this `simulated_quantize` is not in `sites`, so its quantizer is unknown",
                call.span,
                help=["realize the module that was annotated and calibrated, with its sites"],
            )
        if site.parameters is None:
            return value
        if isinstance(value, Quantized):
            with asking(self.scheme, "requantize", str(site), call.span):
                result = self.integers_of("requantize", self.scheme.requantize(value, site), site)
            cancelled = result.expr is value.expr
            self.requantizations.append(Requantization(site.index, value.scale, result.scale, cancelled))
        else:
            data = value.realize() if isinstance(value, Temporary) else value
            with asking(self.scheme, "quantize", str(site), call.span):
                result = self.integers_of("quantize", self.scheme.quantize(data, site), site)
        self.built(call, result)
        self.integers[site.index] = result.expr
        return result

    def integers_of(self, method: str, answer: object, site: Site) -> Quantized:
        """Return a scheme's conversion of a value to integers, if it is one."""
        if not isinstance(answer, Quantized):
            raise RelayError(
                f"`{method}` of the scheme {self.scheme.name} returned {answer!r:.60} for {site}",
                site.expr.span,
                help=["return integers: Quantized(self, expr, dtype, scale, zero_point)"],
            )
        return answer

    def about(self, call: Call) -> str:
        """Name a call for a message."""
        return f"`{getattr(call.op, 'name', '?')}` in @{self.function}"

    def built(self, call: Call, result: object) -> Value:
        """Check a scheme's answer, and record where it came from."""
        if isinstance(result, (list, tuple)) and isinstance(call.checked_type, TupleType):
            return Fields([self.built(call, part) for part in result], call)
        if not isinstance(result, (Quantized, Expr)):
            raise RelayError(
                f"`realize` of the scheme {self.scheme.name} returned {result!r:.60} for "
                f"`{getattr(call.op, 'name', '?')}`",
                call.span,
                help=["return a Quantized value, an expression, or None"],
            )
        expr = result.expr if isinstance(result, Quantized) else result
        mark(expr, call)
        emit_rewrite(self.scheme.realize, call, expr, call)
        return result


def mark(expr: Expr, origin: Expr) -> None:
    """Set the origin of the expressions that a rule has just built, which have neither origin nor type."""
    pending = [expr]
    while pending:
        node = pending.pop()
        new = isinstance(node, (Call, Tuple, TupleGetItem)) and node._checked_type is None and not node.origin
        if new:
            set_origin(node, (origin,))
            pending += children(node)


def _why_float(call: Call, values: Sequence[Quantized | Expr]) -> str:
    """Say why a call with quantized operands stays in float."""
    if all(isinstance(value, Quantized) for value in values):
        return f"the scheme has no integer form of `{getattr(call.op, 'name', '?')}` for these operands"
    return "only some of its operands are quantized"


def _accepted(value: Value) -> Quantized | Expr:
    """Return an operand for a scheme's rule."""
    if isinstance(value, (Quantized, Expr)):
        return value
    return value.realize()


def realize_module(
    mod: IRModule, scheme: Scheme, sites: Sequence[Site], left: Collection[Expr] = ()
) -> tuple[IRModule, list[Site], Realizing]:
    """Replace the simulated quantization of a calibrated, typed module by integer arithmetic.

    `left` are calls that stay in float, although their operands may be integers. Returns the module, not yet
    typed, the sites with their integers, and the run.
    """
    from dataclasses import replace

    run = Realizing(scheme, sites, left)
    new = run.module(mod)
    return new, [replace(site, realized=run.integers.get(site.index)) for site in sites], run
