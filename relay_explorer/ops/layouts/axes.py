"""Rules of the operators whose attributes number axes: the numbers follow the axes into a new layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs
from ...ir.types import TensorType
from .layout import Answer, InferCorrectLayoutOutput, Layout, Question, moved


def _one(question: Question, attrs: Attrs | None, layout: Layout, results: int = 1) -> Answer:
    """One argument, and results, that lie alike."""
    return InferCorrectLayoutOutput([layout], [layout] * results, attrs)


def _stay(question: Question, results: int = 1) -> Answer:
    """The old layout, if it is known."""
    old = question.old[0]
    return None if old is None else _one(question, question.attrs, old, results)


def _shape(question: Question, place: int = 0) -> tuple[object, ...]:
    type_ = question.types[place]
    return type_.shape if isinstance(type_, TensorType) else ()


# -- one axis


def normalization(question: Question, vectors: int = 2, results: int = 1) -> Answer:
    """A normalization along an axis, with vectors of that axis: `nn.layer_norm` and its like."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None:
        return None
    data = old
    if question.new is not None:
        axis = moved(attrs["axis"], old, question.new[0])
        if axis is None or any(letter.islower() for letter in question.new[0]):
            return None
        data, attrs = question.new[0], attrs.replace(axis=axis)
    vector = Layout("C")
    return InferCorrectLayoutOutput([data] + [vector] * vectors, [data] + [vector] * (results - 1), attrs)


def batch_norm(question: Question) -> Answer:
    return normalization(question, vectors=4, results=3)


def instance_norm(question: Question) -> Answer:
    """The first axis counts the images: it stays where it is."""
    old, new = question.old[0], question.new
    if old is not None and new is not None and new[0][0] != old[0]:
        return None
    return normalization(question)


def prelu_layout(question: Question) -> Answer:
    return normalization(question, vectors=1)


def l2_normalize(question: Question) -> Answer:
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None or question.new is None:
        return _stay(question)
    axes = [moved(axis, old, question.new[0]) for axis in attrs["axis"] or ()]
    if None in axes or not axes:
        return _stay(question)
    return _one(question, attrs.replace(axis=axes), question.new[0])


def topk(question: Question) -> Answer:
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    results = 2 if attrs["ret_type"] == "both" else 1
    if old is None or question.new is None:
        return _stay(question, results)
    axis = moved(attrs["axis"], old, question.new[0])
    if axis is None:
        return _stay(question, results)
    return _one(question, attrs.replace(axis=axis), question.new[0], results)


def concatenate(question: Question) -> Answer:
    """The fields lie alike: in the new layout, where that is the same of all of them."""
    attrs, old = question.attrs, question.old
    assert attrs is not None
    first = next((layout for layout in old if layout is not None), None)
    if first is None or any(layout not in (None, first) for layout in old):
        return None
    count = len(old)
    if question.new is not None and len(set(question.new)) == 1:
        new = question.new[0]
        letter = first[attrs["axis"]] if -len(first) <= attrs["axis"] < len(first) else ""
        if letter.isupper() and letter in new:
            return InferCorrectLayoutOutput([new] * count, [new], attrs.replace(axis=new.index_of(letter)))
    return InferCorrectLayoutOutput([first] * count, [first], attrs)


def split(question: Question) -> Answer:
    """In blocks, the places are counted in blocks."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    where = attrs["indices_or_sections"]
    results = where if isinstance(where, int) else len(where) + 1
    if old is None or question.new is None:
        return _stay(question, results)
    new = question.new[0]
    letter = old[attrs["axis"]] if -len(old) <= attrs["axis"] < len(old) else ""
    if not letter.isupper() or letter not in new or old.splits(letter):
        return _stay(question, results)
    if new.splits(letter) and not isinstance(where, int):
        factor = new.factor_of(letter)
        if any(index % factor for index in where):
            return _stay(question, results)
        where = [index // factor for index in where]
    made = attrs.replace(axis=new.index_of(letter), indices_or_sections=where)
    return _one(question, made, new, results)


# -- several axes


def transpose(question: Question) -> Answer:
    """The result lies as it did; the new order of the data is part of what the operator undoes."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None:
        return None
    rank = len(old)
    axes = attrs["axes"] or range(rank - 1, -1, -1)
    if len(axes) != rank or any(not -rank <= axis < rank for axis in axes):
        return None
    result = Layout.of([old.axes[axis] for axis in axes])
    if question.new is not None and sorted(question.new[0].axes) == sorted(old.axes):
        new = question.new[0]
        made = attrs.replace(axes=[new.index_of(letter) for letter in result])
        return InferCorrectLayoutOutput([new], [result], made)
    return InferCorrectLayoutOutput([old], [result], attrs)


