"""Operators listed and their multiplications counted."""

from __future__ import annotations

from math import prod

import pytest

from relay_explorer import relay
from relay_explorer.analysis import get_total_mac_number, list_op_freqs


def macs(result: relay.Expr) -> int:
    return get_total_mac_number(relay.transform.InferType()(relay.IRModule.from_expr(result))["main"])


def v(*shape: int) -> relay.Var:
    return relay.var("v", shape=shape)


def test_calls_are_counted_by_name() -> None:
    shared = relay.exp(v(2))
    inner = relay.var("a", shape=(2,))
    module = relay.IRModule.from_expr(relay.add(shared, relay.exp(shared)))
    module["other"] = relay.Function([], relay.Function([inner], relay.nn.relu(inner + inner))(v(2)))
    assert list_op_freqs(module) == {"exp": 2, "add": 2, "nn.relu": 1}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (relay.nn.dense(v(512, 1024), v(256, 1024)), 512 * 1024 * 256),
        (relay.nn.batch_matmul(v(4, 5, 6), v(4, 7, 6)), 4 * 5 * 6 * 7),
        (relay.nn.conv2d(v(1, 3, 224, 224), v(64, 3, 7, 7), padding=(1, 1)), 3 * 220 * 220 * 64 * 7 * 7),
        (
            relay.nn.conv2d(v(1, 56, 56, 64), v(3, 3, 64, 8), data_layout="NHWC", kernel_layout="HWIO"),
            54 * 54 * 8 * 64 * 9,
        ),
        (
            relay.nn.conv2d(v(2, 64, 56, 56), v(64, 1, 3, 3), padding=(1, 1), groups=64),
            prod((2, 64, 56, 56, 3, 3)),
        ),
        (
            relay.nn.conv2d_transpose(v(1, 3, 224, 224), v(3, 64, 7, 7), padding=(1, 1)),
            3 * 228 * 228 * 64 * 7 * 7,
        ),
        (
            relay.nn.conv2d_transpose(v(1, 4, 5, 5), v(4, 3, 2, 2), groups=2, channels=6, kernel_size=(2, 2)),
            6 * 6 * 6 * 2 * 2 * 2,
        ),
        (relay.nn.relu(v(3, 3)), 0),
    ],
)
def test_macs(result: relay.Expr, expected: int) -> None:
    assert macs(result) == expected
    assert macs(relay.Tuple([relay.nn.relu(result), result])) == expected


def test_types_are_needed() -> None:
    with pytest.raises(ValueError, match="is not known yet"):
        get_total_mac_number(relay.nn.dense(v(1, 2), v(3, 2)))


def test_layers_are_the_longest_chain() -> None:
    text = """
#[version = "0.0.5"]
def @main(%x: Tensor[(4, 4), float32], %w: Tensor[(4, 4), float32]) {
  %0 = nn.dense(%x, %w);
  %1 = nn.relu(%0);
  %2 = nn.dense(%1, %w);
  %3 = nn.dense(%0, %w);
  let %f = fn (%y: Tensor[(4, 4), float32]) { nn.dense(%y, %w) };
  %4 = add(%2, %3);
  %f(%4)
}
"""
    module = relay.fromtext(text)
    assert relay.analysis.count_layers(module, ["nn.dense"]) == 2  # beside each other, and a function's own
    assert relay.analysis.count_layers(module, ["nn.dense", "nn.relu", "add"]) == 4
    assert relay.analysis.count_layers(module["main"], []) == 0
