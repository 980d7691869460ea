"""Integers times a factor that is held as a fraction of 31 bits and a power of two: exact, in 64 bits."""

from __future__ import annotations

from ..relation import normal_axes
from .lowered import Lowered
from .tensors import Tensor, Value, number, stage


def _product(x: Value, multiplier: Value, left: Value, right: Value) -> Value:
    """x · 2^left · multiplier · 2^-(31 + right), halves rounded up, wrapped into 32 bits."""
    product = (x.astype("int64") << left) * multiplier
    places = right + number(31, "int64")
    half = number(1, "int64") << (places - number(1, "int64"))
    return ((product + half) >> places).astype("int32")


def fixed_point_multiply(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    shifts = [number(amount, "int64") for amount in (max(attrs.shift, 0), max(-attrs.shift, 0))]
    multiplier = number(attrs.multiplier, "int64")
    return [stage(x.shape, lambda *i: _product(x(*i), multiplier, *shifts), call.name)]


def per_axis(call: Lowered) -> list[Tensor]:
    (x, multiplier, left, right), attrs = call.inputs, call.attrs
    axes = normal_axes(attrs.axes, len(x.shape))
    none = number(0, "int64")

    def value(*i: Value) -> Value:
        at = [i[axis] for axis in axes]
        up = left(*at).astype("int64") if attrs.is_lshift_required else none
        down = right(*at).astype("int64") if attrs.is_rshift_required else none
        return _product(x(*i), multiplier(*at).astype("int64"), up, down)

    return [stage(x.shape, value, call.name)]
