"""Rules of the operators whose attributes name a layout: convolutions, pools, and what else reads images."""

from __future__ import annotations

from ..nn.layout import parse_layout
from ..nn.transposed_layout import weight_layout
from .layout import Answer, InferCorrectLayoutOutput, Layout, Question


def convolution(question: Question) -> Answer:
    """Data, weight and result lie as the attributes say."""
    attrs = question.attrs
    assert attrs is not None
    data, kernel = Layout(attrs["data_layout"]), Layout(attrs["kernel_layout"])
    result = Layout(attrs["out_layout"]) if attrs["out_layout"] else data
    if len(question.old) == 3:  # a deformable one: the offsets lie as the data does
        return InferCorrectLayoutOutput([data, data, kernel], [result], attrs)
    return InferCorrectLayoutOutput([data, kernel], [result], attrs)


def transposed_convolution(question: Question) -> Answer:
    """Name the layout of the weight by what its axes are, as relations do."""
    answer = convolution(question)
    assert answer is not None
    data, kernel = answer.input_layouts
    assert kernel is not None
    return answer._replace(input_layouts=[data, Layout(weight_layout(kernel.name))])


def transformed(question: Question) -> Answer:
    """A convolution whose weight is made for it: that lies as it does."""
    answer = convolution(question)
    assert answer is not None
    kernel = answer.input_layouts[1] if question.new is None else question.new[1]
    return answer._replace(input_layouts=[answer.input_layouts[0], kernel])


def dense(question: Question) -> Answer:
    return InferCorrectLayoutOutput([Layout("NC"), Layout("NC")], [Layout("NC")], question.attrs)


def dense_pack(question: Question) -> Answer:
    """The weight lies as the attribute says, features of data and result as always."""
    attrs = question.attrs
    assert attrs is not None
    kernel = Layout(attrs["weight_layout"])
    return InferCorrectLayoutOutput([Layout("NC"), kernel], [Layout("NC")], attrs)


def pool(question: Question) -> Answer:
    """It follows its data, unless it says in which layout the result is to lie."""
    attrs = question.attrs
    assert attrs is not None
    if attrs["out_layout"]:
        wanted = Layout(attrs["out_layout"])
        given = Layout(attrs["layout"])
        return InferCorrectLayoutOutput([given], [wanted], attrs)
    return _follow(question)


def resize(question: Question) -> Answer:
    """It follows its data, unless it was brought to another layout itself."""
    attrs = question.attrs
    assert attrs is not None
    own = Layout(attrs["layout"])
    if question.new is not None and question.old[0] != own:
        return InferCorrectLayoutOutput([own], [own], attrs)
    return _follow(question)


def _follow(question: Question) -> Answer:
    """The layout of the data is taken over where rows and columns are whole in it."""
    attrs = question.attrs
    assert attrs is not None
    own = Layout(attrs["layout"])
    if question.new is not None:
        wanted = question.new[0]
        if set(wanted.primal) == set(own.primal) and not any(wanted.splits(letter) for letter in "DHW"):
            attrs, own = attrs.replace(layout=wanted.name), wanted
    return InferCorrectLayoutOutput([own], [own], attrs)


def regions(question: Question) -> Answer:
    """`roi_align`, `roi_pool`: the image lies as the attributes say, a row is a region."""
    attrs = question.attrs
    assert attrs is not None
    own = Layout(attrs["layout"])
    return InferCorrectLayoutOutput([own, Layout("NI")], [own], attrs)


def layout_transform(question: Question) -> Answer:
    attrs = question.attrs
    assert attrs is not None
    parse_layout(attrs["src_layout"])
    return InferCorrectLayoutOutput([Layout(attrs["src_layout"])], [Layout(attrs["dst_layout"])], attrs)