def squeeze(question: Question) -> Answer:
    """Axes that are dropped must not lie in blocks."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    shape = _shape(question)
    if old is None or len(shape) != len(old):
        return None
    axes = attrs["axis"]
    if axes is None:
        if not all(isinstance(size, int) for size in shape):
            return None
        axes = [axis for axis, size in enumerate(shape) if size == 1]
    layout, made = old, attrs
    gone = [old[axis] for axis in axes]
    if question.new is not None:
        places = [moved(axis, old, question.new[0]) for axis in axes]
        if None not in places:
            layout, made = question.new[0], attrs.replace(axis=places)
    if layout != old and any(layout.splits(letter) for letter in gone):
        return None
    if attrs["axis"] is None and layout == old:
        made = attrs.replace(axis=axes)
    return InferCorrectLayoutOutput([layout], [layout.without(gone)], made)


def slice_like(question: Question) -> Answer:
    """Both tensors must be known to lie alike."""
    first, second = question.old
    attrs = question.attrs
    assert attrs is not None
    if first is None or second is None or first != second:
        return None
    layout = first
    if question.new is not None and question.new[0] == question.new[1] and attrs["axes"]:
        axes = [moved(axis, first, question.new[0]) for axis in attrs["axes"]]
        if None not in axes:
            layout, attrs = question.new[0], attrs.replace(axes=axes)
    return InferCorrectLayoutOutput([layout, layout], [layout], attrs)


def pad(question: Question) -> Answer:
    """An axis in blocks is not padded."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None or len(old) != len(attrs["pad_width"]):
        return None
    layout = old
    if question.new is not None and set(old.primal) == set(question.new[0].primal):
        new = question.new[0]
        widths = dict(zip(old.letters, attrs["pad_width"], strict=True))
        blocked = [letter for letter in old.primal if new.splits(letter) and any(widths[letter])]
        if not blocked:
            layout = new
            attrs = attrs.replace(pad_width=[widths.get(letter, (0, 0)) for letter in new])
    return InferCorrectLayoutOutput([layout, Layout()], [layout], attrs)


def strided_slice(question: Question) -> Answer:
    """Begin, end and stride of each axis follow it; in blocks, they are counted in blocks."""
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None or question.new is None or attrs["begin"] is None or attrs["end"] is None:
        return _stay(question)
    new = question.new[0]
    if new == old:
        return _stay(question)
    whole = attrs["slice_mode"] == "end"
    shape, named = _shape(question), attrs["axes"]
    begin, end = list(attrs["begin"]), list(attrs["end"])
    strides = list(attrs["strides"] or ())
    strides += [strides[0] if len(strides) == 1 else 1] * (len(begin) - len(strides))
    if len(shape) != len(old) or any(letter.islower() for letter in old):
        return _stay(question)
    wanted = range(len(old)) if named is None else [axis % len(old) for axis in named]
    cuts: dict[str, tuple[int, int, int]] = {}
    for number, axis in enumerate(wanted):
        size = shape[axis]
        if number < min(len(begin), len(end)):
            cut = (begin[number], end[number], strides[number])
        elif isinstance(size, int):
            first = begin[number] if number < len(begin) else 0
            last = end[number] if number < len(end) else (size if whole else -1)
            cut = (first, last, strides[number] if number < len(strides) else 1)
        else:
            return _stay(question)
        blocks = _in_blocks(cut, new.factor_of(old[axis]), size) if new.splits(old[axis]) else cut
        if blocks is None or (new.splits(old[axis]) and not whole):
            return _stay(question)
        cuts[old[axis]] = blocks
    if named is None:
        letters = new.letters
        cuts.update({letter: (0, size, 1) for letter, size in new.axes if letter.islower()})
    else:
        letters = [old[axis] for axis in wanted]
    values = [cuts[letter] for letter in letters]
    changed: dict[str, Anything] = {
        "begin": [b for b, _, _ in values],
        "end": [e for _, e, _ in values],
        "strides": [s for _, _, s in values],
    }
    if named is not None:
        changed["axes"] = [new.index_of(letter) for letter in letters]
    return _one(question, attrs.replace(**changed), new)


def _in_blocks(cut: tuple[int, int, int], factor: int, size: object) -> tuple[int, int, int] | None:
    """A slice in blocks; None where it does not begin and end with one."""
    begin, end, stride = cut
    if not isinstance(size, int) or begin < 0 or end < 0 or stride != 1:
        return None
    end = min(end, size)
    return None if begin % factor or end % factor else (begin // factor, end // factor, 1)


def reduction_layout(question: Question) -> Answer:
    """Axes that are summed over, or the like, wherever they lie. An `argmax` numbers the places, so their
    order must stay. `variance` has the mean as a second argument, whose axes are kept.
    """
    old, attrs = question.old[0], question.attrs
    assert attrs is not None
    if old is None or any(letter.islower() for letter in old):
        return None
    named = list(old) if attrs["axis"] is None else [old[axis % len(old)] for axis in attrs["axis"]]
    gone = [letter for letter in old if (letter in named) != bool(attrs["exclude"])]
    layout = old
    if question.new is not None and question.new[0] != old:
        new = question.new[0]
        places = [place for place, (letter, _) in enumerate(new.axes) if letter.upper() in named]
        order = [letter for letter in new if letter.upper() in gone]
        if "select_last_index" not in attrs or order == gone:
            layout = new
            attrs = attrs if attrs["axis"] is None else attrs.replace(axis=places)
    inputs = [layout, _reduced(layout, gone, True)][: len(question.old)]
    return InferCorrectLayoutOutput(inputs, [_reduced(layout, gone, attrs["keepdims"])], attrs)


def _reduced(layout: Layout, letters: Sequence[str], keeps: bool) -> Layout:
    """The layout of the result: without the axes, or with blocks of 1 where they are kept."""
    if not keeps:
        return layout.without(letters)
    return Layout.of([(letter, 1 if letter.upper() in letters else size) for letter, size in layout.axes])
