"""Scales of channels move into weights, in both directions: short programs, and random networks."""

from __future__ import annotations

from textwrap import dedent

import pytest

from relay_explorer.ir import Call, IRModule, Op, Type, post_order
from relay_explorer.models import load
from relay_explorer.text import parse
from relay_explorer.transform import (
    BackwardFoldScaleAxis,
    FoldScaleAxis,
    ForwardFoldScaleAxis,
    Pass,
    PassContext,
    Sequential,
    SimplifyInference,
)
from relay_explorer.typing import infer_types
from tests.transform.networks import Network, broken

FORWARD, BACKWARD = ForwardFoldScaleAxis(), BackwardFoldScaleAxis()


def after(step: Pass, text: str) -> str:
    """Return the body after a pass, and check that it is well typed."""
    result = step(parse(text))
    infer_types(result)
    return dedent(result.astext().partition("{\n")[2].rpartition("\n}")[0])


def check(step: Pass, text: str, expected: str) -> None:
    result = after(step, text)
    assert result == dedent(expected).strip(), result


def unchanged(step: Pass, text: str) -> None:
    assert step(parse(text)).astext() == infer_types(parse(text)).astext()


def count(module: IRModule, name: str) -> int:
    return sum(isinstance(n, Call) and n.op is Op.get(name) for n in post_order(module["main"]))


def conv(data: str = "%x", weight: str = "%w", more: str = "") -> str:
    return f"nn.conv2d({data}, {weight}, padding=[1, 1, 1, 1]{more})"


HEAD = """
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32],
          %s: Tensor[(3, 1, 1), float32], %b: Tensor[(3, 1, 1), float32],
          %t: Tensor[(4, 1, 1), float32], %c: Tensor[(4, 1, 1), float32], %v: Tensor[(4), float32]) {
"""
P = "meta[relay.Constant][0]"


def program(*rows: str) -> str:
    return HEAD + "\n".join(rows) + "\n}"


# -- forward


def test_a_scale_of_the_data_goes_into_the_weight() -> None:
    check(FORWARD, program(conv("multiply(%x, %s)")), """
    %0 = squeeze(%s, axis=[1, 2]);
    %1 = expand_dims(%0, axis=1, num_newaxis=2);
    %2 = multiply(%w, %1);
    nn.conv2d(%x, %2, padding=[1, 1, 1, 1])
    """)  # fmt: skip


def test_what_is_added_on_the_way_is_divided() -> None:
    check(FORWARD, program(conv("subtract(%b, multiply(%s, %x))")), """
    %0 = squeeze(%s, axis=[1, 2]);
    %1 = expand_dims(%0, axis=1, num_newaxis=2);
    %2 = divide(%b, %1);
    %3 = expand_dims(%0, axis=1, num_newaxis=2);
    %4 = subtract(%2, %x);
    %5 = multiply(%w, %3);
    nn.conv2d(%4, %5, padding=[1, 1, 1, 1])
    """)  # fmt: skip


def test_a_number_is_a_scale_too() -> None:
    check(FORWARD, program(conv("nn.relu(multiply(%x, 2f))")), """
    %0 = expand_dims(2f, axis=0);
    %1 = repeat(%0, repeats=3, axis=0);
    %2 = expand_dims(%1, axis=1, num_newaxis=2);
    %3 = nn.relu(%x);
    %4 = multiply(%w, %3);
    nn.conv2d(%3, %4, padding=[1, 1, 1, 1])
    """.replace("%4 = multiply(%w, %3)", "%4 = multiply(%w, %2)"))  # fmt: skip


@pytest.mark.parametrize(
    "rows",
    [
        [conv("nn.relu(multiply(%x, %s))")],  # it may be negative
        [conv("nn.relu(multiply(%x, -2f))")],
        [conv("add(multiply(%x, 0f), %b)")],  # nothing can be divided by it
        [conv("tanh(multiply(%x, %s))")],
        [conv("nn.max_pool2d(multiply(%x, %s), pool_size=[1, 1], padding=[0, 0, 0, 0])")],
        ["%0 = multiply(%x, %s);", f"({conv('%0')}, %0)"],  # another needs the product
        ["%0 = multiply(%x, %s);", f"({conv('%0')}, exp(%0))"],
        ["let %y = multiply(%x, %s);", conv("%y")],
        [conv("multiply(%x, %x)")],  # no scale of channels
        [conv("add(multiply(%x, %s), 1f)")],  # the same everywhere: TVM does not look at it either
        [conv("add(multiply(%x, %s), %x)")],
    ],
)
def test_a_scale_stays_where_it_cannot_go_on(rows: list[str]) -> None:
    unchanged(FORWARD, program(*rows))


