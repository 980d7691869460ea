"""Programs whose way through passes the tests share, on both sides of the view.

`python -m tests.views.pipelines` writes them as views into `frontend/test/data`, for the front end's tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from relay_explorer import transform as passes
from relay_explorer.text import parse
from relay_explorer.views.pipeline.format import PipelineView
from relay_explorer.views.pipeline.view import pipeline_view

DATA = Path(__file__).parents[2] / "frontend" / "test" / "data"

LINE = 7
TREE = "https://code.test/tree/"  # the project's own address stands in one place only

# Something that nobody uses, something that is known, something that is computed twice.
SMALL = """
def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32], %b: Tensor[(8), float32]) {
  let %unused = exp(%x);
  let %scale = multiply(2f, add(3f, 4f));
  let %left = nn.dense(%x, %w, units=8);
  let %right = nn.dense(%x, %w, units=8);
  let %sum = add(%left, %right);
  let %biased = nn.bias_add(%sum, %b);
  multiply(nn.relu(%biased), %scale)
}
"""

# The same without `let`: what nobody uses is not there, and what is fused becomes functions.
SHARED = """
def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) {
  %0 = add(3f, 4f);
  %1 = nn.dense(%x, %w, units=8);
  %2 = nn.dense(%x, %w, units=8);
  %3 = add(%1, %2);
  multiply(nn.relu(%3), %0)
}
"""

# A recursion over something known, which partial evaluation unrolls.
POWER = """
def @power(%n: int32, %x: float32) -> float32 {
  if (equal(%n, 0)) { 1f } else { multiply(%x, @power(subtract(%n, 1), %x)) }
}
def @main(%x: float32) -> float32 {
  let %n = 3;
  let %f = fn (%y: float32) -> float32 { add(@power(%n, %y), 1f) };
  %f(%x)
}
"""


def _small() -> PipelineView:
    steps = [passes.FoldConstant(), passes.EliminateCommonSubexpr(), passes.DeadCodeElimination()]
    return pipeline_view(parse(SMALL), steps, title="small")


def _orders() -> PipelineView:
    """Return the same passes in another order, with one that changes nothing."""
    one = [passes.DeadCodeElimination(), passes.FoldConstant(), passes.EliminateCommonSubexpr()]
    other = [passes.EliminateCommonSubexpr(), passes.FoldConstant(), passes.DeadCodeElimination()]
    return pipeline_view(parse(SMALL), one, against=[*other, passes.FoldConstant()], title="orders")


def _shared() -> PipelineView:
    fold, fuse = passes.FoldConstant(), passes.FuseOps(fuse_opt_level=2)
    steps = [passes.SimplifyInference(), fold, passes.EliminateCommonSubexpr(), fuse]
    return pipeline_view(parse(SHARED), steps, title="shared")


def _power() -> PipelineView:
    steps = [passes.ToANormalForm(), passes.PartialEvaluate(), passes.DeadCodeElimination()]
    return pipeline_view(parse(POWER), steps, title="power")


SAMPLES: dict[str, Callable[[], PipelineView]] = {
    "small": _small, "orders": _orders, "shared": _shared, "power": _power,
}  # fmt: skip


def sample(name: str) -> str:
    """Return the view as the JSON in `frontend/test/data`. It must not change whenever a line is added to a
    pass, so all rules are placed in line LINE.
    """
    view = SAMPLES[name]()
    stages = [
        stage._replace(rewrites=tuple(rewrite._replace(line=LINE) for rewrite in stage.rewrites))
        for stage in view.stages
    ]
    return replace(view, tree=TREE, stages=tuple(stages)).to_json() + "\n"


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for each in SAMPLES:
        (DATA / f"pipeline_{each}.json").write_text(sample(each), "utf-8", newline="\n")
