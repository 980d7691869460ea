"""Gradients through closures, recursion, branches, references and data types."""

from __future__ import annotations

from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import (
    Call,
    Expr,
    Function,
    GlobalVar,
    IRModule,
    RefCreate,
    Var,
    post_order,
)
from relay_explorer.lower.executor import create_executor
from relay_explorer.models.tree_lstm import phrase, tree_lstm
from relay_explorer.transform import (
    DeadCodeElimination,
    LazyGradientInit,
    PartialEvaluate,
    gradient,
)
from relay_explorer.typing import infer_types
from tests.transform.test_gradient import at, derived, module_of, plain


def test_branches() -> None:
    result = derived(
        "def @main(%x: float32) { if (greater(%x, 0f)) { %x * %x } else { %x * 5f } }", "higher_order"
    )
    assert at(result, 3) == (9, [6])
    assert at(result, -1) == (-5, [5])


def test_closures_that_capture() -> None:
    result = derived(
        """
        def @main(%x: float32, %y: float32) {
          let %scale = fn (%k: float32) { fn (%v: float32) { %v * %k * %x } };
          let %f = %scale(%y);
          %f(%f(2f))
        }
        """,
        "higher_order",
    )
    assert at(result, 3, 5) == (2 * 225, [2 * 2 * 3 * 25, 2 * 2 * 5 * 9])


def test_recursion() -> None:
    result = derived(
        """
        def @power(%x: float32, %n: int32) -> float32 {
          if (equal(%n, 0)) { 1f } else { %x * @power(%x, %n - 1) }
        }
        def @main(%x: float32) { @power(%x, 5) }
        """,
        "higher_order",
    )
    assert at(result, 2) == (32, [80])


def test_a_loop_of_many_turns_goes_back_through_all() -> None:
    result = derived(
        """
        def @main(%x: float32) {
          let %loop = fn (%i: int32, %v: float32) -> float32 {
            if (less(%i, 3000)) { %loop(%i + 1, %v + %x) } else { %v }
          };
          %loop(0, 0f)
        }
        """,
        "higher_order",
    )
    assert at(result, 1) == (3000, [3000])


def test_references() -> None:
    result = derived(
        """
        def @main(%x: float32, %y: float32) {
          let %r = ref(%x);
          let %u = ref_write(%r, ref_read(%r) * %y);
          let %v = ref_write(%r, ref_read(%r) * ref_read(%r));
          ref_read(%r)
        }
        """,
        "higher_order",
    )
    assert at(result, 3, 2) == (36, [24, 36])


def test_data_types_with_parameters() -> None:
    result = derived(
        """
        type List[A] { Cons(A, List[A]), Nil, }
        def @fold[A, B](%f: fn (B, A) -> B, %b: B, %xs: List[A]) -> B {
          match (%xs) { Cons(%h, %t) => { @fold(%f, %f(%b, %h), %t) }, Nil => { %b }, }
        }
        def @main(%x: float32, %y: float32) {
          @fold(multiply, 2f, Cons(%x, Cons(%y, Cons(%x, Nil))))
        }
        """,
        "higher_order",
    )
    assert at(result, 3, 5) == (90, [60, 18])


def test_data_types_of_tensors_themselves() -> None:
    result = derived(
        """
        type Tree { Leaf(float32), Node(Tree, Tree), }
        def @sum(%t: Tree) -> float32 {
          match (%t) { Leaf(%v) => { %v * %v }, Node(%l, %r) => { @sum(%l) + @sum(%r) }, }
        }
        def @main(%x: float32) { @sum(Node(Leaf(%x), Node(Leaf(%x * 2f), Leaf(1f)))) }
        """,
        "higher_order",
    )
    assert at(result, 3) == (46, [30])
    assert "type Tree_grad {" in result.astext()


