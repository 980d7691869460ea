"""Against the reference: every program typed as TVM 0.14 typed it, and the ill-typed refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relay_explorer.ir import (
    Call,
    GlobalTypeVar,
    IRModule,
    Op,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeInferenceError,
    TypeVar,
    difference,
    post_order,
)
from relay_explorer.text import parse
from relay_explorer.typing import infer_types

CASES = json.loads((Path(__file__).parents[1] / "data" / "conformance.json").read_text())
WELL_TYPED = [name for name, case in CASES.items() if case["well_typed"]]
ILL_TYPED = [name for name, case in CASES.items() if not case["well_typed"]]


def spelled(type_: Type) -> str:
    """Write a type as the reference's `str` does: tensors in Relay's format, everything else as constructor
    calls.
    """
    return str(type_) if isinstance(type_, TensorType) else _nested(type_)


def _nested(type_: Type) -> str:
    match type_:
        case TensorType():
            return f'I.TensorType([{", ".join(map(str, type_.shape))}], "{type_.dtype}")'
        case TupleType():
            return f"T.Tuple({', '.join(map(_nested, type_.fields))})"
        case TypeVar():
            return f'I.TypeVar("{type_.name_hint}", "Type")'
        case GlobalTypeVar():
            return f'I.GlobalTypeVar("{type_.name_hint}", "AdtHandle")'
        case TypeCall():
            return f"TypeCallNode({_nested(type_.func)}, [{', '.join(map(_argument, type_.args))}])"
    raise AssertionError(type_)


def _argument(type_: Type) -> str:
    """Inside a type call the reference wrote tensor types in a third way."""
    if isinstance(type_, TensorType):
        return f"TensorType([{', '.join(map(str, type_.shape))}], {type_.dtype})"
    return _nested(type_)


def calls(module: IRModule, function: str) -> list[list[str]]:
    result = [n for n in post_order(module[function]) if isinstance(n, Call)]
    return [
        [c.op.name if isinstance(c.op, Op) else type(c.op).__name__, spelled(c.checked_type)] for c in result
    ]


@pytest.mark.parametrize("name", WELL_TYPED)
def test_types_of_every_call(name: str) -> None:
    case = CASES[name]
    module = infer_types(parse(case["text"]))
    assert {g: calls(module, g) for g in case["types"]} == case["types"]


@pytest.mark.parametrize("name", WELL_TYPED)
def test_result_type(name: str) -> None:
    result = infer_types(parse(CASES[name]["text"]))["main"].ret_type
    assert result is not None
    assert spelled(result) == CASES[name]["ret"]


@pytest.mark.parametrize("name", WELL_TYPED)
def test_inference_is_idempotent(name: str) -> None:
    once = infer_types(parse(CASES[name]["text"]))
    assert difference(once, infer_types(once)) is None


@pytest.mark.parametrize("name", ILL_TYPED)
def test_ill_typed_programs_are_refused_with_the_place(name: str) -> None:
    with pytest.raises(TypeInferenceError) as caught:
        infer_types(parse(CASES[name]["text"]))
    assert caught.value.span is not None
    assert "^" in str(caught.value)


def test_the_set_is_whole() -> None:
    assert (len(WELL_TYPED), len(ILL_TYPED)) == (50, 8)
