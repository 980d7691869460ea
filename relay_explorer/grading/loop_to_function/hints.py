"""The mistakes that explain a wrong function: its results are compared with what each mistake gives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any as Anything

from ...ir.expr import Var
from .evaluate import AFTERWARDS, EARLY, LATE, NEVER, SEQUENTIAL, EndlessError, Evaluation
from .graphs import Case
from .programs import SHORT

Same = Callable[[Sequence[Anything], Sequence[Anything]], bool]

CYCLE = (
    "The graph has a cycle: the second operand of a Merge is a NextIteration, which depends on the Merge. Do "
    "not follow it from the Merge: inside the loop, the value of a Merge is a parameter of the function."
)
ENDLESS = (
    "The loop goes on as long as the operand of its LoopCond is true. The operands of the NextIterations are "
    "the new arguments. `switch:1` is the value in an iteration, `switch:0` that after the loop."
)
TAIL = (
    "In a tail call, the result of the recursive call is the result of the function, unchanged. Return all "
    "variables as a tuple at the end, and select those that leave through an Exit outside the function."
)
TWICE = (
    "Relay evaluates an expression where it is used: inside the function of the loop, that is in every "
    "iteration. Bind what an Enter brings in to a variable, with a `let` around the loop."
)
_RULES = (
    (
        SEQUENTIAL,
        "All variables change at once: the new value of each is computed from the old values of all. Build "
        "all new values before you replace any variable.",
    ),
    (AFTERWARDS, "The condition is tested before the first iteration, too: the loop may run zero times."),
    (EARLY, "The last iteration is missing. `switch:0` is the value for which the condition is false."),
    (
        NEVER,
        "These are the values before the loop. An Exit has the value after the last iteration; the recursive "
        "call is in the branch for a true condition.",
    ),
    (
        LATE,
        "This is an iteration too many: when the condition is false, the loop returns its variables as they "
        "are, the values of `switch:0`.",
    ),
)


def free_hint(free: Sequence[Var]) -> str:
    """Explain variables that nothing binds."""
    names = ", ".join(f"`%{var.name_hint}`" for var in free[:4])
    return (
        f"Nothing binds {names} there. A parameter is known only in the body of its function, and a `let` "
        "binds its variable only in its own body. Two variables of the same name are two variables: make one "
        "for each Merge."
    )


def crash_hint(error: BaseException) -> str:
    """Explain an error that the answer raised."""
    if isinstance(error, RecursionError):
        return CYCLE
    text = str(error)
    if isinstance(error, KeyError) and ":" in text:
        return (
            "`switch:0` and `switch:1` are references to the two results of the node `switch`: "
            "`graph.node` accepts them, a dictionary of names does not."
        )
    if isinstance(error, ValueError) and "no ordinary operator" in text:
        return "The six operators of a loop are yours to convert: `operator` builds all the others."
    return ""


def type_hint(message: str) -> str:
    """Explain a function that is not well typed."""
    if "not a Relay expression" in message:
        return "All parts of a program are expressions: write `relay.const(3)` for a number."
    if "does not say enough" in message:
        return "Does the function of the loop ever return? In one branch, its result is a tuple."
    if "parameters" in message or "arguments" in message:
        return "The recursive call takes one argument for each parameter, in the same order."
    return (
        "Both branches of the `if` have the type of the function's result. In one, it is the recursive "
        "call; in the other, the tuple of all variables."
    )


def value_hint(case: Case, got: Sequence[Anything], right: Sequence[Anything], same: Same) -> str:
    """Explain wrong results by a common mistake; "" if none is known."""
    graph = case.graph()
    placed = [node.name for node in graph.nodes if node.op == "Placeholder"]
    inputs = [case.inputs[placed.index(name)] for name in graph.inputs]
    with contextlib.suppress(EndlessError, ValueError):  # of a vector in place of a scalar
        if same(got, Evaluation(graph, inputs, limit=SHORT).outputs):
            return "The parameters are in the wrong order: that of `graph.inputs` is the right one."
    for rule, hint in _RULES:
        try:
            if same(got, Evaluation(graph, case.inputs, rule).outputs):
                return hint
        except EndlessError:
            continue
    if len(got) == len(right) <= 5 and any(same(got, order) for order in permutations(right)):
        return "The order is wrong: the results are the values of `graph.outputs`, in that order."
    return ""
