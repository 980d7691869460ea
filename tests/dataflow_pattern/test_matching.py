"""What patterns match, one small question each."""

from __future__ import annotations

import pytest

from relay_explorer import dataflow_pattern as dfp
from relay_explorer import relay
from relay_explorer.dataflow_pattern import (
    DFPattern,
    FunctionPattern,
    is_constant,
    is_expr,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from relay_explorer.ir import DictAttrs, TypeInferenceError
from relay_explorer.ir.narrow import as_call

X = relay.var("x", shape=(2, 3))
Y = relay.var("y", shape=(2, 3))
Z = relay.var("z", shape=(2, 3))
ANY = wildcard  # shorter where it is said often


def relu(e: relay.Expr) -> relay.Expr:
    return relay.nn.relu(e)


class TestOneExpression:
    def test_variables(self) -> None:
        assert is_var().match(X)
        assert is_var("x").match(X)
        assert not is_var("x").match(Y)
        assert not is_var().match(relay.const(1))
        assert not is_var("main").match(relay.GlobalVar("main"))

    def test_constants_of_any_value_or_of_one(self) -> None:
        assert is_constant().match(relay.const(7))
        assert is_expr(relay.const(7)).match(relay.const(7))
        assert not is_expr(relay.const(7)).match(relay.const(8))
        assert not is_expr(relay.const(7)).match(relay.const(7.0))

    def test_expressions_are_compared_by_what_they_say(self) -> None:
        assert is_expr(relay.exp(X)).match(relay.exp(X))
        assert not is_expr(relay.exp(X)).match(relay.exp(Y))

    def test_operators(self) -> None:
        assert is_op("exp").match(relay.op.get("exp"))
        assert not is_op("exp").match(relay.exp(X))

    def test_tuples(self) -> None:
        pair = relay.Tuple([X, Y])
        assert is_tuple([is_var("x"), ANY()]).match(pair)
        assert is_tuple(None).match(pair)
        assert is_tuple(None).match(relay.Tuple([]))
        assert is_tuple([]).match(relay.Tuple([]))
        assert not is_tuple([]).match(pair)
        assert not is_tuple([ANY()]).match(pair)

    def test_fields(self) -> None:
        second = relay.TupleGetItem(relay.Tuple([X, Y]), 1)
        assert is_tuple_get_item(is_tuple(None), 1).match(second)
        assert is_tuple_get_item(ANY()).match(second)
        assert not is_tuple_get_item(ANY(), 0).match(second)

    def test_functions(self) -> None:
        function = relay.Function([X, Y], X - Y)
        a, b = ANY(), ANY()
        assert FunctionPattern([a, b], a - b).match(function)
        assert not FunctionPattern([a, b], b - a).match(function)
        assert not FunctionPattern([a], ANY()).match(function)
        assert FunctionPattern(None, is_op("subtract")(None)).match(function)

    def test_choices(self) -> None:
        c, a, b = ANY(), ANY(), ANY()
        choice = relay.If(relay.less(X, Y), X, relu(Y))
        assert is_if(is_op("less")(a, b), a, is_op("nn.relu")(b)).match(choice)
        assert not is_if(c, a, a).match(choice)

    def test_let(self) -> None:
        v = relay.var("v")
        bound = is_var()
        assert is_let(bound, ANY(), is_op("exp")(bound)).match(relay.Let(v, X, relay.exp(v)))
        assert not is_let(bound, ANY(), is_op("exp")(bound)).match(relay.Let(v, X, relay.exp(X)))

    def test_wrapped_tuples_are_their_call(self) -> None:
        parts = relay.split(X, 3, axis=1)
        assert is_op("split")(ANY()).match(parts.astuple())
        assert is_tuple_get_item(is_op("split")(ANY()), 2).match(parts[2])


class TestCalls:
    def test_any_arguments(self) -> None:
        assert is_op("add")(None).match(X + Y)
        assert ANY()(None).match(relu(X))
        assert not is_op("add")(ANY()).match(X + Y)

    def test_of_functions_and_variables(self) -> None:
        f = relay.var("f")
        assert is_var("f")(ANY()).match(f(X))
        assert FunctionPattern(None, ANY())(None).match(relay.Function([X], relu(X))(Y))
        assert not is_var("f")(ANY()).match(relu(X))

    def test_a_pattern_used_twice_is_one_expression(self) -> None:
        a = ANY()
        assert (a - a).match(X - X)
        assert not (a - a).match(X - Y)
        assert not (a - a).match(relay.exp(X) - relay.exp(X))  # computed twice: two expressions

    def test_sums_and_products_match_in_either_order(self) -> None:
        for pattern, expr in (
            (is_var("x") + is_constant(), relay.const(1.0) + X),
            (is_var("y") * ANY(), X * Y),
        ):
            assert pattern.match(expr)
        assert not (is_var("x") - is_constant()).match(relay.const(1.0) - X)

    def test_the_other_order_forgets_what_the_first_has_bound(self) -> None:
        a, b = ANY(), ANY()
        assert ((a + is_op("exp")(b)) - b).match((relay.exp(Y) + X) - Y)

    def test_quotients_of_products(self) -> None:
        a, b, c = is_var("x"), is_var("y"), is_var("z")
        for expr in (X * Y / Z, Y * X / Z, X * (Y / Z), Y * (X / Z), (X / Z) * Y):
            assert (a * b / c).match(expr), expr
        for pattern in (a * (b / c), (b / c) * a, b * (a / c)):
            assert pattern.match(X * Y / Z), pattern
            assert pattern.match(Y * X / Z), pattern
        for pattern in (a * b / c, a * (b / c)):
            assert not pattern.match(X / Y * Z)
            assert not pattern.match(Z / (X * Y))

    def test_two_ways_from_one_expression(self) -> None:
        top = is_op("exp")(ANY())
        diamond = is_op("tanh")(top) + is_op("sqrt")(top)
        shared = relay.exp(X)
        assert diamond.match(relay.tanh(shared) + relay.sqrt(shared))
        assert not diamond.match(relay.tanh(relay.exp(X)) + relay.sqrt(relay.exp(X)))


class TestAlternatives:
    def test_either(self) -> None:
        either = is_op("exp") | is_op("log")
        assert either(ANY()).match(relay.exp(X))
        assert either(ANY()).match(relay.log(X))
        assert not either(ANY()).match(relay.sqrt(X))

    def test_optional(self) -> None:
        pattern = is_op("nn.dense")(ANY(), ANY()).optional(lambda d: is_op("nn.bias_add")(d, ANY()))
        pattern = pattern.optional(is_op("nn.relu"))
        dense = relay.nn.dense(X, Y)
        biased = relay.nn.bias_add(dense, Z)
        assert [pattern.match(e) for e in (dense, biased, relu(dense), relu(biased))] == [True] * 4
        assert not pattern.match(relu(relu(dense)))
        assert not pattern.match(relay.nn.bias_add(relu(dense), Z))

    def test_many_alternatives(self) -> None:
        pattern: DFPattern = is_var("v0")
        for k in range(1, 3000):
            pattern = pattern | is_var(f"v{k}")
        assert pattern.match(relay.var("v0"))
        assert pattern.match(relay.var("v2999"))
        assert not pattern.match(relay.var("w"))


class TestAttributes:
    def test_of_operators(self) -> None:
        elementwise = ANY().has_attr({"TOpPattern": relay.op.OpPattern.ELEMWISE})
        assert elementwise(ANY()).match(relay.exp(X))
        assert not elementwise(None).match(relay.nn.dense(X, Y))
        assert not ANY().has_attr({"NoSuchThing": 1}).match(relay.op.get("exp"))

    def test_of_calls(self) -> None:
        softmax = relay.nn.softmax(X, axis=1)
        assert is_op("nn.softmax")(ANY()).has_attr({"axis": 1}).match(softmax)
        assert not ANY().has_attr({"axis": 0}).match(softmax)
        assert not ANY().has_attr({"axes": 1}).match(softmax)
        assert not ANY().has_attr({"axis": 1}).match(relay.const(1))

    def test_lists_and_tuples_are_the_same(self) -> None:
        transposed = relay.transpose(X, axes=[1, 0])
        for axes in ([1, 0], (1, 0)):
            assert ANY().has_attr({"axes": axes}).match(transposed)
        assert not ANY().has_attr({"axes": [0, 1]}).match(transposed)
        assert not ANY().has_attr({"axes": 1}).match(transposed)

    def test_of_functions_and_of_calls_of_them(self) -> None:
        function = relay.Function([X], relu(X)).with_attr("Composite", "activation")
        named = ANY().has_attr({"Composite": "activation"})
        assert named.match(function)
        assert named(ANY()).match(function(Y))
        assert not named.match(relay.Function([X], relu(X)))
        call = relay.Call(relay.var("f"), [X], DictAttrs(speed=3))
        assert ANY().has_attr({"speed": 3}).match(call)
        assert ANY().has_attr({}).match(relay.Call(relay.var("f"), [X]))


class TestTypes:
    def test_of_annotated_variables(self) -> None:
        assert dfp.has_type(relay.TensorType((2, 3))).match(X)
        assert dfp.has_dtype("float32").match(X)
        assert dfp.has_shape([2, 3]).match(X)
        assert not dfp.has_shape([3, 2]).match(X)
        assert not dfp.has_dtype("int8").match(X)

    def test_are_inferred_where_they_are_not_known(self) -> None:
        product = relay.nn.dense(X, relay.var("w", shape=(5, 3)))
        assert is_op("nn.dense")(None).has_shape((2, 5)).match(product)
        assert not is_op("nn.dense")(None).has_shape((2, 3)).match(product)
        assert dfp.has_type(relay.TupleType([relay.TensorType((2, 3))])).match(relay.Tuple([X]))
        assert not dfp.has_dtype("float32").match(relay.Tuple([X]))

    def test_what_nobody_asks_for_needs_no_type(self) -> None:
        untyped = relay.var("u")
        assert is_op("exp")(dfp.has_dtype("float32")).match(relay.exp(X))
        pair = relay.Tuple([untyped, relay.exp(X)])
        assert is_tuple([ANY(), dfp.has_shape((2, 3), is_op("exp")(None))]).match(pair)

    def test_one_that_cannot_be_inferred_says_why(self) -> None:
        with pytest.raises(TypeInferenceError, match="give `%u` a type"):
            dfp.has_dtype("float32").match(relay.exp(relay.var("u")))

    def test_operators_have_no_one_type(self) -> None:
        assert not dfp.has_dtype("float32").match(relay.op.get("exp"))


class TestDominators:
    CONV = is_op("nn.dense")(ANY(), ANY())
    STEP = ANY().has_attr({"TOpPattern": 0})(ANY())

    def pattern(self, path: dfp.DFPattern | None = None) -> dfp.DominatorPattern:
        return dfp.dominates(self.CONV, path or self.STEP, is_op("add")(ANY(), ANY()))

    def test_a_diamond_of_any_depth(self) -> None:
        for left in range(4):
            for right in range(1, 4):
                top = relay.nn.dense(X, Y)
                a = b = top
                for _ in range(left):
                    a = relay.tanh(a)
                for _ in range(right):
                    b = relay.exp(b)
                assert self.pattern().match(a + b)

    def test_both_ways_must_lead_to_one_parent(self) -> None:
        one, two = relay.nn.dense(X, Y), relay.nn.dense(X, Y)
        assert not self.pattern().match(relay.tanh(one) + relay.exp(two))

    def test_a_step_that_is_no_step(self) -> None:
        top = relay.nn.dense(X, Y)
        assert not self.pattern().match(relay.tanh(top) + relay.nn.softmax(top))
        assert not self.pattern().match(relay.tanh(top) + relay.exp(X))

    def test_no_parent(self) -> None:
        assert not self.pattern().match(relay.tanh(X) + relay.exp(X))
        assert not dfp.dominates(self.CONV, ANY(), is_op("add")(None)).match(relay.tanh(X) + X)

    def test_the_parent_must_not_be_used_elsewhere(self) -> None:
        top = relay.nn.dense(X, Y)
        meet = relay.tanh(top) + relay.exp(top)
        result = dfp.partition(self.pattern(), meet)
        assert isinstance(as_call(result).op, relay.Function)
        outside = relay.Tuple([meet, top])
        assert dfp.partition(self.pattern(), outside) is outside

    def test_without_a_path_anything_may_be_on_the_way(self) -> None:
        pattern = is_op("add")(ANY(), ANY()).dominates(self.CONV)
        top = relay.nn.dense(X, Y)
        assert pattern.match(relay.nn.softmax(top) + relay.nn.bias_add(top, Z))

    def test_inside_a_larger_pattern(self) -> None:
        top = relay.nn.dense(X, Y)
        assert is_op("sqrt")(self.pattern()).match(relay.sqrt(relay.tanh(top) + relay.exp(top)))

    def test_the_parts_of_each_step_are_its_own(self) -> None:
        argument = ANY()
        step = ANY().has_attr({"TOpPattern": 0})(argument)
        pattern = dfp.dominates(self.CONV, step, is_op("add")(ANY(), ANY()))
        top = relay.nn.dense(X, Y)
        assert pattern.match(relay.tanh(relay.exp(top)) + relay.sqrt(top))


class TestRecursion:
    def tower(self) -> dfp.DFPattern:
        more = wildcard()
        tower = is_op("nn.relu")(is_var() | more)
        more.redirect_to(tower)
        return tower

    def test_a_chain_of_any_length(self) -> None:
        expr: relay.Expr = X
        for _ in range(5):
            expr = relu(expr)
            assert self.tower().match(expr)
        assert not self.tower().match(relu(relay.exp(X)))

    def test_deeper_than_python_recurses(self) -> None:
        expr: relay.Expr = X
        for _ in range(20_000):
            expr = relu(expr)
        assert self.tower().match(expr)

    def test_each_round_binds_its_own(self) -> None:
        factor, more = wildcard(), wildcard()
        squares = is_op("add")(is_op("multiply")(factor, factor), more) | is_op("multiply")(factor, factor)
        more.redirect_to(squares)
        assert squares.match(X * X + (Y * Y + Z * Z))
        assert not squares.match(X * X + (Y * Y + X * Z))

    def test_shared_expressions_are_looked_at_once(self) -> None:
        left, right = wildcard(), wildcard()
        for leaf, answer in ((is_var("x"), True), (is_var("y"), False)):
            sums = is_op("add")(left, right) | leaf
            left.redirect_to(sums)
            right.redirect_to(sums)
            expr: relay.Expr = X
            for _ in range(100):  # as a tree, 2**100 additions
                expr = expr + expr
            assert sums.match(expr) is answer

    def test_a_pattern_that_only_asks_itself(self) -> None:
        me = wildcard()
        me.redirect_to(me | is_var())
        assert me.match(X)
        assert not me.match(relay.const(1))
        me.redirect_to(me)
        assert not me.match(X)


def test_a_deep_pattern() -> None:
    pattern: DFPattern = ANY()
    expr: relay.Expr = X
    for _ in range(20_000):
        pattern, expr = is_op("nn.relu")(pattern), relu(expr)
    assert pattern.match(expr)
    assert not pattern.match(relu(as_call(as_call(expr).args[0]).args[0]))


def test_what_is_not_an_expression() -> None:
    with pytest.raises(TypeError, match=r"as mod\['main'\].body, not a IRModule"):
        ANY().match(relay.IRModule())  # type: ignore[arg-type]  # refused
