"""Converters of normalization and of softmax."""

from __future__ import annotations

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.errors import DynamicShapeError
from ...base.source import Node
from ..importer import Importer
from ..registry import converts


@converts("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert batch normalization. In training, the statistics are those of the data."""
    data, gamma, beta, mean, variance = inputs
    rank = tf.context.rank(data)
    axis = rank - 1 if str(node.attrs.get("data_format", "NHWC")).endswith("C") else 1
    epsilon = float(node.attrs.get("epsilon", 1e-4))
    narrow = tf.context.dtype(data)
    wide = tf.context.dtype(gamma)
    if narrow != wide:
        data = relay.cast(data, wide)
    unbiased = variance
    if node.attrs.get("is_training", True):
        if float(node.attrs.get("exponential_avg_factor", 1.0)) != 1.0:
            raise RelayError(
                f"{node.op} in training mode is supported only with exponential_avg_factor=1",
                help=["freeze the model for inference: is_training=False"],
            )
        broadcast_mean = relay.mean(data, axis=[axis], keepdims=True, exclude=True)
        mean = relay.mean(data, axis=[axis], exclude=True)
        variance = relay.variance(data, axis=[axis], exclude=True, with_mean=broadcast_mean)
        sizes = [relay.cast(relay.ndarray_size(part), wide) for part in (data, gamma)]
        one = const(1.0, wide)
        count = relay.divide(*sizes)  # of the elements of a channel; TensorFlow's estimate is unbiased
        rest = relay.maximum(relay.subtract(count, one), one)
        unbiased = relay.multiply(variance, relay.divide(count, rest))
    result = relay.nn.batch_norm(data, gamma, beta, mean, variance, axis=axis, epsilon=epsilon)[0]
    if narrow != wide:
        result = relay.cast(result, narrow)
    results = [result, mean, unbiased, mean, variance]
    return [*results, const(0.0, wide)] if node.op.endswith("V3") else results


@converts("LRN")
def _local_response(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    size = 2 * int(node.attrs.get("depth_radius", 5)) + 1
    alpha = float(node.attrs.get("alpha", 1.0)) * size  # Relay divides it by the size
    return relay.nn.lrn(
        inputs[0],
        size=size,
        axis=3,
        bias=float(node.attrs.get("bias", 1.0)),
        alpha=alpha,
        beta=float(node.attrs.get("beta", 0.5)),
    )


@converts("Softmax")
def _softmax(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.nn.softmax(inputs[0], axis=-1)


@converts("LogSoftmax")
def _log_softmax(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return relay.nn.log_softmax(inputs[0], axis=-1)


@converts("L2Loss")
def _half_square(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    square = relay.multiply(inputs[0], inputs[0])
    return relay.multiply(relay.sum(square), const(0.5, tf.context.dtype(inputs[0])))


@converts("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
def _cross_entropy(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert the loss of each row, and its gradient."""
    logits, labels = inputs
    dtype = tf.context.dtype(logits)
    if node.op.startswith("Sparse"):
        depth = tf.context.shape(logits)[-1]
        if not isinstance(depth, int):
            raise DynamicShapeError("the number of classes must be known at compile time")
        one, zero = const(1.0, dtype), const(0.0, dtype)
        labels = relay.one_hot(labels, one, zero, depth, -1, dtype)
    loss = relay.negative(relay.sum(relay.multiply(labels, relay.nn.log_softmax(logits)), axis=[-1]))
    return loss, relay.subtract(relay.nn.softmax(logits), labels)
