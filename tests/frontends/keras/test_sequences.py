"""Recurrent layers, masks and attention compute what Keras computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer.frontends.keras import from_keras
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import If
from relay_explorer.ir.types import Any as Unknown
from relay_explorer.ir.walk import post_order
from tests.frontends.keras.models import check, check_layer, computed, keras, layers, normal, run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

ORDER: dict[str, Any] = {"layouts": ("NHWC",)}


@pytest.mark.parametrize("layer", [
    layers.SimpleRNN(4), layers.SimpleRNN(4, return_sequences=True, go_backwards=True), layers.LSTM(4),
    layers.LSTM(4, return_sequences=True, go_backwards=True, use_bias=False),
    layers.LSTM(4, return_state=True, return_sequences=True), layers.GRU(4),
    layers.GRU(4, reset_after=False, return_sequences=True), layers.GRU(4, use_bias=False),
    layers.GRU(4, reset_after=False, use_bias=False, recurrent_activation="hard_sigmoid"),
    layers.RNN([layers.LSTMCell(4), layers.GRUCell(3)]),
    layers.RNN(layers.StackedRNNCells([layers.SimpleRNNCell(4), layers.LSTMCell(5)]), return_state=True),
    layers.Bidirectional(layers.LSTM(4)),
    layers.Bidirectional(layers.GRU(4, return_sequences=True), merge_mode="sum"),
    layers.Bidirectional(layers.SimpleRNN(4, return_sequences=True), merge_mode=None),
    layers.Bidirectional(layers.LSTM(4, return_state=True, return_sequences=True), merge_mode="mul"),
])  # fmt: skip
def test_recurrent_layers(layer: Any) -> None:
    check_layer(layer, (6, 3), **ORDER)


def test_a_long_sequence_is_a_loop() -> None:
    x = keras.Input((70, 2))
    model = keras.Model(x, layers.GRU(3, return_sequences=True, go_backwards=True)(x))
    check(model, **ORDER)
    assert any(isinstance(node, If) for node in post_order(from_keras(model)[0]["main"].body))


def test_a_sequence_of_unknown_length_is_a_loop() -> None:
    x = keras.Input((None, 2))
    model = keras.Model(x, layers.LSTM(3, return_sequences=True)(x))
    mod, params = from_keras(model, layout="NHWC")
    for length in (1, 7):
        value = normal(1, length, 2)
        (result,) = run(mod, params, [value])
        np.testing.assert_allclose(result, computed(model, [value])[0], rtol=1e-5, atol=1e-5)


def test_the_states_may_be_inputs() -> None:
    first, x = keras.Input((4,)), keras.Input((5, 3))
    states = [layers.Dense(4)(first), layers.Dense(4)(first)]
    check(keras.Model([first, x], layers.LSTM(4, return_sequences=True)(x, initial_state=states)), **ORDER)


@pytest.mark.parametrize(("layer", "shape"), [
    (layers.ConvLSTM2D(4, 3, return_sequences=True, padding="same"), (4, 6, 5, 2)),
    (layers.ConvLSTM1D(4, 3), (4, 6, 2)), (layers.TimeDistributed(layers.Conv2D(4, 3)), (3, 6, 5, 2)),
    (layers.TimeDistributed(layers.Dense(4)), (3, 6)),
])  # fmt: skip
def test_sequences_of_images(layer: Any, shape: tuple[int, ...]) -> None:
    check_layer(layer, shape, layouts=("NDHWC", "NHWC"))


@pytest.mark.parametrize("layer", [
    layers.LSTM(4), layers.LSTM(4, return_sequences=True), layers.GRU(3, go_backwards=True,
    return_sequences=True),
    layers.Bidirectional(layers.LSTM(3, return_sequences=True)), layers.GlobalAveragePooling1D(),
    layers.RNN(layers.LSTMCell(4), zero_output_for_mask=True, return_sequences=True),
    layers.TimeDistributed(layers.Dense(4)),
])  # fmt: skip
def test_masked_steps_are_skipped(layer: Any) -> None:
    tokens = keras.Input((6,), dtype="int32")
    embedded = layers.Embedding(4, 5, mask_zero=True)(tokens)
    check(keras.Model(tokens, layer(embedded)))


def test_masks_pass_through_layers_and_merges() -> None:
    tokens = keras.Input((6,), dtype="int32")
    x = layers.Embedding(4, 5, mask_zero=True)(tokens)
    dense = layers.Dense(5)(x)
    states = layers.LSTM(4, return_sequences=True)(x)
    check(keras.Model(tokens, layers.GRU(3)(layers.Dense(4)(layers.Dropout(0.5)(states)))))
    for merge in (layers.Add(), layers.Concatenate(), layers.Concatenate(axis=1)):
        check(keras.Model(tokens, layers.LSTM(3)(merge([x, dense]))))


def test_masking_excludes_steps_of_one_value() -> None:
    x = keras.Input((6, 3))
    value = normal(2, 6, 3)
    value[0, 2:4] = 0
    value[1, 5:] = 0
    check(keras.Model(x, layers.LSTM(4, return_sequences=True)(layers.Masking(0.0)(x))), [value])


@pytest.mark.parametrize("options", [{}, {"use_causal_mask": True}, {"return_attention_scores": True}])
def test_attention(options: dict[str, bool]) -> None:
    query, value = keras.Input((4, 5)), keras.Input((6, 5))
    for layer in (
        layers.Attention(use_scale=True), layers.Attention(score_mode="concat"), layers.AdditiveAttention(),
    ):  # fmt: skip
        check(keras.Model([query, value], layer([query, value], **options)), **ORDER)
    for layer in (
        layers.MultiHeadAttention(2, 3, value_dim=4), layers.MultiHeadAttention(2, 3, use_bias=False,
        output_shape=7),
        layers.GroupQueryAttention(3, 4, 2),
    ):  # fmt: skip
        check(keras.Model([query, value], layer(query, value, **options)), **ORDER)


def test_attention_with_masks() -> None:
    tokens = keras.Input((6,), dtype="int32")
    x = layers.Embedding(4, 5, mask_zero=True)(tokens)
    for y in (
        layers.Attention()([x, x]), layers.AdditiveAttention()([x, x]), layers.MultiHeadAttention(2, 3)(x, x),
    ):  # fmt: skip
        check(keras.Model(tokens, y), [np.array([[1, 2, 3, 0, 0, 0], [3, 1, 0, 2, 0, 1]], np.int32)])
    query, value, mask = keras.Input((4, 5)), keras.Input((6, 5)), keras.Input((4, 6), dtype="bool")
    model = keras.Model(
        [query, value, mask], layers.MultiHeadAttention(2, 3)(query, value, attention_mask=mask)
    )
    check(model, [normal(2, 4, 5), normal(2, 6, 5), normal(2, 4, 6) > -1.0], **ORDER)


def test_a_stateful_layer_is_refused() -> None:
    x = keras.Input((4, 3), batch_size=1)
    with pytest.raises(RelayError, match="is stateful"):
        from_keras(keras.Model(x, layers.LSTM(2, stateful=True)(x)))


def test_a_batch_of_unknown_size_may_be_asked_for() -> None:
    x = keras.Input((4, 3), name="x")
    model = keras.Model(x, layers.LSTM(2)(x))
    mod, params = from_keras(model, {"x": (Unknown(), 4, 3)}, "NHWC")
    for batch in (1, 3):
        value = normal(batch, 4, 3)
        np.testing.assert_allclose(
            run(mod, params, [value])[0], computed(model, [value])[0], rtol=1e-5, atol=1e-5
        )
