"""Rows beside each other: as few as can be are said to have moved, and what is still there keeps its row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relay_explorer.text import parse
from relay_explorer.transform import FuseOps
from relay_explorer.views.fates import Fate
from relay_explorer.views.format import Row
from relay_explorer.views.pipeline.alignment import in_order
from relay_explorer.views.pipeline.view import pipeline_view

FUSED = """
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, kernel_size=[1, 1], channels=4, padding=[0, 0, 0, 0]);
  %1 = nn.relu(%0);
  nn.max_pool2d(%1, pool_size=[2, 2], strides=[2, 2])
}
"""


def longest_rising(numbers: list[int]) -> int:
    best: list[int] = []
    for index, number in enumerate(numbers):
        best.append(1 + max((best[i] for i in range(index) if numbers[i] < number), default=0))
    return max(best, default=0)


@given(st.integers(0, 12).flatmap(lambda n: st.permutations(range(n))))
def test_as_many_rows_as_possible_stay(places: list[int]) -> None:
    both = list(enumerate(places))
    kept = in_order(both)
    assert set(kept) <= set(both)
    assert kept == sorted(kept)
    assert [second for _, second in kept] == sorted(second for _, second in kept)
    assert len(kept) == longest_rising(places)


def test_an_operator_in_a_kernel_stays_beside_itself_and_the_function_is_added() -> None:
    view = pipeline_view(parse(FUSED), [FuseOps(fuse_opt_level=2)])

    def text(row: int) -> str:
        found: Row = view.rows[row]
        return "".join(token.text for token in found.tokens) if row >= 0 else ""

    fates = {(text(b).split("(")[0][5:], fate) for b, _, fate in view.stages[1].align if " = " in text(b)}
    assert fates == {("nn.conv2d", Fate.KEPT), ("nn.relu", Fate.KEPT)}
    added = [text(a) for b, a, fate in view.stages[1].align if "fn (" in text(a) and fate == Fate.ADDED]
    assert len(added) == 2
    assert not any(fate == Fate.MOVED for _, _, fate in view.stages[1].align)
