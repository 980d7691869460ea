"""PartitionGraph: regions become functions of the module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from inline_snapshot import snapshot

from relay_explorer.compat import nodes
from relay_explorer.compat.op_attributes import TempOpAttr
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.types import TensorType
from relay_explorer.testing import generate
from relay_explorer.transform import AnnotateTarget, FoldConstant, MergeCompilerRegions, PartitionGraph, Pass
from tests.property.programs import first_failure
from tests.transform.golden import check
from tests.transform.test_contracts import broken


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


def test_a_region_becomes_a_function() -> None:
    check([AnnotateTarget("dsp"), MergeCompilerRegions(), PartitionGraph()], """
    def @main(%x: float32) { tanh(exp(add(%x, %x))) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = @tvmgen_default_dsp_main_0(%x);
      tanh(%0)
    }

    def @tvmgen_default_dsp_main_0(%dsp_0_i0: float32, global_symbol="tvmgen_default_dsp_main_0", \
Primitive=1, Compiler="dsp", Inline=1) -> float32 {
      %1 = add(%dsp_0_i0, %dsp_0_i0);
      exp(%1)
    }
    """)  # fmt: skip


def test_several_results_are_a_tuple() -> None:
    check([AnnotateTarget("dsp"), MergeCompilerRegions(), PartitionGraph()], """
    def @main(%x: float32) { %0 = exp(%x); add(exp(%0), tanh(%0)) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = @tvmgen_default_dsp_main_0(%x);
      %1 = %0.1;
      %2 = %0.0;
      %3 = tanh(%1);
      @tvmgen_default_dsp_main_1(%2, %3)
    }

    def @tvmgen_default_dsp_main_0(%dsp_0_i0: float32, global_symbol="tvmgen_default_dsp_main_0", \
Primitive=1, Compiler="dsp", Inline=1) -> (float32, float32) {
      %4 = exp(%dsp_0_i0);
      %5 = exp(%4);
      (%5, %4)
    }

    def @tvmgen_default_dsp_main_1(%dsp_1_i0: float32, %dsp_1_i1: float32, \
global_symbol="tvmgen_default_dsp_main_1", Primitive=1, Compiler="dsp", Inline=1) -> float32 {
      add(%dsp_1_i0, %dsp_1_i1)
    }
    """)  # fmt: skip


def test_what_enters_twice_is_one_parameter() -> None:
    check([AnnotateTarget("dsp"), PartitionGraph()], """
    def @main(%x: float32) { exp(tanh(exp(%x))) }
    """, """
    def @main(%x: float32) -> float32 {
      %0 = @tvmgen_default_dsp_main_0(%x);
      %1 = tanh(%0);
      @tvmgen_default_dsp_main_1(%1)
    }

    def @tvmgen_default_dsp_main_0(%dsp_0_i0: float32, global_symbol="tvmgen_default_dsp_main_0", \
Primitive=1, Compiler="dsp", Inline=1) -> float32 {
      exp(%dsp_0_i0)
    }

    def @tvmgen_default_dsp_main_1(%dsp_1_i0: float32, global_symbol="tvmgen_default_dsp_main_1", \
Primitive=1, Compiler="dsp", Inline=1) -> float32 {
      exp(%dsp_1_i0)
    }
    """)  # fmt: skip


def test_constants_stand_inside() -> None:
    check([AnnotateTarget("dsp"), MergeCompilerRegions(), PartitionGraph()], """
    def @main(%x: float32) { add(%x, 2f) }
    """, """
    def @main(%x: float32) -> float32 {
      @tvmgen_default_dsp_main_0(%x)
    }

    def @tvmgen_default_dsp_main_0(%dsp_0_i0: float32, global_symbol="tvmgen_default_dsp_main_0", \
Primitive=1, Compiler="dsp", Inline=1) -> float32 {
      add(%dsp_0_i0, 2f)
    }
    """)  # fmt: skip


def test_or_outside() -> None:
    check([AnnotateTarget("dsp"), PartitionGraph("net", bind_constants=False)], """
    def @main(%x: float32) { add(%x, 2f) }
    """, """
    def @main(%x: float32) -> float32 {
      @tvmgen_net_dsp_main_0(%x, 2f)
    }

    def @tvmgen_net_dsp_main_0(%dsp_0_i0: float32, %dsp_0_i1: float32, \
global_symbol="tvmgen_net_dsp_main_0", Primitive=1, Compiler="dsp", Inline=1) -> float32 {
      add(%dsp_0_i0, %dsp_0_i1)
    }
    """)  # fmt: skip


def test_a_tuple_leaves_field_by_field() -> None:
    check(PartitionGraph(), """
    def @main(%x: float32) {
      %0 = annotation.compiler_begin(%x, compiler="dsp");
      annotation.compiler_end((exp(%0), %0), compiler="dsp")
    }
    """, """
    def @main(%x: float32) -> (float32, float32) {
      %0 = @tvmgen_default_dsp_main_0(%x);
      %1 = %0.0;
      %2 = %0.1;
      (%1, %2)
    }

    def @tvmgen_default_dsp_main_0(%dsp_0_i0: float32, global_symbol="tvmgen_default_dsp_main_0", \
Primitive=1, Compiler="dsp", Inline=1) -> (float32, float32) {
      %3 = exp(%dsp_0_i0);
      (%3, %dsp_0_i0)
    }
    """)  # fmt: skip


def test_names_are_names_of_c() -> None:
    check(PartitionGraph("my net"), """
    def @main(%x: float32) {
      annotation.compiler_end(exp(annotation.compiler_begin(%x, compiler="a-b+")), compiler="a-b+")
    }
    """, """
    def @main(%x: float32) -> float32 {
      @tvmgen_my_net_a_b__main_0(%x)
    }

    def @tvmgen_my_net_a_b__main_0(%a_b__0_i0: float32, global_symbol="tvmgen_my_net_a_b__main_0", \
Primitive=1, Compiler="a-b+", Inline=1) -> float32 {
      exp(%a_b__0_i0)
    }
    """)  # fmt: skip


def test_functions_inside_and_branches() -> None:
    check([AnnotateTarget("dsp"), MergeCompilerRegions(), PartitionGraph()], """
    def @main(%c: bool, %x: float32) { let %f = fn (%y: float32) { exp(%y) }; if (%c) { exp(%x) } else { \
%f(%x) } }
    """, """
    def @main(%c: bool, %x: float32) -> float32 {
      let %f: fn (float32) -> float32 = fn (%y: float32) -> float32 {
        @tvmgen_default_dsp_main_0(%y)
      };
      if (%c) {
        @tvmgen_default_dsp_main_1(%x)
      } else {
        %f(%x)
      }
    }

    def @tvmgen_default_dsp_main_0(%dsp_0_i0: float32, global_symbol="tvmgen_default_dsp_main_0", \
Primitive=1, Compiler="dsp", Inline=1) -> float32 {
      exp(%dsp_0_i0)
    }

    def @tvmgen_default_dsp_main_1(%dsp_1_i0: float32, global_symbol="tvmgen_default_dsp_main_1", \
Primitive=1, Compiler="dsp", Inline=1) -> float32 {
      exp(%dsp_1_i0)
    }
    """)  # fmt: skip


def test_a_generic_function_gives_a_generic_region() -> None:
    check(PartitionGraph(), """
    def @first[A](%x: A) -> A {
      annotation.compiler_end(annotation.compiler_begin((%x, %x), compiler="dsp").0, compiler="dsp")
    }
    def @main(%x: float32) { @first(%x) }
    """, """
    def @first[A](%x: A) -> A {
      %0 = (%x, %x);
      @tvmgen_default_dsp_first_0(%0)
    }

    def @main(%x1: float32) -> float32 {
      @first(%x1)
    }

    def @tvmgen_default_dsp_first_0[A](%dsp_0_i0: (A, A), global_symbol="tvmgen_default_dsp_first_0", \
Primitive=1, Compiler="dsp", Inline=1) -> A {
      %dsp_0_i0.0
    }
    """)  # fmt: skip


def refused(text: str) -> str:
    with pytest.raises(RelayError) as caught:
        check(PartitionGraph(), text, "")
    return str(caught.value)


def test_what_has_not_entered_is_refused() -> None:
    assert (
        refused("""def @main(%x: float32, %y: float32) {
  annotation.compiler_end(add(annotation.compiler_begin(%x, compiler="dsp"), %y), compiler="dsp")
}""")
        == """from_string:2:27: error: `%y` is used in a region for the compiler "dsp", but has not entered it
   2 |   annotation.compiler_end(add(annotation.compiler_begin(%x, compiler="dsp"), %y), compiler="dsp")
     |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: put compiler_begin(…, "dsp") around it"""
    )


def test_an_end_without_a_beginning_is_refused() -> None:
    assert refused("""def @main(%x: float32) {
  annotation.compiler_end(exp(%x), compiler="dsp")
}""") == snapshot(
        'from_string:2:3: error: `compiler_end(…, "dsp")` is applied to an expression that is in no '
        "region\n"
        '   2 |   annotation.compiler_end(exp(%x), compiler="dsp")\n'
        "     |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "help: put compiler_begin around the values that enter the region"
    )


def test_one_compiler_cannot_end_anothers_region() -> None:
    assert (
        refused("""def @main(%x: float32) {
  annotation.compiler_end(exp(annotation.compiler_begin(%x, compiler="npu")), compiler="dsp")
}""")
        == """from_string:2:3: error: a region that begins for the compiler "npu" ends for "dsp"
   2 |   annotation.compiler_end(exp(annotation.compiler_begin(%x, compiler="npu")), compiler="dsp")
     |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"""
    )


def test_a_region_that_needs_its_own_result_is_refused() -> None:
    assert (
        refused("""def @main(%x: float32) {
  %0 = exp(annotation.compiler_begin(%x, compiler="dsp"));
  %1 = tanh(annotation.compiler_end(%0, compiler="dsp"));
  annotation.compiler_end(add(%0, annotation.compiler_begin(%1, compiler="dsp")), compiler="dsp")
}""")
        == """from_string:4:27: error: a region for the compiler "dsp" needs a value that is computed \
