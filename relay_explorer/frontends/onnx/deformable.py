"""Convert ONNX's deformable convolution, whose windows read at places that an operand gives."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ..base.deformable import deformable_conv2d
from ..base.source import Node
from .convolution import with_bias
from .graph import Graph
from .registry import Inputs, converter
from .tools import operands, optional
from .windows import Window


@converter("DeformConv")
def _deform_conv(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, weight, offset = operands(node, inputs, 3)
    shape = g.context.static_shape(weight)
    window = Window(g, node, x, list(shape[2:]))
    if window.rank != 2:
        raise RelayError("DeformConv can be imported only for two spatial axes")
    pads = list(g.attr(node, "pads") or [0] * 4)
    groups, offset_groups = g.attr(node, "group", 1), g.attr(node, "offset_group", 1)
    result = deformable_conv2d(
        g.context,
        x,
        offset,
        weight,
        optional(inputs, 4),
        strides=window.strides,
        padding=pads[:2],
        dilations=window.dilations,
        groups=groups,
        offset_groups=offset_groups,
    )
    return with_bias(result, optional(inputs, 3))
