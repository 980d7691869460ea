"""Affine types: how integers stand for real numbers, `real = scale * (integer - zero_point)`.

A quantized tensor has an ordinary tensor type, of integers. An affine type adds what these integers mean.
FakeQuantizationToInteger infers one for each value that it computes with integers.
"""

from __future__ import annotations

from collections.abc import Sequence

from .expr import Expr


class AffineType:
    """What the integers of a quantized value stand for: a TensorAffineType or a TupleAffineType."""

    __slots__ = ()


class TensorAffineType(AffineType):
    """The affine type of a tensor: `scale` and `zero_point` are expressions, scalars or vectors with one
    element for each index along `axis`; `dtype` is the element type of the integers.
    """

    __slots__ = ("axis", "dtype", "scale", "zero_point")

    def __init__(self, scale: Expr, zero_point: Expr, dtype: str, axis: int = -1) -> None:
        self.scale = scale
        self.zero_point = zero_point
        self.dtype = str(dtype)
        self.axis = int(axis)

    def __repr__(self) -> str:
        return f"TensorAffineType({self.scale}, {self.zero_point}, {self.dtype!r}, {self.axis})"


class TupleAffineType(AffineType):
    """The affine types of a tuple's fields, as `types`."""

    __slots__ = ("types",)

    def __init__(self, types: Sequence[TensorAffineType]) -> None:
        self.types = tuple(types)

    def __repr__(self) -> str:
        return f"TupleAffineType({list(self.types)})"
