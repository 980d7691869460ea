"""Chapter 10: types are equal if they say the same, and print as the package's."""

from __future__ import annotations

from pocket import ir
from pocket.scopes import map_children
from pocket.types import (
    DataType,
    FuncType,
    TensorType,
    TupleType,
    TypeVariable,
)
from pocket.visitor import find_all, substitute

from relay_explorer import relay

row, number = TensorType((1, 784)), TensorType((), "float32")
their_row, their_number = relay.TensorType((1, 784)), relay.TensorType(())
assert row == TensorType((1, 784), "float32"), "types with equal fields are equal"
assert row != TensorType((784, 1))
assert str(row) == str(their_row)
assert str(number) == str(their_number)
assert str(TupleType((row, number))) == str(relay.TupleType([their_row, their_number]))
assert str(TupleType((row,))) == str(relay.TupleType([their_row]))
assert str(FuncType((row, number))) == str(relay.FuncType([their_row], their_number))

a, b = TypeVariable("A"), TypeVariable("A")
assert a != b, "two type variables of the same name are different"
generic = FuncType((a, DataType("List", (b,)), TupleType((a,))))
assert str(generic) == "fn (A, List[A]) -> (A,)"
assert find_all(generic, TypeVariable) == [a, b]
opened = substitute(generic, {a: row, b: number})
assert opened == FuncType((row, DataType("List", (number,)), TupleType((row,))))
assert map_children(opened, lambda part: part) is opened
assert ir.children(opened) == [row, DataType("List", (number,)), TupleType((row,))]
