"""Reverse-mode differentiation: short programs as text, in both modes.

Where TVM 0.14 did otherwise: whole numbers have zeros for their derivatives (for %i of `%i + %i` TVM gave 2,
and for %i of `cast(%i, dtype="float32")` the derivative, rounded); a parameter that is a tuple, or a data
type of tensors, is accepted (TVM refused them in the higher-order mode), and so is a data type that holds
tensors of its own.
"""

from __future__ import annotations

import re
from textwrap import dedent
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
    Let,
    post_order,
    structural_equal,
)
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.recorder import Recorder
from relay_explorer.lower.executor import create_executor
from relay_explorer.ops.relation import IDENTITY
from relay_explorer.text import parse
from relay_explorer.transform import (
    FirstOrderGradient,
    gradient,
)
from relay_explorer.transform.differentiation.first_order import differentiated
from relay_explorer.transform.differentiation.gradient import typed_normal
from relay_explorer.transform.differentiation.reverse_mode import Visit
from relay_explorer.typing import infer_types

MODES = ("first_order", "higher_order")
VERSION = '#[version = "0.0.5"]\n'


def module_of(text: str) -> IRModule:
    return parse(VERSION + dedent(text))


def derived(text: str, mode: str) -> IRModule:
    """Replace the program's `@main` by its gradient."""
    module = infer_types(module_of(text))
    module = module.copy()
    module["main"] = gradient(module["main"], module, mode)
    return infer_types(module)


def at(module: IRModule, *values: Anything) -> tuple[Anything, list[Anything]]:
    """Return the result and the derivatives, as Python numbers."""
    result, results = create_executor(mod=module).evaluate()(*[np.asarray(v, "float32") for v in values])
    return plain(result), [plain(part) for part in results]


def plain(value: Anything) -> Anything:
    return value.numpy().tolist() if hasattr(value, "numpy") else tuple(map(plain, value))


# -- first order


