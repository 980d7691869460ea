"""What a program costs, by the conventions that `analysis/cost.py` states."""

from __future__ import annotations

import pytest

from relay_explorer import models, relay
from relay_explorer.analysis import Cost, call_cost, costs, total_cost, weights
from relay_explorer.ir import Any, Call, Function, IRModule, Op, TensorType
from relay_explorer.text import parse
from relay_explorer.typing import infer_types


def typed(text: str) -> IRModule:
    return infer_types(parse(text))


def of(module: IRModule, name: str) -> Cost:
    (result,) = [
        c
        for e, c in costs(module).items()
        if isinstance(e, Call) and isinstance(e.op, Op) and e.op.name == name
    ]
    return result


def test_a_dense_layer() -> None:
    module = typed(
        "def @main(%x: Tensor[(2, 784), float32], %w: Tensor[(128, 784), float32],"
        " %b: Tensor[(128), float32]) {"
        " nn.bias_add(nn.dense(%x, %w, units=128), %b) }"
    )
    assert of(module, "nn.dense") == Cost(
        flops=2 * 2 * 784 * 128,
        bytes_read=4 * (2 * 784 + 128 * 784),
        bytes_written=4 * 2 * 128,
        parameters=128 * 784,
    )
    assert of(module, "nn.bias_add") == Cost(2 * 128, 4 * (2 * 128 + 128), 4 * 2 * 128, 128)
    total = total_cost(module)
    assert total.flops == 2 * 2 * 784 * 128 + 2 * 128
    assert total.parameters == 128 * 784 + 128
    assert total.bytes == sum(c.bytes for c in costs(module).values())


def test_moving_data_takes_no_operations() -> None:
    cost = of(typed("def @main(%x: Tensor[(2, 3), int8]) { transpose(%x, axes=[1, 0]) }"), "transpose")
    assert cost == Cost(0, 6, 6)


def test_tuples_count_all_their_fields() -> None:
    module = typed("def @main(%x: Tensor[(4, 6), float32]) { split(%x, indices_or_sections=2, axis=1) }")
    assert of(module, "split") == Cost(0, 4 * 24, 4 * 24)


def test_a_shared_weight_counts_once_in_the_total() -> None:
    module = typed(
        "def @main(%x: Tensor[(1, 8), float32], %w: Tensor[(8, 8), float32]) {"
        " nn.dense(nn.dense(%x, %w), %w) }"
    )
    assert [c.parameters for c in costs(module).values()] == [64, 64]
    assert total_cost(module).parameters == 64


def test_an_unknown_dimension_gives_a_lower_bound() -> None:
    x = relay.var("x", TensorType((Any(), 4), "float32"))
    module = infer_types(IRModule.from_expr(Function([x], relay.tanh(x))))
    cost = of(module, "tanh")
    assert not cost.exact
    assert cost.bytes_read == 4 * 4
    assert not total_cost(module).exact


def test_calls_of_functions_cost_nothing_themselves() -> None:
    module = typed("def @f(%a: float32) { tanh(%a) } def @main(%x: float32) { @f(@f(%x)) }")
    assert [c.bytes for c in costs(module).values()] == [8]


def test_both_branches_count() -> None:
    module = typed("def @main(%c: bool, %x: Tensor[(4), float32]) { if (%c) { tanh(%x) } else { exp(%x) } }")
    assert len(costs(module)) == 2
    assert total_cost(module).bytes == 2 * 32


def test_without_types_nothing_is_claimed() -> None:
    module = parse("def @main(%x: Tensor[(4), float32]) { tanh(tanh(%x)) }")
    body = module["main"].body
    assert isinstance(body, Call)
    assert call_cost(body) == Cost()


@pytest.mark.parametrize(
    ("text", "learnt"),
    [
        ("def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) { add(%x, %y) }", []),
        ("def @main(%x: Tensor[(2, 3), float32], %b: Tensor[(3), float32]) { add(%x, %b) }", ["b"]),
        ("def @main(%x: Tensor[(2, 3), float32], %s: float32) { multiply(%x, %s) }", []),
        ("def @main(%t: Tensor[(90, 3), float32], %i: Tensor[(2), int32]) { take(%t, %i, axis=0) }", ["t"]),
    ],
)
def test_what_counts_as_learnt(text: str, learnt: list[str]) -> None:
    module = typed(text)
    assert [getattr(v, "name_hint", "") for v in weights(module.functions.values())] == learnt


def test_constants_count_unless_they_are_single_numbers() -> None:
    x = relay.var("x", shape=(2, 3))
    body = relay.multiply(relay.add(x, relay.const([1.0, 2.0, 3.0])), relay.const(2.0))
    assert total_cost(infer_types(IRModule.from_expr(Function([x], body)))).parameters == 3


def test_operations_of_a_published_network() -> None:
    """ResNet-50 does about 4.1 billion multiply-adds an image, a multiplication and an addition each."""
    total = total_cost(infer_types(models.load("resnet50")))
    convolutions = sum(
        c.flops
        for e, c in costs(infer_types(models.load("resnet50"))).items()
        if isinstance(e, Call) and isinstance(e.op, Op) and e.op.name in ("nn.conv2d", "nn.dense")
    )
    assert 8.1e9 < convolutions < total.flops < 8.4e9
