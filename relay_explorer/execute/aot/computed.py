"""Operators that compute the sizes of their results from data, ahead of time. Each is a C function
(numbers.c, computed.c, picked.c, searched.c, resampled.c) that allocates its results itself. This module
writes, as C, what such a function takes after the operator's arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Function, Var
from ...ir.op import Op
from ...ir.types import TensorType, TupleType, Type
from .names import Naming, dtype_parts

if TYPE_CHECKING:
    from ...ops.nn.layout import LayoutMap

# The C file, the function, what it takes after the operator's arguments, and further operator arguments.
Given = tuple[str, str, list[str]] | tuple[str, str, list[str], list[str]]
MAX_AXES = 64
_NUMBERS = {
    "bool", "float16", "float32", "float64", "bfloat16",
    *[f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)],
}  # fmt: skip


def computed_call(function: Function, registers: Sequence[int], names: Naming) -> tuple[str, int] | None:
    """Return the C call of a kernel whose operator computes the sizes of its results, up to its last
    parenthesis, and the number of results. Arguments are in `registers`. None where C has no such operator.
    """
    call = function.body
    if not isinstance(call, Call) or not isinstance(call.op, Op) or call.op.name not in _CALLS:
        return None
    params = list(function.params)
    if not all(isinstance(arg, (Var, Constant)) for arg in call.args):
        return None
    result_type = call.checked_type
    types = [*result_type.fields] if isinstance(result_type, TupleType) else [result_type]
    tensors = [arg.checked_type for arg in call.args]
    if not all(map(_is_supported, [*types, *tensors])):
        return None
    arguments = []
    for arg in call.args:
        if isinstance(arg, Constant):
            arguments.append(f"&{names.constant(arg.data)}.head")
        else:
            arguments.append(f"r[{registers[next(k for k, p in enumerate(params) if p is arg)]}]")
    file, name, rest, *more = _CALLS[call.op.name](call, types, names)
    arguments += more[0] if more else ()
    names.parts.update(dict.fromkeys(("numbers.c", "computed.c", file)))
    start = ", ".join(["m", f"(Object *const[]){{{', '.join(arguments)}}}", "made", *rest])
    return f"{name}({start}", len(types)


def _is_supported(type_: Type) -> bool:
    return isinstance(type_, TensorType) and type_.dtype in _NUMBERS and len(type_.shape) <= MAX_AXES


def c_type(dtype: str) -> str:
    """Return DLPack's description of an element type as a C literal."""
    code, bits = dtype_parts(dtype)
    return f"(Type){{{code}, {bits}, 1}}"


def _rank(type_: Type) -> int:
    assert isinstance(type_, TensorType)
    return len(type_.shape)


def _dtype(type_: Type) -> str:
    assert isinstance(type_, TensorType)
    return c_type(type_.dtype)


def _reshape(call: Call, result: Sequence[Type], names: Naming) -> Given:
    return "computed.c", "dyn_reshape", [str(_rank(result[0])), str(int(_attrs(call).allowzero))]


def _expand_dims(call: Call, result: Sequence[Type], names: Naming) -> Given:
    return "computed.c", "dyn_expand_dims", [str(_rank(result[0])), str(_attrs(call).num_newaxis)]


def _squeeze(call: Call, result: Sequence[Type], names: Naming) -> Given:
    return "computed.c", "dyn_squeeze", [str(_rank(result[0]))]


def _full(call: Call, result: Sequence[Type], names: Naming) -> Given:
    return "computed.c", "dyn_full", ['"dyn.full"', _dtype(result[0]), "1"]


def _filled(name: str, value: int) -> Callable[[Call, Sequence[Type], Naming], Given]:
    def call_of(call: Call, result: Sequence[Type], names: Naming) -> Given:
        fill = f"&{names.scalar(value, 'int32')}.head"
        return "computed.c", "dyn_full", [f'"{name}"', _dtype(result[0]), "0"], [fill]

    return call_of


def _arange(call: Call, result: Sequence[Type], names: Naming) -> Given:
    return "computed.c", "arange", [_dtype(result[0])]


def _one_hot(call: Call, result: Sequence[Type], names: Naming) -> Given:
    axis = _attrs(call).axis % _rank(result[0])
    return "computed.c", "dyn_one_hot", [_dtype(result[0]), str(axis)]


def _strided_slice(call: Call, result: Sequence[Type], names: Naming) -> Given:
    return "picked.c", "dyn_strided_slice", [str(int(_attrs(call).slice_mode == "size"))]


def _pad(call: Call, result: Sequence[Type], names: Naming) -> Given:
    modes = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECT"}
    return "picked.c", "dyn_nn_pad", [_one_of(modes, _attrs(call).pad_mode, "pad_mode", call)]


