"""The checks of the exercise `loop_to_function`: random graphs, converted and run."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, Tuple
from ...ir.module import IRModule
from ...ir.show import counted
from ...ir.types import TupleType
from ...ir.walk import free_vars
from ..answer_values import repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import OPERATORS, program
from .evaluate import Evaluation
from .graphs import Case, Expression, Loop
from .hints import CYCLE, ENDLESS, TAIL, TWICE, crash_hint, free_hint, type_hint, value_hint
from .programs import COUNTER, IN_BOUNDS, expression, random_loop, random_nested, smaller
from .tail_calls import call_that_returns, recursive

VIEW, CAPTION = "evaluation", "Your function, on the smallest failing graph"
LONG = 3_000  # iterations
Judge = Callable[[Anything, Case], Failure | None]


class _Attempt:
    """An answer on one case: the function that it returned, or the failure."""

    def __init__(self, answer: Anything, case: Case) -> None:
        self.case, self.graph = case, case.graph()
        inputs = ", ".join(f"{name} = {_shown(value)}" for name, value in zip(self.graph.inputs, case.inputs))
        self.shown = f"{self.graph}\nfor {inputs}"
        self.right = Evaluation(self.graph, case.inputs)
        self.expected = _tuple(self.right.outputs)
        self.failure: Failure | None = None
        self.function = Function([], Tuple([]))
        self.module = IRModule()
        self.printed = ""
        self._convert(answer)

    def _convert(self, answer: Anything) -> None:
        outcome = limited(CASE_SECONDS, answer, self.graph)
        self.printed = outcome.printed
        if outcome.error is not None:
            hint = crash_hint(outcome.error)
            self.failure = crashed(self.shown, outcome, self.expected, hint=hint)
            return
        function = outcome.value
        got, hint = self._misfit(function)
        if got:
            self.failure = self.fail(got, hint)
            return
        self.function = function
        self.module = program(function, *self.case.inputs)
        typed = limited(CASE_SECONDS, _result_type, self.module)
        if isinstance(typed.error, RelayError):
            message = typed.error.message
            got = f"a function that is not well typed: {message}\n{_text(function)}"
            self.failure = self.fail(got, type_hint(message))
        elif typed.error is not None:
            hint = CYCLE if isinstance(typed.error, RecursionError) else ""
            self.failure = crashed(self.shown, typed, self.expected, hint=hint)
        elif not isinstance(typed.value, TupleType) or len(typed.value.fields) != len(self.graph.outputs):
            count = len(self.graph.outputs)
            hint = f"The function returns a tuple of the values of `graph.outputs`, here {count}."
            self.failure = self.fail(f"a function whose result has the type {typed.value}", hint, drawn=True)

    def _misfit(self, function: Anything) -> tuple[str, str]:
        """Describe a result that is no function of the graph's inputs; two empty strings if it is one."""
        if not isinstance(function, Function):
            hint = "Return a `relay.Function`. Does every path end in a `return`?"
            if isinstance(function, Expr):
                hint = "Return the whole function: `relay.Function(params, body)`."
            return f"{repr_of(function, 200)}, a {type(function).__name__}", hint
        if len(function.params) != len(self.graph.inputs):
            return (
                f"a function of {len(function.params)} parameters",
                f"It has a parameter for each Placeholder in `graph.inputs`: {len(self.graph.inputs)} here.",
            )
        free = free_vars(function)
        if free:
            return f"a function with free variables\n{_text(function)}", free_hint(free)
        return "", ""

    def fail(self, got: str, hint: str, drawn: bool = False) -> Failure:
        if not drawn:
            return Failure(self.shown, self.expected, got, hint, printed=self.printed)
        return Failure(self.shown, self.expected, got, hint, self.module, VIEW, CAPTION, self.printed)


def _text(function: Function) -> str:
    """Return the program as text; an ill-formed one may have none."""
    try:
        text = function.astext(show_meta_data=False)
    except (RelayError, AttributeError, TypeError):
        return ""
    return text.partition("\n")[2].strip()[:1_000]


def _result_type(module: IRModule) -> Anything:
    from ...typing import infer_types

    main = infer_types(module)["main"]
    assert isinstance(main, Function)
    return main.body.checked_type


def _run(module: IRModule) -> tuple[Anything, ...]:
    from ...execute import Interpreter

    return tuple(Interpreter(module).evaluate(Call(module.get_global_var("main"), [])))


