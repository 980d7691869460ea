"""The exercise `fusion_rule`: right answers pass, and every usual mistake is told by its name."""

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
from tests.exercises.mistakes import Mistake, tried

ALL = (*PLAIN, "reduction", "dense", "moved", "joined", "opaque")


@pytest.mark.parametrize("part", ["ways", "may_fuse"])
@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"fusion_rule.{part}", answers("fusion_rule")[part], seed=seed, programs=40)
    assert feedback.passed, str(feedback)


def test_another_way_of_writing_it_passes() -> None:
    def backwards(node, flow):  # type: ignore[no-untyped-def]
        """In the order of the numbers: what uses a node has a larger one."""
        end = flow.post_dominator(node)
        reached, most = {node}, 0
        for n in range(node, end):
            if n in reached:
                reached |= {user for user, _ in flow.uses(n)}
                most = max([most, *(pattern for _, pattern in flow.uses(n))])
        return sorted(reached - {node, end}), most

    feedback = check("fusion_rule.ways", backwards, programs=40)
    assert feedback.passed, str(feedback)


# -- what the check itself rests on


def questions(seed: int) -> list[Question]:
    """All that a random program asks, answered as the exercise states the rule."""
    rng = random.Random(seed)
    module = infer_types(Maker(rng, ALL).module(3 + seed % 12, several=True))
    asked: list[Question] = []

    def rule(node: int, phase: int, flow: object) -> bool:
        return allowed(asked[-1].situation)

    result = Asking(DataflowGraph(main_of(module)), rule, asked)
    plain = Partition(DataflowGraph(main_of(module)), Limits(depth=len(result.graph.nodes)))
    for one, other in zip(result.graph.nodes, plain.graph.nodes):
        assert result.group_of(one).root.index == plain.group_of(other).root.index
    return asked


def test_the_rule_of_the_text_is_that_of_the_pass() -> None:
    """On random programs they never differ, and every clause of the rule says yes and no."""
    observed: Counter[tuple[object, ...]] = Counter()
    for seed in range(250):
        for question in questions(seed):
            assert question.got is question.right, question
            observed[question.situation.own, question.phase, question.right] += 1
    yes = {(own, phase) for own, phase, right in observed if right}
    assert {(p, n) for p in (OpPattern.ELEMWISE, OpPattern.BROADCAST) for n in (1, 3)} <= yes
    assert {(OpPattern.INJECTIVE, 2), (OpPattern.INJECTIVE, 3), (OpPattern.TUPLE, 2)} <= yes
    assert (OpPattern.OUT_ELEMWISE_FUSABLE, 1) in yes
    assert not {own for own, _ in yes} & {OpPattern.COMM_REDUCE, OpPattern.OPAQUE}
    assert {(own, phase) for own, phase, right in observed if not right} >= {
        (own, phase) for own in (0, 1, 2, 3, 4, 8) for phase in (1, 2, 3)
    }


def test_nothing_is_asked_of_a_node_that_is_there_already() -> None:
    for seed in range(40):
        for question in questions(seed):
            assert isinstance(question.situation, Situation)
            assert question.node != question.target


# -- the usual mistakes

