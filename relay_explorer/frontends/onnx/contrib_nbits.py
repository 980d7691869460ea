"""Convert ONNX Runtime's operators with weights of few bits, which language models are exported with."""

from __future__ import annotations

from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from ...ops.nn.nbits import unpack
from ..base.errors import ModelFileError
from ..base.source import Node
from .graph import Graph
from .matrix import matmul
from .quantized import dequantize
from .registry import MICROSOFT, Inputs, converter
from .tools import normal_axis, operands, optional, taken

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


@converter("GatherBlockQuantized", domain=MICROSOFT)
def _gather_block_quantized(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Take slices of a table of few bits, whose blocks have a scale each, and make real numbers of them."""
    table, indices, scales = operands(node, inputs, 3)
    zeros = optional(inputs, 3)
    bits, size = int(g.attr(node, "bits", 4)), int(g.attr(node, "block_size", 128))
    rank = g.context.rank(table)
    axis = normal_axis(g.attr(node, "gather_axis", 0), rank)
    along = normal_axis(g.attr(node, "quantize_axis", 1), rank)
    if axis == along:
        raise ModelFileError(f"{node.op} gathers along the axis of its blocks, {axis}")
    stored = g.importer.few_bits.get(table)  # else elements of fewer than 8 bits are packed into bytes
    if stored is None and bits < 8 and along != rank - 1:
        raise ModelFileError(f"{node.op} of packed bytes requires that blocks lie along the last axis")
    parts = [taken(g, part, indices, axis) for part in (table, scales)]
    if zeros is not None:
        zeros = taken(g, zeros, indices, axis)
    elif stored is None:
        zeros = relay.full_like(relay.cast(parts[1], "uint8"), const(1 << (bits - 1), "uint8"))
    values = parts[0]
    moved = along + g.context.rank(indices) - 1 if along > axis else along
    if stored is None and bits < 8:
        values = _unpacked(g, values, bits)
        if optional(inputs, 3) is not None and zeros is not None:
            blocks = g.context.shape(parts[1])[-1]
            assert isinstance(blocks, int)
            zeros = relay.strided_slice(_unpacked(g, zeros, bits), [0], [blocks], axes=[-1])
    return dequantize(
        g, g.context.finish(values, None), parts[1], zeros, g.context.dtype(scales), moved, size
    )


def _unpacked(g: Graph, packed: Expr, bits: int) -> Expr:
    """Return the unsigned integers that bytes contain along the last axis, the first in the lowest bits."""
    each = [
        relay.bitwise_and(relay.right_shift(packed, const(shift, "uint8")), const((1 << bits) - 1, "uint8"))
        for shift in range(0, 8, bits)
    ]
    *lead, last = g.context.shape(packed)
    assert isinstance(last, int)
    return relay.reshape(relay.stack(each, -1), [*[0] * len(lead), last * len(each)])


_FP4 = (0.0, 0.0052083333, 2 / 3, 1.0, 1 / 3, 0.5, 1 / 6, 0.25)
_NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023,
    1.0,
)  # fmt: skip
_CODES = ((*_FP4, *(-value for value in _FP4)), _NF4)  # by the attribute `quant_type`


@converter("MatMulBnb4", domain=MICROSOFT)
def _matmul_bnb4(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Multiply by a weight (N, K) of codes of 4 bits, in the format of bitsandbytes: blocks of the flat
    weight have their greatest magnitude as a scale, and each byte has its first code in the high bits.
    """
    data, packed, magnitudes = operands(node, inputs, 3)
    features, units = int(g.required(node, "K")), int(g.required(node, "N"))
    size, kind = int(g.required(node, "block_size")), int(g.required(node, "quant_type"))
    if kind not in (0, 1):
        raise ModelFileError(f"quant_type={kind} of {node.op} is neither 0 (FP4) nor 1 (NF4)")
    if not g.attr(node, "transB", 1):
        raise ModelFileError(f"{node.op} with transB=0 is not supported")
    flat, four = relay.reshape(packed, [-1]), const(4, "uint8")
    codes = relay.stack([relay.right_shift(flat, four), relay.bitwise_and(flat, const(15, "uint8"))], -1)
    count = units * features
    whole = relay.strided_slice(relay.reshape(codes, [-1]), [0], [count])
    dtype = g.context.dtype(magnitudes)
    values = relay.take(const(list(_CODES[kind]), dtype), relay.cast(whole, "int32"), axis=0, mode="clip")
    scales = relay.strided_slice(relay.repeat(relay.reshape(magnitudes, [-1]), size, 0), [0], [count])
    weight = relay.reshape(relay.multiply(values, scales), [units, features])
    return matmul(g, data, g.context.finish(relay.transpose(weight, [1, 0]), None))
