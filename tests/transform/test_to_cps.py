"""ToCPS and UnCPS: continuation-passing style, and back."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer.execute import Interpreter
from relay_explorer.ir import (
    Call,
    Expr,
    Function,
    FuncType,
    Let,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Var,
    post_order,
    scalar_type,
    var,
)
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.module import IRModule
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import (
    DeadCodeElimination,
    PartialEvaluate,
    Sequential,
    ToCPS,
    UnCPS,
    gradient,
    to_cps,
    un_cps,
)
from relay_explorer.typing import infer_types
from tests.property.programs import first_failure
from tests.transform.golden import check
from tests.transform.test_contracts import broken


def test_operators_are_called_as_before() -> None:
    check(ToCPS(), """
    def @main(%x: float32) { exp(tanh(%x)) }
    """, """
    def @main[answer](%x: float32, %k: fn (float32) -> answer) -> answer {
      let %x1: float32 = tanh(%x);
      let %x2: float32 = exp(%x1);
      %k(%x2)
    }
    """)  # fmt: skip


def test_what_follows_a_call_is_its_continuation() -> None:
    check(ToCPS(), """
    def @f(%x: float32) { tanh(%x) }
    def @main(%x: float32) { exp(@f(%x)) }
    """, """
    def @f[answer](%x: float32, %k: fn (float32) -> answer) -> answer {
      let %x1: float32 = tanh(%x);
      %k(%x1)
    }

    def @main[answer](%x2: float32, %k1: fn (float32) -> answer) -> answer {
      %0 = fn (%arg: float32) -> answer {
        let %x3: float32 = exp(%arg);
        %k1(%x3)
      };
      @f_cps[answer](%x2, %0)
    }

    def @f_cps[answer](%x4: float32, %k2: fn (float32) -> answer) -> answer {
      let %x5: float32 = tanh(%x4);
      %k2(%x5)
    }
    """)  # fmt: skip


def test_what_follows_a_choice_is_a_function_of_both_branches() -> None:
    check(ToCPS(), """
    def @main(%c: bool, %x: float32) {
      add((if (%c) { %x } else { exp(%x) }), 1f)
    }
    """, """
    def @main[answer](%c: bool, %x: float32, %k: fn (float32) -> answer) -> answer {
      let %k1: fn (float32) -> answer = fn (%arg: float32) -> answer {
        let %x1: float32 = add(%arg, 1f);
        %k(%x1)
      };
      if (%c) {
        %k1(%x)
      } else {
        let %x2: float32 = exp(%x);
        %k1(%x2)
      }
    }
    """)  # fmt: skip


def test_a_call_at_the_end_hands_the_continuation_on() -> None:
    """TVM makes a function that does nothing but call it."""
    check(ToCPS(), """
    def @main(%n: int32, %a: int32) -> int32 {
      if (less(%n, 1)) { %a } else { @main(subtract(%n, 1), multiply(%a, %n)) }
    }
    """, """
    def @main[answer](%n: int32, %a: int32, %k: fn (int32) -> answer) -> answer {
      let %x: bool = less(%n, 1);
      let %k1: fn (int32) -> answer = %k;
      if (%x) {
        %k1(%a)
      } else {
        let %x1: int32 = subtract(%n, 1);
        let %x2: int32 = multiply(%a, %n);
        @main_cps[answer](%x1, %x2, %k1)
      }
    }

    def @main_cps[answer](%n1: int32, %a1: int32, %k2: fn (int32) -> answer) -> answer {
      let %x3: bool = less(%n1, 1);
      let %k3: fn (int32) -> answer = %k2;
      if (%x3) {
        %k3(%a1)
      } else {
        let %x4: int32 = subtract(%n1, 1);
        let %x5: int32 = multiply(%a1, %n1);
        @main_cps[answer](%x4, %x5, %k3)
      }
    }
    """)  # fmt: skip


def test_functions_as_arguments_take_continuations_too() -> None:
    check(ToCPS(), """
    def @main(%f: fn (float32) -> float32, %x: float32) { %f(%f(%x)) }
    """, """
    def @main[answer](%f: fn (float32, fn (float32) -> answer) -> answer, %x: float32, %k: fn (float32) \
-> answer) -> answer {
      %0 = fn (%arg: float32) -> answer {
        %f(%arg, %k)
      };
      %f(%x, %0)
    }
    """)  # fmt: skip


def test_a_generic_function_has_one_type_parameter_more() -> None:
    check(ToCPS(), """
    def @id[A](%x: A) -> A { %x }
    def @main() { (@id(1), @id(2f)) }
    """, """
    def @id[A, answer](%x: A, %k: fn (A) -> answer) -> answer {
      %k(%x)
    }

    def @main[answer](%k1: fn ((int32, float32)) -> answer) -> answer {
      %2 = fn (%arg: int32) -> answer {
        %1 = fn (%arg1: float32) -> answer {
          %0 = (%arg, %arg1);
          %k1(%0)
        };
        @id_cps[float32, answer](2f, %1)
      };
      @id_cps[int32, answer](1, %2)
    }

    def @id_cps[A, answer](%x1: A, %k2: fn (A) -> answer) -> answer {
      %k2(%x1)
    }
    """)  # fmt: skip


def test_effects_stay_in_order() -> None:
    check(ToCPS(), """
    def @main() {
      let %r = ref(1f);
      let %f = fn (%x: float32) -> () { ref_write(%r, %x) };
      (%f(2f), ref_read(%r))
    }
    """, """
    def @main[answer](%k: fn (((), float32)) -> answer) -> answer {
      let %x: ref(float32) = ref(1f);
      let %r: ref(float32) = %x;
      let %f: fn (float32, fn (()) -> answer) -> answer = fn (%x1: float32, %k1: fn (()) -> answer) -> \
answer {
        let %x2: () = ref_write(%r, %x1);
        %k1(%x2)
      };
      %1 = fn (%arg: ()) -> answer {
        let %x3: float32 = ref_read(%r);
        %0 = (%arg, %x3);
        %k(%0)
      };
      %f(2f, %1)
    }
    """)  # fmt: skip


def test_a_match_is_a_choice() -> None:
    check(ToCPS(), """
    type Maybe { Just(float32), Nothing }
    def @main(%m: Maybe) {
      exp(match (%m) { Just(%x) => { %x }, Nothing => { 0f } })
    }
    """, """
    type Maybe {
      Just(float32),
      Nothing,
    }

    def @main[answer](%m: Maybe, %k: fn (float32) -> answer) -> answer {
      let %k1: fn (float32) -> answer = fn (%arg: float32) -> answer {
        let %x: float32 = exp(%arg);
        %k(%x)
      };
      match (%m) {
        Just(%x1: float32) => {
          %k1(%x1)
        },
        Nothing => {
          %k1(0f)
        },
      }
    }
    """)  # fmt: skip


def test_constructors_as_values_get_a_continuation() -> None:
    check(ToCPS(), """
    type Maybe { Just(float32), Nothing }
    def @apply(%f: fn (float32) -> Maybe) { %f(1f) }
    def @main() { @apply(Just) }
    """, """
    type Maybe {
      Just(float32),
      Nothing,
    }

    def @apply[answer](%f: fn (float32, fn (Maybe) -> answer) -> answer, %k: fn (Maybe) -> answer) -> answer {
      %f(1f, %k)
    }

    def @main[answer](%k1: fn (Maybe) -> answer) -> answer {
      %0 = fn (%eta_expand_param_0: float32, %k2: fn (Maybe) -> answer) -> answer {
        let %x: Maybe = Just(%eta_expand_param_0);
        %k2(%x)
      };
      @apply_cps[answer](%0, %k1)
    }

    def @apply_cps[answer](%f1: fn (float32, fn (Maybe) -> answer) -> answer, %k3: fn (Maybe) -> answer) \
