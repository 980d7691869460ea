"""The checks of the exercise `combine_dense`."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from itertools import combinations

from ...ir.equal import difference
from ...ir.expr import Call, Expr, Function
from ...ir.module import IRModule
from ...ir.op import Op, OpPattern
from ...ir.types import TensorType
from ...ir.walk import children, post_order
from ..check import Exercise
from ..fragments import properties, written
from ..pass_checks import PassTask, operators

LARGEST = 2**22  # up to this value, with a few bits to spare, float32 adds integers exactly


def dense_layers(function: Function) -> list[Call]:
    """Return the calls of `nn.dense`, operands before users."""
    return [n for n in post_order(function) if isinstance(n, Call) and _name(n) == "nn.dense"]


def _name(call: Call) -> str:
    return call.op.name if isinstance(call.op, Op) else ""


def _key(call: Call) -> Hashable:
    """Return what must be equal for two layers to be combined."""
    return id(call.args[0]), call.attrs["out_dtype"] if call.attrs is not None else ""


def pairs(function: Function) -> list[tuple[Call, Call]]:
    """Return the pairs of layers that may be combined: they share their data, and neither depends on the
    other.
    """
    layers = dense_layers(function)
    needs: dict[Expr, set[Expr]] = {}
    for node in post_order(function):
        needs[node] = {node}.union(*(needs[part] for part in children(node)))
    return [
        (a, b)
        for a, b in combinations(layers, 2)
        if _key(a) == _key(b) and a not in needs[b] and b not in needs[a]
    ]


def _goal(before: Function, after: Function) -> tuple[str, str]:
    """Check that no pair is left, nothing else has changed, and no layer computes more than necessary."""
    if not pairs(before):
        differs = difference(before, after)
        return ("", "") if differs is None else (f"Something has changed: {differs}.", _apart(before))
    left = pairs(after)
    if left:
        result = len(dense_layers(after)) < len(dense_layers(before))
        return (
            "Two dense layers with the same input are left, although neither depends on the "
            "other.",
            "A group may have more than two layers, and there may be several groups." if result else
            ("Concatenate the weights along their first axis: the result is a layer with the "
            "units of both."),
        )  # fmt: skip
    new, removed = operators(after) - operators(before), operators(before) - operators(after)
    for name in new:
        if Op.get(name).pattern > OpPattern.INJECTIVE:
            return (
                f"There are more calls of {name} than before.",
                "Each group becomes one `nn.dense`, and shared expressions must stay shared.",
            )
    for name in removed:
        if name != "nn.dense":
            return f"A call of {name} is gone.", "Only dense layers may be replaced."
    if _products(after) != _products(before):
        return (
            f"The layers needed {_products(before)} multiplications, and need {_products(after)} now.",
            "Something is computed twice: once in the merged layer, and once as before.",
        )
    return "", ""


def _apart(function: Function) -> str:
    """Explain why the layers of a program stay separate if none can be merged."""
    layers = dense_layers(function)
    for a, b in combinations(layers, 2):
        if _key(a) == _key(b):
            return "The weight of one layer depends on the result of the other, so they cannot be merged."
        if a.args[0] is b.args[0]:
            return "The layers have different output types (`out_dtype`), so they cannot be merged."
    if len(layers) > 1:
        return "These layers have different inputs. Two layers are parallel if their data is the same object."
    return "There is nothing to merge here, so nothing may change."


def _products(function: Function) -> int:
    """Count the multiplications of a function's layers."""
    from ...typing import infer_types

    main = infer_types(IRModule.from_expr(function))["main"]
    assert isinstance(main, Function)
    total = 0
    for call in dense_layers(main):
        result, weight = call.checked_type, call.args[1].checked_type
        assert isinstance(result, TensorType)
        assert isinstance(weight, TensorType)
        rows, units = result.concrete_shape
        total += rows * units * weight.concrete_shape[1]
    return total


TASK = PassTask("combine_dense", _goal, typed=True)


# -- test cases


class Maker:
    """Random graphs of dense layers and other operators, as text. Values stay small."""

    def __init__(self, rng: random.Random, shared: float) -> None:
        self.rng = rng
        self.shared = shared  # how often a layer gets the input of another one
        self.params: list[str] = []
        self.lines: list[str] = []
        self.shapes: dict[str, tuple[int, int]] = {}
        self.bounds: dict[str, int] = {}
        self.data: list[str] = []

    def program(self, steps: int) -> IRModule:
        self.param(2, self.rng.randint(1, 4))
        for _ in range(steps):
            self.rng.choice([self.layer, self.layer, self.layer, self.unary, self.binary])()
        used = " ".join(self.lines)
        ends = [n for n in self.shapes if f"{n}," not in used and f"{n})" not in used and n[1:].isdigit()]
        result = f"({', '.join(ends)},)" if ends else "%p0"
        return written(f"({', '.join(self.params)}) {{ {' '.join(self.lines)} {result} }}")[0]

    def param(self, rows: int, columns: int) -> str:
        name = f"%p{len(self.params)}"
        self.params.append(f"{name}: Tensor[({rows}, {columns}), float32]")
        self.shapes[name], self.bounds[name] = (rows, columns), 6
        return name

    def add_line(self, text: str, shape: tuple[int, int], bound: int) -> None:
        name = f"%{len(self.lines)}"
        self.lines.append(f"{name} = {text};")
        self.shapes[name], self.bounds[name] = shape, bound

    def any(self) -> str:
        return self.rng.choice(list(self.shapes))

    def layer(self) -> None:
        data = self.rng.choice(self.data) if self.data and self.rng.random() < self.shared else self.any()
        rows, columns = self.shapes[data]
        fitting = [n for n, shape in self.shapes.items() if shape[1] == columns and n != data]
        known = fitting and self.rng.random() < 0.4
        weight = self.rng.choice(fitting) if known else self.param(self.rng.randint(1, 4), columns)
        bound = columns * self.bounds[data] * self.bounds[weight]
        if bound < LARGEST:
            units = self.shapes[weight][0]
            self.data.append(data)
            named = f", units={units}" if self.rng.random() < 0.5 else ""
            self.add_line(f"nn.dense({data}, {weight}{named})", (rows, units), bound)

    def unary(self) -> None:
        name = self.any()
        operator = self.rng.choice(["nn.relu", "negative", "abs"])
        self.add_line(f"{operator}({name})", self.shapes[name], self.bounds[name])

    def binary(self) -> None:
        one = self.any()
        two = self.rng.choice([n for n, shape in self.shapes.items() if shape == self.shapes[one]])
        operator = self.rng.choice(["add", "subtract", "maximum"])
        self.add_line(f"{operator}({one}, {two})", self.shapes[one], self.bounds[one] + self.bounds[two])


