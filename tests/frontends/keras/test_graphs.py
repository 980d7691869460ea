"""Graphs: operations of `keras.ops`, nested models, shared layers, names, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends.base.errors import UnsupportedOperatorsError
from relay_explorer.frontends.base.source import Node, node_of
from relay_explorer.frontends.keras import from_keras
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Expr
from relay_explorer.ir.types import Any as Unknown
from relay_explorer.ir.types import TensorType
from relay_explorer.ir.walk import post_order
from tests.frontends.keras.models import check, computed, keras, layers, normal, ops, run, sample

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "arithmetic": lambda x, y: (2 - x) * x / 3 + x**2 - (-x),
    "comparison": lambda x, y: ops.cast(x > 0.5, "float32") + ops.cast(ops.equal(x, x), "float32"),
    "array": lambda x, y: x + np.arange(6, dtype="float32"),
    "products": lambda x, y: [ops.matmul(x, y), x @ y, ops.einsum("bij,bjk->bik", x, y)],
    "indexing": lambda x, y: [x[:, 1:3, ::2], x[:, -1], x[:, None, ..., 2]],
    "joining": lambda x, y: [ops.concatenate([x, x * 2], axis=1), ops.stack([x, x], axis=1), *ops.split(x,
    2, axis=2)],
    "reductions": lambda x, y: [
        ops.mean(x, axis=-1, keepdims=True), ops.sum(x, axis=[1, 2]), ops.max(x, axis=1), ops.var(x, axis=1),
        ops.std(x, axis=2), ops.argmax(x, axis=-1), ops.cumsum(x, axis=1), ops.logsumexp(x, axis=1),
    ],
    "shapes": lambda x, y: [
        ops.reshape(x, (-1, 24)), ops.reshape(x, (-1, 3, 8)), ops.transpose(x, (0, 2, 1)), ops.swapaxes(x,
        1, 2),
        ops.moveaxis(x, 1, 2), ops.expand_dims(x, 1), ops.squeeze(ops.expand_dims(x, 1), 1), ops.flip(x,
        axis=1),
        ops.repeat(x, 2, axis=1), ops.tile(x, (1, 2, 1)), ops.pad(x, ((0, 0), (1, 2), (0, 1))),
        ops.take(x, [0, -1], axis=1),
    ],
    "functions": lambda x, y: [
        ops.softmax(x, axis=1), ops.gelu(x), ops.relu(x), ops.silu(x), ops.leaky_relu(x), ops.clip(x, -1, 1),
        ops.where(x > 0, x, 0.0), ops.normalize(x, axis=-1), ops.exp(x), ops.tanh(x), ops.abs(x),
        ops.maximum(x, 0.1), ops.log1p(ops.abs(x)), x // 0.5, ops.mod(x, 0.7), ops.rsqrt(ops.square(x) + 1),
    ],
    "selection": lambda x, y: [*ops.top_k(x, 2), ops.one_hot(ops.argmax(x, axis=-1), 6)],
}  # fmt: skip


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_operations_in_a_functional_model(name: str) -> None:
    x, y = keras.Input((4, 6)), keras.Input((6, 4))
    check(keras.Model([x, y], OPERATIONS[name](x, y)), layouts=("NHWC",))


def test_operations_on_images() -> None:
    x = keras.Input((6, 6, 3))
    y = layers.Conv2D(4, 3, padding="same")(x)
    check(keras.Model(x, layers.Conv2D(2, 1)(ops.relu(y) * 0.5 + y)))
    check(keras.Model(x, ops.mean(y, axis=[1, 2]) + ops.max(y, axis=(1, 2))))


def test_nested_models_and_shared_layers() -> None:
    image, a, b = (keras.Input((6, 6, 3)) for _ in range(3))
    inner = keras.Sequential([layers.Input((6, 6, 3)), layers.Conv2D(4, 3), layers.ReLU()], name="inner")
    outer = keras.Model(image, layers.GlobalAveragePooling2D()(inner(image)), name="outer")
    dense = layers.Dense(4)
    y = dense(dense(layers.Average()([outer(a), outer(b)])))
    model = keras.Model([a, b], [y, a])
    check(model)
    mod, params = from_keras(model)
    assert len(params) == 4  # two of the convolution, two of the dense layer
    paths = {node.path for expr in post_order(mod["main"].body) if (node := node_of(expr.span)) is not None}
    assert "outer.inner" in paths


def test_a_sequential_model_and_a_dict_of_outputs() -> None:
    check(keras.Sequential([layers.Input((4,)), layers.Dense(3, activation="tanh"), layers.Dense(2)]))
    x = keras.Input((4,))
    check(keras.Model(x, {"b": layers.Dense(2)(x), "a": x + 1}))


def test_mixed_precision() -> None:
    x = keras.Input((4,))
    model = keras.Model(x, layers.Dense(3, dtype="mixed_float16")(x))
    check(model, tolerance=5e-3)
    result = from_keras(model)[0]["main"].body.checked_type
    assert isinstance(result, TensorType)
    assert result.dtype == "float16"


def test_weights_are_parameters_with_the_names_of_their_layers() -> None:
    x = keras.Input((4,), name="data")
    mod, params = from_keras(keras.Model(x, layers.Dense(3, name="head")(x)))
    assert [var.name_hint for var in mod["main"].params] == ["data", "head.kernel:OI", "head.bias"]
    assert set(params) == {"head.kernel:OI", "head.bias"}


def test_the_batch_is_one_and_other_open_axes_are_unknown() -> None:
    x = keras.Input((None, 3), name="x")
    mod, _ = from_keras(keras.Model(x, layers.Dense(2)(x)), layout="NHWC")
    type_ = mod["main"].params[0].type_annotation
    assert isinstance(type_, TensorType)
    assert type_.shape == (1, Unknown(), 3)


def test_compiles() -> None:
    x = keras.Input((6, 6, 3))
    y = layers.Flatten()(layers.BatchNormalization()(layers.Conv2D(8, 3, activation="relu")(x)))
    check(keras.Model(x, layers.Dense(5, activation="softmax")(y)), layouts=("NCHW",), executor="graph")


def test_a_converter_of_ones_own_reads_operands_in_keras_order() -> None:
    class Double(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return x * 2

    x = keras.Input((4, 4, 3))
    model = keras.Model(x, layers.Conv2D(2, 1)(Double()(x)))
    name = f"{Double.__module__}.Double"
    with pytest.raises(UnsupportedOperatorsError, match="Double"):
        from_keras(model)
    seen: list[tuple[object, int]] = []

    def convert(node: Node, inputs: list[Expr]) -> Expr:
        type_ = inputs[0].checked_type
        assert isinstance(type_, TensorType)
        seen.append((node.original, type_.concrete_shape[-1]))
        return relay.multiply(inputs[0], relay.const(2.0))

    inputs = sample(model, 1)
    mod, params = from_keras(model, layout="NCHW", convert_map={name: convert})
    (result,) = run(mod, params, [inputs[0].transpose(0, 3, 1, 2)])
    np.testing.assert_allclose(result.transpose(0, 2, 3, 1), computed(model, inputs)[0], rtol=1e-4, atol=1e-5)
    assert [(type(layer).__name__, channels) for layer, channels in seen] == [("Double", 3)]


def test_a_class_of_ones_own_is_not_taken_for_one_of_keras() -> None:
    class Dense(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return x * 2

    x = keras.Input((4,))
    with pytest.raises(UnsupportedOperatorsError):
        from_keras(keras.Model(x, Dense()(x)))


def test_a_model_without_a_graph_is_refused_with_the_remedy() -> None:
    class Own(keras.Model):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return x

    with pytest.raises(RelayError, match="is a model whose `call` is Python code") as caught:
        from_keras(Own())
    assert "export" in str(caught.value)
    with pytest.raises(RelayError, match="no input shape yet"):
        from_keras(keras.Sequential([layers.Dense(2)]))


def test_lambda_layers_and_functions_of_ones_own_are_refused() -> None:
    x = keras.Input((4,))
    with pytest.raises(UnsupportedOperatorsError, match="Lambda"):
        from_keras(keras.Model(x, layers.Lambda(lambda v: v * 2)(x)))
    with pytest.raises(RelayError, match="is not a Keras function"):
        from_keras(keras.Model(x, layers.Dense(2, activation=lambda v: v * 2)(x)))


def test_layers_that_behave_as_in_training_are_refused() -> None:
    x = keras.Input((4,))
    for layer in (layers.Dropout(0.5), layers.BatchNormalization()):
        with pytest.raises(RelayError, match="called with training=True"):
            from_keras(keras.Model(x, layer(x, training=True)))


def test_errors_name_the_layer() -> None:
    x = keras.Input((4, 4, 3))
    y = layers.UpSampling2D(2, interpolation="bicubic", name="grow")(x)
    with pytest.raises(RelayError, match="bicubic") as caught:
        from_keras(keras.Model(x, y))
    assert "`grow`" in str(caught.value)


def test_a_shape_that_disagrees_with_the_model_is_refused() -> None:
    x = keras.Input((8, 6, 3), name="x")
    model = keras.Model(x, layers.Conv2D(2, 3)(x))
    with pytest.raises(RelayError, match="with the channels first"):
        from_keras(model, {"x": (1, 8, 6, 3)})
    with pytest.raises(RelayError, match="no input `y`"):
        from_keras(model, {"y": (1, 3, 8, 6)})
    with pytest.raises(RelayError, match="the layout 'CHWN' is not supported"):
        from_keras(model, layout="CHWN")


def test_expressions_point_to_their_layer() -> None:
    x = keras.Input((4,))
    mod, _ = from_keras(keras.Model(x, layers.Dense(3, name="head", activation="relu")(x)))
    calls = [expr for expr in post_order(mod["main"].body) if isinstance(expr, Call)]
    nodes = [node_of(call.span) for call in calls]
    assert {node.name for node in nodes if node is not None} == {"head"}
    assert nodes[0] is not None
    assert nodes[0].attrs["activation"] == "relu"


def test_the_program_does_not_depend_on_the_run() -> None:
    x = keras.Input((4,), name="x")
    model = keras.Model(x, layers.Dense(3, name="d")(x))
    assert str(from_keras(model)[0]) == str(from_keras(model)[0])
    assert normal(1).dtype == np.float32
