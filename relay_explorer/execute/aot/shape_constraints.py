"""Constraints between the dynamic sizes of a kernel's arguments.

The type relations of its operators determine them, and are not available in C. They are therefore probed at
compile time: all dynamic sizes are set to one number that the relations accept, and then one of them is
changed. Where the relations refuse, the sizes that have to change with it are those that it must be equal to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from ...ir.errors import RelayError
from ...ir.expr import Function, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.types import TensorType, TupleType, Type
from ...transform.tools.inlining import substituted
from ...typing import infer_types
from ..vm.tensors import argument_types

Place = tuple[int, int]  # the index of an argument, tensor by tensor, and one of its axes
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
        self.places = [
            (number, axis)
            for number, type_ in enumerate(self.types)
            for axis, size in enumerate(type_.shape)
            if not isinstance(size, int)
        ][:MAX_SIZES]

    def constraints(self) -> Iterator[ShapeConstraint]:
        base = self._base()
        if base is None:
            return
        done: set[Place] = set()
        for place in self.places:
            if place in done:
                continue
            others = [n for n in (*_OTHERS, 2 * base) if n != base]
            if any(self.takes({place: n}, base) for n in others):
                continue  # it may differ; if only some sizes are refused, the constraint is no equality
            groups = (self._group(place, base, other, done) for other in (others[0], 2 * base))
            group, number = next((group for group in groups if group is not None), None), None
            if group is None:
                group, number = [place], base
            done.update(group)
            ones = frozenset(p for p in group if self.takes({p: 1}, base))
            yield ShapeConstraint(tuple(group), ones, number)

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
        return next((n for n in candidates if self.takes({}, n)), None) if self.places else None

    def _group(self, place: Place, base: int, other: int, done: set[Place]) -> list[Place] | None:
        """Return the sizes that must change together with `place`; None where changing others does not help.
        Sizes that need only agree with one another, in twos or threes, are removed together.
        """
        open_ = [p for p in self.places if p not in done]
        group = self._all_but_fixed(place, open_, base, other)
        if group is None:
            pairs = ([place, p] for p in open_ if p != place)
            return next((pair for pair in pairs if self.takes(dict.fromkeys(pair, other), base)), None)
        while (fewer := self._without_some(group, place, base, other)) is not None:
            group = fewer
        return group

    def _without_some(
        self, group: Sequence[Place], place: Place, base: int, other: int
    ) -> list[Place] | None:
        """Remove sizes from a group that need not change with `place`; None where all must."""
        for many in (1, 2, 3):
            for left in combinations([p for p in group if p != place], many):
                rest = [p for p in group if p not in left]
                if self.takes(dict.fromkeys(rest, other), base):
                    return rest
        return None

    def _all_but_fixed(
        self, place: Place, places: Sequence[Place], base: int, other: int
    ) -> list[Place] | None:
        """Return all sizes that may change at once, `place` among them; None where there are none, or too
        many are fixed.
        """
        rest = [p for p in places if p != place]
        for count in range(_FIXED + 1):
            for fixed in combinations(rest, count):
                group = [p for p in places if p not in fixed]
                if self.takes(dict.fromkeys(group, other), base):
                    return group
        return None

    def takes(self, sizes: Mapping[Place, int], base: int) -> bool:
        """Whether the relations accept these sizes, and `base` for the others."""
        numbered = iter(range(len(self.types)))

        def sized(type_: Type) -> Type:
            if isinstance(type_, TupleType):
                return TupleType([sized(field) for field in type_.fields])
            assert isinstance(type_, TensorType)
            number = next(numbered)
            shape = [
                size if isinstance(size, int) else sizes.get((number, axis), base)
                for axis, size in enumerate(type_.shape)
            ]
            return TensorType(tuple(shape), type_.dtype)

        params = [Var(p.name_hint, sized(p.checked_type)) for p in self.function.params]
        body = substituted(self.function.body, dict(zip(self.function.params, params)))
        try:
            infer_types(IRModule.from_expr(Function(params, body)))
        except RelayError:
            return False
        return True


def _sizes(type_: Type) -> Sequence[object]:
    """Return the sizes of a type's tensors. Tuple types nest only a few levels."""
    if isinstance(type_, TupleType):
        return [size for field in type_.fields for size in _sizes(field)]
    return list(type_.shape) if isinstance(type_, TensorType) else []
