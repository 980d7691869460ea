"""Shared by the lowerings of convolutions.

`tvm.topi` has one function for each number of axes, layout and kind of groups, and lacks some combinations;
these lowerings support any layout and any number of groups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...te.library import te
from ...te.lowered import Lowered
from ...te.tensors import (
    Extent,
    Shape,
    Tensor,
    Value,
    View,
    cast,
    known,
    laid_out,
    narrowed,
    quotient,
    remainder,
)
from ..layout import LayoutMap


def axes_of_space(call: Lowered) -> str:
    """Return the letters of the spatial axes, as in layouts: "HW"."""
    return "".join([letter for letter in "DHW" if letter in call.attrs.data_layout])


def input_channel(o: Extent, c: Extent, groups: int, inputs: Any, outputs: Any) -> Extent:
    """Return the `c`-th input channel of the group that contains the output channel `o`.

    A group has `inputs` input channels and `outputs` output channels.
    """
    if groups == 1:
        return c
    group = quotient(o, outputs)
    return group if known(inputs) == 1 else group * inputs + c


def by_output(weight: View, channels: Any, groups: int) -> Callable[..., Value]:
    """Read a depthwise weight (input channels, outputs of each, kernel …) as (outputs, 1, kernel …)."""
    lead, each = known(weight.shape[0]), known(weight.shape[1])
    whole = weight.shape[0] is channels or (lead is not None and lead == known(channels))
    if groups == 1 or each == 1 or whole:
        return weight
    outputs: Extent | None = each
    if lead is None or outputs is None:  # becomes 1 if, at run time, the outputs are the weight's first axis
        outputs = te.floordiv(channels, te.max(weight.shape[0], 1))
    return lambda o, c, *u: weight(quotient(o, outputs), c + remainder(o, outputs), *u)


def product(a: Value, b: Value, dtype: str) -> Value:
    """Multiply in the element type `dtype`."""
    return cast(a, dtype) * cast(b, dtype)


def scaled(index: Value, factor: int) -> Value:
    """Multiply an index by a stride or a dilation."""
    return index if factor == 1 else index * factor


def added_up(shape: Shape, layout: LayoutMap, body: Callable[..., Value], dtype: str, name: str) -> Tensor:
    """Compute a tensor of sums in `layout`, and convert it to the element type `dtype`."""
    return narrowed(laid_out(shape, layout, body, name), dtype, name)
