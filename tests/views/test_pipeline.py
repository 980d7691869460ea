"""The pipeline view: stages, rows aligned by where they came from, what became of each expression."""

from __future__ import annotations

import json

import pytest
from inline_snapshot import snapshot

from relay_explorer import explore, models, relay
from relay_explorer.ir import Function, GlobalVar, IRModule, Var
from relay_explorer.ir.equal import structural_equal
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.recorder import Recorder
from relay_explorer.ir.rewrites import Rewrite
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import (
    ConvertLayout,
    DeadCodeElimination,
    EliminateCommonSubexpr,
    FastMath,
    FoldConstant,
    FuseOps,
    Pass,
    Sequential,
    SimplifyInference,
    ToANormalForm,
    function_pass,
)
from relay_explorer.views.fates import Fate
from relay_explorer.views.format import spoken
from relay_explorer.views.pipeline.format import PipelineView
from relay_explorer.views.pipeline.view import pipeline_view
from tests.support.views.check import check

PROGRAM = """
def @main(%x: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] {
  let %dead = exp(%x);
  %0 = multiply(2f, 3f);
  %1 = add(%x, %0);
  %2 = add(%x, %0);
  %3 = tanh(%1);
  multiply(%3, %2)
}
"""
CLEANING: list[Pass] = [FoldConstant(), EliminateCommonSubexpr(), DeadCodeElimination()]


def view(*passes: Pass, text: str = PROGRAM) -> PipelineView:
    return pipeline_view(parse(text), passes)


def sides(shown: PipelineView, stage: int, fate: Fate) -> list[tuple[str, str]]:
    """The rows of that fate, before and after."""
    texts = [row.text for row in shown.rows]
    return [
        (texts[b] if b >= 0 else "", texts[a] if a >= 0 else "")
        for b, a, found in shown.stages[stage].align
        if found == fate
    ]


def test_what_each_pass_changes() -> None:
    shown = view(*CLEANING)
    assert [stage.name for stage in shown.stages] == [
        "as given", "FoldConstant", "EliminateCommonSubexpr", "DeadCodeElimination",
    ]  # fmt: skip
    assert sides(shown, 1, Fate.REMOVED) == [("%0 = multiply(2f, 3f);", "")]
    assert sides(shown, 2, Fate.REMOVED) == [("%2 = add(%x, 6f);", "")]
    assert [b.partition(" =")[0] for b, _ in sides(shown, 3, Fate.REMOVED)] == [
        "let %dead: Tensor[(2, 2), float32]"
    ]
    assert shown.summary == snapshot("3 passes, 3 of which change the program: from 12 expressions to 6.")


def test_rows_are_aligned_though_their_numbers_change() -> None:
    shown = view(*CLEANING)
    assert ("%2 = tanh(%1);", "%1 = tanh(%0);") in sides(shown, 1, Fate.KEPT)


def test_a_replaced_operator_is_rewritten() -> None:
    shown = view(FastMath())
    assert sides(shown, 1, Fate.REWRITTEN) == [
        ("let %dead = exp(%x);", "let %dead = fast_exp(%x);"),
        ("%2 = tanh(%1);", "%2 = fast_tanh(%1);"),
    ]
    told = shown.stages[1].say
    assert told[0].format(*told[1:]) == snapshot(
        "FastMath changed the program. Of its expressions: 2 rewritten."
    )


def test_fused_operators_are_followed_into_their_kernel() -> None:
    shown = view(*CLEANING, FuseOps(2))
    kept = sides(shown, 4, Fate.KEPT)
    assert ("%1 = tanh(%0);", "%1 = tanh(%0);") in kept
    totals = [stage.totals for stage in shown.stages]
    assert [t.kernels for t in totals] == [0, 0, 0, 0, 1]
    assert totals[4].bytes == 32  # one tensor in, one out
    assert totals[3].bytes > 100


def test_a_let_is_the_binding_that_it_was() -> None:
    shown = view(ToANormalForm(), text="def @main(%x: float32) -> float32 { tanh(exp(%x)) }")
    assert [after for _, after in sides(shown, 1, Fate.KEPT)][2:3] == ["let %x1 = exp(%x);"]


def test_a_pass_that_changes_nothing_says_so() -> None:
    shown = view(FastMath(), FastMath())
    same = shown.stages[2]
    assert same.same
    assert same.say == ("{0} changed nothing.", "FastMath")
    assert (same.first, same.last) == (shown.stages[1].first, shown.stages[1].last)


def test_two_pipelines_begin_with_one_program() -> None:
    shown = pipeline_view(parse(PROGRAM), CLEANING, CLEANING[::-1])
    assert [stages for _, stages in shown.pipelines] == [(0, 1, 2, 3), (0, 4, 5, 6)]
    assert shown.stages[3].totals == shown.stages[6].totals
    assert check(json.loads(shown.to_json())) == []


def test_a_sequential_stands_for_its_passes_and_a_readers_pass_has_a_name() -> None:
    @function_pass(opt_level=0)
    def mine(function: object, mod: object, ctx: object) -> object:
        return function

    shown = view(Sequential(CLEANING), mine)
    assert [stage.name for stage in shown.stages][1:] == [
        "FoldConstant", "EliminateCommonSubexpr", "DeadCodeElimination", "mine",
    ]  # fmt: skip
    assert shown.stages[1].source == "relay_explorer/transform/fold_constant.py"
    assert shown.stages[4].source == ""
    assert view(FuseOps()).stages[1].source == "relay_explorer/transform/fuse_ops/__init__.py"


