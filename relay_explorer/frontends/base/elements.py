"""What is known of the elements of integer vectors, such as shapes, in a model with dynamic axes.

A model computes `shape(x)`, takes an element of it, multiplies it by 12 and reshapes to the result. Where the
axis has the name `n`, the element is `n`, and the product is `12 * n`; a reshape to it keeps the name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import cast

from ...ir import size
from ...ir.expr import Call, Constant, Expr, Tuple, TupleGetItem
from ...ir.op import Op
from ...ir.types import Any, Dim, TensorType, Type

Known = tuple[Dim, ...]
LONGEST = 64  # elements of a vector that are followed
UNKNOWN = Any()
_DEEPEST = 200


class Elements:
    """Track which elements of integer scalars and vectors are known.

    `type_of` infers the type of an expression.
    """

    def __init__(self, type_of: Callable[[Expr], Type]) -> None:
        self._type_of = type_of
        self._memo: dict[Expr, Known | None] = {}

    def record(self, expr: Expr, elements: Known) -> None:
        """Note the elements of an expression that the importer knows from elsewhere."""
        self._memo[expr] = elements

    def of(self, expr: Expr, depth: int = 0) -> Known | None:
        """Return the elements of `expr`, an integer scalar or vector: each an int, a named size or `?`.
        Return None where nothing is known.
        """
        if expr in self._memo:
            return self._memo[expr]
        type_ = self._type_of(expr)
        result: Known | None = None
        if _is_short(type_) and depth < _DEEPEST:
            result = self._computed(expr, depth + 1)
            assert isinstance(type_, TensorType)
            count = type_.concrete_shape[0] if type_.shape else 1
            if result is not None and (len(result) != count or all(isinstance(e, Any) for e in result)):
                result = None
        self._memo[expr] = result
        return result

    def _computed(self, expr: Expr, depth: int) -> Known | None:
        if isinstance(expr, Constant):
            return tuple([int(value) for value in expr.data.values()])
        if isinstance(expr, TupleGetItem):
            return self._field(expr, depth)
        if not (isinstance(expr, Call) and isinstance(expr.op, Op)):
            return None
        rule = _RULES.get(expr.op.name)
        return None if rule is None else rule(self, expr, depth)

    def _field(self, expr: TupleGetItem, depth: int) -> Known | None:
        whole = expr.tuple_value
        if isinstance(whole, Tuple):
            return self.of(whole.fields[expr.index], depth)
        if not (isinstance(whole, Call) and isinstance(whole.op, Op) and whole.op.name == "split"):
            return None
        elements = self.of(whole.args[0], depth)
        if elements is None:
            return None
        attrs = cast(Anything, whole.attrs)
        sections = attrs.indices_or_sections
        if isinstance(sections, int):
            each = len(elements) // sections
            return elements[expr.index * each : (expr.index + 1) * each]
        bounds = [0, *sections, len(elements)]
        return elements[bounds[expr.index] : bounds[expr.index + 1]]

    def _all(self, exprs: Sequence[Expr], depth: int) -> list[Known] | None:
        operands = [self.of(expr, depth) for expr in exprs]
        if all(elements is None for elements in operands):
            return None
        return [elements or self._blank(expr) for elements, expr in zip(operands, exprs)]

    def _blank(self, expr: Expr) -> Known:
        type_ = self._type_of(expr)
        if not _is_short(type_):
            return ()
        assert isinstance(type_, TensorType)
        return (UNKNOWN,) * (type_.concrete_shape[0] if type_.shape else 1)

    # -- rules, by operator

    def shape_of(self, call: Call, depth: int) -> Known | None:
        type_ = self._type_of(call.args[0])
        return type_.shape if isinstance(type_, TensorType) else None

    def same(self, call: Call, depth: int) -> Known | None:
        return self.of(call.args[0], depth)

    def joined(self, call: Call, depth: int) -> Known | None:
        if not isinstance(call.args[0], Tuple):
            return None
        parts = self._all(call.args[0].fields, depth)
        return None if parts is None else tuple([element for part in parts for element in part])

    def taken(self, call: Call, depth: int) -> Known | None:
        elements, indices = self.of(call.args[0], depth), self.of(call.args[1], depth)
        if elements is None or indices is None or not self._type_of(call.args[0]).shape:  # type: ignore[attr-defined]  # a tensor
            return None
        result: list[Dim] = []
        for index in indices:
            if not isinstance(index, int) or not -len(elements) <= index < len(elements):
                return None
            result.append(elements[index])
        return tuple(result)

    def chosen(self, call: Call, depth: int) -> Known | None:
        """Follow `where(equal(a, b), x, y)`, with which frameworks replace extents of -1."""
        condition, *operands = call.args
        if not (
            isinstance(condition, Call) and isinstance(condition.op, Op) and condition.op.name == "equal"
        ):
            return None
        compared, values = self._all(condition.args, depth), self._all(operands, depth)
        if compared is None or values is None:
            return None
        parts = [*compared, *values]
        count = max(map(len, parts))
        if any(len(part) not in (1, count) for part in parts):
            return None
        rows = zip(*[part * (count // len(part)) for part in parts])
        return tuple([_selected(*row) for row in rows])

    def sliced(self, call: Call, depth: int) -> Known | None:
        elements = self.of(call.args[0], depth)
        attrs = cast(Anything, call.attrs)
        if elements is None or len(call.args) != 1 or attrs.begin is None or attrs.end is None:
            return None
        begin, end = int(attrs.begin[0]), int(attrs.end[0])
        step = int(attrs.strides[0]) if attrs.strides else 1
        if attrs.slice_mode == "size":
            end, step = (len(elements) if end < 0 else begin + end), 1
        return elements[slice(begin, end, step)]


_Rule = Callable[[Elements, Call, int], Known | None]


def _is_short(type_: Type) -> bool:
    """Whether a type is that of an integer scalar or of a short integer vector."""
    if not isinstance(type_, TensorType) or len(type_.shape) > 1 or not type_.is_static:
        return False
    if type_.dtype not in ("int64", "int32", "int16", "int8", "uint8", "uint32", "uint64"):
        return False
    return not type_.shape or type_.concrete_shape[0] <= LONGEST


def _pairwise(rule: Callable[[Anything, Anything], Anything]) -> _Rule:
    """Return the rule of an operator that combines two vectors element by element."""

    def combined(elements: Elements, call: Call, depth: int) -> Known | None:
        both = elements._all(call.args, depth)
        if both is None:
            return None
        left, right = both
        count = max(len(left), len(right))
        if len(left) not in (1, count) or len(right) not in (1, count):
            return None
        pairs = zip(left * (count // len(left) or 1), right * (count // len(right) or 1))
        return tuple([_whole(rule, a, b) for a, b in pairs])

    return combined


def _whole(rule: Callable[[Anything, Anything], Anything], a: Dim, b: Dim) -> Dim:
    try:
        value = rule(a, b)
    except (ZeroDivisionError, TypeError):
        return UNKNOWN
    return value if isinstance(value, (int, size.Size, Any)) else UNKNOWN


def _selected(a: Dim, b: Dim, x: Dim, y: Dim) -> Dim:
    """Return `x` if `a` equals `b`, else `y`; `?` where that is unknown. A size is not negative."""
    if x == y:
        return x
    if isinstance(a, int) and isinstance(b, int):
        return x if a == b else y
    number, other = (a, b) if isinstance(a, int) else (b, a)
    if isinstance(number, int) and number < 0 and isinstance(other, size.Size):
        return y
    return UNKNOWN


def _product(elements: Elements, call: Call, depth: int) -> Known | None:
    known = elements.of(call.args[0], depth)
    if known is None:
        return None
    result: Dim = 1
    for element in known:
        result = _whole(lambda a, b: a * b, result, element)
    return (result,)


def _filled(elements: Elements, call: Call, depth: int) -> Known | None:
    known, shape = elements.of(call.args[0], depth), elements._type_of(call)
    if known is None or len(known) != 1 or not isinstance(shape, TensorType):
        return None
    return known * (shape.concrete_shape[0] if shape.shape else 1)


def _quotient(a: Anything, b: Anything) -> Anything:
    """Divide as C does where both are numbers; a size is positive, so that rounding down is the same."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return size.quotient(a, b)


_RULES: dict[str, _Rule] = {
    "shape_of": Elements.shape_of,
    "cast": Elements.same,
    "copy": Elements.same,
    "squeeze": Elements.same,
    "expand_dims": Elements.same,
    "reshape": Elements.same,
    "concatenate": Elements.joined,
    "stack": Elements.joined,
    "take": Elements.taken,
    "strided_slice": Elements.sliced,
    "where": Elements.chosen,
    "add": _pairwise(lambda a, b: a + b),
    "subtract": _pairwise(lambda a, b: a - b),
    "multiply": _pairwise(lambda a, b: a * b),
    "divide": _pairwise(_quotient),
    "floor_divide": _pairwise(size.quotient),
    "floor_mod": _pairwise(size.remainder),
    "maximum": _pairwise(lambda a, b: size.extreme("max", a, b)),
    "minimum": _pairwise(lambda a, b: size.extreme("min", a, b)),
    "prod": _product,
    "broadcast_to": _filled,
    "full": _filled,
}
