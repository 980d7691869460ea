"""CombineParallelConv2D: combine convolutions of the same image along their output channels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...ir.expr import Call
from ...ir.lazy_dataclass import dataclass
from ...ir.typed import tensor_type
from ...ops.nn.layout import parse_layout
from .groups import CombineParallel, Concatenated, Group, concatenated


@dataclass(frozen=True)
class CombineParallelConv2D(CombineParallel):
    """Combine 2-D convolutions of the same data into one that computes the output channels of all.

    The convolutions may differ only in their weights and in the number of output channels. Element-wise
    operators that follow each are combined too, so the branches of an Inception block become one kernel.
    Grouped convolutions are left alone.
    """

    name = "CombineParallelConv2d"
    operator = "nn.conv2d"

    def key(self, call: Call) -> Hashable | None:
        attrs, weight = call.attrs, tensor_type(call.args[1])
        assert attrs is not None
        if attrs["groups"] != 1 or not weight.is_static or not tensor_type(call).is_static:
            return None
        kernel = dict(zip(_axes(attrs["kernel_layout"]), weight.concrete_shape, strict=True))
        names = ("strides", "padding", "dilation", "data_layout", "kernel_layout", "out_layout", "out_dtype")
        own = tuple((axis, size) for axis, size in kernel.items() if axis != "O")
        return (weight.dtype, own, *[attrs[name] for name in names])

    def group(self, calls: Sequence[Call]) -> Group:
        attrs = calls[0].attrs
        assert attrs is not None
        axes = _axes(attrs["kernel_layout"])
        axis = axes.index("O")
        weights = [call.args[1] for call in calls]
        sizes = [tensor_type(weight).concrete_shape[axis] for weight in weights]
        block = tensor_type(weights[0]).concrete_shape[axes.index("o")] if "o" in axes else 1
        more = attrs.replace(channels=sum(sizes) * block)
        value = Call(calls[0].op, [calls[0].args[0], concatenated(weights, axis)], more)
        layout = _axes(attrs["out_layout"] or attrs["data_layout"])
        return Concatenated(calls, value, sizes, len(layout) - layout.index("C"))


def _axes(layout: str) -> list[str]:
    return [letter for letter, _ in parse_layout(layout)]
