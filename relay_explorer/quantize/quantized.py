"""A value of the realized program: integers, with the scale and the zero point that give them meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.errors import RelayError
from ..ir.expr import Expr
from ..ops.numeric import Array, np
from .answers import asking
from .forward import Temporary

if TYPE_CHECKING:
    from .scheme import Scheme
    from .tables import Table


class Quantized(Temporary):
    """A value that the realized program holds as integers: real = scale · (integer − zero point).

    `expr` computes the integers, of element type `dtype`. Scale (float32) and zero point (int32) are arrays:
    scalars, or vectors along `axis`. `table` has the value as an element-wise function of 8-bit integers,
    where it is known to be one.
    """

    __slots__ = ("axis", "dtype", "expr", "scale", "scheme", "table", "zero_point")

    def __init__(
        self,
        scheme: Scheme,
        expr: Expr,
        dtype: str,
        scale: Array | float,
        zero_point: Array | int = 0,
        axis: int | None = None,
    ) -> None:
        self.scheme = scheme
        self.expr = expr
        self.dtype = dtype
        self.scale: Array = np.asarray(scale, "float32")
        self.zero_point: Array = np.asarray(zero_point, "int32")
        self.axis = axis if self.scale.ndim else None
        self.table: Table | None = None

    @property
    def lazy(self) -> bool:  # type: ignore[override]  # the class has a value for others
        """Whether the integers are looked up in a table, which is made for the scale that they need."""
        return self.table is not None and self.table.direct

    def realize(self) -> Expr:
        with asking(self.scheme, "dequantize", f"a value of {self.dtype}"):
            result = self.scheme.dequantize(self)
            if not isinstance(result, Expr):
                raise RelayError(
                    f"`dequantize` of the scheme {self.scheme.name} returned {result!r:.60}",
                    help=["return an expression of floats"],
                )
            return result

    def over(self, expr: Expr) -> Quantized:
        result = self.but(expr=expr)
        result.table = self.table
        return result

    def but(
        self,
        expr: Expr | None = None,
        dtype: str = "",
        scale: Array | None = None,
        zero_point: Array | None = None,
    ) -> Quantized:
        """Return these integers with some things changed."""
        return Quantized(
            self.scheme,
            self.expr if expr is None else expr,
            dtype or self.dtype,
            self.scale if scale is None else scale,
            self.zero_point if zero_point is None else zero_point,
            self.axis,
        )

    def is_like(self, other: Quantized) -> bool:
        """Whether integers of both have the same meaning, and the same type."""
        same = (self.dtype, self.axis) == (other.dtype, other.axis)
        return (
            same
            and np.array_equal(self.scale, other.scale)
            and np.array_equal(self.zero_point, other.zero_point)
        )

    @property
    def is_symmetric(self) -> bool:
        return not self.zero_point.any()
