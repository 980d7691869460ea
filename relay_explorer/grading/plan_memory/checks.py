"""The checks of the exercise `plan_memory`: the lifetime of each tensor, and a plan in which no tensor is
overwritten and the buffers take no more memory than those of the greedy rule.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any as Anything
from typing import Protocol

from ...analysis.schedules import SCHEDULES
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Tuple, TupleGetItem, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.show import counted
from ...ir.walk import post_order
from ...typing import infer_types
from ..answer_values import integer, repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, crashed
from ..feedback import Failure
from ..fragments import main_of, smallest_failure, text, written
from ..fusion_rule.programs import PLAIN, Maker
from . import Life, Step, Work, best, clash, planned, total, work_of

CAPTION = "Where the compiler's own plan puts each value, and how long it lives"
_LONGEST = 1100  # characters of a program that are shown
_MOST_STEPS = 24
_ALLOWED = (Call, Tuple, TupleGetItem, Constant, Var, Op)


class Judge(Protocol):
    """Test an answer on a program in one order."""

    def __call__(self, answer: Anything, module: IRModule, schedule: str) -> Failure | None: ...


def work(module: IRModule, schedule: str) -> tuple[IRModule, Work] | None:
    """Return the typed program and its steps; None if it is not a graph of operators, which shrinking may
    produce.
    """
    if not all(isinstance(node, _ALLOWED) for node in post_order(main_of(module).body)):
        return None
    typed = infer_types(module)
    try:
        return typed, work_of(main_of(typed), schedule)
    except RelayError:
        return None


# -- lifetimes


def _judge_lives(answer: Anything, module: IRModule, schedule: str) -> Failure | None:
    result = work(module, schedule)
    if result is None:
        return None
    typed, task = result
    right = task.lives
    case = _case("lifetimes(steps, result)", typed, task)
    outcome = limited(CASE_SECONDS, answer, list(task.steps), task.result)
    if outcome.error is not None:
        hint = _ELSEWHERE if isinstance(outcome.error, KeyError) else ""
        return crashed(
            case, outcome, _lives(right), program=module, view="memory", caption=CAPTION, hint=hint
        )
    hint_text = lives_hint(outcome.value, right, task)
    if not hint_text:
        return None
    got = _lives(outcome.value) if _are_pairs(outcome.value) else repr_of(outcome.value, 300)
    return Failure(case, _lives(right), got, hint_text, module, "memory", CAPTION, outcome.printed)


_ELSEWHERE = (
    "A step may also read a tensor that no step computes: a parameter or a constant. It is not "
    "part of the result."
)


def lives_hint(value: object, right: dict[int, Life], task: Work) -> str:
    """Explain what is wrong with an answer to `lifetimes`; an empty string if nothing is."""
    if not isinstance(value, dict) or not _are_pairs(value):
        return (
            "Return a dictionary: for each tensor a pair, the step that computes it and the "
            "last step at which it is live."
        )
    extra = [t for t in value if t not in right]
    if extra:
        return (
            f"No step computes {repr_of(extra[0], 60)}: it is a parameter or a constant, "
            "which has memory of its own."
        )
    missing = [t for t in right if t not in value]
    if missing:
        read = any(missing[0] in step.reads for step in task.steps)
        return (
            f"Tensor {missing[0]} is missing." if read else
            f"No step reads tensor {missing[0]}, but a step writes it, so it is live while "
            "that step runs."
        )  # fmt: skip
    for tensor, (result, last) in right.items():
        own = tuple(map(integer, value[tensor]))
        if own == (result, last):
            continue
        if None in own:
            return f"Steps are integers; that of tensor {tensor} is not."
        if own[0] != result:
            return f"Tensor {tensor} is computed by step {result}. Steps count from 0."
        if tensor in task.result:
            return (
                f"Tensor {tensor} is part of the result: the caller reads it after the last "
                f"step. Its last step is {last}, the number of steps."
            )
        if own[1] == result and last > result:
            return f"Tensor {tensor} is read after the step that computes it."
        reads = [n for n, step in enumerate(task.steps) if tensor in step.reads]
        if own[1] in reads:
            return f"Several steps read tensor {tensor}: it is live up to the last of them."
        return f"The last step that reads tensor {tensor} is step {last}."
    return ""


def _are_pairs(value: object) -> bool:
    """Return whether it is a dictionary of pairs."""
    return isinstance(value, dict) and all(
        isinstance(life, (tuple, list)) and len(life) == 2 for life in value.values()
    )


# -- plans


def _judge_apart(answer: Anything, module: IRModule, schedule: str) -> Failure | None:
    return _judge_plan(answer, module, schedule, sparing=False)


def _judge_plan(answer: Anything, module: IRModule, schedule: str, sparing: bool = True) -> Failure | None:
    """Test a plan; if `sparing`, the buffers must not take more memory than the rule's."""
    result = work(module, schedule)
    if result is None:
        return None
    typed, task = result
    right = planned(task)
    expected = f"at most {counted(total(right, task.sizes), 'byte')}, as with {_plan(right)}"
    case = _case("plan(lives, sizes)", typed, task)
    # In an order that has no meaning.
    inputs = {t: task.lives[t] for t in sorted(task.lives)}
    outcome = limited(CASE_SECONDS, answer, dict(inputs), dict(task.sizes))
    if outcome.error is not None:
        return crashed(case, outcome, expected, program=module, view="memory", caption=CAPTION)
    hint_text = plan_hint(outcome.value, task, sparing)
    if not hint_text:
        return None
    got = _got(outcome.value, task)
    return Failure(case, expected, got, hint_text, module, "memory", CAPTION, outcome.printed)


