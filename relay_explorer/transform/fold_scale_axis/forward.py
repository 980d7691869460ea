"""ForwardFoldScaleAxis: fold a scale of a convolution's input into its weight."""

from __future__ import annotations

from typing import NamedTuple

from ...ir.annotate import set_origin
from ...ir.declaration import Trait
from ...ir.expr import Call, Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.typed import tensor_type
from ...ir.walk import children, post_order, rebuild
from ..infrastructure import Contract, PassContext
from ..infrastructure.function_passes import TypedPass, rewritten
from ..tools.typed_rewrite import call
from .axes import (
    Ask,
    Axes,
    allows,
    calls,
    commutes_with_positive,
    operator_of,
    scale_of,
    spread,
    takes_scale,
    varies_along,
    with_scaled_weight,
)


@dataclass(frozen=True)
class ForwardFoldScaleAxis(TypedPass):
    """Move a per-channel multiplication forward into the weight of the layer that reads the product.

    It passes through additions and ReLUs; FoldConstant then computes the new weight once. `conv2d(relu(x * s)
    + b, w)` becomes `conv2d(relu(x) + b / s, w * s)`. Every reader of the product must be able to absorb the
    scale, and only a positive constant passes a ReLU. Addends in between are divided by the scale: a constant
    that contains a 0 does not pass an addition, but a scale that is known only at run time is assumed to
    contain none, as in TVM.
    """

    name = "ForwardFoldScaleAxis"
    opt_level = 3
    contract = Contract(error=1e-4)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, _Forward(function).run())


class _Scaled(NamedTuple):
    """A value that is still to be multiplied by a scale along the axes."""

    value: Expr
    scale: Expr
    axes: Axes


class _Forward:
    """Runs two traversals. The first, from the results back, finds the values whose users can absorb a scale.
    The second, from the leaves up, moves scales forward.
    """

    def __init__(self, root: Expr) -> None:
        self.root = root
        self.order = post_order(root)
        self.asks: dict[Expr, Ask | None] = {}
        self.memo: dict[Expr, Expr] = {}
        self.scaled: dict[Expr, _Scaled] = {}

    def run(self) -> Expr:
        for node in reversed(self.order):
            for part, ask in self._asked(node):
                self.asks[part] = _both(self.asks[part], ask) if part in self.asks else ask
        if not any(self.asks.values()):
            return self.root
        for node in self.order:
            result = self._moved(node) if isinstance(node, Call) else None
            if isinstance(result, _Scaled):
                self.scaled[node] = result
            elif result is not None:
                self.memo[node] = result
            else:
                self.memo[node] = rebuild(node, [self.memo[part] for part in children(node)])
        return self.memo[self.root]

    def _asked(self, node: Expr) -> list[tuple[Expr, Ask | None]]:
        """Return the scale that a node requests for each of its parts."""
        own = self.asks.get(node)
        asks: dict[int, Ask | None] = {}
        if isinstance(node, Call):
            if calls(node, Trait.LINEAR_IN_WEIGHT):
                takes = takes_scale(node, backward=False)
                asks[0] = Ask(takes.of) if takes is not None else None
            elif own is not None and commutes_with_positive(node):
                asks[0] = own._replace(positive=True)
            elif own is not None and calls(node, Trait.ADDITIVE):
                left, right = map(tensor_type, node.args)
                if varies_along(left, right, own.axes):
                    asks[0] = own._replace(divides=True)
                elif varies_along(right, left, own.axes):
                    asks[1] = own._replace(divides=True)
            return [(node.op, None), *((arg, asks.get(n)) for n, arg in enumerate(node.args))]
        return [(part, None) for part in children(node)]

    def _moved(self, node: Call) -> Expr | _Scaled | None:
        name = operator_of(node)
        if name == "multiply":
            ask = self.asks.get(node)
            return self._product(node, ask) if ask is not None else None
        number = next((n for n, arg in enumerate(node.args) if arg in self.scaled), None)
        if number is None:
            return None
        value, scale, axes = self.scaled[node.args[number]]
        if commutes_with_positive(node):
            return _Scaled(_again(node, value), scale, axes)
        if calls(node, Trait.ADDITIVE):
            type_ = tensor_type(node.args[number])
            wide = spread(scale, [s if isinstance(s, int) else 1 for s in type_.shape], axes)
            other = call("divide", self.memo[node.args[1 - number]], wide)
            args = (value, other) if number == 0 else (other, value)
            return _Scaled(_again(node, *args), scale, axes)
        takes = takes_scale(node, backward=False)
        assert takes is not None, f"{name} has not asked for a scale"
        layer = with_scaled_weight(node, value, self.memo[node.args[1]], scale, takes)
        set_origin(layer, (node,))
        emit_rewrite(
            self._moved,
            node,
            layer,
            sentence="The layer that reads the scaled channels absorbs the scale into its weight.",
        )
        return layer

    def _product(self, node: Call, ask: Ask) -> _Scaled | None:
        """Represent a product as one side, scaled by the other."""
        types = list(map(tensor_type, node.args))
        values = [self.memo[arg] for arg in node.args]
        for data, other in ((0, 1), (1, 0)):
            scale = scale_of(types[data], values[other], types[other], ask.axes)
            if scale is not None and allows(ask, scale):
                emit_rewrite(
                    self._product,
                    node,
                    values[data],
                    sentence="The scale moves on to the product's users; its operand stays as it is.",
                )
                return _Scaled(values[data], scale, ask.axes)
        return None


def _both(first: Ask | None, second: Ask | None) -> Ask | None:
    """Combine the requests of two users of a value."""
    if first is None or second is None or first.axes != second.axes:
        return None
    return Ask(first.axes, first.positive or second.positive, first.divides or second.divides)


def _again(node: Call, *args: Expr) -> Call:
    assert isinstance(node.op, Op)
    new = Call(node.op, args, node.attrs, node.type_args, node.span)
    set_origin(new, (node,))
    return new
