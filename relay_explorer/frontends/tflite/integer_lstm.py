"""An LSTM of integers: data of 8 bits, gates and cells of 16 bits.

The gates before their activation functions have 12 bits of fraction. The scale of the cells is a power of
two. Sigmoid and hyperbolic tangent are tables of all 65,536 results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ...ops.numeric import np
from ..base.recurrence import scan
from .fixed_point import FIRST, LAST, sigmoid_table, tangent_table
from .operation import Operation
from .quantization import RANGES, scale_of, zero_of
from .reader import Quantization, Tensor
from .reference_kernels import divided, rescaled

_GATE_BITS = 12
_KERNELS, _RECURRENT, _BIASES = 1, 5, 12  # the first of four operands: input, forget, cell and output gate
_ABSENT = (9, 10, 11, 16, 17, 20, 21, 22, 23)  # peepholes, a projection and layer normalization
_OUTPUT, _CELL = 18, 19
_TANH = 4
_HIDDEN = 4  # the intermediate tensor that has the scale of the output


def integer_lstm(op: Operation) -> Expr:
    """Convert a UNIDIRECTIONAL_SEQUENCE_LSTM whose data and weights have 8 bits."""
    _check(op)
    time_major = bool(op.attr("time_major", False))
    cell_bits = round(math.log2(_scale(op, _CELL)))
    hidden = _quantization(op, _hidden(op))
    limit = _cell_limit(op)
    sigmoid, tangent = _table(op, "sigmoid", 3), _table(op, "tangent", 3)
    last_tangent = _table(op, "tangent", 15 + cell_bits)

    def gate(x: Expr, h: Expr, place: int) -> Expr:
        total = _saturated(_product(op, x, 0, _KERNELS + place, _BIASES + place))
        return _saturated(relay.add(total, _product(op, h, _OUTPUT, _RECURRENT + place, None)))

    def step(at: Sequence[Expr], states: Sequence[Expr]) -> tuple[Expr, Sequence[Expr]]:
        (x,), (h, c) = at, states
        enter, forget, leave = (sigmoid(gate(x, h, place)) for place in (0, 1, 3))
        candidate = tangent(gate(x, h, 2))
        remaining = _saturated(divided(relay.multiply(forget, c), np.asarray(15)))
        added = _saturated(divided(relay.multiply(enter, candidate), np.asarray(30 + cell_bits)))
        cell = relay.clip(relay.add(remaining, added), *limit)
        product = relay.multiply(leave, last_tangent(cell))
        whole = rescaled(product, np.asarray(2.0**-30 / float(np.float32(hidden.scale[0]))), 0)
        moved = relay.add(whole, const(hidden.zero_point[0], "int32"))
        output = relay.cast(relay.clip(moved, *RANGES["int8"]), "int8")
        return output, (output, cell)

    x = op.stored(0) if time_major else relay.transpose(op.stored(0), (1, 0, 2))
    cells = relay.cast(op.stored(_CELL), "int32")
    outputs, _ = scan(op.context, [x], [op.stored(_OUTPUT), cells], step)
    return outputs if time_major else relay.transpose(outputs, (1, 0, 2))


def _check(op: Operation) -> None:
    """Raise a RelayError for a variant that no converter of Keras makes."""
    needed = {0: "int8", _OUTPUT: "int8", _CELL: "int16"}
    needed |= {first + place: "int8" for first in (_KERNELS, _RECURRENT) for place in range(4)}
    needed |= {_BIASES + place: "int32" for place in range(4)}
    for index, dtype in needed.items():
        if not op.has(index) or op.tensor(index).dtype != dtype:
            raise RelayError(f"operand {index} of an integer LSTM must have type {dtype}", help=_HELP)
    if any(op.has(index) for index in _ABSENT) or int(op.attr("fused_activation_function")) != _TANH:
        raise RelayError(
            "an integer LSTM can have neither peepholes, a projection nor layer normalization, and its "
            "activation function must be tanh",
            help=_HELP,
        )
    for index in (0, _OUTPUT, _CELL, *range(_KERNELS, _KERNELS + 8)):
        _quantization(op, op.tensor(index))
    bits = math.log2(_scale(op, _CELL))
    if bits != round(bits) or not -15 <= bits <= -9:
        raise RelayError(
            f"the scale of an LSTM's cells must be a power of two from 2⁻¹⁵ to 2⁻⁹, not 2^{bits}"
        )
    kinds = {_quantization(op, tensor) for tensor in (_hidden(op), op.tensor(_OUTPUT), op.result())}
    if len(kinds) > 1:
        raise RelayError("the output of an integer LSTM and its state must be quantized alike")


_HELP = ["convert the model without quantization, or unroll the layer (`unroll=True`)"]


def _hidden(op: Operation) -> Tensor:
    intermediates = op.operator.intermediates
    if len(intermediates) <= _HIDDEN or intermediates[_HIDDEN] < 0:
        return op.tensor(_OUTPUT)
    return op.frame.graph.tensors[intermediates[_HIDDEN]]


def _quantization(op: Operation, tensor: Tensor) -> Quantization:
    if tensor.quantization is None or tensor.quantization.per_channel:
        raise RelayError(f"`{tensor.name}` of {op.name} must have one scale", help=_HELP)
    return tensor.quantization


def _scale(op: Operation, index: int) -> float:
    return float(np.float32(_quantization(op, op.tensor(index)).scale[0]))


def _cell_limit(op: Operation) -> tuple[int, int]:
    """Return the integers between which the cells are kept."""
    bound = float(op.attr("cell_clip", 0.0))
    limit = int(min(bound / _scale(op, _CELL), LAST)) if bound > 0 else 0
    return (-limit, limit) if limit > 0 else (FIRST, LAST)


def _product(op: Operation, x: Expr, data: int, weight: int, bias: int | None) -> Expr:
    """Return the product of the data, quantized as operand `data`, with 12 bits of fraction."""
    of_data, of_weight = _quantization(op, op.tensor(data)), _quantization(op, op.tensor(weight))
    (units,) = op.extents(weight, (0,))
    sums: Expr = relay.qnn.dense(
        x, op.stored(weight), zero_of(of_data), zero_of(of_weight), scale_of(of_data), scale_of(of_weight),
        units=units,
    )  # fmt: skip
    if bias is not None:
        sums = relay.nn.bias_add(sums, op.stored(bias))
    return rescaled(sums, np.asarray(_scale(op, weight) * _scale(op, data) * 2.0**_GATE_BITS), 0)


def _saturated(x: Expr) -> Expr:
    return relay.clip(x, FIRST, LAST)


def _table(op: Operation, name: str, integer_bits: int) -> Callable[[Expr], Expr]:
    """Return a function of int32 that looks up its results."""
    make = sigmoid_table if name == "sigmoid" else tangent_table
    table = op.frame.once(("table", name, integer_bits), lambda: const(make(integer_bits).astype(np.int16)))

    def look_up(x: Expr) -> Expr:
        return relay.cast(relay.take(table, relay.subtract(x, const(FIRST, "int32")), 0), "int32")

    return look_up