def test_all_who_read_the_product_take_it_in() -> None:
    result = FORWARD(
        parse(program("%0 = multiply(%x, %s);", f"({conv('%0')}, {conv('nn.relu(%x)')}, {conv('%0')})"))
    )
    assert count(result, "multiply") == 2
    assert count(result, "squeeze") == 1


def test_dense_layers_take_a_scale_in() -> None:
    check(FORWARD, """
    def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %s: Tensor[(3), float32]) {
      nn.dense(multiply(%x, %s), %w)
    }
    """, """
    %0 = multiply(%w, %s);
    nn.dense(%x, %0)
    """)  # fmt: skip


def test_dense_layers_over_more_axes_do_not() -> None:
    """Axis 1 is not the one that is summed over there. (TVM 0.14 scales it all the same.)"""
    unchanged(FORWARD, """
    def @main(%x: Tensor[(2, 3, 3), float32], %w: Tensor[(4, 3), float32], %s: Tensor[(3, 1), float32]) {
      nn.dense(multiply(%x, %s), %w)
    }
    """)  # fmt: skip


def test_depthwise_convolutions_do_by_their_outputs() -> None:
    result = after(FORWARD, """
    def @main(%x: Tensor[(1, 8, 8, 3), float32], %w: Tensor[(3, 3, 3, 1), float32],
              %s: Tensor[(3), float32]) {
      nn.conv2d(multiply(%x, %s), %w, padding=[1, 1, 1, 1], groups=3, channels=3, kernel_size=[3, 3],
                data_layout="NHWC", kernel_layout="HWOI")
    }
    """)  # fmt: skip
    assert result.startswith("%0 = expand_dims(%s, axis=1);\n%1 = multiply(%w, %0);\nnn.conv2d(%x, %1, ")


def test_groups_of_channels_do_not() -> None:
    text = program(conv("multiply(%x, %s)")).replace("(1, 3, 8", "(1, 6, 8").replace("(3, 1, 1)", "(6, 1, 1)")
    grouped = ", groups=2, channels=4, kernel_size=[3, 3]"
    unchanged(FORWARD, text.replace("1, 1, 1, 1]", "1, 1, 1, 1]" + grouped))


def test_blocks_of_channels_are_met_by_a_reshape() -> None:
    result = after(FORWARD, """
    def @main(%x: Tensor[(1, 2, 8, 8, 4), float32], %w: Tensor[(1, 4, 3, 3, 2, 8), float32],
              %s: Tensor[(1, 2, 1, 1, 4), float32]) {
      nn.conv2d(multiply(%x, %s), %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3],
                data_layout="NCHW4c", kernel_layout="OIHW2i8o", out_layout="NCHW8c")
    }
    """)  # fmt: skip
    assert result.splitlines()[:2] == [
        "%0 = squeeze(%s, axis=[0, 2, 3]);",
        "%1 = reshape(%0, newshape=[1, 4, 1, 1, 2, 1]);",
    ]


def test_integers_stay_as_they_are() -> None:
    """A product with the weight could overflow."""
    text = program(conv("multiply(%x, %s)")).replace("float32", "int8")
    unchanged(FORWARD, text)
    unchanged(BACKWARD, program(f"multiply({conv()}, %t)").replace("float32", "int8"))


# -- backward


def test_a_scale_of_the_result_goes_into_the_weight() -> None:
    check(BACKWARD, program(f"multiply({conv()}, %t)"), """
    %0 = squeeze(%t, axis=[1, 2]);
    %1 = expand_dims(%0, axis=1, num_newaxis=3);
    %2 = multiply(%w, %1);
    nn.conv2d(%x, %2, padding=[1, 1, 1, 1])
    """)  # fmt: skip


def test_what_was_added_is_scaled_too() -> None:
    check(BACKWARD, program(f"multiply(%t, nn.bias_add(add(%c, {conv()}), %v))"), """
    %0 = squeeze(%t, axis=[1, 2]);
    %1 = expand_dims(%0, axis=1, num_newaxis=2);
    %2 = expand_dims(%0, axis=1, num_newaxis=3);
    %3 = multiply(%w, %2);
    %4 = multiply(%c, %1);
    %5 = nn.conv2d(%x, %3, padding=[1, 1, 1, 1]);
    %6 = add(%4, %5);
    %7 = multiply(%v, %0);
    nn.bias_add(%6, %7)
    """)  # fmt: skip


def test_both_sides_of_a_sum_are_scaled() -> None:
    result = BACKWARD(parse(program(f"multiply(add({conv()}, nn.relu({conv('exp(%x)')})), 2f)")))
    assert count(result, "multiply") == 2
    rows = after(BACKWARD, program(f"multiply(add({conv()}, nn.relu({conv('exp(%x)')})), 2f)")).splitlines()
    assert rows[-1].startswith("add(")


