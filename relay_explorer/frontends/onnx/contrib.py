"""Convert ONNX Runtime's own operators (the domain `com.microsoft`): activations, normalization and products.

Its optimizer writes them into models, and so do its exporters of transformers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .attention import rotary
from .graph import Graph
from .layer_norms import layer_norm, rms_norm
from .matrix import matmul
from .quantized import by_operator
from .registry import MICROSOFT, Inputs, converter
from .tools import as_int64, integers, operand, operands, optional, text

# -- activations


def gelu(g: Graph, x: Expr) -> Expr:
    """Return `x · Φ(x)`, with the distribution function of the normal distribution."""
    dtype = g.context.dtype(x)
    half, one = const(0.5, dtype), const(1.0, dtype)
    share = relay.add(relay.erf(relay.multiply(x, const(0.5**0.5, dtype))), one)
    return relay.multiply(relay.multiply(x, half), share)


@converter("Gelu", domain=MICROSOFT)
def _gelu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return gelu(g, operand(node, inputs))


@converter("BiasGelu", domain=MICROSOFT)
def _bias_gelu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, bias = operands(node, inputs, 2)
    return gelu(g, relay.add(x, bias))


@converter("FastGelu", domain=MICROSOFT)
def _fast_gelu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, bias = operand(node, inputs), optional(inputs, 1)
    if bias is not None:
        x = relay.add(x, bias)
    dtype = g.context.dtype(x)
    cube = relay.multiply(relay.multiply(x, x), relay.multiply(x, const(0.044715, dtype)))
    inner = relay.multiply(relay.add(x, cube), const(0.7978845608028654, dtype))
    share = relay.add(relay.tanh(inner), const(1.0, dtype))
    return relay.multiply(relay.multiply(x, const(0.5, dtype)), share)


@converter("QuickGelu", domain=MICROSOFT)
def _quick_gelu(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    alpha = const(g.attr(node, "alpha", 1.702), g.context.dtype(x))
    return relay.multiply(x, relay.sigmoid(relay.multiply(x, alpha)))


# -- normalization


@converter("SimplifiedLayerNormalization")
def _simplified(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, scale = operands(node, inputs, 2)
    return rms_norm(g, x, scale, g.attr(node, "axis", -1), g.attr(node, "epsilon", 1e-5))


@converter("LayerNormalization", since=1)
def _layer_normalization(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    """Convert the form that ONNX Runtime had before the standard's."""
    x, scale = operands(node, inputs, 2)
    axis, epsilon = g.attr(node, "axis", -1), g.attr(node, "epsilon", 1e-5)
    return layer_norm(g, x, scale, optional(inputs, 2), axis, epsilon, any(node.outputs[1:]))


