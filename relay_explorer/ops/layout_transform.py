"""The operator that rearranges a tensor into another layout."""

from __future__ import annotations

from typing import Annotated
from typing import Any as Anything

from ..ir.attrs import required
from ..ir.declaration import Precision, Trait
from ..ir.expr import Call
from ..ir.op import OpPattern, no_flops
from ..ir.types import TensorType, Type
from .arguments import Operand
from .examples import IMAGE
from .gradient_tools import MOVED
from .layouts.layout import Answer, InferCorrectLayoutOutput, Layout, Question
from .nn.layout import LayoutMap, layout_map, parse_layout
from .numeric import Array
from .operator import operator
from .relation import forward, tensor
from .te.lowered import Lowered
from .te.tensors import Tensor, View, laid_out

__all__ = ["layout_transform"]


def _maps(attrs: Anything) -> tuple[LayoutMap, LayoutMap]:
    """Return maps from both layouts to one order of unsplit axes, that of the source."""
    canonical = "".join(letter for letter, _ in parse_layout(attrs.src_layout) if letter.isupper())
    return layout_map(attrs.src_layout, canonical), layout_map(attrs.dst_layout, canonical)


def _layout_transform(attrs: Anything, data: Type) -> Type:
    x = tensor(data, 0, "data")
    source, target = _maps(attrs)
    return TensorType.of(target.backward(source.forward(x.shape, 0, "data")), x.dtype)


def _layout_transform_reference(attrs: Anything, x: Array) -> Array:
    source, target = _maps(attrs)
    return target.pack(source.unpack(x))


def _layout_transform_te(lowered: Lowered) -> list[Tensor]:
    """Lower a layout transform whose blocks divide the axes, because the type relation refuses others."""
    source, target = _maps(lowered.attrs)
    view = View(lowered.inputs[0], source)
    return [laid_out(view.shape, target, view, lowered.name)]


def _layout_transform_layout(question: Question) -> Answer:
    attrs = question.attrs
    assert attrs is not None
    return InferCorrectLayoutOutput([Layout(attrs["src_layout"])], [Layout(attrs["dst_layout"])], attrs)


@operator(
    "layout_transform",
    description="Rearranges a tensor from one layout into another, which may split axes into blocks.",
    formula=r"y_{n\, c / 16\, h\, w\, c \bmod 16} = x_{n\, c\, h\, w} \quad \text{for NCHW to NCHW16c}",
    family="shape",
    level=5,
    relation=forward("LayoutTransform", "{out} = {0} in the layout `dst_layout`", _layout_transform),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_layout_transform_reference,
    gradient=MOVED,
    lowering=_layout_transform_te,
    layout=_layout_transform_layout,
    precision=Precision.UNLISTED,
    traits={Trait.TRANSPOSE},
    example=lambda build: build(IMAGE, "NCHW", "NCHW2c"),
)
def layout_transform(
    data: Operand,
    src_layout: Annotated[str, required('The layout that the tensor has, such as "NCHW".')],
    dst_layout: Annotated[str, required('The layout of the result, such as "NCHW16c".')],
) -> Call:
    """Rearrange `data`, which has the layout `src_layout`, into `dst_layout`."""
