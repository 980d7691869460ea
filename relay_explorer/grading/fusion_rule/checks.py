"""The checks of the exercise `fusion_rule`: the paths to a post-dominator, and the rule for one step of
fusion.

The rule is called whenever the real pass makes a decision, and compared with what the pass does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any as Anything

from ...analysis.dataflow_graph import DataflowGraph, FlowNode, PostDominators
from ...ir.expr import Call, Constant, Expr, Tuple, TupleGetItem, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import PATTERN_NAMES, Op
from ...ir.walk import post_order
from ...transform.fuse_ops.groups import Limits, Partition
from ...typing import infer_types
from ..answer_values import repr_of
from ..budget import Outcome, limited
from ..check import CASE_SECONDS, Exercise, crashed
from ..feedback import Failure
from ..fragments import main_of, properties, text, written
from . import Flow
from .hints import Situation, hint, paths_hint
from .programs import PLAIN, Maker

CAPTION = "How the package's own pass decides, step by step"
_LONGEST = 1500  # characters of a program that are shown
_ALLOWED = (Call, Tuple, TupleGetItem, Constant, Var, Op)


@dataclass(frozen=True)
class Question:
    """A call of the rule, its answer, and the real pass's decision, once that is known."""

    node: int
    target: int
    phase: int
    situation: Situation
    got: object = None
    right: bool | None = None


class _DiffersError(Exception):
    """The rule disagrees with the pass."""


class Asking(Partition):
    """The real partition, which asks a rule before each of its decisions, and stops at the first answer
    that differs from its own. The questions are collected in `questions`.
    """

    def __init__(
        self, graph: DataflowGraph, rule: Callable[[int, int, Flow], object], questions: list[Question]
    ) -> None:
        self.rule = rule
        self.questions = questions
        super().__init__(graph, Limits(depth=len(graph.nodes)))

    def consider(self, node: FlowNode, phase: int, dominators: PostDominators) -> None:
        at = dominators.parent[node.index]
        if at is None or self._together(node.index, at):
            super().consider(node, phase, dominators)
            return
        flow = Flow(self.graph, self)
        situation = situation_of(flow, node.index, phase + 1)
        self.questions.append(Question(node.index, at, phase + 1, situation))
        got = self.rule(node.index, phase + 1, flow)
        super().consider(node, phase, dominators)
        right = self._together(node.index, at)
        self.questions[-1] = Question(node.index, at, phase + 1, situation, got, right)
        if got is not right:
            raise _DiffersError

    def _together(self, one: int, other: int) -> bool:
        return self.groups[one].find() is self.groups[other].find()


def paths_of(flow: Flow, node: int) -> tuple[set[int], int]:
    """Return the nodes between a node and its post-dominator, and the most opaque pattern of a use on the
    paths.
    """
    end = flow.post_dominator(node)
    between: set[int] = set()
    most, pending = 0, [node]
    while pending:
        for user, pattern in flow.uses(pending.pop()):
            most = max(most, pattern)
            if user != end and user not in between:
                between.add(user)
                pending.append(user)
    return between, most


def situation_of(flow: Flow, node: int, phase: int) -> Situation:
    """Return everything that the rule depends on."""
    between, most = paths_of(flow, node)
    end = flow.post_dominator(node)
    return Situation(
        phase, flow.kernel(node), most, max((flow.kernel(n) for n in between), default=0), flow.kernel(end),
        flow.pattern(end), max((flow.pattern(n) for n in between), default=0),
    )  # fmt: skip


# -- judging


def _in_language(module: IRModule) -> bool:
    """Return whether the function is a graph of operators; shrinking may produce other programs."""
    body = main_of(module).body
    return all(
        isinstance(node, _ALLOWED) and (not isinstance(node, Call) or isinstance(node.op, Op))
        for node in post_order(body)
    )


def _judge_rule(answer: Anything, module: IRModule) -> Failure | None:
    if not _in_language(module):
        return None
    typed = infer_types(module)
    questions: list[Question] = []
    outcome = limited(CASE_SECONDS, Asking, DataflowGraph(main_of(typed)), answer, questions)
    if outcome.error is None:
        return None
    question = questions[-1]
    case = _case("may_fuse", question, typed)
    if not isinstance(outcome.error, _DiffersError):
        return crashed(case, outcome, "True or False", program=module, view="fusion", caption=CAPTION)
    return _wrong(case, question, outcome, module)


