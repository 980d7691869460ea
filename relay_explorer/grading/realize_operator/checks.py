"""The checks of the exercise `realize_operator`: random operands, and the integers of the exact result."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, Tuple, Var
from ...ir.module import IRModule
from ...ir.narrow import as_function
from ...ir.op import Op, OpPattern
from ...ir.types import TensorType
from ...ir.walk import children, post_order
from ...quantize.integers import is_product
from ..budget import Outcome, limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import ADD, DENSE, LEAKY_RELU, Case, MisuseError, Parameters, build, expected, run, shown, steps
from .hints import hint

VIEW, CAPTION = "ir", "The program that your function built for the smallest failing operands"
TIE = 1e-3  # closer than this to the middle between two integers, both are accepted
_ADDITIONS = ("add", "subtract", "where", "maximum", "minimum")


def _judge(answer: Anything, case: Case) -> Failure | None:
    """Return how an answer fails on a case, or None."""
    right = expected(case)
    wanted = f"result = {shown(right)}, of int8"
    built = limited(CASE_SECONDS, build, case, answer)
    if built.error is not None:
        return _not_built(case, built, wanted)
    module: IRModule = built.value
    more: dict[str, Anything] = {
        "program": module,
        "view": VIEW,
        "caption": CAPTION,
        "printed": built.printed,
    }
    misused = _misused(case, module)
    if misused is not None:
        return Failure(str(case), wanted, *misused, **more)
    ran = limited(CASE_SECONDS, run, case, module)
    if ran.error is not None:
        return crashed(str(case), ran, wanted, **more)
    if _accepted(case, ran.value):
        return None
    return Failure(str(case), wanted, f"result = {shown(ran.value)}", hint(case, ran.value, right), **more)


def _not_built(case: Case, outcome: Outcome, wanted: str) -> Failure:
    error = outcome.error
    if isinstance(error, MisuseError):
        says = "Return the Relay expression of the integers, of int8. Does every path end in a `return`?"
        return Failure(str(case), wanted, str(error), says, printed=outcome.printed)
    if isinstance(error, RelayError):
        got = f"the expression cannot be typed: {error.message}"
        says = " ".join(error.help)
        if "element types differ" in error.message:
            says = (
                "Both operands of an arithmetic operator have the same element type: "
                '`relay.cast(x, "int32")` converts, and so does `relay.const(3, "int32")`.'
            )
        elif "(Tensor[" in error.message:
            says = "An operand is an `Integers` object, not an expression: its expression is `x.expr`."
        return Failure(str(case), wanted, got, says, printed=outcome.printed)
    return crashed(str(case), outcome, wanted)


def _misused(case: Case, module: IRModule) -> tuple[str, str] | None:
    """Return what a program does that the exercise does not allow, and a hint."""
    main = as_function(module["main"])
    type_ = main.body.checked_type
    shape = expected(case).shape
    if type_ != TensorType.of(shape, "int8"):
        return f"a result of the type {type_}", f"The result has the type {TensorType.of(shape, 'int8')}."
    unsummed = _unsummed(main)
    for call in post_order(main):
        if not isinstance(call, Call) or not isinstance(call.op, Op):
            continue
        name = call.op.name
        if name.startswith("qnn."):
            says = "This operator is what you are writing. Use the plain ones, such as `relay.nn.dense`."
            return f"a program with `{name}`", says
        if _sums_floats(call) or (case.op == DENSE and _multiplies_floats(call, unsummed)):
            says = (
                "The point is to add up products of integers, because a processor multiplies many of them "
                "at once. Subtract the zero points in int32 or expand the product, and convert to float32 "
                "only for the last factor."
            )
            return f"`{name}` of floating-point numbers", says
    return None


def _sums_floats(call: Call) -> bool:
    """Whether a call adds up floats along an axis, or their products."""
    return _reduces(call) and any(map(_is_float, call.args))


def _multiplies_floats(call: Call, unsummed: set[Expr]) -> bool:
    """Whether a call combines two floats that were converted before a sum, other than by adding them."""
    assert isinstance(call.op, Op)
    parts = [part for arg in call.args for part in (arg.fields if isinstance(arg, Tuple) else (arg,))]
    return call.op.name not in _ADDITIONS and sum(_is_float(p) and p in unsummed for p in parts) > 1


def _unsummed(main: Function) -> set[Expr]:
    """Return the expressions that depend on the operands other than through a sum."""
    dependent: set[Expr] = set()
    for node in post_order(main):
        if isinstance(node, Var) or (
            not _reduces(node) and any(part in dependent for part in children(node))
        ):
            dependent.add(node)
    return dependent


def _reduces(expr: Expr) -> bool:
    """Whether an expression adds up elements along an axis, or products of them."""
    if not isinstance(expr, Call) or not isinstance(expr.op, Op):
        return False
    return expr.op.pattern == OpPattern.COMM_REDUCE or is_product(expr.op)


def _is_float(expr: Expr) -> bool:
    type_ = expr.checked_type
    return isinstance(type_, TensorType) and type_.dtype.startswith(("float", "bfloat"))


def _accepted(case: Case, result: Anything) -> bool:
    """Whether each integer is the nearest to the exact result; near a tie, either is."""
    import numpy as np

    exact = np.clip(steps(case), -128, 127)
    return bool((np.abs(result.astype("float64") - exact) <= 0.5 + TIE).all())


# -- test cases

SCALES = (0.5, 0.25, 0.1, 0.02)
ZERO = Parameters(0.5, 0)


def _parameters(rng: random.Random, zero_point: bool = True) -> Parameters:
    return Parameters(rng.choice(SCALES), rng.choice((-128, -20, -3, 5, 100)) if zero_point else 0)


def _dense(rng: random.Random, zero_points: bool) -> Case:
    m, k, n = (rng.choice((1, 2, 3)) for _ in "mkn")
    x, weight = _parameters(rng, zero_points), _parameters(rng, zero_points)
    out = Parameters(x.scale * weight.scale * rng.choice((200.0, 450.0)) * k, rng.choice((0, -30, 11)))
    return Case(DENSE, ((m, k), (n, k)), (x, weight), out, seed=rng.randrange(10**6))


def _cases(rng: random.Random, count: int, draw: Callable[[random.Random], Case]) -> Iterator[Case]:
    yield from sorted((draw(rng) for _ in range(max(count // 3, 8))), key=_size)


def _size(case: Case) -> int:
    return sum(sum(shape) for shape in case.shapes)


def _products(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case(DENSE, ((1, 1), (1, 1)), (ZERO, ZERO), Parameters(64.0, 0))
    yield from _cases(rng, count, lambda r: _dense(r, False))


def _zero_points(rng: random.Random, count: int) -> Iterator[Case]:
    for pair in ((3, 0), (0, 3), (3, 5)):
        x, weight = (Parameters(0.5, zero) for zero in pair)
        yield Case(DENSE, ((1, 2), (1, 2)), (x, weight), Parameters(128.0, 0), seed=1)
    yield from _cases(rng, count, lambda r: _dense(r, True))


def _long(rng: random.Random, count: int) -> Iterator[Case]:
    def draw(rng: random.Random) -> Case:
        k = rng.choice((3, 40, 300))
        x, weight = _parameters(rng), _parameters(rng)
        out = Parameters(x.scale * weight.scale * 400.0 * k, 0)
        return Case(DENSE, ((1, k), (2, k)), (x, weight), out, extreme=True, seed=rng.randrange(10**6))

    yield Case(DENSE, ((1, 3), (1, 3)), (ZERO, ZERO), Parameters(128.0, 0), extreme=True, seed=1)
    yield from _cases(rng, count // 4, draw)


def _saturated(rng: random.Random, count: int) -> Iterator[Case]:
    def draw(rng: random.Random) -> Case:
        case = _dense(rng, True)
        return replace(case, out=Parameters(case.out.scale / 40, case.out.zero_point))

    yield Case(DENSE, ((1, 1), (1, 1)), (ZERO, ZERO), Parameters(1.0, 100), extreme=True)
    yield from _cases(rng, count, draw)


def _sum(rng: random.Random) -> Case:
    shape = tuple(rng.choice((1, 2, 3)) for _ in range(rng.choice((1, 2))))
    a, b = _parameters(rng), _parameters(rng)
    out = Parameters((a.scale + b.scale) * rng.choice((0.3, 0.7, 1.1)), rng.choice((0, -30, 11)))
    return Case(ADD, (shape, shape), (a, b), out, seed=rng.randrange(10**6))


def _sums(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case(ADD, ((1,), (1,)), (Parameters(0.5, 0), Parameters(0.25, 0)), Parameters(0.5, 0))
    yield Case(ADD, ((2,), (2,)), (Parameters(0.5, 3), Parameters(0.25, -7)), Parameters(0.6, 4))
    yield from _cases(rng, count, _sum)


def _slopes(rng: random.Random, count: int) -> Iterator[Case]:
    def draw(rng: random.Random) -> Case:
        x = _parameters(rng)
        out = Parameters(x.scale * rng.choice((0.4, 1.0, 1.3)), rng.choice((0, -30, 11)))
        alpha = rng.choice((0.1, 0.25, 0.3))
        shape = (rng.choice((1, 2, 4)),)
        return Case(LEAKY_RELU, (shape,), (x,), out, alpha, seed=rng.randrange(10**6))

    yield Case(LEAKY_RELU, ((4,),), (Parameters(0.5, 0),), Parameters(0.5, 0), 0.25)
    yield Case(LEAKY_RELU, ((4,),), (Parameters(0.5, 20),), Parameters(0.5, 20), 0.25, seed=2)
    yield from _cases(rng, count, draw)


def _smaller(case: Case) -> Iterator[Case]:
    """Yield simpler cases: smaller operands, and zero points of 0."""
    if case.op == DENSE:
        (m, k), (n, _) = case.shapes
        for rows, length, units in ((1, k, 1), (m, k // 2, n), (m, k - 1, n)):
            shapes = ((rows, length), (units, length))
            if length and shapes != case.shapes:
                yield replace(case, shapes=shapes)
    else:
        (shape, *_) = case.shapes
        for extent in (1, 2):
            if shape != (extent,) and _size(case) > extent * len(case.shapes):
                yield replace(case, shapes=((extent,),) * len(case.shapes))
    for index, own in enumerate(case.parameters):
        if own.zero_point:
            changed = [*case.parameters]
            changed[index] = Parameters(own.scale, 0)
            yield replace(case, parameters=tuple(changed))
    if case.out.zero_point:
        yield replace(case, out=Parameters(case.out.scale, 0))


def _property(name: str, says: str, cases: Callable[[random.Random, int], Iterable[Case]]) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        return Search(lambda case: _judge(answer, case), _smaller)(cases(rng, count))

    return Property(name, says, test)


EXERCISE = {
    DENSE: Exercise(
        "A dense layer in integers",
        "dense(x, weight, out)",
        (
            _property("products", "products and scales are right", _products),
            _property("zero_points", "so are zero points", _zero_points),
            _property("sums", "long sums of large products do not overflow", _long),
            _property("clipped", "results beyond the range are clipped", _saturated),
        ),
    ),
    ADD: Exercise(
        "An addition in integers",
        "add(a, b, out)",
        (_property("parameters", "operands with different parameters are added", _sums),),
    ),
    LEAKY_RELU: Exercise(
        "Leaky ReLU in integers",
        "leaky_relu(x, alpha, out)",
        (_property("slope", "negative numbers are multiplied by alpha", _slopes),),
    ),
}
