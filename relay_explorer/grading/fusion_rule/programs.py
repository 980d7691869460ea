"""Random programs of operators that may or may not be fused, for the exercise `fusion_rule`.

Every value is a matrix whose extents are 1 or 4, so that any two broadcast; only concatenated values are
taller.
"""

from __future__ import annotations

import random

from ...ir.expr import Call, Expr, Function, Tuple, TupleGetItem, Var
from ...ir.module import IRModule
from ...ir.types import TensorType
from ..shape_analysis.programs import call

SIDE = 4
UNARY = ("nn.relu", "tanh", "exp", "sqrt")
BINARY = ("add", "multiply", "maximum")
PLAIN = ("unary", "unary", "binary", "binary", "bias")
RECENT = 4  # values among which operands are chosen
Shape = tuple[int, int]


class Maker:
    """Generate one program, value by value. `kinds` are the steps that it may take, by the names of Maker's
    methods.
    """

    def __init__(self, rng: random.Random, kinds: tuple[str, ...]) -> None:
        self.rng = rng
        self.kinds = kinds
        self.params: list[Var] = []
        first = self.param("x", (SIDE, SIDE))
        self.values: list[tuple[Expr, Shape]] = [(first, (SIDE, SIDE))]
        self.unused: dict[Expr, Shape] = {}

    def module(self, steps: int, several: bool = False) -> IRModule:
        """Build a program of about `steps` operators; if `several`, it may return a tuple."""
        for _ in range(steps):
            getattr(self, self.rng.choice(self.kinds))()
        left = [value for value, shape in self.unused.items() if shape[0] <= SIDE] or [self.values[-1][0]]
        if several and len(left) > 1 and self.rng.random() < 0.3:
            return IRModule.from_expr(Function(self.params, Tuple(left[:2])))
        body = left[0]
        for value in left[1:]:
            body = call(self.rng.choice(BINARY), body, value)
        return IRModule.from_expr(Function(self.params, body))

    def param(self, name: str, shape: tuple[int, ...]) -> Var:
        """Return a parameter of this shape; half of the time an existing one."""
        type_ = TensorType(shape, "float32")
        same = [p for p in self.params[1:] if p.type_annotation == type_]
        if same and self.rng.random() < 0.5:
            return same[0]
        self.params.append(Var(f"{name}{len(self.params)}" if self.params else name, type_))
        return self.params[-1]

    def operand(self, tallest: int = 2 * SIDE) -> tuple[Expr, Shape]:
        """Return one of the latest values."""
        fitting = [pair for pair in self.values if pair[1][0] <= tallest]
        value, shape = self.rng.choice(fitting[-RECENT:])
        self.unused.pop(value, None)
        return value, shape

    def add_value(self, value: Expr, shape: Shape) -> None:
        self.values.append((value, shape))
        self.unused[value] = shape

    # -- steps

    def chain(self) -> None:
        """Apply an operator to the last value."""
        value, shape = self.values[-1]
        self.unused.pop(value, None)
        self.add_value(call(self.rng.choice(UNARY), value), shape)

    def unary(self) -> None:
        value, shape = self.operand()
        self.add_value(call(self.rng.choice(UNARY), value), shape)

    def binary(self) -> None:
        (a, left), (b, right) = self.operand(SIDE), self.operand(SIDE)
        shape = (max(left[0], right[0]), max(left[1], right[1]))
        self.add_value(call(self.rng.choice(BINARY), a, b), shape)

    def bias(self) -> None:
        value, shape = self.operand(SIDE)
        self.add_value(call("add", value, self.param("b", (SIDE,))), (shape[0], SIDE))

    def reduction(self) -> None:
        value, shape = self.operand()
        axis = self.rng.randint(0, 1)
        remaining = (1, shape[1]) if axis == 0 else (shape[0], 1)
        self.add_value(call(self.rng.choice(("sum", "max")), value, axis=[axis], keepdims=True), remaining)

    def dense(self) -> None:
        value, (rows, columns) = self.operand(SIDE)
        self.add_value(call("nn.dense", value, self.param("w", (SIDE, columns))), (rows, SIDE))

    def opaque(self) -> None:
        value, shape = self.operand(SIDE)
        self.add_value(call("cumsum", value, axis=0), shape)

    def transposed(self) -> None:
        value, (rows, columns) = self.operand(SIDE)
        self.add_value(call("transpose", value, axes=[1, 0]), (columns, rows))

    def concatenated(self) -> None:
        """Concatenate two values into a tall one, which is split or added up later."""
        a, (rows, columns) = self.operand(SIDE)
        same = [value for value, shape in self.values[-2 * RECENT :] if shape == (rows, columns)]
        b = self.rng.choice(same)
        self.unused.pop(b, None)
        tall = call("concatenate", Tuple([a, b]), axis=0)
        if self.rng.random() < 0.5:
            self.add_value(call("sum", tall, axis=[0], keepdims=True), (1, columns))
        else:
            part = TupleGetItem(_halves(tall), self.rng.randint(0, 1))
            self.add_value(part, (rows, columns))


def _halves(value: Expr) -> Call:
    return call("split", value, indices_or_sections=2, axis=0)
