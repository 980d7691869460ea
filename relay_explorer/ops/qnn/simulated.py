"""Quantization simulated in floating point: the result has the values, but not the type, of integers.

The element type is an operand, a code, so that one program can try several without being compiled again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.declaration import Gradient, Precision
from ...ir.errors import AttributeSchemaError
from ...ir.expr import Call, Expr, const
from ...ir.op import OpPattern, Relation, RelationError, Reporter
from ...ir.show import show_shape
from ...ir.typed import tensor_type
from ...ir.types import Dim, Type
from ..arguments import Operand
from ..arguments import expr as expr_of
from ..calls import relay
from ..cost import operations_per_input
from ..examples import X
from ..gradient_tools import extents
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np
from ..operator import call, operator
from ..relation import floating, normal_axis, same_dim, scalar, tensor
from ..te.library import te
from ..te.lowered import Lowered
from ..te.tensors import Tensor, Value, greater_of, known, lesser_of, select, stage
from ..te.tensors import number as te_number
from .arithmetic import HIGHEST_FLOAT32
from .documents import AXIS
from .parameters import are_known
from .plain import BOUNDS, spread

__all__ = ["simulated_dequantize", "simulated_quantize"]

CODES = {"disable": 0, "int8": 1, "uint8": 2, "int32": 3}  # as in TVM


class SimulatedQuantizeAttrs(Attrs, key="relay.attrs.SimulatedQuantizeAttrs"):
    axis: int = attr(-1, AXIS)


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    if not are_known(types, 4):
        return False
    data = floating(types[0], 0, "data")
    if scalar(types[1], 1, "the code of the element type").dtype != "int32":
        raise RelationError(
            f"the code of the element type must be int32, not {types[1]}",
            f"the codes are {', '.join(f'{code} ({name})' for name, code in CODES.items())}",
            culprits=(1,),
        )
    length = data.shape[normal_axis(attrs.axis, len(data.shape), "it")] if data.shape else 1
    for operand, name, dtype in ((2, "the scale", "float32"), (3, "the zero point", "int32")):
        _vector(types[operand], operand, name, dtype, length)
    reporter.assign(types[4], data)
    return True


def _vector(type_: Type, operand: int, name: str, dtype: str, length: Dim) -> None:
    """Require a vector of one number, or of one per channel; which of the two may be dynamic."""
    parameter = tensor(type_, operand, name)
    fits = len(parameter.shape) == 1 and any(same_dim(parameter.shape[0], dim) for dim in (1, length))
    if parameter.dtype != dtype or not fits:
        raise RelationError(
            f"{name} must be a vector of 1 or {length} elements of {dtype}, but is "
            f"{parameter.dtype} of shape {show_shape(parameter.shape)}",
            "relay.reshape(…, (-1,)) makes a vector of it",
            culprits=(operand,),
        )


# -- reference implementations


def _along(parameter: Array, axis: int, rank: int) -> Array:
    if parameter.size == 1:
        return parameter.reshape(())
    shape = [1] * rank
    shape[axis] = -1
    return parameter.reshape(shape)


def _float_bounds(code: int) -> tuple[float, float]:
    """Return the bounds of the type with that code as numbers that float32 represents."""
    low, high = BOUNDS[next(name for name, other in CODES.items() if other == code)]
    return float(low), float(min(high, HIGHEST_FLOAT32))


def _quantized_array(attrs: Anything, x: Array, code: Array, scale: Array, zero_point: Array) -> Array:
    if int(code) not in (1, 2, 3):
        return x
    low, high = _float_bounds(int(code))
    units = np.rint(x / _along(scale, attrs.axis, x.ndim).astype(x.dtype))
    moved = units + _along(zero_point, attrs.axis, x.ndim).astype(x.dtype)
    return np.minimum(np.maximum(moved, x.dtype.type(low)), x.dtype.type(high))


def _dequantized_array(attrs: Anything, x: Array, code: Array, scale: Array, zero_point: Array) -> Array:
    if int(code) not in (1, 2, 3):
        return x
    shift = _along(zero_point, attrs.axis, x.ndim).astype(x.dtype)
    return (x - shift) * _along(scale, attrs.axis, x.ndim).astype(x.dtype)


# -- kernels


def _element(parameter: Tensor, attrs: Anything, at: Sequence[Value]) -> Value:
    """Return the parameter of an element: the only one, or that of the element's channel."""
    length = known(parameter.shape[0])
    if length == 1 or not at:
        return parameter(0)
    return parameter(
        at[attrs.axis] if length is not None else te.indexmod(at[attrs.axis], parameter.shape[0])
    )


