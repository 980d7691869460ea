"""FoldExplicitPadding: fold `nn.pad` into the convolution or pooling that reads it."""

from __future__ import annotations

from ..ir.attrs import Attrs
from ..ir.expr import Call, Constant, Expr, Function
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.typed import tensor_type
from ..ops.nn.layout import parse_layout
from .fold_scale_axis.axes import operator_of
from .infrastructure import PassContext
from .infrastructure.function_passes import TypedPass, rewritten
from .tools.typed_rewrite import rewrite_calls


@dataclass(frozen=True)
class FoldExplicitPadding(TypedPass):
    """Fold an `nn.pad` into the padding of the convolution or pooling that reads it.

    The padding value must be the one that the operator uses itself: zero for a convolution and average
    pooling, the zero point of the data for a quantized convolution, the lowest number for max pooling.
    Average pooling must count its padding already, or have none of its own; it then counts the new padding.
    Only spatial axes are folded, not channels, and only constant values.
    """

    name = "FoldExplicitPadding"
    opt_level = 0

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        names = [f"nn.{kind}{axes}d" for kind in ("conv", "max_pool", "avg_pool") for axes in (1, 2, 3)]
        rules = {**dict.fromkeys(names, _without_pads), "qnn.conv2d": _without_pads}
        return rewritten(function, rewrite_calls(function, rules))


def _without_pads(old: Call, new: Call) -> Expr | None:
    """Move all pads around the data into the call's own padding."""
    data, attrs = new.args[0], new.attrs
    own = _own_value(new, tensor_type(old.args[0]).dtype)
    while isinstance(data, Call) and operator_of(data) == "nn.pad" and attrs is not None:
        more = _with_padding(operator_of(old), attrs, data, own)
        if more is None:
            break
        data, attrs = data.args[0], more
    if data is new.args[0]:
        return None
    return Call(new.op, [data, *new.args[1:]], attrs, new.type_args, new.span)


def _own_value(call: Call, dtype: str) -> float | None:
    """Return the value with which a convolution or pool pads; None where the program computes it."""
    name = operator_of(call)
    if name == "qnn.conv2d":
        zero_point = call.args[2]
        return zero_point.data.item() if isinstance(zero_point, Constant) else None
    return _lowest(dtype) if "max_pool" in name else 0


def _with_padding(name: str, attrs: Attrs, pad: Call, own: float | None) -> Attrs | None:
    """Return the attributes of a convolution or pool that also pads as `pad` does; None where it cannot.
    `own` is the value with which it pads.
    """
    value, pad_attrs = pad.args[1], pad.attrs
    assert pad_attrs is not None
    if pad_attrs["pad_mode"] != "constant" or not isinstance(value, Constant):
        return None
    if value.data.item() != own:
        return None
    layout = [letter for letter, _ in parse_layout(attrs["data_layout" if "conv" in name else "layout"])]
    spatial = [pair for letter, pair in zip(layout, pad_attrs["pad_width"], strict=True) if letter in "DHW"]
    others = [
        pair for letter, pair in zip(layout, pad_attrs["pad_width"], strict=True) if letter not in "DHW"
    ]
    if any(map(any, others)) or min(map(min, spatial)) < 0:
        return None
    sides = _both_sides(attrs["padding"], len(spatial))
    combined = [
        a + b for a, b in zip(sides, [pair[side] for side in (0, 1) for pair in spatial], strict=True)
    ]
    if "avg_pool" in name and not attrs["count_include_pad"]:
        # In ceil_mode, a window that extends beyond the image is divided either by the number of its elements
        # inside the image or by its whole size; the explicit pad requires neither.
        if any(sides) or attrs["ceil_mode"]:
            return None
        attrs = attrs.replace(count_include_pad=True)
    combined_attrs: Attrs | None = attrs.replace(padding=combined)
    return combined_attrs


def _both_sides(padding: tuple[int, ...], axes: int) -> tuple[int, ...]:
    """Expand padding to its full form: before each axis, then after each axis."""
    if len(padding) == 1:
        return padding * 2 * axes
    return padding * 2 if len(padding) == axes else padding


def _lowest(dtype: str) -> float:
    """Return the lowest finite number of an element type."""
    import numpy

    return numpy.finfo(dtype).min.item() if dtype.startswith("float") else numpy.iinfo(dtype).min
