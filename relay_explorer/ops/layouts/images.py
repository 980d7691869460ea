"""Layout rules of the operators whose attributes name a layout: pools, and others that read images."""

from __future__ import annotations

from .layout import Answer, InferCorrectLayoutOutput, Layout, Question


def dense(question: Question) -> Answer:
    return InferCorrectLayoutOutput([Layout("NC"), Layout("NC")], [Layout("NC")], question.attrs)


def pool(question: Question) -> Answer:
    """Follow the data's layout, unless the attributes fix the result's layout."""
    attrs = question.attrs
    assert attrs is not None
    if attrs["out_layout"]:
        out_layout = Layout(attrs["out_layout"])
        data_layout = Layout(attrs["layout"])
        return InferCorrectLayoutOutput([data_layout], [out_layout], attrs)
    return _follow(question)


def resize(question: Question) -> Answer:
    """Follow the data's layout, unless the operator itself was converted to another one."""
    attrs = question.attrs
    assert attrs is not None
    own = Layout(attrs["layout"])
    if question.new is not None and question.old[0] != own:
        return InferCorrectLayoutOutput([own], [own], attrs)
    return _follow(question)


def _follow(question: Question) -> Answer:
    """Adopt the data's layout unless it splits a spatial axis into blocks."""
    attrs = question.attrs
    assert attrs is not None
    own = Layout(attrs["layout"])
    if question.new is not None:
        target = question.new[0]
        if set(target.primal) == set(own.primal) and not any(target.splits(letter) for letter in "DHW"):
            attrs, own = attrs.replace(layout=target.name), target
    return InferCorrectLayoutOutput([own], [own], attrs)


def regions(question: Question) -> Answer:
    """Infer the layouts of `roi_align` and `roi_pool`: the attributes fix the images' layout, and the regions
    are the rows of a matrix.
    """
    attrs = question.attrs
    assert attrs is not None
    own = Layout(attrs["layout"])
    return InferCorrectLayoutOutput([own, Layout("NI")], [own], attrs)
