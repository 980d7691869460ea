"""The layouts of convolutions, and the layout rules of convolutions whose attributes name them."""

from __future__ import annotations

from typing import Any as Anything

from ...layouts.layout import Answer, InferCorrectLayoutOutput, Layout, Question
from ..layout import LayoutMap, layout_map


def conv_layouts(attrs: Anything, data_axes: str, kernel_axes: str) -> tuple[LayoutMap, LayoutMap, LayoutMap]:
    """Return the layouts of data, weight and output; the output has the data's layout where none is given."""
    return (
        layout_map(attrs.data_layout, data_axes),
        layout_map(attrs.kernel_layout, kernel_axes),
        layout_map(attrs.out_layout or attrs.data_layout, data_axes),
    )


_FIRST = {"OIW": "IOW", "OIDHW": "IODHW"}


def weight_layout(name: str) -> str:
    """Return the layout of a transposed convolution's weight, named so that I stands for the data's channels.

    TVM called a weight with the axes (data's channels, output's channels, window) "OIW" in one dimension and
    "OIDHW" in three, which are the defaults of its builders, but "IOHW" in two.
    """
    return _FIRST.get(name, name)


def transposed_layouts(attrs: Anything, axes: str) -> tuple[LayoutMap, LayoutMap, LayoutMap]:
    """Return the layouts of data, weight and output of a transposed convolution over `axes`, such as "HW"."""
    named = attrs.replace(kernel_layout=weight_layout(attrs.kernel_layout))
    return conv_layouts(named, "NC" + axes, "IO" + axes)


# -- layout rules


def follow_attributes(question: Question) -> Answer:
    """Require the layouts of data, weight and result that the attributes name."""
    attrs = question.attrs
    assert attrs is not None
    data, kernel = Layout(attrs["data_layout"]), Layout(attrs["kernel_layout"])
    result = Layout(attrs["out_layout"]) if attrs["out_layout"] else data
    if len(question.old) == 3:  # a deformable convolution: the offsets have the data's layout
        return InferCorrectLayoutOutput([data, data, kernel], [result], attrs)
    return InferCorrectLayoutOutput([data, kernel], [result], attrs)


def follow_transposed_attributes(question: Question) -> Answer:
    """Require layouts like `follow_attributes`, with the weight's axes named by their meaning, as in the type
    relations.
    """
    answer = follow_attributes(question)
    assert answer is not None
    data, kernel = answer.input_layouts
    assert kernel is not None
    return answer._replace(input_layouts=[data, Layout(weight_layout(kernel.name))])