INTO, BETWEEN = "own, into = flow.kernel(node), flow.kernel(end)", "max([flow.kernel(n) for n in nodes]"
PHASE_3 = "return own <= INJECTIVE and flow.pattern(end) == TUPLE and inside <= INJECTIVE"
LAST = "    return False"
CONVOLUTION = "return phase == 1 and most == ELEMWISE and inside <= BROADCAST"
PLAINLY = "return most <= REDUCTION and between <= INJECTIVE and into <= OUT_FUSABLE"
MOVED = "return phase == 2 and inside <= INJECTIVE"
RULE = {
    "nothing returned": Mistake([(LAST, "    pass")], "reductions", "True or False"),
    "fuses everything": Mistake([(PLAINLY, "return True")], "reductions", "needs all of the value"),
    "opaque": Mistake([(LAST, "    return own == OPAQUE and inside <= INJECTIVE")], "reductions", "opaque"),
    "reductions go on": Mistake(
        [("own in (INJECTIVE, TUPLE)", "own in (INJECTIVE, REDUCTION, TUPLE)")],
        "reductions",
        "A reduction ends a kernel",
    ),
    "no reduction": Mistake(
        [(PLAINLY, PLAINLY.replace("<= REDUCTION", "<= INJECTIVE"))],
        "reductions",
        "joins a reduction",
    ),
    "a reduction in the middle": Mistake(
        [(PLAINLY, "return most <= REDUCTION and into <= OUT_FUSABLE")],
        "reductions",
        "not in its middle",
    ),
    "a branch beside a convolution": Mistake(
        [(PLAINLY, PLAINLY.replace("<= OUT_FUSABLE", "<= REDUCTION"))],
        "convolutions",
        "may have a convolution",
    ),
    "own patterns": Mistake(
        [(INTO, "own, into = flow.kernel(node), flow.pattern(end)")], "convolutions", "ask `flow.kernel`"
    ),
    "own patterns between": Mistake(
        [(BETWEEN, "max([flow.pattern(n) for n in nodes]")], "convolutions", "ask `flow.kernel`"
    ),
    "convolutions along anything": Mistake(
        [(CONVOLUTION, CONVOLUTION.replace("most == ELEMWISE", "most <= REDUCTION"))],
        "convolutions",
        "must be element-wise",
    ),
    "convolutions never": Mistake([(CONVOLUTION, "return False")], "convolutions", "before the result is"),
    "two convolutions": Mistake(
        [(CONVOLUTION, "return phase == 1 and most == ELEMWISE")], "convolutions", "nothing above broadcast"
    ),
    "injective at once": Mistake([(MOVED, "return inside <= INJECTIVE")], "injective", "come first"),
    "injective anywhere": Mistake(
        [(MOVED, "return phase == 2 and between <= INJECTIVE")], "injective", "not a reduction"
    ),
    "injective never": Mistake([(MOVED, "return False")], "injective", "In phase 2"),
    "tuples at once": Mistake(
        [(PLAINLY, PLAINLY.replace("<= OUT_FUSABLE", "<= TUPLE"))], "tuples", "nothing joins one before"
    ),
    "tuples stay": Mistake([("own in (INJECTIVE, TUPLE)", "own == INJECTIVE")], "tuples", "so does a tuple"),
    "no phase 3": Mistake([(PHASE_3, "return False")], "tuples", "joins a tuple"),
    "phase 3 for all": Mistake(
        [(PHASE_3, "return own <= INJECTIVE and inside <= INJECTIVE")],
        "tuples", "Phase 3 is for", programs=60,
    ),
    "phase 3 alone": Mistake(
        [(PHASE_3, "return own <= INJECTIVE and flow.pattern(end) == TUPLE")], "tuples", "already"
    ),
    "phases from 0": Mistake([("if phase == 3:", "if phase == 2:")], "injective", "In phase 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", RULE)
def test_a_usual_mistake_of_the_rule_is_named(name: str) -> None:
    tried("fusion_rule", "may_fuse", "fusion_rule.may_fuse", RULE[name])


USER = "if user != end and user not in between:"
WAYS = {
    "the first use": Mistake(
        [("flow.uses(pending.pop()):", "flow.uses(pending.pop())[:1]:")],
        "branches",
        "",
    ),
    "with the end": Mistake([(USER, "if user not in between:")], "straight", "not between"),
    "with the node": Mistake([("between, most = set()", "between, most = {node}")], "straight", "itself"),
    "the nodes' patterns": Mistake(
        [("max(most, pattern)", "max(most, flow.pattern(user))")], "branches", "patterns of uses"
    ),
    "the last use": Mistake([("most = max(most, pattern)", "most = pattern")], "branches", "largest"),
    "every way": Mistake([(USER, "if user != end:")], "crossing", "", endless=True),
    "no pair": Mistake([("return between, most", "return between")], "straight", "Return a pair"),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_a_usual_mistake_of_the_ways_is_named(name: str) -> None:
    tried("fusion_rule", "ways", "fusion_rule.ways", WAYS[name])


def test_the_smallest_program_is_found_and_drawn() -> None:
    wrong = answer("fusion_rule", "may_fuse", (PLAINLY, "return most <= REDUCTION and into <= OUT_FUSABLE"))
    feedback = check("fusion_rule.may_fuse", wrong, "reductions", seed=7)
    assert feedback.failure is not None
    assert feedback.failure.case.count("sum(") <= 1
    assert "Nodes on the way:" in feedback.failure.case
    assert (feedback.failure.expected, feedback.failure.got) == ("False", "True")
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "fusion"


def test_a_crash_says_what_was_asked() -> None:
    def rule(node, phase, flow):  # type: ignore[no-untyped-def]
        return flow.uses(node)[9] > 0

    failure = check("fusion_rule.may_fuse", rule).failure
    assert failure is not None
    assert "may_fuse(1, phase=1), whose post-dominator is" in failure.case
    assert "IndexError" in failure.got
