"""Schedules of sizes that vectors do not divide, and of elements that do not lie one after another: the last
tile overlaps the one before, transposes go tile by tile, and conditions on single elements are left to LLVM.
"""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.ir.expr import Expr, Var
from relay_explorer.lower.codegen.compile_kernel import scheduled
from relay_explorer.lower.inspect.measure import step_times
from relay_explorer.lower.inspect.replay import replay
from relay_explorer.lower.targets.target import Target
from tests.lower.test_schedules import check, function

nn = relay.nn


def t(name: str, *shape: int, dtype: str = "float32") -> Var:
    return relay.var(name, shape=shape, dtype=dtype)


TILES: dict[str, Expr] = {
    "a product": nn.matmul(t("x", 37, 19), t("y", 19, 61)),
    "primes, with what follows": nn.relu(relay.add(nn.matmul(t("x", 13, 5), t("y", 5, 97)), t("b", 97))),
    "batches, turned": nn.batch_matmul(t("x", 2, 23, 16), t("y", 2, 41, 16)),
    "one row": nn.dense(t("x", 1, 32), t("w", 53, 32)),
    "columns": relay.sum(t("x", 9, 83), 0),
    "columns of doubles": relay.max(t("x", 5, 29, dtype="float64"), 0),
    "short columns": relay.mean(t("x", 7, 5), 0),
    "the middle, of integers": relay.sum(t("x", 3, 11, 21, dtype="int32"), 1),
    "windows": nn.max_pool2d(t("x", 1, 3, 21, 23), (3, 3), (1, 1), padding=(1, 1)),
    "windows, two apart": nn.avg_pool2d(t("x", 1, 2, 19, 37), (3, 3), (2, 2), padding=(1, 1)),
    "a convolution": nn.conv2d(t("x", 1, 3, 11, 27), t("w", 5, 3, 3, 3), padding=(1, 1)),
    "of bytes, two apart": nn.max_pool2d(t("x", 1, 2, 9, 39, dtype="uint8"), (3, 3), (2, 2)),
    "three apart, odd": nn.conv2d(t("x", 1, 3, 14, 58), t("w", 5, 3, 5, 5), strides=(3, 3)),
    "both turned": nn.batch_matmul(t("x", 1, 24, 19), t("y", 1, 37, 24), transpose_a=True),
    "a place of each row": relay.argmax(t("x", 18, 64), 1),
    "rows": relay.sum(t("x", 9, 83), 1),
    "rows of doubles": relay.max(t("x", 11, 37, dtype="float64"), 1),
    "rows of integers": relay.sum(t("x", 3, 35, dtype="int32"), 1),
    "the first and the last": relay.mean(t("x", 5, 6, 45), (0, 2)),
    "the last two": nn.global_avg_pool2d(t("x", 1, 10, 7, 7)),
    "a vector by a matrix": nn.relu(nn.dense(t("x", 1, 51), t("w", 19, 51))),
    "a long row": relay.sum(t("x", 2, 4099), 1),
    "a sequence": nn.conv1d(t("x", 1, 6, 45), t("w", 7, 6, 3), padding=(1, 1), strides=(2,)),
}


@pytest.mark.parametrize("name", TILES)
def test_the_last_tile_ends_where_the_axis_does(name: str) -> None:
    result = check(function(TILES[name]))
    assert result.rule == "reduction"
    assert not result.refused
    assert "T.where" not in str(result.prim_func.script())


def test_what_is_left_of_a_row_is_a_shorter_vector() -> None:
    result = scheduled(function(relay.sum(t("x", 9, 83), 1)), "kernel", Target.of("cpu"))
    lanes = Target.of("cpu").lanes()
    assert f"T.vectorized({83 % lanes})" in str(result.prim_func.script())
    _, _, primitives = replay(result)
    times = step_times(result, primitives)
    assert len(times) == len(primitives) + 1


def test_windows_that_move_by_several_places_read_neighbours() -> None:
    body = nn.conv2d(t("x", 1, 3, 14, 58), t("w", 5, 3, 5, 5), strides=(3, 3))
    result = scheduled(function(body), "kernel", Target.of("cpu"))
    assert "T.sblock_alloc_buffer((1, 3, 14, 3, 20))" in str(result.prim_func.script())


def test_an_odd_product_is_one_of_vectors() -> None:
    result = scheduled(function(nn.matmul(t("x", 37, 19), t("y", 19, 61))), "kernel", Target.of("cpu"))
    assert f"T.vectorized({Target.of('cpu').lanes()})" in str(result.prim_func.script())
    assert "T.min(" in str(result.prim_func.script())


MOVED: dict[str, tuple[Expr, bool]] = {
    "a transpose": (relay.transpose(t("x", 37, 53)), True),
    "of bytes": (relay.transpose(t("x", 21, 70, dtype="uint8")), True),
    "of doubles": (relay.transpose(t("x", 33, 9, dtype="float64")), True),
    "of few": (relay.transpose(t("x", 3, 40)), False),
    "channels first": (relay.transpose(t("x", 2, 5, 7, 19), (0, 3, 1, 2)), True),
    "channels last": (relay.tanh(relay.transpose(t("x", 1, 13, 6, 10), (0, 2, 3, 1))), True),
    "into blocks": (relay.layout_transform(t("x", 1, 32, 5, 7), "NCHW", "NCHW16c"), True),
    "added": (relay.add(relay.transpose(t("x", 31, 20)), t("y", 20, 31)), True),
    "padding": (nn.pad(t("x", 2, 3, 9, 14), ((0, 0), (0, 1), (2, 1), (1, 3))), False),
    "one after another": (relay.concatenate((t("x", 5, 3), t("y", 5, 30), t("z", 5, 8)), 1), False),
    "every third": (relay.strided_slice(t("x", 4, 50), (0, 1), (4, 50), (1, 3)), False),
    "backwards": (relay.strided_slice(t("x", 4, 50), (0, 49), (4, 1), (1, -2)), False),
    "twice": (relay.repeat(t("x", 6, 16), 3, 1), False),
}


@pytest.mark.parametrize("name", MOVED)
def test_elements_that_do_not_lie_one_after_another(name: str) -> None:
    body, tiled = MOVED[name]
    text = str(check(function(body)).prim_func.script())
    assert tiled == ("T.unroll(" in text)
    if "T.if_then_else" in text:
        assert "T.vectorized" not in text
