"""Values in which every tensor has a gradient cell: how to create them, and how to read their gradients.

For tensors and tuples the code is generated in place. For a list, a tree or another data type it is a
recursive function that is added to the module, so the gradient with respect to a list of tensors is a list of
gradients.
"""

from __future__ import annotations

from ...ir.adt import Clause, Match, PatternConstructor, PatternVar
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, GlobalVar, RefCreate, RefRead, Tuple, TupleGetItem, Var
from ...ir.substitute import substitute_type
from ...ir.types import GlobalTypeVar, TensorType, TupleType, Type, TypeCall
from ...ops.gradient_tools import zeros_of
from .lifting import Lifting

WITH, DERIVATIVES, VALUES = "with_cells", "derivatives", "values"


class DataWithCells:
    """Generates the code that converts values to values with cells, and back, for the translation of a
    program.
    """

    def __init__(self, lifting: Lifting) -> None:
        self.lifting = lifting
        self.walkers: dict[tuple[str, str], GlobalVar] = {}

    def with_cells(self, value: Expr, type_: Type) -> Expr:
        """Pair each tensor in a value of `type_` with a new reference cell of zeros."""
        return self._through(WITH, value, type_)

    def derivatives(self, lifted: Expr, type_: Type) -> Expr:
        """Read the cells of a value, as a value of `type_`."""
        return self._through(DERIVATIVES, lifted, type_)

    def values(self, lifted: Expr, type_: Type) -> Expr:
        """Return the value without its cells."""
        return self._through(VALUES, lifted, type_)

    def check(self, type_: Type, place: Expr, what: str) -> None:
        """Raise a RelayError unless values of `type_` are tensors, or tuples and data types made of
        tensors.
        """
        visited: set[GlobalTypeVar] = set()
        pending = [type_]
        while pending:
            part = pending.pop()
            if isinstance(part, TupleType):
                pending.extend(part.fields)
            elif isinstance(part, (TypeCall, GlobalTypeVar)):
                header, args = _applied(part)
                pending.extend(args)
                if header not in visited:
                    visited.add(header)
                    declared = self.lifting.mod.type_definitions[header]
                    inputs = [i for constructor in declared.constructors for i in constructor.inputs]
                    pending.extend(i for i in inputs if i not in declared.type_vars)
            elif not isinstance(part, TensorType) and part not in self._type_vars(visited):
                raise RelayError(
                    f"{what} of a function that is differentiated must be a tensor, or a tuple or data type "
                    f"of tensors, not {type_}",
                    place.span,
                    help=["create closures and references inside the function, from its tensor parameters"],
                )

    def _type_vars(self, headers: set[GlobalTypeVar]) -> set[Type]:
        return {v for header in headers for v in self.lifting.mod.type_definitions[header].type_vars}

    def _through(self, kind: str, value: Expr, type_: Type) -> Expr:
        if isinstance(type_, TupleType):
            parts = [self._through(kind, TupleGetItem(value, k), t) for k, t in enumerate(type_.fields)]
            return Tuple(parts)
        if isinstance(type_, TensorType):
            if kind == WITH:
                return Tuple([value, RefCreate(zeros_of(value, type_))])
            return RefRead(TupleGetItem(value, 1)) if kind == DERIVATIVES else TupleGetItem(value, 0)
        if self.lifting.type(type_) == type_:
            return value  # there are no tensors in it
        return Call(self._walker(kind, type_), [value])

    def _walker(self, kind: str, type_: Type) -> GlobalVar:
        """Return the recursive function that traverses values of a data type."""
        key = (kind, str(type_))
        if key not in self.walkers:
            header, args = _applied(type_)
            target = self.lifting.target
            name = f"{header.name_hint}_{kind}"
            while name in target:
                name += "_"
            walker = self.walkers[key] = GlobalVar(name)
            lifted = self.lifting.type(type_)
            source, result = (type_, lifted) if kind == WITH else (lifted, type_)
            value = Var("value", source)
            # This reserves the name, because the function is recursive: a list contains a list.
            target[walker] = Function([value], value, source)
            declared = self.lifting.mod.type_definitions[header]
            substitution = dict(zip(declared.type_vars, args, strict=True))
            clauses = []
            for old in declared.constructors:
                new = self.lifting.constructor(old)
                matched, built = (old, new) if kind == WITH else (new, old)
                types = [substitute_type(part, substitution) for part in old.inputs]
                fields = [
                    Var(f"field{k}", part if kind == WITH else self.lifting.type(part))
                    for k, part in enumerate(types)
                ]
                replacement = [self._through(kind, f, t) for f, t in zip(fields, types, strict=True)]
                pattern = PatternConstructor(matched, [PatternVar(field) for field in fields])
                clauses.append(Clause(pattern, Call(built, replacement)))
            target[walker] = Function([value], Match(value, clauses), result)
        return self.walkers[key]


def _applied(type_: Type) -> tuple[GlobalTypeVar, tuple[Type, ...]]:
    """Split a data type into its header and its type arguments."""
    if isinstance(type_, TypeCall):
        assert isinstance(type_.func, GlobalTypeVar)
        return type_.func, tuple(type_.args)
    assert isinstance(type_, GlobalTypeVar)
    return type_, ()
