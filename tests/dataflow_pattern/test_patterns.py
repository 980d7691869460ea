"""Patterns as objects: what they hold, how they are written, and what is refused."""

from __future__ import annotations

import pytest

from relay_explorer import dataflow_pattern as dfp
from relay_explorer import relay
from relay_explorer.dataflow_pattern import is_constant, is_expr, is_op, is_var, wildcard
from relay_explorer.dataflow_pattern.patterns import pattern_order
from relay_explorer.ir import UnknownOperatorError


def test_operators_make_calls() -> None:
    a, b = wildcard(), wildcard()
    for pattern, name in ((a + b, "add"), (a - b, "subtract"), (a * b, "multiply"), (a / b, "divide")):
        assert isinstance(pattern, dfp.CallPattern)
        assert pattern.op.expr is relay.op.get(name)
        assert pattern.args == (a, b)


def test_none_as_the_only_argument_is_any() -> None:
    assert is_op("add")(None).args is None
    assert is_op("add")().args == ()


def test_fields() -> None:
    a, b = wildcard(), is_var("x")
    assert (a | b).parts() == (a, b)
    assert dfp.dominates(a, b, is_constant()).parts()[1:] == (a, b)
    assert dfp.is_tuple_get_item(a).index == -1
    assert dfp.has_shape([2, 3]).shape == (2, 3)
    assert a.has_attr({"axis": 1}).attrs["axis"] == 1
    assert isinstance(dfp.has_attr({"axis": 1}).pattern, dfp.WildcardPattern)
    assert len(dfp.is_tuple([a, b])) == 2
    assert dfp.is_tuple([a, b])[1] is b
    assert isinstance(dfp.has_attr({"axis": 1}, dfp.is_tuple([])).pattern, dfp.TuplePattern)
    assert isinstance(dfp.has_dtype("int8", dfp.is_tuple([])).pattern, dfp.TuplePattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (is_op("nn.relu")(wildcard()), 'is_op("nn.relu")(wildcard())'),
        (is_op("concatenate")(None), 'is_op("concatenate")(None)'),
        (is_var("x") | is_var(), '(is_var("x") | is_var())'),
        (wildcard() + is_constant(), 'is_op("add")(wildcard(), is_constant())'),
        (is_expr(relay.const(2)), "is_expr(2)"),
        (is_expr(relay.var("x")), "is_expr(x)"),
        (dfp.is_tuple([is_var()]), "is_tuple([is_var()])"),
        (dfp.is_tuple(None), "is_tuple(None)"),
        (dfp.is_tuple_get_item(wildcard(), 1), "is_tuple_get_item(wildcard(), 1)"),
        (dfp.is_tuple_get_item(wildcard()), "is_tuple_get_item(wildcard())"),
        (dfp.FunctionPattern(None, is_var()), "FunctionPattern(None, is_var())"),
        (dfp.FunctionPattern([is_var()], is_var()), "FunctionPattern([is_var()], is_var())"),
        (dfp.is_if(is_var(), is_var("a"), is_var("b")), 'is_if(is_var(), is_var("a"), is_var("b"))'),
        (dfp.is_let(is_var(), wildcard(), is_var()), "is_let(is_var(), wildcard(), is_var())"),
        (wildcard().has_attr({"axis": 1}), "wildcard().has_attr({'axis': 1})"),
        (dfp.has_shape((1, 2)), "wildcard().has_shape((1, 2))"),
        (dfp.has_dtype("int8"), 'wildcard().has_dtype("int8")'),
        (dfp.has_type(relay.TensorType((1,))), "wildcard().has_type(Tensor[(1), float32])"),
        (is_constant().dominates(is_var()), "dominates(is_var(), wildcard(), is_constant())"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_text(pattern: dfp.DFPattern, text: str) -> None:
    assert str(pattern) == pattern.astext(show_meta_data=False) == text


def test_text_of_patterns_that_recurse_or_are_long() -> None:
    more = wildcard()
    tower = is_op("nn.relu")(is_var() | more)
    more.redirect_to(tower)
    assert str(tower) == 'is_op("nn.relu")((is_var() | …))'
    for _ in range(20_000):
        tower = tower + tower
    assert len(str(tower)) < 10_000


def test_order_is_parts_first_and_each_once() -> None:
    a, b = wildcard(), wildcard()
    both = a - b
    assert pattern_order(both + both)[-2] is both
    assert pattern_order(both)[1:3] == [a, b]
    assert len(pattern_order(both + both)) == 6


class TestRefused:
    def test_expressions_and_numbers_are_not_patterns(self) -> None:
        with pytest.raises(TypeError, match=r"an argument of a call must be a pattern, .*is_expr\(2\)"):
            wildcard() + relay.const(2)
        with pytest.raises(TypeError, match=r"this is a number: write is_expr\(relay.const\(2\)\)"):
            wildcard() * 2  # type: ignore[operator]  # refused
        with pytest.raises(TypeError, match=r"must be a pattern, as wildcard\(\), not a str"):
            is_op("nn.relu")("x")  # type: ignore[arg-type]  # refused
        with pytest.raises(TypeError, match="a list of patterns is needed, or None for any"):
            dfp.is_tuple(is_var())  # type: ignore[arg-type]  # refused

    def test_what_is_wanted_is_said(self) -> None:
        with pytest.raises(TypeError, match="has_attr takes a dict"):
            wildcard().has_attr(["axis"])  # type: ignore[arg-type]  # refused
        with pytest.raises(TypeError, match="has_type takes a type"):
            dfp.has_type("float32")  # type: ignore[arg-type]  # refused
        with pytest.raises(TypeError, match="is_expr takes an expression"):
            is_expr(2)  # type: ignore[arg-type]  # refused

    def test_operators_that_are_not_there(self) -> None:
        with pytest.raises(UnknownOperatorError, match=r"did you mean `nn.relu`"):
            is_op("nn.rellu")
