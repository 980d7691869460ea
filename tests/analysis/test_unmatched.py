"""What the clauses of a match leave out."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.analysis import unmatched_cases
from relay_explorer.execute.interpreter import match as fits
from relay_explorer.execute.values import ConstructorValue
from relay_explorer.typing.exhaustive import show_pattern

MODULE = relay.prelude.Prelude().mod
LIST, CONS, NIL = MODULE.get_type("List")
_ = relay.PatternWildcard()
V = relay.var("v")


def cons(head: relay.Pattern, rest: relay.Pattern) -> relay.Pattern:
    return relay.PatternConstructor(CONS, [head, rest])


nil = relay.PatternConstructor(NIL)
pair = relay.PatternTuple


def left_out(*patterns: relay.Pattern) -> list[str]:
    match = relay.Match(V, [relay.Clause(p, V) for p in patterns])
    return [show_pattern(p) for p in unmatched_cases(match, MODULE)]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], ["_"]),
        ([_], []),
        ([relay.PatternVar(V)], []),
        ([nil, cons(_, _)], []),
        ([cons(_, cons(_, _))], ["Cons(_, Nil)", "Nil"]),
        ([nil, cons(_, nil), cons(_, cons(_, cons(_, _)))], ["Cons(_, Cons(_, Nil))"]),
        ([pair([_, _])], []),
        ([pair([nil, _]), pair([_, nil])], ["(Cons(_, _), Cons(_, _))"]),
        ([pair([])], []),
    ],
)
def test_cases(patterns: list[relay.Pattern], expected: list[str]) -> None:
    assert left_out(*patterns) == expected


def test_constructors_are_the_modules() -> None:
    (case,) = unmatched_cases(relay.Match(V, [relay.Clause(nil, V)]), MODULE)
    assert isinstance(case, relay.PatternConstructor)
    assert case.constructor is CONS


patterns = st.recursive(
    st.sampled_from([_, nil]), lambda sub: st.builds(cons, st.sampled_from([_]), sub), max_leaves=4
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(patterns, patterns).map(pair), min_size=1, max_size=4))
def test_every_value_fits_a_clause_or_exactly_one_case(clauses: list[relay.Pattern]) -> None:
    cases = unmatched_cases(relay.Match(V, [relay.Clause(p, V) for p in clauses]), MODULE)
    value = ConstructorValue(NIL)
    values = [value]
    for _step in range(6):
        value = ConstructorValue(CONS, [0, value])
        values.append(value)
    for both in product(values, values):
        covered = any(fits(p, both) is not None for p in clauses)
        assert covered + sum(fits(p, both) is not None for p in cases) == 1
