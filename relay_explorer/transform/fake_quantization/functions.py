"""Rules for functions of single elements, which have a table of their values for all 8-bit integers."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.affine_type import TensorAffineType
from ...ir.expr import Call, const
from ..tools.typed_rewrite import call
from .affine import AffineTypes, Rule, StaysFloatError, bits, name_of, scalar_type, scale_of, zero_of


def _table(quantized_operator: str, **names: str) -> Rule:
    def tabulated(node: Call, types: AffineTypes) -> list[Anything]:
        """Look the function up in a table, whose values are quantized to the type of the result."""
        value = node.args[0]
        own, output = types.tensor(value), types[node]
        output = types.output or own
        scale_of(own)
        if bits(own.dtype) != 8 or bits(output.dtype) != 8:
            raise StaysFloatError(
                f"{name_of(node)} maps {own.dtype} to {output.dtype}, for which there is no table"
            )
        if not (scalar_type(own) and scalar_type(output)):
            raise StaysFloatError(f"the scales of an operand of {name_of(node)} differ by channel")
        if own.dtype != output.dtype:  # both are shifted by half of their range
            zero = int(zero_of(own).item()) + (128 if output.dtype == "uint8" else -128)
            shifted = TensorAffineType(own.scale, const(zero), output.dtype)
            value, own = types.requantized(value, own, shifted), shifted
        attrs = {} if node.attrs is None else {mine: node.attrs[name] for name, mine in names.items()}
        result = call(
            quantized_operator, value, own.scale, own.zero_point, output.scale, output.zero_point, **attrs
        )
        return [result, output]

    return tabulated


RULES: dict[str, Rule] = {
    "abs": _table("qnn.abs"),
    "erf": _table("qnn.erf"),
    "exp": _table("qnn.exp"),
    "log": _table("qnn.log"),
    "nn.leaky_relu": _table("qnn.leaky_relu", alpha="alpha"),
    "rsqrt": _table("qnn.rsqrt"),
    "sigmoid": _table("qnn.sigmoid"),
    "sqrt": _table("qnn.sqrt"),
    "tanh": _table("qnn.tanh"),
}
# Rules that only apply where the pass is asked to use them, because they lose more accuracy than a table.
OPTIONAL: dict[str, Rule] = {"nn.softmax": _table("qnn.softmax", axis="axis")}
