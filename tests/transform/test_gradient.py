"""Reverse-mode differentiation: short programs as text, both modes, and random programs against difference
quotients.

Where TVM 0.14 did otherwise: whole numbers have zeros for their derivatives (for %i of `%i + %i` TVM gave 2,
and for %i of `cast(%i, dtype="float32")` the derivative, rounded); a parameter that is a tuple, or a data type
of tensors, is accepted (TVM refused them in the higher-order mode), and so is a data type that holds tensors
of its own.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import create_executor
from relay_explorer.grading.generate import generate
from relay_explorer.ir import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    IRModule,
    RefCreate,
    TensorType,
    TupleType,
    Type,
    Var,
    post_order,
    rewrite,
    structural_equal,
)
from relay_explorer.ir.errors import RelayError
from relay_explorer.models.tree_lstm import phrase, tree_lstm
from relay_explorer.text import parse
from relay_explorer.transform import (
    DeadCodeElimination,
    FirstOrderGradient,
    LazyGradientInit,
    PartialEvaluate,
    gradient,
)
from relay_explorer.typing import infer_types

MODES = ("first_order", "higher_order")
VERSION = '#[version = "0.0.5"]\n'


def module_of(text: str) -> IRModule:
    return parse(VERSION + dedent(text))


def derived(text: str, mode: str) -> IRModule:
    """The program with the gradient of its `@main` in the place of that."""
    module = infer_types(module_of(text))
    module = module.copy()
    module["main"] = gradient(module["main"], module, mode)
    return infer_types(module)


def at(module: IRModule, *values: Anything) -> tuple[Anything, list[Anything]]:
    """The result, and the derivatives, as Python numbers."""
    result, found = create_executor(mod=module).evaluate()(*[np.asarray(v, "float32") for v in values])
    return plain(result), [plain(part) for part in found]


def plain(value: Anything) -> Anything:
    return value.numpy().tolist() if hasattr(value, "numpy") else tuple(map(plain, value))


# -- first order


def test_the_forward_program_stays_and_the_way_back_follows() -> None:
    made = derived(
        """
        def @main(%x: Tensor[(3), float32], %w: Tensor[(3), float32]) {
          let %h = tanh(%x);
          multiply(%h, %w)
        }
        """,
        "first_order",
    )
    expected = module_of(
        """
        def @main(%x: Tensor[(3), float32], %w: Tensor[(3), float32]) {
          let %h = tanh(%x);
          let %y = multiply(%h, %w);
          let %d_y = ones(shape=[3], dtype="float32");
          let %d_h = multiply(%d_y, %w);
          let %one = 1f;
          let %square = multiply(%h, %h);
          let %slope = subtract(%one, %square);
          let %d_x = multiply(%d_h, %slope);
          let %d_w = multiply(%d_y, %h);
          let %derivatives = (%d_x, %d_w);
          let %all = (%y, %derivatives);
          %all
        }
        """
    )
    assert structural_equal(made, infer_types(expected), map_free_vars=True), made


def test_derivatives_are_called_after_what_they_are_by() -> None:
    text = derived(
        "def @main(%weight: float32) { let %scaled = exp(%weight); %scaled }", "first_order"
    ).astext()
    assert "let %d_scaled" in text
    assert "let %d_weight" in text


def test_what_does_not_lead_to_the_result_is_not_differentiated() -> None:
    made = derived(
        """
        def @main(%x: Tensor[(4), float32], %i: Tensor[(2), int32]) {
          let %order = argsort(%x, axis=0, dtype="int32");
          let %unused = unique(%x);
          let %distant = take(%x, add(%i, take(%order, %i, axis=0)), axis=0);
          %distant
        }
        """,
        "first_order",
    )
    main = made["main"]
    assert isinstance(main, Function)
    assert sum(isinstance(n, Call) and str(n.op) == "unique" for n in post_order(main)) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_value_that_is_used_several_times_gets_the_sum(mode: str) -> None:
    made = derived("def @main(%x: float32) { let %y = %x * %x; %y * %y + %y + %x }", mode)
    assert at(made, 3) == (93, [4 * 27 + 2 * 3 + 1])


@pytest.mark.parametrize("mode", MODES)
def test_a_shared_node_is_one_value(mode: str) -> None:
    made = derived("def @main(%x: float32) { %0 = exp(%x); %1 = multiply(%0, %0); add(%1, %1) }", mode)
    main = made["main"]
    assert isinstance(main, Function)
    assert sum(isinstance(n, Call) and str(n.op) == "exp" for n in post_order(main)) == 1
    value, (slope,) = at(made, 0.5)
    assert value == pytest.approx(2 * np.exp(1.0))
    assert slope == pytest.approx(4 * np.exp(1.0))


@pytest.mark.parametrize("mode", MODES)
def test_tuples(mode: str) -> None:
    text = """
    def @main(%p: (float32, (float32, float32)), %q: float32) {
      let %t = (%p.1, %q);
      let %u = %t.0;
      (%u.0 * %q, %p.0)
    }
    """
    module = derived(text, mode)
    result, found = create_executor(mod=module).evaluate()(
        (np.float32(2), (np.float32(3), np.float32(5))), np.float32(7)
    )
    assert plain(result) == (21, 2)
    assert [plain(part) for part in found] == [(0, (7, 0)), 3]


@pytest.mark.parametrize("mode", MODES)
def test_of_a_tuple_only_the_first_field_counts(mode: str) -> None:
    assert at(derived("def @main(%x: float32) { (%x * 2f, %x * 100f) }", mode), 3) == ((6, 300), [2])


@pytest.mark.parametrize("mode", MODES)
def test_a_parameter_that_does_not_matter_has_zeros(mode: str) -> None:
    module = derived("def @main(%x: float32, %i: Tensor[(2), int32]) { %x * 2f }", mode)
    _, found = create_executor(mod=module).evaluate()(np.float32(1), np.zeros(2, "int32"))
    assert [plain(part) for part in found] == [2, [0, 0]]
    assert found[1].dtype == "int32"


@pytest.mark.parametrize("mode", MODES)
def test_a_branch_between_constants_is_a_number(mode: str) -> None:
    """In the first order too: what a condition depends on does not move what is chosen."""
    text = """
    def @main(%x: float32, %i: int32) {
      let %k = if (greater(%x, cast(%i, dtype="float32"))) { 2f } else { 5f };
      %x * %k
    }
    """
    made = derived(text, mode)
    result, found = create_executor(mod=made).evaluate()(np.float32(3), np.int32(7))
    assert (plain(result), [plain(part) for part in found]) == (15, [5, 0])


@pytest.mark.parametrize("mode", MODES)
def test_a_product_in_a_wider_type(mode: str) -> None:
    text = """
    def @main(%x: Tensor[(2, 3), float16], %w: Tensor[(4, 3), float16]) {
      nn.dense(%x, %w, out_dtype="float32")
    }
    """
    made = derived(text, mode)["main"].checked_type
    assert str(made.ret_type.fields[1]) == "(Tensor[(2, 3), float16], Tensor[(4, 3), float16])"  # type: ignore[attr-defined]


def test_the_pass_derives_every_function() -> None:
    made = infer_types(
        FirstOrderGradient()(
            module_of("def @f(%x: float32) { exp(%x) }\ndef @main(%y: Tensor[(2), float32]) { sum(%y) }")
        )
    )
    assert str(made["f"].checked_type) == "fn (float32) -> (float32, (float32,))"
    wanted = "fn (Tensor[(2), float32]) -> (float32, (Tensor[(2), float32],))"
    assert str(made["main"].checked_type) == wanted


def test_a_long_program_is_derived_in_linear_time_and_without_a_deep_stack() -> None:
    x = relay.var("x", shape=())
    body: Expr = x
    for _ in range(20_000):
        body = relay.negative(body)
    made = gradient(Function([x], body), mode="first_order")
    assert sum(isinstance(n, Call) for n in post_order(made)) == 40_001


# -- higher order


def test_branches() -> None:
    made = derived(
        "def @main(%x: float32) { if (greater(%x, 0f)) { %x * %x } else { %x * 5f } }", "higher_order"
    )
    assert at(made, 3) == (9, [6])
    assert at(made, -1) == (-5, [5])


def test_closures_that_capture() -> None:
    made = derived(
        """
        def @main(%x: float32, %y: float32) {
          let %scale = fn (%k: float32) { fn (%v: float32) { %v * %k * %x } };
          let %f = %scale(%y);
          %f(%f(2f))
        }
        """,
        "higher_order",
    )
    assert at(made, 3, 5) == (2 * 225, [2 * 2 * 3 * 25, 2 * 2 * 5 * 9])


def test_recursion() -> None:
    made = derived(
        """
        def @power(%x: float32, %n: int32) -> float32 {
          if (equal(%n, 0)) { 1f } else { %x * @power(%x, %n - 1) }
        }
        def @main(%x: float32) { @power(%x, 5) }
        """,
        "higher_order",
    )
    assert at(made, 2) == (32, [80])


def test_a_loop_of_many_turns_goes_back_through_all() -> None:
    made = derived(
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
    assert at(made, 1) == (3000, [3000])


def test_references() -> None:
    made = derived(
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
    assert at(made, 3, 2) == (36, [24, 36])


def test_data_types_with_parameters() -> None:
    made = derived(
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
    assert at(made, 3, 5) == (90, [60, 18])


def test_data_types_of_tensors_themselves() -> None:
    made = derived(
        """
        type Tree { Leaf(float32), Node(Tree, Tree), }
        def @sum(%t: Tree) -> float32 {
          match (%t) { Leaf(%v) => { %v * %v }, Node(%l, %r) => { @sum(%l) + @sum(%r) }, }
        }
        def @main(%x: float32) { @sum(Node(Leaf(%x), Node(Leaf(%x * 2f), Leaf(1f)))) }
        """,
        "higher_order",
    )
    assert at(made, 3) == (46, [30])
    assert "type Tree_grad {" in made.astext()


def test_the_derivative_by_a_list_is_a_list() -> None:
    made = derived(
        """
        type List[A] { Cons(A, List[A]), Nil, }
        def @product(%xs: List[(float32, int32)], %w: float32) -> float32 {
          match (%xs) { Cons(%h, %t) => { %h.0 * %w * @product(%t, %w) }, Nil => { 1f }, }
        }
        def @main(%xs: List[(float32, int32)], %w: float32) { (@product(%xs, %w), %xs) }
        """,
        "higher_order",
    )
    cons, nil = constructors(made, "Cons", "Nil")
    items = Call(nil, [])
    for number in (5.0, 3.0):
        items = Call(cons, [relay.Tuple([relay.const(number), relay.const(7)]), items])
    (loss, same), (by_items, by_w) = create_executor(mod=made).evaluate(
        Call(GlobalVar("main"), [items, relay.const(2.0)])
    )
    assert plain(loss) == 60
    assert plain(by_w) == 60
    assert [plain(part) for part in in_list(by_items)] == [(20, 0), (12, 0)]
    assert [plain(part) for part in in_list(same)] == [(3, 7), (5, 7)]


def test_the_derivative_by_a_tree_of_ones_own() -> None:
    made = derived(
        """
        type Tree { Leaf(float32), Node(Tree, Tree), }
        def @product(%t: Tree) -> float32 {
          match (%t) { Leaf(%v) => { %v }, Node(%l, %r) => { @product(%l) * @product(%r) }, }
        }
        def @main(%t: Tree) { @product(%t) }
        """,
        "higher_order",
    )
    leaf, node = constructors(made, "Leaf", "Node")
    tree = Call(node, [Call(leaf, [relay.const(3.0)]), Call(leaf, [relay.const(5.0)])])
    loss, (by_tree,) = create_executor(mod=made).evaluate(Call(GlobalVar("main"), [tree]))
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
    made = derived(
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
    value, (slope,) = at(made, 1)
    assert value == pytest.approx(-np.e)
    assert slope == pytest.approx(-2 * np.e)


def test_kernels_are_functions_like_others() -> None:
    made = derived(
        "def @main(%x: float32) { %0 = fn (%p: float32, Primitive=1) { exp(%p) * %p }; %0(%x) }",
        "higher_order",
    )
    _, (slope,) = at(made, 1)
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


def test_zeros_that_nobody_needs_are_not_made() -> None:
    """After LazyGradientInit the cells of zeros are added to without an addition."""
    made = derived("def @main(%x: Tensor[(2), float32]) { %x * 3f }", "higher_order")
    lazy = LazyGradientInit()(made)
    assert at(lazy, [1, 2]) == ([3, 6], [[3, 3]])
    left = simplified(lazy)
    names = [str(n.op) for n in post_order(left["main"]) if isinstance(n, Call)]
    assert names == ["multiply"]
    assert at(left, [1, 2]) == ([3, 6], [[3, 3]])


# -- refusals


def refusal(text: str, mode: str) -> str:
    with pytest.raises(RelayError) as refused:
        derived(text, mode)
    return str(refused.value)


def test_first_order_does_not_go_through_functions() -> None:
    assert refusal("def @main(%x: float32) { let %f = fn (%v: float32) { %v }; %f(%x) }", "first_order") == (
        "from_string:2:60: error: first-order differentiation goes through operators, tuples and `let`s, but "
        "not through a call of a function\n"
        "   2 | def @main(%x: float32) { let %f = fn (%v: float32) { %v }; %f(%x) }\n"
        "     |                                                            ^^^^^^\n"
        'help: differentiate it with mode="higher_order", which follows the program while it runs\n'
        "help: or run PartialEvaluate or Inline first, if what is called or decided is known"
    )


def test_a_function_is_no_parameter() -> None:
    text = """
    type Box { Put(fn (float32) -> float32), }
    def @main(%b: Box, %x: float32) -> float32 { match (%b) { Put(%f) => { %f(%x) }, } }
    """
    assert refusal(text, "higher_order") == (
        "from_string:4:11: error: the parameter `%b` of a function that is differentiated must be a tensor, "
        "or a tuple or data type of tensors, not Box\n"
        "   4 | def @main(%b: Box, %x: float32) -> float32 { match (%b) { Put(%f) => { %f(%x) }, } }\n"
        "     |           ^^^^^^^\n"
        "help: make closures and references inside the function, from tensors that it is given"
    )


def test_the_loss_comes_first() -> None:
    text = """
    type List[A] { Cons(A, List[A]), Nil, }
    def @main(%x: float32) { Cons(%x, Nil) }
    """
    assert "the result must be a tensor, or a tuple that begins with one, not List[float32]" in refusal(
        text, "higher_order"
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_generic_function(mode: str) -> None:
    assert "a function of any type has no derivative" in refusal("def @main[A](%x: A) -> A { %x }", mode)


def test_what_is_no_function() -> None:
    with pytest.raises(RelayError, match="only functions have gradients, not a Var"):
        gradient(relay.var("x", shape=()))
    with pytest.raises(RelayError, match='mode is "third_order", but it is "higher_order" or "first_order"'):
        gradient(relay.Function([], relay.const(1.0)), mode="third_order")
    with pytest.raises(RelayError, match="the function `@f`, which is called here, is not known"):
        gradient(relay.Function([], Call(GlobalVar("f"), [])))


def test_a_gradient_of_ones_own() -> None:
    relay.op.register("thrice", "Three times as much.")
    try:
        op = relay.op.get("thrice")
        op.set_num_inputs(1)
        op.add_type_rel("Identity")
        x = relay.var("x", shape=())
        function = Function([x], Call(op, [x]))
        with pytest.raises(RelayError, match="`thrice` has no gradient"):
            gradient(function, mode="first_order")
        op.set_attr("FPrimalGradient", lambda call, grad: [grad * relay.const(3.0), grad])
        with pytest.raises(RelayError, match="gives 2 derivatives for 1 arguments"):
            gradient(function, mode="first_order")
        op.set_attr("FPrimalGradient", lambda call, grad: [grad * relay.const(3.0)], 11)
        names = [str(n.op) for n in post_order(gradient(function)) if isinstance(n, Call)]
        assert "multiply" in names
    finally:
        relay.op.Op.unregister("thrice")


# -- random programs, in all of the language


def open_program(seed: int) -> tuple[IRModule, list[np.ndarray[Anything, Anything]]] | None:
    """A random program in float64 whose constants are parameters of `@main`, and their values; None where it
    has none, or gives no floating-point number first.
    """
    text = generate(70_000 + seed, size=10 + seed % 40, closed=True).module.astext()
    module = infer_types(parse(re.sub(r"(?<=[\d.])f\b", "f64", text.replace("float32", "float64"))))
    main = module["main"]
    assert isinstance(main, Function)
    params: list[Var] = []
    values: list[np.ndarray[Anything, Anything]] = []

    def as_parameter(node: Expr) -> Expr | None:
        if not (isinstance(node, Constant) and node.data.dtype == "float64"):
            return None
        params.append(Var(f"p{len(params)}", TensorType(node.data.shape, "float64")))
        values.append(np.array(node.data.numpy()))
        return params[-1]

    body = rewrite(main.body, as_parameter)
    type_ = main.checked_type.ret_type  # type: ignore[attr-defined]  # a function's
    if not params or not of_tensors(type_):
        return None
    while isinstance(type_, TupleType):
        type_ = type_.fields[0]
    if type_.dtype != "float64":
        return None
    opened = module.copy()
    opened["main"] = Function(params, body)
    return infer_types(opened), values


def of_tensors(type_: Type) -> bool:
    """Whether it is a tensor, or a tuple of such that begins with one."""
    if isinstance(type_, TupleType):
        return bool(type_.fields) and all(map(of_tensors, type_.fields))
    return isinstance(type_, TensorType)


def first_sum(value: Anything) -> float:
    while not hasattr(value, "numpy"):
        value = value[0]
    return float(value.numpy().sum())


def test_random_programs_against_difference_quotients() -> None:
    compared = 0
    for seed in range(240):
        made = open_program(seed)
        if made is None:
            continue
        module, values = made
        random = np.random.default_rng(seed)
        values = [v + 0.05 * random.normal(size=v.shape) for v in values]  # away from corners
        directions = [random.normal(size=v.shape) for v in values]
        run = create_executor(mod=module).evaluate()
        ends = [
            first_sum(run(*[v + step * d for v, d in zip(values, directions, strict=True)]))
            for step in (1e-5, 0, -1e-5)
        ]
        both, ahead = (ends[0] - ends[2]) / 2e-5, (ends[0] - ends[1]) / 1e-5
        back = module.copy()
        back["main"] = gradient(back["main"], back)
        _, found = create_executor(mod=infer_types(back)).evaluate()(*values)
        if not np.isfinite(both) or not np.isclose(both, ahead, rtol=1e-3, atol=1e-4):
            continue  # a corner, or a jump
        slope = sum((f.numpy() * d).sum() for f, d in zip(found, directions, strict=True))
        assert slope == pytest.approx(both, rel=1e-3, abs=1e-5), seed
        compared += abs(both) > 1e-9
    assert compared > 15
