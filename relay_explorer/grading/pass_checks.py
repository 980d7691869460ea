"""Check a learner's pass, a function from function to function: its result is well typed, has the same
meaning, and reaches the pass's goal; its input is unchanged; it terminates.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from math import prod
from typing import Any as Anything

from ..analysis.well_formed import well_formed, why_ill_formed
from ..ir.equal import structural_equal
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, const
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.types import TensorType
from ..ir.walk import post_order
from ..transform.infrastructure import Pass, function_pass
from .answer_values import repr_of
from .budget import Outcome, limited
from .check import CASE_SECONDS, crashed
from .feedback import Failure
from .fragments import main_of, snapshot, text

MAX_LENGTH = 1_400  # characters of a program in feedback
CAPTION = "The program before and after your pass"
# From a function before and after: what is wrong, and a hint; two empty strings if it is right.
Goal = Callable[[Function, Function], tuple[str, str]]


@dataclass(frozen=True)
class PassTask:
    """The requirements of a pass. `name` is the function's; `goal` examines the result of a program. With
    `same_work`, each operator must run exactly as often as before. With `typed`, the pass receives
    types.
    """

    name: str
    goal: Goal
    same_work: bool = False
    typed: bool = False

    def judge(self, answer: Anything, module: IRModule) -> Failure | None:
        """Return how the pass fails on a module's `@main`, or None if it is right."""
        if self.typed:
            module = _typed(module)
        function = main_of(module)
        before = snapshot(function)
        outcome = limited(CASE_SECONDS, answer, function)
        got, hint = "", ""
        if outcome.error is None:
            got, hint = self._compared(module, function, outcome.value)
        if outcome.error is None and snapshot(function) != before:
            got = "the original function has been changed"
            hint = "Expressions are immutable, because others may share them. Create new ones."
        if outcome.error is None and not got:
            return None
        shown = text(module)
        shown = shown if len(shown) < MAX_LENGTH else shown[:MAX_LENGTH] + "…"
        case = f"{self.name}(main), where main is\n{shown}"
        expected = "an equivalent function in which nothing is left to do"
        if outcome.error is not None:
            return self._crashed(case, outcome, expected, module)
        passes = (_as_pass(self.name, answer),)
        return Failure(case, expected, got, hint, module, "pipeline", CAPTION, outcome.printed, passes=passes)

    def _crashed(self, case: str, outcome: Outcome, expected: str, module: IRModule) -> Failure:
        error = outcome.error
        hint = ""
        if isinstance(error, AttributeError):
            hint = "Each kind of expression has its own fields: use isinstance to test which kind it is."
        return crashed(case, outcome, expected, program=module, view="ir", caption=CAPTION, hint=hint)

    def _compared(self, module: IRModule, function: Function, value: Anything) -> tuple[str, str]:
        if not isinstance(value, Function):
            hint = "The pass must return a function. Does every path through it end in a `return`?"
            if isinstance(value, Expr):
                hint = "The result must be the whole function, not its body."
            return f"{type(value).__name__}: {repr_of(value)}", hint
        result = with_main(module, value)
        shown = shown_text(result)
        astray = why_ill_formed(result)
        if astray is not None and well_formed(module):
            return shown, f"In the result, {astray.message}: its binding is in the wrong block."
        try:
            new = _typed(result)
        except RelayError as error:
            return shown, f"The result is not well typed: {error.message}"
        except (AttributeError, TypeError) as error:
            return shown, f"The result contains something that is not an expression: {error}"
        old = _typed(module)
        if not structural_equal(main_of(old).checked_type, main_of(new).checked_type):
            return shown, f"The type was {main_of(old).checked_type} and is now {main_of(new).checked_type}."
        first, second = _value(module), _value(result)
        if not same(first, second):
            return (
                f"{shown}\nwhich gives {repr_of(second)} instead of {repr_of(first)}",
                "The result has a different meaning: another value, or side effects in another order.",
            )
        got, hint = self.goal(function, value)
        if not got and self.same_work:
            got, hint = _more_or_less(_work(module), _work(result))
        return (shown if got else "", f"{got} {hint}".strip())