def _kernel(value: Callable[[Value, Value, Value, Value, str], Value]) -> Callable[[Lowered], list[Tensor]]:
    def lower(call: Lowered) -> list[Tensor]:
        x, code, scale, zero_point = call.inputs
        dtype = call.out.dtype

        def element(*at: Value) -> Value:
            s = _element(scale, call.attrs, at).astype(dtype)
            z = _element(zero_point, call.attrs, at).astype(dtype)
            return _by_code(code(), (0,), x(*at), value(x(*at), code(), s, z, dtype))

        return [stage(x.shape, element, call.name)]

    return lower


def _by_code(code: Value, codes: Sequence[int], yes: Value, no: Value) -> Value:
    """Select by the code of the element type; a code that does not exist counts as `disable`."""
    chosen = no
    for one in codes:
        chosen = select(code == te_number(one, "int32"), yes, chosen)
    return select(code > te_number(3, "int32"), yes, select(code < te_number(0, "int32"), yes, chosen))


def _quantized_te(x: Value, code: Value, scale: Value, zero_point: Value, dtype: str) -> Value:
    bounds = {one: [te_number(bound, dtype) for bound in _float_bounds(one)] for one in (1, 2, 3)}
    low, high = (
        select(
            code == te_number(1, "int32"),
            bounds[1][side],
            select(code == te_number(2, "int32"), bounds[2][side], bounds[3][side]),
        )
        for side in (0, 1)
    )
    return lesser_of(greater_of(te.round(x / scale) + zero_point, low), high)


def _dequantized_te(x: Value, code: Value, scale: Value, zero_point: Value, dtype: str) -> Value:
    return (x - zero_point) * scale


# -- gradients: those of the scaled numbers, as if they were not rounded


def _real(operand: Expr, like: Expr, axis: int) -> Expr:
    """Return a scale or zero point with the element type of the data, in a shape that broadcasts with it."""
    type_, data = tensor_type(operand), tensor_type(like)
    return relay.cast(spread(operand, type_, axis, len(data.shape)), data.dtype)


def _collapsed(derivative: Expr, data: Expr, parameter: Expr, axis: int) -> Expr:
    """Sum the derivatives of the elements that share a parameter, in the parameter's type."""
    extent = extents(parameter)[0]
    if extent == 1:
        total: Expr = relay.reshape(relay.sum(derivative), (1,))
    else:
        total = relay.sum(derivative, axis=axis, exclude=True)
    return relay.cast(total, tensor_type(parameter).dtype)


def _quantized_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    x, code, scale, zero_point = call.args
    assert call.attrs is not None
    axis, dtype = call.attrs["axis"], tensor_type(x).dtype
    s, z = _real(scale, x, axis), _real(zero_point, x, axis)
    moved = relay.add(relay.round(relay.divide(x, s)), z)

    def bound(side: int) -> Expr:
        wide, unsigned, signed = (const(_float_bounds(one)[side], dtype) for one in (3, 2, 1))
        is_unsigned, is_signed = (relay.equal(code, const(one, "int32")) for one in (2, 1))
        return relay.where(is_signed, signed, relay.where(is_unsigned, unsigned, wide))

    inside = relay.logical_and(relay.greater_equal(moved, bound(0)), relay.less_equal(moved, bound(1)))
    passed = relay.where(inside, relay.divide(grad, s), relay.zeros_like(x))
    by_scale = relay.negative(relay.divide(relay.multiply(passed, x), s))
    return [
        relay.where(_active(code), passed, grad),
        None,
        _collapsed(relay.where(_active(code), by_scale, relay.zeros_like(x)), x, scale, axis),
        None,
    ]


