"""Operators whose result's shape is computed by the program: their extents are `?`, only the rank is known.

There are no builders of their own: `relay.reshape(x, shape)` calls `dyn.reshape` where `shape` is an
expression that is not a constant, and so do the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from ..ir.attrs import Attrs, attr
from ..ir.op import Compute, Op, OpPattern, RelationError, no_flops
from ..ir.types import Shape, TensorType, TupleType, Type
from .arange import OneHotAttrs
from .axes import ExpandDimsAttrs, SqueezeAttrs
from .copies import TileAttrs
from .create import InitOpAttrs
from .declare import declare
from .image.resize import Resize2DAttrs
from .numeric import Array, numbers
from .relation import UNKNOWN, check_rank, forward, integers, normal_axis, scalar, tensor, vector_length
from .reshape import ReshapeAttrs
from .slice import StridedSliceAttrs
from .sort import TopKAttrs

__all__ = []


def _unknown(rank: int) -> Shape:
    return (UNKNOWN,) * check_rank(rank)


def _reshape(attrs: ReshapeAttrs, data: Type, newshape: Type) -> Type:
    return TensorType.of(_unknown(vector_length(newshape, 1, "newshape")), tensor(data, 0, "data").dtype)


def _broadcast_to(attrs: InitOpAttrs, data: Type, shape: Type) -> Type:
    x, rank = tensor(data, 0, "data"), vector_length(shape, 1, "shape")
    if rank < len(x.shape):
        raise RelationError(
            f"the data has {len(x.shape)} axes, more than the {rank} that it is broadcast to", culprits=(0, 1)
        )
    return TensorType.of(_unknown(rank), x.dtype)


def _init(attrs: InitOpAttrs, shape: Type) -> Type:
    if not attrs.dtype:
        raise RelationError("the element type is missing", 'give it: dtype="float32"')
    return TensorType.of(_unknown(vector_length(shape, 0, "shape")), attrs.dtype)


def _full(attrs: InitOpAttrs, fill_value: Type, shape: Type) -> Type:
    fill = scalar(fill_value, 0, "fill_value")
    return TensorType.of(_unknown(vector_length(shape, 1, "shape")), attrs.dtype or fill.dtype)


def _tile(attrs: TileAttrs, data: Type, reps: Type) -> Type:
    x = tensor(data, 0, "data")
    return TensorType.of(_unknown(max(len(x.shape), vector_length(reps, 1, "reps"))), x.dtype)


def _one_hot(attrs: OneHotAttrs, indices: Type, on_value: Type, off_value: Type, depth: Type) -> Type:
    where, on = integers(indices, 0, "indices"), scalar(on_value, 1, "on_value")
    scalar(off_value, 2, "off_value")
    integers(scalar(depth, 3, "depth"), 3, "depth")
    axis = normal_axis(attrs.axis, len(where.shape) + 1, "one_hot")
    return TensorType.of((*where.shape[:axis], UNKNOWN, *where.shape[axis:]), attrs.dtype or on.dtype)


def _topk(attrs: TopKAttrs, data: Type, k: Type) -> Type:
    x, number = tensor(data, 0, "data"), integers(k, 1, "k")
    if number.shape not in ((), (1,)):
        raise RelationError(f"k must be one integer, not {number}", culprits=(1,))
    axis = normal_axis(attrs.axis, len(x.shape), "topk")
    if attrs.ret_type not in ("both", "values", "indices"):
        raise RelationError(f'ret_type is "{attrs.ret_type:.20}", but it is "both", "values" or "indices"')
    shape = (*x.shape[:axis], UNKNOWN, *x.shape[axis + 1 :])
    values, indices = TensorType.of(shape, x.dtype), TensorType.of(shape, attrs.dtype or "int32")
    return {"both": TupleType([values, indices]), "values": values, "indices": indices}[attrs.ret_type]


def _strided_slice(attrs: StridedSliceAttrs, data: Type, begin: Type, end: Type, strides: Type) -> Type:
    x = tensor(data, 0, "data")
    lengths = [
        vector_length(bound, n, name)
        for n, (name, bound) in enumerate(zip(("begin", "end", "strides"), (begin, end, strides)), 1)
    ]
    cut = max(lengths)
    if cut > len(x.shape):
        raise RelationError(f"the slice names {cut} axes, but the tensor has {len(x.shape)}", culprits=(0,))
    return TensorType.of(_unknown(cut) + x.shape[cut:], x.dtype)


class DynExpandDimsAttrs(Attrs, key="relay.attrs.DynExpandDimsAttrs"):
    num_newaxis: int = attr(1, "How many axes of extent 1 are inserted.")


def _expand_dims(attrs: DynExpandDimsAttrs, data: Type, axis: Type) -> Type:
    x = tensor(data, 0, "data")
    integers(scalar(axis, 1, "axis"), 1, "axis")
    if attrs.num_newaxis < 0:
        raise RelationError(f"num_newaxis is {attrs.num_newaxis}, but it cannot be negative")
    return TensorType.of(_unknown(len(x.shape) + attrs.num_newaxis), x.dtype)


def _squeeze(attrs: SqueezeAttrs, data: Type, axis: Type) -> Type:
    x, dropped = tensor(data, 0, "data"), vector_length(axis, 1, "axis")
    if dropped > len(x.shape):
        raise RelationError(f"{dropped} axes are dropped, but the tensor has {len(x.shape)}", culprits=(0, 1))
    return TensorType.of(_unknown(len(x.shape) - dropped), x.dtype)


def _resize2d(attrs: Resize2DAttrs, data: Type, size: Type, roi: Type) -> Type:
    from .nn.layout import layout_map  # nn stands below this file

    x = tensor(data, 0, "data")
    mapped = layout_map(attrs.layout, "NCHW")
    extents = tensor(size, 1, "size")  # of any element type, as in TVM
    if len(extents.shape) != 1 or extents.shape[0] != 2:
        raise RelationError("size must be two integers: rows and columns", culprits=(1,))
    tensor(roi, 2, "roi")
    shape = mapped.forward(x.shape, 0, "data")
    return TensorType.of(mapped.backward((*shape[:2], UNKNOWN, UNKNOWN)), attrs.out_dtype or x.dtype)


def _with(operator: str, attr: str, at: int = 1, *, single: bool = False) -> Compute:
    """The meaning of `operator`, to which argument number `at` gives its attribute `attr`: a vector, or a
    `single` integer.
    """

    def compute(attrs: Attrs, *values: Array) -> Anything:
        given = numbers(values[at])
        known = attrs.replace(**{attr: given[0] if single else given})
        return _static(operator, known, *values[:at], *values[at + 1 :])

    return compute


def _static(operator: str, attrs: Attrs, *values: Array) -> Anything:
    meaning = Op.get(operator).compute
    assert meaning is not None
    return meaning(attrs, *values)


def _cut(attrs: StridedSliceAttrs, x: Array, begin: Array, end: Array, strides: Array) -> Anything:
    bounds = {"begin": numbers(begin), "end": numbers(end), "strides": numbers(strides)}
    return _static("strided_slice", attrs.replace(**bounds), x)


def _with_ones(attrs: DynExpandDimsAttrs, x: Array, axis: Array) -> Anything:
    known = ExpandDimsAttrs(axis=axis.item(), num_newaxis=attrs.num_newaxis)
    return _static("expand_dims", known, x)


def _resized(attrs: Resize2DAttrs, x: Array, size: Array, roi: Array) -> Anything:
    if size.min() < 1:
        raise ValueError(f"size is {size.tolist()}, but every extent must be at least 1")
    whole = numbers(size.astype("int64"))
    return _static("image.resize2d", attrs.replace(size=whole, roi=roi.reshape(-1).tolist()), x)


def _dynamic(
    name: str,
    inputs: Sequence[str],
    description: str,
    relation_formula: str,
    result: Callable[..., Type],
    attrs: type[Attrs],
    compute: Compute,
    *,
    pattern: OpPattern = OpPattern.INJECTIVE,
    family: str = "shape",
    level: int = 3,
) -> None:
    relation = forward(
        "Dynamic" + "".join(word.title() for word in name.replace(".", "_").split("_")),
        relation_formula,
        result,
    )
    declare(
        f"dyn.{name}",
        description,
        formula=_FORMULAS[name],
        relation=relation,
        inputs=tuple(inputs),
        attrs=attrs,
        pattern=pattern,
        flops=no_flops,
        compute=compute,
        family=family,
        level=level,
        lenient_in_tvm="It took shapes, counts and places of any element type.",
        gradient=_GRADIENTS.get(name, ""),
        lowering="host",
    )


_FORMULAS: dict[str, Anything] = {
    "reshape": r"y[k] = x[k] \text{ for every place } k \text{ in row-major order}",
    "broadcast_to": r"y_{i_0 i_1 \dots} = x_{i_0 \bmod n_0\, i_1 \bmod n_1 \dots}",
    "zeros": r"y_i = 0",
    "ones": r"y_i = 1",
    "full": r"y_i = v",
    "tile": r"y_i = x_{i \bmod n}",
    "one_hot": r"y_{i d} = \begin{cases} v_{\mathrm{on}} & d = x_i \\ v_{\mathrm{off}} & d \ne x_i"
    r"\end{cases}",
    "topk": r"y = (x_{\pi(0)}, \dots, x_{\pi(k - 1)}), \quad x_{\pi(i)} \ge x_{\pi(i + 1)}",
    "strided_slice": r"y_i = x_{\mathit{begin} + i \cdot \mathit{stride}}",
    "expand_dims": r"y_{\dots 1 \dots} = x_{\dots}",
    "squeeze": r"y_{\dots} = x_{\dots 1 \dots}",
    "image.resize2d": r"y_p = \sum_q w(p \cdot n / m - q)\, x_q",
}
# Of those that have one: as the operator's whose shape is known.
_GRADIENTS = {
    "reshape": "shape.reshaped",
    "broadcast_to": "shape.broadcast",
    "zeros": "elementwise.none",
    "ones": "elementwise.none",
    "full": "shape.filled",
    "tile": "shape.moved",
    "one_hot": "indexing.one_hot",
    "topk": "indexing.topk",
    "strided_slice": "shape.moved",
    "expand_dims": "shape.reshaped",
    "squeeze": "shape.reshaped",
}
_RANK = "{out} has as many axes as {1} has elements"
_dynamic(
    "reshape",
    ("data", "newshape"),
    "Like reshape, to a shape that the program computes.",
    _RANK,
    _reshape,
    ReshapeAttrs,
    _with("reshape", "newshape"),
)
_dynamic(
    "broadcast_to",
    ("data", "shape"),
    "Like broadcast_to, to a shape that the program computes.",
    _RANK,
    _broadcast_to,
    InitOpAttrs,
    _with("broadcast_to", "shape"),
)
_RANK0 = "{out} has as many axes as {0} has elements"
_dynamic(
    "zeros",
    ("shape",),
    "Zeros, in a shape that the program computes.",
    _RANK0,
    _init,
    InitOpAttrs,
    _with("zeros", "shape", 0),
    family="creation",
)
_dynamic(
    "ones",
    ("shape",),
    "Ones, in a shape that the program computes.",
    _RANK0,
    _init,
    InitOpAttrs,
    _with("ones", "shape", 0),
    family="creation",
)
_dynamic(
    "full",
    ("fill_value", "shape"),
    "One number everywhere, in a shape that the program computes.",
    _RANK,
    _full,
    InitOpAttrs,
    _with("full", "shape"),
    pattern=OpPattern.ELEMWISE,
    family="creation",
)
_dynamic(
    "tile", ("data", "reps"), "Like tile, as often as the program computes.",
    "{out} has as many axes as {0} or as {1} has elements", _tile, TileAttrs, _with("tile", "reps"),
)  # fmt: skip
_dynamic(
    "one_hot",
    ("indices", "on_value", "off_value", "depth"),
    "Like one_hot, with a depth that the program computes.",
    "{out} = {0} with an axis of ?",
    _one_hot,
    OneHotAttrs,
    _with("one_hot", "depth", 3, single=True),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    family="creation",
)
_dynamic(
    "topk",
    ("data", "k"),
    "Like topk, with a k that the program computes.",
    "{out} = {0} with `axis` ?",
    _topk,
    TopKAttrs,
    _with("topk", "k", single=True),
    pattern=OpPattern.OPAQUE,
    family="index",
    level=6,
)
_dynamic(
    "strided_slice",
    ("data", "begin", "end", "strides"),
    "Like strided_slice, between places that the program computes.",
    "{out} = {0} with every axis that is cut ?",
    _strided_slice,
    StridedSliceAttrs,
    _cut,
    family="index",
)
_dynamic(
    "expand_dims", ("data", "axis"), "Like expand_dims, at a place that the program computes.",
    "{out} = {0} with more axes, all of them ?", _expand_dims, DynExpandDimsAttrs, _with_ones,
)  # fmt: skip
_dynamic(
    "squeeze",
    ("data", "axis"),
    "Like squeeze, of axes that the program computes.",
    "{out} has as many axes fewer than {0} as {1} has elements",
    _squeeze,
    SqueezeAttrs,
    _with("squeeze", "axis"),
)
_dynamic(
    "image.resize2d", ("data", "size", "roi"), "Like image.resize2d, to a size that the program computes.",
    "{out} = {0} with rows and columns ?", _resize2d, Resize2DAttrs, _resized, family="image",
)  # fmt: skip
