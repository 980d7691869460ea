"""The device of each expression, as the program's annotations determine it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.expr import Call, Expr, Function
from ...ir.op import Op
from ...ir.walk import post_order
from ...ops.annotation import CompilerAttrs, OnDeviceAttrs
from .format import Edge, Placement


def placements(exprs: Sequence[Expr], edges: Sequence[Edge]) -> Iterator[Placement]:
    """Iterate over the devices of the expressions for which annotations determine one.

    An `on_device` call says where its argument is computed, where its result must be, or both. An operator
    runs where its operands are, so a device extends along the edges up to the next `on_device`. A region
    between `compiler_begin` and `compiler_end`, and a function with the attribute `Compiler`, belong to
    another compiler.
    """
    if not any(_annotated(expr) for expr in exprs):
        return
    devices = _Devices(len(exprs))
    number = {expr: index for index, expr in enumerate(exprs)}
    for index, expr in enumerate(exprs):
        if isinstance(expr, Call) and isinstance(expr.attrs, OnDeviceAttrs):
            if expr.attrs.constrain_result:
                devices.place(index, str(expr.attrs.virtual_device))
        elif isinstance(expr, Function) and "Compiler" in expr.attrs:
            for inner in post_order(expr.body):
                if isinstance(inner, Call) and inner in number:
                    devices.place(number[inner], str(expr.attrs["Compiler"]))
    for edge in edges:
        target = exprs[edge.target]
        attrs = target.attrs if isinstance(target, Call) else None
        if isinstance(attrs, OnDeviceAttrs):
            if attrs.constrain_body:
                devices.place(edge.source, str(attrs.virtual_device))
        elif isinstance(attrs, CompilerAttrs):
            assert isinstance(target, Call)
            if isinstance(target.op, Op) and target.op.name.endswith("compiler_end"):
                devices.place(edge.source, attrs.compiler)
        elif isinstance(target, Call):
            devices.join(edge.source, edge.target)
    for index in range(len(exprs)):
        device = devices.of(index)
        if device:
            yield Placement(index, device)


def _annotated(expr: Expr) -> bool:
    if isinstance(expr, Call):
        return isinstance(expr.attrs, (OnDeviceAttrs, CompilerAttrs))
    return isinstance(expr, Function) and "Compiler" in expr.attrs


class _Devices:
    """Sets of expressions on the same device. Two sets that are on different devices are not joined."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))
        self._device = [""] * count

    def _root(self, index: int) -> int:
        while self._parent[index] != index:
            self._parent[index] = index = self._parent[self._parent[index]]
        return index

    def of(self, index: int) -> str:
        return self._device[self._root(index)]

    def place(self, index: int, device: str) -> None:
        root = self._root(index)
        self._device[root] = self._device[root] or device

    def join(self, first: int, second: int) -> None:
        a, b = self._root(first), self._root(second)
        if self._device[a] and self._device[b] and self._device[a] != self._device[b]:
            return
        self._parent[a] = b
        self._device[b] = self._device[b] or self._device[a]
