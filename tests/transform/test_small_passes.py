"""Passes of one rule: FastMath, CanonicalizeOps, RemoveUnusedFunctions, SimplifyInference, FoldConstant."""

from __future__ import annotations

import pytest

from relay_explorer.ir import Function, FuncType, GlobalVar, IRModule, Tuple, scalar_type, var
from relay_explorer.ir.errors import TypeInferenceError
from relay_explorer.text import parse
from relay_explorer.transform import (
    CanonicalizeOps,
    FastMath,
    FoldConstant,
    InferType,
    RemoveUnusedFunctions,
    SimplifyInference,
    function_pass,
)
from tests.transform.golden import check


def test_fast_functions() -> None:
    check(FastMath(), """
    def @main(%x: Tensor[(2), float32]) { nn.softmax(erf(tanh(exp(%x)))) }
    """, """
    def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {
      %0 = fast_exp(%x);
      %1 = fast_tanh(%0);
      %2 = fast_erf(%1);
      nn.fast_softmax(%2)
    }
    """)  # fmt: skip


def test_a_bias_is_an_addition() -> None:
    check(CanonicalizeOps(), """
    def @main(%x: Tensor[(2, 3, 4), float32], %b: Tensor[(3), float32]) { nn.bias_add(%x, %b) }
    """, """
    def @main(%x: Tensor[(2, 3, 4), float32], %b: Tensor[(3), float32]) -> Tensor[(2, 3, 4), float32] {
      %0 = expand_dims(%b, axis=1);
      add(%x, %0)
    }
    """)  # fmt: skip


def test_a_bias_of_the_last_axis_needs_no_more_axes() -> None:
    check(CanonicalizeOps(), """
    def @main(%x: Tensor[(2, 3), float32], %b: Tensor[(3), float32]) { nn.bias_add(%x, %b, axis=-1) }
    """, """
    def @main(%x: Tensor[(2, 3), float32], %b: Tensor[(3), float32]) -> Tensor[(2, 3), float32] {
      add(%x, %b)
    }
    """)  # fmt: skip


def test_functions_that_main_does_not_need() -> None:
    check(RemoveUnusedFunctions(), """
    def @a(%x: float32) { exp(%x) }
    def @b(%x: float32) { @a(%x) }
    def @c(%x: float32) { @b(%x) }
    def @main(%x: float32) { @b(%x) }
    """, """
    def @a(%x: float32) -> float32 {
      exp(%x)
    }

    def @b(%x1: float32) -> float32 {
      @a(%x1)
    }

    def @main(%x2: float32) -> float32 {
      @b(%x2)
    }
    """)  # fmt: skip


def test_other_entry_points() -> None:
    check(RemoveUnusedFunctions(["a", "c"]), """
    def @a(%x: float32) { exp(%x) }
    def @b(%x: float32) { exp(%x) }
    def @c(%x: float32) -> float32 { @c(%x) }
    """, """
    def @a(%x: float32) -> float32 {
      exp(%x)
    }

    def @c(%x1: float32) -> float32 {
      @c(%x1)
    }
    """)  # fmt: skip


def test_a_batch_norm_is_a_scale_and_a_shift() -> None:
    check(SimplifyInference(), """
    def @main(%x: Tensor[(1, 2, 3), float32], %s: Tensor[(2), float32]) { nn.batch_norm(%x, %s, %s, %s, \
%s).0 }
    """, """
    def @main(%x: Tensor[(1, 2, 3), float32], %s: Tensor[(2), float32]) -> Tensor[(1, 2, 3), float32] {
      %0 = add(%s, 1e-05f);
      %1 = sqrt(%0);
      %2 = divide(1f, %1);
      %3 = multiply(%2, %s);
      %4 = expand_dims(%3, axis=1);
      %5 = negative(%s);
      %6 = multiply(%5, %3);
      %7 = add(%6, %s);
      %8 = multiply(%x, %4);
      %9 = expand_dims(%7, axis=1);
      add(%8, %9)
    }
    """)  # fmt: skip


def test_a_batch_norm_whose_statistics_are_used_stays() -> None:
    check(SimplifyInference(), """
    def @main(%x: Tensor[(1, 2), float32], %s: Tensor[(2), float32]) { nn.batch_norm(%x, %s, %s, %s, %s).1 }
    """, """
    def @main(%x: Tensor[(1, 2), float32], %s: Tensor[(2), float32]) -> Tensor[(2), float32] {
      %0 = nn.batch_norm(%x, %s, %s, %s, %s);
      %0.1
    }
    """)  # fmt: skip


