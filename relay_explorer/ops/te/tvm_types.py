"""The parts of TVM's interface that lowerings and schedules use, as types: TVM itself has no stubs.

The objects are TVM's own; these classes are never instantiated. A name that is missing here is a type error:
add it with the signature that TVM 0.27 has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class PrimExpr(Protocol):
    """`tvm.ir.PrimExpr`: a scalar expression, booleans included."""

    ty: object  # its element type; none before TVM 0.27, and none on a comparison by `==` or `!=`

    def astype(self, dtype: str) -> PrimExpr: ...
    def same_as(self, other: object) -> bool: ...
    def __int__(self) -> int: ...  # of an IntImm
    def __neg__(self) -> PrimExpr: ...
    def __add__(self, other: Number) -> PrimExpr: ...
    def __radd__(self, other: Number) -> PrimExpr: ...
    def __sub__(self, other: Number) -> PrimExpr: ...
    def __rsub__(self, other: Number) -> PrimExpr: ...
    def __mul__(self, other: Number) -> PrimExpr: ...
    def __rmul__(self, other: Number) -> PrimExpr: ...
    def __truediv__(self, other: Number) -> PrimExpr: ...
    def __rtruediv__(self, other: Number) -> PrimExpr: ...
    def __floordiv__(self, other: Number) -> PrimExpr: ...
    def __rfloordiv__(self, other: Number) -> PrimExpr: ...
    def __mod__(self, other: Number) -> PrimExpr: ...
    def __lshift__(self, other: Number) -> PrimExpr: ...
    def __rshift__(self, other: Number) -> PrimExpr: ...
    def __and__(self, other: Number) -> PrimExpr: ...
    def __or__(self, other: Number) -> PrimExpr: ...
    def __xor__(self, other: Number) -> PrimExpr: ...
    def __invert__(self) -> PrimExpr: ...
    def __eq__(self, other: object) -> PrimExpr: ...  # type: ignore[override]  # an expression, as TVM has it
    def __ne__(self, other: object) -> PrimExpr: ...  # type: ignore[override]
    def __lt__(self, other: Number) -> PrimExpr: ...
    def __le__(self, other: Number) -> PrimExpr: ...
    def __gt__(self, other: Number) -> PrimExpr: ...
    def __ge__(self, other: Number) -> PrimExpr: ...


Number = PrimExpr | float  # what TVM accepts as an expression; type checkers accept an int as a float
Extent = PrimExpr | int  # a size along an axis, or an index
Unary = Callable[[Number], PrimExpr]
Binary = Callable[[Number, Number], PrimExpr]


class Range(Protocol):
    """`tvm.ir.Range`: the indices of an axis."""

    @property
    def min(self) -> Extent: ...
    @property
    def extent(self) -> Extent: ...


class IterVar(PrimExpr, Protocol):
    """`tvm.tirx.IterVar`: an axis, which can be used as an index."""

    @property
    def dom(self) -> Range: ...
    @property
    def var(self) -> PrimExpr: ...


class Tensor(Protocol):
    """`tvm.te.Tensor`: reading an element is a call, `x(i, j)`."""

    @property
    def shape(self) -> Sequence[Extent]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def op(self) -> Any: ...
    def __call__(self, *index: Extent) -> PrimExpr: ...
    def __getitem__(self, index: Extent | tuple[Extent, ...]) -> PrimExpr: ...


_Tensor = Tensor  # a name that the attribute `Tensor` below does not hide


class TensorExpressions(Protocol):
    """The module `tvm.te`."""

    Reduce: type[Any]
    Tensor: type[_Tensor]
    PlaceholderOp: type[Any]
    ComputeOp: type[Any]
    abs: Unary
    acos: Unary
    acosh: Unary
    asin: Unary
    asinh: Unary
    atan: Unary
    atanh: Unary
    ceil: Unary
    cos: Unary
    cosh: Unary
    erf: Unary
    exp: Unary
    floor: Unary
    isnan: Unary
    log: Unary
    log2: Unary
    log10: Unary
    round: Unary
    rsqrt: Unary
    sigmoid: Unary
    sin: Unary
    sinh: Unary
    sqrt: Unary
    tan: Unary
    tanh: Unary
    trunc: Unary
    floordiv: Binary
    floormod: Binary
    indexdiv: Binary
    indexmod: Binary
    max: Callable[..., PrimExpr]  # of two, or over the axes of a reduction
    min: Callable[..., PrimExpr]
    power: Binary
    truncdiv: Binary
    truncmod: Binary
    all: Callable[..., PrimExpr]
    any: Callable[..., PrimExpr]
    if_then_else: Callable[[Number, Number, Number], PrimExpr]
    compute: Callable[..., Any]  # a Tensor, or several where the body makes a tuple
    comm_reducer: Callable[..., Any]
    create_prim_func: Callable[..., Any]
    extern: Callable[..., Any]

    def placeholder(self, shape: Sequence[Extent], dtype: str = ..., name: str = ...) -> _Tensor: ...
    def reduce_axis(self, dom: tuple[Extent, Extent], name: str = ...) -> IterVar: ...
    def sum(self, expr: PrimExpr, axis: Sequence[IterVar] | IterVar) -> PrimExpr: ...
    def var(self, name: str, dtype: str) -> PrimExpr: ...


class Expressions(Protocol):
    """The module `tvm.tirx`."""

    IntImm: type[PrimExpr]
    Let: Callable[[PrimExpr, Number, Number], PrimExpr]
    Var: Callable[[str, object], PrimExpr]
    register_intrin_lowering: Callable[..., object]
    floor: Unary
    nearbyint: Unary
    Cast: Callable[[str, Number], PrimExpr]
    EQ: Binary
    NE: Binary
    Not: Unary
    Select: Callable[[Number, Number, Number], PrimExpr]
    all: Callable[..., PrimExpr]
    any: Callable[..., PrimExpr]
    bitwise_and: Binary
    bitwise_not: Unary
    bitwise_or: Binary
    bitwise_xor: Binary
    call_pure_extern: Callable[..., PrimExpr]
    if_then_else: Callable[[Number, Number, Number], PrimExpr]
    infinity: Callable[[str], PrimExpr]
    max_value: Callable[[str], PrimExpr]
    min_value: Callable[[str], PrimExpr]
    max: Callable[..., PrimExpr]
    min: Callable[..., PrimExpr]
    truncdiv: Binary
    truncmod: Binary

    def const(self, value: float, dtype: str) -> PrimExpr: ...
    def reinterpret(self, dtype: str, value: Number) -> PrimExpr: ...


class Topi(Protocol):
    """The module `tvm.topi`: computations of whole operators."""

    def __getattr__(self, name: str) -> Callable[..., Any]: ...
