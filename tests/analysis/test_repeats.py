"""The blocks that a program repeats."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import models, relay
from relay_explorer.analysis import Block, repeated_blocks
from relay_explorer.analysis.repeats import stretches
from relay_explorer.ir import Constant, Expr, Function, Let, Op, Var, children, post_order, rebuild
from relay_explorer.text import parse
from relay_explorer.text.printer import program_rows


def outer(blocks: list[Block]) -> list[Block]:
    return [b for b in blocks if b.parent < 0]


@pytest.mark.parametrize(
    ("name", "count", "kinds", "size"),
    [
        ("resnet50", 16, 2, 13),
        ("mobilenet", 13, 1, 8),
        ("transformer", 12, 1, 34),
        ("lstm", 32, 1, 18),
    ],
)
def test_the_models_fall_into_their_blocks(name: str, count: int, kinds: int, size: int) -> None:
    result = outer(repeated_blocks(models.load(name)["main"]))
    assert len(result) == count
    assert len({b.key for b in result}) == kinds
    assert min(len(b.members) for b in result) == size


def test_an_encoder_layer_holds_its_two_parts() -> None:
    blocks = repeated_blocks(models.load("transformer")["main"])
    layers = [i for i, b in enumerate(blocks) if b.parent < 0]
    for layer in layers:
        inner = [b for b in blocks if b.parent == layer]
        assert [b.key for b in inner] == [b.key for b in blocks if b.parent == layers[0]]
        assert len(inner) == 2
        assert {id(m) for b in inner for m in b.members} <= {id(m) for m in blocks[layer].members}


def test_blocks_of_a_program_of_lets() -> None:
    """The same network with every intermediate result bound by `let` has the same blocks."""
    main = models.load("resnet18")["main"]
    variables: dict[Expr, Expr] = {}
    values: list[tuple[Var, Expr]] = []
    for node in post_order(main.body):
        if not isinstance(node, (Var, Op, Constant)):
            variable = Var(f"v{len(values)}")
            values.append((variable, rebuild(node, [variables.get(p, p) for p in children(node)])))
            variables[node] = variable
    body: Expr = values[-1][0]
    for variable, value in reversed(values):
        body = Let(variable, value, body)
    graph, lets = repeated_blocks(main), repeated_blocks(Function(main.params, body))
    assert len(graph) == 11
    assert [(b.key, b.parent, len(b.members)) for b in lets] == [
        (b.key, b.parent, len(b.members)) for b in graph
    ]


def chain(x: Expr, names: str) -> Expr:
    """One unary operator a letter."""
    operators = {"a": relay.tanh, "b": relay.exp, "c": relay.sigmoid, "d": relay.sqrt, "e": relay.negative}
    for letter in names:
        x = operators[letter](x)
    return x


def keys(function: Function) -> list[tuple[int, str]]:
    return [(len(b.members), b.key) for b in repeated_blocks(function)]


def test_a_straight_program_with_a_period() -> None:
    x = relay.var("x", shape=(2,))
    assert keys(Function([x], chain(x, "ee" + "abcd" * 4))) == [(4, "block 1")] * 4


def test_nothing_repeats() -> None:
    x = relay.var("x", shape=(2,))
    assert keys(Function([x], chain(x, "abcdeaebdcebacdbecad"))) == []


def test_a_short_program_is_left_alone() -> None:
    x = relay.var("x", shape=(2,))
    assert keys(Function([x], chain(x, "abc" * 3))) == []


def test_the_same_operators_wired_otherwise_are_another_block() -> None:
    x = relay.var("x", shape=(2,))

    def residual(v: Expr, swap: bool) -> Expr:
        inner = chain(v, "abc")
        return relay.add(v, inner) if swap else relay.add(inner, v)

    y: Expr = x
    for swap in (False, True, False, True, False):
        y = residual(chain(y, "d"), swap)
    blocks = keys(Function([x], y))
    assert sorted(blocks) == [(4, "block 1")] * 3 + [(4, "block 3")] * 2 + [(10, "block 2")] * 2


def test_a_value_that_all_blocks_use_does_not_join_them() -> None:
    x, mask = relay.var("x", shape=(2,)), relay.var("mask", shape=(2,))
    shared = relay.tanh(mask)
    y: Expr = x
    for _ in range(60):
        y = relay.add(relay.multiply(chain(y, "abc"), shared), y)
    result = outer(repeated_blocks(Function([x, mask], y)))
    assert len(result) >= 59
    assert len({b.key for b in result}) == 1


@pytest.mark.parametrize("name", ["lstm", "resnet18"])
def test_stretches_are_in_an_order_of_evaluation(name: str) -> None:
    main = models.load(name)["main"]
    (inside,) = [exprs for head, exprs in stretches(program_rows(main)) if main not in exprs]
    visited: set[Expr] = set()
    for node in inside:
        assert all(part in visited for part in children(node) if not isinstance(part, (Var, Op, Constant)))
        visited.add(node)
    assert len(inside) == len([n for n in post_order(main.body) if not isinstance(n, (Var, Op, Constant))])


def test_branches_and_closures_are_stretches_of_their_own() -> None:
    main = parse(
        """
        def @main(%x: Tensor[(2), float32], %c: bool) {
          let %f = fn (%a) { add(tanh(%a), %a) };
          let %y = if (%c) { exp(%x) } else { %x };
          %f(%y)
        }
        """
    )["main"]
    result = [[type(e).__name__ for e in exprs] for _, exprs in stretches(program_rows(main))]
    assert result == [["Function"], ["Function", "If", "Call"], ["Call", "Call"], ["Call"]]


letters = st.text("abcde", min_size=0, max_size=12)


@settings(max_examples=60, deadline=None)
@given(letters, st.text("abcde", min_size=3, max_size=9), st.integers(3, 8), letters)
def test_a_block_said_several_times_is_found(before: str, block: str, times: int, after: str) -> None:
    """Whatever stands around it: every block occurs at least twice, blocks nest, and most of the repetition
    is covered.
    """
    x = relay.var("x", shape=(2,))
    function = Function([x], chain(x, before + block * times + after))
    blocks = repeated_blocks(function)
    counts: dict[str, int] = {}
    for b in blocks:
        counts[b.key] = counts.get(b.key, 0) + 1
    assert all(n >= 2 for n in counts.values())
    members = [m for b in outer(blocks) for m in b.members]
    assert len(members) == len(set(members))
    small = len(before) + len(block) * times + len(after) < 12
    primitive = all(
        block != block[:d] * (len(block) // d) for d in (1, 2) if len(block) % d == 0 and d < len(block)
    )
    if not small and primitive and "".join(dict.fromkeys(block)) == block:
        assert len(members) >= len(block) * (times - 1)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 1)), min_size=1, max_size=60)
)
def test_any_graph_is_divided_soundly(plan: list[tuple[int, int, int]]) -> None:
    x = relay.var("x", shape=(2,))
    values: list[Expr] = [x]
    for a, b, kind in plan:
        left, right = values[-1 - a % len(values)], values[-1 - b % len(values)]
        values.append(relay.add(left, right) if kind else relay.tanh(left))
    blocks = repeated_blocks(Function([x], relay.Tuple(values[1:])))
    for index, block in enumerate(blocks):
        assert block.parent < index
        assert not any(isinstance(m, Var) for m in block.members)
        if block.parent >= 0:
            assert set(block.members) < set(blocks[block.parent].members)
    siblings: dict[int, list[Expr]] = {}
    for block in blocks:
        siblings.setdefault(block.parent, []).extend(block.members)
    assert all(len(m) == len(set(m)) for m in siblings.values())


def test_ten_thousand_operations() -> None:
    x = relay.var("x", shape=(2,))
    y: Expr = x
    for _ in range(2000):
        y = relay.add(chain(y, "abcd"), y)
    assert len(outer(repeated_blocks(Function([x], y)))) == 2000
