"""Rewriting: what a callback is given, in which order things happen, and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from relay_explorer import dataflow_pattern as dfp
from relay_explorer import relay
from relay_explorer.dataflow_pattern import DFPatternCallback, is_constant, is_op, is_var, rewrite, wildcard
from relay_explorer.ir import Clause, Match, PatternVar, RelayError, structural_equal
from relay_explorer.ir.narrow import as_a, as_call, as_function, as_let, as_match, as_op, as_tensor_type
from relay_explorer.ir.walk import post_order

X = relay.var("x", shape=(2, 3))
Y = relay.var("y", shape=(2, 3))


def noted(log: list[Any], item: object) -> bool:
    """Append to a log where an expression must give something: False."""
    log.append(item)
    return False


class Replace(DFPatternCallback):
    """A callback made of a function."""

    def __init__(self, pattern: dfp.DFPattern, with_: Callable[..., Any], **options: bool) -> None:
        super().__init__(**options)
        self.pattern = pattern
        self.with_ = with_

    def callback(self, pre: relay.Expr, post: relay.Expr, node_map: dfp.matching.NodeMap) -> Any:
        return self.with_(pre, post, node_map)


def relu_to_tanh(**options: bool) -> Replace:
    return Replace(
        is_op("nn.relu")(wildcard()), lambda pre, post, found: relay.tanh(as_call(post).args[0]), **options
    )


def same(a: relay.Expr, b: relay.Expr) -> bool:
    return structural_equal(a, b)


class TestWhatIsReplaced:
    def test_everywhere(self) -> None:
        out = rewrite(relu_to_tanh(), relay.nn.relu(relay.exp(relay.nn.relu(X))))
        assert same(out, relay.tanh(relay.exp(relay.tanh(X))))

    def test_inside_functions_and_branches(self) -> None:
        def program(f: Callable[[relay.Expr], relay.Expr]) -> relay.Expr:
            v = relay.var("v")
            branch = relay.If(relay.const(True), f(X), relay.Tuple([f(Y)])[0])
            return relay.Let(v, branch, relay.Function([X], f(v)))

        text = str(rewrite(relu_to_tanh(), program(relay.nn.relu)))
        assert text.count("tanh") == 3
        assert "relu" not in text

    def test_inside_match(self) -> None:
        module = relay.parse("""
        type Box { Full(Tensor[(2), float32]), Empty }
        def @main(%b: Box) { match (%b) { Full(%x) => { nn.relu(%x) }, Empty => { zeros(shape=[2]) } } }
        """)
        out = rewrite(relu_to_tanh(), module["main"])
        assert "tanh(%x)" in str(out)

    def test_sharing_stays(self) -> None:
        shared = relay.nn.relu(X)
        out = rewrite(relu_to_tanh(), shared + shared)
        assert as_call(out).args[0] is as_call(out).args[1]

    def test_what_does_not_match_is_the_same_object(self) -> None:
        expr = relay.exp(X) + Y
        assert rewrite(relu_to_tanh(), expr) is expr

    def test_of_two_that_overlap_the_lower_one_wins(self) -> None:
        twice = is_op("nn.relu")(is_op("nn.relu")(wildcard()))
        out = rewrite(
            Replace(
                twice,
                lambda pre, post, found: relay.exp(as_call(as_call(post).args[0]).args[0]),
                rewrite_once=True,
            ),
            relay.nn.relu(relay.nn.relu(relay.nn.relu(X))),
        )
        assert same(out, relay.exp(relay.nn.relu(X)))

    def test_a_match_whose_middle_is_used_elsewhere_stays(self) -> None:
        inner = relay.nn.relu(X)
        expr = relay.Tuple([relay.nn.relu(inner), inner])
        twice = is_op("nn.relu")(is_op("nn.relu")(wildcard()))
        assert rewrite(Replace(twice, lambda pre, post, found: X), expr) is expr

    def test_variables_and_constants(self) -> None:
        out = rewrite(Replace(is_var("x"), lambda pre, post, found: Y), X + relay.const(1.0))
        assert same(out, Y + relay.const(1.0))
        double = Replace(
            is_constant(),
            lambda pre, post, found: relay.const(2 * post.data.numpy()),
            rewrite_once=True,
        )
        assert same(rewrite(double, X + relay.const(1.0)), X + relay.const(2.0))

    def test_parameters_take_variables_only(self) -> None:
        function = relay.Function([X], relay.exp(X))
        renamed = rewrite(Replace(is_var("x"), lambda pre, post, found: Y), function)
        assert as_function(renamed).params == (Y,)
        fixed = rewrite(Replace(is_var("x"), lambda pre, post, found: relay.const(1.0)), function)
        assert as_function(fixed).params == (X,)
        assert same(as_function(fixed).body, relay.exp(relay.const(1.0)))

    def test_variables_of_let_and_match(self) -> None:
        new = relay.var("new")
        rename = Replace(is_var("old"), lambda pre, post, found: new)
        old = relay.var("old")
        let = rewrite(rename, relay.Let(old, X, relay.exp(old)))
        assert (as_let(let).var, as_call(as_let(let).body).args[0]) == (new, new)
        match = as_match(rewrite(rename, Match(X, [Clause(PatternVar(old), relay.exp(old))])))
        assert (as_a(PatternVar, match.clauses[0].lhs).var, as_call(match.clauses[0].rhs).args[0]) == (
            new,
            new,
        )


class TestCallback:
    def test_is_given_what_was_and_what_it_has_become(self) -> None:
        observed = []

        def note(pre: relay.Expr, post: relay.Expr, result: dfp.matching.NodeMap) -> relay.Expr:
            observed.append((pre, post))
            return relay.tanh(as_call(post).args[0])

        inner = relay.nn.relu(X)
        outer = relay.nn.relu(inner)
        rewrite(Replace(is_op("nn.relu")(wildcard()), note), outer)
        assert [pre for pre, _ in observed] == [inner, outer]
        assert same(observed[1][1], relay.nn.relu(relay.tanh(X)))

    def test_node_map_has_every_part_rewritten(self) -> None:
        value, amount = wildcard(), is_constant()
        scaled = is_op("multiply")(value, amount)
        pattern = is_op("exp")(scaled)
        maps: list[Any] = []
        rewrite(
            [relu_to_tanh(), Replace(pattern, lambda pre, post, found: noted(maps, found) or post)],
            relay.exp(relay.const(2.0) * relay.nn.relu(X)),
        )
        result = maps[0]
        assert same(result[value][0], relay.tanh(X))
        assert result[amount][0].data.numpy() == 2
        assert result[pattern] == [result[pattern][0]]
        assert result[pattern][0].args == (result[scaled][0],)

    def test_a_path_is_all_its_steps(self) -> None:
        step = wildcard().has_attr({"TOpPattern": 0})(wildcard())
        pattern = dfp.dominates(is_op("nn.dense")(wildcard(), wildcard()), step, is_op("add")(None))
        top = relay.nn.dense(X, Y)
        maps: list[Any] = []
        rewrite(
            Replace(pattern, lambda pre, post, found: noted(maps, found) or post),
            relay.tanh(relay.exp(top)) + relay.sqrt(top),
        )
        assert [as_op(e.op).name for e in maps[0][step]] == ["tanh", "exp", "sqrt"]
        assert maps[0][pattern.parent] == [top]

    def test_may_give_a_wrapped_tuple(self) -> None:
        split = Replace(
            is_op("exp")(is_var()), lambda pre, post, found: relay.split(as_call(post).args[0], 2)
        )
        assert as_op(as_call(rewrite(split, relay.exp(X))).op).name == "split"

    def test_must_give_an_expression(self) -> None:
        with pytest.raises(TypeError, match="must return an expression, not None: return `post` to leave"):
            rewrite(Replace(is_var("x"), lambda pre, post, found: None), relay.exp(X))

    def test_needs_a_pattern_and_a_method(self) -> None:
        with pytest.raises(ValueError, match=r"set self.pattern in its __init__"):
            rewrite(DFPatternCallback(), X)
        bare = DFPatternCallback()
        bare.pattern = wildcard()
        with pytest.raises(NotImplementedError, match="has no method `callback"):
            bare.rewrite(X)

    def test_pattern_rewrites_with_a_function(self) -> None:
        out = is_op("exp")(wildcard()).rewrite(
            lambda pre, post, found: as_call(post).args[0], relay.exp(relay.exp(X))
        )
        assert out is X

    def test_new_expressions_know_where_they_come_from(self) -> None:
        module = relay.parse("def @main(%x: Tensor[(2), float32]) {\n  nn.relu(%x)\n}", "p.relay")
        old = module["main"].body
        gelu = Replace(
            is_op("nn.relu")(wildcard()),
            lambda pre, post, found: as_call(post).args[0] * relay.sigmoid(as_call(post).args[0]),
        )
        new = rewrite(gelu, old)
        for node in post_order(new):
            if isinstance(node, relay.Call):
                assert node.origin == (old,)
                assert node.span is old.span


class TestRounds:
    def test_until_nothing_changes(self) -> None:
        """Each round takes one level off, since what is left of a match is looked at in the next only."""
        pair = Replace(is_op("exp")(is_op("exp")(wildcard())), lambda pre, post, found: as_call(post).args[0])
        expr: relay.Expr = X
        for _ in range(9):
            expr = relay.exp(expr)
        assert same(rewrite(pair, expr), relay.exp(X))

    def test_once(self) -> None:
        assert same(rewrite(relu_to_tanh(rewrite_once=True), relay.nn.relu(X)), relay.tanh(X))
        more = Replace(is_op("exp")(wildcard()), lambda pre, post, found: relay.exp(post), rewrite_once=True)
        assert same(rewrite(more, relay.exp(X)), relay.exp(relay.exp(X)))

    def test_once_is_when_it_changes_something(self) -> None:
        to_exp = Replace(is_op("tanh")(wildcard()), lambda pre, post, found: relay.exp(as_call(post).args[0]))
        more = Replace(is_op("exp")(wildcard()), lambda pre, post, found: relay.sqrt(post), rewrite_once=True)
        out = rewrite([more, to_exp, relu_to_tanh()], relay.nn.relu(X))
        assert same(out, relay.sqrt(relay.exp(X)))

    def test_one_after_the_other(self) -> None:
        log: list[str] = []
        watch = Replace(wildcard(), lambda pre, post, found: noted(log, str(post)) or post)
        rewrite([relu_to_tanh(), watch], relay.nn.relu(X))
        assert not any("relu(" in text for text in log)

    def test_reports_rewriting_that_does_not_terminate(self) -> None:
        count = Replace(is_constant(), lambda pre, post, found: relay.const(int(post.data.numpy()) + 1))
        with pytest.raises(
            RelayError, match="not terminate: the program still changes after 100 iterations"
        ) as error:
            rewrite([relu_to_tanh(), count], relay.nn.relu(relay.const(0)))
        assert "(with Replace)" in error.value.message
        assert "rewrite_once=True" in error.value.help[0]

    def test_callbacks_that_undo_one_another_stop_after_one_iteration(self) -> None:
        back = Replace(
            is_op("tanh")(wildcard()), lambda pre, post, found: relay.nn.relu(as_call(post).args[0])
        )
        expr = relay.nn.relu(X)
        assert same(rewrite([relu_to_tanh(), back], expr), expr)

    def test_that_grows_without_end_is_stopped(self) -> None:
        double = Replace(
            is_op("exp")(wildcard()), lambda pre, post, found: relay.exp(relay.tanh(post)) + relay.exp(post)
        )
        with pytest.raises(RelayError, match=r"the program has grown to [\d,]+ expressions"):
            rewrite(double, relay.exp(X))


class TestTypes:
    def test_are_there_when_required(self) -> None:
        shapes: list[Any] = []
        note = Replace(
            is_op("nn.relu")(wildcard()),
            lambda pre, post, found: noted(shapes, as_tensor_type(pre).shape) or post,
            require_type=True,
        )
        rewrite(note, relay.nn.relu(relay.transpose(X)))
        assert set(shapes) == {(3, 2)}

    def test_of_called_functions_come_from_the_module(self) -> None:
        module = relay.parse("""
        def @half(%x: Tensor[(4), float32]) { strided_slice(%x, begin=[0], end=[2], strides=[1]) }
        def @main(%x: Tensor[(4), float32]) { nn.relu(@half(%x)) }
        """)
        pattern = is_op("nn.relu")(wildcard().has_shape((2,)))
        out = rewrite(
            Replace(pattern, lambda pre, post, found: relay.tanh(as_call(post).args[0]), require_type=True),
            module["main"],
            module,
        )
        assert "tanh" in str(out)

    def test_free_variables_stay_the_same_objects(self) -> None:
        add = Replace(is_op("add")(None), lambda pre, post, found: post, require_type=True)
        free, bound = relay.var("free"), relay.var("bound")
        out = rewrite(add, relay.Let(bound, relay.exp(X), bound + Y))
        assert set(relay.analysis.free_vars(out)) == {X, Y}
        assert as_let(out).var.type_annotation == X.checked_type
        typed = rewrite(add, relay.If(relay.const(True), free, X + Y))
        assert set(relay.analysis.free_vars(typed)) == {free, X, Y}
        assert typed.checked_type == X.checked_type


def test_a_deep_program() -> None:
    expr: relay.Expr = X
    for _ in range(20_000):
        expr = relay.nn.relu(expr)
    out = rewrite(relu_to_tanh(), expr)
    assert {as_op(e.op).name for e in post_order(out) if isinstance(e, relay.Call)} == {"tanh"}


def test_what_is_no_expression() -> None:
    with pytest.raises(TypeError, match=r"rewrite takes an expression, such as mod\['main'\]"):
        rewrite(relu_to_tanh(), relay.IRModule())  # type: ignore[arg-type]  # refused
