"""`relay_explorer.build`: what a program takes and gives, what is wrong with its arguments, and kernels."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import relay_explorer
from relay_explorer import models, relay
from relay_explorer.ir import Function, IRModule, TensorType, TupleType
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.op import Op
from relay_explorer.ir.size import SizeVar
from relay_explorer.lower.cache import store as cache
from relay_explorer.lower.codegen.process_pool import Pool, Request
from relay_explorer.lower.kernels import Progress, make_kernels
from relay_explorer.lower.runtime.executable import Executable
from relay_explorer.lower.targets.target import Target
from relay_explorer.typing import infer_types

X = np.arange(-3, 3, dtype="float32").reshape(2, 3)
W = np.ones((16, 3), "float32")
EXPECTED = np.maximum(X @ W.T + 1, 0)


def layer() -> Function:
    x, w = relay.var("x", shape=(2, 3)), relay.var("w", shape=(16, 3))
    return Function([x, w], relay.nn.relu(relay.nn.dense(x, w) + relay.const(1.0)))


@pytest.fixture(scope="module")
def exe() -> Executable:
    return relay_explorer.build(layer())


def unaligned(array: np.ndarray) -> np.ndarray:
    """Copy the array to an odd address."""
    raw = np.zeros(array.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64 + 1
    result = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


@pytest.mark.parametrize(
    "place",
    [
        lambda x: x,
        lambda x: relay.const(x).data,
        lambda x: torch.from_numpy(x),
        lambda x: x.astype(">f4").astype("<f4"),
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        unaligned,
    ],
    ids=["numpy", "NDArray", "torch", "little", "by columns", "with gaps", "unaligned"],
)
def test_an_array_in_any_place_is_taken(exe: Executable, place: Callable[[Any], Any]) -> None:
    np.testing.assert_array_equal(exe(place(X), W), EXPECTED)


def test_arguments_by_name_and_results_of_their_own(exe: Executable) -> None:
    first = exe(X, w=W)
    second = exe.run(w=W, x=X + 1)
    np.testing.assert_array_equal(first, EXPECTED)
    np.testing.assert_array_equal(second, np.maximum((X + 1) @ W.T + 1, 0))
    assert torch.utils.dlpack.from_dlpack(first).shape == (2, 16)


def test_large_arguments_are_read_where_they_are() -> None:
    """One that is aligned is not copied, and what changes in it is seen; others are copied each time."""
    from relay_explorer.lower.runtime.arrays import aligned

    n = 1 << 13
    x = relay.var("x", shape=(n,))
    exe = relay_explorer.build(Function([x], x + relay.const(1.0)))
    array = aligned((n,), "float32")
    odd = unaligned(np.zeros(n, "float32"))
    for value in (1.0, 2.0):
        array[:], odd[:] = value, -value
        assert set(exe(array)) == {value + 1}
        assert set(exe(odd)) == {1 - value}


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((X,), {}, "the program expects 2 arguments, got 1\nhelp: they are `%x: Tensor[(2, 3), "),
        ((), {"x": X}, "the parameter `%w` is not given"),
        ((X,), {"x": X}, "the parameter `%x` is given by position and by name"),
        ((X,), {"v": X}, "the function has no parameter `%v`\nhelp: its parameters are `%x`, `%w`"),
        (
            (X.T, W), {}, "the argument `%x` must be `Tensor[(2, 3), float32]`, but is "
            "`Tensor[(3, 2), float32]`\nhelp: give it the shape: .reshape((2, 3))",
        ),
        (
            (X.astype("float64"), W), {}, "the argument `%x` must be `Tensor[(2, 3), float32]`, but is "
            '`Tensor[(2, 3), float64]`\nhelp: convert it: .astype("float32")',
        ),
        ((1.0, W), {}, "the argument `%x` must be `Tensor[(2, 3), float32]`, but is `float32`"),
        (([1, 2], W), {}, "the argument `%x` must be `Tensor[(2, 3), float32]`, but is a list"),
        (("x", W), {}, "a str cannot be an argument of a Relay function"),
        ((None, W), {}, "a NoneType cannot be an argument of a Relay function"),
        (
            (torch.ones(2, 3, requires_grad=True), W), {},
            "the argument `%x`, a Tensor, cannot be read by DLPack\nhelp: Can't export tensors that requi",
        ),
        (
            (torch.ones(2, 3, dtype=torch.bfloat16), W), {},
            "the argument `%x`, a Tensor, cannot be read by DLPack",
        ),
    ],
)  # fmt: skip
def test_a_wrong_argument(
    exe: Executable, args: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(RelayError) as caught:
        exe(*args, **named)
    assert str(caught.value).startswith(f"error: {message}")


def big() -> Function:
    x = relay.var("x", shape=(1 << 20, 1 << 20))
    return Function([x], relay.nn.relu(x))


def rows() -> Function:
    x = relay.var("x", shape=(relay.Any(), 3))
    return Function([x], relay.nn.relu(x))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: relay_explorer.build(3), "a program is a module or a function, not a value of type int"),  # type: ignore[arg-type]  # refused
        (lambda: relay_explorer.build(IRModule()), "execution begins in `@main`, but this module has no"),
        (lambda: relay_explorer.build(layer(), opt_level=5), "the optimization level must be 0 to 4, not 5"),
        (
            lambda: relay_explorer.build(layer(), params={"ww": W}),
            "none of the 1 values in `params` belongs to a parameter of `@main`\nhelp: `ww` may be `%w`",
        ),
        (
            lambda: relay_explorer.build(layer(), params={"w": X}),
            "the parameter `%w` is `Tensor[(16, 3), float32]`, but `params` has `Tensor[(2, 3), float32]` f",
        ),
        (
            lambda: relay_explorer.build(layer(), params={"w": "abc"}),
            "the value of the parameter `%w` in `params` is not a tensor, but of the type `str`",
        ),
        (lambda: relay_explorer.build(big())(X), "the program's tensors need 4,398,046.5 MB"),
        (
            lambda: relay_explorer.build(rows(), executor="graph"),
            "the graph executor runs programs that only compute tensors: `@main` needs the virtual machine\n"
            "note: the size of a value of type `Tensor[(?, 3), float32]` is known only when the program runs",
        ),
        (
            lambda: relay_explorer.build(layer(), executor="jit"),
            "there is no executor 'jit'\nhelp: there are 'graph', 'vm'",
        ),
        (lambda: relay_explorer.load("/nowhere"), "there is no program to load at '/nowhere': No such file"),
    ],
)  # fmt: skip
def test_what_cannot_be_built(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(RelayError) as caught:
        wrong()
    assert str(caught.value).startswith(f"error: {message}")


def test_control_flow_is_sent_to_the_virtual_machine() -> None:
    with pytest.raises(RelayError, match=r"`@main` needs the virtual machine[^$]*List\[int32\]"):
        relay_explorer.build(models.load("char_rnn"), executor="graph")


def test_branches() -> None:
    """An `if` over tensors needs no virtual machine: the executor leaps."""
    b, x = relay.var("b", shape=(), dtype="bool"), relay.var("x", shape=(2, 3))
    exe = relay_explorer.build(Function([b, x], relay.If(b, relay.nn.relu(x), x + x)))
    np.testing.assert_array_equal(exe(True, X), np.maximum(X, 0))
    np.testing.assert_array_equal(exe(np.array(False), X), X + X)
    with pytest.raises(RelayError, match=r"the argument `%b` must be `bool`, but is `int32`"):
        exe(2, X)


def test_tuples_in_and_out() -> None:
    part = TensorType((2, 3))
    t = relay.var("t", TupleType([part, TupleType([part])]))
    inner = relay.TupleGetItem(relay.TupleGetItem(t, 1), 0)
    body = relay.Tuple([relay.TupleGetItem(t, 0) + inner, relay.Tuple([inner]), relay.Tuple([])])
    exe = relay_explorer.build(Function([t], body))
    total, (same,), nothing = exe((X, (W[:2],)))
    np.testing.assert_array_equal(total, X + 1)
    np.testing.assert_array_equal(same, W[:2])
    assert nothing == ()
    with pytest.raises(
        RelayError, match=r"a part of the argument `%t` must be `Tensor\[\(2, 3\), float32\]`"
    ):
        exe((X, (W,)))


def test_programs_without_kernels() -> None:
    x = relay.var("x", shape=(2, 3))
    np.testing.assert_array_equal(relay_explorer.build(Function([x], x))(X), X)
    np.testing.assert_array_equal(
        relay_explorer.build(Function([x], relay.reshape(x, (3, 2))))(X), X.reshape(3, 2)
    )
    assert relay_explorer.build(Function([], relay.const(2.0)))() == 2


def test_functions_of_the_module_are_inlined() -> None:
    module = relay.fromtext(
        '#[version = "0.0.5"]\ndef @twice(%a: Tensor[(2, 3), float32]) { add(%a, %a) }\n'
        "def @main(%x: Tensor[(2, 3), float32]) { multiply(@twice(%x), @twice(@twice(%x))) }"
    )
    np.testing.assert_array_equal(relay_explorer.build(module)(X), 2 * X * 4 * X)


# -- kernels


def test_equal_functions_have_one_kernel() -> None:
    x = relay.var("x", shape=(2, 3))
    value: Any = x
    for _ in range(4):
        value = relay.annotation.stop_fusion(relay.nn.relu(value) + relay.const(1.0))
    exe = relay_explorer.build(Function([x], value))
    (kernel,) = exe.kernels
    assert kernel.uses == 4
    assert kernel.operators == ["nn.relu", "add"]
    np.testing.assert_array_equal(exe(X), np.maximum(X, 0) + 4)
    assert repr(exe).startswith("<program for cpu (")
    assert "4 kernel calls of 1 kernel (" in repr(exe)


def test_a_kernel_at_every_level(exe: Executable) -> None:
    (kernel,) = exe.kernels
    assert kernel.source("relay").startswith("fn (%p0: Tensor[(2, 3), float32], ")
    assert re.search(r"= sum over (\w+) < 3 of p0\[i0, \1\] \* p1\[i1, \1\]\n", kernel.source("te"))
    loops, scheduled = kernel.source("tir"), kernel.source("scheduled")
    assert "T.grid(2, 16, 3)" in loops
    assert loops != scheduled
    assert "define" in kernel.source("llvm")
    assert f"__tvm_ffi_{kernel.symbol}" in kernel.source("asm")
    assert kernel.levels == ("relay", "te", "tir", "scheduled", "llvm", "asm")
    with pytest.raises(RelayError, match=r"has no level 'cuda'\nhelp: it has 'relay', 'te', "):
        kernel.source("cuda")


def test_a_kernel_by_itself(exe: Executable) -> None:
    (kernel,) = exe.kernels
    np.testing.assert_array_equal(kernel(X, unaligned(W)), EXPECTED)
    assert kernel.flops == 2 * 2 * 16 * 3 + 2 * 2 * 16
    assert kernel.traffic == 4 * (2 * 3 + 16 * 3 + 2 * 16)
    with pytest.raises(RelayError, match=r"expects Tensor\[\(2, 3\), float32\], .*got float64\[2, 3\]"):
        kernel(X.astype("float64"), W)


def test_a_profile(exe: Executable) -> None:
    result = exe.profile(X, W, repeat=2)
    assert [step.kernel for step in result.steps] == exe.kernels
    assert 0 < result.seconds < 10
    assert "100.0%" in str(result)


def test_a_kernel_of_an_operator_without_lowering_runs_on_the_host() -> None:
    x = relay.var("x", shape=(2, 3))
    op = Op.get("nn.relu")
    before, op.lowering = op.lowering, "host"
    try:
        exe = relay_explorer.build(Function([x], relay.nn.relu(x + x) - x))
        assert [kernel.on_host for kernel in exe.kernels] == [False, True, False]  # fused with nothing
        np.testing.assert_array_equal(exe(X), np.maximum(2 * X, 0) - X)
    finally:
        op.lowering = before


def test_a_lowering_of_ones_own() -> None:
    """What a learner sets by hand goes before what is declared, and is not kept on disk."""
    x = relay.var("x", shape=(2, 3))
    op = Op.get("nn.relu")

    def lowered(call: Any) -> list[Any]:
        from tvm import te

        (data,) = call.inputs
        return [te.compute(data.shape, lambda *i: data(*i) * te.const(10.0, "float32"), name="mine")]

    op.set_attr("FTVMCompute", lowered)
    try:
        exe = relay_explorer.build(Function([x], relay.nn.relu(x)))
        np.testing.assert_array_equal(exe(X), 10 * X)
        assert "mine[i0, i1] = p0[i0, i1] * 10.0" in exe.kernels[0].source("te")
        with pytest.raises(RelayError, match="was compiled in this process, and has no library to save"):
            exe.save("program")
    finally:
        op.reset_attr("FTVMCompute")


def test_a_lowering_that_makes_the_wrong_type_is_said_so() -> None:
    x = relay.var("x", shape=(2, 3))
    op = Op.get("nn.relu")
    op.set_attr("FTVMCompute", lambda call: [])
    try:
        exe = relay_explorer.build(Function([x], relay.nn.relu(x)))
        with pytest.raises(RelayError) as caught:
            exe(X)
        assert caught.value.message == (
            "the lowering of `nn.relu` produces nothing, but its type is `Tensor[(2, 3), float32]`"
        )
    finally:
        op.reset_attr("FTVMCompute")


# -- the cache, other processes, files


def test_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is compiled once is found again; an entry that is not whole is compiled anew."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    assert [k.cached for k in relay_explorer.build(layer()).kernels] == [False]
    assert [k.cached for k in relay_explorer.build(layer()).kernels] == [True]
    (entry,) = tmp_path.rglob("*.json")
    library = entry.parent / json.loads(entry.read_text("utf-8"))["file"]
    for damaged, keep in ((library, 1000), (entry, 20), (library, 0), (entry, 0)):
        damaged.write_bytes(damaged.read_bytes()[:keep])
        exe = relay_explorer.build(layer())
        assert [k.cached for k in exe.kernels] == [False]
        np.testing.assert_array_equal(exe(X, W), EXPECTED)
    library.unlink()
    assert [k.cached for k in relay_explorer.build(layer()).kernels] == [False]


def test_a_cache_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.raises(RelayError) as caught:
        relay_explorer.build(layer())
    assert str(caught.value) == (
        f"error: compiled kernels cannot be stored in {tmp_path}/file/cache: Not a directory\n"
        "help: set the environment variable RELAY_EXPLORER_CACHE to a folder that can be written to"
    )


def test_kernels_are_compiled_in_processes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    text = relay_explorer.build(layer()).kernels[0].text
    done: dict[int, dict[str, Any]] = {}
    wrong = text.replace("relu", "no_such_operator")
    pool = Pool()  # its one process is known: whichever is idle takes the next kernel
    try:
        with pytest.raises(
            RelayError,
            match="the kernel `wrong` cannot be compiled: there is no operator or constructor called",
        ):
            pool.compile(
                [Request(text, "right", Target.of("cpu")), Request(wrong, "wrong", Target.of("cpu"))],
                1,
                done.__setitem__,
            )
        assert Path(done[0]["path"]).read_bytes()[1:4] == b"ELF"
        running = pool.processes[0].running
        assert running is not None
        running.kill()
        monkeypatch.setattr(running, "poll", lambda: None)  # it was still there when it was looked at
        with pytest.raises(RelayError, match="the worker process ended with status -9"):
            pool.compile([Request(text, "right", Target.of("cpu"))], 1, done.__setitem__)
        pool.compile([Request(text, "again", Target.of("cpu"))], 1, done.__setitem__)
        assert done[0]["name"] == "again"
        running = pool.processes[0].running
        assert running is not None
        assert running.stdin is not None
        held = os.dup(running.stdin.fileno())  # as a process holds it that was forked from this one
    finally:
        pool.stop()
    os.close(held)
    assert running.returncode is not None
    with pool.lock:
        pool.forget()  # as a forked process does
        assert not pool.lock.locked()
    assert pool.processes == []


def test_saved_and_loaded(exe: Executable, tmp_path: Path) -> None:
    path = tmp_path / "layer.rx"
    bound = relay_explorer.build(layer(), params={"w": W})
    bound.save(path)
    loaded = relay_explorer.load(path)
    np.testing.assert_array_equal(loaded(X), EXPECTED)
    assert loaded.program == bound.program
    assert loaded.text == bound.text
    assert "Primitive=1" in bound.text
    assert [k.text for k in loaded.kernels] == [k.text for k in bound.kernels]
    assert loaded.kernels[0].source("te") == bound.kernels[0].source("te")
    kernel = loaded.kernels[0]
    del loaded  # what it holds of its file stays as long as a kernel
    assert Path(kernel.entry["path"]).is_file()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RelayError, match=r"is not a complete program that this package saved: BadZipFile"):
        relay_explorer.load(path)
    with pytest.raises(RelayError, match="the program cannot be saved as '/nowhere/x': No such file"):
        bound.save("/nowhere/x")


def test_for_another_machine() -> None:
    exe = relay_explorer.build(layer(), "raspberry-pi-4")
    assert "fmla" in exe.kernels[0].source("asm")
    with pytest.raises(RelayError) as caught:
        exe(X, W)
    assert str(caught.value) == (
        f"error: the kernel `{exe.kernels[0].name}` is compiled for arm64 (cortex-a72), which this machine "
        "cannot run\nhelp: its code can be read: kernel.source('asm')"
    )


def test_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    exe = relay_explorer.build(layer(), {"kind": "cuda", "arch": "sm_80"})
    (kernel,) = exe.kernels
    assert "__global__" in kernel.source("cuda")
    assert kernel.rule == "gpu"
    assert [candidate["choice"]["rule"] for candidate in kernel.candidates][-1] == "Fallback"
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(RelayError, match="PTX needs NVIDIA's compiler nvcc, which is not on the PATH"):
        kernel.source("ptx")
    with pytest.raises(RelayError, match=r"is compiled for cuda \(sm_80\).*\n.*kernel.source\('cuda'\)"):
        exe(X, W)


# -- sizes that are not known


def dense_rows(size: Any) -> Function:
    x, w = relay.var("x", shape=(size, 3)), relay.var("w", shape=(16, 3))
    return Function([x, w], relay.concatenate([relay.nn.dense(x, w), relay.nn.dense(x, w)], axis=0))


@pytest.mark.parametrize("size", [relay.Any(), SizeVar("n")], ids=["any", "named"])
def test_a_kernel_for_any_number_of_rows(size: Any) -> None:
    """Such kernels are compiled, though the graph executor does not run them: what they give is as large as
    what they are given makes it.
    """
    typed = infer_types(IRModule.from_expr(dense_rows(size).with_attr("Primitive", 1)))["main"]
    (kernel,) = make_kernels([typed], Target.of("cpu"), Progress(quiet=True))
    for rows in (1, 2, 5):
        x = np.arange(3.0 * rows, dtype="float32").reshape(rows, 3)
        np.testing.assert_array_equal(kernel(x, W), np.concatenate([x @ W.T] * 2))


def test_a_rule_that_does_not_finish_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one schedules; where none does, the loops stay as they are, and that is said."""

    def wrong(*arguments: Any) -> Any:
        raise TypeError("mismatched types")

    for rule in ("reduction", "fallback"):
        monkeypatch.setattr(f"relay_explorer.lower.schedules.{rule}.schedule", wrong)
    exe = relay_explorer.build(layer(), {**Target.of("cpu").dict, "num-cores": 1})
    (kernel,) = exe.kernels
    assert kernel.rule == "none"
    assert kernel.entry["refused"] == ["reduction: mismatched types", "fallback: mismatched types"]
    np.testing.assert_array_equal(exe(X, W), EXPECTED)