def plan_hint(value: object, task: Work, sparing: bool = True) -> str:
    """Explain what is wrong with an answer to `plan`; an empty string if nothing is."""
    lives, sizes = task.lives, task.sizes
    if not isinstance(value, dict):
        return "Return a dictionary: for each tensor the number of its buffer."
    if any(integer(buffer) is None for buffer in value.values()):
        return "The number of a buffer is an integer: 0, 1, 2 …"
    if missing := [t for t in lives if t not in value]:
        return f"Each tensor of `lives` needs a buffer, but {missing[0]} has none."
    if extra := [t for t in value if t not in lives]:
        return f"{repr_of(extra[0], 60)} is not a tensor of `lives`, so it needs no buffer."
    pair = clash(value, lives)
    if pair is not None:
        first, second = pair
        when = lives[second][0]
        if lives[first][1] == when:
            return (
                f"Step {when} computes tensor {second} while it still needs tensor {first}, "
                "which is in the same buffer: the arguments of a step are live until it "
                "ends. A buffer is free only after its tensor's last step."
            )
        return f"Tensors {first} and {second} share a buffer, but both are live at step {when}."
    if not sparing or total(value, sizes) <= total(planned(task), sizes):
        return ""
    return _waste(value, task)


def _waste(plan: dict[int, int], task: Work) -> str:
    """Explain why a plan takes more memory than the rule's: try common other rules."""
    used = total(plan, task.sizes)
    for rule, hint_text in _OTHERS:
        if total(planned(task, rule), task.sizes) == used:
            return hint_text
    if len(set(plan.values())) == len(plan):
        return "No buffer is reused. A buffer is free after its tensor's last step."
    if total(_by_number(task), task.sizes) == used:
        return (
            "Visit the tensors in the order in which they are computed, by `lives`; their "
            "numbers have no meaning."
        )
    return (
        "The buffers take more memory than necessary. Visit the tensors in the order in "
        "which they are computed; take the smallest free buffer that is large enough, or "
        "else the largest free one."
    )


def _first(free: list[tuple[int, int]], need: int) -> int:
    return min(range(len(free)), key=lambda at: free[at][1])


def _latest(free: list[tuple[int, int]], need: int) -> int:
    return max(range(len(free)), key=lambda at: free[at][1])


def _largest(free: list[tuple[int, int]], need: int) -> int:
    return len(free) - 1


def _never_grown(free: list[tuple[int, int]], need: int) -> int:
    at = best(free, need)
    return at if free[at][0] >= need else -1


def _smallest_grows(free: list[tuple[int, int]], need: int) -> int:
    at = best(free, need)
    return at if free[at][0] >= need else 0


_FITS = "Of the free buffers that are large enough, take the smallest: a larger one may be needed next."
_TOO_SMALL = "If no free buffer is large enough"
_OTHERS = (
    (_never_grown, f"{_TOO_SMALL}, let the largest of them grow: that takes less memory than a new one."),
    (_smallest_grows, f"{_TOO_SMALL}, let the largest of them grow: it has the least to grow."),
    (_largest, _FITS), (_first, _FITS), (_latest, _FITS),
)  # fmt: skip


def _by_number(task: Work) -> dict[int, int]:
    """Plan the tensors in the order of their numbers."""
    lives = task.lives
    plan: dict[int, int] = {}
    sizes: list[int] = []
    for tensor in sorted(lives):
        result, last = lives[tensor]
        free = [
            (sizes[b], b) for b in range(len(sizes))
            if all(lives[t][1] < result or last < lives[t][0] for t, own in plan.items() if own == b)
        ]  # fmt: skip
        free.sort()
        if free:
            buffer = free[best(free, task.sizes[tensor])][1]
            sizes[buffer] = max(sizes[buffer], task.sizes[tensor])
        else:
            buffer = len(sizes)
            sizes.append(task.sizes[tensor])
        plan[tensor] = buffer
    return plan


# -- feedback


def _case(call: str, typed: IRModule, task: Work) -> str:
    """Write the call, the program, and its steps."""
    shown = text(typed)
    lines = [f"  {n}: {_step(step, task)}" for n, step in enumerate(task.steps[:_MOST_STEPS])]
    more = len(task.steps) - len(lines)
    lines = lines or ["  none: it returns its input"]
    return (
        f"{call}, for the program\n{shown if len(shown) < _LONGEST else shown[:_LONGEST] + '…'}\nIts steps:\n"
        + "\n".join(lines) + (f"\n  and {more} more" if more > 0 else "")
        + f"\nThe result is {', '.join(map(str, task.result))}."
    )  # fmt: skip


