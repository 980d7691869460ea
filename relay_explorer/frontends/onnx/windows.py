"""The windows of convolutions and pools: kernel sizes, strides, dilations, and padding of all kinds."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.errors import ModelFileError
from ..base.padding import same_total
from ..base.pool_windows import PoolWindows, rounded_up
from ..base.source import Node
from .graph import Graph
from .tools import extent_of, shape_vector, text

MOST_SPATIAL = 3


class Window:
    """The geometry of a node's window. `pads` are the padding before each axis and then after each."""

    def __init__(self, g: Graph, node: Node, x: Expr, kernel: list[int]) -> None:
        self.rank = g.context.rank(x) - 2
        self.kernel = kernel
        if not 1 <= self.rank <= MOST_SPATIAL:
            raise RelayError(f"the data of {node.op} must have 3, 4 or 5 axes, not {self.rank + 2}")
        self.strides = self._sizes(g, node, "strides", [1] * self.rank)
        self.dilations = self._sizes(g, node, "dilations", [1] * self.rank)
        if len(kernel) != self.rank:
            raise ModelFileError(f"the kernel has {len(kernel)} axes, but the data has {self.rank}")
        self.reach = [(k - 1) * d + 1 for k, d in zip(kernel, self.dilations)]

    def _sizes(self, g: Graph, node: Node, name: str, default: list[int]) -> list[int]:
        sizes = list(g.attr(node, name) or default)
        if len(sizes) != self.rank or any(size < 1 for size in sizes):
            raise ModelFileError(f"{name}={sizes} must have {self.rank} positive elements")
        return sizes

    def padding(self, g: Graph, node: Node, x: Expr, fill: float) -> tuple[Expr, list[int]]:
        """Return the data and its static padding. Where `auto_pad` depends on an extent that is known only at
        run time, the data are padded with `fill` by an operator of their own, and the padding is zero.
        """
        auto = text(g.attr(node, "auto_pad"), "NOTSET")
        none = [0] * (2 * self.rank)
        if auto in ("NOTSET", ""):
            pads = list(g.attr(node, "pads") or none)
            if len(pads) != 2 * self.rank:
                raise ModelFileError(f"pads={pads} must have {2 * self.rank} elements")
            return x, pads
        if auto == "VALID":
            return x, none
        if auto not in ("SAME_UPPER", "SAME_LOWER"):
            raise ModelFileError(f"auto_pad={auto!r} is not defined by ONNX")
        upper = auto == "SAME_UPPER"
        dims = g.context.shape(x)[2:]
        totals: list[int | Expr] = []
        for axis, (dim, stride, reach) in enumerate(zip(dims, self.strides, self.reach)):
            if stride == 1:
                totals.append(reach - 1)
            elif isinstance(dim, int):
                totals.append(same_total(dim, reach, stride))
            else:
                totals.append(self._total(g, x, axis, stride, reach))
        numbers = [total for total in totals if isinstance(total, int)]
        if len(numbers) == self.rank:
            begins = [total // 2 if upper else total - total // 2 for total in numbers]
            return x, begins + [total - begin for total, begin in zip(numbers, begins)]
        return self._padded(g, x, totals, upper, fill), none

    def rounding(self, g: Graph, node: Node, x: Expr, pads: list[int], counted: bool) -> PoolWindows:
        """Return the windows of a pool over `x`, in ceil_mode or not; see `rounded_up`."""
        if not g.attr(node, "ceil_mode", 0):
            return PoolWindows(self.kernel, pads, False)
        dims = g.context.shape(x)[2:]
        return rounded_up(dims, self.kernel, self.strides, self.dilations, pads, counted)

    def _total(self, g: Graph, x: Expr, axis: int, stride: int, reach: int) -> Expr:
        """Return the padding of an axis whose extent is known only at run time."""
        dim = extent_of(g, x, axis + 2)
        count = relay.floor_divide(relay.add(dim, const(stride - 1, "int64")), const(stride, "int64"))
        last = relay.multiply(relay.subtract(count, const(1, "int64")), const(stride, "int64"))
        total = relay.subtract(relay.add(last, const(reach, "int64")), dim)
        return relay.maximum(total, const(0, "int64"))

    def _padded(self, g: Graph, x: Expr, totals: list[int | Expr], upper: bool, fill: float) -> Expr:
        amounts: list[int | Expr] = [0, 0, 0, 0]
        for total in totals:
            if isinstance(total, int):
                half: Anything = total // 2
                rest: Anything = total - half
            else:
                half = relay.floor_divide(total, const(2, "int64"))
                rest = relay.subtract(total, half)
            amounts += [half, rest] if upper else [rest, half]
        width = relay.reshape(shape_vector(g, amounts), (self.rank + 2, 2))
        return relay.nn.pad(x, width, const(fill, g.context.dtype(x)))
