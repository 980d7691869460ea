"""Converters of pooling."""

from __future__ import annotations

from ....ir.errors import RelayError
from ....ir.expr import Expr
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.source import Node
from ..importer import Importer
from ..registry import converts
from .sliding import LEAST, Sliding, by_rank


@converts("MaxPool", "MaxPool3D", "AvgPool", "AvgPool3D", "MaxPoolV2")
def _pool(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    if str(node.attrs.get("data_format", "NHWC")) == "NCHW_VECT_C":
        raise RelayError("the data format NCHW_VECT_C is not supported")
    slide = Sliding(tf, node, inputs[0])
    if node.op == "MaxPoolV2":
        window = slide.spatial_part("ksize", tf.ints(inputs[1], "the size of the window"))
        strides = slide.spatial_part("strides", tf.ints(inputs[2], "the strides"))
    else:
        window, strides = slide.of_axes("ksize"), slide.of_axes("strides")
    average = node.op.startswith("Avg")
    dtype = tf.context.dtype(inputs[0])
    padding = slide.padding(window, strides, None if average else LEAST.get(dtype))
    if average:
        build = by_rank(slide.axes, relay.nn.avg_pool1d, relay.nn.avg_pool2d, relay.nn.avg_pool3d)
        pooled = build(
            slide.data, pool_size=window, strides=strides, padding=padding, layout=slide.layout,
            count_include_pad=False,
        )  # fmt: skip
    else:
        build = by_rank(slide.axes, relay.nn.max_pool1d, relay.nn.max_pool2d, relay.nn.max_pool3d)
        pooled = build(slide.data, pool_size=window, strides=strides, padding=padding, layout=slide.layout)
    return slide.restore(pooled)