def operators(function: Function) -> Counter[str]:
    """Count the calls of each operator, a shared call once."""
    calls = (n.op.name for n in post_order(function) if isinstance(n, Call) and isinstance(n.op, Op))
    return Counter(calls)


def closed_programs(
    rng: random.Random, count: int, accept: Callable[[Function], bool] = lambda function: True
) -> Iterator[IRModule]:
    """Yield random programs whose `@main` has no parameters, so that they can be run."""
    from ..testing import generate

    for number in range(count):
        module = generate(rng, size=6 + number % 40, closed=True).module
        if accept(main_of(module)):
            yield module


def _as_pass(name: str, answer: Anything) -> Pass:
    def run(function: Function, mod: object, ctx: object) -> Function:
        result: Function = answer(function)
        return result

    result: Pass = function_pass(run, opt_level=0, name=name)
    return result


def with_main(module: IRModule, function: Function) -> IRModule:
    """Replace the module's `@main`."""
    functions = {**module.functions, module.get_global_var("main"): function}
    return IRModule(functions, module.type_definitions)


def _typed(module: IRModule) -> IRModule:
    from ..typing import infer_types

    return infer_types(module)


def shown_text(module: IRModule) -> str:
    """Return the program as feedback shows it, if it can be printed at all."""
    try:
        shown = text(module)
    except (RelayError, TypeError, AttributeError) as error:  # a broken result has no text
        return f"a function that cannot be printed: {error}"
    return shown if len(shown) < MAX_LENGTH else shown[:MAX_LENGTH] + "…"


def _value(module: IRModule) -> Anything:
    """Run `@main`: return its result, or its error; functions in the result all count as equal."""
    from ..execute import Interpreter
    from ..execute.interpreter import ExecutionError

    outcome = limited(
        CASE_SECONDS,
        lambda: Interpreter(module).evaluate(Call(module.get_global_var("main"), _inputs(module))),
    )
    if isinstance(outcome.error, ExecutionError):
        return outcome.error.message
    return outcome.value if outcome.error is None else type(outcome.error).__name__


def _work(module: IRModule) -> Counter[str]:
    """Count how often each operator runs; None for a program that does not terminate in time."""
    from ..execute.record import record

    outcome = limited(CASE_SECONDS, lambda: record(module, *_inputs(module), limit=1).operators())
    return outcome.value if outcome.error is None else Counter()


def _more_or_less(before: Counter[str], after: Counter[str]) -> tuple[str, str]:
    """Describe which operator runs more or less often than before."""
    for name in (before | after) if before and after else ():
        if before[name] != after[name]:
            return (
                f"At run time, {name} used to be computed {_times(before[name])}, and is now "
                f"computed {_times(after[name])}.",
                "A value that only one branch or clause needs is computed in it, and a value "
                "that a function computes when it is called is computed in the function.",
            )
    return "", ""


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _inputs(module: IRModule) -> list[Constant]:
    """Generate small integers for each parameter of `@main`, a tensor: sums of products are exact."""
    import numpy

    result = []
    for number, param in enumerate(main_of(module).params):
        type_ = param.type_annotation
        assert isinstance(type_, TensorType), "a test program takes tensors"
        size = prod(type_.concrete_shape)
        values = (numpy.arange(size) * (7 + number) + 3 * number) % 11 - 4
        result.append(const(values.reshape(type_.concrete_shape), type_.dtype))
    return result


def same(a: Anything, b: Anything) -> bool:
    """Return whether two values are the same; two functions are assumed to be."""
    import numpy

    if isinstance(a, (numpy.ndarray, numpy.generic)) or isinstance(b, (numpy.ndarray, numpy.generic)):
        alike = type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
        return alike and bool(numpy.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "constructor"):
        alike = getattr(b, "constructor", None) is not None
        alike = alike and a.constructor.name_hint == b.constructor.name_hint
        return alike and all(map(same, a.fields, b.fields))
    if hasattr(a, "value"):
        return hasattr(b, "value") and same(a.value, b.value)
    return isinstance(a, str) == isinstance(b, str) and (not isinstance(a, str) or a == b)