def test_the_forward_program_stays_and_the_way_back_follows() -> None:
    result = derived(
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
    assert structural_equal(result, infer_types(expected), map_free_vars=True), result


def test_derivatives_are_called_after_what_they_are_by() -> None:
    text = derived(
        "def @main(%weight: float32) { let %scaled = exp(%weight); %scaled }", "first_order"
    ).astext()
    assert "let %d_scaled" in text
    assert "let %d_weight" in text


def test_each_name_is_there_once_and_that_of_a_derivative_tells_of_what() -> None:
    text = derived("def @main(%x: float32) { exp(sin(%x) * %x) }", "first_order").astext()
    bound = re.findall(r"let %(\w+)", text)
    assert bound == ["x1", "x2", "x3", "d_x3", "d_x2", "d_x1", "g", "g1", "g2", "d_x", "g3", "g4"]


def test_what_goes_back_comes_from_the_operator_whose_rule_it_is() -> None:
    module = infer_types(
        module_of("def @main(%x: float32) { let %y = tanh(%x); let %z = multiply(%y, %y); %z }")
    )
    main = module["main"]
    assert isinstance(main, Function)
    sources = {id(n): str(n.op) for n in post_order(main) if isinstance(n, Call)}

    def source(expr: Expr) -> str:
        """Return the operator of the program that an expression of its derivative came from."""
        while expr.origin and id(expr) not in sources:
            expr = expr.origin[0]
        return sources.get(id(expr), "")

    output = gradient(main, mode="first_order")
    result = [(n.var.name_hint, source(n.value)) for n in post_order(output) if isinstance(n, Let)][::-1]
    assert [(name, op) for name, op in result if op] == [
        ("y", "tanh"), ("z", "multiply"), ("g", "multiply"), ("g", "multiply"), ("d_y", "tanh"),
        ("g", "tanh"), ("g", "tanh"), ("g", "tanh"), ("d_x", "tanh"),
    ]  # fmt: skip


def test_the_backward_pass_is_recorded() -> None:
    function = typed_normal(
        infer_types(module_of("def @main(%x: float32) { %x * %x }"))["main"], None
    )  # a function
    with Recorder(Visit) as recorder:
        differentiated(function)
    product, x = recorder.events
    assert (product.came, x.came) == ((None,), (product.node, product.node))
    assert [str(e.op) for e in x.sums if isinstance(e, Call)] == ["add"]
    assert len(product.given) == len(product.made) == 2


def test_what_does_not_lead_to_the_result_is_not_differentiated() -> None:
    result = derived(
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
    main = result["main"]
    assert isinstance(main, Function)
    assert sum(isinstance(n, Call) and str(n.op) == "unique" for n in post_order(main)) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_value_that_is_used_several_times_gets_the_sum(mode: str) -> None:
    result = derived("def @main(%x: float32) { let %y = %x * %x; %y * %y + %y + %x }", mode)
    assert at(result, 3) == (93, [4 * 27 + 2 * 3 + 1])


@pytest.mark.parametrize("mode", MODES)
def test_a_shared_node_is_one_value(mode: str) -> None:
    result = derived("def @main(%x: float32) { %0 = exp(%x); %1 = multiply(%0, %0); add(%1, %1) }", mode)
    main = result["main"]
    assert isinstance(main, Function)
    assert sum(isinstance(n, Call) and str(n.op) == "exp" for n in post_order(main)) == 1
    value, (slope,) = at(result, 0.5)
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
    result, results = create_executor(mod=module).evaluate()(
        (np.float32(2), (np.float32(3), np.float32(5))), np.float32(7)
    )
    assert plain(result) == (21, 2)
    assert [plain(part) for part in results] == [(0, (7, 0)), 3]


@pytest.mark.parametrize("mode", MODES)
def test_of_a_tuple_only_the_first_field_counts(mode: str) -> None:
    assert at(derived("def @main(%x: float32) { (%x * 2f, %x * 100f) }", mode), 3) == ((6, 300), [2])


@pytest.mark.parametrize("mode", MODES)
def test_a_parameter_that_does_not_matter_has_zeros(mode: str) -> None:
    module = derived("def @main(%x: float32, %i: Tensor[(2), int32]) { %x * 2f }", mode)
    _, result = create_executor(mod=module).evaluate()(np.float32(1), np.zeros(2, "int32"))
    assert [plain(part) for part in result] == [2, [0, 0]]
    assert result[1].dtype == "int32"


@pytest.mark.parametrize("mode", MODES)
def test_a_branch_between_constants_is_a_number(mode: str) -> None:
    """In the first order too: what a condition depends on does not move what is chosen."""
    text = """
    def @main(%x: float32, %i: int32) {
      let %k = if (greater(%x, cast(%i, dtype="float32"))) { 2f } else { 5f };
      %x * %k
    }
    """
    output = derived(text, mode)
    result, results = create_executor(mod=output).evaluate()(np.float32(3), np.int32(7))
    assert (plain(result), [plain(part) for part in results]) == (15, [5, 0])


@pytest.mark.parametrize("mode", MODES)
def test_a_product_in_a_wider_type(mode: str) -> None:
    text = """
    def @main(%x: Tensor[(2, 3), float16], %w: Tensor[(4, 3), float16]) {
      nn.dense(%x, %w, out_dtype="float32")
    }
    """
    result = derived(text, mode)["main"].checked_type
    assert str(result.ret_type.fields[1]) == "(Tensor[(2, 3), float16], Tensor[(4, 3), float16])"  # type: ignore[attr-defined]


def test_the_pass_derives_every_function() -> None:
    result = infer_types(
        FirstOrderGradient()(
            module_of("def @f(%x: float32) { exp(%x) }\ndef @main(%y: Tensor[(2), float32]) { sum(%y) }")
        )
    )
    assert str(result["f"].checked_type) == "fn (float32) -> (float32, (float32,))"
    expected = "fn (Tensor[(2), float32]) -> (float32, (Tensor[(2), float32],))"
    assert str(result["main"].checked_type) == expected


def test_a_long_program_is_derived_in_linear_time_and_without_a_deep_stack() -> None:
    x = relay.var("x", shape=())
    body: Expr = x
    for _ in range(20_000):
        body = relay.negative(body)
    result = gradient(Function([x], body), mode="first_order")
    assert sum(isinstance(n, Call) for n in post_order(result)) == 40_001


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
        "help: or run PartialEvaluate or Inline first, if the callee or the condition is static"
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
        "help: create closures and references inside the function, from its tensor parameters"
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
    assert "a polymorphic function has no derivative" in refusal("def @main[A](%x: A) -> A { %x }", mode)


def test_what_is_no_function() -> None:
    with pytest.raises(RelayError, match="only functions have gradients, not a Var"):
        gradient(relay.var("x", shape=()))
    with pytest.raises(RelayError, match="only functions have gradients, not an IRModule") as caught:
        gradient(relay.parse("def @main(%x: float32) { %x }"))  # type: ignore[arg-type]  # what the test is about
    assert 'gradient(mod["main"], mod)' in caught.value.help[0]
    with pytest.raises(RelayError, match='mode is "third_order", but it is "higher_order" or "first_order"'):
        gradient(relay.Function([], relay.const(1.0)), mode="third_order")
    with pytest.raises(RelayError, match="the function `@f`, which is called here, is not known"):
        gradient(relay.Function([], Call(GlobalVar("f"), [])))


def test_a_gradient_of_ones_own() -> None:
    relay.op.register("thrice", "Three times as much.")
    try:
        op = relay.op.get("thrice")
        op.inputs, op.relation = ("data",), IDENTITY
        x = relay.var("x", shape=())
        function = Function([x], Call(op, [x]))
        with pytest.raises(RelayError, match="`thrice` has no gradient"):
            gradient(function, mode="first_order")
        op.set_attr("FPrimalGradient", lambda call, grad: [grad * relay.const(3.0), grad])
        with pytest.raises(RelayError, match="returns 2 derivatives for 1 arguments"):
            gradient(function, mode="first_order")
        op.set_attr("FPrimalGradient", lambda call, grad: [grad * relay.const(3.0)], 11)
        names = [str(n.op) for n in post_order(gradient(function)) if isinstance(n, Call)]
        assert "multiply" in names
    finally:
        relay.op.Op.unregister("thrice")


def test_a_composed_gradient_is_not_recorded_as_part_of_the_program() -> None:
    """`nn.batch_norm` differentiates what it is composed of; that is another backward pass."""
    text = "def @main(%x: Tensor[(1, 2, 3, 3), float32], %s: Tensor[(2), float32])"
    typed = infer_types(module_of(text + " { nn.batch_norm(%x, %s, %s, %s, %s).0 }"))["main"]
    with Recorder(Visit) as recorder:
        differentiated(typed_normal(typed, None))  # a function
    called = [str(visit.node.op) for visit in recorder.events if isinstance(visit.node, Call)]
    assert called == ["nn.batch_norm"]
