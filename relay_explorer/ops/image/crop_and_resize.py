"""`image.crop_and_resize`: crop boxes out of images and resize each to one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call
from ...ir.op import OpPattern, RelationError, size_of
from ...ir.show import show_shape
from ...ir.types import TensorType, Type
from ..arguments import Operand, static_ints
from ..examples import IMAGE, ints, t
from ..interpolate import Resizing, resized
from ..layouts.layout import NO_LAYOUT_RULE
from ..nn.layout import layout_map
from ..numeric import Array, element_type, np, numbers
from ..operator import call, operator
from ..relation import forward, integers, same_dim, tensor
from ..te.image import resized as resized_te
from ..te.lowered import Lowered
from ..te.places import inside
from ..te.tensors import Tensor, Value, View, dims, laid_out
from .shapes import canonical_shape, checked_size

__all__ = ["crop_and_resize"]


def _crop_and_resize(attrs: Anything, data: Type, boxes: Type, box_indices: Type) -> Type:
    x, shape, back = canonical_shape(data, attrs.layout, "NCHW")
    b, i = tensor(boxes, 1, "boxes"), integers(box_indices, 2, "box_indices")
    if len(b.shape) != 2 or not same_dim(b.shape[1], 4):
        raise RelationError(
            f"boxes has the shape {show_shape(b.shape)}, but a box is one row of 4 elements", culprits=(1,)
        )
    if len(i.shape) != 1 or not same_dim(i.shape[0], b.shape[0]):
        raise RelationError(
            f"there are {b.shape[0]} boxes, but box_indices has the shape {show_shape(i.shape)}",
            "give the index of its image for each box",
            culprits=(1, 2),
        )
    height, width = checked_size(attrs.crop_size, 2, "crop_size")
    return TensorType.of(back((b.shape[0], shape[1], height, width)), attrs.out_dtype or x.dtype)


def _resizing(attrs: Anything) -> Resizing:
    method = "linear" if attrs.method == "bilinear" else attrs.method
    # TensorFlow rounds halves away from zero, and positions in the image are not negative.
    return Resizing(
        method, "tf_crop_and_resize", "round_prefer_ceil", attrs.extrapolation_value, single_precision=True
    )


def _cropped(attrs: Anything, x: Array, boxes: Array, box_indices: Array) -> Array:
    mapped = layout_map(attrs.layout, "NCHW")
    images, size = mapped.unpack(x), attrs.crop_size or ()
    crops = np.zeros((len(boxes), images.shape[1], *size))
    for crop, box, image in zip(crops, boxes.tolist(), numbers(box_indices), strict=True):
        crop[:] = resized(_resizing(attrs), images[image][None], size, tuple(box))[0]
    return mapped.pack(crops.astype(element_type(attrs.out_dtype or x.dtype)))


def _crop_and_resize_te(call: Lowered) -> list[Tensor]:
    data, boxes, indices = call.inputs
    attrs, layout = call.attrs, layout_map(call.attrs.layout, "NCHW")
    view, resizing = View(data, layout), _resizing(attrs)

    def value(b: Value, c: Value, i: Value, j: Value) -> Value:
        def read(n: Value, channel: Value, *at: Value) -> Value:
            return view(inside(indices(b), view.shape[0]), channel, *at)

        def span(axis: int) -> tuple[Value, Value]:
            return boxes(b, axis), boxes(b, axis + 2)

        return resized_te(view, attrs.crop_size, resizing, read, span, call.out.dtype)(b, c, i, j)

    shape = (dims(boxes)[0], view.shape[1], *attrs.crop_size)
    return [laid_out(shape, layout, value, call.name)]


@operator(
    "image.crop_and_resize",
    description="Crops boxes out of images and interpolates each to one size.",
    formula=r"y_{b p} = \sum_q w(\mathit{box}_b(p) - q)\, x_{\mathit{indices}_b q}",
    family="image",
    level=5,
    relation=forward(
        "CropAndResize", "{out} = one image of `crop_size` for each box of {1}", _crop_and_resize
    ),
    pattern=OpPattern.INJECTIVE,
    flops=lambda attrs, inputs, output: 8 * size_of(output) if attrs.method == "bilinear" else 0,
    reference=_cropped,
    gradient=NotApplicable("there is no gradient rule for cropped boxes"),
    lowering=_crop_and_resize_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, t(3, 4, name="b"), ints(3), (4, 4), "NCHW"),
    lenient_in_tvm="It did not check the shapes of boxes and box_indices.",
)
def crop_and_resize(
    data: Operand,
    boxes: Operand,
    box_indices: Operand,
    crop_size: Annotated[
        Sequence[int], attr(None, "The rows and columns to which every box is resized.", kind="Ints | None")
    ],
    layout: Annotated[str, attr("NCHW", "The layout of data and result.")],
    method: Annotated[str, attr("bilinear", '"nearest_neighbor" or "bilinear".')] = "bilinear",
    extrapolation_value: Annotated[float, attr(0.0, "The value outside the image.")] = 0,
    out_dtype: Annotated[
        object, attr(None, "The element type of the result; None is the data's.", kind="DType | None")
    ] = None,
) -> Call:
    """Crop the box in each row (y1, x1, y2, x2, from 0 to 1) of `boxes` out of its image, and
    resize it to `crop_size`.
    """
    return call(
        "image.crop_and_resize",
        [data, boxes, box_indices],
        crop_size=static_ints(crop_size, "crop_size"),
        layout=layout,
        method=method,
        extrapolation_value=extrapolation_value,
        out_dtype=out_dtype,
    )