def _step(step: Step, task: Work) -> str:
    reads = ", ".join(map(str, step.reads)) or "nothing"
    makes = ", ".join(f"{t} ({counted(task.sizes[t], 'byte')})" for t in step.writes)
    return f"{step.name} reads {reads} and computes {makes}"


def _lives(lives: dict[int, Anything]) -> str:
    return _short(", ".join(f"{t}: {tuple(life)}" for t, life in lives.items())) or "{}"


def _plan(plan: dict[int, int]) -> str:
    return _short(", ".join(f"{t}: b{buffer}" for t, buffer in plan.items())) or "{}"


def _got(value: object, task: Work) -> str:
    if not isinstance(value, dict) or set(value) != set(task.lives):
        return repr_of(value, 300)
    return f"{counted(total(value, task.sizes), 'byte')}: {_plan(value)}"


def _short(text_: str) -> str:
    return text_ if len(text_) < 400 else text_[:400] + "…"


# -- test cases

Cases = Callable[[random.Random, int], Iterable[tuple[IRModule, str]]]


def _programs(
    texts: Iterable[str], kinds: tuple[str, ...], several: bool = False, orders: Iterable[str] = ("program",)
) -> Cases:
    """Yield handwritten programs, then random ones, in each of the given orders."""

    def cases(rng: random.Random, count: int) -> Iterator[tuple[IRModule, str]]:
        names = list(orders)
        for module in written(*texts):
            yield from ((module, name) for name in names)
        for number in range(count):
            yield Maker(rng, kinds).module(2 + number % 9, several), names[number % len(names)]

    return cases


def _networks(rng: random.Random, count: int) -> Iterator[tuple[IRModule, str]]:
    from ... import models
    from ...transform import SimplifyInference

    for name in ("lenet", "squeezenet"):
        module = SimplifyInference()(models.load(name))
        yield from ((module, order) for order in ("program", "level by level"))


def _properties(judge: Judge, *rows: tuple[str, str, Cases]) -> tuple[Property, ...]:
    def one(name: str, says: str, cases: Cases) -> Property:
        def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
            for module, order in cases(rng, count):
                if judge(answer, module, order) is not None:
                    return smallest_failure(partial(judge, answer, schedule=order), [module])
            return None

        return Property(name, says, test)

    return tuple(one(*row) for row in rows)


_X = "%x: Tensor[(4, 4), float32]"
_CHAIN = (
    f"({_X}) {{ exp(%x) }}",
    f"({_X}) {{ tanh(exp(%x)) }}",
    f"({_X}) {{ sqrt(tanh(exp(nn.relu(%x)))) }}",
)
_DIAMOND = f"({_X}) {{ %0 = exp(%x); %1 = tanh(%0); add(sqrt(%1), %0) }}"
_TWO = f"({_X}) {{ %0 = exp(%x); (tanh(%0), %0) }}"
_ROW = "sum(%x, axis=[0], keepdims=True)"
_FITTING = (
    # A large and a small buffer are free: the small value comes first.
    f"({_X}) {{ %0 = exp(%x); %1 = sum(%0, axis=[0], keepdims=True); %2 = tanh(%1); %3 = exp(%2); "
    "%4 = tanh(%3); add(%4, sqrt(%x)) }",
)
_GROWING = (
    f"({_X}) {{ %0 = {_ROW}; %1 = tanh(%0); %2 = add(%1, %x); exp(%2) }}",
    f"({_X}) {{ %0 = sum(%x); %1 = tanh(%0); %2 = add(%1, {_ROW}); %3 = tanh(%2); add(%3, %x) }}",
)
_SIZES = (*PLAIN, "reduction", "reduction", "dense", "transposed", "concatenated")

EXERCISE = {
    "lifetimes": Exercise(
        "lifetimes",
        "lifetimes(steps, result)",
        _properties(
            _judge_lives,
            (
                "straight", "a tensor is live from the step that computes it to the step that reads it",
                _programs(_CHAIN, ("chain",)),
            ),
            (
                "branches", "it is live up to the last of several steps that read it",
                _programs((_DIAMOND,), (*PLAIN, "reduction", "dense"))),
            (
                "ends", "a result is live to the end, an unread tensor while it is computed",
                _programs((_TWO,), (*PLAIN, "concatenated", "concatenated"), True),
            ),
        ),
    ),
    "plan": Exercise(
        "plan",
        "plan(lives, sizes)",
        _properties(
            _judge_apart,
            (
                "apart", "tensors that are live at the same time have different buffers",
                _programs((*_CHAIN[:2], _DIAMOND), (*PLAIN, "reduction"), True),
            ),
        )
        + _properties(
            _judge_plan,
            ("again", "a free buffer is reused", _programs(_CHAIN, ("chain",))),
            (
                "little", "the buffers take no more memory than those of the greedy rule",
                _programs((*_FITTING, *_GROWING), _SIZES, True),
            ),
            (
                "orders", "the steps may come in any valid order",
                _programs((_DIAMOND,), _SIZES, True, SCHEDULES),
            ),
            ("networks", "whole networks", _networks),
        ),
    ),
}  # fmt: skip