def test_the_derivative_by_a_list_is_a_list() -> None:
    result = derived(
        """
        type List[A] { Cons(A, List[A]), Nil, }
        def @product(%xs: List[(float32, int32)], %w: float32) -> float32 {
          match (%xs) { Cons(%h, %t) => { %h.0 * %w * @product(%t, %w) }, Nil => { 1f }, }
        }
        def @main(%xs: List[(float32, int32)], %w: float32) { (@product(%xs, %w), %xs) }
        """,
        "higher_order",
    )
    cons, nil = constructors(result, "Cons", "Nil")
    items = Call(nil, [])
    for number in (5.0, 3.0):
        items = Call(cons, [relay.Tuple([relay.const(number), relay.const(7)]), items])
    (loss, same), (by_items, by_w) = create_executor(mod=result).evaluate(
        Call(GlobalVar("main"), [items, relay.const(2.0)])
    )
    assert plain(loss) == 60
    assert plain(by_w) == 60
    assert [plain(part) for part in in_list(by_items)] == [(20, 0), (12, 0)]
    assert [plain(part) for part in in_list(same)] == [(3, 7), (5, 7)]


def test_the_derivative_by_a_tree_of_ones_own() -> None:
    result = derived(
        """
        type Tree { Leaf(float32), Node(Tree, Tree), }
        def @product(%t: Tree) -> float32 {
          match (%t) { Leaf(%v) => { %v }, Node(%l, %r) => { @product(%l) * @product(%r) }, }
        }
        def @main(%t: Tree) { @product(%t) }
        """,
        "higher_order",
    )
    leaf, node = constructors(result, "Leaf", "Node")
    tree = Call(node, [Call(leaf, [relay.const(3.0)]), Call(leaf, [relay.const(5.0)])])
    loss, (by_tree,) = create_executor(mod=result).evaluate(Call(GlobalVar("main"), [tree]))
    assert plain(loss) == 15
    assert [plain(part.fields[0]) for part in by_tree.fields] == [5, 3]


def constructors(module: IRModule, *names: str) -> list[Expr]:
    by_name = {constructor.name_hint: constructor for constructor in module.constructors()}
    return [by_name[name] for name in names]


def in_list(value: Anything) -> list[Anything]:
    items = []
    while value.fields:
        item, value = value.fields
        items.append(item)
    return items


