"""The array: a shape, an element type and a list of elements in row-major order. There are no views."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, TypeVar

from .dtypes import BOOL, DType, Number
from .dtypes import dtype as named
from .errors import NotHereError

Shape = tuple[int, ...]
MAX_SIZE = 4_000_000  # elements: more would stop the page

# Operators of arrays call the functions of `elementwise.py`, `reductions.py` and `shapes.py`, which register
# here: they are written in terms of arrays.
functions: dict[str, Callable[..., Any]] = {}
F = TypeVar("F", bound=Callable[..., Any])


def function(f: F) -> F:
    """Register a function under its name, without a final underscore."""
    functions[f.__name__.rstrip("_")] = f
    return f


def counted(shape: Sequence[int]) -> int:
    """Return the number of elements of a shape; raise a ValueError where it is too large for a page."""
    count = prod(shape)
    if count > MAX_SIZE or any(n < 0 for n in shape):
        raise ValueError(f"a tensor of {count:,} elements is too large for the playground")
    return count


def strides(shape: Shape) -> list[int]:
    """Return how many elements apart neighbours along each axis are."""
    result, step = [], 1
    for extent in reversed(shape):
        result.append(step)
        step *= extent
    return result[::-1]


class Flags:
    """What NumPy says about an array's memory."""

    c_contiguous = False  # the elements are no bytes that could be shared
    writeable = True


def _method(name: str) -> Callable[..., Any]:
    def call(self: Array, *args: Any, **keywords: Any) -> Any:
        return functions[name](self, *args, **keywords)

    return call


def _operator(name: str, swapped: bool = False) -> Callable[..., Any]:
    def call(self: Array, other: Any) -> Any:
        if not isinstance(other, (Array, bool, int, float, list, tuple)):
            return NotImplemented
        return functions[name](*((other, self) if swapped else (self, other)))

    return call


