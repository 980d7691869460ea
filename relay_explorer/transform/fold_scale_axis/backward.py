"""BackwardFoldScaleAxis: fold a scale of a convolution's result into its weight."""

from __future__ import annotations

from collections import Counter

from ...ir.annotate import set_origin
from ...ir.declaration import Trait
from ...ir.expr import Call, Expr, Function
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
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
class BackwardFoldScaleAxis(TypedPass):
    """Move a per-channel multiplication backward into the weight of the layer that produces the channels.

    It passes through additions and ReLUs; FoldConstant then computes the new weight once. `(conv2d(x, w) + b)
    * s` becomes `conv2d(x, w * s) + b * s`. The values between must have no other uses, and only a positive
    constant passes a ReLU.
    """

    name = "BackwardFoldScaleAxis"
    opt_level = 3
    contract = Contract(error=1e-4)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewritten(function, _Backward(function).run())


class _Backward:
    """Runs two traversals. The first, from the leaves up, finds the expressions that can absorb a scale,
    themselves or through their operands. The second replaces each product with such an expression by the
    scaled expression.
    """

    def __init__(self, root: Expr) -> None:
        self.root = root
        self.order = post_order(root)
        self.uses = Counter(part for node in self.order for part in children(node))
        self.asks: dict[Expr, Ask] = {}
        self.memo: dict[Expr, Expr] = {}

    def run(self) -> Expr:
        for node in self.order:
            if isinstance(node, Call) and self.uses[node] == 1:
                ask = self._ask(node)
                if ask is not None:
                    self.asks[node] = ask
        if not self.asks:
            return self.root
        for node in self.order:
            result = self._product(node) if operator_of(node) == "multiply" else None
            if result is not None:
                set_origin(result, (*result.origin, node))
                emit_rewrite(
                    self.run,
                    node,
                    result,
                    sentence="The multiplication is removed; its scale is now in the weight.",
                )
            self.memo[node] = result or rebuild(node, [self.memo[part] for part in children(node)])
        return self.memo[self.root]

    def _ask(self, node: Call) -> Ask | None:
        """Return the axes along which a value can be scaled by scaling its inputs."""
        name = operator_of(node)
        asks = [self.asks.get(arg) for arg in node.args]
        if calls(node, Trait.LINEAR_IN_WEIGHT):
            takes = takes_scale(node, backward=True)
            return Ask(takes.of) if takes is not None else None
        if commutes_with_positive(node):
            return Ask(asks[0].axes, positive=True) if asks[0] is not None else None
        if name == "nn.bias_add":
            assert node.attrs is not None
            return asks[0] if asks[0] is not None and asks[0].axes == (node.attrs["axis"],) else None
        return self._ask_sum(node, *asks) if calls(node, Trait.ADDITIVE) else None

    def _ask_sum(self, node: Call, first: Ask | None, second: Ask | None) -> Ask | None:
        left, right = map(tensor_type, node.args)
        positive = any(ask.positive for ask in (first, second) if ask is not None)
        if first is not None and second is not None and first.axes != second.axes:
            return None
        if first is not None and varies_along(left, right, first.axes):
            return Ask(first.axes, positive)
        if second is not None and varies_along(right, left, second.axes):
            return Ask(second.axes, positive)
        both = first is not None and second is not None and left.shape == right.shape
        return Ask(first.axes, positive) if first is not None and both else None

    def _product(self, node: Expr) -> Expr | None:
        """Fold one side of a product into the other; None where neither can absorb it."""
        assert isinstance(node, Call)
        sides = [number for number in (0, 1) if node.args[number] in self.asks]
        if not sides:
            return None
        data = sides[0]
        value, other = node.args[data], node.args[1 - data]
        ask = self.asks[value]
        scale = scale_of(tensor_type(value), self.memo[other], tensor_type(other), ask.axes)
        if scale is None or not allows(ask, scale):
            return None
        return self._scaled(value, scale, ask.axes)

    def _scaled(self, root: Expr, scale: Expr, axes: Axes) -> Expr:
        """Apply a scale to an expression that can absorb it. The expressions on the path have no other
        user.
        """
        path: list[Call] = []
        pending = [root]
        while pending:
            node = pending.pop()
            assert isinstance(node, Call)
            path.append(node)
            if not self._takes_itself(node):
                pending += [arg for arg in node.args if arg in self.asks]
        scaled: dict[Expr, Expr] = {}
        for node in reversed(path):
            scaled[node] = self._with_scale(node, scaled, scale, axes)
            set_origin(scaled[node], (node,))
            if self._takes_itself(node):
                emit_rewrite(
                    self._scaled,
                    node,
                    scaled[node],
                    sentence="Scaling a layer's weight scales its output channels.",
                )
            else:
                emit_rewrite(
                    self._scaled,
                    node,
                    scaled[node],
                    sentence="The scale moves back to the layer through channel-by-channel operators.",
                )
        return scaled[root]

    def _takes_itself(self, node: Expr) -> bool:
        return calls(node, Trait.LINEAR_IN_WEIGHT)

    def _with_scale(self, node: Call, scaled: dict[Expr, Expr], scale: Expr, axes: Axes) -> Expr:
        if self._takes_itself(node):
            takes = takes_scale(node, backward=True)
            assert takes is not None
            data, weight = (self.memo[arg] for arg in node.args)
            return with_scaled_weight(node, data, weight, scale, takes)
        shape = [size if isinstance(size, int) else 1 for size in tensor_type(node).shape]
        wide = scale if operator_of(node) == "nn.bias_add" else spread(scale, shape, axes)
        args = [scaled[arg] if arg in scaled else call("multiply", self.memo[arg], wide) for arg in node.args]
        return Call(node.op, args, node.attrs, node.type_args, node.span)
