"""The expected result of unification, according to the compiler's own solver, and the program that shows
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...ir.expr import Expr, Function, If, Let, Tuple, Var, const
from ...ir.module import IRModule
from ...ir.types import IncompleteType, TensorType, Type
from . import Variable, parts, rebuilt, variables

Equation = tuple[Type, Type]


class Right(NamedTuple):
    """The right outcome of equations: each variable's type, or the index of the equation that cannot hold
    and the two innermost types that disagree in it.
    """

    types: dict[Variable, Type]
    failed: int | None = None
    left: Type | None = None
    right: Type | None = None

    @property
    def infinite(self) -> bool:
        """Return whether the conflict is a type that would have to contain itself."""
        return isinstance(self.left, IncompleteType)


def solve(equations: Sequence[Equation]) -> Right:
    """Unify the two sides of every equation, in order, as inference does."""
    from ...typing.solver import MismatchError, Solver
    from ...typing.variables import InferenceVariable, resolve

    solver = Solver()
    unknowns: dict[Variable, InferenceVariable] = {}
    for variable in variables(*[t for pair in equations for t in pair]):
        unknowns[variable] = solver.fresh()
    names = {u: v for v, u in unknowns.items()}

    def inside(type_: Type) -> Type:
        return (
            unknowns[type_]
            if isinstance(type_, Variable)
            else rebuilt(type_, list(map(inside, parts(type_))))
        )

    def outside(type_: Type) -> Type:
        if isinstance(type_, InferenceVariable):
            return names[type_]
        return rebuilt(type_, list(map(outside, parts(type_))))

    failed, left, right = None, None, None
    for number, pair in enumerate(equations):
        try:
            solver.assign(inside(pair[0]), inside(pair[1]))
        except MismatchError as mismatch:
            failed, left, right = number, outside(resolve(mismatch.left)), outside(resolve(mismatch.right))
            break
    types: dict[Variable, Type] = {}
    if failed is None:
        types = {v: outside(resolve(u)) for v, u in unknowns.items()}
    return Right(types, failed, left, right)


def drawn(equations: Sequence[Equation], *also: Type) -> IRModule:
    """Build a program whose inference unifies the equations, in order: each is the two branches of an `if`.

    A variable that stays undetermined would be an error, so it is drawn as a scalar type.
    """
    right = solve(equations)
    holes: dict[Type, Type] = {}
    everything = [t for pair in equations for t in pair] + list(also)
    for variable in variables(*everything):
        left_open = right.failed is None and right.types.get(variable, variable) is variable
        holes[variable] = TensorType((), "float32") if left_open else IncompleteType()

    def written(type_: Type) -> Type:
        return holes[type_] if type_ in holes else rebuilt(type_, list(map(written, parts(type_))))

    params: list[Var] = []
    sides: list[tuple[Var, Expr]] = []
    for number, (a, b) in enumerate(equations):
        tag = str(number + 1) if len(equations) > 1 else ""
        left, other = Var(f"left{tag}", written(a)), Var(f"right{tag}", written(b))
        params += [left, other]
        sides.append((Var(f"both{tag}"), If(const(True), left, other)))
    params += [Var(f"type{n or ''}", written(t)) for n, t in enumerate(also)]
    body: Expr = Tuple([v for v, _ in sides])
    for variable_, value in reversed(sides):
        body = Let(variable_, value, body)
    return IRModule.from_expr(Function(params, body))
