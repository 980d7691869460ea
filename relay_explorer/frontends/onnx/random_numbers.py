"""Convert ONNX's random number generators.

Relay's generators are pure functions of a key. The key is a constant of the program, from the node's seed or
else its position in the model, so that every run of the program draws the same numbers.
"""

from __future__ import annotations

from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import operand
from .types import checked_shape, dtype_of


@converter("RandomUniform")
def _random_uniform(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _uniform(g, node, list(g.required(node, "shape")), dtype_of(g.attr(node, "dtype", 1)))


@converter("RandomUniformLike")
def _random_uniform_like(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _uniform(g, node, *_like(g, node, inputs))


@converter("RandomNormal")
def _random_normal(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _normal(g, node, list(g.required(node, "shape")), dtype_of(g.attr(node, "dtype", 1)))


@converter("RandomNormalLike")
def _random_normal_like(g: Graph, node: Node, inputs: Inputs) -> Expr:
    return _normal(g, node, *_like(g, node, inputs))


@converter("Bernoulli", since=15)
def _bernoulli(g: Graph, node: Node, inputs: Inputs) -> Expr:
    chances = operand(node, inputs)
    dtype = g.context.dtype(chances)
    number = g.attr(node, "dtype", 0)
    draws = _drawn(
        g, node, relay.random.uniform, list(g.context.static_shape(chances)), dtype, low=0.0, high=1.0
    )
    return relay.cast(relay.less(draws, chances), dtype_of(number) if number else dtype)


@converter("Multinomial", since=7)
def _multinomial(g: Graph, node: Node, inputs: Inputs) -> Expr:
    logits = operand(node, inputs)
    count = g.attr(node, "sample_size", 1)
    if not 0 < count <= 1 << 24:
        raise RelayError(f"sample_size of Multinomial must be from 1 to {1 << 24:,}, not {count}")
    draws = relay.random.multinomial(_key(g, node), relay.nn.softmax(logits, -1), count)
    return relay.cast(draws[1], dtype_of(g.attr(node, "dtype", 6)))


def _uniform(g: Graph, node: Node, shape: list[int], dtype: str) -> Expr:
    low, high = g.attr(node, "low", 0.0), g.attr(node, "high", 1.0)
    return _drawn(g, node, relay.random.uniform, shape, dtype, low=low, high=high)


def _normal(g: Graph, node: Node, shape: list[int], dtype: str) -> Expr:
    mean, scale = g.attr(node, "mean", 0.0), g.attr(node, "scale", 1.0)
    return _drawn(g, node, relay.random.normal, shape, dtype, mean=mean, scale=scale)


def _drawn(g: Graph, node: Node, draw: Anything, shape: list[int], dtype: str, **options: float) -> Expr:
    """Draw a tensor; float32 and float64 are drawn directly, other types rounded from float32."""
    checked_shape(list(shape))
    kind = dtype if dtype in ("float32", "float64") else "float32"
    _, result = draw(_key(g, node), shape, kind, **options)
    return result if kind == dtype else relay.cast(result, dtype)


def _like(g: Graph, node: Node, inputs: Inputs) -> tuple[list[int], str]:
    like = operand(node, inputs)
    number = g.attr(node, "dtype", 0)
    return list(g.context.static_shape(like)), dtype_of(number) if number else g.context.dtype(like)


def _key(g: Graph, node: Node) -> Expr:
    seed = g.attr(node, "seed", None)
    number = len(g.context.source.nodes) if seed is None else int(seed)
    return relay.random.threefry_key(abs(number) % (1 << 31))
