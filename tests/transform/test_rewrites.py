"""What passes tell of their single rewrites: the rule, where it stands, what it found and what it made."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest

from relay_explorer import dataflow_pattern as dfp
from relay_explorer import transform as passes
from relay_explorer.dataflow_pattern import is_op, wildcard
from relay_explorer.dataflow_pattern.matching import NodeMap
from relay_explorer.ir.expr import Call, Constant, Expr
from relay_explorer.ir.op import Op
from relay_explorer.ir.recorder import Recorder, active
from relay_explorer.ir.rewrites import Rewrite, emit_rewrite
from relay_explorer.ir.visitor import ExprMutator
from relay_explorer.text import parse
from relay_explorer.transform import FoldConstant, Pass, SimplifyInference
from relay_explorer.transform.tools.typed_rewrite import call

ROOT = Path(__file__).parents[2]

BATCH_NORM = """
def @main(%x: Tensor[(1, 2, 3, 3), float32], %s: Tensor[(2), float32]) {
  %0 = nn.batch_norm(%x, %s, %s, %s, %s);
  nn.dropout(%0.0).0
}
"""
SCALED = """
def @main(%x: Tensor[(1, 2, 3, 3), float32], %w: Tensor[(4, 2, 1, 1), float32],
          %s: Tensor[(4, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1]);
  multiply(%0, %s)
}
"""
PARALLEL = """
def @main(%x: Tensor[(1, 4), float32], %a: Tensor[(2, 4), float32], %b: Tensor[(2, 4), float32]) {
  (nn.relu(nn.dense(%x, %a, units=2)), nn.relu(nn.dense(%x, %b, units=2)))
}
"""
CALLED = """
def @twice(%y: float32, Inline=1) -> float32 { add(%y, %y) }
def @main(%x: float32) -> float32 { @twice(exp(%x)) }
"""
CONVOLUTION = """
def @main(%x: Tensor[(1, 2, 3, 3), float32], %w: Tensor[(4, 2, 1, 1), float32]) {
  nn.conv2d(%x, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1])
}
"""
GOLDEN: list[tuple[Pass, str, list[str]]] = [
    (
        passes.SimplifyExpr(),
        "def @main(%x: float32) { divide(add(%x, 0f), sqrt(multiply(%x, 1f))) }",
        [
            "`x + 0`, `x - 0`, `x * 1` and `x / 1` are `x`, if they have its shape.",
            "`x + 0`, `x - 0`, `x * 1` and `x / 1` are `x`, if they have its shape.",
            "`x / sqrt(y)` is `x * rsqrt(y)`.",
        ],
    ),
    (
        passes.FoldConstant(),
        "def @main(%x: float32) { let %a = 1f; if (True) { add(%a, add(1f, 2f)) } else { %x } }",
        [
            "A call whose arguments are all constants is computed now.",
            "A call whose arguments are all constants is computed now.",
            "An `if` with a constant condition is replaced by the branch taken.",
            "A variable bound to a constant is replaced by the constant.",
        ],
    ),
    (
        passes.EliminateCommonSubexpr(),
        "def @main(%x: float32) { add(exp(%x), exp(%x)) }",
        ["An equal expression was computed before, so it is reused."],
    ),
    (
        passes.DeadCodeElimination(inline_once=True),
        "def @main(%x: float32) { let %a = exp(%x); let %b = tanh(%x); add(%b, %x) }",
        [
            "It is unused, and its evaluation has no side effects.",
            "A variable that is used once is replaced by its value.",
        ],
    ),
    (
        passes.SimplifyInference(),
        BATCH_NORM,
        [
            "Expand a batch norm into the data times a scale plus a shift, both computed from "
            "the statistics.",
            "`nn.dropout` does nothing at inference time.",
        ],
    ),
    (
        passes.CanonicalizeOps(),
        "def @main(%x: Tensor[(2, 3), float32], %b: Tensor[(3), float32]) { nn.bias_add(%x, %b) }",
        ["`nn.bias_add` is an `add` of the bias, with axes of 1 where it does not vary."],
    ),
    (
        passes.FastMath(),
        "def @main(%x: float32) { exp(%x) }",
        ["Replace a function by its approximation."],
    ),
    (
        passes.BackwardFoldScaleAxis(),
        SCALED,
        [
            "Scaling a layer's weight scales its output channels.",
            "The multiplication is removed; its scale is now in the weight.",
        ],
    ),
    (
        passes.CombineParallelDense(min_num_branches=2, to_batch=False),
        PARALLEL,
        [
            "Calls of one operator on the same data with different weights are combined into one.",
            "The element-wise operators that follow the branches are combined as well.",
            "Each branch takes its part of the combined result.",
            "Each branch takes its part of the combined result.",
        ],
    ),
    (
        passes.CombineSharedDense(min_num_branches=2),
        "def @main(%x: Tensor[(1, 2), float32], %y: Tensor[(1, 2), float32], %w: Tensor[(3, 2), float32])"
        " { (tanh(nn.dense(%x, %w)), tanh(nn.dense(%y, %w))) }",
        [
            "Independent layers with the same weight are combined into one layer on all their rows.",
            "The element-wise operators that follow the branches are combined as well.",
            "Each branch takes its part of the combined result.",
            "Each branch takes its part of the combined result.",
        ],
    ),
    (
        passes.ToANormalForm(),
        "def @main(%x: float32) { exp(tanh(%x)) }",
        ["Each computed value gets a variable; its users refer to it by name."] * 2,
    ),
    (
        passes.ToGraphNormalForm(),
        "def @main(%x: float32) { let %a = exp(%x); add(%a, %a) }",
        ["A variable is replaced by its value, shared by all uses."],
    ),
    (
        passes.FuseOps(1),
        "def @main(%x: Tensor[(2), float32]) { exp(tanh(%x)) }",
        [
            "Element-wise and broadcast operators fuse with what follows, even a reduction or a convolution.",
            "A group is one function, which becomes one kernel.",
        ],
    ),
    (
        passes.Inline(),
        CALLED,
        ["A call of a function marked `Inline` is replaced by the function's body."],
    ),
    (
        passes.ConvertLayout({"nn.conv2d": ["NHWC", "default"]}),
        CONVOLUTION,
        [
            "Insert a layout transform where two layouts meet.",
            "Insert a layout transform where two layouts meet.",
            "The operator is converted to its preferred layout.",
            "Insert a layout transform where two layouts meet.",
        ],
    ),
    (
        passes.RemoveUnusedFunctions(),
        "def @main(%x: float32) { exp(%x) } def @other(%x: float32) { %x }",
        ["No entry point needs it, directly or not."],
    ),
    (
        passes.MergeComposite([("dsp.layer", is_op("tanh")(is_op("exp")(wildcard())))]),
        "def @main(%x: float32) { tanh(exp(%x)) }",
        ["The match moves into a function, which is called in its place."],
    ),
    (
        passes.ToMixedPrecision(),
        CONVOLUTION,
        [
            "Where two element types meet, the value is cast, once.",
            "Where two element types meet, the value is cast, once.",
            "An operator that gains from the narrow type is computed in it.",
        ],
    ),
]


def recording(step: Pass, text: str) -> Recorder[Rewrite]:
    module = parse(text)
    with Recorder(Rewrite) as result:
        step(module)
    return result


@pytest.mark.parametrize(("step", "text", "rules"), GOLDEN, ids=[step.info.name for step, _, _ in GOLDEN])
def test_the_rules_of_a_pass(step: Pass, text: str, rules: list[str]) -> None:
    result = recording(step, text)
    assert [rewrite.rule for rewrite in result.events] == rules
    for rewrite in result.events:
        # The line is where the function that applies the rule is defined.
        line = linecache.getline(str(ROOT / rewrite.path), rewrite.line)
        assert f"def {rewrite.name.rpartition('.')[2]}" in line.replace("def _", "def "), rewrite


def test_a_rewrite_has_what_was_found_and_what_was_made() -> None:
    inner, outer = recording(passes.FoldConstant(), "def @main() { add(add(1f, 2f), 4f) }").events
    assert [isinstance(r.after, Constant) and r.after.data.item() for r in (inner, outer)] == [3, 7]
    (result,) = outer.before
    assert isinstance(result, Call)
    assert result.args[0] is inner.after


class PlusZero(ExprMutator):
    """Adding 0 is doing nothing. More is said later."""

    def visit_call(self, call: Call) -> Expr:
        result = super().visit_call(call)
        assert isinstance(result, Call)
        zero = result.args[-1]
        nothing = isinstance(result.op, Op) and result.op.name == "add" and isinstance(zero, Constant)
        return result.args[0] if nothing else result


def test_a_mutator_of_a_readers_own_is_followed() -> None:
    with Recorder(Rewrite) as result:
        PlusZero().visit(parse("def @main(%x: float32) { exp(add(tanh(%x), 0f)) }")["main"])
    (rewrite,) = result.events  # `exp` on its new argument is not a rewrite
    assert (rewrite.rule, rewrite.name) == ("Adding 0 is doing nothing.", "PlusZero.visit_call")
    assert rewrite.path == ""
    assert "def visit_call" in linecache.getline(__file__, rewrite.line)


class NoDoubleNegation(dfp.DFPatternCallback):
    def __init__(self) -> None:
        super().__init__()
        self.x = dfp.wildcard()
        self.pattern = dfp.is_op("negative")(dfp.is_op("negative")(self.x))

    def callback(self, pre: Expr, post: Expr, node_map: NodeMap) -> Expr:
        """Two negations are none."""
        return node_map[self.x][0]


def test_a_rewriting_of_patterns_is_followed() -> None:
    with Recorder(Rewrite) as result:
        dfp.rewrite(NoDoubleNegation(), parse("def @main(%x: float32) { negative(negative(%x)) }")["main"])
    (rewrite,) = result.events
    assert (rewrite.rule, rewrite.name) == ("Two negations are none.", "NoDoubleNegation.callback")


def a_rule() -> None:
    """A rule."""


def test_nothing_is_recorded_by_default() -> None:
    assert active(Rewrite) is None
    with Recorder(Rewrite) as outer:
        with Recorder(Rewrite) as inner:
            emit_rewrite(a_rule, Constant.__new__(Constant), None)
        assert active(Rewrite) is outer
    assert active(Rewrite) is None
    assert (outer.total, inner.total) == (0, 1)


def test_no_more_is_kept_than_asked_for() -> None:
    with Recorder(Rewrite, limit=2) as result:
        for _ in range(5):
            emit_rewrite(a_rule, call("zeros", shape=[2], dtype="float32"), None)
    assert (len(result.events), result.total) == (2, 5)


def test_a_dropout_of_a_constant_stays() -> None:
    """In training it means something else: SimplifyInference is to say that it does nothing."""
    text = "def @main() { nn.dropout(2f).0 }"
    assert "nn.dropout" in FoldConstant()(parse(text)).astext()
    assert "nn.dropout" not in SimplifyInference()(parse(text)).astext()
