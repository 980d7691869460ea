"""`check`: test an answer against an exercise's properties, one after the other; `grade`: the same, for
graded cells.
"""

from __future__ import annotations

import importlib
import inspect
import random
import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..ir.lazy_dataclass import dataclass
from .answer_values import WithheldError, is_ours, repr_of
from .budget import Allowance, Outcome, OutOfTimeError, limited
from .feedback import FAILED, PASSED, WAITING, Failure, Feedback, Line, WrongAnswerError

EXERCISES = (
    "free_variables",
    "alpha_equivalence",
    "map_and_fold",
    "count_operators",
    "leaky_relu",
    "operator_converter",
    "loop_to_function",
    "type_relation",
    "unification",
    "shape_analysis",
    "a_normal_form",
    "constant_folding",
    "common_subexpressions",
    "dead_code",
    "fusion_rule",
    "combine_dense",
    "partial_evaluator",
    "operator_gradient",
    "realize_operator",
    "kl_threshold",
    "quantization_scheme",
    "lower_operator",
    "read_assembly",
    "schedule_matmul",
    "choose_tile",
    "warp_access",
    "plan_memory",
    "vm_instruction",
)  # each is a package of this folder
CASE_SECONDS = 2.0  # for one case: a thousand times what a correct answer needs
SHRINK_SECONDS = 4.0
PICTURE_SECONDS = 10.0
_FOREIGN = re.compile(
    r"site-packages.(tvm|IPython|ipykernel)|[/\\]pocket[/\\]|[/\\](functools|contextlib)\.py$|\.(cc|h|pyx|pxi)$|^<(unknown|string)>$"
)
_PACKAGE = str(Path(__file__).parents[1])
PROGRAMS = 60  # cases per property, unless the caller asks for another number

Case = TypeVar("Case")


class Remark(str):
    """A remark about a property that holds."""

    __slots__ = ()


@dataclass(frozen=True)
class Property:
    """One property that an answer must have. `test(answer, rng, count)` tries `count` cases and returns the
    failure, or None; or a remark, if the property holds and there is something to say about how well.
    """

    name: str
    says: str
    test: Callable[[Any, random.Random, int], Failure | Remark | None]


@dataclass(frozen=True)
class Exercise:
    """An exercise, or a part of one that has an answer of its own: a function called as `takes` says, or,
    if `text`, the text of a program that defines `takes`.
    """

    title: str
    takes: str
    properties: tuple[Property, ...]
    text: bool = False


def exercise(name: str) -> Exercise:
    """Return the exercise called `name` (`type_relation`), or one of its parts (`unification.occurs`)."""
    head, _, part = name.partition(".")
    if head in EXERCISES:
        parts: dict[str, Exercise] = importlib.import_module(f".{head}.checks", __package__).EXERCISE
        if part in parts:
            return parts[part]
        choices = [f"{head}.{p}" if p else head for p in parts]
    else:
        choices = list(EXERCISES)
    raise ValueError(f"there is no exercise {name!r}: there are {', '.join(map(repr, choices))}")


def check(
    name: str, answer: Any, only: str | None = None, *, seed: int = 0, programs: int = PROGRAMS
) -> Feedback:
    """Grade the answer to the exercise `name`, and return feedback that displays itself in a notebook.

    The properties are tried in order, up to the first that fails; `only` names one to try alone. The random
    programs follow from `seed`.
    """
    result = exercise(name)
    chosen = [p for p in result.properties if only in (None, p.name)]
    if not chosen:
        names = ", ".join(repr(p.name) for p in result.properties)
        raise ValueError(f"{name} has no property {only!r}: it has {names}")
    states = dict.fromkeys([p.name for p in chosen], WAITING)
    says = {p.name: p.says for p in chosen}
    failure = _unusable(result, answer)
    for prop in chosen:
        if failure is None:
            description = _tested(prop, answer, random.Random(f"{seed}:{prop.name}"), programs)
            states[prop.name] = PASSED
            failure = description if isinstance(description, Failure) else None
            says[prop.name] += f": {description}" if isinstance(description, Remark) else ""
        if failure is not None:
            states[prop.name] = FAILED
            break
    lines = [Line(p.name, says[p.name], states[p.name]) for p in chosen]
    return Feedback(result.title, lines, failure, None if failure is None else _drawn(failure))


def grade(
    name: str, answer: Any, only: str | None = None, *, seed: int = 0, programs: int = PROGRAMS
) -> None:
    """Like `check`, for a graded cell: show the feedback, and raise a WrongAnswerError if the answer is
    wrong.
    """
    feedback = check(name, answer, only, seed=seed, programs=programs)
    if not feedback.passed:
        _show(feedback)
        raise WrongAnswerError(feedback)


def _tested(prop: Property, answer: Any, rng: random.Random, count: int) -> Failure | Remark | None:
    """Test one property of an answer, even if the answer returns something unexpected."""
    try:
        return prop.test(answer, rng, count)
    except Exception as error:
        got = f"a result that could not be inspected: {message_of(error)}"
        hint = (
            "Does it return what the exercise asks for, with the right type? If you are sure "
            "that it does, the check is wrong: please tell us."
        )
        return Failure("the result of your own code", prop.says, got, hint)


_WRITE = (
    "The package contains a solution, which it uses to check yours. Write your own: that is the exercise."
)