def _topk(call: Call, result: Sequence[Type], names: Naming) -> Given:
    attrs = _attrs(call)
    both = {"values": 0, "indices": 1, "both": 2}[attrs.ret_type]
    rest = [_dtype(result[-1]), attrs.axis % _rank(result[0]), int(attrs.is_ascend), both]
    return "searched.c", "dyn_topk", list(map(str, rest))


def _plain(file: str, name: str) -> Callable[[Call, Sequence[Type], Naming], Given]:
    return lambda call, value, names: (file, name, [])


# -- resizing

_METHODS = {
    "nearest_neighbor": "NEAREST", "linear": "LINEAR", "bilinear": "LINEAR", "trilinear": "LINEAR",
    "cubic": "CUBIC", "bicubic": "CUBIC",
}  # fmt: skip
_MODES = {
    name: name.upper()
    for name in (
        "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn",
        "tf_crop_and_resize",
    )
}  # fmt: skip
_ROUNDINGS = {
    name: name.upper() for name in ("round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
}


def _resize(call: Call, result: Sequence[Type], names: Naming) -> Given:
    attrs = _attrs(call)
    mode, default = attrs.coordinate_transformation_mode, "floor"
    default = "round" if mode == "align_corners" else "floor"
    sampling = _sampling(call, attrs.method, mode, attrs.rounding_method or default, attrs)
    return "resampled.c", "dyn_image_resize2d", [_dtype(result[0]), sampling, _layout(attrs.layout, "NCHW")]


def _upsampling(call: Call, result: Sequence[Type], names: Naming) -> Given:
    attrs = _attrs(call)
    assert isinstance(call.op, Op)
    volume = call.op.name.endswith("3d")
    if volume:
        mode = attrs.coordinate_transformation_mode
    else:
        mode = "align_corners" if attrs.align_corners else "asymmetric"
    sampling = _sampling(call, attrs.method, mode, "round" if mode == "align_corners" else "floor")
    layout = _layout(attrs.layout, "NCDHW" if volume else "NCHW")
    return "resampled.c", "enlarged", [f'"{call.op.name}"', str(2 + volume), sampling, layout]


def _sampling(call: Call, method: str, mode: str, rounding: str, attrs: Any = None) -> str:
    parts = [
        _one_of(_METHODS, method, "method", call),
        _one_of(_MODES, mode, "coordinate_transformation_mode", call),
        _one_of(_ROUNDINGS, rounding, "rounding_method", call),
        repr(float(attrs.cubic_alpha if attrs else -0.5)),
        str(int(bool(attrs and attrs.cubic_exclude))),
        repr(float(attrs.extrapolation_value if attrs else 0))
        .replace("inf", "INFINITY")
        .replace("nan", "NAN"),
    ]
    return f"&(How){{{', '.join(parts)}}}"


def _layout(name: str, canonical: str) -> str:
    from ...ops.nn.layout import layout_map

    layout: LayoutMap = layout_map(name, canonical)
    of = ", ".join(str(canonical.index(letter.upper())) for letter, _ in layout.axes)
    within = ", ".join(str(int(letter.islower())) for letter, _ in layout.axes)
    return f"&(Layout){{{layout.rank}, {{{of}}}, {{{', '.join(map(str, layout.steps))}}}, {{{within}}}}}"


def _one_of(codes: Mapping[str, str], name: str, what: str, call: Call) -> str:
    if name in codes:
        return codes[name]
    raise RelayError(f'unknown {what} "{name[:40]}"', call.span)


def _attrs(call: Call) -> Any:
    return call.attrs


_CALLS: Mapping[str, Callable[[Call, Sequence[Type], Naming], Given]] = {
    "arange": _arange,
    "argwhere": _plain("searched.c", "argwhere"),
    "collapse_sum_to": _plain("searched.c", "collapse_sum_to"),
    "dyn.broadcast_to": _plain("picked.c", "dyn_broadcast_to"),
    "dyn.expand_dims": _expand_dims,
    "dyn.full": _full,
    "dyn.image.resize2d": _resize,
    "dyn.nn.pad": _pad,
    "dyn.nn.upsampling": _upsampling,
    "dyn.nn.upsampling3d": _upsampling,
    "dyn.one_hot": _one_hot,
    "dyn.ones": _filled("dyn.ones", 1),
    "dyn.reshape": _reshape,
    "dyn.sparse_to_dense": _plain("searched.c", "dyn_sparse_to_dense"),
    "dyn.squeeze": _squeeze,
    "dyn.strided_slice": _strided_slice,
    "dyn.tile": _plain("picked.c", "dyn_tile"),
    "dyn.topk": _topk,
    "dyn.zeros": _filled("dyn.zeros", 0),
    "sparse_fill_empty_rows": _plain("searched.c", "sparse_fill_empty_rows"),
}
