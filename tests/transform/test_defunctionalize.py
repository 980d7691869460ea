"""Defunctionalization: functions as values become data."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import transform
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir import structural_equal
from relay_explorer.ir.errors import RelayError
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import Defunctionalization, Defunctionalize
from relay_explorer.transform.defunctionalize import has_function
from relay_explorer.typing import infer_types
from tests.property.programs import first_failure
from tests.transform.golden import check
from tests.transform.test_contracts import broken


def test_a_function_as_argument_becomes_a_constructor() -> None:
    check(Defunctionalize(), """
    def @twice(%f: fn (float32) -> float32, %x: float32) -> float32 { %f(%f(%x)) }
    def @main(%x: float32) { @twice(fn (%y: float32) { exp(%y) }, %x) }
    """, """
    type Fn0 {
      LiftedName0,
    }

    def @main(%x: float32) -> float32 {
      %0 = LiftedName0;
      @twice_2(%0, %x)
    }

    def @twice_2(%f: Fn0, %x1: float32) -> float32 {
      %1 = @apply0(%f, %x1);
      @apply0(%f, %1)
    }

    def @lifted_name0(%y: float32) -> float32 {
      exp(%y)
    }

    def @apply0(%f1: Fn0, %x0: float32) -> float32 {
      match (%f1) {
        LiftedName0 => {
          @lifted_name0(%x0)
        },
      }
    }
    """)  # fmt: skip


def test_what_it_uses_from_outside_becomes_its_fields() -> None:
    """TVM refuses functions that a function returns."""
    check(Defunctionalize(), """
    def @add(%x: float32) { fn (%y: float32) { add(%x, %y) } }
    def @main(%x: float32) { let %f = @add(%x); %f(%f(%x)) }
    """, """
    type Fn0 {
      LiftedName0(float32),
    }

    def @main(%x: float32) -> float32 {
      let %f: Fn0 = @add_1(%x);
      %0 = @apply0(%f, %x);
      @apply0(%f, %0)
    }

    def @add_1(%x1: float32) -> Fn0 {
      LiftedName0(%x1)
    }

    def @lifted_name0_2(%x2: float32, %y: float32) -> float32 {
      add(%x2, %y)
    }

    def @apply0(%f1: Fn0, %x0: float32) -> float32 {
      match (%f1) {
        LiftedName0(%c0: float32) => {
          @lifted_name0_2(%c0, %x0)
        },
      }
    }
    """)  # fmt: skip


def test_one_data_type_a_type() -> None:
    check(Defunctionalize(), """
    def @pick(%c: bool, %f: fn (float32) -> float32, %g: fn (float32) -> float32) {
      if (%c) { %f } else { %g }
    }
    def @one(%x: float32) { exp(%x) }
    def @main(%c: bool, %x: float32) { @pick(%c, @one, fn (%y: float32) { tanh(%y) })(%x) }
    """, """
    type Fn0 {
      One,
      LiftedName0,
    }

    def @main(%c: bool, %x: float32) -> float32 {
      %0 = One;
      %1 = LiftedName0;
      %2 = @pick_3(%c, %0, %1);
      @apply0(%2, %x)
    }

    def @pick_3(%c1: bool, %f: Fn0, %g: Fn0) -> Fn0 {
      if (%c1) {
        %f
      } else {
        %g
      }
    }

    def @lifted_name0(%y: float32) -> float32 {
      tanh(%y)
    }

    def @one(%x1: float32) -> float32 {
      exp(%x1)
    }

    def @apply0(%f1: Fn0, %x0: float32) -> float32 {
      match (%f1) {
        One => {
          @one(%x0)
        },
        LiftedName0 => {
          @lifted_name0(%x0)
        },
      }
    }
    """)  # fmt: skip


def test_generic_functions_are_copied_for_their_types() -> None:
    check(Defunctionalize(), """
    def @apply[A, B](%f: fn (A) -> B, %x: A) -> B { %f(%x) }
    def @id[A](%x: A) -> A { %x }
    def @main(%x: float32, %n: int32) { (@apply(@id, %x), @apply(@id, %n)) }
    """, """
    type Fn0 {
      Id,
    }

    type Fn1 {
      Id_1,
    }

    def @main(%x: float32, %n: int32) -> (float32, int32) {
      %0 = Id;
      %1 = Id_1;
      %2 = @apply_2(%0, %x);
      %3 = @apply_4(%1, %n);
      (%2, %3)
    }

    def @apply_4(%f: Fn1, %x1: int32) -> int32 {
      @apply1(%f, %x1)
    }

    def @id_3(%x2: int32) -> int32 {
      %x2
    }

    def @apply_2(%f1: Fn0, %x3: float32) -> float32 {
      @apply0(%f1, %x3)
    }

    def @id_1(%x4: float32) -> float32 {
      %x4
    }

    def @apply0(%f2: Fn0, %x0: float32) -> float32 {
      match (%f2) {
        Id => {
          @id_1(%x0)
        },
      }
    }

    def @apply1(%f3: Fn1, %x01: int32) -> int32 {
      match (%f3) {
        Id_1 => {
          @id_3(%x01)
        },
      }
    }
    """)  # fmt: skip


def test_functions_in_lists() -> None:
    check(Defunctionalize(), """
    type List[A] { Cons(A, List[A]), Nil }
    def @all(%fs: List[fn (float32) -> float32], %x: float32) -> float32 {
      match (%fs) { Cons(%f, %rest) => { @all(%rest, %f(%x)) }, Nil => { %x } }
    }
    def @exp(%x: float32) { exp(%x) }
    def @main(%x: float32) { @all(Cons(@exp, Nil), %x) }
    """, """
    type List[A] {
      Cons(A, List[A]),
      Nil,
    }

    type Fn0 {
      Exp,
    }

    def @main(%x: float32) -> float32 {
      %0 = Exp;
      %1 = Nil;
      %2 = Cons(%0, %1);
      @all_2(%2, %x)
    }

    def @all_2(%fs: List[Fn0], %x1: float32) -> float32 {
      match (%fs) {
        Cons(%f: Fn0, %rest: List[Fn0]) => {
          %3 = @apply0(%f, %x1);
          @all_2(%rest, %3)
        },
        Nil => {
          %x1
        },
      }
    }

    def @exp(%x2: float32) -> float32 {
      exp(%x2)
    }

    def @apply0(%f1: Fn0, %x0: float32) -> float32 {
      match (%f1) {
        Exp => {
          @exp(%x0)
        },
      }
    }
    """)  # fmt: skip


def test_a_name_for_a_generic_function() -> None:
    check(Defunctionalize(), """
    def @main(%x: float32) { let %id = fn[A](%y: A) -> A { %y }; (%id(%x), %id(1)) }
    """, """
    def @main(%x: float32) -> (float32, int32) {
      %0 = @lifted_name0_1(%x);
      %1 = @lifted_name0_2(1);
      (%0, %1)
    }

    def @lifted_name0_2(%y: int32) -> int32 {
      %y
    }

    def @lifted_name0_1(%y1: float32) -> float32 {
      %y1
    }
    """)  # fmt: skip


def test_a_function_that_nobody_makes() -> None:
    check(Defunctionalize(), """
    type Maybe[A] { Just(A), Nothing }
    def @main(%x: float32) {
      let %m: Maybe[fn (float32) -> float32] = Nothing;
      match (%m) { Just(%f) => { %f(%x) }, Nothing => { %x } }
    }
    """, """
    type Maybe[A] {
      Just(A),
      Nothing,
    }

    type Fn0 {
      NoFn0,
    }

    def @main(%x: float32) -> float32 {
      let %m: Maybe[Fn0] = Nothing;
      match (%m) {
        Just(%f: Fn0) => {
          @apply0(%f, %x)
        },
        Nothing => {
          %x
        },
      }
    }

    def @apply0(%f1: Fn0, %x0: float32) -> float32 {
      match (%f1) {
        NoFn0 => {
          @apply0(%f1, %x0)
        },
      }
    }
    """)  # fmt: skip


def test_names_that_are_taken_are_left_alone() -> None:
    check(Defunctionalize(), """
    type Fn0 { Id }
    def @id(%x: float32) { %x }
    def @call(%f: fn (float32) -> float32) { %f(1f) }
    def @main() { (@call(@id), Id) }
    """, """
    type Fn0 {
      Id,
    }

    type Fn0_1 {
      Id_1,
    }

    def @main() -> (float32, Fn0) {
      %0 = Id_1;
      %1 = @call_2(%0);
      %2 = Id;
      (%1, %2)
    }

    def @call_2(%f: Fn0_1) -> float32 {
      @apply0(%f, 1f)
    }

    def @id(%x: float32) -> float32 {
      %x
    }

    def @apply0(%f1: Fn0_1, %x0: float32) -> float32 {
      match (%f1) {
        Id_1 => {
          @id(%x0)
        },
      }
    }
    """)  # fmt: skip


def test_kernels_stay() -> None:
    check(Defunctionalize(), """
    def @main(%x: float32) {
      fn (%a: float32, Primitive=1) { exp(%a) }(%x)
    }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = fn (%a: float32, Primitive=1) -> float32 {
        exp(%a)
      };
      %0(%x)
    }
    """)  # fmt: skip


def test_what_main_does_not_need_is_left_out() -> None:
    check(Defunctionalize(), """
    def @f(%x: float32) { exp(%x) }
    def @main(%x: float32) { %x }
    """, """
    def @main(%x: float32) -> float32 {
      %x
    }
    """)  # fmt: skip


def refused(text: str) -> str:
    with pytest.raises(RelayError) as caught:
        Defunctionalize()(parse(text))
    return str(caught.value).splitlines()[0]


def test_main_takes_and_gives_data() -> None:
    assert refused("def @main(%f: fn (float32) -> float32) { %f(1f) }") == (
        "from_string:1:1: error: `@main` has the type `fn (fn (float32) -> float32) -> float32`, but its "
        "parameters and result must be data"
    )


def test_a_data_type_that_holds_functions_is_refused() -> None:
    text = """type Box { Put(fn (float32) -> float32) }
    def @main(%x: float32) { match (Put(fn (%y: float32) { %y })) { Put(%f) => { %f(%x) } } }"""
    assert refused(text) == ("from_string:1:1: error: `Put` holds a function: its type would have to change")


def test_a_generic_function_as_a_value_is_refused() -> None:
    text = """def @both(%f: fn[A](A) -> A) { (%f(1), %f(2f)) }
    def @main() { @both(fn[A](%x: A) -> A { %x }) }"""
    assert "is passed on, so it would have to be copied for each type" in refused(text)


def test_a_function_that_is_used_with_ever_larger_types_is_refused() -> None:
    text = """def @grow[A](%x: A, %n: int32) -> int32 {
      if (less(%n, 0)) { %n } else { @grow((%x, %x), subtract(%n, 1)) }
    }
    def @main() { @grow(1f, 3) }"""
    assert refused(text) == (
        "from_string:1:1: error: `@grow` would need infinitely many copies, for ever larger types"
    )


def test_old_code_gets_a_function_and_a_larger_module() -> None:
    module = parse("""def @call(%f: fn (float32) -> float32) { %f(1f) }
    def @main() { @call(fn (%x: float32) { exp(%x) }) }""")
    main = Defunctionalization(module["main"], module)
    module["main"] = main
    infer_types(module)
    assert "Fn0" in [var.name_hint for var in module.type_definitions]


def test_random_programs_keep_types_and_values() -> None:
    programs = [generate(85_000 + seed, size=10 + seed % 40, closed=True).module for seed in range(120)]
    of_data = [m for m in programs if not has_function(infer_types(m)["main"].checked_type, inside=True)]
    assert len(of_data) > 80
    assert first_failure(of_data, lambda module: broken(module, [Defunctionalize()])) is None
    for module in of_data:
        for function in Defunctionalize()(module).functions.values():
            assert not has_function(function.checked_type, inside=True)


HIGHER_ORDER = {
    "closure": """
    def @main(%a: int32, %b: int32) { let %f = fn (%x: int32) { add(%x, %a) }; %f(%b) }
    """,
    "nested": """
    def @main(%a: int32, %b: int32) {
      let %f = fn (%x: int32) { fn (%y: int32) { multiply(add(%x, %a), %y) } };
      let %g = %f(%b);
      %g(%f(%a)(%b))
    }
    """,
    "recursive": """
    def @main(%a: int32, %b: int32) {
      let %f = fn (%n: int32) -> int32 { if (less(%n, 1)) { %a } else { add(%n, %f(subtract(%n, 1))) } };
      %f(%b)
    }
    """,
    "kernel": """
    def @main(%a: int32, %b: int32) {
      let %k = fn (%p: int32, %q: int32, Primitive=1) { add(%p, %q) };
      let %y = %k(%a, %b);
      %k(%y, %y)
    }
    """,
    "kernel as an argument": """
    def @twice(%f: fn (int32) -> int32, %x: int32) -> int32 { %f(%f(%x)) }
    def @main(%a: int32, %b: int32) {
      let %k = fn (%p: int32, Primitive=1) { multiply(%p, 3) };
      (@twice(%k, %a), @twice(if (less(%a, %b)) { %k } else { fn (%x: int32) { add(%x, %b) } }, %b))
    }
    """,
}


@pytest.mark.parametrize("before", [(), ("LambdaLift",), ("LambdaLift", "ToANormalForm"), ("FuseOps",),
                                    ("FuseOps", "ToANormalForm"), ("FuseOps", "PartialEvaluate"),
                                    ("LambdaLift", "LambdaLift", "FuseOps")])  # fmt: skip
@pytest.mark.parametrize("title", HIGHER_ORDER)
def test_it_follows_other_passes(title: str, before: tuple[str, ...]) -> None:
    module = infer_types(parse(HIGHER_ORDER[title]))
    for name in before:
        module = infer_types(getattr(transform, name)()(module))
    result = Defunctionalize()(module)
    assert not any(has_function(f.checked_type, inside=True) for f in result.functions.values())
    for numbers in ((3, 5), (7, 2)):
        args = [np.array(number, "int32") for number in numbers]
        expected = Interpreter(infer_types(parse(HIGHER_ORDER[title]))).call("main", args)
        assert Interpreter(result).call("main", args) == expected


@pytest.mark.parametrize("title", HIGHER_ORDER)
def test_lifting_twice_lifts_once(title: str) -> None:
    once = infer_types(transform.LambdaLift()(parse(HIGHER_ORDER[title])))
    assert structural_equal(infer_types(transform.LambdaLift()(once)), once)
