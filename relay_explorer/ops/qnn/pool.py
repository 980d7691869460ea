"""Average pooling of quantized images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Call, Expr, const
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter
from ...ir.types import Type
from ..arguments import Operand
from ..calls import relay
from ..examples import t
from ..layouts.images import pool as pool_layout
from ..nn.pool import AvgPool2DAttrs
from ..nn.window import Sizes
from ..numeric import Array, np
from ..operator import operator
from .arithmetic import centered as centered_array
from .arithmetic import chosen, ratios, saturated
from .arithmetic import rescaled as rescaled_array
from .documents import INTEGERS
from .layouts import beside
from .parameters import BYTES, are_known, check_parameters, elements
from .plain import centered, operand_type, problem, spread
from .scaling import Ratio, Result, rescaled

__all__ = ["avg_pool2d"]

_PLAIN = "nn.avg_pool2d"
_PARAMETERS = ("input_scale", "input_zero_point", "output_scale", "output_zero_point")


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    if not are_known(types, 5):
        return False
    data = elements(types[0], 0, "data", BYTES)
    check_parameters(types, 1, _PARAMETERS)
    return Op.get(_PLAIN).relation.rule([data, types[5]], 1, attrs, reporter)


def _flops(attrs: Anything, inputs: Sequence[Type], output: Type) -> int:
    return Op.get(_PLAIN).flops(attrs, inputs[:1], output)


def _bits(attrs: Anything) -> int:
    """Return the bits after the point with which means are computed, such that the sums fit int32."""
    summands = attrs["pool_size"][0] * attrs["pool_size"][1]
    return max(0, min(16, 31 - 10 - summands.bit_length()))


def _reference(attrs: Anything, x: Array, *parameters: Array) -> Array:
    scale, zero_point, out_scale, out_zero = (parameter.reshape(()) for parameter in parameters)
    plain, bits = Op.get(_PLAIN).reference, _bits(attrs)
    assert plain is not None
    means = plain(attrs, (centered_array(x, zero_point) << bits).astype("int32"))
    units = rescaled_array(np.asarray(means), ratios(scale, out_scale) * 2.0**-bits, *chosen("None", "None"))
    return saturated(units + out_zero, str(x.dtype))


def _canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    """Take means with bits after the point, so that only the conversion to the result's scale rounds."""
    attrs = call.attrs
    assert attrs is not None
    types = [operand_type(call, operand) for operand in range(5)]
    x, scale, zero_point, out_scale, out_zero = operands
    dtype, bits = types[0].dtype, _bits(attrs)
    whole = centered(x, dtype, spread(zero_point, types[2], 0, 0))
    means = relay.nn.avg_pool2d(
        relay.left_shift(whole, const(bits, "int32")) if bits else whole,
        attrs["pool_size"],
        attrs["strides"],
        attrs["dilation"],
        attrs["padding"],
        attrs["layout"],
        attrs["out_layout"],
        attrs["ceil_mode"],
        attrs["count_include_pad"],
    )
    try:
        ratio = Ratio(scale, types[1], out_scale, types[3], -1, len(types[0].shape), 2.0**-bits)
    except RelationError as error:
        raise problem(call, error) from None
    result = Result(out_zero, types[4], dtype)
    return result.of(rescaled(means, ratio, result.bounds, *chosen("None", "None"), "int32"))


@operator(
    "qnn.avg_pool2d",
    description="Takes the mean of each window of quantized images.",
    formula=(
        r"s_y (y_{n,c,i,j} - z_y) \approx "
        r"\tfrac{1}{k\,l} \sum_{u,v} s_x (x_{n,c,s i + u,\, s j + v} - z_x)"
    ),
    family="quantization",
    level=11,
    relation=Relation("QnnAvgPool2D", _relation, "{out} = one element per window of {0}"),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops,
    reference=_reference,
    gradient=NotApplicable(INTEGERS),
    canonical=_canonical,
    layout=beside(pool_layout),
    precision=Precision.UNLISTED,
    attrs=AvgPool2DAttrs,
    example=lambda build: build(
        t(1, 8, 8, 4, dtype="uint8"), const(0.1), const(3), const(0.1), const(3),
        pool_size=(2, 2), strides=(2, 2), padding=(0, 0), dilation=(1, 1),
    ),
)  # fmt: skip
def avg_pool2d(
    data: Operand,
    input_scale: Operand,
    input_zero_point: Operand,
    output_scale: Operand,
    output_zero_point: Operand,
    pool_size: Sizes,
    strides: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    layout: str = "NHWC",
    out_layout: str = "",
) -> Call:
    """Take the mean of each window of `data`, rounded once to the scale of the result. Padding stands for
    zero.
    """
