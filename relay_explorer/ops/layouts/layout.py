"""Layouts as passes handle them: a name, and the axes in it. A scalar has the layout without axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...ir.attrs import Attrs
from ...ir.declaration import NotApplicable
from ...ir.op import RelationError
from ...ir.types import TensorType, Type
from ..nn.layout import parse_layout

Axis = tuple[str, int]  # ("C", 1): an axis, or its blocks; ("c", 16): the elements of a block of 16


class Layout:
    """The layout called `name`, which must be valid (else a RelationError). The empty layout is falsy."""

    __slots__ = ("axes", "name")

    def __init__(self, name: str = "") -> None:
        self.name = str(name)
        self.axes: tuple[Axis, ...] = parse_layout(self.name) if name else ()

    @staticmethod
    def of(axes: Sequence[Axis]) -> Layout:
        """Return the layout with these axes."""
        return Layout("".join(letter if letter.isupper() else f"{size}{letter}" for letter, size in axes))

    @property
    def letters(self) -> list[str]:
        return [letter for letter, _ in self.axes]

    @property
    def primal(self) -> list[str]:
        """The letters of the axes, without those of blocks."""
        return [letter for letter in self.letters if letter.isupper()]

    def index_of(self, letter: str) -> int:
        """Return the index of an axis; -1 where the layout lacks it."""
        return self.letters.index(letter) if letter in self.letters else -1

    def splits(self, letter: str) -> bool:
        """Return whether an axis is split into blocks."""
        return letter.lower() in self.letters

    def factor_of(self, letter: str) -> int:
        """Return the size of an axis's blocks, nested blocks included; -1 where it has none."""
        sizes = [size for other, size in self.axes if other == letter.lower()]
        return math.prod(sizes) if sizes else -1

    def without(self, letters: Sequence[str]) -> Layout:
        """Return this layout without some axes, blocks included."""
        return Layout.of([axis for axis in self.axes if axis[0].upper() not in letters])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __len__(self) -> int:
        return len(self.axes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.letters)

    def __getitem__(self, place: int) -> str:
        return self.letters[place]

    def __contains__(self, letter: str) -> bool:
        return letter in self.letters

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Layout({self.name})"


def layout(name: object) -> Layout:
    """Return a layout by name; return a layout unchanged."""
    return name if isinstance(name, Layout) else Layout(str(name))


class InferCorrectLayoutOutput(NamedTuple):
    """The answer of a layout rule: the layouts of the arguments (fields of tuples one by one) and of the
    results, and the attributes of the new call. None among the layouts means that the rule cannot infer it.
    """

    input_layouts: Sequence[Layout | None]
    output_layouts: Sequence[Layout | None]
    new_attrs: Attrs | None


class Question(NamedTuple):
    """The argument of a layout rule: the attributes of a call, the new layouts of its arguments (None while
    the old ones are inferred), their old layouts (each None where unknown), and their types.
    """

    attrs: Attrs | None
    new: Sequence[Layout] | None
    old: Sequence[Layout | None]
    types: Sequence[Type]


Answer = InferCorrectLayoutOutput | None  # None: the operator works in the old layout only
LayoutRule = Callable[[Question], Answer]
NO_LAYOUT_RULE = NotApplicable("it is computed in the layout that the program was written in")


def alike(layout: Layout, attrs: Attrs | None, results: int = 1) -> InferCorrectLayoutOutput:
    """Answer that the operand and all results have one layout."""
    return InferCorrectLayoutOutput([layout], [layout] * results, attrs)


def unchanged(question: Question, results: int = 1) -> Answer:
    """Answer that the operand and all results stay in the operand's old layout, if that is known."""
    old = question.old[0]
    return None if old is None else alike(old, question.attrs, results)


def shape_of_operand(question: Question) -> tuple[object, ...]:
    """Return the shape of the first operand; () where it is not a tensor."""
    type_ = question.types[0]
    return type_.shape if isinstance(type_, TensorType) else ()


def moved(axis: int, old: Layout, new: Layout) -> int | None:
    """Return the index, in the new layout, of an axis of the old one; None where it is missing or split into
    blocks.
    """
    if not -len(old) <= axis < len(old):
        return None
    letter = old[axis]
    if letter.islower() or new.splits(letter) != old.splits(letter) or letter not in new:
        return None
    if new.factor_of(letter) != old.factor_of(letter):
        return None
    return new.index_of(letter)


def is_layout(name: str) -> bool:
    try:
        Layout(name)
    except RelationError:
        return False
    return True
