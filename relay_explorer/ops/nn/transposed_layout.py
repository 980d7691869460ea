"""The layouts of transposed convolutions."""

from __future__ import annotations

from typing import Any as Anything

from .conv_rules import conv_layouts
from .layout import LayoutMap

_FIRST = {"OIW": "IOW", "OIDHW": "IODHW"}


def weight_layout(name: str) -> str:
    """Name the layout of a transposed convolution's weight so that I is the data's channels.

    The reference called the weight of the data's channels, the output's channels and the window "OIW" in one
    dimension and "OIDHW" in three, which its builders have as defaults, and "IOHW" in two.
    """
    return _FIRST.get(name, name)


def transposed_layouts(attrs: Anything, axes: str) -> tuple[LayoutMap, LayoutMap, LayoutMap]:
    """The layouts of data, weight and output of a transposed convolution along `axes`, such as "HW"."""
    named = attrs.replace(kernel_layout=weight_layout(attrs.kernel_layout))
    return conv_layouts(named, "NC" + axes, "IO" + axes)
