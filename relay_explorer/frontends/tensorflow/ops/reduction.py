"""Converters of reductions and of scans."""

from __future__ import annotations

from collections.abc import Callable

from ....ir.expr import Expr
from ....ops import namespaces as relay
from ...base.axes import normal_axis
from ...base.context import Results
from ...base.source import Node
from ..importer import Importer
from ..registry import converts

_REDUCTIONS: dict[str, Callable[..., Expr]] = {
    "Sum": relay.sum, "Mean": relay.mean, "Max": relay.max, "Min": relay.min, "Prod": relay.prod,
    "All": relay.all, "Any": relay.any,
}  # fmt: skip


@converts(*_REDUCTIONS)
def _reduce(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    axes, keep = _reduced(tf, node, inputs)
    return _REDUCTIONS[node.op](inputs[0], axis=axes, keepdims=keep) if axes else inputs[0]


def _reduced(tf: Importer, node: Node, inputs: list[Expr]) -> tuple[list[int], bool]:
    """Return the axes that are reduced, and whether they stay with extent 1."""
    rank = tf.context.rank(inputs[0])
    axes = sorted({normal_axis(axis, rank) for axis in tf.ints(inputs[1], "the reduced axes")})
    return axes, bool(node.attrs.get("keep_dims", False))


@converts("EuclideanNorm")
def _norm(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    axes, keep = _reduced(tf, node, inputs)
    if not axes:
        return relay.abs(inputs[0])
    return relay.sqrt(relay.sum(relay.multiply(inputs[0], inputs[0]), axis=axes, keepdims=keep))


@converts("ArgMax", "ArgMin")
def _position(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    build = relay.argmax if node.op == "ArgMax" else relay.argmin
    axis = tf.axis(inputs[1], tf.context.rank(inputs[0]))
    return relay.cast(build(inputs[0], axis=[axis]), str(node.attrs.get("output_type", "int64")))


@converts("Cumsum", "Cumprod")
def _scan(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    data = inputs[0]
    build = relay.cumsum if node.op == "Cumsum" else relay.cumprod
    axis = tf.axis(inputs[1], tf.context.rank(data))
    backwards = bool(node.attrs.get("reverse", False))
    data = relay.reverse(data, axis) if backwards else data
    result = build(data, axis=axis, exclusive=bool(node.attrs.get("exclusive", False)))
    return relay.reverse(result, axis) if backwards else result
