"""Counts the operations of an expression for `estimate`.

Common subexpressions count once. A conditional whose condition depends only on indices costs nothing where
unrolled loops decide the condition, because it is then constant in each copy of the statement. Otherwise the
condition counts as one operation, however large it is, because its arithmetic is address arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from .footprint import RULES, Range, range_of

_ARITHMETIC = frozenset(
    ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max", "Cast", "EQ", "NE", "LT", "LE",
     "GT", "GE", "And", "Or", "Not", "Select", "Call")
)  # fmt: skip
LOADS = ("BufferLoad", "TensorLoad")
MAX_COPIES = 64  # unrolled copies of a statement up to which conditions are decided copy by copy


def counted(
    value: Any, loops: Sequence[tuple[Any, int]], unrolled: Sequence[Any], values: Mapping[Any, Any]
) -> tuple[float, list[Any]]:
    """Count the operations of an expression, averaged over the copies that `unrolled` loops make, and collect
    its loads. `loops` are the enclosing loops' variables and trip counts, `values` the expressions that other
    variables are bound to.
    """
    ranges = {var: (0, max(0, trips - 1)) for var, trips in loops}
    tested = _tested_variables(value, values)
    enumerated = [
        (var, trips) for var, trips in loops if var in tested and any(var.same_as(u) for u in unrolled)
    ]
    copies = 1
    for _, trips in enumerated:
        copies *= trips
    if copies > MAX_COPIES:
        enumerated = []
    total, reachable = 0, 0
    loads: dict[int, Any] = {}
    for numbers in product(*(range(trips) for _, trips in enumerated)):
        here = {**ranges, **{var: (n, n) for (var, _), n in zip(enumerated, numbers, strict=True)}}
        operations, read = _count_copy(value, here, values)
        loads.update(read)
        total, reachable = total + operations, reachable + 1
    return total / reachable, list(loads.values())


def parts(value: Any) -> Iterator[Any]:
    """Yield an expression and its subexpressions, without the indices of its loads."""
    pending = [value]
    while pending:
        node = pending.pop()
        yield node
        pending += _children(node)


def _children(node: Any) -> list[Any]:
    kind = type(node).__name__
    if kind == "Call":
        return list(node.args)
    if kind == "Select":
        return [node.condition, node.true_value, node.false_value]
    if kind == "Cast":
        return [node.value]
    if kind in LOADS:
        return []
    return [getattr(node, name) for name in ("a", "b") if hasattr(node, name)]


def _choice(node: Any) -> list[Any] | None:
    """Return the condition and the two branches of a conditional expression; None for other expressions."""
    kind = type(node).__name__
    if kind == "Select" or (kind == "Call" and str(node.op.name).endswith("if_then_else")):
        return _children(node)
    return None


def _tested_variables(value: Any, values: Mapping[Any, Any]) -> set[Any]:
    """Return the loop variables that conditions on indices depend on."""
    variables: set[Any] = set()
    for node in parts(value):
        choice = _choice(node)
        if choice is None or not _about_indices(choice[0]):
            continue
        pending = [choice[0]]
        while pending:
            for part in parts(pending.pop()):
                if type(part).__name__ != "Var":
                    continue
                if part in values:
                    pending.append(values[part])
                else:
                    variables.add(part)
    return variables


_LOGIC = ("And", "Or", "Not")
_COMPARED = ("EQ", "NE", "LT", "LE", "GT", "GE")


def _about_indices(question: Any) -> bool:
    return all(
        type(part).__name__ in (*_LOGIC, *_COMPARED, *RULES, "Var", "IntImm", "Cast")
        for part in parts(question)
    )


def _answer(question: Any, ranges: Mapping[Any, Range], values: Mapping[Any, Any]) -> bool | None:
    """Decide a condition on indices; None if it cannot be decided. Conditions are a few levels deep."""
    kind = type(question).__name__
    if kind == "Not":
        inner = _answer(question.a, ranges, values)
        return None if inner is None else not inner
    if kind in ("And", "Or"):
        both = [_answer(part, ranges, values) for part in (question.a, question.b)]
        if (kind == "Or") in both:
            return kind == "Or"
        return None if None in both else kind == "And"
    if kind not in _COMPARED:
        return None
    (a, b), (c, d) = (range_of(part, ranges, values) for part in (question.a, question.b))
    always, never = {
        "LT": (b < c, a >= d), "LE": (b <= c, a > d), "GT": (a > d, b <= c), "GE": (a >= d, b < c),
        "EQ": (a == b == c == d, b < c or d < a), "NE": (b < c or d < a, a == b == c == d),
    }[kind]  # fmt: skip
    return True if always else False if never else None


def _count_copy(
    value: Any, ranges: Mapping[Any, Range], values: Mapping[Any, Any]
) -> tuple[int, dict[int, Any]]:
    """Count the operations of one copy of a statement, and collect its loads by their structural hash."""
    from tvm_ffi import structural_hash

    operations = 0
    loads: dict[int, Any] = {}
    numbers: dict[tuple[Any, ...], int] = {}  # value numbers, by operation and operands' value numbers
    done: list[int] = []
    pending: list[tuple[Any, tuple[Any, ...] | None]] = [(value, None)]
    while pending:
        node, made_of = pending.pop()
        if made_of is None:
            choice = _choice(node)
            kind = type(node).__name__
            if choice is not None and _about_indices(choice[0]):
                answer = _answer(choice[0], ranges, values)
                if answer is not None:
                    pending.append((choice[1] if answer else choice[2], None))
                    continue
                condition = ("question", structural_hash(choice[0]), 2)
                pending += [(node, condition), (choice[1], None), (choice[2], None)]
            elif kind in LOADS:
                it = structural_hash(node)
                loads.setdefault(it, node)
                done.append(numbers.setdefault((it,), len(numbers)))
            else:
                children = _children(node)
                name = "" if children else structural_hash(node)
                pending.append((node, (kind, str(node.op.name) if kind == "Call" else name, len(children))))
                pending += [(child, None) for child in children]
            continue
        kind, name, count = made_of
        own = tuple(done[len(done) - count :])
        del done[len(done) - count :]
        key = (kind, name, own)
        if key not in numbers:
            numbers[key] = len(numbers)
            operations += kind in _ARITHMETIC or kind == "question"
            if kind == "Add" and "Mul" in (type(node.a).__name__, type(node.b).__name__):
                operations -= 1  # a multiply-add is one instruction
        done.append(numbers[key])
    return operations, loads
