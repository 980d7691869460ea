"""Operators on images whose result's size is computed by the program. They have no builders of their own:
`relay.nn.pad` calls `dyn.nn.pad` where the program computes the widths, and so do the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

from ...ir.attrs import Attrs
from ...ir.op import Compute, Op, OpPattern, RelationError, no_flops
from ...ir.types import TensorType, Type
from ..declare import declare
from ..numeric import Array, np
from ..relation import UNKNOWN, forward, integers, same_dim, scalar, tensor
from .layout import layout_map
from .pad import PadAttrs
from .upsampling import UpSampling3DAttrs, UpSamplingAttrs

__all__ = []


def _larger(axes: str) -> Callable[..., Type]:
    """The type rule of upsampling along `axes`, whose factors are the arguments after the data."""

    def result(attrs: Anything, data: Type, *scales: Type) -> Type:
        x = tensor(data, 0, "data")
        for operand, (axis, scale) in enumerate(zip(axes, scales, strict=True), 1):
            scalar(scale, operand, f"scale_{axis.lower()}")
        layout = layout_map(attrs.layout, "NC" + axes)
        shape = layout.forward(x.shape, 0, "data")
        return TensorType.of(layout.backward((*shape[:2], *[UNKNOWN] * len(axes))), x.dtype)

    return result


def _pad(attrs: PadAttrs, data: Type, pad_width: Type, pad_value: Type) -> Type:
    x, widths = tensor(data, 0, "data"), integers(pad_width, 1, "pad_width")
    scalar(pad_value, 2, "pad_value")
    rank = len(x.shape)
    fits = len(widths.shape) == 2 and same_dim(widths.shape[0], rank) and same_dim(widths.shape[1], 2)
    if not fits:
        raise RelationError(
            f"pad_width must hold a pair for each of the {rank} axes, as a matrix of shape ({rank}, 2), "
            f"not {widths}",
            culprits=(0, 1),
        )
    return TensorType.of((UNKNOWN,) * rank, x.dtype)


def _static(operator: str, attrs: Attrs, *values: Array) -> Anything:
    meaning = Op.get(operator).compute
    assert meaning is not None
    return meaning(attrs, *values)


def _scaled(operator: str, names: tuple[str, ...]) -> Compute:
    """The meaning of `operator`, whose attributes `names` are the arguments after the data."""

    def compute(attrs: Attrs, x: Array, *scales: Array) -> Anything:
        factors = {name: float(scale) for name, scale in zip(names, scales, strict=True)}
        for name, factor in factors.items():
            if not 0 < factor < 1e9:
                raise ValueError(f"{name} is {factor}, but it must be positive")
        return _static(operator, attrs.replace(**factors), x)

    return compute


def _widened(attrs: PadAttrs, x: Array, pad_width: Array, pad_value: Array) -> Anything:
    pairs = [tuple(pair) for pair in pad_width.tolist()]
    if np.any(pad_width.sum(1) + x.shape < 0):
        raise ValueError(f"pad_width is {pad_width.tolist()}, which takes away more than there is")
    return _static("nn.pad", attrs.replace(pad_width=pairs), x, pad_value)


def _upsampling(name: str, axes: str, attrs: type[Attrs], description: str) -> Op:
    factors = tuple([f"scale_{axis.lower()}" for axis in axes])
    return declare(
        f"dyn.{name}",
        description,
        formula=r"y_{\ldots,i} = \mathrm{interpolate}(x_{\ldots}, i / s)",
        relation=forward(
            "DynamicUpSampling" + ("3D" if len(axes) == 3 else ""),
            "{out} = {0} with the axes of space ?",
            _larger(axes),
        ),
        inputs=("data", *factors),
        attrs=attrs,
        pattern=OpPattern.INJECTIVE,
        flops=no_flops,
        family="image",
        level=2,
        compute=_scaled(name, factors),
        lowering="host",
    )


_upsampling(
    "nn.upsampling", "HW", UpSamplingAttrs, "Like nn.upsampling, by factors that the program computes."
)
_upsampling(
    "nn.upsampling3d", "DHW", UpSampling3DAttrs, "Like nn.upsampling3d, by factors that the program computes."
)
declare(
    "dyn.nn.pad",
    "Like nn.pad, by widths that the program computes.",
    formula=r"y_{i} = \begin{cases} x_{i - b} & b \le i < b + d \\ v & \text{otherwise} \end{cases}",
    relation=forward("DynamicPad", "{out} has as many axes as {0}, all of them ?", _pad),
    inputs=("data", "pad_width", "pad_value"),
    attrs=PadAttrs,
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    family="shape",
    level=2,
    compute=_widened,
    lowering="host",
)
