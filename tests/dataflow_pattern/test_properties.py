"""What must hold of patterns on any program, tried on random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import dataflow_pattern as dfp
from relay_explorer import relay
from relay_explorer.analysis import well_formed
from relay_explorer.dataflow_pattern import DFPatternCallback, is_op, rewrite, wildcard
from relay_explorer.dataflow_pattern.matching import Matcher
from relay_explorer.ir import Expr, IRModule, Op, RefWrite, children, structural_equal
from relay_explorer.ir.narrow import as_call, as_function, as_op
from relay_explorer.ir.walk import post_order
from relay_explorer.testing import Generated, generate
from relay_explorer.text import astext
from relay_explorer.typing import infer_types
from tests.property.programs import programs
from tests.property.test_evaluation import same, value_of

COUNT = 150
SEEDS = st.integers(0, 2**32)


def pattern_of(expr: Expr, rng: random.Random, cut: float = 0.0) -> dfp.DFPattern:
    """Build a pattern that describes `expr`. With the probability `cut`, replace each part by a wildcard."""
    result: dict[Expr, dfp.DFPattern] = {}
    for node in post_order(expr):
        part = _kind(node, [result[c] for c in children(node)])
        result[node] = (
            wildcard() if rng.random() < cut and not isinstance(node, Op) and node is not expr else part
        )
    return result[expr]


def _kind(node: Expr, parts: list[dfp.DFPattern]) -> dfp.DFPattern:
    match node:
        case relay.Var():
            return dfp.is_var(node.name_hint)
        case relay.Constant():
            return dfp.is_constant()
        case Op():
            return is_op(node.name)
        case relay.Call():
            call = parts[0](*parts[1:])
            return call if node.attrs is None else call.has_attr(dict(node.attrs.items()))
        case relay.Tuple():
            return dfp.is_tuple(parts)
        case relay.TupleGetItem():
            return dfp.is_tuple_get_item(parts[0], node.index)
        case relay.Function():
            return dfp.FunctionPattern(parts[:-1], parts[-1])
        case relay.If():
            return dfp.is_if(*parts)
        case relay.Let():
            return dfp.is_let(*parts)
    return dfp.is_expr(node)


def bodies(module: IRModule) -> list[Expr]:
    return [f.body for f in module.functions.values()]


def pure(seeds: range) -> Iterator[IRModule]:
    """Programs that write to no reference, so that moving a part of one is sure to change nothing."""
    for seed in seeds:
        module = generate(seed, size=10 + seed % 40, closed=True).module
        if not any(isinstance(e, RefWrite) for body in bodies(module) for e in post_order(body)):
            yield module


@settings(max_examples=60, deadline=None)
@given(programs(), SEEDS, st.sampled_from([0.0, 0.1, 0.4]))
def test_a_pattern_made_from_an_expression_matches_it(made: Generated, seed: int, cut: float) -> None:
    rng = random.Random(seed)
    for body in bodies(made.module):
        expr = rng.choice(post_order(body))
        assert pattern_of(expr, rng, cut).match(expr)


class Identity(DFPatternCallback):
    def __init__(self, pattern: dfp.DFPattern) -> None:
        super().__init__()
        self.pattern = pattern
        self.count = 0

    def callback(self, pre: Expr, post: Expr, node_map: dfp.matching.NodeMap) -> Expr:
        self.count += 1
        return post


@settings(max_examples=60, deadline=None)
@given(programs(), SEEDS)
def test_rewriting_everything_to_itself_changes_nothing(made: Generated, seed: int) -> None:
    rng = random.Random(seed)
    for body in bodies(made.module):
        everything = Identity(wildcard())
        assert rewrite(everything, body) is body
        order = post_order(body)
        if not any(isinstance(e, relay.Function) for e in order):  # these are matched as a whole
            assert everything.count == len(order)
        something = Identity(pattern_of(rng.choice(post_order(body)), rng, 0.3))
        assert rewrite(something, body) is body


def test_partitioning_keeps_the_meaning() -> None:
    moved = 0
    rng = random.Random(5)
    for module in pure(range(30_000, 30_000 + COUNT)):
        before = astext(module)
        everything = [e for body in bodies(module) for e in post_order(body)]
        calls = [e for e in everything if isinstance(e, (relay.Call, relay.Let))]
        pattern = pattern_of(rng.choice(calls), rng, 0.3) if calls else wildcard()
        changed = module.copy()
        for var, function in module.functions.items():
            changed[var] = pattern.partition(function)
        if changed.functions == module.functions:
            continue
        moved += 1
        assert astext(module) == before
        assert well_formed(changed), f"{pattern}\n{module}\n{changed}"
        typed = infer_types(changed)
        assert same(value_of(module), value_of(typed)), f"{pattern}\n{module}\n{changed}"
    assert moved > COUNT / 3


@pytest.mark.parametrize("name", ["add", "multiply", "exp", "tanh", "nn.relu"])
def test_partitioning_one_operator_keeps_the_meaning(name: str) -> None:
    pattern = is_op(name)(None)
    for module in pure(range(40_000, 40_000 + COUNT // 3)):
        changed = module.copy()
        for var, function in module.functions.items():
            changed[var] = pattern.partition(function)
        assert same(value_of(module), value_of(changed)), f"{module}\n{changed}"


def test_inlining_what_was_partitioned_gives_the_program_back() -> None:
    """A partition is a call of a function: putting its arguments for its parameters undoes it."""
    pattern = wildcard().has_attr({"TOpPattern": 0})(wildcard()) | is_op("add")(wildcard(), wildcard())
    result = wildcard().has_attr({"Composite": "moved"})(None)

    class Inline(DFPatternCallback):
        def __init__(self) -> None:
            super().__init__(rewrite_once=True)
            self.pattern = result

        def callback(self, pre: Expr, post: Expr, node_map: dfp.matching.NodeMap) -> Expr:
            function = as_function(as_call(post).op)
            return relay.bind(function.body, dict(zip(function.params, as_call(post).args)))

    for module in pure(range(50_000, 50_000 + COUNT // 3)):
        for body in bodies(module):
            there = pattern.partition(body, {"Composite": "moved"})
            assert structural_equal(rewrite(Inline(), there), body)


STEPS = st.lists(
    st.tuples(st.sampled_from(["dense", "exp", "add"]), st.integers(0, 9), st.integers(0, 9)), max_size=9
)


@given(STEPS)
def test_dominator_patterns_are_what_their_definition_says(steps: list[tuple[str, int, int]]) -> None:
    """Every way up from the addition ends in one product, and no way down from there avoids the addition."""
    result: list[Expr] = [relay.var("x"), relay.var("y")]
    for kind, i, j in steps:
        one, two = result[i % len(result)], result[j % len(result)]
        result.append(
            relay.nn.dense(one, two) if kind == "dense" else relay.exp(one) if kind == "exp" else one + two
        )
    product, addition = is_op("nn.dense")(wildcard(), wildcard()), is_op("add")(wildcard(), wildcard())
    pattern = dfp.dominates(product, is_op("exp")(wildcard()) | addition, addition)

    def ends(expr: Expr) -> set[Expr]:
        """Where the ways up from an addition end."""
        if isinstance(expr, relay.Call) and as_op(expr.op).name != "nn.dense":
            return {end for arg in expr.args for end in ends(arg)}
        return {expr}

    def reaches(start: Expr, goal: Expr, without: Expr) -> bool:
        return start is goal or (
            start is not without and any(reaches(part, goal, without) for part in children(start))
        )

    root = relay.Tuple(result[-3:])
    matcher = Matcher(pattern, root)
    for expr in post_order(root):
        top = next(iter(ends(expr)))
        closed = addition.match(expr) and ends(expr) == {top} and product.match(top)
        assert pattern.match(expr) == closed
        matched = matcher.match(expr) is not None
        assert matched == (closed and not reaches(root, top, without=expr))
