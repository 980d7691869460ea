"""The first phase: insert `simulated_quantize` where a scheme quantizes a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextvars import ContextVar
from typing import NamedTuple

from ..ir.annotate import set_origin
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, const
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.rewrites import emit_rewrite
from ..ir.show import counted
from ..ir.types import TensorType
from ..ir.walk import post_order
from ..ops.simulated_quantize import simulated_quantize
from ..typing import infer_types
from .forward import Temporary, Value, flattened, rebuilt, rewrite_forward
from .integers import is_product
from .quantizer import Quantizer, Role
from .scheme import Annotation, Candidate, Keep, Operand, Scheme, Site, Use

SIMULATE = "relay.op.annotation.simulated_quantize"


class Annotated(Temporary):
    """An expression of the annotated program, the role of its value, and the call of the float program that
    computes it.
    """

    __slots__ = ("expr", "kind", "source")

    def __init__(self, expr: Expr, kind: int, source: Call | None = None) -> None:
        self.expr = expr
        self.kind = Role(kind)
        self.source = source

    def realize(self) -> Expr:
        return self.expr

    def over(self, expr: Expr) -> Annotated:
        return Annotated(expr, self.kind, self.source)


class Kept(NamedTuple):
    """A call of the float program that stays in float, and why."""

    call: Call
    function: str
    why: str


_CURRENT: ContextVar[Annotating | None] = ContextVar("annotating", default=None)


def current() -> Annotating | None:
    """Return the run of the phase that is in progress, for rules that are plain functions."""
    return _CURRENT.get()


class Annotating:
    """One run of the phase over a module."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self.sites: list[Site] = []
        self.layers: dict[Call, int] = {}  # the products of the program, numbered
        self.kept: list[Kept] = []
        self.stopped = ""  # why all later calls stay in float
        self.function = ""
        self.asked: Call | None = None  # the call that the scheme is asked about
        self.ordinal = 0  # of the call that the scheme is asked about
        self._ordinals: Counter[str] = Counter()
        self._attached: dict[tuple[Expr, Quantizer], Call] = {}

    def module(self, mod: IRModule) -> IRModule:
        """Annotate every function of a typed module; those of other compilers and kernels stay."""
        new = mod.copy()
        for function in mod.functions.values():
            for node in post_order(function):
                if isinstance(node, Call) and isinstance(node.op, Op) and is_product(node.op):
                    self.layers[node] = len(self.layers)
        token = _CURRENT.set(self)
        try:
            for var, function in mod.functions.items():
                if isinstance(function, Function) and not {"Compiler", "Primitive"} & set(
                    function.attrs or ()
                ):
                    self.function = var.name_hint
                    new[var] = rewrite_forward(function, self.call, self.shared)
        finally:
            _CURRENT.reset(token)
        return new

    def call(self, call: Call, operands: Sequence[Value]) -> Value | None:
        """Ask the scheme about a call, and do as it says."""
        assert isinstance(call.op, Op)
        self.asked = call
        self.ordinal = ordinal = self._ordinals[call.op.name]
        self._ordinals[call.op.name] += 1
        flat = flattened(call.args, operands)
        candidate = Candidate(call, [_operand(*pair) for pair in flat], ordinal, self)
        answer = self.scheme.annotate(candidate)
        if answer is None or isinstance(answer, Keep):
            why = answer.why if answer is not None else f"the scheme has no rule for `{call.op.name}`"
            self.kept.append(Kept(call, self.function, why))
            return None
        if isinstance(answer, Annotated):
            return Annotated(answer.expr, answer.kind, answer.source or call)
        if isinstance(answer, (Expr, Temporary)):
            return answer
        if not isinstance(answer, Annotation):
            raise RelayError(
                f"`annotate` of the scheme {self.scheme.name} returned {answer!r:.80} for `{call.op.name}`",
                call.span,
                help=["return an Annotation, Keep(why) or None"],
            )
        return self.annotated(candidate, answer)

    def annotated(self, candidate: Candidate, answer: Annotation) -> Value:
        """Build the call on operands that are simulated as the scheme has chosen."""
        call, operands = candidate.call, candidate.operands
        if len(answer.operands) != len(operands):
            raise RelayError(
                f"`annotate` of the scheme {self.scheme.name} returned "
                f"{counted(len(answer.operands), 'quantizer')} for {counted(len(operands), 'operand')} of "
                f"`{candidate.op.name}`",
                call.span,
                help=["return one per operand, None to leave an operand unchanged"],
            )
        new = [
            operand.expr if how is None else self.attach(operand, how, candidate, place, answer.why)
            for place, (operand, how) in enumerate(zip(operands, answer.operands))
        ]
        result: Expr = rebuilt(call, new)
        emit_rewrite(self.scheme.annotate, call, result, call, sentence=answer.why)
        if isinstance(answer.result, Quantizer):
            value = Operand(result, call, None)
            result = self.attach(value, answer.result, candidate, None, answer.why)
            return Annotated(result, answer.result.role, call)
        return result if answer.result is None else Annotated(result, answer.result, call)

    def shared(self, value: Value) -> Value:
        """Quantize an annotated value that is used more than once, if the scheme wants that."""
        if not isinstance(value, Annotated) or value.source is None:
            return value
        operand = Operand(value.expr, value.source, value.kind)
        how = self.scheme.shared(operand)
        if how is None:
            return value
        candidate = Candidate(value.source, [], 0, self)
        expr = self.attach(
            operand, how, candidate, None, "several calls read it, so it is quantized once for all of them"
        )
        return Annotated(expr, how.role, value.source)

    def attached(self, expr: Expr, how: Quantizer, why: str) -> Call:
        """Simulate the quantization of an expression of the annotated program, for rules that build calls
        themselves.
        """
        original = expr
        while original._checked_type is None and original.origin:
            original = original.origin[0]
        assert self.asked is not None
        candidate = Candidate(self.asked, [], self.ordinal, self)
        place = next((k for k, argument in enumerate(self.asked.args) if argument is original), None)
        return self.attach(Operand(expr, original, None), how, candidate, place, why)

    def attach(
        self, operand: Operand, how: Quantizer, candidate: Candidate, place: int | None, why: str
    ) -> Call:
        """Simulate the quantization of a value. A value that several calls use has one site for each
        quantizer.
        """
        expr, use = operand.expr, Use(candidate.call, place)
        if isinstance(expr, Call) and getattr(expr.op, "name", "") == SIMULATE:
            assert expr.attrs is not None
            if self.sites[expr.attrs["site"]].quantizer == how:
                return self.used_again(expr, use)
        key = (expr, how)
        if key in self._attached:
            return self.used_again(self._attached[key], use)
        _check(how, operand, candidate)
        index = len(self.sites)
        zero = const(0.0, "float32")
        call = simulated_quantize(expr, zero, zero, zero, int(how.role), how.signed, "round", index)
        set_origin(call, (operand.original,))
        self.sites.append(Site(index, self.function, operand.original, (use,), how, why, simulated=call))
        self._attached[key] = call
        return call

    def used_again(self, call: Call, use: Use) -> Call:
        """Note another use of a site."""
        from dataclasses import replace

        assert call.attrs is not None
        site = self.sites[call.attrs["site"]]
        self.sites[site.index] = replace(site, uses=(*site.uses, use))
        return call


