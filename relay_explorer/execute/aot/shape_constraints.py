"""Constraints between the dynamic sizes of a kernel's arguments.

The type relations of its operators determine them, and are not available in C. They are therefore probed at
compile time: all dynamic sizes are set to one number that the relations accept, and then one of them is
changed. Where the relations refuse, the sizes that have to change with it are those that it must be equal to.
A named size is one size, wherever it occurs, and other sizes follow from it: `17 * n` from `n`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from ...ir.errors import RelayError
from ...ir.expr import Function, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.size import Size, SizeVar, variables
from ...ir.size_parts import substituted as with_sizes
from ...ir.types import TensorType, TupleType, Type
from ...transform.tools.inlining import substituted
from ...typing import infer_types
from ..vm.tensors import argument_types

Place = tuple[int, int]  # the index of an argument, tensor by tensor, and one of its axes
Unknown = Place | SizeVar  # a size that is probed: a `?`, by its place, or a name
_OTHERS = (7, 3, 11, 12, 24, 60, 64)  # sizes that are tried besides those in the types
_FIXED = 3  # at most so many sizes may be fixed although no type says so
MAX_SIZES = 16  # at most so many sizes are examined; kernels have a few


@dataclass(frozen=True)
class ShapeConstraint:
    """Sizes that must be equal: to `number`, where that is known. Those in `ones` may also be 1."""

    places: tuple[Place, ...]
    ones: frozenset[Place]
    number: int | None = None


def shape_constraints(function: Function) -> list[ShapeConstraint]:
    """Return the constraints of a primitive function. Where the relations require something other than
    equality (that a reshape preserves the number of elements), there is none.
    """
    return list(_Probe(function).constraints())


class _Probe:
    """Derives constraints by inferring the types of a function for trial sizes of its arguments."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.types = argument_types(function) or []
        self.places = _places(self.types)
        self.unknowns = list(self.places)[:MAX_SIZES]

    def constraints(self) -> Iterator[ShapeConstraint]:
        base = self._base()
        if base is None:
            return
        done: set[Unknown] = set()
        for unknown in self.unknowns:
            if unknown in done:
                continue
            group, number = self._equal_to(unknown, base, done)
            done.update(group)
            places = [place for member in group for place in self.places[member]]
            if len(places) < (2 if number is None else 1):
                continue
            ones: list[Place] = []
            if len(group) > 1 or number is not None:
                ones = [p for member in group if self.takes({member: 1}, base) for p in self.places[member]]
            yield ShapeConstraint(tuple(places), frozenset(ones), number)

    def _equal_to(self, unknown: Unknown, base: int, done: set[Unknown]) -> tuple[list[Unknown], int | None]:
        """Return the sizes that must be equal to one, and the number that they must be, if any."""
        others = [n for n in (*_OTHERS, 2 * base) if n != base]
        if any(self.takes({unknown: n}, base) for n in others):
            return [unknown], None  # it may differ; if only some sizes are refused, it is no equality
        for other in (others[0], 2 * base):
            group = self._group(unknown, base, other, done)
            if group is not None:
                return group, None
        return [unknown], None if self._is_factor(unknown, base) else base

    def _is_factor(self, unknown: Unknown, base: int) -> bool:
        """Whether only the product of a size and another one is fixed, as by a reshape."""
        square = base * base
        return any(
            self.takes({unknown: 1, other: square}, base) or self.takes({unknown: square, other: 1}, base)
            for other in self.unknowns
            if other != unknown
        )

    def _base(self) -> int | None:
        """Return a number that all dynamic sizes may have at once."""
        static = [size for type_ in self.types for size in type_.shape if isinstance(size, int) and size > 1]
        inside = [
            size
            for node_type in [self.function.body.checked_type]
            for size in _sizes(node_type)
            if isinstance(size, int) and size > 1
        ]
        candidates = dict.fromkeys([6, *static, *inside, *_OTHERS, 2, 4, 5, 8, 16, 32])
        return next((n for n in candidates if self.takes({}, n)), None) if self.unknowns else None

    def _group(self, unknown: Unknown, base: int, other: int, done: set[Unknown]) -> list[Unknown] | None:
        """Return the sizes that must change together with `unknown`; None where changing others does not
        help. Sizes that need only agree with one another, in twos or threes, are removed together.
        """
        open_ = [p for p in self.unknowns if p not in done]
        group = self._all_but_fixed(unknown, open_, base, other)
        if group is None:
            pairs = ([unknown, p] for p in open_ if p != unknown)
            return next((pair for pair in pairs if self.takes(dict.fromkeys(pair, other), base)), None)
        while (fewer := self._without_some(group, unknown, base, other)) is not None:
            group = fewer
        return group

    def _without_some(
        self, group: Sequence[Unknown], unknown: Unknown, base: int, other: int
    ) -> list[Unknown] | None:
        """Remove sizes from a group that need not change with `unknown`; None where all must."""
        for many in (1, 2, 3):
            for left in combinations([p for p in group if p != unknown], many):
                rest = [p for p in group if p not in left]
                if self.takes(dict.fromkeys(rest, other), base):
                    return rest
        return None

    def _all_but_fixed(
        self, unknown: Unknown, unknowns: Sequence[Unknown], base: int, other: int
    ) -> list[Unknown] | None:
        """Return all sizes that may change at once, `unknown` among them; None where there are none, or too
        many are fixed.
        """
        rest = [p for p in unknowns if p != unknown]
        for count in range(_FIXED + 1):
            for fixed in combinations(rest, count):
                group = [p for p in unknowns if p not in fixed]
                if self.takes(dict.fromkeys(group, other), base):
                    return group
        return None

    def takes(self, sizes: Mapping[Unknown, int], base: int) -> bool:
        """Whether the relations accept these sizes, and `base` for the others."""
        numbered = iter(range(len(self.types)))
        names = {unknown: sizes.get(unknown, base) for unknown in self.places if isinstance(unknown, SizeVar)}

        def sized(type_: Type) -> Type:
            if isinstance(type_, TupleType):
                return TupleType([sized(field) for field in type_.fields])
            assert isinstance(type_, TensorType)
            number = next(numbered)
            shape = [
                with_sizes(size, names) if isinstance(size, (int, Size)) else sizes.get((number, axis), base)
                for axis, size in enumerate(type_.shape)
            ]
            if not all(isinstance(size, int) and size >= 0 for size in shape):
                raise RelayError(f"there is no tensor of the shape {shape}")
            return TensorType(tuple(shape), type_.dtype)

        try:
            params = [Var(p.name_hint, sized(p.checked_type)) for p in self.function.params]
            body = substituted(self.function.body, dict(zip(self.function.params, params)))
            infer_types(IRModule.from_expr(Function(params, body)))
        except (RelayError, ZeroDivisionError):  # the sizes that follow from these may be impossible
            return False
        return True


def _places(types: Sequence[TensorType]) -> dict[Unknown, list[Place]]:
    """Return the dynamic sizes in the types of tensors, and where each is an extent by itself."""
    places: dict[Unknown, list[Place]] = {}
    for number, type_ in enumerate(types):
        for axis, size in enumerate(type_.shape):
            if isinstance(size, SizeVar):
                places.setdefault(size, []).append((number, axis))
            elif isinstance(size, Size):
                for name in variables(size):
                    places.setdefault(name, [])
            elif not isinstance(size, int):
                places[number, axis] = [(number, axis)]
    return places


def _sizes(type_: Type) -> Sequence[object]:
    """Return the sizes of a type's tensors. Tuple types nest only a few levels."""
    if isinstance(type_, TupleType):
        return [size for field in type_.fields for size in _sizes(field)]
    return list(type_.shape) if isinstance(type_, TensorType) else []
