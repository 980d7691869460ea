"""The checks of the exercise `fusion_rule`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from relay_explorer.analysis.dataflow_graph import DataflowGraph
from relay_explorer.grading import check
from relay_explorer.grading.fragments import main_of
from relay_explorer.grading.fusion_rule.checks import Asking, Question
from relay_explorer.grading.fusion_rule.hints import Situation, allowed
from relay_explorer.grading.fusion_rule.programs import PLAIN, Maker
from relay_explorer.ir.op import OpPattern
from relay_explorer.transform.fuse_ops.groups import Limits, Partition
from relay_explorer.typing import infer_types
from tests.exercises.answers import answer, answers
from tests.exercises.mistakes import Mistake, check_mistake

ALL = (*PLAIN, "reduction", "dense", "transposed", "concatenated", "opaque")


@pytest.mark.parametrize("part", ["inspect_paths", "may_fuse"])
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"fusion_rule.{part}", answers("fusion_rule")[part], seed=seed, programs=40)
    assert feedback.passed, str(feedback)


def test_accepts_paths_in_order_of_indices() -> None:
    def in_order(node, flow):  # type: ignore[no-untyped-def]
        """Visit nodes in order of their indices: users have larger indices than their operands."""
        end = flow.post_dominator(node)
        visited, most = {node}, 0
        for n in range(node, end):
            if n in visited:
                visited |= {user for user, _ in flow.uses(n)}
                most = max([most, *(pattern for _, pattern in flow.uses(n))])
        return sorted(visited - {node, end}), most

    feedback = check("fusion_rule.inspect_paths", in_order, programs=40)
    assert feedback.passed, str(feedback)


# -- the check itself


def questions(seed: int) -> list[Question]:
    """Return the questions that fusing a random program asks, answered by the exercise's rule."""
    rng = random.Random(seed)
    module = infer_types(Maker(rng, ALL).module(3 + seed % 12, several=True))
    log: list[Question] = []

    def rule(node: int, phase: int, flow: object) -> bool:
        return allowed(log[-1].situation)

    result = Asking(DataflowGraph(main_of(module)), rule, log)
    reference = Partition(DataflowGraph(main_of(module)), Limits(depth=len(result.graph.nodes)))
    for node, counterpart in zip(result.graph.nodes, reference.graph.nodes):
        assert result.group_of(node).root.index == reference.group_of(counterpart).root.index
    return log


def test_stated_rule_matches_the_pass() -> None:
    """On random programs they never differ, and every clause of the rule both accepts and rejects."""
    observed: Counter[tuple[object, ...]] = Counter()
    for seed in range(250):
        for question in questions(seed):
            assert question.got is question.right, question
            observed[question.situation.own, question.phase, question.right] += 1
    accepted = {(own, phase) for own, phase, right in observed if right}
    assert {(p, n) for p in (OpPattern.ELEMWISE, OpPattern.BROADCAST) for n in (1, 3)} <= accepted
    assert {(OpPattern.INJECTIVE, 2), (OpPattern.INJECTIVE, 3), (OpPattern.TUPLE, 2)} <= accepted
    assert (OpPattern.OUT_ELEMWISE_FUSABLE, 1) in accepted
    assert not {own for own, _ in accepted} & {OpPattern.COMM_REDUCE, OpPattern.OPAQUE}
    assert {(own, phase) for own, phase, right in observed if not right} >= {
        (own, phase) for own in (0, 1, 2, 3, 4, 8) for phase in (1, 2, 3)
    }


def test_never_asks_about_fused_nodes() -> None:
    for seed in range(40):
        for question in questions(seed):
            assert isinstance(question.situation, Situation)
            assert question.node != question.target


# -- common mistakes

