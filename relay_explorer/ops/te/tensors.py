"""Helpers of lowerings: constants, shapes, stages, and tensors read in another shape or layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..nn.layout import LayoutMap
from .library import te, tirx
from .lowered import MATERIALIZED
from .tvm_types import Extent as Extent
from .tvm_types import IterVar as IterVar
from .tvm_types import Number as Number
from .tvm_types import PrimExpr
from .tvm_types import Tensor as Tensor

Value = PrimExpr  # a scalar TVM expression
Index = Sequence[Extent]
Shape = Sequence[Extent]  # integers, and TVM expressions for dynamic sizes

NARROW = ("float16", "bfloat16")  # too narrow for accumulators


def dtype_of(x: Any) -> str:
    """Return the element type of a tensor, or the type of a value."""
    if isinstance(x, te.Tensor):
        return str(x.dtype)
    return str(x.ty) if hasattr(x, "ty") else "bool"  # TVM builds `==` and `!=` only when they are used


def is_float(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))


def is_signed(dtype: str) -> bool:
    return dtype.startswith("int")


def number(value: float, dtype: str) -> Value:
    """Build a constant."""
    return tirx.const(value, dtype)


def converted(value: float, dtype: str) -> Value:
    """Convert an attribute's number to another type, as NumPy's astype does."""
    if is_float(dtype):
        return number(value, dtype)
    if dtype == "bool":
        return number(bool(value), dtype)
    whole = int(value) if abs(value) < 2**63 else 0
    return number(whole if is_signed(dtype) else whole % 2 ** int(dtype[4:]), dtype)


def known(dim: Extent) -> int | None:
    """Return a size as an integer, or None where it is dynamic."""
    if isinstance(dim, int):
        return dim
    return int(dim) if isinstance(dim, tirx.IntImm) else None


def dims(x: Tensor) -> tuple[Any, ...]:
    """Return the shape of a tensor, with static sizes as integers."""
    sizes = [known(dim) for dim in x.shape]
    return tuple([dim if size is None else size for dim, size in zip(x.shape, sizes, strict=True)])


def product(sizes: Iterable[Extent]) -> Extent:
    total: Extent = 1
    for size in sizes:
        total = size if known(total) == 1 else total if known(size) == 1 else total * size
    return total


def quotient(size: Extent, by: Extent) -> Extent:
    """Divide a size, rounding down."""
    if by == 1:
        return size
    return size // by if isinstance(size, int) else te.floordiv(size, by)


def shorter(a: Extent, b: Extent) -> Extent:
    """Return the lesser of two sizes."""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else te.min(a, b)


def longer(a: Extent, b: Extent) -> Extent:
    """Return the greater of two sizes."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else te.max(a, b)


def remainder(size: Extent, by: Extent) -> Extent:
    return size % by if isinstance(size, int) and isinstance(by, int) else te.floormod(size, by)


def stage(shape: Shape, body: Callable[..., Number], name: str, materialize: bool = False) -> Tensor:
    """Build the tensor of `shape` whose element at an index is `body(*index)`. With `materialize` it is
    computed before its readers, which would otherwise compute its elements repeatedly.
    """
    tensor: Tensor = te.compute(
        tuple(shape), body, name=name, attrs={MATERIALIZED: True} if materialize else None
    )
    return tensor


def cast(value: Value, dtype: str) -> Value:
    """Convert a value as NumPy's astype does: a number is true where it is not 0."""
    before = dtype_of(value)
    if before == dtype:
        return value
    if dtype == "bool":
        return differs(value, number(0, before))
    if before == "bool" and dtype in NARROW:
        return value.astype("float32").astype(dtype)
    if is_float(before) and dtype in _SMALL:  # so that values beyond the type wrap, as in NumPy
        return value.astype(_SMALL[dtype]).astype(dtype)
    if _OTHER_SIGN.get(before) == dtype:  # TVM's simplifier assumes that a cast keeps bounds: no uint8 is < 0
        return tirx.reinterpret(dtype, value)
    return value.astype(dtype)


_OTHER_SIGN = {"int8": "uint8", "uint8": "int8", "int16": "uint16", "uint16": "int16"}
_SMALL = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}


def differs(a: Value, b: Value) -> Value:
    """Return whether two values differ. NaN differs from everything, unlike in TVM's `!=`."""
    unequal = tirx.NE(a, b)
    return some([unequal, is_nan(a), is_nan(b)]) if is_float(dtype_of(a)) else unequal


def select(condition: Number, yes: Number, no: Number) -> Value:
    """Select one of two values, both of which are computed."""
    return tirx.Select(condition, yes, no)


def guarded(condition: Number, yes: Number, no: Number) -> Value:
    """Select one of two values and compute only that one, so that the other cannot read out of bounds."""
    return tirx.if_then_else(condition, yes, no)


def every(conditions: Sequence[Any]) -> Value:
    """Return whether all conditions hold."""
    if not conditions:
        return tirx.const(True, "bool")
    return tirx.all(*conditions) if len(conditions) > 1 else conditions[0]


