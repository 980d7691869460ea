"""What convolutions and pooling share: data formats, strides, and TensorFlow's padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ir.types import Any, Dim
from ....ops import namespaces as relay
from ...base.errors import DynamicShapeError
from ...base.padding import same_total
from ...base.source import Node
from ..importer import Importer
from .creation import refined

# The least number of an element type: padding by it does not change a maximum.
LEAST = {"float16": -65504.0, "float32": -3.4028234663852886e38, "float64": -1.7976931348623157e308}


class Sliding:
    """A node whose window slides over the spatial axes of its data.

    `layout` is the layout in which it is computed, such as NHWC; `data` is in it. `restore` returns a result
    to the layout of the graph.
    """

    def __init__(self, tf: Importer, node: Node, data: Expr) -> None:
        self.tf = tf
        self.node = node
        self.axes = tf.context.rank(data) - 2
        if self.axes not in (1, 2, 3):
            raise RelayError(f"the data of {node.op} must have 3, 4 or 5 axes, not {self.axes + 2}")
        self.spatial = "DHW"[-self.axes :]
        self.last = str(node.attrs.get("data_format", "NHWC")).endswith("C")
        self.transposed = self.last and tf.layout == "NCHW"
        self.layout = f"N{self.spatial}C" if self.last and not self.transposed else f"NC{self.spatial}"
        self.data = self.first(data) if self.transposed else data

    def first(self, data: Expr) -> Expr:
        """Move the channels from the end to the second place."""
        return relay.transpose(data, [0, self.axes + 1, *range(1, self.axes + 1)])

    def to_last(self, data: Expr) -> Expr:
        """Move the channels from the second place to the end."""
        return relay.transpose(data, [0, *range(2, self.axes + 2), 1])

    def restore(self, result: Expr) -> Expr:
        """Return a result in the graph's own layout."""
        return self.to_last(result) if self.transposed else result

    @property
    def extents(self) -> tuple[Dim, ...]:
        """The data's spatial extents."""
        shape = self.tf.context.shape(self.data)
        return shape[1:-1] if self.layout.endswith("C") else shape[2:]

    @property
    def channels(self) -> Dim:
        """The data's number of channels."""
        return self.tf.context.shape(self.data)[-1 if self.layout.endswith("C") else 1]

    def of_axes(self, name: str, default: int = 1) -> list[int]:
        """Return the spatial elements of an attribute with one element for each axis of the graph's data."""
        return self.spatial_part(name, self.node.attrs.get(name, ()), default)

    def spatial_part(self, name: str, values: Sequence[int], default: int = 1) -> list[int]:
        """Return the spatial elements of a list with one element for each axis of the graph's data."""
        if not values:
            return [default] * self.axes
        values = [int(value) for value in values]
        if len(values) != self.axes + 2:
            raise RelayError(f"`{name}` has {len(values)} elements, but the data has {self.axes + 2} axes")
        others = (values[0], values[-1]) if self.last else (values[0], values[1])
        if others != (1, 1):
            raise RelayError(f"`{name}` must be 1 for the batch and the channels, not {others}")
        part = values[1:-1] if self.last else values[2:]
        if any(value < 1 for value in part):
            raise RelayError(f"`{name}` must be positive, not {part}")
        return part

    def padding(self, window: Sequence[int], strides: Sequence[int], fill: float | None = 0.0) -> list[int]:
        """Return the padding before and after each spatial axis: all before, then all after.

        Where an extent is dynamic and the padding depends on it, the data itself is padded by `fill`; None
        means that this would change the result.
        """
        kind = self.node.attrs.get("padding", "VALID")
        if kind == "VALID":
            return [0] * (2 * self.axes)
        if kind == "EXPLICIT":
            pairs = [int(value) for value in self.node.attrs.get("explicit_paddings", ())]
            if len(pairs) != 2 * (self.axes + 2) or any(value < 0 for value in pairs):
                raise RelayError(
                    f"explicit_paddings must have {2 * (self.axes + 2)} elements that are not negative, but "
                    f"is {pairs}"
                )
            pairs = pairs[2:-2] if self.last else pairs[4:]
            return [*pairs[0::2], *pairs[1::2]]
        if kind != "SAME":
            raise RelayError(f"padding must be SAME, VALID or EXPLICIT, not {kind!r}")
        before, after = [], []
        for extent, size, stride in zip(self.extents, window, strides):
            if isinstance(extent, int):
                total = same_total(extent, size, stride)
            elif stride == 1:
                total = size - 1
            else:
                self._pad_dynamic(window, strides, fill)
                return [0] * (2 * self.axes)
            before.append(total // 2)
            after.append(total - total // 2)
        return [*before, *after]

    def _pad_dynamic(self, window: Sequence[int], strides: Sequence[int], fill: float | None) -> None:
        """Pad the data by amounts that the program computes."""
        if fill is None:
            raise DynamicShapeError(
                "average pooling with SAME padding and strides requires that the spatial extents are known "
                "at compile time"
            )
        shape = relay.shape_of(self.data, dtype="int32")
        first = 1 if self.layout.endswith("C") else 2
        extents = relay.strided_slice(shape, [first], [first + self.axes], [1])
        sizes, steps = const(list(window), "int32"), const(list(strides), "int32")
        one, two = const(1, "int32"), const(2, "int32")
        outputs = relay.floor_divide(relay.subtract(relay.add(extents, steps), one), steps)
        needed = relay.add(relay.multiply(relay.subtract(outputs, one), steps), sizes)
        total = relay.maximum(relay.subtract(needed, extents), const(0, "int32"))
        before = relay.floor_divide(total, two)
        pairs = relay.stack([before, relay.subtract(total, before)], axis=1)
        before_axes, after_axes = relay.zeros((first, 2), "int32"), relay.zeros((2 - first, 2), "int32")
        parts = [before_axes, pairs, after_axes] if first < 2 else [before_axes, pairs]
        widths = relay.concatenate(parts, 0)
        value = const(fill, self.tf.context.dtype(self.data))
        known = list(self.tf.context.shape(self.data))
        known[first : first + self.axes] = [Any()] * self.axes
        self.data = refined(self.tf, relay.nn.pad(self.data, widths, value), known)


def effective(window: Sequence[int], dilation: Sequence[int]) -> list[int]:
    """Return the extents that a dilated window covers."""
    return [(size - 1) * step + 1 for size, step in zip(window, dilation)]


def by_rank(axes: int, *builders: Callable[..., Expr]) -> Callable[..., Expr]:
    """Return the builder for 1, 2 or 3 spatial axes."""
    return builders[axes - 1]
