"""The first phase: insert `simulated_quantize` where a scheme quantizes a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextvars import ContextVar
from typing import NamedTuple

from ..ir.annotate import set_origin
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, TupleGetItem, const
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.rewrites import emit_rewrite
from ..ir.show import counted
from ..ir.types import TensorType, TupleType
from ..ir.walk import post_order
from ..ops.simulated_quantize import simulated_quantize
from ..transform.fake_quantization.tables import is_elementwise
from ..typing import infer_types
from .answers import asking
from .forward import Fields, Temporary, Value, flattened, rebuilt, rewrite_forward
from .integers import is_product
from .quantizer import Quantizer, Role
from .scheme import Annotation, Candidate, Keep, Operand, Scheme, Site, Use
from .tables import is_number

SIMULATE = "relay.op.annotation.simulated_quantize"


class Annotated(Temporary):
    """An expression of the annotated program, the role of its value, and the call of the float program that
    computes it. `argument` is the value of few bits of which it is an element-wise function, itself for one
    of few bits.
    """

    __slots__ = ("argument", "expr", "kind", "source")

    def __init__(
        self, expr: Expr, kind: int, source: Call | None = None, argument: Expr | None = None
    ) -> None:
        self.expr = expr
        self.kind = Role(kind)
        self.source = source
        self.argument = argument

    def realize(self) -> Expr:
        return self.expr

    def over(self, expr: Expr) -> Annotated:
        argument = expr if self.argument is self.expr else self.argument
        return Annotated(expr, self.kind, self.source, argument)


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
        self.left: set[Call] = set()  # the calls that the scheme has told to leave in float
        self.stopped = ""  # why all later calls stay in float
        self.function = ""
        self.asked: Call | None = None  # the call that the scheme is asked about
        self.ordinal = 0  # of the call that the scheme is asked about
        self._ordinals: Counter[str] = Counter()
        self._users: dict[Expr, list[Call]] = {}
        self._attached: dict[tuple[Expr, Quantizer], Call] = {}

    def module(self, mod: IRModule) -> IRModule:
        """Annotate every function of a typed module; those of other compilers and kernels stay."""
        new = mod.copy()
        for function in mod.functions.values():
            for node in post_order(function):
                if isinstance(node, Call) and isinstance(node.op, Op):
                    if is_product(node.op):
                        self.layers[node] = len(self.layers)
                    for argument, _ in flattened(node.args, node.args):
                        source = argument.tuple_value if isinstance(argument, TupleGetItem) else argument
                        self._users.setdefault(source, []).append(node)
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

    def users(self, expr: Expr) -> Sequence[Call]:
        """Return the calls of operators that read a value of the float program, or a field of it."""
        return self._users.get(expr, ())

    def call(self, call: Call, operands: Sequence[Value]) -> Value | None:
        """Ask the scheme about a call, and do as it says."""
        assert isinstance(call.op, Op)
        self.asked = call
        self.ordinal = ordinal = self._ordinals[call.op.name]
        self._ordinals[call.op.name] += 1
        flat = flattened(call.args, operands)
        candidate = Candidate(call, [_operand(*pair) for pair in flat], ordinal, self)
        with asking(self.scheme, "annotate", f"`{call.op.name}` in @{self.function}", call.span):
            answer = self.scheme.annotate(candidate)
        if answer is None or isinstance(answer, Keep):
            why = answer.why if answer is not None else f"the scheme has no rule for `{call.op.name}`"
            if not isinstance(why, str):
                raise RelayError(
                    f"`annotate` of the scheme {self.scheme.name} returned {answer!r:.80} for "
                    f"`{call.op.name}`",
                    call.span,
                    help=['give the reason as a sentence: Keep("the first layer stays in float")'],
                )
            self.kept.append(Kept(call, self.function, why))
            if answer is not None and not answer.forwards:
                self.left.add(call)
            return None
        if isinstance(answer, Annotated):
            return Annotated(answer.expr, answer.kind, answer.source or call, answer.argument)
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
        self.check(candidate, answer)
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
            return Annotated(result, answer.result.role, call, _itself(result, answer.result.role))
        if answer.result is None:
            return result
        argument = _argument(candidate, answer, new) or _itself(result, answer.result)
        if isinstance(call.checked_type, TensorType):
            return Annotated(result, answer.result, call, argument)
        assert isinstance(call.checked_type, TupleType)
        parts = [set_origin(TupleGetItem(result, k), (call,)) for k in range(len(call.checked_type.fields))]
        return Fields(
            [Annotated(part, answer.result, None, _itself(part, answer.result)) for part in parts], call
        )

    def check(self, candidate: Candidate, answer: Annotation) -> None:
        """Raise a RelayError for an annotation whose parts are of other types than they have to be."""
        where = f"`annotate` of the scheme {self.scheme.name}, for `{candidate.op.name}`"
        quantizers = answer.operands
        if not isinstance(quantizers, (list, tuple)):
            raise RelayError(
                f"{where}: the operands of an Annotation are a list of quantizers, not {quantizers!r:.60}",
                candidate.call.span,
                help=["write Annotation([data, weight]), with a quantizer or None for each operand"],
            )
        wrong = next((how for how in quantizers if how is not None and not isinstance(how, Quantizer)), None)
        if wrong is not None:
            raise RelayError(
                f"{where}: {wrong!r:.60} is not a quantizer",
                candidate.call.span,
                help=["an operand's quantizer is for example Quantizer(Role.INPUT, 8, calibrator=MaxAbs())"],
            )
        if answer.result is not None and not isinstance(answer.result, (Role, Quantizer)):
            raise RelayError(
                f"{where}: the result of an Annotation is a Role, a Quantizer or None, not "
                f"{answer.result!r:.60}",
                candidate.call.span,
            )

    def shared(self, value: Value) -> Value:
        """Quantize an annotated value that is used more than once, if the scheme wants that."""
        if not isinstance(value, Annotated) or value.source is None:
            return value
        operand = Operand(value.expr, value.source, value.kind)
        about = f"the result of `{getattr(value.source.op, 'name', '?')}` in @{self.function}"
        with asking(self.scheme, "shared", about, value.source.span):
            how = self.scheme.shared(operand)
            if how is not None and not isinstance(how, Quantizer):
                raise RelayError(
                    f"`shared` of the scheme {self.scheme.name} returned {how!r:.60} for {about}",
                    value.source.span,
                    help=["return a Quantizer or None"],
                )
        if how is None:
            return value
        candidate = Candidate(value.source, [], 0, self)
        expr = self.attach(
            operand, how, candidate, None, "several calls read it, so it is quantized once for all of them"
        )
        return Annotated(expr, how.role, value.source, _itself(expr, how.role))

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
        return Operand(value.expr, argument, value.kind, value.argument)
    return Operand(value.realize() if isinstance(value, Temporary) else value, argument, None)


def _itself(expr: Expr, role: Role) -> Expr | None:
    """Return a value of few bits, which is the simplest function of itself; None for others."""
    return expr if role is Role.INPUT else None


def _argument(candidate: Candidate, answer: Annotation, new: Sequence[Expr]) -> Expr | None:
    """Return the value of which an annotated call is an element-wise function; None where there is none."""
    arguments = [
        operand.argument if how is None else expr
        for operand, how, expr in zip(candidate.operands, answer.operands, new, strict=True)
        if not is_number(operand.original)
    ]
    one = is_elementwise(candidate.op) and arguments and all(arg is arguments[0] for arg in arguments)
    return arguments[0] if one else None


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
    if how.role is Role.IDENTITY:
        raise RelayError(
            f"the quantizer of an operand of `{name}` has the role of a value that is not quantized",
            candidate.call.span,
            help=["give it the role Role.INPUT or Role.WEIGHT", "or use None in place of the quantizer"],
        )
    rank = len(type_.shape)
    if how.axis is not None and not -rank <= how.axis < rank:
        raise RelayError(
            f"the quantizer of an operand of `{name}` has scales along axis {how.axis}, but the value "
            f"{type_} has {rank} axes",
            candidate.call.span,
            help=[f"its axes are 0 to {rank - 1}; negative numbers count from the last"] if rank else [],
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
    for name, function in mod.functions.items():
        for node in post_order(function):
            if isinstance(node, Call) and getattr(node.op, "name", "") == SIMULATE:
                raise RelayError(
                    f"@{name.name_hint} contains `simulated_quantize`: it has been annotated already",
                    node.span,
                    help=["quantize the float program: `trace` returns it as `float_program`"],
                )
    run = Annotating(scheme)
    annotated = run.module(mod)
    with asking(scheme, "annotate", "the calls that it changed"):
        return infer_types(annotated), run
