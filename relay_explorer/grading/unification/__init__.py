"""The exercise of chapter 12: unification. The classes given to the learner, and the right answers.

Terms are Relay's types: tensors, tuples, functions, and type variables. `Classes`, a union-find structure,
stores what is known about variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.types import FuncType, IncompleteType, TensorType, TupleType, Type

MAX_DEPTH = (
    60  # levels of a resolved type; random terms have a tenth of that, and infinite ones have them all
)


class Variable(IncompleteType):
    """A type that is not known yet. Variables are compared by identity; the name is only for display."""

    __slots__ = ("name_hint",)

    def __init__(self, name_hint: str) -> None:
        super().__init__()
        self._unlock()
        self.name_hint = name_hint
        self._lock(None)


class MismatchError(Exception):
    """Two types that cannot be made equal: `left` and `right`, the innermost parts that disagree."""

    def __init__(self, left: Type, right: Type) -> None:
        super().__init__(f"{left} and {right} cannot be equal")
        self.left = left
        self.right = right


class Classes:
    """A union-find structure of type variables, and of the known types of its classes.

    Variables that are equal form a class. A class has a representative, one of its variables, and may have
    a known type.
    """

    def __init__(self) -> None:
        self._parent: dict[Variable, Variable] = {}
        self._known: dict[Variable, Type] = {}

    def find(self, variable: Variable) -> Variable:
        """Return the representative of the variable's class."""
        _only_variables("find", variable)
        while (parent := self._parent.get(variable)) is not None:
            variable = parent
        return variable

    def known(self, variable: Variable) -> Type | None:
        """Return the known type of the variable's class, or None."""
        return self._known.get(self.find(variable))

    def learn(self, variable: Variable, type_: Type) -> None:
        """Set the type of the variable's class to `type_`, a tensor, tuple or function. Raise a ValueError
        if it is already known.
        """
        _only_variables("learn", variable)
        if isinstance(type_, Variable):
            raise TypeError(
                f"learn cannot take a variable as a type; merge({variable}, {type_}) makes "
                "two variables equal"
            )
        if not isinstance(type_, Type):
            raise TypeError(f"learn takes a type, not {type_!r:.200}")
        root = self.find(variable)
        if root in self._known:
            raise ValueError(f"{variable} is already known to be {self._known[root]}")
        self._known[root] = type_

    def merge(self, left: Variable, right: Variable) -> None:
        """Merge the classes of two variables. Raise a ValueError if both types are already known."""
        _only_variables("merge", left, right)
        a, b = self.find(left), self.find(right)
        if a is b:
            return
        if a in self._known and b in self._known:
            raise ValueError(
                f"{left} and {right} are both already known, as {self._known[a]} and {self._known[b]}"
            )
        if a in self._known:
            a, b = b, a
        self._parent[a] = b

    def __repr__(self) -> str:
        roots: dict[Variable, list[str]] = {}
        for variable in {**self._parent, **self._known}:
            roots.setdefault(self.find(variable), []).append(variable.name_hint)
        shown = []
        for root, names in roots.items():
            equal = " = ".join(sorted({*names, root.name_hint}))
            shown.append(equal + (f" = {self._known[root]}" if root in self._known else ""))
        return f"<Classes: {'; '.join(shown) or 'nothing known'}>"


def _only_variables(what: str, *inputs: object) -> None:
    for value in inputs:
        if not isinstance(value, Variable):
            raise TypeError(f"{what} takes variables, but {value!r:.200} is not one")


# -- expected results


def parts(type_: Type) -> tuple[Type, ...]:
    """Return the types of which a type consists."""
    if isinstance(type_, TupleType):
        return type_.fields
    if isinstance(type_, FuncType):
        return (*type_.arg_types, type_.ret_type)
    return ()


def rebuilt(type_: Type, new: Sequence[Type]) -> Type:
    """Rebuild `type_` from other parts."""
    if isinstance(type_, TupleType):
        return TupleType(new)
    if isinstance(type_, FuncType):
        return FuncType(new[:-1], new[-1])
    return type_


class InfiniteTypeError(Exception):
    """A type that contains itself."""


def resolved(type_: Type, classes: Classes, depth: int = 0) -> Type:
    """Resolve `type_`: replace known variables with their types, and others with their representatives."""
    if depth > MAX_DEPTH:
        raise InfiniteTypeError
    if isinstance(type_, Variable):
        known = classes.known(type_)
        return classes.find(type_) if known is None else resolved(known, classes, depth + 1)
    return rebuilt(type_, [resolved(p, classes, depth + 1) for p in parts(type_)])


def variables(*types: Type) -> list[Variable]:
    """Return the variables of types, in order, each once."""
    result: dict[Variable, None] = {}
    pending = list(reversed(types))
    while pending:
        current = pending.pop()
        if isinstance(current, Variable):
            result[current] = None
        pending.extend(reversed(parts(current)))
    return list(result)


def same_up_to_names(left: Sequence[Type], right: Sequence[Type]) -> bool:
    """Return whether the types are equal after renaming the variables of one list, one-to-one, to those of
    the other.
    """
    there: dict[Type, Type] = {}
    back: dict[Type, Type] = {}
    pending = list(zip(left, right))
    while pending:
        a, b = pending.pop()
        if isinstance(a, IncompleteType) and isinstance(b, IncompleteType):
            if there.setdefault(a, b) is not b or back.setdefault(b, a) is not a:
                return False
        elif not _same_top(a, b):
            return False
        else:
            pending.extend(zip(parts(a), parts(b)))
    return True


def _same_top(a: Type, b: Type) -> bool:
    if isinstance(a, TensorType) or isinstance(b, TensorType):
        return a == b
    return type(a) is type(b) and len(parts(a)) == len(parts(b)) and not isinstance(a, IncompleteType)


def disagree(a: Type, b: Type) -> bool:
    """Return whether two resolved types disagree at the top, and not only in their parts."""
    if isinstance(a, Variable) or isinstance(b, Variable):
        pair = (a, b) if isinstance(a, Variable) else (b, a)
        return pair[0] is not pair[1] and pair[0] in variables(pair[1])
    return not _same_top(a, b)


def subterms(type_: Type) -> Iterator[Type]:
    """Yield `type_` and everything in it."""
    yield type_
    for part in parts(type_):
        yield from subterms(part)