from its own results
   4 |   annotation.compiler_end(add(%0, annotation.compiler_begin(%1, compiler="dsp")), compiler="dsp")
     |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: make two regions of it, as MergeCompilerRegions would"""
    )


def test_a_compiler_may_optimize_its_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(nodes._functions, "relay.ext.dsp.optimize", FoldConstant())
    check([AnnotateTarget("dsp"), PartitionGraph()], "def @main() { exp(0f) }", """
    def @main() -> float32 {
      @tvmgen_default_dsp_main_0()
    }

    def @tvmgen_default_dsp_main_0(global_symbol="tvmgen_default_dsp_main_0", Primitive=1, Compiler="dsp", \
Inline=1) -> float32 {
      1f
    }
    """)  # fmt: skip


def test_random_programs_keep_types_and_values() -> None:
    steps: list[Pass] = [AnnotateTarget(["dsp", "npu"]), MergeCompilerRegions(), PartitionGraph()]
    programs = [generate(83_000 + seed, size=10 + seed % 40, closed=True).module for seed in range(100)]
    assert first_failure(programs, lambda module: broken(module, steps)) is None
    parted = sum(len(run(steps, module).functions) > len(module.functions) for module in programs)
    assert parted > 20


def run(steps: list[Pass], module: IRModule) -> IRModule:
    for step in steps:
        module = step(module)
    return module
