"""Dynamic sizes of a kernel's outputs: each is a small program over the sizes of the inputs.

A program is an integer, ["in", k, axis] for the size of input `k` along an axis, or [operator, left, right].
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.errors import RelayError
from ..require import tvm

Program = Any  # int | ["in", input, axis] | [name, left, right]
_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "FloorDiv": operator.floordiv,
    "FloorMod": operator.mod, "Div": operator.floordiv, "Mod": operator.mod, "Min": min, "Max": max,
}  # fmt: skip
MAX_DEPTH = 200


def sizes_program(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[list[Program]]:
    """Return the programs that compute the sizes of outputs (te.Tensors)."""
    programs: list[tuple[Any, Program]] = []  # no dict: `==` of two TVM variables is an expression
    for number, tensor in enumerate(inputs):
        for axis, size in enumerate(tensor.shape):
            if isinstance(size, tvm().tirx.Var):
                programs.append((size, ["in", number, axis]))
    return [[_program(size, programs, 0) for size in tensor.shape] for tensor in outputs]


def _program(size: Any, programs: list[tuple[Any, Program]], depth: int) -> Program:
    kind = type(size).__name__
    if kind in ("int", "IntImm"):
        return int(size)
    if kind == "Var":
        result = next((program for var, program in programs if var.same_as(size)), None)
        if result is not None:
            return result
    if kind == "Cast" and depth < MAX_DEPTH:
        return _program(size.value, programs, depth + 1)
    if kind in _OPERATORS and depth < MAX_DEPTH:
        return [kind, _program(size.a, programs, depth + 1), _program(size.b, programs, depth + 1)]
    raise RelayError(
        f"the size `{size}` of a kernel's result does not follow from the sizes of its arguments",
        help=["run the program with the interpreter: relay.create_executor()"],
    )


def evaluated(program: Program, shapes: Sequence[Sequence[int]]) -> int:
    """Evaluate a size for inputs of these shapes."""
    if isinstance(program, int):
        return program
    name, left, right = program
    if name == "in":
        return int(shapes[left][right])
    return _OPERATORS[name](evaluated(left, shapes), evaluated(right, shapes))
