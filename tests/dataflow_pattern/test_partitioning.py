"""Partitioning: functions made of matches, their parameters and names, and what stays where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relay_explorer import dataflow_pattern as dfp
from relay_explorer import models, relay
from relay_explorer.analysis import free_vars, well_formed
from relay_explorer.dataflow_pattern import FunctionPattern, is_constant, is_op, is_tuple, is_var, wildcard
from relay_explorer.ir import assert_structural_equal, structural_equal
from relay_explorer.ir.attrs import Attrs
from relay_explorer.ir.narrow import as_a, as_call, as_function, as_tensor_type
from relay_explorer.ir.walk import post_order

X = relay.var("x", shape=(2, 3))
Y = relay.var("y", shape=(2, 3))
W = relay.var("w", shape=(4, 3))
B = relay.var("b", shape=(4,))
DENSE = is_op("nn.bias_add")(is_op("nn.dense")(wildcard(), wildcard()), wildcard())


def noted(log: list[Any], item: object) -> bool:
    """Append to a log where an expression must give something: False."""
    log.append(item)
    return False


def layer(x: relay.Expr, w: relay.Expr, b: relay.Expr) -> relay.Expr:
    return relay.nn.bias_add(relay.nn.dense(x, w), b)


def composite(params: list[str], body: Callable[..., relay.Expr], name: str, **attrs: str) -> relay.Function:
    result = [relay.var(p) for p in params]
    return relay.Function(result, body(*result), attrs={"PartitionedFromPattern": name, **attrs})


def made_functions(expr: relay.Expr) -> list[relay.Function]:
    return [
        e for e in post_order(expr) if isinstance(e, relay.Function) and "PartitionedFromPattern" in e.attrs
    ]


class TestTheFunction:
    def test_takes_what_the_leaves_matched(self) -> None:
        out = DENSE.partition(relay.nn.relu(layer(relay.exp(X), W, B)))
        function = composite(["p", "q", "r"], layer, "nn.dense_nn.bias_add_")
        assert_structural_equal(out, relay.nn.relu(function(relay.exp(X), W, B)))

    def test_has_the_attributes_that_were_asked_for(self) -> None:
        out = DENSE.partition(layer(X, W, B), {"Composite": "dense_bias", "level": 2})
        assert dict(as_function(as_call(out).op).attrs.items()) == {
            "PartitionedFromPattern": "nn.dense_nn.bias_add_", "Composite": "dense_bias", "level": 2,
        }  # fmt: skip

    def test_is_named_after_all_that_is_in_it(self) -> None:
        f = relay.Function([Y], relay.If(relay.const(True), Y, relay.exp(Y)))
        pattern = is_tuple([FunctionPattern(None, wildcard())(None), dfp.is_tuple_get_item(wildcard())])
        out = pattern.partition(relay.Tuple([f(X), relay.TupleGetItem(relay.var("t"), 1)]))
        assert (
            as_function(as_call(out).op).attrs["PartitionedFromPattern"]
            == "exp_If_FunctionCall_TupleGetItem1_Tuple_"
        )

    def test_takes_what_is_used_twice_once(self) -> None:
        out = (wildcard() * wildcard()).partition(relay.exp(X) * X + Y)
        assert len(as_function(as_call(as_call(out).args[0]).op).params) == 2
        shared = relay.exp(X)
        square = (wildcard() * wildcard()).partition(shared * shared)
        assert len(as_function(as_call(square).op).params) == 1

    def test_constants_stay_inside_where_the_pattern_asks_for_them(self) -> None:
        two = relay.const(2.0)
        inside = (wildcard() * is_constant()).partition(X * two)
        assert (len(as_call(inside).args), "2f" in str(as_call(inside).op)) == (1, True)
        outside = (wildcard() * wildcard()).partition(X * two)
        assert as_call(outside).args[1] is two

    def test_takes_the_parts_where_any_will_do(self) -> None:
        pattern = is_op("concatenate")(is_tuple(None))
        out = pattern.partition(relay.concatenate([X, Y, X], axis=0))
        assert as_call(out).args == (X, Y)
        assert as_function(as_call(out).op).attrs["PartitionedFromPattern"] == "Tuple_concatenate_"

    def test_is_closed(self) -> None:
        """What a pattern does not say, at the end of a path or in a function, is a parameter too."""
        pattern = is_op("add")(wildcard(), wildcard()).dominates(is_op("nn.dense")(wildcard(), wildcard()))
        out = pattern.partition(relay.nn.bias_add(relay.nn.dense(X, W), B) + relay.const(1.0))
        assert as_call(out).args == (X, W, B)
        assert free_vars(as_call(out).op) == []
        inner = relay.Function([Y], Y + X)
        out = FunctionPattern(None, wildcard())(wildcard()).partition(inner(relay.exp(X)))
        assert free_vars(as_call(out).op) == []
        assert as_call(out).args[1] is X

    def test_and_its_call_know_where_they_come_from(self) -> None:
        old = layer(X, W, B)
        out = DENSE.partition(old)
        assert out.origin == as_call(out).op.origin == (old,)


class TestWhichMatches:
    def test_check_decides(self) -> None:
        observed: list[relay.Expr] = []
        wide = DENSE.partition(
            layer(X, W, B),
            check=lambda pre: noted(observed, pre) or as_a(Attrs, as_call(pre).attrs)["axis"] == 1,
        )
        assert isinstance(as_call(wide).op, relay.Function)
        assert structural_equal(observed[0], layer(X, W, B))
        expr = layer(X, W, B)
        assert DENSE.partition(expr, check=lambda pre: False) is expr

    def test_one_after_the_other(self) -> None:
        out = DENSE.partition(layer(layer(X, W, B), relay.var("w2"), relay.var("b2")))
        assert len(made_functions(out)) == 2
        assert isinstance(as_call(as_call(out).args[0]).op, relay.Function)

    def test_what_is_in_a_partition_is_not_partitioned_again(self) -> None:
        once = DENSE.partition(layer(X, W, B))
        assert DENSE.partition(once) is once
        assert is_op("nn.dense")(None).partition(once) is once

    def test_one_whose_middle_is_used_elsewhere_stays(self) -> None:
        dense = relay.nn.dense(X, W)
        expr = relay.Tuple([relay.nn.bias_add(dense, B), dense])
        assert DENSE.partition(expr) is expr

    def test_one_whose_middle_is_used_by_what_it_takes_is_moved(self) -> None:
        """Swish: the sigmoid uses the middle, but all of it ends up in the product."""
        dense = relay.nn.dense(X, W)
        pattern = is_op("nn.dense")(wildcard(), wildcard()) * wildcard()
        out = pattern.partition(dense * relay.sigmoid(dense))
        assert structural_equal(as_call(out).args[2], relay.sigmoid(relay.nn.dense(X, W)))

    def test_nothing_to_move(self) -> None:
        expr = relay.exp(X)
        for pattern in (is_var(), is_op("exp"), wildcard().has_dtype("float32"), is_constant()):
            assert pattern.partition(expr) is expr

    def test_variables_that_the_match_binds_stay_inside(self) -> None:
        v = relay.var("v")
        bound = is_var()
        pattern = dfp.is_let(bound, wildcard(), is_op("exp")(bound))
        out = pattern.partition(relay.Let(v, X, relay.exp(v)))
        assert as_call(out).args == (X,)
        assert well_formed(relay.Function([X], out))

    def test_an_argument_that_uses_such_a_variable_keeps_the_match_in_place(self) -> None:
        v = relay.var("v")
        pattern = dfp.is_let(is_var(), wildcard(), is_op("exp")(wildcard()))
        expr = relay.Let(v, X, relay.exp(relay.tanh(v)))
        assert pattern.partition(expr) is expr

    def test_an_argument_in_a_branch_keeps_the_match_in_place(self) -> None:
        """As an argument it would always be computed; this one would never come to an end."""
        pattern = dfp.is_if(wildcard(), wildcard(), wildcard())
        n = relay.var("n", "int32")
        choice = relay.If(relay.less(n, relay.const(1)), n, relay.GlobalVar("main")(n - relay.const(1)))
        assert pattern.partition(choice) is choice
        plain = relay.If(relay.less(n, relay.const(1)), n, relay.const(1))
        assert isinstance(as_call(pattern.partition(plain)).op, relay.Function)

    def test_what_is_generic_is_no_argument(self) -> None:
        module = relay.parse("""
        def @same[A](%a: A) -> A { %a }
        def @main(%x: int32) { let %f = @same; (@same[int32](%x), %f) }
        """)
        pattern = wildcard()(wildcard())
        out = pattern.partition(module["main"])
        module["main"] = out
        typed = relay.transform.InferType()(module)
        assert "fn (%FunctionVar_0_0: int32" in str(typed["main"])
        f = relay.var("f")
        call = relay.Call(f, [X], type_args=[X.checked_type])
        assert pattern.partition(call) is call

    def test_a_function_that_is_not_called(self) -> None:
        function = relay.Function([X], relay.exp(X))
        with pytest.warns(UserWarning, match="a FunctionPattern matches what is already a function"):
            assert FunctionPattern(None, wildcard()).partition(function) is function

    def test_what_is_no_expression(self) -> None:
        with pytest.raises(TypeError, match=r"partition takes an expression, such as mod\['main'\]"):
            DENSE.partition(relay.IRModule())  # type: ignore[arg-type]  # refused


def test_a_real_network_gives_the_same_numbers() -> None:
    module = models.load("lenet")
    block = is_op("nn.relu")(is_op("nn.bias_add")(wildcard()(wildcard(), wildcard()), wildcard()))
    function = module["main"]
    out = block.partition(function, {"Composite": "block"})
    typed = relay.transform.InferType()(relay.IRModule.from_expr(out))
    assert len(made_functions(typed["main"])) == str(function).count("nn.relu(") >= 3
    draw = np.random.default_rng(1)
    shapes = [as_tensor_type(p.type_annotation).concrete_shape for p in typed["main"].params]
    values = [draw.normal(size=shape).astype("float32") for shape in shapes]
    results = [relay.create_executor("debug", mod=m).evaluate()(*values).numpy() for m in (module, typed)]
    assert np.array_equal(*results)


def test_a_deep_program() -> None:
    expr: relay.Expr = X
    for _ in range(10_000):
        expr = relay.nn.relu(relay.exp(expr))
    out = is_op("nn.relu")(is_op("exp")(wildcard())).partition(expr)
    assert len(made_functions(out)) == 10_000