def some(conditions: Sequence[Any]) -> Value:
    """Return whether one of the conditions holds."""
    if not conditions:
        return tirx.const(False, "bool")
    return tirx.any(*conditions) if len(conditions) > 1 else conditions[0]


def is_nan(value: Value) -> Value:
    wide = (
        value.astype("float32") if dtype_of(value) == "bfloat16" else value
    )  # TVM has no such test for bfloat16
    return te.isnan(wide)  # TVM simplifies `x != x` to false


def plain(value: Value) -> Value:
    """Make a value comparable: booleans become the integers 0 and 1."""
    return value.astype("int8") if dtype_of(value) == "bool" else value


def greater_of(a: Value, b: Value) -> Value:
    """Return the greater value; NaN where one is NaN, as in NumPy. TVM's `max` returns either."""
    if dtype_of(a) == "bool":
        return some([a, b])
    if not is_float(dtype_of(a)):
        return te.max(a, b)
    return select(some([a >= b, is_nan(a)]), a, b)


def lesser_of(a: Value, b: Value) -> Value:
    """Return the lesser value; NaN where one is NaN."""
    if dtype_of(a) == "bool":
        return every([a, b])
    if not is_float(dtype_of(a)):
        return te.min(a, b)
    return select(some([a <= b, is_nan(a)]), a, b)


def between(value: Value, low: Value, high: Value) -> Value:
    """Clamp a floating-point value to bounds that are not NaN; NaN stays NaN. Each comparison and its choice
    are one vector instruction, and the value, which may be a long expression, is computed once.
    """
    above = named(value, lambda x: tirx.Select(x < low, low, x))
    return named(above, lambda x: tirx.Select(x > high, high, x))


def named(value: Value, body: Callable[[Value], Value]) -> Value:
    """Bind a value to a variable by `let`, and return the binding with `body` of the variable."""
    name = tirx.Var("x", value.ty)
    return tirx.Let(name, value, body(name))


def clamp(value: Extent, low: Extent, high: Extent) -> Value:
    """Clamp an index to a range."""
    return te.max(te.min(value, high), low)


def least(dtype: str) -> Value:
    """Return the least number of a type, minus infinity where it has one."""
    if dtype == "bool":
        return number(False, "bool")
    return -_infinity(dtype) if is_float(dtype) else tirx.min_value(dtype)


def most(dtype: str) -> Value:
    """Return the greatest number of a type, infinity where it has one."""
    if dtype == "bool":
        return number(True, "bool")
    return _infinity(dtype) if is_float(dtype) else tirx.max_value(dtype)


def _infinity(dtype: str) -> Value:
    if dtype == "bfloat16":
        return tirx.infinity("float32").astype(dtype)  # TVM has none of its own
    return tirx.infinity(dtype)


# -- broadcasting


def broadcast_shape(*shapes: Shape) -> tuple[Any, ...]:
    """Return the shape that all broadcast to, as in NumPy. A static size above 1 wins over a dynamic one."""
    rank = max(len(shape) for shape in shapes)
    out: list[Extent] = [1] * rank
    for shape in shapes:
        for axis, dim in enumerate(shape, rank - len(shape)):
            out[axis] = _wider(out[axis], dim)
    return tuple(out)


def _wider(a: Extent, b: Extent) -> Extent:
    if known(a) == 1:
        return b
    if known(b) == 1 or known(a) is not None:
        return a
    if known(b) is not None or a is b:
        return b
    return te.max(a, b)  # at run time one of them may be 1


def element(x: Tensor, index: Index, shape: Shape) -> Value:
    """Return the element of `x` at `index` of a tensor of `shape`, to which `x` is broadcast."""
    lead = len(shape) - len(x.shape)
    return x(*[_within(i, dim, out) for i, dim, out in zip(index[lead:], x.shape, shape[lead:], strict=True)])


def _within(i: Extent, dim: Extent, out: Extent) -> Extent:
    if known(dim) == 1:
        return 0
    if known(dim) is not None or dim is out:
        return i
    return select(dim == 1, number(0, dtype_of(i)), i)


def along(vector: Tensor, axis: int) -> Callable[..., Value]:
    """Return a function that reads a vector along `axis` of an index."""
    return lambda *index: vector(index[axis])


# -- reordering


def ravel(index: Index, shape: Shape) -> Extent:
    """Convert an index to its flat index in row-major order."""
    flat: Extent = 0
    for i, dim in zip(index, shape, strict=True):
        flat = flat * dim + i
    return flat


def unravel(place: Extent, shape: Shape) -> list[Extent]:
    """Convert a flat index in row-major order to an index. (Where an extent is 0 there are no indices.)"""
    index: list[Extent] = []
    for dim in [1 if known(dim) == 0 else dim for dim in reversed(shape[1:])]:
        index.insert(0, te.indexmod(place, dim))
        place = te.indexdiv(place, dim)
    return [place, *index] if shape else []


