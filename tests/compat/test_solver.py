"""What old code finds of the type solver, of values of running programs, and of single expressions' types."""

from __future__ import annotations

from typing import Any

import pytest

from relay_explorer import relay
from relay_explorer.compat import tvm as ours

tvm: Any = ours


def test_the_solver_piece_by_piece() -> None:
    solver = tvm.relay.analysis._ffi_api._test_type_solver()
    unify, resolve, add, solve = map(solver, ("Unify", "Resolve", "AddConstraint", "Solve"))
    a, b = relay.IncompleteType(), relay.IncompleteType()
    unify(relay.TupleType([a, b]), relay.TupleType([relay.TensorType((3, 1)), b]))
    broadcast = tvm.ir.EnvFunc.get("tvm.relay.type_relation.Broadcast")
    add(relay.TypeRelation(broadcast, [a, relay.TensorType((4,)), b], 2, None))
    assert solve()
    assert resolve(b) == relay.TensorType((3, 4))
    assert solver("Frobnicate") is None
    with pytest.raises(tvm._ffi.base.TVMError, match="cannot be one type"):
        unify(b, relay.TupleType([]))
    with pytest.raises(tvm.error.TVMError, match="is not a type relation"):
        add(relay.TypeRelation(None, [a, b], 1, None))  # type: ignore[arg-type]


def test_tuples_are_what_the_virtual_machine_called_adts() -> None:
    container = tvm.runtime.container
    pair = container.tuple_object([relay.const(1), relay.const(2)])
    assert isinstance(pair, container.ADT)
    assert len(pair) == 2
    x = relay.var("x", relay.TupleType([relay.scalar_type("int32")] * 2))
    result = relay.create_executor().evaluate(relay.Function([x], relay.Tuple([x, x])))(pair)
    assert isinstance(result, container.ADT)
    assert isinstance(result[1], container.ADT)
    assert not isinstance(result[0][0], container.ADT)
    assert container.tuple_object() == ()
    assert container.ADT(0, [1, 2]) == (1, 2)
    with pytest.raises(tvm.error.TVMError, match="needs a constructor"):
        container.ADT(1, [])
    assert container.getitem_helper("abc", lambda text, k: text[k], 3, -1) == "c"
    assert container.getitem_helper("abc", lambda text, k: text[k], 3, slice(1, None)) == ["b", "c"]
    with pytest.raises(IndexError, match="index 3 is out of range"):
        container.getitem_helper("abc", lambda text, k: text[k], 3, 3)


def test_the_importers_helper_that_infers() -> None:
    infer_type = tvm.relay.frontend.common.infer_type
    assert infer_type(relay.const(1.5)).checked_type == relay.scalar_type("float32")