@converter("SkipLayerNormalization", domain=MICROSOFT)
def _skip_layer_normalization(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x, skip, gamma = operands(node, inputs, 3)
    beta, bias = optional(inputs, 3), optional(inputs, 4)
    total = _sum(x, skip, bias)
    result = layer_norm(g, total, gamma, beta, -1, g.attr(node, "epsilon", 1e-12), any(node.outputs[1:3]))
    statistics = list(result[1:]) or [total, total]  # not used
    return [result[0], *statistics, total]


@converter("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def _skip_simplified(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x, skip, gamma = operands(node, inputs, 3)
    total = _sum(x, skip, optional(inputs, 3))
    if any(node.outputs[1:3]):
        raise RelayError(
            "the outputs mean and inv_std_var of SkipSimplifiedLayerNormalization cannot be imported"
        )
    return [rms_norm(g, total, gamma, -1, g.attr(node, "epsilon", 1e-12)), total, total, total]


@converter("EmbedLayerNormalization", domain=MICROSOFT)
def _embed_layer_normalization(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    ids, words, places, gamma, beta = [inputs[i] for i in (0, 2, 3, 5, 6)]
    segments, of_segments, mask, positions = [optional(inputs, i) for i in (1, 4, 7, 8)]
    if ids is None or words is None or places is None or gamma is None or beta is None:
        raise RelayError(
            "EmbedLayerNormalization requires the inputs input_ids, word_embedding, position_embedding, "
            "gamma and beta"
        )
    total = relay.take(words, as_int64(g, ids), axis=0)
    if positions is not None:
        total = relay.add(total, relay.take(places, as_int64(g, positions), axis=0))
    else:
        length = g.context.shape(ids)[1]
        if not isinstance(length, int):
            raise DynamicShapeError(
                "EmbedLayerNormalization without position_ids requires that the sequence length is known at "
                "compile time"
            )
        total = relay.add(total, relay.strided_slice(places, [0], [length], axes=[0]))
    if segments is not None and of_segments is not None:
        total = relay.add(total, relay.take(of_segments, as_int64(g, segments), axis=0))
    (result, *_) = layer_norm(g, total, gamma, beta, -1, g.attr(node, "epsilon", 1e-12))
    like = ids if mask is None else mask
    counts = relay.sum(relay.cast(like, "int32"), [1])
    return [result, counts if mask is not None else relay.zeros_like(counts), total]


def _sum(*terms: Expr | None) -> Expr:
    present = [term for term in terms if term is not None]
    total = present[0]
    for term in present[1:]:
        total = relay.add(total, term)
    return total


# -- products


@converter("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def _fused_matmul(g: Graph, node: Node, inputs: Inputs) -> Expr:
    a, b = operands(node, inputs, 2)
    if g.attr(node, "transBatchA", 0) or g.attr(node, "transBatchB", 0):
        raise RelayError(f"{node.op} with transBatchA=1 or transBatchB=1 cannot be imported")
    if g.attr(node, "transA", 0):
        a = _transposed(g, a)
    if g.attr(node, "transB", 0):
        b = _transposed(g, b)
    alpha = g.attr(node, "alpha", 1.0)
    result = matmul(g, a, b)
    return result if alpha == 1.0 else relay.multiply(result, const(alpha, g.context.dtype(a)))


def _transposed(g: Graph, x: Expr) -> Expr:
    rank = g.context.rank(x)
    return x if rank < 2 else relay.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


@converter("FusedConv", domain=MICROSOFT)
def _fused_conv(g: Graph, node: Node, inputs: Inputs) -> Expr:
    result = by_operator("Conv", g, node, inputs[:3])
    added = optional(inputs, 3)
    return _activated(g, node, result if added is None else relay.add(result, added))


@converter("FusedGemm", domain=MICROSOFT)
def _fused_gemm(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _activated(g, node, by_operator("Gemm", g, node, inputs))


def _activated(g: Graph, node: Node, x: Expr) -> Expr:
    """Apply the activation function that is fused into a product."""
    name = text(g.attr(node, "activation"), "")
    params = list(g.attr(node, "activation_params", []))
    if name == "":
        return x
    if name == "Relu":
        return relay.nn.relu(x)
    if name == "Tanh":
        return relay.tanh(x)
    if name == "Sigmoid":
        return relay.sigmoid(x)
    if name == "LeakyRelu":
        return relay.nn.leaky_relu(x, params[0] if params else g.attr(node, "activation_alpha", 0.01))
    if name == "Clip" and len(params) == 2:
        return relay.clip(x, params[0], params[1])
    raise RelayError(f"the activation {name!r} of {node.op} cannot be imported")


# -- others


@converter("RotaryEmbedding", domain=MICROSOFT)
def _rotary_embedding(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, positions, cosines, sines = operands(node, inputs, 4)
    if g.context.shape(positions) == (1,):
        raise RelayError(
            "RotaryEmbedding whose position_ids are a single offset cannot be imported",
            help=["give the model position_ids of shape (batch_size, sequence_length)"],
        )
    if g.attr(node, "scale", 1.0) != 1.0:
        raise RelayError("RotaryEmbedding can be imported with scale=1 only")
    heads, width = g.attr(node, "num_heads", 0), g.attr(node, "rotary_embedding_dim", 0)
    if g.context.rank(x) == 3 and not heads:
        half, hidden = g.context.shape(cosines)[1], g.context.shape(x)[2]
        if not isinstance(half, int) or not isinstance(hidden, int):
            raise DynamicShapeError(
                "RotaryEmbedding without num_heads requires that the hidden size and the width of cos_cache "
                "are known at compile time"
            )
        heads = hidden // (2 * half)
    return rotary(g, x, cosines, sines, positions, heads, width, bool(g.attr(node, "interleaved", 0)))


@converter("ExpandDims", domain=MICROSOFT)
def _expand_dims(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, axis = operands(node, inputs, 2)
    return relay.expand_dims(x, integers(g, axis, "the axis of ExpandDims")[0])