@pytest.mark.parametrize(
    "rows",
    [
        [f"multiply(nn.relu({conv()}), %t)"],
        [f"multiply(nn.relu({conv()}), -2f)"],
        [f"multiply(tanh({conv()}), %t)"],
        [f"%0 = {conv()};", "(multiply(%0, %t), %0)"],  # used without the scale as well
        [f"%0 = {conv()};", "multiply(%0, %0)"],
        [f"let %y = {conv()};", "multiply(%y, %t)"],
        [f"multiply({conv()}, sum({conv('%x', '%w')}, axis=[1], keepdims=True))"],
        [f'multiply(nn.bias_add({conv()}, zeros(shape=[8], dtype="float32"), axis=2), %t)'],
        [f"multiply(multiply({conv()}, exp({conv()})), exp({conv()}))"],
    ],
)
def test_a_scale_stays_where_it_cannot_go_back(rows: list[str]) -> None:
    unchanged(BACKWARD, program(*rows))


def test_a_scale_that_is_computed_is_rewritten_too() -> None:
    """TVM 0.14 leaves the scale as it was, so that what it shares with the rest is computed twice."""
    module = infer_types(parse(program(
        f"%0 = multiply({conv('%x')}, %t);",
        "%1 = sum(%0, axis=[0, 2, 3]);",
        f"%2 = multiply({conv('exp(%x)')}, expand_dims(%1, axis=1, num_newaxis=2));",
        "(%2, %0)",
    )))  # fmt: skip
    result = BACKWARD(module)
    assert count(result, "nn.conv2d") == 2
    assert broken(module, [BACKWARD]) is None


def test_one_product_after_the_other() -> None:
    """The scale of the inner product goes in first; the outer one meets no layer, but a product."""
    module = infer_types(parse(program(f"(multiply(multiply({conv()}, %t), %c), %x)")))
    assert count(BACKWARD(module), "multiply") == 2
    assert broken(module, [BACKWARD]) is None


# -- both


def test_the_whole_pass_computes_what_is_constant() -> None:
    ones = conv(weight='ones(shape=[4, 3, 3, 3], dtype="float32")')
    result = FoldScaleAxis()(parse(program(f"multiply({ones}, 2f)")))
    assert count(result, "repeat") == 0
    assert count(result, "multiply") == 1


def test_batch_normalization_disappears_into_convolutions() -> None:
    module = infer_types(load("resnet18"))
    with PassContext(opt_level=3):
        result = Sequential([SimplifyInference(), FoldScaleAxis()])(module)
    images = [
        n for n in post_order(infer_types(result)["main"])
        if isinstance(n, Call) and n.op is Op.get("multiply") and shape_of(n.checked_type)[:1] == (1,)
    ]  # fmt: skip
    assert len(images) < 3


def shape_of(type_: Type) -> tuple[object, ...]:
    return tuple(getattr(type_, "shape", ()))


@pytest.mark.parametrize("seed", range(60))
def test_networks_keep_their_values(seed: int) -> None:
    for module in (Network(seed).images(14), Network(seed, "NHWC").images(10), Network(seed).rows(14)):
        for steps in ([FORWARD], [BACKWARD], [SimplifyInference(), FoldScaleAxis()]):
            with PassContext(opt_level=3):
                assert broken(module, steps, error=2e-3) is None


def test_many_of_the_networks_have_something_to_fold() -> None:
    changed = {"forward": 0, "backward": 0}
    for seed in range(60):
        module = Network(seed).images(14)
        changed["forward"] += FORWARD(module).astext() != module.astext()
        changed["backward"] += BACKWARD(module).astext() != module.astext()
    assert min(changed.values()) > 10, changed


def test_results_say_where_they_come_from_and_the_input_does_not_change() -> None:
    module = infer_types(parse(program(f"multiply({conv('multiply(%x, %s)')}, %t)")))
    before = {node: node.origin for node in post_order(module["main"])}
    result = FORWARD(BACKWARD(module))
    assert all(node.origin == origin for node, origin in before.items())
    conv_call = next(
        n for n in post_order(result["main"]) if isinstance(n, Call) and n.op is Op.get("nn.conv2d")
    )
    assert conv_call.origin


def test_a_long_row_of_sums_does_not_recur() -> None:
    rows = [f"%0 = {conv()};"] + [f"%{n} = add(%{n - 1}, %c);" for n in range(1, 5000)]
    result = BACKWARD(parse(program(*rows, "multiply(%4999, %t)")))
    assert count(result, "multiply") == 5000
    rows = ["%0 = multiply(%x, %s);"] + [f"%{n} = add(%{n - 1}, %b);" for n in range(1, 5000)]
    assert count(FORWARD(parse(program(*rows, conv("%4999")))), "divide") == 4999
