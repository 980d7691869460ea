"""The lowering view: a schedule in words, the loops after each step, and where each instruction came from."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from inline_snapshot import snapshot
from tvm_ffi import structural_equal

from relay_explorer import build, explore
from relay_explorer.ir.errors import RelayError
from relay_explorer.lower.inspect.replay import Block, nest, replay
from relay_explorer.lower.inspect.traced import (
    CLASSES,
    Instruction,
    Traced,
    both,
    marked,
    purpose,
    read,
    traced,
    with_scopes,
)
from relay_explorer.lower.inspect.traced_cuda import PTX_CLASSES, read_ptx, traced_cuda
from relay_explorer.lower.inspect.traced_llvm import loop_depths
from relay_explorer.lower.inspect.traced_llvm import purpose as llvm_purpose
from relay_explorer.text import parse
from relay_explorer.views import picture
from relay_explorer.views.lowering.format import LoweringMark, LoweringView
from relay_explorer.views.lowering.view import lowering_view
from tests.support.views.check import check
from tests.views.lowerings import (
    CONVOLUTION,
    DATA,
    DENSE,
    GPU,
    HASWELL,
    LAYER,
    NAMES,
    SOFTMAX,
    kernel,
    sample,
)

ARM = "raspberry-pi-4"


def told(shown: LoweringView) -> list[str]:
    return [step.say[0].format(*step.say[1:]) for step in shown.steps]


def drawn(shown: LoweringView, step: int) -> str:
    """Write the loops after a step as indented text."""
    return "\n".join(
        "  " * p.depth + (p.text if p.is_block else f"{p.name} < {p.extent}, {p.how}")
        for p in shown.steps[step].nest
    )


def test_a_schedule_is_told_primitive_by_primitive() -> None:
    shown = lowering_view(kernel(LAYER), title="layer")
    assert told(shown) == snapshot(
        [
            "The loops that follow directly from the tensor expressions: **3 nests** for 3 operators, "
            "one after the other.",
            "add is **computed where it is used**, in nn_relu.",
            "The loop i1, 64 iterations, is **split** into i1_0, i1_1 and i1_2: 4 × 2 × 8.",
            "The loop i0, 32 iterations, is **split** into i0_0 and i0_1: 8 × 4.",
            "The loops are **reordered**: i1_0, i0_0, i0_1, i1_1 and i1_2.",
            "The loops i1_0 and i0_0 are **fused** into one, i1_0_i0_0_fused, 32 iterations.",
            "The 32 iterations of i1_0_i0_0_fused are **divided** among the cores.",
            "The loop i0_1 is **unrolled**: its body is repeated 4 times.",
            "The loop i1_1 is **unrolled**: its body is repeated 2 times.",
            "The loop i1_2 becomes **one vector** of 8 lanes.",
            "nn_contrib_dense_pack moves **into the loop** i1_0_i0_0_fused: each iteration computes as "
            "much of it as it needs.",
            "The result of nn_contrib_dense_pack is stored in **local** memory.",
            "The loop ax1, 16 iterations, is **split** into ax1_0 and ax1_1: 2 × 8.",
            "The loops are **reordered**: ax2, ax0, ax1_0 and ax1_1.",
            "The loop ax0 is **unrolled**: its body is repeated 4 times.",
            "The loop ax1_0 is **unrolled**: its body is repeated 2 times.",
            "The loop ax1_1 becomes **one vector** of 8 lanes.",
            "nn_contrib_dense_pack is **initialized before** the loop ax2, not in its first iteration.",
            "The loop ax0_init is **unrolled**: its body is repeated 4 times.",
            "The loop ax1_0_init is **unrolled**: its body is repeated 2 times.",
            "The loop ax1_1_init becomes **one vector** of 8 lanes.",
            "LLVM generates **111 instructions** for these loops. In the innermost loops, **16 of 30** "
            "are multiply-adds.",
        ]
    )
    assert shown.summary == (
        snapshot(
            "nn.contrib_dense_pack · add · nn.relu as one kernel for cpu (haswell). 3 loop nests "
            "become 1 in 20 "
            "steps of its schedule, and 111 instructions of assembly."
        )
    )
    assert drawn(shown, 6) == (
        "i0 < 32, serial\n"
        "  i1 < 64, serial\n"
        "    k < 128, serial\n"
        "      nn_contrib_dense_pack[i0, i1] = nn_contrib_dense_pack[i0, i1] "
        "+ x[i0, k] * w[i1 // 8, k, i1 % 8]\n"
        "i1_0_i0_0_fused < 32, parallel\n"
        "  i0_1 < 4, serial\n"
        "    i1_1 < 2, serial\n"
        "      i1_2 < 8, serial\n"
        "        nn_relu[i0, i1] = 0.0 if nn_contrib_dense_pack[i0, i1] + b[0, i1] < 0.0 else "
        "nn_contrib_dense_pack[i0, i1] + b[0, i1]"
    )  # fmt: skip
    assert [p.name for p in shown.steps[6].nest if p.touched] == ["i1_0_i0_0_fused"]
    assert shown.steps[0].effect[:4] == (3, 1, 1, 1)
    assert shown.steps[-1].effect[:4] == (1, 32, 8, 8)


@pytest.mark.parametrize("text", [LAYER, CONVOLUTION, SOFTMAX])
def test_the_replay_ends_at_the_kernel_and_no_operator_is_lost(text: str) -> None:
    result = kernel(text).scheduled
    _, first, primitives = replay(result)
    last = primitives[-1]
    func, blocks = marked(result.prim_func)
    assert structural_equal(func, result.prim_func)
    assert [part.name for part in last.nest if isinstance(part, Block)] == blocks
    for owners in (first, *(p.owners for p in primitives)):
        assert {n for numbers in owners.values() for n in numbers} == set(range(len(result.composed.stages)))
    assert all(last.owners[block] for block in blocks)
    assert all(nest(p.func) == p.nest for p in primitives), "what is kept does not change"


def instructions(assembly: str) -> list[str]:
    lines = [re.split(r"\s+#", line)[0] for line in assembly.splitlines()]
    return [" ".join(line.split()) for line in lines if re.match(r"\t[^.#]", line)]


@pytest.mark.parametrize("text", [LAYER, CONVOLUTION, SOFTMAX])
def test_the_traced_instructions_are_those_of_the_kernel(text: str) -> None:
    output = kernel(text)
    result = traced(output.scheduled)
    mine = [line.text for line in result.lines if line.purpose >= 0]
    # The number of a function is in its labels, and it is the same one.
    assert "\n".join(mine) in "\n".join(instructions(output.source("asm")))
    assert result.others > 100


def test_each_instruction_knows_its_block() -> None:
    result = traced(kernel(LAYER).scheduled)
    init, update, relu = range(3)
    tally = Counter((line.block, CLASSES[line.purpose]) for line in result.lines if line.purpose >= 0)
    # 8 sums for each of two values of k, in registers; each is stored once, with bias and ReLU.
    assert tally[update, "multiply-add"] == 16
    assert (tally[init, "store"], tally[update, "store"], tally[relu, "store"]) == (0, 0, 8)
    assert sum(line.text.startswith("vaddps") and line.block == relu for line in result.lines) == 8
    assert {line.depth for line in result.lines if line.text.startswith("vfmadd")} == {2}
    assert all(line.block == update for line in result.lines if line.text.startswith("vfmadd"))


def test_the_assembly_of_another_processor_is_traced_too() -> None:
    shown = lowering_view(kernel(LAYER, ARM))
    code = shown.codes[-1]
    fused = [line for line in code.lines if line.text.startswith("fmla")]
    assert fused
    assert all(code.blocks[line.block] == (0,) for line in fused)
    assert all(code.purposes[line.purpose] == "multiply-add" for line in fused)
    assert shown.target == "arm64 (cortex-a72)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vfmadd231ps %ymm1, %ymm2, %ymm3", "multiply-add"), ("vaddps %ymm1, %ymm2, %ymm3", "arithmetic"),
        ("vmovups (%rax), %ymm0", "load"), ("vmovups %ymm0, 32(%rax)", "store"),
        ("vmovups %zmm0, (%rax) {%k1}", "store"), ("vbroadcastss (%rsi), %ymm9", "broadcast"),
        ("vmovddup %xmm0, %xmm1", "broadcast"), ("vextractf128 $1, %ymm0, %xmm1", "shuffle"),
        ("movq 8(%rsp), %rdi", "bookkeeping"), ("vmovaps %ymm0, %ymm1", "bookkeeping"),
        ("vpmovsxbd %xmm1, %ymm1", "arithmetic"), ("vpmovsxbd (%rax), %ymm1", "load"),
        ("jne .LBB4_4", "jump"), ("vpaddd %ymm0, %ymm1, %ymm1", "arithmetic"),
    ],
)  # fmt: skip
def test_what_an_instruction_is_for(text: str, expected: str) -> None:
    assert purpose(text) == expected


def test_loops_are_found_where_code_stands_between_that_is_not_in_them() -> None:
    assembly = """
	.type	f,@function
