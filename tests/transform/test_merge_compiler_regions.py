"""MergeCompilerRegions: neighbouring regions of a compiler become one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from relay_explorer.compat.op_attributes import TempOpAttr
from relay_explorer.ir.expr import Call
from relay_explorer.ir.types import TensorType
from relay_explorer.transform import AnnotateTarget, MergeCompilerRegions
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


def test_neighbours() -> None:
    check([AnnotateTarget("dsp"), MergeCompilerRegions()], """
    def @main(%x: float32) { exp(add(exp(%x), %x)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      %2 = annotation.compiler_begin(%x, compiler="dsp");
      %3 = add(%1, %2);
      %4 = exp(%3);
      annotation.compiler_end(%4, compiler="dsp")
    }
    """)  # fmt: skip


def test_a_diamond_with_another_compiler_on_one_side() -> None:
    """The region that ends with `add` needs `tanh`, which needs the first region."""
    check([AnnotateTarget("dsp"), MergeCompilerRegions()], """
    def @main(%x: float32) { %0 = exp(%x); add(exp(%0), tanh(%0)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      %2 = exp(%1);
      %3 = annotation.compiler_end(%2, compiler="dsp");
      %4 = annotation.compiler_end(%1, compiler="dsp");
      %5 = annotation.compiler_begin(%4, compiler="default");
      %6 = tanh(%5);
      %7 = annotation.compiler_end(%6, compiler="default");
      %8 = annotation.compiler_begin(%3, compiler="dsp");
      %9 = annotation.compiler_begin(%7, compiler="dsp");
      %10 = add(%8, %9);
      annotation.compiler_end(%10, compiler="dsp")
    }
    """)  # fmt: skip


def test_what_is_in_a_branch_stays_apart() -> None:
    """TVM makes one region of both: the exponential is computed whatever the condition."""
    check([AnnotateTarget("dsp"), MergeCompilerRegions()], """
    def @main(%c: bool, %x: float32) { %0 = exp(%x); if (%c) { exp(%0) } else { %0 } }
    """, """
    def @main(%c: bool, %x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      if (%c) {
        %2 = annotation.compiler_end(%1, compiler="dsp");
        %3 = annotation.compiler_begin(%2, compiler="dsp");
        %4 = exp(%3);
        annotation.compiler_end(%4, compiler="dsp")
      } else {
        annotation.compiler_end(%1, compiler="dsp")
      }
    }
    """)  # fmt: skip


def test_what_is_in_a_function_stays_apart() -> None:
    """The region would need `%y`, and give what is used outside. TVM makes one of both."""
    check([AnnotateTarget("dsp"), MergeCompilerRegions()], """
    def @main(%x: float32) { %0 = exp(%x); let %f = fn (%y: float32) { add(%0, %y) }; %f(%0) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      %1 = exp(%0);
      let %f: fn (float32) -> float32 = fn (%y: float32) -> float32 {
        %2 = annotation.compiler_end(%1, compiler="dsp");
        %3 = annotation.compiler_begin(%2, compiler="dsp");
        %4 = annotation.compiler_begin(%y, compiler="dsp");
        %5 = add(%3, %4);
        annotation.compiler_end(%5, compiler="dsp")
      };
      %6 = annotation.compiler_end(%1, compiler="dsp");
      %7 = annotation.compiler_begin(%6, compiler="default");
      %8 = %f(%7);
      annotation.compiler_end(%8, compiler="default")
    }
    """)  # fmt: skip


def test_marks_for_the_default_compiler_too() -> None:
    check([AnnotateTarget("dsp"), MergeCompilerRegions()], """
    def @main(%x: float32) { tanh(tanh(%x)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = annotation.compiler_begin(%x, compiler="default");
      %1 = tanh(%0);
      %2 = tanh(%1);
      annotation.compiler_end(%2, compiler="default")
    }
    """)  # fmt: skip