def reshape(x: Tensor, shape: Shape, name: str) -> Tensor:
    """Reshape a tensor: the same elements, in row-major order, under another shape."""
    source = dims(x)
    if _ones_apart(source, shape):
        return stage(shape, lambda *i: x(*_moved_past_ones(i, shape, source)), name)
    if not all(known(dim) != 0 for dim in source):
        return stage(shape, lambda *i: number(0, dtype_of(x)), name)  # `x` has no elements
    return stage(shape, lambda *i: x(*unravel(ravel(i, shape), source)), name)


def _ones_apart(a: Shape, b: Shape) -> bool:
    """Return whether two shapes differ only by axes of extent 1."""
    first, second = ([dim for dim in shape if known(dim) != 1] for shape in (a, b))
    return len(first) == len(second) and all(
        one is other or (known(one) is not None and known(one) == known(other))
        for one, other in zip(first, second, strict=True)
    )


def _moved_past_ones(index: Index, shape: Shape, source: Shape) -> list[Extent]:
    rest = iter([i for i, dim in zip(index, shape, strict=True) if known(dim) != 1])
    return [0 if known(dim) == 1 else next(rest) for dim in source]


class View:
    """A tensor stored in `layout`, read by indices in the layout's canonical order."""

    def __init__(self, x: Tensor, layout: LayoutMap) -> None:
        self.x, self.layout = x, layout
        self.shape: tuple[Any, ...] = layout.forward(dims(x), 0, "the data")
        self.dtype = dtype_of(x)

    def __call__(self, *index: Extent) -> Value:
        return self.x(*packed(index, self.layout))


def packed(index: Index, layout: LayoutMap) -> list[Extent]:
    """Convert an index in canonical order to one of the layout."""
    whole = dict(zip(layout.canonical, index, strict=True))
    positions = [
        quotient(whole[letter.upper()], step)
        for (letter, _), step in zip(layout.axes, layout.steps, strict=True)
    ]
    return [
        remainder(position, factor) if letter.islower() else position
        for position, (letter, factor) in zip(positions, layout.axes, strict=True)
    ]


def unpacked(index: Index, layout: LayoutMap) -> list[Extent]:
    """Convert an index of the layout to one in canonical order."""
    at: dict[str, Extent] = {}
    for (letter, size), step, i in sorted(zip(layout.axes, layout.steps, index, strict=True), key=_outermost):
        part, whole = i if step == 1 else i * step, letter.upper()
        if letter.isupper() or size != 1:
            at[whole] = at[whole] + part if whole in at else part
    return [at[letter] for letter in layout.canonical]


def _outermost(axis: tuple[tuple[str, int], int, Extent]) -> tuple[bool, int]:
    return axis[0][0].islower(), -axis[1]


def laid_out(
    shape: Shape, layout: LayoutMap, body: Callable[..., Number], name: str, materialize: bool = False
) -> Tensor:
    """Build a tensor in `layout` from its `shape` in canonical order and `body`, a function of such an
    index.
    """
    blocks = dict(zip(layout.canonical, layout.factors, strict=True))
    whole = dict(zip(layout.canonical, shape, strict=True))
    extents = [
        factor if letter.islower() else quotient(whole[letter], blocks[letter])
        for letter, factor in layout.axes
    ]
    return stage(extents, lambda *i: body(*unpacked(i, layout)), name, materialize)


# -- sums


def reduce_axes(extents: Shape, name: str = "k") -> list[IterVar]:
    """Make a reduction axis for each extent."""
    return [te.reduce_axis((0, dim), name=f"{name}{n}") for n, dim in enumerate(extents)]


def sum_type(dtype: str) -> str:
    """Return the accumulator's type for sums of `dtype`; booleans are counted."""
    return "float32" if dtype in NARROW else "int32" if dtype == "bool" else dtype


def real_type(dtype: str) -> str:
    """Return the type in which functions of real numbers are computed for elements of `dtype`."""
    return "float32" if dtype in NARROW else dtype if is_float(dtype) else "float64"


def narrowed(total: Tensor, dtype: str, name: str) -> Tensor:
    """Convert a sum from its accumulator's type to `dtype`."""
    if dtype_of(total) == dtype:
        return total
    return stage(total.shape, lambda *i: cast(total(*i), dtype), f"{name}_narrowed")


def sum_over(value: Value, axes: Sequence[IterVar]) -> Value:
    """Sum `value` over axes; return `value` itself without axes, and 0 over an empty axis."""
    if not axes:
        return value
    return number(0, dtype_of(value)) if over_nothing(axes) else te.sum(value, axis=list(axes))


def over_nothing(axes: Sequence[IterVar]) -> bool:
    """Return whether one of the axes is empty. TVM's loops would then leave the result uninitialized."""
    return any(known(axis.dom.extent) == 0 for axis in axes)


def summed(
    shape: Shape, body: Callable[..., Value], axes: Sequence[IterVar], dtype: str, name: str
) -> Tensor:
    """Build the sum of `body` over `axes`, in `dtype`; for bool, whether one is true."""
    wide = sum_type(dtype)
    if not axes:
        return stage(shape, lambda *i: cast(body(*i), dtype), name)
    return narrowed(stage(shape, lambda *i: sum_over(cast(body(*i), wide), axes), name), dtype, name)