def _judge(answer: Anything, case: Case) -> Failure | None:
    """Return how the function of a graph gives wrong results, or None."""
    return _judged(_Attempt(answer, case))


def _judged(attempt: _Attempt) -> Failure | None:
    if attempt.failure is not None:
        return attempt.failure
    outcome = limited(CASE_SECONDS, _run, attempt.module)
    if outcome.error is not None:
        more: dict[str, Anything] = {"program": attempt.module, "view": "ir", "caption": CAPTION}
        return crashed(attempt.shown, outcome, attempt.expected, hint=ENDLESS, **more)
    right = attempt.right.outputs
    if _same(outcome.value, right):
        return None
    hint = value_hint(attempt.case, outcome.value, right, _same)
    return attempt.fail(_tuple(outcome.value), hint, drawn=True)


def _judge_tail(answer: Anything, case: Case) -> Failure | None:
    """Return a failure if the function is not tail recursive, or fails on a long loop."""
    attempt = _Attempt(answer, case)
    if attempt.failure is None:
        function = attempt.function
        var = call_that_returns(function)
        if var is not None:
            got = f"a recursive use of %{var.name_hint} that is not a tail call\n{_text(function)}"
            return attempt.fail(got, TAIL, drawn=case.inputs[0] < LONG)
        if not recursive(function):
            hint = "A `let` binds a function whose body calls the variable of the `let`."
            return attempt.fail(f"no recursive function\n{_text(function)}", hint)
    return _judged(attempt)


def _judge_work(answer: Anything, case: Case) -> Failure | None:
    """Return a failure if an operator runs more often than in TensorFlow."""
    attempt = _Attempt(answer, case)
    failure = _judged(attempt)
    if failure is not None:
        return failure
    outcome = limited(CASE_SECONDS, _work, attempt.module)
    if outcome.error is not None:
        return crashed(attempt.shown, outcome, attempt.expected)
    for name, times in outcome.value.items():
        allowed = attempt.right.work[name]
        if times > allowed and name in OPERATORS.values():
            expected = f"{attempt.expected}, and {counted(allowed, 'run')} of {name}"
            got = f"{counted(times, 'run')} of {name}"
            return replace(attempt.fail(got, TWICE, drawn=True), expected=expected)
    return None


def _work(module: IRModule) -> Counter[str]:
    from ...execute.record import record

    return record(module, limit=1).operators()


def _same(a: Sequence[Anything], b: Sequence[Anything]) -> bool:
    import numpy as np

    return len(a) == len(b) and all(
        getattr(x, "dtype", None) == y.dtype and np.array_equal(x, y) for x, y in zip(a, b)
    )


def _shown(value: Anything) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _tuple(values: Sequence[Anything]) -> str:
    """Write the values of a tuple."""
    import numpy as np

    shown = [np.array2string(np.asarray(value), separator=", ") for value in values]
    return f"({shown[0]},)" if len(shown) == 1 else f"({', '.join(shown)})"


# -- test cases


def _counter(limit: int, step: Expression = COUNTER) -> Case:
    loop = Loop((("const", 0),), (step,), IN_BOUNDS, (("input", 0),))
    return Case((limit,), loop, (("exit", 0),))