def _unusable(result: Exercise, answer: Any) -> Failure | None:
    """Return the failure of an answer that cannot be called with the exercise's arguments."""
    if result.text:
        if isinstance(answer, str):
            return None
        got = f"a {type(answer).__name__}"
        hint = "Pass the text itself: a Python string."
        return Failure("the answer itself", f"the text of a program that defines `{result.takes}`", got, hint)
    expected = f"a function, `{result.takes}`"
    if not callable(answer):
        hint = (
            "Pass the function itself: write its name without parentheses, in a cell below "
            "the one that defines it."
        )
        return Failure(f"the answer itself, {repr_of(answer)}", expected, f"a {type(answer).__name__}", hint)
    if is_ours(answer):
        got = f"`{getattr(answer, '__name__', '')}` of the package"
        return Failure("the answer itself", "a function that you have written", got, _WRITE)
    if inspect.iscoroutinefunction(answer):
        hint = "Write `def` without `async`: `check` does not await the answer."
        return Failure("the answer itself", expected, "a coroutine function, `async def`", hint)
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return None
    try:
        signature.bind(*[None] * len(re.findall(r"\w+", result.takes.partition("(")[2])))
    except TypeError as error:
        shown = (
            f"`{getattr(answer, '__name__', 'answer')}{signature}`, which cannot be called with "
            f"these arguments: {error}"
        )
        return Failure(
            "the answer itself", expected, shown, "Keep the parameters as they are in the notebook."
        )
    return None


def _drawn(failure: Failure) -> Any:
    """Return the failure's own picture, or the explorer of the failing program; only the program's text if
    inference cannot be replayed.
    """
    if failure.picture is not None:
        return limited(PICTURE_SECONDS, failure.picture).value
    if failure.program is None:
        return None
    from ..explorer import explore

    for view in dict.fromkeys((failure.view, "ir")):
        passes = failure.passes if view == "pipeline" else None
        result = limited(
            CASE_SECONDS,
            lambda view=view, passes=passes: explore(
                failure.program, view=view, title=failure.caption, passes=passes
            ),
        )
        if result.error is None:
            return result.value
    return None


def _show(feedback: Feedback) -> None:
    """Display the feedback if there is a notebook."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return
    if get_ipython() is not None:
        show: Any = display
        show(feedback)


# -- for the exercises


class Search(Generic[Case]):
    """Search for the smallest case that an answer gets wrong.

    `judge(case)` returns the failure or None; `smaller(case)` yields simpler cases, the simplest first.
    """

    def __init__(
        self, judge: Callable[[Case], Failure | None], smaller: Callable[[Case], Iterable[Case]]
    ) -> None:
        self.judge = judge
        self.smaller = smaller

    def __call__(self, cases: Iterable[Case]) -> Failure | None:
        for case in cases:
            failure = self.judge(case)
            if failure is not None:
                return self._shrunk(case, failure)
        return None

    def _shrunk(self, case: Case, failure: Failure) -> Failure:
        """Shrink a failing case. Return the failure of `case` itself if no smaller case fails, or time is
        up.
        """
        time = Allowance(SHRINK_SECONDS)
        candidates = iter(self.smaller(case))
        while time.left() and (candidate := next(candidates, None)) is not None:
            result = self.judge(candidate)
            if result is not None:
                failure, candidates = result, iter(self.smaller(candidate))
        return failure


_ERROR_HINTS = (
    (SystemExit, "`exit` ends the whole program. A function returns its value with `return`."),
    (
        (EOFError, NotImplementedError),
        "`input` cannot be answered here: your function gets everything it needs as arguments.",
    ),
    (
        FrozenInstanceError,
        "Expressions and types are immutable, because others may share them. Create a new one instead.",
    ),
)


def crashed(case: str, outcome: Outcome, expected: str, **more: Any) -> Failure:
    """Build the failure of an answer that raised an error or did not terminate."""
    error = outcome.error
    assert error is not None
    if isinstance(error, OutOfTimeError):
        failure = Failure(
            case, expected, f"no answer: {error}",
            "A loop whose condition never changes, or a recursion on the same argument, does "
            "not terminate. If your function does terminate, it is far too slow: a typical "
            "solution needs a small fraction of that time.",
        )  # fmt: skip
    elif type(error) is NotImplementedError:
        failure = Failure(
            case, expected, "nothing yet", "There is no answer yet: write it, then run the cell again."
        )
    elif isinstance(error, RecursionError):
        failure = Failure(
            case, expected, "a RecursionError: the recursion is too deep",
            "Each recursive call must be on something smaller. What does it call itself on "
            "here?",
        )  # fmt: skip
    elif isinstance(error, WithheldError):
        failure = Failure(case, expected, f"no answer: {error}", _WRITE)
    else:
        hint = next((description for kind, description in _ERROR_HINTS if isinstance(error, kind)), "")
        if isinstance(error, FrozenInstanceError):
            more.pop("hint", None)  # the reason is clear, whatever hint an exercise would give
        failure = Failure(case, expected, f"an exception, {message_of(error)}", hint, trace=own_lines(error))
    return replace(failure, printed=outcome.printed, **{k: v for k, v in more.items() if v})


def message_of(error: BaseException) -> str:
    """Return the type of an error and its message, if it has one."""
    try:
        message = str(error)
    except Exception:
        message = ""
    return f"{type(error).__name__}: {message:.500}" if message else type(error).__name__


def own_lines(error: BaseException) -> str:
    """Return the learner's own lines of the traceback of `error`, without those of this package, of the
    notebook and of TVM.
    """
    shown = []
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(_PACKAGE) or _FOREIGN.search(frame.filename):
            continue
        shown.append(f"line {frame.lineno} of {frame.name}: {frame.line or ''}".rstrip(": "))
    return "\n".join(shown[-5:])