def test_dropout_disappears() -> None:
    check(SimplifyInference(), """
    def @main(%x: Tensor[(2), float32]) { nn.dropout(%x).0 }
    """, """
    def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {
      %x
    }
    """)  # fmt: skip


def test_constants_are_folded() -> None:
    check(FoldConstant(), """
    def @main(%x: float32) { add(%x, exp(subtract(1f, 1f))) }
    """, """
    def @main(%x: float32) -> float32 {
      add(%x, 1f)
    }
    """)  # fmt: skip


def test_a_bound_constant_is_put_where_it_is_used() -> None:
    check(FoldConstant(), """
    def @main(%x: float32) { let %a = add(1f, 2f); multiply(%a, %x) }
    """, """
    def @main(%x: float32) -> float32 {
      multiply(3f, %x)
    }
    """)  # fmt: skip


def test_a_projection_of_a_tuple_that_is_written_out_is_the_field() -> None:
    check(FoldConstant(), """
    def @main(%x: float32, %y: float32) { add((%x, exp(%y)).1, (%x, 2f).1) }
    """, """
    def @main(%x: float32, %y: float32) -> float32 {
      %0 = exp(%y);
      add(%0, 2f)
    }
    """)  # fmt: skip


def test_a_tuple_with_side_effects_stays() -> None:
    check(FoldConstant(), """
    def @main(%r: ref(float32)) { (@write(%r), 2f).1 }
    def @write(%r: ref(float32)) { ref_write(%r, 1f) }
    """, """
    def @main(%r: ref(float32)) -> float32 {
      %0 = @write(%r);
      %1 = (%0, 2f);
      %1.1
    }

    def @write(%r1: ref(float32)) -> () {
      ref_write(%r1, 1f)
    }
    """)  # fmt: skip


def test_a_known_shape_is_a_constant() -> None:
    check(FoldConstant(), """
    def @main(%x: Tensor[(2, 3), float32]) { shape_of(%x, dtype="int32") }
    """, """
    def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2), int32] {
      meta[relay.Constant][0]
    }

    #[metadata]
    {
      "relay.Constant": [
        {"shape": [2], "dtype": "int32", "values": [2, 3]}
      ]
    }
    """)  # fmt: skip


def test_what_makes_much_of_nothing_stays() -> None:
    check(FoldConstant(), """
    def @main() { zeros(shape=[100], dtype="float32") }
    """, """
    def @main() -> Tensor[(100), float32] {
      zeros(shape=[100], dtype="float32")
    }
    """)  # fmt: skip


def test_what_a_function_pass_made_has_types() -> None:
    replace = function_pass(
        lambda function, mod, ctx: Function(function.params, function.params[0]), name="First"
    )
    module = replace(parse("def @main(%x: float32, %y: float32) { add(%x, %y) }"))
    assert module["main"].checked_type == FuncType([scalar_type("float32")] * 2, scalar_type("float32"))


def test_what_has_no_types_is_given_back_untyped() -> None:
    half = function_pass(lambda function, mod, ctx: Function(function.params, Tuple([]), function.ret_type))
    module = half(parse("def @main(%x: float32) -> float32 { exp(%x) }"))
    assert isinstance(module["main"].body, Tuple)
    with pytest.raises(TypeInferenceError):
        InferType()(module)


def test_a_module_of_functions_by_name() -> None:
    main = parse("def @main(%x: float32) { %x }")["main"]
    module = IRModule({GlobalVar("main"): main})
    assert module["main"] is main
    assert module.copy() is not module


def test_functions_are_used_by_name() -> None:
    """Parts of a program that were written apart name one function by GlobalVars of their own."""
    used = parse("def @used(%x: float32) { %x }")["used"]
    x = var("x", "float32")
    module = IRModule({GlobalVar("used"): used, GlobalVar("other"): used})
    module["main"] = Function([x], GlobalVar("used")(x))
    kept = RemoveUnusedFunctions()(module)
    assert [v.name_hint for v in kept.functions] == ["used", "main"]
    assert InferType()(kept)["main"].checked_type == FuncType(
        [scalar_type("float32")], scalar_type("float32")
    )
