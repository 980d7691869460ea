"""Layout rules of element-wise operators, which work in any layout that their operands share."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.op import RelationError
from ...ir.types import TensorType
from .layout import Answer, InferCorrectLayoutOutput, Layout, Question


def elementwise_layout(question: Question, results: int = 1) -> Answer:
    """Give all operands and results one layout: the first new one, or else the first known old one."""
    candidates: Sequence[Layout | None] = question.new or question.old
    shared = next((layout for layout in candidates if layout is not None), None)
    if shared is None:
        return None
    return InferCorrectLayoutOutput([shared] * len(question.old), [shared] * results, question.attrs)


def dropout_layout(question: Question) -> Answer:
    """Infer the layouts of the data and the mask."""
    return elementwise_layout(question, results=2)


def broadcast_layout(question: Question) -> Answer:
    """Align the axes of the smaller argument with the last axes of the larger. Where the larger gets a new
    layout, the smaller is transformed to match it.
    """
    shapes = [type_.shape for type_ in question.types if isinstance(type_, TensorType)]
    if len(shapes) != 2:
        return None
    old = _both(question.old, [len(shape) for shape in shapes])
    if old is None:
        return None
    large = 0 if len(shapes[0]) >= len(shapes[1]) else 1
    if question.new is None:
        return InferCorrectLayoutOutput(old, [old[large]], question.attrs)
    small = 1 - large
    target = _alike(old[small], old[large], question.new[large], shapes[small])
    if target is None:
        return None
    inputs = [target, target]
    inputs[large] = question.new[large]
    return InferCorrectLayoutOutput(inputs, [question.new[large]], question.attrs)


def _both(old: Sequence[Layout | None], ranks: Sequence[int]) -> list[Layout] | None:
    """Return the layouts of both arguments, if that of the larger is known."""
    first, second = old
    if first is not None and second is not None:
        return [first, second]
    larger, index = (first, 0) if first is not None else (second, 1)
    if larger is None or ranks[index] < ranks[1 - index] or len(larger) != ranks[index]:
        return None
    try:
        other = Layout.of(larger.axes[ranks[index] - ranks[1 - index] :])
    except RelationError:  # blocks without their axis
        return None
    return [larger, other] if index == 0 else [other, larger]


def _alike(small: Layout, large: Layout, new: Layout, shape: Sequence[object]) -> Layout | None:
    """Return the layout of the small argument that matches `new`, the layout of the large one. Axes of
    extent 1, and those that the small one lacks, get blocks of 1.
    """
    if len(small) == 0:
        return small
    rest = len(large) - len(small)
    same = [letter for letter, _ in large.axes[rest:]]
    if rest < 0 or any(
        letter.islower() != other.islower() for letter, other in zip(small, same, strict=True)
    ):
        return None
    names = {there: here.upper() for here, there in zip(small, same, strict=True) if there.isupper()}
    used = set(names.values())
    for letter in large.primal:
        if letter not in names:
            free = [letter, *(chr(code) for code in range(ord("A"), ord("Z") + 1))]
            names[letter] = next(name for name in free if name not in used)
            used.add(names[letter])
    axes = []
    for letter, size in new.axes:
        name = names.get(letter.upper())
        if name is None:
            return None
        if letter.islower():
            index = small.index_of(name)
            one = index < 0 or (shape[index] == 1 and name.lower() not in small)
            axes.append((name.lower(), 1 if one else size))
        else:
            axes.append((name, 1))
    return Layout.of(axes)
