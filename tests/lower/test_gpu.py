"""Kernels for a GPU, without one: schedules in tiles and by several threads compute what the operators mean,
and what is missing is said.

A schedule is held against the meaning by running its threads one after another on this machine: a loop that
is bound to threads is a loop, and memory that threads share is memory. What that cannot show is the code that
TVM makes of it for the GPU: tests/emulated runs that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer.execute import Interpreter
from relay_explorer.ir import Call
from relay_explorer.ir.errors import RelayError
from relay_explorer.lower.codegen.compile_kernel import generated, scheduled
from relay_explorer.lower.require import tvm
from relay_explorer.lower.schedules import Scheduled
from relay_explorer.lower.targets import device
from relay_explorer.lower.targets.target import Target
from relay_explorer.text import parse
from relay_explorer.typing import infer_types
from tests.lower.kernels import DIGITS, Case, flat
from tests.lower.test_computes import made
from tests.ops.meanings import numbers, rng
from tests.ops.test_examples import program

ARCH = {"kind": "cuda", "arch": "sm_80"}
DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(ROWS, 64), float32], %w: Tensor[(32, 64), float32]) { nn.relu(nn.dense(%x, %w)) }"""


def one_by_one(schedule: Scheduled, name: str) -> Any:
    """Build the loops of a schedule for this machine: its threads run one after another."""
    text = str(schedule.prim_func.script())
    text = re.sub(r', thread="[\w.]+"', "", text.replace("T.thread_binding(", "T.serial("))
    text = re.sub(r', scope="[\w.]+"', "", text)
    return tvm().script.from_source(text).with_attr("global_symbol", name)


def agree(cases: list[Case], schedules: list[Scheduled]) -> None:
    """Fails unless schedules, with their threads one after another, compute what the operators mean."""
    names = [f"k{n}" for n in range(len(cases))]
    functions = {name: one_by_one(s, name) for name, s in zip(names, schedules, strict=True)}
    host = tvm().target.Target({"kind": "llvm", "opt-level": 0})
    library, tensor = tvm().compile(tvm().IRModule(functions), target=host), tvm().runtime.tensor
    for name, case in zip(names, cases, strict=True):
        expected = flat(Interpreter(case.module).call("main", case.values))
        outs = [tensor(np.full(w.shape, 77).astype(w.dtype)) for w in expected]
        library[name](*[tensor(np.array(v, order="C")) for v in flat(tuple(case.values))], *outs)
        for out, right in zip(outs, expected, strict=True):
            close = DIGITS.get(str(right.dtype), 0)
            np.testing.assert_allclose(out.numpy(), right, rtol=close, atol=close, err_msg=case.name)


def in_cuda(examples: Iterable[Call]) -> tuple[int, int]:
    """Fails unless the examples become CUDA C, and those whose schedule is more than one element a thread
    compute what they mean; how many there are of either.
    """
    target, cases, schedules = Target.of(ARCH), [], []
    names: set[str] = set()
    for case in map(made, map(program, examples)):
        if case is None:
            continue
        schedule = scheduled(case.function, "kernel", target)
        assert "__global__" in generated(schedule).mod.imports[0].inspect_source(), case.name
        names.add(case.name)
        if schedule.choice["rule"] != "Fallback":
            cases.append(case)
            schedules.append(schedule)
    agree(cases, schedules)
    return len(names), len(cases)


def test_sizes_that_are_not_known() -> None:
    (kernel,) = relay_explorer.build(parse(DENSE.replace("ROWS", "?")), ARCH).kernels
    assert "__global__" in kernel.source("cuda")
    fixed = infer_types(parse(DENSE.replace("ROWS", "17")))
    values = [numbers(rng("gpu"), shape, "float32") for shape in ((17, 64), (32, 64))]
    schedule = scheduled(kernel.function, kernel.symbol, kernel.target, kernel.choice)
    agree([Case(fixed, values)], [schedule])


def test_a_missing_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    (kernel,) = relay_explorer.build(parse(DENSE.replace("ROWS", "16")), ARCH).kernels
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(
        RelayError, match="a count of registers needs NVIDIA's compiler nvcc, which is not on"
    ):
        _ = kernel.usage
    (kernel,) = relay_explorer.build(parse(DENSE.replace("ROWS", "16"))).kernels
    with pytest.raises(RelayError, match="is not compiled for a GPU"):
        _ = kernel.usage


def test_why_no_gpu_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where NVIDIA's libraries are of another version, TVM finds no GPU, and says nothing."""
    assert "no-such.so: cannot open shared object file" in device.cannot_load(tmp_path / "no-such.so")
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(device, "cannot_load", lambda library: "libcudart.so.13: cannot open it")
    text = device.lacks(Target.of(ARCH))
    assert text == "TVM's runtime for CUDA cannot be loaded: libcudart.so.13: cannot open it"


def test_tensors_go_to_a_device_and_come_back() -> None:
    """With this machine for a device."""
    here = [tvm().runtime.tensor(np.array(v, "float32")) for v in ([1, 2], [3, 4], [0, 0])]

    def run(x: Any, y: Any, out: Any) -> None:
        assert not any(given.same_as(other) for given in (x, y, out) for other in here)
        tvm().runtime.tensor(x.numpy() + y.numpy()).copyto(out)

    device.on_device(run, 2, tvm().cpu())(*here)
    assert [t.numpy().tolist() for t in here] == [[1, 2], [3, 4], [4, 6]]


# What limits the blocks on a multiprocessor: threads, blocks, registers of 32 threads, shared memory.
@pytest.mark.parametrize(
    ("version", "threads", "registers", "shared", "blocks"),
    [
        (80, 256, 32, 0, 8),  # threads
        (80, 32, 16, 0, 32),  # blocks
        (80, 256, 64, 0, 4),  # registers
        (80, 128, 32, 48 << 10, 3),  # shared memory
        (80, 32, 96, 0, 20),  # registers, in quarters: 5 warps in each, not 21 in all
        (75, 128, 32, 32 << 10, 2),  # shared memory, of which nothing is reserved
        (86, 256, 32, 0, 6),
        (80, 0, 32, 0, 0),  # not known
    ],
)
def test_occupancy(version: int, threads: int, registers: int, shared: int, blocks: int) -> None:
    assert device.resident(threads, registers, shared, device.LIMITS[version]) == blocks
