"""Infer the types of calls of every operator with huge, zero and negative numbers in each attribute that
takes integers and in each dimension of an argument. Prints what ends in neither a type nor a RelayError.

Run as a program, since it limits the memory of its process: `python -m tests.ops.huge_numbers`.
"""

from __future__ import annotations

import resource
import signal
import traceback
from collections.abc import Iterator

from relay_explorer.analysis import free_vars
from relay_explorer.ir.attrs import Attrs, Field
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Expr, Function, Tuple, Var, var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.types import Any, Dim, SizeVar, TensorType
from relay_explorer.models.operator_calls import CALLS
from relay_explorer.typing import infer_types

MEMORY = 3 << 29  # bytes of address space: several times what the package and its libraries take
SECONDS = 20.0  # of processor time for one call, far more than any takes
NUMBERS = (10**9, 2**63, 10**19, 10**6, -(10**9), -1, 0)
SIZES: tuple[Dim, ...] = (Any(), SizeVar("n"), 0, 1, 10**9, 2**60)


def values(field: Field, value: object) -> Iterator[object]:
    """What an attribute is tried with, of the kind that it has."""
    kind = field.kind.removesuffix(" | None")
    if kind in ("int", "Number", "int | Ints"):
        yield from NUMBERS
    if kind in ("Ints", "int | Ints", "Dims"):
        usual = value if isinstance(value, tuple) and value else (1,)
        yield ()
        for number in NUMBERS:
            yield (number,) * len(usual)
            yield (number, *usual[1:])
            yield (*usual[:-1], number)
    if kind == "Pairs":
        pairs = value if isinstance(value, tuple) and value else ((0, 0),)
        yield ()
        yield ((),) * len(pairs)
        for number in NUMBERS:
            yield ((number, number), *pairs[1:])


def with_numbers(attrs: Attrs) -> Iterator[Attrs]:
    """The attributes with each of those that take integers replaced in turn."""
    for name, field in attrs._fields.items():
        for value in values(field, getattr(attrs, name)):
            try:
                yield attrs.replace(**{name: value})
            except RelayError:  # refused where it is given
                continue


def with_sizes(call: Call, size: Dim, axis: int | None) -> list[Expr]:
    """The arguments with tensors that have `size` on that axis, or on all."""
    renewed: dict[Var, Var] = {}

    def renew(expr: Expr) -> Expr:
        if isinstance(expr, Tuple):
            return Tuple([renew(field) for field in expr.fields])
        type_ = expr.type_annotation if isinstance(expr, Var) else None
        if not isinstance(expr, Var) or not isinstance(type_, TensorType):
            return expr
        shape = [size if axis in (None, place) else dim for place, dim in enumerate(type_.shape)]
        return renewed.setdefault(expr, var(expr.name_hint, TensorType(shape, type_.dtype)))

    return [renew(arg) for arg in call.args]


def variants(call: Call) -> Iterator[Call]:
    for size in SIZES:
        for axis in (0, 1, 2, None):
            yield Call(call.op, with_sizes(call, size, axis), call.attrs)
    if isinstance(call.attrs, Attrs):
        changed = list(with_numbers(call.attrs))
        for args in (list(call.args), *(with_sizes(call, size, None) for size in SIZES)):
            yield from (Call(call.op, args, attrs) for attrs in changed)


def fault(call: Call) -> str | None:
    """How typing, counting the work of and printing the call went wrong; None where it did not."""
    try:
        module = infer_types(IRModule.from_expr(Function(free_vars(call), call)))
        body = module["main"].body
        assert isinstance(body, Call)
        assert isinstance(body.op, Op)
        body.op.flops(body.attrs, [arg.checked_type for arg in body.args], body.checked_type)
        module.astext()
    except RelayError:
        return None
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {frame.name} ({frame.filename}:{frame.lineno}): {error!s:.80}"
    return None


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def too_slow(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    signal.signal(signal.SIGVTALRM, too_slow)
    tried = 0
    for example in CALLS:
        assert isinstance(example.op, Op)
        for call in variants(example):
            tried += 1
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            found = fault(call)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if found is not None:
                types = ", ".join(str(v.type_annotation) for v in free_vars(call))
                print(f"{example.op.name}({types}; {call.attrs}): {found}", flush=True)
    print(f"{tried} calls tried")


if __name__ == "__main__":
    main()
