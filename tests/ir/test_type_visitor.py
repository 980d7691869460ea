"""Visitors and mutators of types."""

from __future__ import annotations

import pytest

from relay_explorer.ir import (
    FuncType,
    GlobalTypeVar,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeMutator,
    TypeVar,
    TypeVisitor,
)
from relay_explorer.text import parse

A = TypeVar("A")
LIST = GlobalTypeVar("List")
F32, I32 = TensorType((2,)), TensorType((), "int32")
EVERYTHING = FuncType([TupleType([F32, A]), RefType(I32)], TypeCall(LIST, [F32]), [A])


class Names(TypeVisitor):
    """Notes the leaves in the order of the visit."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def visit_tensor_type(self, tensor: TensorType) -> None:
        self.found.append(str(tensor))

    def visit_type_var(self, var: TypeVar) -> None:
        self.found.append(var.name_hint)

    def visit_global_type_var(self, var: GlobalTypeVar) -> None:
        self.found.append(var.name_hint)


class Half(TypeMutator):
    """Tensors of float32 become tensors of float16."""

    def visit_tensor_type(self, tensor: TensorType) -> Type:
        return TensorType(tensor.shape, "float16") if tensor.dtype == "float32" else tensor


def test_every_part_is_visited() -> None:
    names = Names()
    names.visit(EVERYTHING)
    assert names.found == ["Tensor[(2), float32]", "A", "int32", "List", "Tensor[(2), float32]", "A"]


def test_a_declaration_is_visited() -> None:
    module = parse("type Pair[A] { P(A, float32), E } def @main() { 1 }")
    names = Names()
    names.visit(module.type_definitions[module.get_global_type_var("Pair")])
    assert names.found == ["Pair", "A", "A", "float32"]


def test_a_mutated_type_is_another() -> None:
    before = str(EVERYTHING)
    assert str(Half().visit(EVERYTHING)) == before.replace("float32", "float16")
    assert str(EVERYTHING) == before
    assert Half().visit(I32) is I32


def test_something_that_is_no_type() -> None:
    with pytest.raises(TypeError, match="Names cannot visit a int: it is not a Relay type"):
        Names().visit(5)  # type: ignore[arg-type]  # the point
