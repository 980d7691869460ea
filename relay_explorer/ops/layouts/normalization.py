"""The layout rule of normalizations along an axis, which updates the attribute `axis` for a new layout."""

from __future__ import annotations

from .layout import Answer, InferCorrectLayoutOutput, Layout, Question, moved


def normalization(question: Question, vectors: int = 2, results: int = 1) -> Answer:
    """Infer the layouts of a normalization along an axis, with vectors along that axis, such as
    `nn.layer_norm`.
    """
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