INTO, BETWEEN = "own, into = flow.kernel(node), flow.kernel(end)", "max([flow.kernel(n) for n in nodes]"
PHASE_3 = "return own <= INJECTIVE and flow.pattern(end) == TUPLE and inside <= INJECTIVE"
LAST = "    return False"
CONVOLUTION = "return phase == 1 and most == ELEMWISE and inside <= BROADCAST"
GENERAL_CASE = "return most <= REDUCTION and between <= INJECTIVE and into <= OUT_FUSABLE"
INJECTIVE_CASE = "return phase == 2 and inside <= INJECTIVE"
RULE = {
    "returns nothing": Mistake([(LAST, "    pass")], "reductions", "True or False"),
    "fuses everything": Mistake([(GENERAL_CASE, "return True")], "reductions", "needs the whole value"),
    "fuses opaque operators": Mistake(
        [(LAST, "    return own == OPAQUE and inside <= INJECTIVE")], "reductions", "opaque"
    ),
    "fuses after a reduction": Mistake(
        [("own in (INJECTIVE, TUPLE)", "own in (INJECTIVE, REDUCTION, TUPLE)")],
        "reductions",
        "A reduction ends a kernel",
    ),
    "never fuses into a reduction": Mistake(
        [(GENERAL_CASE, GENERAL_CASE.replace("<= REDUCTION", "<= INJECTIVE"))],
        "reductions",
        "fuse into a reduction",
    ),
    "fuses across a reduction": Mistake(
        [(GENERAL_CASE, "return most <= REDUCTION and into <= OUT_FUSABLE")],
        "reductions",
        "not inside it",
    ),
    "fuses into a kernel with a convolution": Mistake(
        [(GENERAL_CASE, GENERAL_CASE.replace("<= OUT_FUSABLE", "<= REDUCTION"))],
        "convolutions",
        "may already contain a convolution",
    ),
    "uses the pattern of the end": Mistake(
        [(INTO, "own, into = flow.kernel(node), flow.pattern(end)")], "convolutions", "use `flow.kernel`"
    ),
    "uses the patterns of the nodes between": Mistake(
        [(BETWEEN, "max([flow.pattern(n) for n in nodes]")], "convolutions", "use `flow.kernel`"
    ),
    "fuses convolutions along any use": Mistake(
        [(CONVOLUTION, CONVOLUTION.replace("most == ELEMWISE", "most <= REDUCTION"))],
        "convolutions",
        "must be element-wise",
    ),
    "never fuses convolutions": Mistake(
        [(CONVOLUTION, "return False")], "convolutions", "before the result is"
    ),
    "fuses two convolutions": Mistake(
        [(CONVOLUTION, "return phase == 1 and most == ELEMWISE")], "convolutions", "opaque than broadcast"
    ),
    "fuses injective in phase 1": Mistake(
        [(INJECTIVE_CASE, "return inside <= INJECTIVE")], "injective", "come first"
    ),
    "fuses injective into reductions": Mistake(
        [(INJECTIVE_CASE, "return phase == 2 and between <= INJECTIVE")], "injective", "not with a reduction"
    ),
    "never fuses injective": Mistake([(INJECTIVE_CASE, "return False")], "injective", "In phase 2"),
    "fuses tuples in phase 1": Mistake(
        [(GENERAL_CASE, GENERAL_CASE.replace("<= OUT_FUSABLE", "<= TUPLE"))],
        "tuples",
        "nothing fuses with one before",
    ),
    "never fuses tuples": Mistake(
        [("own in (INJECTIVE, TUPLE)", "own == INJECTIVE")], "tuples", "so do tuples"
    ),
    "has no phase 3": Mistake([(PHASE_3, "return False")], "tuples", "fuses with a tuple"),
    "fuses with any end in phase 3": Mistake(
        [(PHASE_3, "return own <= INJECTIVE and inside <= INJECTIVE")],
        "tuples",
        "Phase 3 only considers",
        programs=60,
    ),
    "ignores the patterns between in phase 3": Mistake(
        [(PHASE_3, "return own <= INJECTIVE and flow.pattern(end) == TUPLE")], "tuples", "already"
    ),
    "numbers phases from 0": Mistake([("if phase == 3:", "if phase == 2:")], "injective", "In phase 2"),
}


@pytest.mark.parametrize("name", RULE)
def test_hints_at_common_mistake_in_rule(name: str) -> None:
    check_mistake("fusion_rule", "may_fuse", "fusion_rule.may_fuse", RULE[name])


USER = "if user != end and user not in between:"
PATHS = {
    "follows the first use only": Mistake(
        [("flow.uses(pending.pop()):", "flow.uses(pending.pop())[:1]:")],
        "branches",
        "",
    ),
    "includes the end": Mistake(
        [(USER, "if user not in between:")], "straight", "not one of the nodes between"
    ),
    "includes the node": Mistake([("between, most = set()", "between, most = {node}")], "straight", "itself"),
    "returns the patterns of nodes": Mistake(
        [("max(most, pattern)", "max(most, flow.pattern(user))")], "branches", "patterns of uses"
    ),
    "returns the pattern of the last use": Mistake(
        [("most = max(most, pattern)", "most = pattern")], "branches", "largest"
    ),
    "visits shared nodes again": Mistake([(USER, "if user != end:")], "crossing", "", endless=True),
    "returns the nodes only": Mistake(
        [("return between, most", "return between")], "straight", "Return a pair"
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_hints_at_common_mistake_in_paths(name: str) -> None:
    check_mistake("fusion_rule", "inspect_paths", "fusion_rule.inspect_paths", PATHS[name])


def test_draws_smallest_program() -> None:
    wrong = answer(
        "fusion_rule", "may_fuse", (GENERAL_CASE, "return most <= REDUCTION and into <= OUT_FUSABLE")
    )
    feedback = check("fusion_rule.may_fuse", wrong, "reductions", seed=7)
    assert feedback.failure is not None
    assert feedback.failure.case.count("sum(") <= 1
    assert "Nodes on the paths:" in feedback.failure.case
    assert (feedback.failure.expected, feedback.failure.got) == ("False", "True")
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "fusion"


def test_reports_question_of_a_crash() -> None:
    def rule(node, phase, flow):  # type: ignore[no-untyped-def]
        return flow.uses(node)[9] > 0

    failure = check("fusion_rule.may_fuse", rule).failure
    assert failure is not None
    assert "may_fuse(1, phase=1), whose post-dominator is" in failure.case
    assert "IndexError" in failure.got
