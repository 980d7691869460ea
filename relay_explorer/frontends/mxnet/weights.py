"""The shapes of layers' weights, which MXNet infers from the shape of the data.

A symbol does not have them. With a `.params` file they are known; without one, for example to import a
network in order to train it, they follow from the layer's attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.errors import RelayError
from ...ir.types import Dim
from ..base.errors import DynamicShapeError
from .attributes import Attributes
from .symbol import SymbolNode

DEEPEST = 1000  # layers of a recurrent network

Shapes = dict[int, tuple[int, ...]]
Rule = Callable[[Attributes, Sequence[Dim]], Shapes]


def weight_shapes(node: SymbolNode, data: Sequence[Dim]) -> Shapes:
    """Return the shapes of a layer's inputs, by number, from the shape of its first input."""
    rule = _RULES.get(node.op)
    return {} if rule is None else rule(node.attrs, data)


def _known(data: Sequence[Dim], axis: int) -> int:
    extent = data[axis] if -len(data) <= axis < len(data) else None
    if not isinstance(extent, int):
        raise DynamicShapeError(
            f"the extent of axis {axis} of the data must be known at compile time, but the shape is "
            f"{tuple(data)}"
        )
    return extent


def rnn_size(attrs: Attributes, inputs: int) -> int:
    """Return the number of weights and biases of an `RNN` node."""
    gates = {"lstm": 4, "gru": 3}.get(attrs.text("mode"), 1)
    hidden, layers = attrs.int("state_size"), attrs.int("num_layers")
    directions = 2 if attrs.bool("bidirectional", False) else 1
    if not 1 <= layers <= DEEPEST or hidden < 1:
        raise RelayError(
            f"an RNN requires 1 to {DEEPEST:,} layers and a positive state_size, not {layers} and {hidden}"
        )
    count = 0
    for layer in range(layers):
        width = inputs if layer == 0 else hidden * directions
        count += directions * gates * hidden * (width + hidden + 2)
    return count


def _convolution(attrs: Attributes, data: Sequence[Dim]) -> Shapes:
    filters, groups = attrs.int("num_filter"), attrs.int("num_group", 1)
    kernel, layout = attrs.ints("kernel"), attrs.text("layout", "NC")
    channels = _known(data, layout.index("C")) // groups
    weight = (filters, channels, *kernel) if layout[1] == "C" else (filters, *kernel, channels)
    return {1: weight, 2: (filters,)}


def _deformable(attrs: Attributes, data: Sequence[Dim]) -> Shapes:
    shapes = _convolution(attrs, data)
    return {2: shapes[1], 3: shapes[2]}


def _deconvolution(attrs: Attributes, data: Sequence[Dim]) -> Shapes:
    filters = attrs.int("num_filter")
    weight = (_known(data, 1), filters // attrs.int("num_group", 1), *attrs.ints("kernel"))
    return {1: weight, 2: (filters,)}


def _dense(attrs: Attributes, data: Sequence[Dim]) -> Shapes:
    units = attrs.int("num_hidden")
    inputs = 1
    for axis in range(1, len(data)) if attrs.bool("flatten", True) else [-1]:
        inputs *= _known(data, axis)
    return {1: (units, inputs), 2: (units,)}


def _channels(default: int) -> Rule:
    def rule(attrs: Attributes, data: Sequence[Dim]) -> Shapes:
        channels = _known(data, attrs.int("axis", default))
        return dict.fromkeys(range(1, 5), (channels,))

    return rule


def _groups(attrs: Attributes, data: Sequence[Dim]) -> Shapes:
    groups = attrs.int("num_groups", 1)
    return {1: (groups,), 2: (groups,)}


def _up_sampling(attrs: Attributes, data: Sequence[Dim]) -> Shapes:
    kernel = 2 * attrs.int("scale") - attrs.int("scale") % 2
    return {1: (_known(data, 1), 1, kernel, kernel)}


def _embedding(attrs: Attributes, data: Sequence[Dim]) -> Shapes:
    return {1: (attrs.int("input_dim"), attrs.int("output_dim"))}


def _recurrent(attrs: Attributes, data: Sequence[Dim]) -> Shapes:
    directions = 2 if attrs.bool("bidirectional", False) else 1
    state = (attrs.int("num_layers") * directions, _known(data, 1), attrs.int("state_size"))
    return {1: (rnn_size(attrs, _known(data, 2)),), 2: state, 3: state}


_RULES: dict[str, Rule] = {
    "Convolution": _convolution,
    "Convolution_v1": _convolution,
    "_contrib_DeformableConvolution": _deformable,
    "Deconvolution": _deconvolution,
    "FullyConnected": _dense,
    "BatchNorm": _channels(1),
    "BatchNorm_v1": _channels(1),
    "CuDNNBatchNorm": _channels(1),
    "_contrib_SyncBatchNorm": _channels(1),
    "InstanceNorm": _channels(1),
    "GroupNorm": _groups,
    "LayerNorm": _channels(-1),
    "LeakyReLU": _channels(1),
    "Embedding": _embedding,
    "UpSampling": _up_sampling,
    "RNN": _recurrent,
}
_RULES |= {f"_npx_{name}": _RULES[full] for name, full in {
    "convolution": "Convolution", "deconvolution": "Deconvolution", "fully_connected": "FullyConnected",
    "batch_norm": "BatchNorm", "layer_norm": "LayerNorm", "embedding": "Embedding", "leaky_relu": "LeakyReLU",
    "rnn": "RNN", "instance_norm": "InstanceNorm", "group_norm": "GroupNorm",
}.items()}  # fmt: skip