_X, _W = "%x: Tensor[(2, 3), float32]", "%w: Tensor[(4, 3), float32]"
_V, _U = "%v: Tensor[(5, 3), float32]", "%u: Tensor[(1, 3), float32]"


def _two(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        f"({_X}, {_W}, %v: Tensor[(4, 3), float32]) {{ (nn.dense(%x, %w), nn.dense(%x, %v)) }}",
        f"({_X}, {_W}, {_V}) {{ (nn.dense(%x, %w), nn.dense(%x, %v)) }}",
        f"({_X}, {_W}, {_V}) {{ (nn.dense(%x, %w, units=4), nn.relu(nn.dense(%x, %v, units=5))) }}",
        f"({_X}, {_W}, %v: Tensor[(4, 3), float32]) {{ subtract(nn.dense(%x, %w), nn.dense(%x, %v)) }}",
    )


def _several(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        f"({_X}, {_W}, {_V}, {_U}) {{ (nn.dense(%x, %w), nn.dense(%x, %v), nn.dense(%x, %u)) }}",
        f"({_X}, {_W}, {_V}) {{ %0 = nn.relu(%x); (nn.dense(%x, %w), nn.dense(%0, %w), nn.dense(%x, %v), "
        "nn.dense(%0, %v)) }",
        f"({_X}, {_W}) {{ %0 = nn.dense(%x, %w); (%0, nn.relu(%0), nn.dense(%x, negative(%w)), "
        "nn.dense(%x, abs(%w))) }",
        f"({_X}, {_W}, {_V}, %s: Tensor[(2, 4), float32]) {{ %0 = nn.dense(%x, %w); "
        "(nn.dense(%0, %s), nn.dense(%x, %v), nn.dense(%0, negative(%s))) }",
    )


def _apart_programs(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        f"({_X}, {_W}) {{ nn.dense(%x, %w) }}",
        f"({_X}, {_W}) {{ (nn.relu(%x), nn.relu(%w)) }}",
        f"({_X}, {_W}, {_V}) {{ (nn.dense(%x, %w), nn.dense(nn.relu(%x), %v)) }}",
        f'({_X}, {_W}, {_V}) {{ (nn.dense(%x, %w), nn.dense(%x, %v, out_dtype="float64")) }}',
        f"({_X}, {_W}) {{ (nn.relu(%x), nn.dense(nn.relu(%x), %w), nn.dense(nn.relu(%x), %w)) }}",
    )


def _needs(rng: random.Random, count: int) -> Iterator[IRModule]:
    square = "%x: Tensor[(2, 2), float32], %w: Tensor[(2, 2), float32]"
    yield from written(
        f"({square}) {{ nn.dense(%x, nn.dense(%x, %w)) }}",
        f"({square}) {{ %0 = nn.dense(%x, %w); %1 = nn.relu(%0); (nn.dense(%x, %1), "
        "nn.dense(%x, abs(%0))) }",
        f"({square}) {{ %0 = nn.dense(%x, %w); (nn.dense(%x, negative(%w)), nn.dense(%x, nn.relu(%0))) }}",
        # Two groups, each of which may be merged, but not both.
        f"({square}) {{ %0 = nn.dense(%x, %w); %1 = nn.dense(%w, %0); %2 = nn.dense(%w, %x); "
        "(%1, nn.dense(%x, %2)) }",
    )


def _programs(rng: random.Random, count: int) -> Iterator[IRModule]:
    for number in range(count):
        yield Maker(rng, rng.choice([0.2, 0.6, 0.9])).program(2 + number % 7)


def _shared(rng: random.Random, count: int) -> Iterator[IRModule]:
    lines = "".join(f"%{n} = subtract(%{n - 1}, %{n - 1}); " for n in range(1, 40))
    yield written(f"({_X}, {_W}, {_V}) {{ %0 = abs(%x); {lines} (nn.dense(%39, %w), nn.dense(%39, %v)) }}")[0]


EXERCISE = {
    "": Exercise(
        "Combining dense layers",
        "combine_dense(function)",
        properties(
            TASK.judge,
            ("two", "two layers with the same input become one", _two),
            ("several", "so do three or more, and each of several groups", _several),
            ("apart", "if no layers are parallel, nothing changes", _apart_programs),
            ("needs", "a layer is not merged with one that depends on its result", _needs),
            ("programs", "every graph keeps its type and its value", _programs),
            ("shared", "shared expressions are visited once", _shared),
        ),
    ),
}