def _operand(argument: Expr, value: Value) -> Operand:
    if isinstance(value, Annotated):
        return Operand(value.expr, argument, value.kind)
    return Operand(value.realize() if isinstance(value, Temporary) else value, argument, None)


def _check(how: Quantizer, operand: Operand, candidate: Candidate) -> None:
    """Raise a RelayError where a quantizer does not fit a value."""
    type_ = operand.original.checked_type
    name = candidate.op.name
    if not isinstance(type_, TensorType) or not type_.dtype.startswith("float"):
        raise RelayError(
            f"a value of type {type_} cannot be quantized for `{name}`",
            candidate.call.span,
            help=["let `annotate` return Keep(why) for calls whose operands are not floating-point tensors"],
        )
    rank = len(type_.shape)
    if how.axis is not None and not -rank <= how.axis < rank:
        raise RelayError(
            f"the quantizer of an operand of `{name}` has scales along axis {how.axis}, but the value "
            f"{type_} has {rank} axes",
            candidate.call.span,
        )
    if how.group is not None and not rank:
        raise RelayError(
            f"an operand of `{name}` is a scalar, which cannot be split into groups", candidate.call.span
        )
    if how.role is Role.WEIGHT and not isinstance(operand.original, Constant):
        raise RelayError(
            f"an operand of `{name}` has the role of a weight, but it is not a constant",
            candidate.call.span,
            help=["bind the parameters: quantize(mod, params)", "or give it the role Role.INPUT"],
        )


def annotate_module(mod: IRModule, scheme: Scheme) -> tuple[IRModule, Annotating]:
    """Insert simulated quantization into a typed module. Returns it, typed, and the run, with its sites.

    Nothing is calibrated yet, so the annotated program computes what the float program computes.
    """
    run = Annotating(scheme)
    return infer_types(run.module(mod)), run
