"""The checks of the exercise `loop_to_function`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from relay_explorer import explore, relay
from relay_explorer.grading import check
from relay_explorer.grading.loop_to_function import Graph, fibonacci, operator, parameter, program
from relay_explorer.grading.loop_to_function.evaluate import ITERATIONS, EndlessError, Evaluation
from relay_explorer.grading.loop_to_function.graphs import Case, Loop
from relay_explorer.grading.loop_to_function.programs import random_loop, random_nested, smaller, valid
from relay_explorer.grading.loop_to_function.tail_calls import call_that_returns, recursive
from relay_explorer.ir.narrow import as_function
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake

EXERCISE = "loop_to_function"

# Endless code is stopped by an exception in its thread, which may come while Python collects garbage.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.parametrize("part", [EXERCISE, f"{EXERCISE}.nested"])
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(part, answer(EXERCISE, EXERCISE), seed=seed, programs=100)
    assert feedback.passed, str(feedback)


def with_parameters(graph: Graph) -> Any:
    """Convert one loop: pass the invariants as parameters, return only the Exits from the function, and
    compute the values in the order of their dependences.
    """
    params = {name: parameter(graph.node(name)) for name in graph.inputs}
    enters = [node for node in graph.nodes if node.op == "Enter"]
    exits = [node for node in graph.nodes if node.op == "Exit"]
    loop, variables = relay.var("again"), {node.name: relay.var(f"v_{node.name}") for node in enters}
    known: dict[str, Any] = {
        **params,
        **{node.name: variables[node.name] for node in enters if node.is_constant},
    }
    merge_of = {node.inputs[0]: node for node in graph.nodes if node.op == "Merge"}
    for enter, merge in merge_of.items():
        known[merge.name] = variables[enter]
    before: dict[str, Any] = {}

    def settle(known: dict[str, Any], stops: tuple[str, ...]) -> None:
        changed = True
        while changed:
            changed = False
            for node in graph.nodes:
                if node.name in known or node.op in stops or any(i not in known for i in node.inputs):
                    continue
                changed = True
                operands = [known[i] for i in node.inputs]
                if node.op == "Switch":
                    known[node.name] = known[f"{node.name}:0"] = known[f"{node.name}:1"] = operands[0]
                elif node.op in ("LoopCond", "NextIteration"):
                    known[node.name] = operands[0]
                elif node.op != "Placeholder":
                    known[node.name] = operator(node, operands)

    before.update(params)
    settle(before, ("Enter", "Exit", "Merge"))
    settle(known, ("Enter", "Exit"))
    (condition,) = [known[node.name] for node in graph.nodes if node.op == "LoopCond"]
    following = [
        variables[node.name] if node.is_constant else known[merge_of[node.name].inputs[1]] for node in enters
    ]
    leaving = relay.Tuple([known[node.inputs[0]] for node in exits])
    function = relay.Function(
        list(variables.values()), relay.If(condition, relay.Call(loop, following), leaving)
    )
    final = relay.var("final")
    after: dict[str, Any] = dict(before)
    for index, node in enumerate(exits):
        after[node.name] = relay.TupleGetItem(final, index)
    settle(after, ("Enter", "Exit", "Merge"))
    first = relay.Call(loop, [before[node.inputs[0]] for node in enters])
    result = relay.Tuple([after[output] for output in graph.outputs])
    return relay.Function(list(params.values()), relay.Let(loop, function, relay.Let(final, first, result)))


@pytest.mark.parametrize("seed", range(2))
def test_alternative_solution_passes(seed: int) -> None:
    feedback = check(EXERCISE, with_parameters, seed=seed)
    assert feedback.passed, str(feedback)


CYCLE = "inside = {**entered, **variables}"
LATER = "[value(node.inputs[1], inside) for node in merges]"
BODY = "body = relay.If(value(condition, inside), again, relay.Tuple(list(variables.values())))"
FIRST = "first = relay.Call(loop, [entered[node.inputs[0]] for node in merges])"
LET = "result = relay.Let(loop, relay.Function(list(variables.values()), body), first)"
BIND = "result = relay.Let(entered[node.name], value(node.inputs[0], known), result)"
ENTERED = "entered = {node.name: relay.var(node.name) for node in enters}"
RETURN = "return relay.Function(params, relay.Tuple([value(output, known) for output in graph.outputs]))"
PARAMS = "params = [parameter(graph.node(name)) for name in graph.inputs]"
EXIT = "index = list(variables).index(graph.node(node.inputs[0]).inputs[0])"
COND = 'elif node.op in ("LoopCond", "NextIteration"):'
SEQUENTIAL = """following = []
        for node in merges:
            following.append(value(node.inputs[1], inside))
            for switch in graph.nodes:
                if switch.op == "Switch" and switch.inputs[0] == node.name:
                    inside[f"{switch.name}:1"] = following[-1]
        again = relay.Call(loop, following)"""
WRONG = {
    "follows the cycle": Mistake(
        [(COND, 'elif node.op == "Merge":\n                known[reference] = value(node.inputs[1], known)\n'
                f'            {COND.replace("(", "(SWITCH, ").replace("SWITCH", repr("Switch"))}'),
         (CYCLE, "inside = dict(entered)"),
         ('inside[f"{node.name}:0"] = inside[f"{node.name}:1"] = variables[node.inputs[0]]', "pass")],
        "count",
        "The graph has a cycle",
    ),
    "has no case for LoopCond": Mistake(
        [(COND, 'elif node.op == "NextIteration":')], "count", "yours to convert"
    ),
    "updates one variable after the other": Mistake(
        [(f"again = relay.Call(loop, {LATER})", SEQUENTIAL)], "several", "All variables change at once"
    ),
    "exchanges the branches": Mistake(
        [(BODY, "body = relay.If(value(condition, inside), relay.Tuple(list(variables.values())), again)")],
        "count",
        "These are the values before the loop",
    ),
    "returns the new values": Mistake(
        [(BODY, f"body = relay.If(value(condition, inside), again, relay.Tuple({LATER}))")],
        "count",
        "an iteration too many",
    ),
    "tests the condition afterwards": Mistake(
        [
            (FIRST, "start = {**entered, **{m.name: entered[m.inputs[0]] for m in merges}}\n        "
                    "for node in graph.nodes:\n            "
                    "if node.op == 'Switch' and node.inputs[0] in variables:\n                "
                    "start[f'{node.name}:1'] = start[node.inputs[0]]\n        "
                    "first = relay.Call(loop, [value(node.inputs[1], start) for node in merges])"),
        ],
        "zero",
        "tested before the first iteration",
    ),
    "calls itself with the old values": Mistake(
        [(LATER, "list(variables.values())")], "count", "The loop goes on as long as", endless=True
    ),
    "is not tail recursive": Mistake(
        [
            (
                BODY,
                "again = relay.Tuple([relay.TupleGetItem(again, k) for k in range(len(merges))])"
                f"\n        {BODY}",
            )
        ],
        "tail",
        "In a tail call",
    ),
    "computes entering values in each iteration": Mistake(
        [(ENTERED, "entered = {node.name: value(node.inputs[0], known) for node in enters}"), (BIND, "pass")],
        "once",
        "Bind what an Enter brings in",
    ),
    "does not bind what enters": Mistake([(BIND, "pass")], "count", "Nothing binds"),
    "does not bind the loop": Mistake(
        [(LET, "result = first")],
        "count",
        "Nothing binds `%loop`",
    ),
    "creates a variable twice": Mistake(
        [("relay.Tuple(list(variables.values())))", "relay.Tuple([relay.var(name) for name in variables]))")],
        "count",
        "Two variables of the same name",
    ),
    "returns the exits in the order of the nodes": Mistake(
        [(RETURN, RETURN.replace("value(output, known) for output in graph.outputs",
                                 "value(output, known) for output in sorted(graph.outputs)"))],
        "several",
        "The order is wrong",
    ),
    "takes parameters in the order of the nodes": Mistake(
        [(PARAMS, "names = [node.name for node in graph.nodes if node.op == 'Placeholder']\n    "
                  "params = [parameter(graph.node(name)) for name in names]"),
         ("dict(zip(graph.inputs, params))", "dict(zip(names, params))")],
        "count",
        "The parameters are in the wrong order",
    ),
    "returns the first variable of a loop for each exit": Mistake([(EXIT, "index = 0")], "several", ""),
    "has a parameter for each node that enters": Mistake(
        [(PARAMS, PARAMS + "\n    params.append(relay.var('more'))")],
        "count",
        "a parameter for each Placeholder",
    ),
    "passes too few arguments": Mistake(
        [(LATER, LATER.replace("merges]", "merges[1:]]"))], "count", "one argument for each parameter"
    ),
    "returns one value from a branch": Mistake(
        [(BODY, "body = relay.If(value(condition, inside), again, list(variables.values())[0])")],
        "count",
        "Both branches of the `if`",
    ),
    "returns the value itself": Mistake(
        [(RETURN, "return relay.Function(params, value(graph.outputs[0], known))")],
        "count",
        "a tuple of the values of `graph.outputs`",
    ),
    "returns an expression": Mistake(
        [(RETURN, "return relay.Tuple([value(output, known) for output in graph.outputs])")],
        "count",
        "Return the whole function",
    ),
    "returns nothing": Mistake(
        [(RETURN, RETURN.replace("return", "result ="))], "count", "end in a `return`"
    ),
    "never returns": Mistake([(BODY, "body = again")], "count", "Does the function of the loop ever return"),
    "returns other element types": Mistake(
        [("value(output, known) for output in graph.outputs",
          "relay.cast(value(output, known), 'float32') for output in graph.outputs")],
        "count",
        "",
    ),
    "looks up a port as a name": Mistake(
        [("node = graph.node(reference)", "node = {node.name: node for node in graph.nodes}[reference]"),
         ('inside[f"{node.name}:0"] = inside[f"{node.name}:1"] = ', "inside[node.name] = ")],
        "count",
        "references to the two results",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake(EXERCISE, EXERCISE, EXERCISE, WRONG[name])


def test_nested_loop_reveals_function_that_ignores_frames() -> None:
    every = ('if node.op == "Enter" and node.frame == frame]', 'if node.op == "Enter"]')
    wrong = answer(EXERCISE, EXERCISE, every)
    assert check(EXERCISE, wrong, programs=20).passed
    feedback = check(f"{EXERCISE}.nested", wrong, programs=20)
    assert feedback.failed == "nested"


def test_shows_smallest_graph() -> None:
    wrong = answer(EXERCISE, EXERCISE, *WRONG["updates one variable after the other"].changes)
    feedback = check(EXERCISE, wrong, "condition", seed=3)
    assert feedback.failure is not None
    lines = feedback.failure.case.splitlines()
    assert len(lines) <= 26
    assert sum(" = Merge(" in line for line in lines) == 2
    assert lines[-1].startswith("for x0 = ")
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "evaluation"


# -- the check itself


def test_evaluation_follows_the_graph() -> None:
    evaluation = Evaluation(fibonacci(), [10])
    assert [int(value) for value in evaluation.outputs] == [55]
    assert evaluation.work == {"less": 11, "add": 20}


def test_evaluation_of_endless_loop_stops() -> None:
    loop = Loop((("const", 0),), (("var", 0),), ("Less", ("var", 0), ("const", 1)))
    case = Case((), loop, (("exit", 0),))
    with pytest.raises(EndlessError):
        Evaluation(case.graph(), [], limit=10)
    assert ITERATIONS > 3_000


def test_random_graphs_are_valid_and_shrink_to_valid_graphs() -> None:
    rng = random.Random(5)
    for number in range(20):
        case = random_nested(rng) if number % 2 else random_loop(rng, 3, 2, vectors=True)
        assert valid(case), case
        for candidate in list(smaller(case))[:10]:
            assert valid(candidate)
            assert candidate != case


def test_shrinking_ends_with_two_iterations_of_a_small_loop() -> None:
    case = random_nested(random.Random(1))
    steps = 0
    while (following := next(iter(smaller(case)), None)) is not None:
        case, steps = following, steps + 1
        assert steps < 500
    assert case.loop.inner is None
    assert len(case.loop.initial) <= 2
    assert case.inputs == (2,)


def test_detects_calls_that_are_not_tail_calls() -> None:
    text = """#[version = "0.0.5"]
    def @main(%n: int32) -> int32 {{
      let %f = fn (%i: int32) -> int32 {{ if (%i == 0) {{ 0 }} else {{ {} }} }};
      %f(%n)
    }}"""
    for recursion, tail in (
        ("%f(%i - 1)", True),
        ("let %j = %i - 1; %f(%j)", True),
        ("%f(%i - 1) + 1", False),
        ("let %r = %f(%i - 1); %r", False),
        ("%f(%f(%i - 1))", False),
        ("if (%f(0) == 0) { 1 } else { 2 }", False),
    ):
        function = as_function(relay.parse(text.format(recursion))["main"])
        assert recursive(function)
        var = call_that_returns(function)
        assert (var is None) == tail, recursion
    plain = as_function(relay.parse(text.format("1"))["main"])
    assert not recursive(plain)
    assert call_that_returns(plain) is None


def test_solution_of_fibonacci_opens_in_evaluation_explorer() -> None:
    module = program(answer(EXERCISE, EXERCISE)(fibonacci()), 5)
    assert explore(module, view="evaluation").view.kind == "evaluation"
    (value,) = relay.create_executor("debug", mod=module).evaluate()()
    assert value.numpy() == np.int32(5)