class Array:
    """An array; `values` are its elements."""

    __slots__ = ("dtype", "shape", "values")
    __array_priority__ = 1000
    base = None
    flags = Flags()

    def __init__(self, shape: Any, dtype: Any, values: Any = None) -> None:
        if type(values) is not list:
            # As NumPy is called, with a buffer; the array has elements of its own instead.
            shape, dtype = tuple(int(n) for n in shape), named(dtype)
            values = dtype.rounded([0]) * counted(shape)
        self.shape: Shape = shape
        self.dtype: DType = dtype
        self.values: list[Number] = values

    # -- what it is

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def T(self) -> Array:  # noqa: N802 - NumPy's name
        result: Array = functions["transpose"](self)
        return result

    @property
    def flat(self) -> Iterator[Array]:
        return iter([Array((), self.dtype, [value]) for value in self.values])

    def item(self, *index: int) -> Number:
        if index:
            return self[index].item()
        if len(self.values) != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.values[0]

    def tolist(self) -> Any:
        return self.item() if not self.shape else [part.tolist() for part in self]

    def tobytes(self, order: str = "C") -> bytes:
        return struct.pack(f"<{len(self.values)}{self.dtype.code}", *self.values)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        rest = self.shape[1:]
        step = prod(rest)
        for i in range(self.shape[0]):
            yield Array(rest, self.dtype, self.values[i * step : (i + 1) * step])

    def __bool__(self) -> bool:
        if len(self.values) != 1:
            raise ValueError("the truth value of an array with more than one element is ambiguous")
        return bool(self.values[0])

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        value = self.item()
        if self.dtype.kind not in "iub":
            raise TypeError("only integer arrays can be converted to an index")
        return int(value)

    def __hash__(self) -> int:
        return hash(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item() if not self.shape else str(self), spec)

    def __repr__(self) -> str:
        return f"array({self.tolist()}, dtype={self.dtype})"

    def __str__(self) -> str:
        return str(self.tolist())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotHereError(f"`ndarray.{name}`")

    # -- other arrays with the same elements

    def copy(self, order: str = "C") -> Array:
        return Array(self.shape, self.dtype, list(self.values))

    def astype(self, to: object, copy: bool = True, **keywords: Any) -> Array:
        wanted = named(to)
        if wanted is self.dtype:
            return self.copy() if copy else self
        return Array(self.shape, wanted, wanted.rounded(self.values))

    def view(self, to: object) -> Array:
        """Read the bytes as elements of another type."""
        wanted = named(to)
        last = self.shape[-1] * self.dtype.itemsize // wanted.itemsize if self.shape else 1
        values = struct.unpack(f"<{self.nbytes // wanted.itemsize}{wanted.code}", self.tobytes())
        return Array((*self.shape[:-1], last) if self.shape else (), wanted, list(values))

    def reshape(self, *shape: Any, order: str = "C") -> Array:
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list, Array)) else shape
        extents = [int(n) for n in wanted]
        if -1 in extents:
            rest = prod(n for n in extents if n != -1)
            extents[extents.index(-1)] = self.size // rest if rest else 0
        if prod(extents) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {tuple(extents)}")
        return Array(tuple(extents), self.dtype, self.values)

    def flatten(self) -> Array:
        return Array((self.size,), self.dtype, list(self.values))

    def ravel(self) -> Array:
        return self.reshape(-1)

    def fill(self, value: Number) -> None:
        self.values[:] = self.dtype.rounded([value]) * self.size

    # -- elements

    def __getitem__(self, key: Any) -> Array:
        shape, positions = _positions(self.shape, key)
        values = self.values
        return Array(shape, self.dtype, [values[p] for p in positions])

    def __setitem__(self, key: Any, value: Any) -> None:
        shape, positions = _positions(self.shape, key)
        new = self.dtype.rounded(expanded(asarray(value), shape))
        for position, element in zip(positions, new):
            self.values[position] = element

    sum, prod, mean, var, std = map(_method, ("sum", "prod", "mean", "var", "std"))
    min, max, argmin, argmax = map(_method, ("min", "max", "argmin", "argmax"))
    any, all, cumsum, cumprod = map(_method, ("any", "all", "cumsum", "cumprod"))
    transpose, swapaxes, squeeze, repeat, take = map(
        _method, ("transpose", "swapaxes", "squeeze", "repeat", "take")
    )
    clip, round, dot, argsort, nonzero = map(_method, ("clip", "round", "matmul", "argsort", "nonzero"))

    __add__, __radd__ = _operator("add"), _operator("add", True)
    __sub__, __rsub__ = _operator("subtract"), _operator("subtract", True)
    __mul__, __rmul__ = _operator("multiply"), _operator("multiply", True)
    __truediv__, __rtruediv__ = _operator("divide"), _operator("divide", True)
    __floordiv__, __rfloordiv__ = _operator("floor_divide"), _operator("floor_divide", True)
    __mod__, __rmod__ = _operator("remainder"), _operator("remainder", True)
    __pow__, __rpow__ = _operator("power"), _operator("power", True)
    __and__, __rand__ = _operator("bitwise_and"), _operator("bitwise_and", True)
    __or__, __ror__ = _operator("bitwise_or"), _operator("bitwise_or", True)
    __xor__, __rxor__ = _operator("bitwise_xor"), _operator("bitwise_xor", True)
    __lshift__, __rlshift__ = _operator("left_shift"), _operator("left_shift", True)
    __rshift__, __rrshift__ = _operator("right_shift"), _operator("right_shift", True)
    __matmul__, __rmatmul__ = _operator("matmul"), _operator("matmul", True)
    __eq__, __ne__ = _operator("equal"), _operator("not_equal")
    __lt__, __le__ = _operator("less"), _operator("less_equal")
    __gt__, __ge__ = _operator("greater"), _operator("greater_equal")

    def __neg__(self) -> Any:
        return functions["negative"](self)

    def __invert__(self) -> Any:
        return functions["invert"](self)

    def __abs__(self) -> Any:
        return functions["abs"](self)


def asarray(value: Any, to: object = None, **keywords: Any) -> Array:
    """Return numbers, nested lists or an array as an array, of the type `to` if it is given."""
    to = keywords.get("dtype", to)
    if isinstance(value, Array):
        return value if to is None else value.astype(to, copy=False)
    if not isinstance(value, (bool, int, float, list, tuple, range)) and hasattr(value, "__array__"):
        return asarray(value.__array__(), to)
    shape: list[int] = []
    level = value
    while isinstance(level, (list, tuple, range, Array)) and (not isinstance(level, Array) or level.shape):
        if isinstance(level, Array):
            shape += level.shape
            break
        shape.append(len(level))
        if not len(level):
            break
        level = level[0]
    elements: list[Any] = []
    kinds: set[DType] = set()
    _collect(value, tuple(shape), elements, kinds)
    if to is None:
        from .dtypes import FLOAT64, promoted

        own = FLOAT64 if not kinds else kinds.pop()
        for kind in kinds:
            own = promoted(own, kind)
    else:
        own = named(to)
        low, high = own.limits if own.kind in "iu" else (0, 0)
        if own.kind in "iu" and any(isinstance(e, int) and not low <= e <= high for e in elements):
            raise OverflowError(f"Python integer out of bounds for {own}")
    return Array(tuple(shape), own, own.rounded(elements))


