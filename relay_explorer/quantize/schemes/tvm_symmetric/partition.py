"""Where TVM's scheme cuts a program into kernels: after a convolution and what fuses with it.

The value there is marked: it is to be stored in 8 bits (`annotation.cast_hint`), and not computed again in
the kernels that read it (`annotation.stop_fusion`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.expr import Call, Constant, Expr, Function
from ....ir.module import IRModule
from ....ir.op import Op
from ....ops.calls import relay
from ....typing import infer_types
from ...config import QConfig
from ...forward import Temporary, Value, realized, rebuilt, rewrite_forward
from .registry import USER_RULES

Rule = Callable[[Call, Sequence[Value], str], Value | None]


class Partitioned(Temporary):
    """The value of a convolution and of what follows it in its kernel."""

    __slots__ = ("dtype", "expr")

    def __init__(self, expr: Expr, dtype: str) -> None:
        self.expr = expr
        self.dtype = dtype

    def realize(self) -> Expr:
        """Mark the end of the kernel."""
        return relay.annotation.stop_fusion(relay.annotation.cast_hint(self.expr, self.dtype))

    def over(self, expr: Expr) -> Partitioned:
        return Partitioned(expr, self.dtype)


def _inside(value: Value) -> Expr:
    """Return a value without ending its kernel."""
    return value.expr if isinstance(value, Partitioned) else realized(value)


def _conv2d(call: Call, operands: Sequence[Value], dtype: str) -> Value:
    """Begin a kernel with a convolution."""
    data, weight = operands
    return Partitioned(rebuilt(call, [realized(data), _inside(weight)]), dtype)


def _identity(call: Call, operands: Sequence[Value], dtype: str) -> Value | None:
    """Continue a kernel."""
    (value,) = operands
    return Partitioned(rebuilt(call, [value.expr]), dtype) if isinstance(value, Partitioned) else None


def _add(call: Call, operands: Sequence[Value], dtype: str) -> Value | None:
    """Continue a kernel with a constant addend; otherwise end the addends' kernels, and begin one where both
    are results of convolutions.
    """
    first, second = operands
    ends = isinstance(first, Partitioned), isinstance(second, Partitioned)
    if ends == (True, True):
        return Partitioned(rebuilt(call, [realized(first), realized(second)]), dtype)
    if ends == (False, True):
        return rebuilt(call, [_inside(first), realized(second)])
    if ends == (True, False):
        if isinstance(second, Constant):
            return Partitioned(rebuilt(call, [_inside(first), second]), dtype)
        return rebuilt(call, [realized(first), _inside(second)])
    return None


def _multiply(call: Call, operands: Sequence[Value], dtype: str) -> Value | None:
    """Begin a kernel with a product of the result of a convolution."""
    first, second = operands
    if isinstance(first, Partitioned):
        return Partitioned(rebuilt(call, [realized(first), _inside(second)]), dtype)
    if isinstance(second, Partitioned):
        return Partitioned(rebuilt(call, [_inside(first), realized(second)]), dtype)
    return None


def _global_average(call: Call, operands: Sequence[Value], dtype: str) -> Value:
    """End a kernel before a global average."""
    (value,) = operands
    ended = value if isinstance(value, Partitioned) else Partitioned(realized(value), dtype)
    return rebuilt(call, [ended.realize()])


RULES: dict[str, Rule] = {
    "nn.conv2d": _conv2d,
    "clip": _identity,
    "nn.relu": _identity,
    "nn.max_pool2d": _identity,
    "add": _add,
    "multiply": _multiply,
    "nn.global_avg_pool2d": _global_average,
}


def partitioned(mod: IRModule, config: QConfig) -> IRModule:
    """Mark the ends of kernels in every function of a module."""

    def rule(call: Call, operands: Sequence[Value]) -> Value | None:
        assert isinstance(call.op, Op)
        user = USER_RULES["FQPartitionRewrite"].get(call.op.name)
        if user is not None:
            return user(call, list(operands), None)  # type: ignore[no-any-return]  # a user's function
        own = RULES.get(call.op.name)
        return own(call, operands, config.dtype_input) if own is not None else None

    mod = infer_types(mod)
    new = mod.copy()
    for var, function in mod.functions.items():
        if isinstance(function, Function):
            new[var] = rewrite_forward(function, rule)
    return infer_types(new)
