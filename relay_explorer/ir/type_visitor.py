"""Visitors and mutators of types, with the interface of `tvm.relay`."""

from __future__ import annotations

from typing import Any as Anything

from .adt import Constructor, TypeData
from .types import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeRelation,
    TypeVar,
)

_TYPE_METHODS: dict[type, str] = {
    TypeVar: "visit_type_var",
    IncompleteType: "visit_incomplete_type",
    TensorType: "visit_tensor_type",
    FuncType: "visit_func_type",
    TupleType: "visit_tuple_type",
    TypeRelation: "visit_type_relation",
    RefType: "visit_ref_type",
    GlobalTypeVar: "visit_global_type_var",
    TypeCall: "visit_type_call",
    TypeData: "visit_type_data",
}


class TypeFunctor:
    """Dispatches on the class of a type."""

    def visit(self, typ: Type) -> Anything:
        name = _TYPE_METHODS.get(typ.__class__)
        if name is None:
            raise TypeError(
                f"{type(self).__name__} cannot visit a {type(typ).__name__}: it is not a Relay type"
            )
        return getattr(self, name)(typ)

    def _unhandled(self, typ: Anything) -> Anything:
        raise NotImplementedError(f"{type(self).__name__} has no method {_TYPE_METHODS[type(typ)]}")

    visit_type_var = visit_incomplete_type = visit_tensor_type = visit_func_type = visit_tuple_type = (
        _unhandled
    )
    visit_type_relation = visit_ref_type = visit_global_type_var = visit_type_call = visit_type_data = (
        _unhandled
    )


class TypeVisitor(TypeFunctor):
    """Visits a type and all its parts, and returns nothing."""

    def _leaf(self, typ: Anything) -> None:
        pass

    visit_type_var = visit_incomplete_type = visit_tensor_type = visit_global_type_var = _leaf

    def visit_func_type(self, ft: FuncType) -> None:
        for part in (*ft.arg_types, ft.ret_type, *ft.type_params, *ft.type_constraints):
            self.visit(part)

    def visit_tuple_type(self, tt: TupleType) -> None:
        for field in tt.fields:
            self.visit(field)

    def visit_type_relation(self, tr: TypeRelation) -> None:
        for arg in tr.args:
            self.visit(arg)

    def visit_ref_type(self, rt: RefType) -> None:
        self.visit(rt.value)

    def visit_type_call(self, tc: TypeCall) -> None:
        for part in (tc.func, *tc.args):
            self.visit(part)

    def visit_type_data(self, td: TypeData) -> None:
        for part in (td.header, *td.type_vars):
            self.visit(part)
        for constructor in td.constructors:
            for field in constructor.inputs:
                self.visit(field)


class TypeMutator(TypeFunctor):
    """Rebuilds a type from its mutated parts."""

    def _leaf(self, typ: Anything) -> Anything:
        return typ

    visit_type_var = visit_incomplete_type = visit_tensor_type = visit_global_type_var = _leaf

    def visit_func_type(self, ft: FuncType) -> Type:
        args = [self.visit(a) for a in ft.arg_types]
        params = [self.visit(p) for p in ft.type_params]
        constraints = [self.visit(c) for c in ft.type_constraints]
        return FuncType(args, self.visit(ft.ret_type), params, constraints, ft.span)

    def visit_tuple_type(self, tt: TupleType) -> Type:
        return TupleType([self.visit(f) for f in tt.fields], tt.span)

    def visit_type_relation(self, tr: TypeRelation) -> Type:
        return TypeRelation(tr.func, [self.visit(a) for a in tr.args], tr.num_inputs, tr.attrs, tr.span)

    def visit_ref_type(self, rt: RefType) -> Type:
        return RefType(self.visit(rt.value), rt.span)

    def visit_type_data(self, td: TypeData) -> Type:
        header = self.visit(td.header)
        type_vars = [self.visit(v) for v in td.type_vars]
        visited = [(c, [self.visit(i) for i in c.inputs]) for c in td.constructors]
        constructors = [Constructor(c.name_hint, inputs, header, c.tag) for c, inputs in visited]
        return TypeData(header, type_vars, constructors, td.span)

    def visit_type_call(self, tc: TypeCall) -> Type:
        return TypeCall(self.visit(tc.func), [self.visit(a) for a in tc.args], tc.span)
