"""The gradient of operators that resize images: along each axis, resizing is a product with a matrix."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.declaration import Gradient
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr
from ...ir.ndarray import NDArray
from ...ir.op import Op
from ...ir.typed import tensor_type
from ..calls import relay
from ..gradient_tools import extents
from ..nn.layout import layout_map


def _resized(call: Call, grad: Expr) -> list[Expr]:
    """Multiply the derivative, along each axis, by the transpose of the matrix that resizes the axis. The
    operator itself computes the matrix, from the unit vectors.
    """
    (x,) = call.args
    attrs: Anything = call.attrs
    if getattr(attrs, "coordinate_transformation_mode", "") == "tf_crop_and_resize":
        raise RelayError(
            f"the gradient of `{call.op}` does not support regions of interest (tf_crop_and_resize)",
            call.span,
            help=["take the region with strided_slice, and resize that"],
        )
    axes = "".join(letter for letter in "DHW" if letter in attrs.layout)
    before, after = (_shape_in(e, attrs.layout, "NC" + axes) for e in (x, call))
    value = grad if attrs.layout == "NC" + axes else relay.layout_transform(grad, attrs.layout, "NC" + axes)
    rank, dtype = len(before), tensor_type(x).dtype
    for axis in range(2, rank):
        matrix = _matrix(call, axes, axis, before[axis], after[axis], dtype)
        order = [*[a for a in range(rank) if a != axis], axis]
        value = relay.nn.dense(relay.transpose(value, order), matrix)
        value = relay.transpose(value, sorted(range(rank), key=order.__getitem__))
    return [
        value if attrs.layout == "NC" + axes else relay.layout_transform(value, "NC" + axes, attrs.layout)
    ]


def _matrix(call: Call, axes: str, axis: int, extent: int, length: int, dtype: str) -> Constant:
    """Return the matrix (extent, length) whose element (i, j) is the weight of element i of the axis in
    element j of the resized one.
    """
    import numpy

    attrs: Anything = call.attrs
    assert isinstance(call.op, Op)
    assert call.op.reference is not None
    shape = [1] * (2 + len(axes))
    shape[0] = shape[axis] = extent
    replaced: dict[str, Anything] = {"layout": "NC" + axes}
    if hasattr(attrs, "size"):
        replaced["size"] = [length if a == axis else 1 for a in range(2, 2 + len(axes))]
    else:
        scales = {f"scale_{letter.lower()}": 1.0 for letter in axes}
        name = f"scale_{axes[axis - 2].lower()}"
        replaced |= {**scales, name: attrs[name]}
    units = numpy.eye(extent, dtype=dtype).reshape(shape)
    columns = call.op.reference(attrs.replace(**replaced), units)
    return Constant(NDArray.from_numpy(columns.reshape(extent, length)))


def _shape_in(value: Expr, now: str, then: str) -> list[int]:
    shape = layout_map(now, then).forward(extents(value, "the gradient of a resized image"), 0, "it")
    return [dim for dim in shape if isinstance(dim, int)]


RESIZED = Gradient("dx = Aᵀ dy along each axis, where y = A x is the resizing of that axis", _resized)
