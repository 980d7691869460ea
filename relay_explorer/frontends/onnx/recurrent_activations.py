"""The activation functions of ONNX's recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.source import Node
from .graph import Graph

_Form = Callable[[Expr, float, float, str], Expr]


def _scaled(x: Expr, factor: float, dtype: str) -> Expr:
    return relay.multiply(x, const(factor, dtype))


def _thresholded(x: Expr, alpha: float, beta: float, dtype: str) -> Expr:
    return relay.where(relay.greater(x, const(alpha, dtype)), x, relay.zeros_like(x))


def _elu(x: Expr, alpha: float, beta: float, dtype: str) -> Expr:
    below = _scaled(relay.subtract(relay.exp(x), const(1.0, dtype)), alpha, dtype)
    return relay.where(relay.less(x, const(0.0, dtype)), below, x)


def _softsign(x: Expr, alpha: float, beta: float, dtype: str) -> Expr:
    return relay.divide(x, relay.add(const(1.0, dtype), relay.abs(x)))


def _softplus(x: Expr, alpha: float, beta: float, dtype: str) -> Expr:
    small = relay.log(relay.add(const(1.0, dtype), relay.exp(relay.negative(relay.abs(x)))))
    return relay.add(relay.nn.relu(x), small)  # exp(x) would overflow


def _affine(x: Expr, alpha: float, beta: float, dtype: str) -> Expr:
    return relay.add(_scaled(x, alpha, dtype), const(beta, dtype))


_FORMS: dict[str, tuple[_Form, float | None, float | None]] = {
    "relu": (lambda x, a, b, d: relay.nn.relu(x), None, None),
    "tanh": (lambda x, a, b, d: relay.tanh(x), None, None),
    "sigmoid": (lambda x, a, b, d: relay.sigmoid(x), None, None),
    "affine": (_affine, 1.0, 0.0),
    "leakyrelu": (lambda x, a, b, d: relay.nn.leaky_relu(x, a), 0.01, None),
    "thresholdedrelu": (_thresholded, 1.0, None),
    "scaledtanh": (lambda x, a, b, d: _scaled(relay.tanh(_scaled(x, b, d)), a, d), 1.0, 1.0),
    "hardsigmoid": (lambda x, a, b, d: relay.clip(_affine(x, a, b, d), 0.0, 1.0), 0.2, 0.5),
    "elu": (_elu, 1.0, None),
    "softsign": (_softsign, None, None),
    "softplus": (_softplus, None, None),
}
"""Each function, with the defaults of its alpha and beta, None where it does not have them."""


class Activation:
    """An activation function with its parameters. With `clip`, its operand is clipped to that range."""

    def __init__(self, name: str, alpha: float, beta: float, clip: float | None, dtype: str) -> None:
        self.form = _FORMS[name.lower()][0]
        self.alpha = alpha
        self.beta = beta
        self.clip = clip
        self.dtype = dtype

    def __call__(self, x: Expr, clips: bool = True) -> Expr:
        if self.clip is not None and clips:
            x = relay.clip(x, -self.clip, self.clip)
        return self.form(x, self.alpha, self.beta, self.dtype)


def activations(g: Graph, node: Node, defaults: Sequence[str], directions: int) -> list[list[Activation]]:
    """Return the activation functions of a layer for each direction; raise a RelayError for an unknown one.

    Functions that have an alpha or a beta take the next value of the attribute.
    """
    names: list[str] = list(g.attr(node, "activations", [])) or [*defaults] * directions
    count = len(defaults)
    if len(names) != count * directions:
        raise RelayError(
            f"{node.op} has {len(names)} activation functions, but requires {count * directions}"
        )
    alphas, betas = list(g.attr(node, "activation_alpha", [])), list(g.attr(node, "activation_beta", []))
    clip: float | None = g.attr(node, "clip", None)
    first = g.value(node.inputs[0])
    dtype = g.context.dtype(first)
    functions: list[Activation] = []
    for name in names:
        if name.lower() not in _FORMS:
            raise RelayError(
                f"the activation function {name!r} is not supported",
                help=[f"the supported functions are {', '.join(_FORMS)}"],
            )
        _, alpha, beta = _FORMS[name.lower()]
        if alpha is not None and alphas:
            alpha = alphas.pop(0)
        if beta is not None and betas:
            beta = betas.pop(0)
        functions.append(Activation(name, alpha or 0.0, beta or 0.0, clip, dtype))
    return [functions[i * count : (i + 1) * count] for i in range(directions)]
