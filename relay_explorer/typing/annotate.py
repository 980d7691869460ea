"""Copy the program with the inferred types, so that every expression has its `checked_type`. The input is not
changed.
"""

from __future__ import annotations

from ..ir.adt import Clause, Constructor, Match, Pattern, PatternConstructor, PatternTuple, PatternVar
from ..ir.annotate import set_checked_type, set_origin, set_span
from ..ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ..ir.op import Op
from ..ir.types import FuncType, TensorType, Type
from ..ir.walk import post_order
from .constraints import Generator
from .variables import InferenceVariable, find, resolve


class Annotator:
    """Copies typed expressions. Variables with a complete annotation, constants, operators and constructors
    are reused, not copied.
    """

    def __init__(self, generator: Generator) -> None:
        self.types = generator.types
        self.type_args = generator.type_args
        self.memo: dict[Expr, Expr] = {}

    def type(self, type_: Type) -> Type:
        """Return `type_` with every type variable replaced by its solution."""
        if type_.__class__ is TensorType:
            return type_
        if isinstance(type_, InferenceVariable):
            type_ = find(type_)
            solution = type_.type
            if solution is not None and solution.__class__ is TensorType:
                return solution
        return resolve(type_)

    def copy(self, root: Expr) -> Expr:
        memo = self.memo
        for node in post_order(root):
            if node not in memo:
                memo[node] = self._copy(node)
        return memo[root]

    def _copy(self, node: Expr) -> Expr:
        memo = self.memo
        cls = node.__class__
        if isinstance(node, Call):
            if node.op.__class__ is Op:  # an operator's type is the function type from its arguments
                type_args = tuple([self.type(self.types[a]) for a in node.args])
            else:
                type_args = tuple([self.type(t) for t in self.type_args.get(node, ())]) or node.type_args
            args = tuple([memo[a] for a in node.args])
            type_ = self.type(self.types[node])
            return Call.of(memo[node.op], args, node.attrs, type_args, node.span, (node,), type_)
        if cls is Var:
            return self._variable(node)  # type: ignore[arg-type]  # its class is Var
        if cls is Constant or cls is Op or cls is Constructor or cls is GlobalVar:
            return node
        new = self._copy_rare(node)
        set_checked_type(new, self.type(self.types[node]))
        set_origin(new, (node,))
        return set_span(new, node.span)

    def _variable(self, var: Var) -> Var:
        """Return a variable annotated with its type; the same object if its annotation is already
        complete.
        """
        if var in self.memo:
            return self.memo[var]  # type: ignore[return-value]  # variables stay variables
        type_ = self.type(self.types[var])
        if var.type_annotation is type_ or (var._checked_type is not None and var.type_annotation == type_):
            return var
        new = Var(var.name_hint, type_, var.span)
        set_origin(new, (var,))
        self.memo[var] = new
        return new

    def _copy_rare(self, node: Expr) -> Expr:
        memo = self.memo
        match node:
            case TupleGetItem():
                return TupleGetItem(memo[node.tuple_value], node.index)
            case Tuple():
                return Tuple([memo[f] for f in node.fields])
            case Function():
                return self.function(node)
            case Let():
                return Let(self._variable(node.var), memo[node.value], memo[node.body])
            case If():
                return If(memo[node.cond], memo[node.true_branch], memo[node.false_branch])
            case Match():
                clauses = [Clause(self._pattern(c.lhs), memo[c.rhs], c.span) for c in node.clauses]
                return Match(memo[node.data], clauses, node.complete)
            case RefCreate():
                return RefCreate(memo[node.value])
            case RefRead():
                return RefRead(memo[node.ref])
            case RefWrite():
                return RefWrite(memo[node.ref], memo[node.value])
        raise AssertionError(type(node))

    def function(self, function: Function) -> Function:
        """Return a function with annotated parameters and result type; its body must have been copied."""
        type_ = self.type(self.types[function])
        assert isinstance(type_, FuncType)
        params = [self._variable(p) for p in function.params]
        new = Function(params, self.memo[function.body], type_.ret_type, function.type_params, function.attrs)
        set_checked_type(new, type_)
        set_origin(new, (function,))
        set_span(new, function.span)
        return new

    def _pattern(self, pattern: Pattern) -> Pattern:
        if isinstance(pattern, PatternVar):
            return PatternVar(self._variable(pattern.var), pattern.span)
        if isinstance(pattern, PatternConstructor):
            return PatternConstructor(
                pattern.constructor, [self._pattern(p) for p in pattern.patterns], pattern.span
            )
        if isinstance(pattern, PatternTuple):
            return PatternTuple([self._pattern(p) for p in pattern.patterns], pattern.span)
        return pattern
