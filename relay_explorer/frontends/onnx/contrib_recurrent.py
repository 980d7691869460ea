"""Convert ONNX Runtime's LSTM with quantized weights, which its dynamic quantization writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .graph import Graph
from .quantized import Factor, dynamically_quantized, product
from .recurrent import LSTM_FUNCTIONS, Layer, lstm_results
from .registry import MICROSOFT, converter
from .tools import operands


class _QuantizedLayer(Layer):
    """A layer that quantizes its inputs, all steps together, and its state at each step to their range, and
    multiplies them by 8-bit weights.
    """

    def __init__(self, g: Graph, node: Node, inputs: list[Anything]) -> None:
        arguments = [*inputs, *[None] * (12 - len(inputs))]
        data, weights, recurrent = operands(node, inputs, 3)
        self.matrices = [weights, recurrent]  # (directions, features, gates · hidden)
        self.scales, self.zeros = arguments[8:12:2], arguments[9:12:2]
        rows = [relay.transpose(matrix, [0, 2, 1]) for matrix in self.matrices]
        super().__init__(g, node, [data, *rows, *arguments[3:7]], gates=4, functions=LSTM_FUNCTIONS)

    def _product(self, x: Expr, which: int, direction: int) -> Expr:
        scale, zero = [
            None if part is None else self.of_direction(part, direction)
            for part in (self.scales[which], self.zeros[which])
        ]
        assert scale is not None
        whole, x_scale, x_zero = [
            self.context.finish(part, None) for part in dynamically_quantized(self.g, x)
        ]
        weights = self.of_direction(self.matrices[which], direction)
        total = product(self.g, Factor(whole, None, x_zero), Factor(weights, None, zero))
        return relay.multiply(relay.cast(total, "float32"), relay.multiply(x_scale, scale))

    def of_state(self, direction: int) -> Callable[[Expr], Expr]:
        return lambda state: self._product(state, 1, direction)

    def of_inputs(self, flat: Expr, direction: int) -> Expr:
        return self._product(self.context.finish(flat, None), 0, direction)

    def products(self, data: Expr, direction: int) -> Expr:
        steps, batch, _ = self.context.shape(data)
        if not isinstance(steps, int) and not isinstance(batch, int):
            raise DynamicShapeError("DynamicQuantizeLSTM requires that the batch or the length is known")
        return super().products(data, direction)


@converter("DynamicQuantizeLSTM", domain=MICROSOFT)
def _dynamic_quantize_lstm(g: Graph, node: Node, inputs: list[Anything]) -> Sequence[Expr]:
    operands(node, [*inputs[:3], *inputs[8:12:2]], 5)
    return lstm_results(_QuantizedLayer(g, node, inputs), inputs[7])