@pytest.mark.parametrize("name", ["lenet", "resnet18", "lstm"])
def test_models(name: str) -> None:
    steps: list[Pass] = [
        SimplifyInference(),
        FoldConstant(),
        EliminateCommonSubexpr(),
        FuseOps(2),
        ToANormalForm(),
    ]
    shown = pipeline_view(models.load(name), steps)
    assert check(json.loads(shown.to_json())) == []


def test_random_programs_give_views() -> None:
    steps: list[Pass] = [FoldConstant(), ToANormalForm(), DeadCodeElimination(), FuseOps(2)]
    for seed in range(40):
        module = generate(50_000 + seed, size=30).module
        assert check(json.loads(pipeline_view(module, steps).to_json())) == [], module


def test_explore_shows_it() -> None:
    shown = explore(PROGRAM, view="pipeline", passes=CLEANING, name="cleaning")
    assert shown.view.kind == "pipeline"
    usual = explore(PROGRAM, view="pipeline", name="usual").view
    assert isinstance(usual, PipelineView)
    names = [stage.name for stage in usual.stages]
    assert (names[:2], names[-1]) == (["as given", "SimplifyInference"], "FuseOps")


def test_a_program_that_is_ill_typed_is_refused_by_the_pass() -> None:
    with pytest.raises(RelayError):
        view(FoldConstant(), text="def @main(%x: Tensor[(2), float32]) { add(%x, zeros(shape=[3])) }")


def test_the_rewrites_inside_a_pass_have_rule_place_and_expressions() -> None:
    shown = view(*CLEANING)
    (fold,) = shown.stages[1].rewrites
    assert (fold.rule, fold.was, fold.became) == snapshot((
        "A call whose arguments are all constants is computed now.", "%0 = multiply(2f, 3f)", "6f",
    ))  # fmt: skip
    assert fold.path == "relay_explorer/transform/fold_constant.py"
    assert [shown.items[n].label for n in fold.before] == ["multiply"]
    assert [shown.items[n].label for n in fold.after] == ["constant 6.0"]
    (merge,) = shown.stages[2].rewrites
    assert (merge.was, merge.became) == ("%2 = add(%x, 6f)", "%0")
    (sweep,) = shown.stages[3].rewrites
    assert sweep.was.endswith("%dead = exp(%x)")
    assert (sweep.became, sweep.after) == ("", ())


def test_a_rewrite_of_attributes_shows_them() -> None:
    text = """
    def @main(%x: Tensor[(1, 2, 3, 3), float32], %w: Tensor[(4, 2, 1, 1), float32]) {
      nn.conv2d(%x, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1])
    }
    """
    shown = view(ConvertLayout({"nn.conv2d": ["NHWC", "default"]}), text=text)
    laid = next(r for r in shown.stages[1].rewrites if r.rule.startswith("The operator is converted"))
    assert laid.was.startswith("nn.conv2d(%x, %w) [data_layout=NCHW")
    assert "data_layout=NHWC" in laid.became


def test_the_graph_looks_through_names_and_kernels() -> None:
    """In A-normal form, or fused, a program has the graph that it had."""

    def graph(stage: int) -> set[tuple[str, tuple[str, ...]]]:
        own = [item for item in shown.items if item.stage == stage and item.part == 1]
        return {(item.label, tuple(shown.items[n].label for n in item.operands)) for item in own}

    shown = view(FoldConstant(), FuseOps(1), ToANormalForm())
    assert graph(1) == graph(2) == graph(3)
    assert ("tanh", ("add",)) in graph(1)
    kernels = {item.kernel for item in shown.items if item.stage == 2 and item.part == 1}
    assert {shown.items[n].label for n in kernels} == {"kernel"}


def test_two_end_programs_are_compared() -> None:
    both = pipeline_view(parse(PROGRAM), CLEANING, CLEANING[:2]).ends
    assert both is not None
    removed = [both.b.rows[pair.b].text for pair in both.pairs if pair.fate == Fate.ADDED]
    assert [text.split(":")[0] for text in removed] == ["let %dead"]
    assert spoken(both.differences[0].say) == snapshot(
        "B (against) has 1 call more than A (the passes): +1 × exp. Equal rows: 6. Rows that "
        "differ: 0; 1 only in B."
    )
    alike = pipeline_view(parse(PROGRAM), CLEANING, CLEANING[::-1]).ends
    assert alike is not None
    assert alike.same
    assert view(*CLEANING).ends is None


def test_recording_changes_nothing() -> None:
    """The same pass, told or not, makes the same program."""
    module = models.load("lenet")
    for step in (SimplifyInference(), FoldConstant(), EliminateCommonSubexpr(), FuseOps(2)):
        with Recorder(Rewrite):
            told = step(module)
        assert structural_equal(told, step(module))
        module = told


def test_an_item_is_called_what_its_row_calls_it() -> None:
    hostile, long = Var("<script>alert(1)</script>"), Var("w" * 450)
    module = IRModule({GlobalVar("main"): Function([hostile, long], relay.add(hostile, long))})
    view = pipeline_view(module, [ToANormalForm()])
    named = [item for item in view.items if item.label.startswith("%")]
    assert named
    for item in named:
        assert item.label in {token.text for token in view.rows[item.row].tokens}
