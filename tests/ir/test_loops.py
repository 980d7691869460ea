"""Loops built from Python."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import relay
from relay_explorer.ir.loops import while_loop

I32 = relay.scalar_type("int32")


def test_a_loop_counts_and_adds() -> None:
    i, total = relay.var("i", "int32"), relay.var("total", "int32")
    loop = while_loop(
        lambda i, total: relay.less(i, relay.const(10)), [i, total], lambda i, total: (i + 1, total + i)
    )
    result = relay.create_executor().evaluate(loop(relay.const(0), relay.const(0)))
    assert [v.numpy() for v in result] == [10, 45]
    assert relay.transform.InferTypeLocal(loop) == relay.FuncType([I32, I32], relay.TupleType([I32, I32]))
    assert isinstance(loop.value, relay.Function)
    assert [p.name_hint for p in loop.value.params] == ["i", "total"]
    assert not {i, total} & set(loop.value.params)


def test_rows_are_collected_whose_number_is_not_known() -> None:
    i, rows = relay.var("i", "int32"), relay.var("rows", shape=(relay.Any(), 2), dtype="int32")

    def body(i: relay.Expr, rows: relay.Expr) -> list[relay.Expr]:
        cell = relay.reshape(i, (1, 1))
        row = relay.concatenate([cell, cell], axis=1)
        return [i + relay.const(1), relay.concatenate([rows, row], axis=0)]

    loop = while_loop(lambda i, rows: relay.less(i, relay.const(3)), [i, rows], body)
    start = relay.const([[7, 7]], "int32")
    result = relay.create_executor().evaluate(relay.TupleGetItem(loop(relay.const(0), start), 1))
    assert result.numpy().tolist() == [[7, 7], [0, 0], [1, 1], [2, 2]]


def test_many_turns() -> None:
    loop = while_loop(lambda n: relay.less(relay.const(0), n), [relay.var("n", "int32")], lambda n: [n - 1])
    (last,) = relay.create_executor().evaluate(loop(relay.const(20_000)))
    assert last.numpy() == 0


def test_a_body_that_forgets_a_variable() -> None:
    with raises(snapshot("RelayError: error: the loop has 2 variables, but its body returns 1 values")):
        while_loop(lambda a, b: a, [relay.var("a", "bool"), relay.var("b", "bool")], lambda a, b: [a])


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (relay.TensorType((3, relay.Any())), True),
        (relay.TensorType((3, 4)), False),
        (relay.TupleType([I32, relay.RefType(relay.TensorType((relay.Any(),)))]), True),
        (relay.FuncType([relay.TensorType((relay.Any(),))], I32), True),
        (relay.TypeCall(relay.GlobalTypeVar("List"), [relay.TensorType((relay.Any(),))]), True),
        (relay.TypeVar("A"), False),
    ],
)
def test_dynamic_types(type_: relay.Type, expected: bool) -> None:
    assert relay.ty.is_dynamic(type_) is expected