f:
	.loc	1 1 1
	movl	$1, %eax
.LBB0_1:
	.loc	1 2 1
	addl	$1, %eax
	je	.LBB0_3
	jmp	.LBB0_2
.LBB0_3:
	retq
.LBB0_2:
	cmpl	$9, %eax
	jne	.LBB0_1
	retq
.Lfunc_end0:
"""
    result = read(assembly, ("a", "b"))
    assert [(line.text, line.block, line.depth) for line in result.lines] == [
        ("movl $1, %eax", 0, 0), (".LBB0_1:", -1, 1), ("addl $1, %eax", 1, 1), ("je .LBB0_3", 1, 1),
        ("jmp .LBB0_2", 1, 1), (".LBB0_3:", -1, 0), ("retq", 1, 0), (".LBB0_2:", -1, 1),
        ("cmpl $9, %eax", 1, 1), ("jne .LBB0_1", 1, 1), ("retq", 1, 0),
    ]  # fmt: skip


def test_text_without_a_table_of_lines_stays_as_it_is() -> None:
    assert with_scopes("define void @f() {\n}\n") == "define void @f() {\n}\n"


@pytest.mark.parametrize("name", NAMES)
def test_the_samples_of_the_front_end_are_what_python_makes(name: str) -> None:
    text = sample(name)
    assert (DATA / f"lowering_{name}.json").read_text("utf-8") == text, "python -m tests.views.lowerings"
    assert check(json.loads(text)) == []


def test_every_step_is_told_with_its_reason() -> None:
    for name in NAMES:
        view = json.loads((DATA / f"lowering_{name}.json").read_text("utf-8"))
        assert all(step[3] for step in view["steps"]), name
        assert not [s for s in view["strings"] if s.startswith("The primitive")], name


def test_a_kernel_without_loops_is_told_without_them() -> None:
    shown = lowering_view(kernel("fn (%x: float32, Primitive=1) { exp(%x) }"))
    assert len(shown.steps) == 2
    assert re.fullmatch(r"LLVM generates \*\*\d+ instructions\*\* for these loops\.", told(shown)[-1])
    empty = lowering_view(kernel("fn (%x: Tensor[(0, 4), float32], Primitive=1) { exp(%x) }"))
    assert told(empty)[-1].endswith("**no instructions** for these loops: there is nothing to compute.")
    assert empty.steps[-1].effect.instructions == 0


def test_explore_shows_a_kernel_of_a_program() -> None:
    module = parse("def @main(%x: Tensor[(4, 8), float32]) { nn.softmax(exp(%x)) }")
    exe = build(module, target=HASWELL, quiet=True)
    result = explore(exe, view="lowering", kernel=0, title="mine")
    assert isinstance(result.view, LoweringView)
    assert result.view.title == "mine"
    assert result.view.steps[-1].mark == LoweringMark.COMPILED
    again = explore(exe.kernels[0], view="lowering")
    assert again.view.to_dict()["kernel"] == result.view.to_dict()["kernel"]
    assert "instruction" in picture.text(result.view)
    assert "<ol start=" in picture.html(result.view)


def test_the_kernel_is_measured_after_each_primitive() -> None:
    text = "fn (%x: Tensor[(4, 1000), float32], Primitive=1) { exp(%x) }"
    here = kernel(text, "cpu")
    shown = explore(here, view="lowering", measure=True).view
    assert isinstance(shown, LoweringView)
    assert len(shown.times) == len(shown.steps) > 2
    assert all(time > 0 for time in shown.times)
    assert shown.times[-1] == shown.times[-2]
    assert re.search(r"On this machine a run took .* before the schedule and .* after it\.$", shown.summary)
    assert check(shown.to_dict()) == []
    with pytest.raises(RelayError, match="which this machine cannot run, so it cannot be measured here"):
        lowering_view(kernel(LAYER, "raspberry-pi-4"), measure=True)


def test_what_has_no_loops_is_refused() -> None:
    module = parse("def @main(%x: Tensor[(4, 8), float32]) { exp(%x) }")
    exe = build(module, target=HASWELL, quiet=True)
    with pytest.raises(RelayError) as problem:
        explore(exe, view="lowering", kernel="conv")
    assert str(problem.value).splitlines()[0] == snapshot("error: the program has no kernel 'conv'")
    assert "its kernels are numbered 0 to 0: `fused_exp`" in str(problem.value)
    for nothing in ("%x", "argwhere(%x)"):
        bare = parse(f"def @main(%x: Tensor[(4, 8), float32]) {{ {nothing} }}")
        with pytest.raises(RelayError, match="has no kernel: no part of it is compiled to loops"):
            explore(bare, view="lowering")
    host = kernel(LAYER)
    host.entry["host"] = True
    with pytest.raises(RelayError, match="runs on the host, so it has no loops to show"):
        lowering_view(host)
    with pytest.raises(TypeError, match="the lowering explorer takes the result"):
        lowering_view(3)


def test_llvm_lines_are_linked_as_the_instructions_are() -> None:
    llvm, assembly = both(kernel(LAYER).scheduled)
    assert llvm.blocks == assembly.blocks
    fused = [line for line in llvm.lines if "llvm.fmuladd" in line.text]
    assert len(fused) == 16
    assert {(line.block, line.depth, CLASSES[line.purpose]) for line in fused} == {(1, 2, "multiply-add")}
    assert not [line.text for line in llvm.lines if "!dbg" in line.text or ", align" in line.text]
    relu = [line.text for line in llvm.lines if line.block == 2 and " fadd " in line.text]
    assert len(relu) == 8
    assert all(text.split(" = ")[1].startswith("fadd <8 x float>") for text in relu)


def test_loops_of_a_graph_are_those_of_jumps_to_what_dominates() -> None:
    # 1 begins a loop of 1, 2, 3 and 4; 2 one of 2 and 3. 3 stands before 2 in the text; 6 is never reached.
    edges = [(0, 1), (1, 2), (2, 3), (3, 2), (3, 4), (4, 1), (4, 5), (6, 2)]
    assert loop_depths(7, edges) == [0, 1, 2, 2, 1, 0, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%3 = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %0, <8 x float> %1)", "multiply-add"),
        ("%3 = load <8 x float>, ptr %2", "load"), ("store float %1, ptr %2", "store"),
        ("%3 = shufflevector <8 x float> %1, <8 x float> poison, <8 x i32> zeroinitializer", "broadcast"),
        ("%3 = shufflevector <2 x i8> zeroinitializer, <2 x i8> %1, <2 x i32> <i32 0, i32 3>", "shuffle"),
        ("%3 = fadd <8 x float> %1, %2", "arithmetic"), ("%3 = add nsw i64 %1, 1", "bookkeeping"),
        ("%3 = add <8 x i32> %1, %2", "arithmetic"), ("br label %for_body", "jump"),
        ("%3 = call i32 @llvm.smin.i32(i32 %1, i32 32)", "bookkeeping"),
        ("%3 = phi i64 [ 0, %a ]", "bookkeeping"),
    ],
)  # fmt: skip
def test_what_an_instruction_of_llvm_is_for(text: str, expected: str) -> None:
    assert llvm_purpose(text) == expected


def test_a_kernel_for_a_gpu_is_replayed_and_followed_into_cuda_c() -> None:
    output = kernel(DENSE, GPU)
    _, _, primitives = replay(output.scheduled)
    assert structural_equal(
        primitives[-1].func.with_attr("global_symbol", output.symbol), output.scheduled.prim_func
    )
    result, numbers = traced_cuda(output.scheduled, output.source("cuda"))
    source = output.source("cuda").splitlines()
    assert [source[n - 1].strip() for n in numbers] == [line.text for line in result.lines]
    of = {
        name: [line.text for line in result.lines if line.block >= 0 and result.blocks[line.block] == name]
        for name in result.blocks
    }
    assert any("__shared__ alignas(64) float x_reindex_shared_ptr" in text for text in of["x_reindex_shared"])
    assert sum(text.startswith("nn_dense_reindex_local_ptr[") for text in of["nn_dense_update"]) > 100
    assert not any("b_ptr" in text for text in of["nn_dense_update"]), "the bias is added in another block"
    whole = next(line for line in result.lines if line.text.startswith("for ("))
    assert set(result.blocks[whole.block].split("+")) == set(result.blocks[:4])
    shown = lowering_view(output, ptx=False)
    assert [code.name for code in shown.codes] == ["CUDA C"]
    assert shown.steps[-1].effect.tasks == 2 * 16 * 8
    assert not [text for text in told(shown) if text.startswith("The primitive")]
    assert check(shown.to_dict()) == []


def test_ptx_is_linked_to_the_lines_of_cuda_c() -> None:
    lines = (
        Instruction("for (;;) {", 3, 1, 0),
        Instruction("y[0] = x[0];", 2, 0, 1),
        Instruction("}", -1, -1, 0),
    )
    text = """
.visible .entry f(
	.param .u64 f_param_0
)
{
	.reg .f32 	%f<2>;
	.loc	1 20 5
	ld.param.u64 	%rd1, [f_param_0];
$L__BB0_1:
	.loc	1 21 9
	ld.global.nc.f32 	%f1, [%rd1];
	.loc	2 7 1, function_name $L__info_string0, inlined_at 1 21 9
	st.global.f32 	[%rd2], %f1;
	.loc	1 22 1
	@%p1 bra 	$L__BB0_1;
	ret;
}
"""
    result = read_ptx(text, Traced(("a", "a+b"), lines, 0), (20, 21, 22))
    message = [
        (line.text, line.block, line.purpose < 0 or PTX_CLASSES[line.purpose]) for line in result.lines
    ]
    assert message == [
        ("ld.param.u64 %rd1, [f_param_0]", 1, "load"), ("$L__BB0_1:", -1, True),
        ("ld.global.nc.f32 %f1, [%rd1]", 0, "load"), ("st.global.f32 [%rd2], %f1", 0, "store"),
        ("@%p1 bra $L__BB0_1", -1, "jump"), ("ret", -1, "jump"),
    ]  # fmt: skip
