"""The checks of the exercise `operator_gradient`: each rule is applied by the real reverse mode, and
compared with difference quotients.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Function
from ...ir.module import IRModule
from ...ir.types import TensorType, Type
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from ..type_relation import MisuseError
from . import ARGUMENTS, Case, Watched, program
from .hints import explained, type_hint

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Anything, Anything]

VIEW, CAPTION = "gradient", "The smallest call for which the rule is wrong, and what the gradient adds"
STEP = 1e-5
_TENTHS = (*range(2, 10), *range(11, 20))
MAX_SHOWN = 24  # elements of a tensor that are printed

Cases = Callable[[random.Random, int], Iterable[Case]]


def numbers(case: Case, shapes: Iterable[tuple[int, ...]]) -> list[Array]:
    """Generate values with one decimal, none near zero or near 1 in size: the arguments of a case, then
    `dy`.
    """
    import numpy as np

    rng = random.Random(case.seed)
    result = []
    for shape in shapes:
        drawn = [rng.choice((-1, 1)) * rng.choice(_TENTHS) / 10 for _ in range(prod(shape))]
        result.append(np.array(drawn, case.dtype).reshape(shape))
    return result


def derivatives(case: Case, rule: Anything) -> tuple[list[Type], list[Array]]:
    """Differentiate a case in reverse mode with `rule`: return the types and the values of the derivatives
    with respect to the arguments.
    """
    from ...lower.executor import create_executor
    from ...transform.differentiation.gradient import gradient
    from ...typing import infer_types

    module = program(case, rule)
    new = infer_types(IRModule.from_expr(gradient(module["main"], mode="first_order")))
    main = new["main"]
    assert isinstance(main, Function)
    types = list(main.checked_type.ret_type.fields[1].fields[:-1])  # type: ignore[attr-defined]  # (loss, (by a, …, by dy))
    right = [TensorType.of(shape, case.dtype) for shape in case.shapes]
    if types != right:
        return types, []
    args = numbers(case, [p.checked_type.concrete_shape for p in main.params])  # type: ignore[attr-defined]  # tensors
    _, result = create_executor(mod=new).evaluate()(*args)
    return types, [by.numpy() for by in list(result)[:-1]]


def quotients(case: Case, ones: bool = False) -> list[Array]:
    """Compute the derivatives by difference quotients; with `ones`, as if the derivative that reaches the
    call were one.
    """
    import numpy as np

    from ...lower.executor import create_executor
    from ...typing import infer_types

    case = replace(case, dtype="float64")
    module = infer_types(program(case, None))
    run = create_executor(mod=module).evaluate()
    main = module["main"]
    *args, dy = numbers(case, [p.checked_type.concrete_shape for p in main.params])  # type: ignore[attr-defined]  # tensors
    dy = np.ones_like(dy) if ones else dy
    result = []
    for number, arg in enumerate(args):
        slopes = np.zeros(arg.size)
        for at in range(arg.size):
            ends = []
            for step in (STEP, -STEP):
                moved = arg.copy()
                moved.flat[at] += step
                ends.append(float(run(*args[:number], moved, *args[number + 1 :], dy).numpy()))
            slopes[at] = (ends[0] - ends[1]) / (2 * STEP)
        result.append(slopes.reshape(arg.shape))
    return result


def same(first: list[Array], second: list[Array]) -> bool:
    import numpy as np

    return len(first) == len(second) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-6)
        for a, b in zip(first, second, strict=True)
    )


def _judge(rule: Anything, case: Case) -> Failure | None:
    outcome = limited(CASE_SECONDS, derivatives, case, Watched(rule))
    shown = _drawn(case, rule)
    if isinstance(outcome.error, MisuseError):
        description, hint = str(outcome.error), outcome.error.hint
        return Failure(
            _describe(case),
            _types(case),
            description,
            hint,
            program(case, None),
            "ir",
            printed=outcome.printed,
        )
    if isinstance(outcome.error, RelayError):
        hint = type_hint(case, outcome.error)
        got = f"an ill-typed program:\n{outcome.error.message}"
        return Failure(
            _describe(case), _types(case), got, hint, program(case, None), "ir", printed=outcome.printed
        )
    if outcome.error is not None:
        return crashed(_describe(case), outcome, _types(case), program=program(case, None), view="ir")
    types, result = outcome.value
    if not result:
        got = "\n".join(f"d{n}: {t}" for n, t in zip(ARGUMENTS[case.part], types, strict=True))
        hint = explained(case, types)
        return Failure(_describe(case), _types(case), got, hint, shown, VIEW, CAPTION, outcome.printed)
    if case.dtype != "float64":  # its values are compared in other cases, more accurately
        return None
    right = quotients(case)
    if same(result, right):
        return None
    hint = explained(case, types, result, right)
    got = _written(case, result)
    return Failure(_describe(case), _written(case, right), got, hint, shown, VIEW, CAPTION, outcome.printed)


def _drawn(case: Case, rule: Anything) -> IRModule:
    return program(case, Watched(rule))


# -- descriptions


def _describe(case: Case) -> str:
    names = ARGUMENTS[case.part]
    attrs = "".join(f", {name}={value}" for name, value in case.attrs)
    lines = [f"y = {case.part}({', '.join(names)}{attrs}), where"]
    shapes = [*case.shapes, _result_shape(case)]
    for name, value in zip([*names, "dy"], numbers(case, shapes), strict=True):
        lines.append(f"{name} = {_array(value)}   # {TensorType.of(value.shape, case.dtype)}")
    return "\n".join(lines)


def _result_shape(case: Case) -> tuple[int, ...]:
    result: tuple[int, ...] = program(case, None)["main"].params[-1].type_annotation.concrete_shape  # type: ignore[union-attr]  # a tensor
    return result


def _types(case: Case) -> str:
    """Write the expected types of the derivatives, if no values can be compared."""
    return "\n".join(
        f"d{name}: {TensorType.of(shape, case.dtype)}"
        for name, shape in zip(ARGUMENTS[case.part], case.shapes, strict=True)
    )


def _written(case: Case, values: list[Array]) -> str:
    return "\n".join(f"d{n} = {_array(v)}" for n, v in zip(ARGUMENTS[case.part], values, strict=True))


def _array(value: Array) -> str:
    import numpy as np

    if value.size > MAX_SHOWN:
        return f"{value.size} numbers"
    return np.array2string(value, precision=4, suppress_small=True, separator=", ").replace("\n", "")


# -- test cases


def _shape(rng: random.Random, least: int = 1, most: int = 3) -> tuple[int, ...]:
    return tuple(rng.choice((1, 2, 3)) for _ in range(rng.randint(least, most)))


def _cases(rng: random.Random, count: int, make: Callable[[random.Random], Case]) -> Iterator[Case]:
    """Iterate over the cases, small ones first; every fifth in float32."""
    result = [replace(make(rng), seed=rng.randrange(10**6)) for _ in range(max(count // 3, 8))]
    result.sort(key=lambda case: sum(map(prod, case.shapes)))
    for number, case in enumerate(result):
        yield replace(case, dtype="float32") if number % 5 == 4 else case


def _sigmoid(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case("sigmoid", ((2,),))
    yield from _cases(rng, count, lambda r: Case("sigmoid", (_shape(r, 0),)))


def _same(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case("multiply", ((2,), (2,)))
    yield from _cases(rng, count, lambda r: Case("multiply", (_shape(r, 0),) * 2))


def _broadcast(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case("multiply", ((2, 3), (3,)))
    yield Case("multiply", ((3,), (2, 3)))
    yield Case("multiply", ((2, 1), (2, 3)))
    yield Case("multiply", ((2, 1), (1, 3)))

    def make(rng: random.Random) -> Case:
        whole = tuple(rng.choice((2, 3)) for _ in range(rng.randint(1, 3)))
        both = [tuple(1 if rng.random() < 0.4 else n for n in whole)[rng.choice((0, 0, 1)) :] for _ in "ab"]
        return Case("multiply", (both[0], both[1]))

    yield from _cases(rng, count, make)


def _mean_of_all(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case("mean", ((2, 3),))
    yield from _cases(rng, count, lambda r: Case("mean", (_shape(r),)))


def _mean_along(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case("mean", ((2, 3),), (("axis", [1]),))
    yield Case("mean", ((2, 3),), (("axis", [0]),))
    yield Case("mean", ((2, 3),), (("axis", [-1]), ("keepdims", True)))

    def make(rng: random.Random) -> Case:
        shape = tuple(rng.choice((2, 3)) for _ in range(rng.randint(2, 3)))
        axes = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
        axes = [a - len(shape) if rng.random() < 0.3 else a for a in axes]
        return Case("mean", (shape,), (("axis", axes), ("keepdims", rng.random() < 0.5)))

    yield from _cases(rng, count, make)


def _softmax_last(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case("softmax", ((2,),), (("axis", -1),))
    yield from _cases(rng, count, lambda r: Case("softmax", (_shape(r),), (("axis", -1),)))


def _softmax_any(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case("softmax", ((2, 3),), (("axis", 0),))

    def make(rng: random.Random) -> Case:
        shape = tuple(rng.choice((2, 3)) for _ in range(rng.randint(2, 3)))
        return Case("softmax", (shape,), (("axis", rng.randrange(-len(shape), len(shape))),))

    yield from _cases(rng, count, make)


def _blend(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case("blend", ((2,),) * 3)
    yield from _cases(rng, count, lambda r: Case("blend", (_shape(r, 0),) * 3))


def _smaller(case: Case) -> Iterator[Case]:
    """Shrink the call: replace 3 with 2 everywhere, and 2 with 1 if nothing is broadcast or summed."""
    plain = len(set(case.shapes)) == 1 and case.part not in ("mean", "softmax")
    for large, small in ((3, 2), *(((2, 1),) if plain else ())):
        shapes = tuple(tuple(small if n == large else n for n in shape) for shape in case.shapes)
        if shapes != case.shapes:
            yield replace(case, shapes=shapes)


def _property(name: str, says: str, cases: Cases) -> Property:
    def test(rule: Anything, rng: random.Random, count: int) -> Failure | None:
        search: Search[Case] = Search(lambda case: _judge(rule, case), _smaller)
        return search(cases(rng, count))

    return Property(name, says, test)


def _part(title: str, *properties: Property) -> Exercise:
    return Exercise(f"The gradient of {title}", "rule(call, grad)", properties)


EXERCISE = {
    "sigmoid": _part("sigmoid", _property("slope", "the rule is right for any shape", _sigmoid)),
    "multiply": _part(
        "multiply",
        _property("same", "the rule is right for two tensors of the same shape", _same),
        _property("broadcast", "it is right for tensors that are broadcast", _broadcast),
    ),
    "mean": _part(
        "mean",
        _property("all", "the rule is right for the mean over all elements", _mean_of_all),
        _property("axes", "it is right for the mean over some axes, with `keepdims` or without", _mean_along),
    ),
    "softmax": _part(
        "softmax",
        _property("last", "the rule is right along the last axis", _softmax_last),
        _property("axis", "it is right along any axis", _softmax_any),
    ),
    "blend": _part(
        "blend", _property("three", "the derivatives with respect to all three arguments are right", _blend)
    ),
}