-> answer {
      %f1(1f, %k3)
    }
    """)  # fmt: skip


def test_kernels_are_called_as_operators() -> None:
    check(ToCPS(), """
    def @main(%x: float32) { fn (%a: float32, Primitive=1) { exp(%a) }(%x) }
    """, """
    def @main[answer](%x: float32, %k: fn (float32) -> answer) -> answer {
      %0 = fn (%a: float32, Primitive=1) -> float32 {
        exp(%a)
      };
      let %x1: float32 = %0(%x);
      %k(%x1)
    }
    """)  # fmt: skip


def test_shared_values_are_computed_once() -> None:
    check(ToCPS(), """
    def @f(%x: float32) { tanh(%x) }
    def @main(%x: float32) { %0 = @f(%x); add(%0, %0) }
    """, """
    def @f[answer](%x: float32, %k: fn (float32) -> answer) -> answer {
      let %x1: float32 = tanh(%x);
      %k(%x1)
    }

    def @main[answer](%x2: float32, %k1: fn (float32) -> answer) -> answer {
      %0 = fn (%arg: float32) -> answer {
        let %x3: float32 = add(%arg, %arg);
        %k1(%x3)
      };
      @f_cps[answer](%x2, %0)
    }

    def @f_cps[answer](%x4: float32, %k2: fn (float32) -> answer) -> answer {
      let %x5: float32 = tanh(%x4);
      %k2(%x5)
    }
    """)  # fmt: skip


def test_and_back() -> None:
    check([ToCPS(), UnCPS()], """
    def @main(%x: float32) { exp(%x) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = fn (%x3: float32) -> float32 {
        %x3
      };
      %1 = fn [answer](%x1: float32, %k: fn (float32) -> answer) -> answer {
        let %x2: float32 = exp(%x1);
        %k(%x2)
      };
      %1[float32](%x, %0)
    }
    """)  # fmt: skip


def test_the_way_back_keeps_type_parameters() -> None:
    check([ToCPS(), UnCPS()], """
    def @first[A, B](%x: A, %y: B) -> A { %x }
    """, """
    def @first[A, B](%x: A, %y: B) -> A {
      %0 = fn (%x2: A) -> A {
        %x2
      };
      %1 = fn [A1, B1, answer](%x1: A1, %y1: B1, %k: fn (A1) -> answer) -> answer {
        %k(%x1)
      };
      %1[A, B, A](%x, %y, %0)
    }
    """)  # fmt: skip


def test_a_data_type_that_holds_functions_is_refused() -> None:
    with pytest.raises(RelayError) as caught:
        check(ToCPS(), """
        type Box { Put(fn (float32) -> float32) }
        def @main(%b: Box) { match (%b) { Put(%f) => { %f(1f) } } }
        """, "")  # fmt: skip
    assert str(caught.value).splitlines()[0] == (
        "from_string:3:22: error: `Put` holds a function, whose type changes in continuation-passing style"
    )


def test_only_functions_with_a_continuation_go_back() -> None:
    with pytest.raises(RelayError) as caught:
        un_cps(parse("def @main(%x: float32) { exp(%x) }")["main"])
    assert str(caught.value).splitlines()[0] == (
        "from_string:1:1: error: this function is not in continuation-passing style: its last parameter "
        "is not a function to the type of its result"
    )


def test_a_function_of_functions_does_not_go_back() -> None:
    module = parse("def @main(%f: fn (float32) -> float32) { %f(1f) }")
    with pytest.raises(RelayError, match="this function takes or returns functions"):
        un_cps(to_cps(module["main"]))


def test_a_module_gets_the_functions_that_are_called() -> None:
    module = infer_types(parse("def @f(%x: float32) { tanh(%x) } def @main(%x: float32) { @f(%x) }"))
    module["main"] = to_cps(module["main"], mod=module)
    assert [var.name_hint for var in module.functions] == ["f", "main", "f_cps"]
    infer_types(module)


def test_a_long_chain_of_calls() -> None:
    x: Expr = var("x", scalar_type("float32"))
    assert isinstance(x, Var)
    body: Expr = x
    for _ in range(20_000):
        body = Call(Op.get("exp"), [body])
    function = to_cps(Function([x], body))
    assert sum(isinstance(node, Let) for node in post_order(function)) == 20_000


def test_partial_evaluation_removes_the_cells_of_a_gradient_whose_branch_is_dynamic() -> None:
    """In continuation-passing style, each branch holds all that follows it, the backward pass included."""
    program = parse("def @main(%c: bool, %x: float32, %y: float32) { (if (%c) { %x } else { %y }) * %x }")
    derived = infer_types(IRModule.from_expr(gradient(infer_types(program)["main"])))
    continued = infer_types(ToCPS()(derived))
    straight = infer_types(Sequential(
        [PartialEvaluate(), DeadCodeElimination(inline_once=True, ignore_impurity=True)]
    )(continued))  # fmt: skip
    nodes = post_order(straight["main"])
    assert not any(isinstance(node, (RefCreate, RefRead, RefWrite)) for node in nodes)
    back = infer_types(IRModule.from_expr(un_cps(straight["main"])))
    for arguments in (True, 2.0, 3.0), (False, 2.0, 3.0):
        expected, result = (
            Interpreter(module).call("main", [np.array(arguments[0]), *map(np.float32, arguments[1:])])
            for module in (derived, back)
        )
        assert str(result) == str(expected)


def test_random_programs_there_and_back_keep_types_and_values() -> None:
    programs = [generate(84_000 + seed, size=10 + seed % 40, closed=True).module for seed in range(80)]
    first_order = [module for module in programs if "fn" not in str(type_of_main(module).ret_type)]
    assert len(first_order) > 50
    assert first_failure(first_order, lambda module: broken(module, [ToCPS(), UnCPS()])) is None


def type_of_main(module: IRModule) -> FuncType:
    result = infer_types(module)["main"].checked_type
    assert isinstance(result, FuncType)
    return result
