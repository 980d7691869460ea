"""The tables of functions of integers are near the functions of the numbers that the integers represent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from relay_explorer.frontends.tflite import from_tflite, read
from relay_explorer.frontends.tflite import short_integers as short
from relay_explorer.frontends.tflite.fixed_point import sigmoid_table, tangent_table
from relay_explorer.frontends.tflite.reader import Model, Operator, Subgraph
from relay_explorer.frontends.tflite.resizing import _coarse, _fine
from relay_explorer.ir.errors import RelayError
from tests.frontends.tflite.files import path_of

SHORTS = np.arange(-(2**15), 2**15)
ONE = 2**15


@pytest.mark.parametrize("bits", range(7))
def test_the_tangent_of_fixed_point_numbers_is_odd_and_has_eleven_correct_bits(bits: int) -> None:
    table = tangent_table(bits)
    assert np.abs(table - ONE * np.tanh(SHORTS / 2 ** (15 - bits))).max() < 13
    np.testing.assert_array_equal(table[1:], -table[:0:-1])


def test_the_sigmoid_of_fixed_point_numbers_has_twelve_correct_bits() -> None:
    table = sigmoid_table(3)
    assert np.abs(table - ONE / (1 + np.exp(-SHORTS / 2**12))).max() < 7
    assert table[ONE] == ONE // 2


@pytest.mark.parametrize("scale", [1e-4, 3e-4, 1 / 4096])
def test_the_interpolated_sigmoid_and_tangent_differ_by_less_than_three_steps(scale: float) -> None:
    real = SHORTS * scale
    assert np.abs(short.sigmoid(scale, False) - ONE / (1 + np.exp(-real))).max() < 3
    assert np.abs(short.sigmoid(scale, True) - ONE * np.tanh(real)).max() < 3


def test_an_interpolated_function_differs_by_less_than_three_steps_where_it_is_smooth() -> None:
    scale = 3e-5
    real = SHORTS * scale
    for function in (short.exponential, lambda x: short.gelu(x, False), lambda x: short.gelu(x, True)):
        exact = function(real)
        after = float(np.abs(exact).max()) / 32767
        assert np.abs(short.of_reals(function, scale, after) - exact / after).max() < 3


def test_functions_of_positive_numbers_are_zero_elsewhere() -> None:
    x = np.array([-1.0, 0.0, 4.0])
    np.testing.assert_allclose(short.logarithm(x), [0, 0, np.log(4)])
    np.testing.assert_allclose(short.inverse_root(x), [0, 0, 0.5])


@pytest.mark.parametrize("coordinates", [_coarse, _fine])
@pytest.mark.parametrize(("corners", "centers"), [(False, False), (True, False), (False, True)])
def test_an_image_of_the_same_size_keeps_its_elements(coordinates: Any, corners: bool, centers: bool) -> None:
    before, after, weights = coordinates(7, 7, corners, centers)
    np.testing.assert_array_equal(before, range(7))
    assert not weights.any()
    assert (after < 7).all()


@pytest.mark.parametrize("coordinates", [_coarse, _fine])
def test_coordinates_between_two_elements_have_their_weights(coordinates: Any) -> None:
    before, after, weights = coordinates(3, 5, True, False)
    assert list(before) == [0, 0, 1, 1, 2]
    assert list(after[:-1]) in ([0, 1, 1, 2], [1, 1, 2, 2])
    one = 2**11 if coordinates is _fine else 2**10
    assert list(weights) == [0, one // 2, 0, one // 2, 0]


def altered(monkeypatch: pytest.MonkeyPatch, name: str, kind: str, **fields: Any) -> None:
    """Import a model whose operators of one kind are changed."""
    model = read(path_of(name))
    graph = model.subgraphs[0]

    def change(op: Operator) -> Operator:
        if op.name != kind:
            return op
        inputs = list(op.inputs)
        for index, tensor in fields.get("inputs", {}).items():
            inputs[index] = inputs[tensor]
        return replace(op, inputs=tuple(inputs), attrs={**op.attrs, **fields.get("attrs", {})})

    changed: Subgraph = replace(graph, operators=[change(op) for op in graph.operators])
    monkeypatch.setattr(
        "relay_explorer.frontends.tflite.importer.read", lambda _: Model([changed], model.original)
    )
    from_tflite(b"")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"inputs": {9: 1}}, "neither peepholes, a projection nor layer normalization"),
        ({"attrs": {"fused_activation_function": 1}}, "its activation function must be tanh"),
        ({"inputs": {1: 12}}, "operand 1 of an integer LSTM must have type int8"),
        ({"inputs": {19: 18}}, "operand 19 of an integer LSTM must have type int16"),
    ],
)
def test_an_integer_lstm_of_another_kind_is_refused(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(RelayError, match=message):
        altered(monkeypatch, "lstm_int8", "UNIDIRECTIONAL_SEQUENCE_LSTM", **fields)
