"""Layers with one weight become one: short programs, and recurrent networks that are written out."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

from relay_explorer.execute import Interpreter
from relay_explorer.ir import Call, Expr, IRModule, Op, TensorType, post_order
from relay_explorer.text import parse
from relay_explorer.transform import CombineSharedDense, PassContext, ToANormalForm
from relay_explorer.transform.combine_parallel.shared_dense import MAX_CALLS_BETWEEN, MAX_ROWS_TOGETHER
from relay_explorer.typing import infer_types
from tests.execute.programs import assert_same

TWO = CombineSharedDense(2)


def after(text: str, step: CombineSharedDense = TWO) -> IRModule:
    """Return the program after the pass, and check that it is well typed and computes the same."""
    module = parse(text)
    result = infer_types(step(module))
    random = np.random.default_rng(0)
    types = [p.type_annotation for p in module["main"].params]
    args = [
        random.standard_normal(t.concrete_shape).astype("float32") for t in types if isinstance(t, TensorType)
    ]
    assert_same(Interpreter(result).call("main", args), Interpreter(module).call("main", args), 1e-5, 1e-5)
    return result


def check(text: str, expected: str) -> None:
    after(text)
    result = TWO(parse(text)).astext().partition("{\n")[2].rpartition("\n}")[0]
    assert dedent(result) == dedent(expected).strip()


def heights(module: IRModule) -> list[int]:
    """Return the number of rows of each layer, in order."""
    result = [n for n in post_order(module["main"]) if isinstance(n, Call) and n.op is Op.get("nn.dense")]
    return [_rows(n) for n in result]


def _rows(node: Expr) -> int:
    type_ = node.checked_type
    assert isinstance(type_, TensorType)
    return int(np.prod(type_.concrete_shape[:-1]))


ROWS = """
def @main(%x: Tensor[(3, 4), float32], %w: Tensor[(5, 4), float32], %b: Tensor[(5), float32]) {
  %0 = split(%x, indices_or_sections=3, axis=0);
  %1 = nn.dense(%0.FIRST, %w);
  %2 = nn.dense(%0.SECOND, %w);
  %3 = nn.bias_add(%1, %b);
  %4 = nn.bias_add(%2, %b);
  %5 = tanh(%3);
  %6 = exp(%4);
  (%5, %6)
}
"""


def test_rows_of_a_tensor_are_one_product_with_what_follows_all() -> None:
    check(ROWS.replace("FIRST", "1").replace("SECOND", "2"), """
    %0 = strided_slice(%x, begin=[1], end=[3], strides=[1], axes=[0]);
    %1 = nn.dense(%0, %w);
    %2 = nn.bias_add(%1, %b);
    %3 = split(%2, indices_or_sections=2);
    %4 = %3.0;
    %5 = %3.1;
    %6 = tanh(%4);
    %7 = exp(%5);
    (%6, %7)
    """)  # fmt: skip


def test_rows_stand_in_the_order_of_their_places() -> None:
    """As a network needs it that reads its input from the end."""
    result = after(ROWS.replace("FIRST", "2").replace("SECOND", "1"))
    assert "concatenate" not in result.astext()
    assert heights(result) == [2]
    apart = after(ROWS.replace("FIRST", "0").replace("SECOND", "2"))
    assert "concatenate" in apart.astext()


@pytest.mark.parametrize(
    "data",
    ["reshape(strided_slice(%x, begin=[0, K], end=[1, L], strides=[1, 1]), newshape=[1, 4])",
     "squeeze(strided_slice(%x, begin=[K], end=[L], strides=[1], axes=[1]), axis=[0])"],
)  # fmt: skip
def test_steps_of_a_batch_of_one_are_rows(data: str) -> None:
    steps = [data.replace("K", str(k)).replace("L", str(k + 1)) for k in range(4)]
    result = after(
        "def @main(%x: Tensor[(1, 4, 4), float32], %w: Tensor[(6, 4), float32]) { ("
        + ", ".join([f"nn.dense({step}, %w)" for step in steps])
        + ") }"
    )
    assert heights(result) == [4]
    assert "concatenate" not in result.astext()


TIED = """
def @main(%x: Tensor[(4, 3), float32], %s: Tensor[(1, 3), float32], %w: Tensor[(3, 3), float32]) {
  %0 = split(%x, indices_or_sections=4, axis=0);
  %1 = tanh(add(nn.dense(%0.0, %w), nn.dense(%s, %w)));
  %2 = tanh(add(nn.dense(%0.1, %w), nn.dense(%1, %w)));
  %3 = tanh(add(nn.dense(%0.2, %w), nn.dense(%2, %w)));
  tanh(add(nn.dense(%0.3, %w), nn.dense(%3, %w)))
}
"""


def test_layers_that_need_others_come_after_them() -> None:
    """One weight for inputs and states: the first state needs none of the products."""
    assert heights(after(TIED)) == [5, 1, 1, 1]


TREE = """
def @main(%x: Tensor[(4, 3), float32], %w: Tensor[(3, 3), float32]) {
  %0 = split(%x, indices_or_sections=4, axis=0);
  %1 = add(tanh(nn.dense(%0.0, %w)), tanh(nn.dense(%0.1, %w)));
  %2 = add(tanh(nn.dense(%0.2, %w)), tanh(nn.dense(%0.3, %w)));
  add(tanh(nn.dense(%1, %w)), tanh(nn.dense(%2, %w)))
}
"""


def test_a_tree_is_computed_by_its_levels() -> None:
    result = after(TREE)
    assert heights(result) == [4, 2]
    assert sum(isinstance(n, Call) and n.op is Op.get("tanh") for n in post_order(result["main"])) == 2


@pytest.mark.parametrize(
    "text",
    [
        # A weight that is used often enough, in each layer.
        "def @main(%x: Tensor[(2, 17, 3), float32], %w: Tensor[(4, 3), float32]) {"
        " %0 = split(%x, indices_or_sections=2, axis=0); (nn.dense(%0.0, %w), nn.dense(%0.1, %w)) }",
        # Other weights; data of other kinds; a vector.
        "def @main(%x: Tensor[(1, 3), float32], %v: Tensor[(4, 3), float32], %w: Tensor[(4, 3), float32],"
        " %y: Tensor[(1, 1, 3), float32], %z: Tensor[(3), float32])"
        " { (nn.dense(%x, %v), nn.dense(%x, %w), nn.dense(%y, %w), nn.dense(%z, %w)) }",
        # One needs the other.
        "def @main(%x: Tensor[(1, 3), float32], %w: Tensor[(3, 3), float32])"
        " { nn.dense(exp(nn.dense(%x, %w)), %w) }",
    ],
)  # fmt: skip
def test_others_stay(text: str) -> None:
    assert after(text).astext() == infer_types(parse(text)).astext()


def test_what_follows_with_values_of_its_own_is_not_combined() -> None:
    result = after(
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(3, 3), float32], %y: Tensor[(2, 3), float32]) {"
        " %0 = split(%x, indices_or_sections=2, axis=0); %1 = split(%y, indices_or_sections=2, axis=0);"
        " (add(nn.dense(%0.0, %w), %1.0), add(nn.dense(%0.1, %w), %1.1), add(%y, nn.dense(%x, %w))) }"
    )
    assert sum(isinstance(n, Call) and n.op is Op.get("add") for n in post_order(result["main"])) == 3
    # Rows that are added to all would become more rows.
    wide = after(
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(3, 3), float32], %y: Tensor[(5, 3), float32]) {"
        " %0 = split(%x, indices_or_sections=2, axis=0);"
        " (add(nn.dense(%0.0, %w), %y), add(nn.dense(%0.1, %w), %y)) }"
    )
    assert heights(wide) == [2]


def test_many_rows_are_cut_and_far_layers_left() -> None:
    count = MAX_ROWS_TOGETHER + 3
    rows = "".join(f"%{k + 1} = nn.dense(%0.{k}, %w);" for k in range(count))
    sums = " + ".join(f"%{k + 1}" for k in range(count))
    result = after(
        f"def @main(%x: Tensor[({count}, 2), float32], %w: Tensor[(2, 2), float32]) {{"
        f" %0 = split(%x, indices_or_sections={count}, axis=0); {rows} {sums} }}"
    )
    assert heights(result) == [MAX_ROWS_TOGETHER, 3]
    far = "(" * 2 * MAX_CALLS_BETWEEN + "%b" + " + %b)" * 2 * MAX_CALLS_BETWEEN
    text = (
        "def @main(%x: Tensor[(1, 2), float32], %w: Tensor[(2, 2), float32], %b: Tensor[(1, 2), float32])"
        f" {{ %0 = nn.dense(%x, %w); %1 = %0 + {far}; %1 + nn.dense(%b, %w) }}"
    )
    assert heights(after(text)) == [1, 1]


def test_named_values_are_left_and_levels_below_3_do_nothing() -> None:
    module = infer_types(ToANormalForm()(parse(TREE)))
    assert heights(TWO(module)) == [1] * 6
    assert TWO.info.name == "CombineSharedDense"
    with PassContext(opt_level=2):
        assert not PassContext.current().pass_enabled(TWO.info)


def test_layers_of_other_heights_are_one_too() -> None:
    result = after(
        "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(1, 3), float32], %w: Tensor[(4, 3), float32]) {"
        " (tanh(nn.dense(%x, %w)), tanh(nn.dense(%y, %w))) }"
    )
    assert heights(result) == [3]
    assert "end=[3]" in result.astext()