def _collect(value: Any, shape: Shape, elements: list[Any], kinds: set[DType]) -> None:
    if not shape:
        if isinstance(value, Array):
            kinds.add(value.dtype)
            elements.append(value.item())
        elif isinstance(value, (bool, int, float)):
            kinds.add(named(type(value)))
            elements.append(value)
        else:
            raise TypeError(f"not a number: {value!r:.40}")
        return
    if not isinstance(value, (list, tuple, range, Array)) or len(value) != shape[0]:
        raise ValueError("the lists of an array must have equal lengths")
    if isinstance(value, Array):
        kinds.add(value.dtype)
        elements.extend(value.values)
        return
    for part in value:
        _collect(part, shape[1:], elements, kinds)


# -- broadcasting and positions


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape to which shapes broadcast."""
    result: list[int] = []
    for axis in range(-max(map(len, shapes), default=0), 0):
        extents = {shape[axis] for shape in shapes if len(shape) >= -axis}
        wide = extents - {1}
        if len(wide) > 1:
            raise ValueError(f"shapes {shapes} do not broadcast")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def expanded(a: Array, shape: Shape) -> list[Number]:
    """Return the elements of an array that is broadcast to a shape."""
    if a.shape == shape:
        return a.values
    if a.size == 1:
        return a.values * counted(shape)
    if broadcast(a.shape, shape) != shape:
        raise ValueError(f"shape {a.shape} does not broadcast to {shape}")
    own = (1,) * (len(shape) - a.ndim) + a.shape
    steps = [0 if extent == 1 else step for extent, step in zip(own, strides(own))]
    axes = [range(0, n * step, step) if step else [0] * n for n, step in zip(shape, steps)]
    return [a.values[p] for p in offsets(axes)]


def offsets(axes: Sequence[Sequence[int]], start: int = 0) -> list[int]:
    """Return the sums of one offset of each axis, in row-major order."""
    result = [start]
    for axis in axes:
        result = [p + o for p in result for o in axis]
    return result


def _entries(shape: Shape, key: Any) -> list[Any]:
    """Return an index as a list: one entry for each axis, and None for each new one."""
    parts: list[Any] = []
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, list):
            part = asarray(part)
        if isinstance(part, Array) and part.dtype is BOOL and part.ndim:
            parts += functions["nonzero"](part)
        else:
            parts.append(part)
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > len(shape):
        raise IndexError(f"too many indices for an array of {len(shape)} dimensions")
    rest = [slice(None)] * (len(shape) - used)
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    return parts[:at] + rest + parts[at + 1 :]


def _positions(shape: Shape, key: Any) -> tuple[Shape, list[int]]:
    """Return the shape of an indexed part of an array, and where its elements are."""
    entries = _entries(shape, key)
    several = any(isinstance(entry, Array) and entry.ndim for entry in entries)
    steps = strides(shape)
    start, axis = 0, 0
    result: list[tuple[Shape, Sequence[int]]] = []
    chosen: list[tuple[int, Array]] = []  # the position in the result, and indices in elements
    for entry in entries:
        if entry is None:
            result.append(((1,), [0]))
            continue
        extent, step = shape[axis], steps[axis]
        if isinstance(entry, slice):
            steps_of = range(*entry.indices(extent))
            result.append(((len(steps_of),), [i * step for i in steps_of]))
        elif several:
            index = asarray(entry)
            places = [_checked(i, extent) * step for i in index.values]
            chosen.append((len(result), Array(index.shape, index.dtype, places)))
        else:
            start += _checked(entry.__index__(), extent) * step
        axis += 1
    if chosen:
        together = broadcast(*[index.shape for _, index in chosen])
        columns = [expanded(index, together) for _, index in chosen]
        where = chosen[0][0] if chosen[-1][0] == chosen[0][0] else 0
        result.insert(where, (together, [sum(column) for column in zip(*columns)]))
    full = tuple(n for part, _ in result for n in part)
    counted(full)
    return full, offsets([places for _, places in result], start)


def _checked(index: int, extent: int) -> int:
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis with size {extent}")
    return index + extent if index < 0 else index