def _count(rng: random.Random, count: int) -> Iterator[Case]:
    yield _counter(3)
    for _ in range(max(count // 6, 4)):
        yield random_loop(rng, 1, rng.randint(1, 3))


def _several(rng: random.Random, count: int) -> Iterator[Case]:
    swap = Loop(
        (("const", 0), ("const", 1), ("const", 2)),
        (COUNTER, ("var", 2), ("var", 1)),
        IN_BOUNDS,
        (("input", 0),),
    )
    yield Case((3,), swap, (("exit", 1), ("exit", 2)))
    for number in range(max(count // 3, 8)):
        yield random_loop(rng, rng.randint(2, 5), 1, vectors=number % 2 == 1)


def _steps(rng: random.Random, limits: tuple[int, int] = (2, 12)) -> Case:
    """Draw a loop with one variable, which grows by a number that depends on the invariants."""
    fixed = [expression(rng, [("input", 0), ("input", 1)]) for _ in range(rng.randint(1, 4))]
    leaves: list[Expression] = [("inv", k) for k in range(len(fixed) + 1)]
    step: Expression = ("Add", ("var", 0), ("Maximum", expression(rng, leaves), ("const", 1)))
    loop = Loop((("const", 0),), (step,), IN_BOUNDS, (("input", 0), *fixed))
    seed = rng.choice((0, rng.randrange(10**6)))
    return Case((rng.randint(*limits), rng.randint(-4, 2)), loop, (("exit", 0),), seed)


def _invariants(rng: random.Random, count: int) -> Iterator[Case]:
    step: Expression = ("Add", ("var", 0), ("inv", 1))
    loop = Loop((("const", 0),), (step,), IN_BOUNDS, (("input", 0), ("input", 1)))
    yield Case((5, 2), loop, (("exit", 0),))
    for _ in range(max(count // 3, 8)):
        yield _steps(rng)


def _exits(rng: random.Random, count: int) -> Iterator[Case]:
    for _ in range(max(count // 3, 10)):
        case = random_loop(rng, rng.randint(2, 4), 2)
        exits: list[Expression] = [("exit", k) for k in range(len(case.loop.initial))]
        chosen = rng.sample(exits, rng.randint(1, len(exits)))
        if rng.random() < 0.5:
            chosen[-1] = ("Add", chosen[-1], rng.choice([*chosen, ("input", 1)]))
        yield replace(case, outputs=tuple(chosen))


def _zero(rng: random.Random, count: int) -> Iterator[Case]:
    yield _counter(0)
    for _ in range(max(count // 6, 4)):
        yield _steps(rng, (-2, 0))


def _conditions(rng: random.Random, count: int) -> Iterator[Case]:
    for _ in range(max(count // 3, 10)):
        case = random_loop(rng, rng.randint(2, 4), 2)
        other: Expression = ("var", rng.randrange(1, len(case.loop.initial)))
        test: Expression = (rng.choice(("Less", "Greater", "NotEqual")), other, ("const", rng.randint(-2, 9)))
        condition: Expression = ("LogicalAnd", *rng.sample([IN_BOUNDS, test], 2))
        if rng.random() < 0.3:
            condition = ("Greater", ("inv", 0), ("Maximum", ("var", 0), other))
        yield replace(case, loop=replace(case.loop, condition=condition))


def _tail(rng: random.Random, count: int) -> Iterator[Case]:
    for _ in range(max(count // 12, 3)):
        yield _steps(rng)
    yield _counter(LONG)


def _once(rng: random.Random, count: int) -> Iterator[Case]:
    step: Expression = ("Add", ("var", 0), ("Maximum", ("inv", 1), ("const", 1)))
    outside: Expression = ("Add", ("input", 1), ("const", 1))
    loop = Loop((("const", 0),), (step,), IN_BOUNDS, (("input", 0), outside))
    yield Case((3, -1), loop, (("exit", 0),))
    for _ in range(max(count // 4, 8)):
        yield _steps(rng)


def _nested(rng: random.Random, count: int) -> Iterator[Case]:
    inner = Loop(
        (("const", 0), ("var", 1)), (COUNTER, ("Add", ("var", 1), ("const", 1))), IN_BOUNDS, (("var", 0),)
    )
    outer = Loop((("const", 0), ("const", 0)), (COUNTER, ("inner", 1)), IN_BOUNDS, (("input", 0),), inner)
    yield Case((3,), outer, (("exit", 1),))
    for _ in range(max(count // 6, 6)):
        yield random_nested(rng)


def _judge_nested(answer: Anything, case: Case) -> Failure | None:
    return _judge_tail(answer, case) or _judge_work(answer, case)


def _property(
    name: str, says: str, cases: Callable[[random.Random, int], Iterable[Case]], judge: Judge = _judge
) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        search: Search[Case] = Search(lambda case: judge(answer, case), smaller)
        return search(cases(rng, count))

    return Property(name, says, test)


EXERCISE = {
    "": Exercise(
        "From a loop to a function",
        "loop_to_function(graph)",
        (
            _property("count", "a loop with one variable", _count),
            _property("several", "several variables, which all change at once", _several),
            _property("invariants", "values that are the same in every iteration", _invariants),
            _property("exits", "only some variables leave the loop, in any order", _exits),
            _property("zero", "a loop that runs zero times", _zero),
            _property("condition", "a condition that depends on several variables", _conditions),
            _property("tail", "the recursive call is a tail call, so a loop may be long", _tail, _judge_tail),
            _property("once", "no operator runs more often than in TensorFlow", _once, _judge_work),
        ),
    ),
    "nested": Exercise(
        "Bonus: a loop in a loop",
        "loop_to_function(graph)",
        (_property("nested", "the body of a loop may contain a loop", _nested, _judge_nested),),
    ),
}
