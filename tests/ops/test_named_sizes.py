"""Sizes with names through every operator: with the numbers put in that the names stand for, the type is that
of the program with numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relay_explorer import relay
from relay_explorer.ir.bind import bind
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Expr, Function, Var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.size import Any, SizeVar
from relay_explorer.ir.size_parts import substituted
from relay_explorer.ir.types import TensorType, TupleType, Type
from relay_explorer.ir.walk import free_vars
from relay_explorer.models.operator_calls import CALLS
from relay_explorer.typing import infer_types


def name_of(call: Call) -> str:
    assert isinstance(call.op, Op)
    return call.op.name


def result(call: Expr) -> Type:
    main = infer_types(IRModule.from_expr(Function(free_vars(call), call)))["main"]
    assert isinstance(main, Function)
    return main.body.checked_type


def with_names(call: Call) -> Iterator[tuple[Expr, dict[SizeVar, int]]]:
    """The call with one dimension of one argument named, and with all of one argument, or of all."""
    params = [p for p in free_vars(call) if isinstance(p.type_annotation, TensorType)]
    shapes = {p: p.type_annotation.shape for p in params if isinstance(p.type_annotation, TensorType)}
    places = [(p, axis) for p in params for axis in range(len(shapes[p]))]
    choices = [[place] for place in places]
    choices += [[place for place in places if place[0] is p] for p in params]
    by_extent: dict[int, SizeVar] = {}
    for chosen in choices:
        sizes: dict[SizeVar, int] = {}
        other: dict[Var | str, Expr] = {}
        for p in params:
            dims = list(shapes[p])
            for q, axis in chosen:
                extent = dims[axis] if q is p else None
                if isinstance(extent, int) and extent > 1:
                    dims[axis] = by_extent.setdefault(extent, SizeVar(f"n{extent}"))
                    sizes[by_extent[extent]] = extent
            assert isinstance(p.type_annotation, TensorType)
            other[p] = Var(p.name_hint, TensorType(dims, p.type_annotation.dtype))
        if sizes:
            yield bind(call, other), sizes


def agrees(found: Type, wanted: Type, sizes: dict[SizeVar, int]) -> bool:
    """Whether two types are the same once the names have their values; `?` is anything."""
    if isinstance(found, TupleType) and isinstance(wanted, TupleType):
        return len(found.fields) == len(wanted.fields) and all(
            agrees(f, w, sizes) for f, w in zip(found.fields, wanted.fields)
        )
    assert isinstance(found, TensorType)
    assert isinstance(wanted, TensorType)
    return (
        found.dtype == wanted.dtype
        and len(found.shape) == len(wanted.shape)
        and all(
            isinstance(f, Any) or isinstance(w, Any) or substituted(f, sizes) == w
            for f, w in zip(found.shape, wanted.shape)
        )
    )


@pytest.mark.parametrize("call", CALLS, ids=name_of)
def test_a_type_with_names_is_that_of_the_numbers(call: Call) -> None:
    wanted = result(call)
    for named, sizes in with_names(call):
        try:
            found = result(named)
        except RelayError:
            continue  # it may ask for a number where another argument, or an attribute, has one
        assert agrees(found, wanted, sizes), f"{found} is not {wanted}, with {sizes}"


def test_an_image_is_resized_to_named_sizes() -> None:
    rows, columns = SizeVar("rows"), SizeVar("columns")
    data = relay.var("image", shape=(1, 3, 8, 9))
    assert str(result(relay.image.resize2d(data, (rows, columns * 2)))) == (
        "Tensor[(1, 3, rows, 2 * columns), float32]"
    )
    for size in ((0, rows), (-1, 4), (Any(), 4), (rows,)):
        with pytest.raises(RelayError, match="must be 2 positive numbers"):
            result(relay.image.resize2d(data, size))
