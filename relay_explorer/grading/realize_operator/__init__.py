"""The exercise `realize_operator`: the integer form of operators, given operands that are 8-bit integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything
from typing import NamedTuple

from ...ir.expr import Call, Expr, Var, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.types import TensorType

LOWEST, HIGHEST = -128, 127
DENSE, ADD, LEAKY_RELU = "dense", "add", "leaky_relu"


class Parameters(NamedTuple):
    """Quantization parameters: real = scale · (integer − zero_point)."""

    scale: float
    zero_point: int

    def __str__(self) -> str:
        return f"scale {self.scale:g}, zero point {self.zero_point}"


class Integers(NamedTuple):
    """A Relay expression of int8, and its quantization parameters."""

    expr: Expr
    scale: float
    zero_point: int


@dataclass(frozen=True)
class Case:
    """Operands of an operator: their shapes and parameters, and the parameters of the result.

    `extreme` operands are −128 and 127 only. `alpha` is the slope of leaky ReLU.
    """

    op: str
    shapes: tuple[tuple[int, ...], ...]
    parameters: tuple[Parameters, ...]
    out: Parameters
    alpha: float = 0.0
    extreme: bool = False
    seed: int = 0

    def __str__(self) -> str:
        names = ("x", "weight") if self.op == DENSE else ("a", "b") if self.op == ADD else ("x",)
        lines = [
            f"{name}: int8 {shape}, {own}; {name} = {shown(value)}"
            for name, shape, own, value in zip(names, self.shapes, self.parameters, numbers(self))
        ]
        slope = f", alpha {self.alpha:g}" if self.op == LEAKY_RELU else ""
        return "\n".join([f"{self.op}{slope}", *lines, f"result: int8, {self.out}"])


def numbers(case: Case) -> list[Anything]:
    """Return the integers of the operands."""
    import numpy as np

    rng = np.random.default_rng(case.seed)
    if case.extreme:
        return [rng.choice([LOWEST, HIGHEST], shape, p=[0.1, 0.9]).astype("int8") for shape in case.shapes]
    return [rng.integers(LOWEST, HIGHEST + 1, shape).astype("int8") for shape in case.shapes]


def reals(case: Case) -> list[Anything]:
    """Return the real numbers that the operands stand for."""
    return [
        own.scale * (value.astype("float64") - own.zero_point)
        for own, value in zip(case.parameters, numbers(case))
    ]


def computed(op: str, operands: list[Anything], alpha: float = 0.0) -> Anything:
    """Compute an operator on real numbers."""
    import numpy as np

    if op == DENSE:
        return operands[0] @ operands[1].T
    if op == ADD:
        return operands[0] + operands[1]
    return np.where(operands[0] < 0, alpha * operands[0], operands[0])


def steps(case: Case) -> Anything:
    """Return the exact result in steps of its scale, before it is rounded and clipped."""
    result = computed(case.op, reals(case), case.alpha)
    return result / case.out.scale + case.out.zero_point


def expected(case: Case) -> Anything:
    """Return the integers of the result."""
    import numpy as np

    return np.clip(np.rint(steps(case)), LOWEST, HIGHEST).astype("int8")


class MisuseError(Exception):
    """The answer returned something that is no Relay expression."""


def build(case: Case, realize: Callable[..., Anything]) -> IRModule:
    """Build the program that `realize` makes of the operands of a case."""
    from ...ir.expr import Function
    from ...ir.tuple_wrapper import TupleWrapper
    from ...typing import infer_types

    params = [
        Var(name, TensorType.of(shape, "int8")) for name, shape in zip(("x", "y"), case.shapes)
    ]  # the names of a case are shown beside the program
    operands = [Integers(param, *own) for param, own in zip(params, case.parameters)]
    extra = [case.alpha] if case.op == LEAKY_RELU else []
    result = realize(*operands, *extra, case.out)
    if isinstance(result, TupleWrapper) and len(result) == 1:
        result = result[0]
    if isinstance(result, Integers):
        result = result.expr
    if not isinstance(result, Expr):
        kind = type(result).__name__
        raise MisuseError("None" if result is None else f"a value of the type {kind}, not an expression")
    return infer_types(IRModule.from_expr(Function(params, result)))


def run(case: Case, module: IRModule) -> Anything:
    """Run the program on the operands of a case."""
    from ...execute import Interpreter

    args = [const(value) for value in numbers(case)]
    return Interpreter(module).evaluate(Call(module.get_global_var("main"), args))


def shown(value: Anything, most: int = 12) -> str:
    """Write a tensor in a line."""
    import numpy as np

    value = np.asarray(value)
    if value.size > most:
        flat = " ".join(map(str, value.reshape(-1)[:4]))
        return f"[{flat} … {value.size} elements]"
    return np.array2string(value, separator=", ", max_line_width=10_000).replace("\n", "")
