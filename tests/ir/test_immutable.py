"""Nodes are immutable: no field of any of them can be assigned or deleted once it is constructed."""

from __future__ import annotations

import copy
import pickle

import pytest
from inline_snapshot import snapshot

from relay_explorer import ir
from relay_explorer.ir import adt, expr, node, structural_equal, types
from relay_explorer.ir.annotate import set_checked_type, set_origin, set_span
from relay_explorer.ir.node import with_fields
from relay_explorer.ir.op import Op

X = expr.Var("x", types.TensorType((2, 3)))
LIST = types.GlobalTypeVar("List")
NIL = adt.Constructor("Nil", [], LIST)
A = types.TypeVar("a")
CALL = expr.Call(expr.GlobalVar("f"), [X])
CLAUSE = adt.Clause(adt.PatternConstructor(NIL), X)
FLOATS = types.TensorType((2,))

NODES: list[node.Node] = [
    X, CALL, NIL, A, LIST, CLAUSE, FLOATS,
    expr.Constant(1.0), expr.Tuple([X]), expr.TupleGetItem(expr.Tuple([X]), 0), expr.GlobalVar("f"),
    expr.Let(X, CALL, X), expr.If(X, X, X), expr.Function([X], X), expr.RefCreate(X), expr.RefRead(X),
    expr.RefWrite(X, X), adt.Match(X, [CLAUSE]), adt.TypeData(LIST, [A], [NIL]),
    adt.PatternWildcard(), adt.PatternVar(X), adt.PatternTuple([adt.PatternVar(X)]), CLAUSE.lhs,
    types.TupleType([FLOATS]), types.IncompleteType(), types.FuncType([FLOATS], FLOATS),
    types.TypeCall(LIST, [FLOATS]), types.RefType(FLOATS), types.TypeRelation(bool, [FLOATS], 1),
    expr.Call.of(expr.GlobalVar("f"), (X,)), expr.Let.of(X, CALL, X),
]  # fmt: skip


def _classes(base: type[node.Node]) -> set[type[node.Node]]:
    """Return the node classes of `ir` that have fields of their own, except those that unlock an instance."""
    below = {part for cls in base.__subclasses__() for part in _classes(cls)}
    own = (
        base._locked is base and base.__module__.startswith("relay_explorer.ir")
        if base is not node.Node
        else False
    )
    return below | ({base} if own else set())


def test_every_class_is_tried() -> None:
    abstract = {expr.Expr, types.Type, types.TypeConstraint, adt.Pattern, Op}
    assert _classes(node.Node) - abstract == {type(n) for n in NODES}


@pytest.mark.parametrize("part", NODES, ids=lambda part: type(part).__name__)
def test_no_field_can_be_assigned(part: node.Node) -> None:
    fields = type(part)._fields - {"__weakref__"}
    assert "span" in fields
    for name in fields:
        before = getattr(part, name)
        with pytest.raises(AttributeError, match=f"a {type(part).__name__} is immutable"):
            setattr(part, name, before)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(part, name)
        assert getattr(part, name) is before


def test_the_message_names_the_way() -> None:
    with pytest.raises(AttributeError) as assigned:
        CALL.args = ()
    assert str(assigned.value) == snapshot(
        "a Call is immutable, so its `args` cannot be assigned: build a new Call, or use "
        "`with_fields(node, args=…)` of relay_explorer.ir"
    )
    with pytest.raises(AttributeError, match="`set_origin` of"):
        CALL.origin = (X,)
    with pytest.raises(AttributeError, match="`set_checked_type` of"):
        CALL._checked_type = FLOATS


def test_annotations_have_one_way_in() -> None:
    call = expr.Call(expr.GlobalVar("f"), [X])
    assert set_origin(call, [X]) is call
    assert set_checked_type(call, FLOATS) is call
    assert set_span(call, None) is call
    assert (call.origin, call.checked_type) == ((X,), FLOATS)


def test_with_fields_builds_another() -> None:
    y = expr.Var("y")
    new = with_fields(CALL, args=[y])
    assert (new.op, new.args, new.origin) == (CALL.op, (y,), (CALL,))
    assert CALL.args == (X,)
    let = with_fields(expr.Let(X, CALL, X), var=y)
    assert (let.var, let.value) == (y, CALL)
    assert with_fields(FLOATS, dtype="int8") == types.TensorType((2,), "int8")
    function = set_checked_type(expr.Function([X], X), types.FuncType([FLOATS], FLOATS))
    assert with_fields(function)._checked_type is function._checked_type
    assert with_fields(function, body=CALL)._checked_type is None


def test_with_fields_refuses_what_is_no_field() -> None:
    with pytest.raises(
        TypeError, match="a Call has no field `arg`; it has `op`, `args`, `attrs`, `type_args`"
    ):
        with_fields(CALL, arg=[X])


def test_copies_and_pickles() -> None:
    assert copy.deepcopy(CALL) is CALL, "a copy of a data structure refers to the same program"
    for again in (copy.copy(CALL), pickle.loads(pickle.dumps(CALL))):
        assert again is not CALL
        assert type(again) is expr.Call
        assert structural_equal(again, CALL, map_free_vars=True)
        with pytest.raises(AttributeError):
            again.args = ()


def test_a_subclass_may_have_attributes_of_its_own() -> None:
    class Numbered(types.IncompleteType):
        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    numbered = Numbered(1)
    numbered.number = 2
    assert numbered.number == 2
    with pytest.raises(AttributeError, match="immutable"):
        numbered.kind = 1


def test_a_failed_constructor_leaves_nothing() -> None:
    with pytest.raises(TypeError):
        expr.Call(X, 3)  # type: ignore[arg-type]  # not a sequence
    assert ir.Call(X, [X]).args == (X,)


def test_nodes_built_in_inner_loops_are_like_others() -> None:
    call = expr.Call.of(CALL.op, CALL.args, None, (), None, (CALL,), FLOATS)
    assert type(call) is expr.Call
    assert structural_equal(call, CALL)
    assert (call.origin, call.checked_type, call.span) == ((CALL,), FLOATS, None)
    let = expr.Let.of(X, CALL, X, origin=(CALL,))
    assert type(let) is expr.Let
    assert structural_equal(let, expr.Let(X, CALL, X))
    assert let.origin == (CALL,)