def test_a_tree_lstm_learns_from_a_sentence() -> None:
    """Steps against the gradient make the mood that is wanted likelier."""
    module = infer_types(tree_lstm(inputs=4, hidden=3, moods=2))
    main = module["main"]
    assert isinstance(main, Function)
    params = [Var(p.name_hint, p.type_annotation) for p in main.params]
    moods = Call(module.get_global_var("main"), params)
    loss = Function(params, relay.negative(relay.log(relay.take(moods, relay.const(0), axis=1))))
    module["loss"] = gradient(loss, module)
    module = infer_types(module)
    random = np.random.default_rng(0)
    words = {word: random.normal(size=(1, 4)).astype("float32") for word in ("good", "bad", "not")}
    sentence = phrase(module, ("good", ("not", "bad")), words)
    weights = [random.normal(size=p.checked_type.concrete_shape).astype("float32") for p in main.params[1:]]  # type: ignore[attr-defined]
    losses = []
    step = create_executor(mod=module).evaluate(module.get_global_var("loss"))
    for _ in range(8):
        value, (_, *by_weights) = step(sentence, *weights)
        losses.append(float(value.numpy()[0]))
        weights = [w - 0.3 * by.numpy() for w, by in zip(weights, by_weights, strict=True)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 2


def test_constructors_and_operators_as_values() -> None:
    result = derived(
        """
        type Box[A] { Put(A), }
        def @apply[A, B](%f: fn (A) -> B, %x: A) -> B { %f(%x) }
        def @main(%x: float32) {
          let %g = exp;
          match (@apply(Put, @apply(%g, %x))) { Put(%v) => { %v * @apply(negative, %x) }, }
        }
        """,
        "higher_order",
    )
    value, (slope,) = at(result, 1)
    assert value == pytest.approx(-np.e)
    assert slope == pytest.approx(-2 * np.e)


def test_kernels_are_functions_like_others() -> None:
    result = derived(
        "def @main(%x: float32) { %0 = fn (%p: float32, Primitive=1) { exp(%p) * %p }; %0(%x) }",
        "higher_order",
    )
    _, (slope,) = at(result, 1)
    assert slope == pytest.approx(2 * np.e)


def test_the_second_derivative() -> None:
    x = relay.var("x", shape=())
    first = gradient(Function([x], x * x * x))
    y = relay.var("y", shape=())
    slope = Function([y], relay.TupleGetItem(relay.TupleGetItem(Call(first, [y]), 1), 0))
    _, (second,) = create_executor().evaluate(gradient(slope))(np.float32(2))
    assert plain(second) == 12


def test_the_functions_that_are_called_are_added_and_the_others_stay() -> None:
    module = infer_types(
        module_of("def @double(%x: float32) { %x + %x }\ndef @main(%y: float32) { @double(@double(%y)) }")
    )
    before = dict(module.functions)
    gradient(GlobalVar("main"), module)
    assert [v.name_hint for v in module.functions] == ["double", "main", "double_grad"]
    assert all(module[v] is f for v, f in before.items())


def test_partial_evaluation_removes_cells_and_closures() -> None:
    """What is read is known by then, so that what is written need not be."""
    text = "def @main(%x: float32, %y: float32) { let %f = fn (%v: float32) { %v * %y }; %f(%f(%x)) }"
    left = simplified(derived(text, "higher_order"))
    main = left["main"]
    assert isinstance(main, Function)
    assert not any(isinstance(n, (RefCreate, Function)) for n in post_order(main) if n is not main)
    assert at(left, 3, 5) == (75, [25, 30])


def simplified(module: IRModule) -> IRModule:
    known = infer_types(PartialEvaluate()(module))
    return infer_types(DeadCodeElimination(ignore_impurity=True)(known))


@pytest.mark.parametrize(
    "text",
    [
        "def @main(%x: float32, %y: float32) "
        "{ let %v = if (less(%y, 0.1f)) { let %a = %x; %a } else { %x }; %v }",
        "def @main(%x: float32, %y: float32) { let %v = if (less(%y, %x)) { %x * %y } else { %y }; %v * %v }",
        "def @main(%x: float32, %y: float32) "
        "{ let %f = if (less(%y, %x)) { fn (%v: float32) { %v * %x } } else { fn (%v: float32) { %v } }; "
        "%f(%f(%y)) }",
        "def @power(%x: float32, %n: float32) -> float32 "
        "{ if (less(%n, 1f)) { 1f } else { %x * @power(%x, %n - 1f) } } "
        "def @main(%x: float32, %y: float32) { @power(%x, %y) }",
        "def @main(%x: float32, %y: float32) { let %t = if (less(%y, %x)) { (%x, %y) } else { (%y, %x) }; "
        "%t.0 * %t.0 + %t.1 }",
    ],
)
def test_branches_that_are_not_static_keep_their_gradients(text: str) -> None:
    """Cells that are read when the program runs are still written to."""
    module = derived(text, "higher_order")
    left = simplified(module)
    for x, y in ((2.0, 3.0), (3.0, 2.0), (0.5, 0.05)):
        assert at(left, x, y) == at(module, x, y)
    assert any(at(left, 2.0, 3.0)[1])  # not all zero


def test_zeros_that_nobody_needs_are_not_made() -> None:
    """After LazyGradientInit the cells of zeros are added to without an addition."""
    result = derived("def @main(%x: Tensor[(2), float32]) { %x * 3f }", "higher_order")
    lazy = LazyGradientInit()(result)
    assert at(lazy, [1, 2]) == ([3, 6], [[3, 3]])
    left = simplified(lazy)
    names = [str(n.op) for n in post_order(left["main"]) if isinstance(n, Call)]
    assert names == ["multiply"]
    assert at(left, [1, 2]) == ([3, 6], [[3, 3]])