def _active(code: Expr) -> Expr:
    return relay.logical_and(
        relay.greater(code, const(0, "int32")), relay.less_equal(code, const(3, "int32"))
    )


def _dequantized_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    x, code, scale, zero_point = call.args
    assert call.attrs is not None
    axis = call.attrs["axis"]
    s, z = _real(scale, x, axis), _real(zero_point, x, axis)
    by_scale = relay.multiply(grad, relay.subtract(x, z))
    return [
        relay.where(_active(code), relay.multiply(grad, s), grad),
        None,
        _collapsed(relay.where(_active(code), by_scale, relay.zeros_like(x)), x, scale, axis),
        None,
    ]


# -- declarations


def _code(dtype: str | Operand) -> Expr:
    """Return the code of an element type, given by name or computed by the program."""
    if not isinstance(dtype, str):
        return expr_of(dtype)
    if dtype not in CODES:
        raise AttributeSchemaError(
            f'simulated quantization has no element type "{dtype}"', help=[f"it has {', '.join(CODES)}"]
        )
    return const(CODES[dtype], "int32")


def _flat(parameter: Operand) -> Expr:
    return relay.reshape(parameter, [-1])


@operator(
    "qnn.simulated_quantize",
    description="Rounds and clamps real numbers as a quantization would, without changing their type.",
    formula=r"y = \operatorname{clip}(\operatorname{round}(x / s) + z) \quad\text{in floating point}",
    family="quantization",
    level=11,
    relation=Relation(
        "QNNSimulatedQuantize", _relation, "{out} = {0}; {1} is a code, {2} and {3} belong to channels"
    ),
    attrs=SimulatedQuantizeAttrs,
    inputs=("data", "out_dtype", "output_scale", "output_zero_point"),
    pattern=OpPattern.ELEMENTWISE,
    flops=operations_per_input(4),  # a quotient, a rounding, a sum, a clamp
    reference=_quantized_array,
    gradient=Gradient(
        "dx = dy / s where the number is not clamped, else 0 (straight-through); ds = −Σ dx · x / s",
        _quantized_gradient,
    ),
    lowering=_kernel(_quantized_te),
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, const([0.05]), const([3]), out_dtype="int8"),
)
def simulated_quantize(
    data: Operand,
    output_scale: Operand,
    output_zero_point: Operand,
    axis: int = -1,
    out_dtype: str | Operand = "int8",
) -> Call:
    """Round and clamp `data` as quantize does, but return floating-point numbers.

    `out_dtype` is "int8", "uint8", "int32", "disable" (nothing changes), or an expression: a code that the
    program computes.
    """
    operands = [data, _code(out_dtype), _flat(output_scale), _flat(output_zero_point)]
    return call("qnn.simulated_quantize", operands, axis=axis)


@operator(
    "qnn.simulated_dequantize",
    description="Converts numbers that a simulated quantization rounded back to their scale.",
    formula=r"y = s\,(x - z) \quad\text{in floating point}",
    family="quantization",
    level=11,
    relation=Relation(
        "QNNSimulatedDequantize", _relation, "{out} = {0}; {1} is a code, {2} and {3} belong to channels"
    ),
    attrs=SimulatedQuantizeAttrs,
    inputs=("data", "in_dtype", "input_scale", "input_zero_point"),
    pattern=OpPattern.ELEMENTWISE,
    flops=operations_per_input(2),  # a difference and a product
    reference=_dequantized_array,
    gradient=Gradient("dx = s · dy; ds = Σ dy · (x − z)", _dequantized_gradient),
    lowering=_kernel(_dequantized_te),
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, const([0.05]), const([3]), in_dtype="int8"),
)
def simulated_dequantize(
    data: Operand,
    input_scale: Operand,
    input_zero_point: Operand,
    axis: int = -1,
    in_dtype: str | Operand = "int8",
) -> Call:
    """Convert `data` as dequantize does, from numbers that are integers in floating point.

    `in_dtype` is "int8", "uint8", "int32", "disable" (nothing changes), or an expression: a code that the
    program computes.
    """
    operands = [data, _code(in_dtype), _flat(input_scale), _flat(input_zero_point)]
    return call("qnn.simulated_dequantize", operands, axis=axis)