def _wrong(case: str, question: Question, outcome: Outcome, module: IRModule) -> Failure:
    got = question.got
    if isinstance(got, bool):
        hint_text = hint(question.situation, bool(question.right))
    else:
        hint_text = "The function must return True or False. Does every path through it end in a `return`?"
    shown = f"{got}" if got is None or isinstance(got, bool) else f"{repr_of(got)}, a {type(got).__name__}"
    return Failure(case, f"{question.right}", shown, hint_text, module, "fusion", CAPTION, outcome.printed)


def _judge_paths(answer: Anything, module: IRModule) -> Failure | None:
    """Test `inspect_paths` on each node that has a post-dominator, before anything is fused."""
    if not _in_language(module):
        return None
    typed = infer_types(module)
    graph = DataflowGraph(main_of(typed))
    partition = Partition(graph, Limits(level=0))
    partition.dominators = dominators = PostDominators(graph)
    flow = Flow(graph, partition)
    for node in graph.nodes:
        end = dominators.parent[node.index]
        if end is None or isinstance(node.expr, (Var, Constant)):
            continue
        right, most = paths_of(flow, node.index)
        question = Question(node.index, end, 0, situation_of(flow, node.index, 1))
        outcome = limited(CASE_SECONDS, answer, node.index, flow)
        case = _case("inspect_paths", question, typed)
        expected = f"{right or set()}, {most}".replace("set()", "{}")
        if outcome.error is not None:
            return crashed(case, outcome, expected, program=module, view="fusion", caption=CAPTION)
        hint_text = paths_hint(outcome.value, (right, most), node.index, end)
        if hint_text:
            got = repr_of(outcome.value, 300)
            return Failure(case, expected, got, hint_text, module, "fusion", CAPTION, outcome.printed)
    return None


# -- feedback


def _case(function: str, question: Question, typed: IRModule) -> str:
    """Write the call, the program, and the operators that the node numbers denote."""
    graph = DataflowGraph(main_of(typed))
    shown = text(typed)
    phase = f", phase={question.phase}" if question.phase else ""
    s = question.situation
    near = sorted({question.node, question.target, *nodes_between(graph, question.node, question.target)})
    nodes = "\n".join(f"  {n}: {_node(graph, n)}" for n in near[:12])
    now = f"\nIts kernel is currently {_word(s.own)}, that of its post-dominator {_word(s.into)}."
    return (
        f"{function}({question.node}{phase}), whose post-dominator is {question.target}, in "
        f"the program\n{shown if len(shown) < _LONGEST else shown[:_LONGEST] + '…'}\nNodes on "
        f"the paths:\n{nodes}{now if question.phase else ''}"
    )


def nodes_between(graph: DataflowGraph, node: int, end: int) -> set[int]:
    """Return the nodes between two."""
    result: set[int] = set()
    pending = [node]
    while pending:
        new = {user.index for user, _ in graph.nodes[pending.pop()].uses} - result - {end}
        result |= new
        pending += new
    return result


def _node(graph: DataflowGraph, number: int) -> str:
    """Describe a node: its label, its pattern, its users."""
    node = graph.nodes[number]
    uses = ", ".join(f"{user.index} ({_word(pattern)})" for user, pattern in node.uses)
    return f"{_label(node.expr)}, {_word(node.pattern)}; used by {uses or 'nothing'}"


def _label(expr: Expr) -> str:
    match expr:
        case Call(op=Op() as op):
            return op.name
        case TupleGetItem():
            return f".{expr.index}"
        case Var():
            return f"%{expr.name_hint}"
    return type(expr).__name__.lower()


def _word(pattern: int) -> str:
    return PATTERN_NAMES.get(pattern, str(pattern))


# -- test cases


def _programs(
    texts: Iterable[str], kinds: tuple[str, ...], several: bool = False
) -> Callable[[random.Random, int], Iterator[IRModule]]:
    def cases(rng: random.Random, count: int) -> Iterator[IRModule]:
        yield from written(*texts)
        for number in range(count):
            yield Maker(rng, kinds).module(2 + number % 9, several)

    return cases


def _models(rng: random.Random, count: int) -> Iterator[IRModule]:
    from ... import models
    from ...transform import SimplifyInference

    for name in ("lenet", "squeezenet", "resnet18"):
        yield SimplifyInference()(models.load(name))


