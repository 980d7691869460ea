"""Rules of SimplifyExpr for casts and clips.

TVM 0.14 also removes casts that change values: the first of `cast(cast(x, dtype="uint8"), dtype="int32")` for
an `x` of int8, and all after `clip(x, a_min=0f, a_max=255f)` of `cast(cast(clip(x), dtype="uint8"),
dtype="float32")` for an `x` of float32, which drop the fraction. Here a cast is removed only if that changes
no value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ...ir.declaration import Trait
from ...ir.expr import Call, Expr
from ..fold_scale_axis.axes import calls, operator_of

if TYPE_CHECKING:
    from . import Rules, Simplifier

# A floating-point type represents all integers of up to this many bits exactly.
_EXACT_BITS = {"float16": 11, "float32": 24, "float64": 53, "bfloat16": 8}
_GREATEST = {"float16": 65504.0, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308}


class _Number(NamedTuple):
    """An element type: "float", "bfloat", "int" or "uint", and its bits."""

    kind: str
    bits: int

    @property
    def whole(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest integer."""
        low = -(2 ** (self.bits - 1)) if self.kind == "int" else 0
        return low, low + 2**self.bits - 1


def _number(dtype: str) -> _Number:
    match = re.fullmatch(r"([a-z]+)(\d*)", dtype)
    assert match is not None
    return _Number("uint", 1) if dtype == "bool" else _Number(match[1], int(match[2] or 32))


def holds(dtype: str, low: float, high: float) -> bool:
    """Whether an element type represents every integer from `low` to `high` exactly."""
    number = _number(dtype)
    if number.whole:
        least, most = number.range
        return least <= low and high <= most and dtype != "bool"
    limit: int = 2 ** _EXACT_BITS.get(dtype, 0)
    return -limit <= low and high <= limit


def widens(before: str, after: str) -> bool:
    """Whether a cast from one type to the other keeps every value."""
    a, b = _number(before), _number(after)
    if a.whole:
        return holds(after, *a.range)
    return a.kind == b.kind and a.bits <= b.bits


def cast_like(s: Simplifier, call: Call) -> Expr | None:
    return s.call("cast", call.args[0], dtype=s.tensor(call).dtype)


def same_cast(s: Simplifier, call: Call) -> Expr | None:
    """Remove a cast to the type that its argument has already."""
    return call.args[0] if s.tensor(call.args[0]).dtype == s.tensor(call).dtype else None


def cast_of_cast(s: Simplifier, call: Call) -> Expr | None:
    """Merge a cast with the cast before it, if that one kept every value."""
    inner = call.args[0]
    if not isinstance(inner, Call) or not calls(inner, Trait.CAST):
        return None
    data = inner.args[0]
    if not widens(s.tensor(data).dtype, s.tensor(inner).dtype):
        return None
    return s.call("cast", data, dtype=s.tensor(call).dtype)


def casts_of_clip(s: Simplifier, call: Call) -> Expr | None:
    """Remove those casts after a clip whose types represent every value within the clip's bounds; the last
    one stays if it changes the type.
    """
    casts: list[Call] = []
    clip: Expr = call
    while isinstance(clip, Call) and operator_of(clip) == "cast":
        casts.insert(0, clip)
        clip = clip.args[0]
    if not isinstance(clip, Call) or operator_of(clip) != "clip":
        return None
    assert clip.attrs is not None
    low, high = clip.attrs["a_min"], clip.attrs["a_max"]
    dtypes = [s.tensor(cast).dtype for cast in casts]
    start, last = s.tensor(clip).dtype, dtypes[-1]
    remaining: list[str] = []
    whole = _number(start).whole
    for dtype in dtypes:
        if not whole and _number(dtype).whole and holds(dtype, low, high):
            # This cast truncates; a later one can do so instead if the last type is an integer type.
            whole = True
            if not _number(last).whole:
                remaining.append(dtype)
        elif not whole or not holds(dtype, low, high):
            remaining.append(dtype)
            whole = whole or _number(dtype).whole
            low, high = _number(dtype).range if _number(dtype).whole else (float("-inf"), float("inf"))
    if (remaining[-1] if remaining else start) != last:
        remaining.append(last)
    if len(remaining) >= len(dtypes):
        return None
    result: Expr = clip
    for dtype in remaining:
        result = s.call("cast", result, dtype=dtype)
    return result


def needless_clip(s: Simplifier, call: Call) -> Expr | None:
    """Remove a clip to bounds that the element type cannot exceed."""
    dtype, attrs = s.tensor(call).dtype, call.attrs
    assert attrs is not None
    number = _number(dtype)
    if number.whole:
        low, high = number.range
    elif dtype in _GREATEST:
        low, high = -_GREATEST[dtype], _GREATEST[dtype]  # type: ignore[assignment]  # numbers, both
    else:
        return None
    return call.args[0] if attrs["a_min"] <= low and attrs["a_max"] >= high else None


EXACT: Rules = {"cast": [same_cast, cast_of_cast, casts_of_clip], "clip": [needless_clip]}
RULES: Rules = {**EXACT, "cast_like": [cast_like]}
