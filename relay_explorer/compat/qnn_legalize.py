"""The legalizations of quantized layers for the targets that old code names: `relay.qnn.transform.Legalize`.

They choose the element types that a processor multiplies fast, by the target of the innermost `with`:

* x86 with 8-bit products (from SSE 4.2 on): uint8 data and int8 weights.
* ARM with dot products: data and weights of one type.
* CUDA: int8 data and weights.
* other processors: both are cast to int16, without their zero points, for the plain operator.
* Hexagon: the units of a dense layer are padded to a multiple of 32.

And for `relay.transform.Legalize`: a `clip` to the whole range of the `qnn.requantize` before it is dropped.

This package's own compiler does not need them (see `transform.qnn.legalize`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.attrs import Attrs
from ..ir.expr import Call, Constant, Expr, const
from ..ir.op import PROPERTIES, Op
from ..ir.types import TensorType, Type
from ..ops import namespaces as relay
from ..transform.fake_quantization.affine import limits
from ..transform.qnn import QnnLegalize as Legalize
from ..transform.qnn.legalize import PROPERTY
from ..transform.tools.typed_rewrite import call
from .devices import Target

__all__ = ["Legalize", "is_fast_int8_on_intel", "with_element_types", "with_int16"]

Legalization = Callable[[Any, Sequence[Expr], Sequence[Type]], "Expr | None"]
HALF_OF_RANGE = 128  # the difference between the two 8-bit types
HEXAGON_UNITS = 32


def is_fast_int8_on_intel() -> bool:
    """Whether the current target is an x86 processor with fast products of 8-bit integers."""
    target = Target.current()
    cpu = "" if target is None else str(target.attrs.get("mcpu", ""))
    if not cpu:
        return False
    from importlib import import_module

    from ..lower.require import tvm

    described = tvm().target.Target({"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": cpu})
    return bool(import_module("tvm.target.codegen").target_has_features("sse4.2", described))


def _shifted(data: Expr, zero_point: Expr, dtype: str) -> tuple[Expr, Expr]:
    """Convert 8-bit integers to the other 8-bit type, with their zero point: both move by half a range."""
    shift = HALF_OF_RANGE if dtype == "uint8" else -HALF_OF_RANGE
    moved = relay.cast(relay.add(relay.cast(data, "int32"), const(shift)), dtype)
    if isinstance(zero_point, Constant):
        return moved, const(zero_point.data.numpy() + shift, "int32")
    return moved, relay.add(zero_point, const(shift))


def with_element_types(
    operator: str, attrs: Attrs, inputs: Sequence[Expr], types: Sequence[Any], data: str, weight: str
) -> Expr | None:
    """Convert data and weight of a layer to these 8-bit types; None where they have them already."""
    operands = list(inputs)
    for index, dtype in enumerate((data, weight)):
        if types[index].dtype != dtype:
            operands[index], operands[index + 2] = _shifted(operands[index], operands[index + 2], dtype)
    return None if operands == list(inputs) else Call(Op.get(operator), operands, attrs)


def with_int16(operator: str, attrs: Attrs, inputs: Sequence[Expr], types: Sequence[Any]) -> Expr:
    """Compute a layer by the plain operator, on int16 numbers without zero points: all differences fit."""
    data, weight, data_zero, weight_zero = inputs[:4]
    wide = [relay.cast(operand, "int16") for operand in (data, weight, data_zero, weight_zero)]
    if types[3].shape not in ((), (1,)):
        layout = getattr(attrs, "kernel_layout", "O")  # the units of a dense layer come first
        shape = [1] * len(types[1].shape)
        shape[layout.index("O")] = -1
        wide[3] = relay.reshape(wide[3], shape)
    return Call(Op.get(operator), [relay.subtract(wide[0], wide[2]), relay.subtract(wide[1], wide[3])], attrs)


def _on_arm(quantized: str, plain: str, target: Target) -> Legalization:
    features = str(target.attrs.get("mattr", ""))

    def legalize(attrs: Any, inputs: Sequence[Expr], types: Sequence[Any]) -> Expr | None:
        fast = "dotprod" in features or ("data_layout" in attrs and _is_whole_nhwc(attrs, types))
        if not fast:
            return with_int16(plain, attrs, inputs, types)
        dtype = types[1].dtype
        return with_element_types(quantized, attrs, inputs, types, dtype, dtype)

    return legalize


def _is_whole_nhwc(attrs: Attrs, types: Sequence[TensorType]) -> bool:
    """Whether a convolution is not depthwise, and has its channels last."""
    depthwise = attrs["groups"] > 1 and attrs["groups"] == types[0].shape[3]
    return bool(attrs["data_layout"] == "NHWC" and not depthwise)


def _chosen(quantized: str, plain: str) -> Legalization:
    """Return the legalization of an operator, which looks for the current target when it is applied."""

    def legalize(attrs: Any, inputs: Sequence[Expr], types: Sequence[Any]) -> Expr | None:
        target = Target.current()
        kind = "" if target is None else str(target.kind)
        if target is None:
            return None
        if kind == "hexagon":
            return _padded_units(attrs, inputs, types) if plain == "nn.dense" else None
        if kind in ("cuda", "rocm"):
            return with_element_types(quantized, attrs, inputs, types, "int8", "int8")
        if str(target.attrs.get("device", "")) == "arm_cpu":
            return _on_arm(quantized, plain, target)(attrs, inputs, types)
        if kind != "llvm":
            return None
        if is_fast_int8_on_intel():
            return with_element_types(quantized, attrs, inputs, types, "uint8", "int8")
        return with_int16(plain, attrs, inputs, types)

    return legalize


def _padded_units(attrs: Attrs, inputs: Sequence[Expr], types: Sequence[TensorType]) -> Expr | None:
    """Pad the weight of a dense layer with units that are cut off again."""
    units = types[1].shape[0]
    if not isinstance(units, int) or units % HEXAGON_UNITS == 0:
        return None
    more = -units % HEXAGON_UNITS
    data, weight, data_zero, weight_zero, data_scale, weight_scale = inputs
    if types[3].shape:
        weight_zero = _extended(weight_zero, more, 0, "int32")
    if types[5].shape:
        weight_scale = _extended(weight_scale, more, 1, "float32")
    padded = relay.nn.pad(weight, ((0, more), (0, 0)))
    operands = [data, padded, data_zero, weight_zero, data_scale, weight_scale]
    wide = Call(Op.get("qnn.dense"), operands, attrs.replace(units=units + more))
    lead = list(types[0].shape[:-1])
    return call(
        "strided_slice", wide, begin=[0] * (len(lead) + 1), end=[*lead, units], strides=[1],
        slice_mode="end", axes=None,
    )  # fmt: skip


def _extended(vector: Expr, more: int, value: int, dtype: str) -> Expr:
    """Append equal elements to a scale or zero point; a constant stays one."""
    import numpy

    added = numpy.full(more, value, dtype)
    if isinstance(vector, Constant):
        return const(numpy.append(vector.data.numpy(), added), dtype)
    return relay.concatenate([vector, const(added, dtype)], 0)


def _without_clip(attrs: Any, inputs: Sequence[Expr], types: Sequence[Any]) -> Expr | None:
    """Drop a clip of requantized numbers that saturate at its bounds, or before."""
    (source,) = inputs
    if not (isinstance(source, Call) and source.op is Op.get("qnn.requantize")):
        return None
    low, high = limits(types[0].dtype)
    return source if attrs["a_min"] <= low and attrs["a_max"] >= high else None


_LAYERS = {
    "qnn.conv2d": _chosen("qnn.conv2d", "nn.conv2d"),
    "qnn.dense": _chosen("qnn.dense", "nn.dense"),
}
PROPERTIES[PROPERTY] = lambda op: _LAYERS.get(op.name)
PROPERTIES["FTVMLegalize"] = lambda op: _without_clip if op.name == "clip" else None