def _rungs(rng: random.Random, count: int) -> Iterator[IRModule]:
    """Yield graphs with so many paths that walking each of them does not finish."""
    yield from _programs((), PLAIN)(rng, count)
    rungs = "".join(f"%{n} = tanh(%{n - 1}); %{n + 1} = add(%{n}, %{n - 1}); " for n in range(1, 61, 2))
    rungs += "%61 = add(%60, %0);"
    yield written(f"({_X}) {{ %0 = nn.dense(%x, %x); {rungs} exp(%61) }}")[0]


_X = "%x: Tensor[(4, 4), float32]"
_W = _X + ", %w: Tensor[(4, 4), float32]"
_CHAIN = (f"({_X}) {{ exp(tanh(%x)) }}", f"({_X}, %b: Tensor[(4), float32]) {{ tanh(add(%x, %b)) }}")
_DIAMOND = f"({_X}) {{ %0 = exp(%x); add(tanh(%0), sqrt(%0)) }}"

EXERCISE = {
    "inspect_paths": Exercise(
        "inspect_paths",
        "inspect_paths(node, flow)",
        properties(
            _judge_paths,
            (
                "straight", "the nodes on a single path are returned", _programs(_CHAIN, ("chain",))
            ),
            (
                "branches", "all paths are followed, up to the node where they meet",
                _programs((_DIAMOND,), (*PLAIN, "reduction", "dense", "transposed")),
            ),
            ("crossing", "each node is visited once, however many paths lead to it", _rungs),
        ),
    ),
    "may_fuse": Exercise(
        "may_fuse",
        "may_fuse(node, phase, flow)",
        properties(
            _judge_rule,
            (
                "elementwise", "element-wise and broadcast operators fuse with the operator that follows",
                _programs((*_CHAIN, _DIAMOND), PLAIN),
            ),
            (
                "reductions", "they also fuse into a reduction, which ends a kernel",
                _programs(
                    (
                        f"({_X}) {{ sum(tanh(%x)) }}",
                        f"({_X}) {{ tanh(sum(%x)) }}",
                        f"({_X}) {{ tanh(cumsum(%x, axis=0)) }}",
                        f"({_X}) {{ cumsum(tanh(%x), axis=0) }}",
                        f"({_X}) {{ %0 = exp(%x); add(sum(%0, axis=[1], keepdims=True), %0) }}",
                    ),
                    (*PLAIN, "reduction", "reduction", "opaque"),
                ),
            ),
            (
                "convolutions", "a convolution fuses with the element-wise operators that follow",
                _programs(
                    (
                        f"({_W}) {{ tanh(nn.dense(%x, %w)) }}",
                        f"({_W}) {{ nn.dense(tanh(%x), %w) }}",
                        f"({_W}) {{ sum(nn.dense(%x, %w)) }}",
                        f"({_W}) {{ %0 = nn.dense(%x, %w); add(tanh(%0), exp(%0)) }}",
                        f"({_W}) {{ %0 = nn.dense(%x, %w); add(%0, exp(%x)) }}",
                        f"({_W}) {{ %0 = exp(%x); add(multiply(nn.dense(%x, %w), %0), %0) }}",
                    ),
                    (*PLAIN, "dense", "dense", "reduction"),
                ),
            ),
            (
                "injective", "injective operators wait for phase 2",
                _programs(
                    (
                        f"({_W}) {{ tanh(transpose(%x)) }}",
                        f"({_W}) {{ nn.dense(transpose(%x), %w) }}",
                        f"({_W}) {{ transpose(nn.dense(%x, %w)) }}",
                        f"({_W}) {{ add(nn.dense(%x, %w), transpose(%x)) }}",
                    ),
                    (*PLAIN, "transposed", "transposed", "dense", "reduction", "opaque"),
                ),
            ),
            (
                "tuples", "inputs of a tuple fuse with its kernel in phase 3",
                _programs(
                    (
                        f"({_X}) {{ concatenate((tanh(%x), exp(%x)), axis=0) }}",
                        f"({_X}) {{ (tanh(%x), exp(%x)) }}",
                        f"({_W}) {{ concatenate((nn.dense(%x, %w), exp(%x)), axis=0) }}",
                    ),
                    (*PLAIN, "concatenated", "concatenated", "transposed", "dense", "reduction"),
                    several=True,
                ),
            ),
            ("models", "whole networks are fused as the compiler fuses them", _models),
        ),
    ),
}  # fmt: skip
