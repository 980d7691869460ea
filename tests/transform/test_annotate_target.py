"""AnnotateTarget: the parts of a program that other compilers can take get marks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from relay_explorer.compat.op_attributes import TempOpAttr
from relay_explorer.ir.expr import Call
from relay_explorer.ir.types import TensorType
from relay_explorer.transform import AnnotateTarget
from tests.transform.golden import check


@pytest.fixture(autouse=True)
def compilers() -> Iterator[None]:
    """Register the compiler "dsp" for exponentials and sums of float32, and "npu" for hyperbolic tangents."""
    with ExitStack() as stack:
        stack.enter_context(TempOpAttr("exp", "target.dsp", lambda call: True))
        stack.enter_context(TempOpAttr("add", "target.dsp", _is_float32))
        stack.enter_context(TempOpAttr("tanh", "target.npu", lambda call: True))
        yield


def _is_float32(call: Call) -> bool:
    type_ = call.args[0].checked_type
    return isinstance(type_, TensorType) and type_.dtype == "float32"


def test_what_is_supported_and_what_is_not() -> None:
    check(AnnotateTarget("dsp"), """
    def @main(%x: float32) { tanh(exp(%x)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      %2 = annotation.compiler_end(%1, compiler="dsp");
      %3 = annotation.compiler_begin(%2, compiler="default");
      %4 = tanh(%3);
      annotation.compiler_end(%4, compiler="default")
    }
    """)  # fmt: skip


def test_the_first_target_that_can_gets_a_call() -> None:
    check(AnnotateTarget(["dsp", "npu"]), """
    def @main(%x: float32) { let %y = exp(%x); add(%y, tanh(%y)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      let %y: float32 = annotation.compiler_end(%1, compiler="dsp");
      %2 = annotation.compiler_begin(%y, compiler="npu");
      %3 = tanh(%2);
      %4 = annotation.compiler_end(%3, compiler="npu");
      %5 = annotation.compiler_begin(%y, compiler="dsp");
      %6 = annotation.compiler_begin(%4, compiler="dsp");
      %7 = add(%5, %6);
      annotation.compiler_end(%7, compiler="dsp")
    }
    """)  # fmt: skip


def test_whether_it_is_supported_is_asked_of_the_call() -> None:
    check(AnnotateTarget("dsp"), """
    def @main(%x: int32) { add(%x, %x) }
    """, """
    def @main(%x: int32) -> int32 {
      %0 = annotation.compiler_begin(%x, compiler="default");
      %1 = annotation.compiler_begin(%x, compiler="default");
      %2 = add(%0, %1);
      annotation.compiler_end(%2, compiler="default")
    }
    """)  # fmt: skip


def test_a_result_that_is_used_twice_ends_twice() -> None:
    check(AnnotateTarget("dsp"), """
    def @main(%x: float32) { %0 = exp(%x); add(%0, tanh(%0)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      %2 = annotation.compiler_end(%1, compiler="dsp");
      %3 = annotation.compiler_end(%1, compiler="dsp");
      %4 = annotation.compiler_begin(%3, compiler="default");
      %5 = tanh(%4);
      %6 = annotation.compiler_end(%5, compiler="default");
      %7 = annotation.compiler_begin(%2, compiler="dsp");
      %8 = annotation.compiler_begin(%6, compiler="dsp");
      %9 = add(%7, %8);
      annotation.compiler_end(%9, compiler="dsp")
    }
    """)  # fmt: skip


def test_tuples_go_where_their_fields_come_from() -> None:
    check(AnnotateTarget("dsp"), """
    def @main(%x: float32) { (exp(%x), exp(%x)) }
    """, """
    def @main(%x: float32) -> (float32, float32) {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      %2 = annotation.compiler_end(%1, compiler="dsp");
      %3 = annotation.compiler_begin(%x, compiler="dsp");
      %4 = exp(%3);
      %5 = annotation.compiler_end(%4, compiler="dsp");
      %6 = annotation.compiler_begin(%2, compiler="dsp");
      %7 = annotation.compiler_begin(%5, compiler="dsp");
      %8 = (%6, %7);
      annotation.compiler_end(%8, compiler="dsp")
    }
    """)  # fmt: skip


def test_or_calls_only() -> None:
    check(AnnotateTarget("dsp", False), """
    def @main(%x: float32) { (exp(%x), tanh(%x)).0 }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      %2 = annotation.compiler_begin(%x, compiler="default");
      %3 = tanh(%2);
      %4 = annotation.compiler_end(%1, compiler="dsp");
      %5 = annotation.compiler_end(%3, compiler="default");
      %6 = (%4, %5);
      %6.0
    }
    """)  # fmt: skip


def test_what_needs_nothing_does_not_end() -> None:
    check(AnnotateTarget("dsp"), """
    def @main() { add(zeros(shape=[], dtype="float32"), 1f) }
    """, """
    def @main() -> float32 {
      %0 = zeros(shape=[], dtype="float32");
      %1 = annotation.compiler_begin(%0, compiler="dsp");
      %2 = annotation.compiler_begin(1f, compiler="dsp");
      %3 = add(%1, %2);
      annotation.compiler_end(%3, compiler="dsp")
    }
    """)  # fmt: skip


def test_composite_functions_are_not_looked_into() -> None:
    check(AnnotateTarget("npu"), """
    def @main(%x: float32) { fn (%y: float32, Composite="npu.both") { tanh(exp(%y)) }(%x) }
    """, """
    def @main(%x: float32) -> float32 {
      %1 = annotation.compiler_begin(%x, compiler="npu");
      %2 = fn (%y: float32, Composite="npu.both") -> float32 {
        %0 = exp(%y);
        tanh(%0)
      };
      %3 = %2(%1);
      annotation.compiler_end(%3, compiler="npu")
    }
    """)  # fmt: skip


def test_branches_and_functions() -> None:
    check(AnnotateTarget("dsp"), """
    def @main(%c: bool, %x: float32) { let %f = fn (%y: float32) { exp(%y) }; if (%c) { exp(%x) } else { \
%f(%x) } }
    """, """
    def @main(%c: bool, %x: float32) -> float32 {
      let %f: fn (float32) -> float32 = fn (%y: float32) -> float32 {
        %0 = annotation.compiler_begin(%y, compiler="dsp");
        %1 = exp(%0);
        annotation.compiler_end(%1, compiler="dsp")
      };
      if (%c) {
        %2 = annotation.compiler_begin(%x, compiler="dsp");
        %3 = exp(%2);
        annotation.compiler_end(%3, compiler="dsp")
      } else {
        %4 = annotation.compiler_begin(%x, compiler="default");
        %5 = %f(%4);
        annotation.compiler_end(%5, compiler="default")
      }
    }
    """)  # fmt: skip


def test_an_earlier_target_keeps_what_it_has() -> None:
    check([AnnotateTarget("npu"), AnnotateTarget(["dsp", "npu"])], """
    def @main(%x: float32) { tanh(exp(%x)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      %2 = annotation.compiler_end(%1, compiler="default");
      %3 = annotation.compiler_begin(%2, compiler="npu");
      %4 = tanh(%3);
      annotation.compiler_end(%4, compiler="npu")
    }
    """)  # fmt: skip
