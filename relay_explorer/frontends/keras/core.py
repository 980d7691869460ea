"""Converters of dense layers, embeddings, and layers that do nothing in inference."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.products import split_rows
from .call import Call, Results, Value, layer

_IDENTITIES = (
    "Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "AlphaDropout", "GaussianDropout",
    "GaussianNoise", "ActivityRegularization", "Identity", "InputLayer", "StochasticDepth",
)  # fmt: skip


@layer(*_IDENTITIES)
def _identity(call: Call) -> Results:
    value = call.value(0)
    return Value(value.expr, value.first, value.mask)


def dense(call: Call, x: Expr, kernel: str = "kernel", bias: str = "bias") -> Expr:
    """Multiply the last axis of `x` by a weight (inputs, units), and add the bias."""
    weight = call.weight(kernel, lambda values: values.T, "OI")
    features = call.context.static_shape(weight)[1]
    rows = x if call.context.rank(x) == 2 else relay.reshape(x, (-1, features))
    result: Expr = relay.nn.dense(rows, weight)
    if call.attr("use_bias", True) and call.has(bias):
        result = relay.nn.bias_add(result, call.weight(bias), 1)
    return result if call.context.rank(x) == 2 else split_rows(call.context, result, x)


@layer("Dense")
def _dense(call: Call) -> Results:
    x = call[0]
    last = call.context.shape(x)[-1]
    kernel = call.attr("kernel")
    if isinstance(last, int) and kernel is not None and last != int(kernel.shape[0]):
        raise RelayError(
            f"the layer `{call.layer.name}` requires {int(kernel.shape[0])} features, but its input has "
            f"{last}"
        )
    return call.activated(dense(call, x))


@layer("LayerScale")
def _layer_scale(call: Call) -> Results:
    """Multiply the channels by weights, as keras.applications' ConvNeXt does."""
    return relay.multiply(call[0], call.weight("gamma"))


@layer("EinsumDense")
def _einsum_dense(call: Call) -> Results:
    return call.activated(einsum_dense(call, call.layer, call[0]))


def einsum_dense(call: Call, of: object, x: Expr) -> Expr:
    """Return the product that an EinsumDense layer computes, before its activation function."""
    equation = str(getattr(of, "equation"))  # noqa: B009  # a layer of any version
    result: Expr = relay.einsum([x, call.weight_of(of, "kernel")], equation)
    if getattr(of, "bias", None) is not None:
        result = relay.add(result, call.weight_of(of, "bias"))
    return result


@layer("Embedding")
def _embedding(call: Call) -> Results:
    x = call.last(call.value(0))
    if "int" not in call.context.dtype(x):
        x = relay.cast(x, "int32")
    return relay.take(call.weight("embeddings"), x, 0)


@layer("Masking")
def _masking(call: Call) -> Results:
    x = call[0]
    differs = relay.not_equal(x, call.number(float(call.attr("mask_value", 0.0))))
    rank = call.context.rank(x)
    mask = relay.any(differs, [rank - 1])
    return Value(
        relay.multiply(x, relay.cast(relay.expand_dims(mask, rank - 1), call.context.dtype(x))), mask=mask
    )


@layer("SpectralNormalization")
def _spectral_normalization(call: Call) -> Results:
    """Apply the wrapped layer, whose weights are normalized in training only."""
    from .graph import Step

    return call.importer.apply(Step(call.layer.layer, (), {}, []), call.inputs, {})
