"""Convert ONNX Runtime's products with weights of few bits, which language models are exported with."""

from __future__ import annotations

from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from ...ops.nn.nbits import unpack
from ..base.errors import ModelFileError
from ..base.source import Node
from .graph import Graph
from .registry import MICROSOFT, Inputs, converter
from .tools import operands, optional

UNPACKED = ("float16", "float32", "float64")  # the types of zero points that are not packed


@converter("MatMulNBits", domain=MICROSOFT)
def _matmul_nbits(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Multiply by a weight (N, blocks, bytes of a block), whose blocks along K have a scale each."""
    data, packed, scales = operands(node, inputs, 3)
    features, units = int(g.required(node, "K")), int(g.required(node, "N"))
    bits, size = int(g.attr(node, "bits", 4)), int(g.required(node, "block_size"))
    if optional(inputs, 4) is not None:
        raise ModelFileError(f"{node.op} with an order of its groups (g_idx) is not supported")
    groups = -(-features // size)
    rows = relay.reshape(packed, (units, groups * size * bits // 8))
    used = -(-features * bits // 8)  # the last block of a row may be filled up
    weight = relay.strided_slice(rows, (0, 0), (units, used)) if used < groups * size * bits // 8 else rows
    result = relay.nn.contrib_dense_nbits(
        data,
        weight,
        relay.reshape(scales, (units, groups)),
        _zero_points(g, node, optional(inputs, 3), (units, groups), bits),
        bits,
        size,
    )
    bias = optional(inputs, 5)
    return result if bias is None else relay.add(result, bias)


def _zero_points(g: Graph, node: Node, zeros: Expr | None, shape: tuple[int, int], bits: int) -> Expr:
    """Return the zero points of all blocks. In a model they are packed like the weights, row by row, or are
    real numbers; without them, the middle of the range is 0.
    """
    if zeros is None:
        return const(1 << (bits - 1), "uint8")
    if g.context.dtype(zeros) in UNPACKED:
        return relay.reshape(zeros, shape)
    value = g.context.constant(zeros)
    if value is None:
        raise ModelFileError(f"the zero points of {node.op} must be constant, because they are packed")
    units, groups = shape
    rows = value.reshape(units, -(-groups * bits // 8))
    return Constant(NDArray.sharing(unpack(rows, bits, groups)))
