"""What an emulated GPU says of kernels that do what they must not, and what it counts. The kernels are
written by hand, and take the place of one of TVM's, which has one block of 64 threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer.lower.codegen.device_code import in_place_of_tvm
from relay_explorer.lower.require import tvm
from relay_explorer.testing.emulated_gpu import emulated_gpu
from relay_explorer.testing.emulated_gpu.gpu import machine_code
from tests.emulated.test_kernels import ARCH, there

THREADS = 64
X = np.arange(THREADS, dtype="float32")
T = "((int)threadIdx.x)"


def launched(body: str) -> Any:
    """Return the result `y` of a kernel; `t` is a thread's index, `x` is 0, 1, 2 …"""
    te = tvm().te
    x = te.placeholder((THREADS,), name="x")
    y = te.compute((THREADS,), lambda i: x[i] + 1, name="y")
    func = te.create_prim_func([x, y]).with_attr("global_symbol", "main")
    sch = tvm().s_tir.Schedule(tvm().IRModule({"main": func}))
    sch.bind(sch.get_loops(sch.get_sblock("y"))[0], "threadIdx.x")

    def written(source: Any) -> bytes:
        head, _, _ = str(source).rpartition("{\n")
        text = f"int t = {T};\nfloat *x = x_ptr, *y = y_ptr;\n{body}\n"
        return machine_code(f"{head}{{\n{text}}}\n")

    with in_place_of_tvm(written):
        run = tvm().compile(sch.mod, target=ARCH.tvm)["main"]
    result = there(np.zeros(THREADS, "float32"))
    run(there(X), result)
    return result.numpy()


def refused(body: str) -> str:
    """Return the error message for a kernel that is stopped."""
    with emulated_gpu(), pytest.raises(RuntimeError) as problem:
        launched(body)
    return str(problem.value).partition("\n")[0]


EXCHANGE = "__shared__ alignas(64) float s[64];\ns[t] = x[t];\n{}\ny[t] = s[63 - t];"


def test_a_barrier() -> None:
    with emulated_gpu():
        np.testing.assert_array_equal(launched(EXCHANGE.format("__syncthreads();")), X[::-1])
    text = refused(EXCHANGE.format(""))
    assert "of shared memory, which thread number" in text
    assert text.endswith("without a barrier between")


def test_a_barrier_that_not_all_reach() -> None:
    text = refused("if (t < 32) { __syncthreads(); }\nelse {\n__syncthreads(); }\ny[t] = 0;")
    assert "threads of block (0, 0, 0) wait at different barriers" in text


def test_beyond_the_end() -> None:
    text = refused("y[t] = x[t + 1];")
    assert (
        "thread (63, 0, 0) of block (0, 0, 0) reads 4 bytes at byte 256 of `x`, which has 256 bytes" in text
    )


def test_a_vector_at_an_address_that_it_cannot_have() -> None:
    text = refused("if (t == 0) { *(float2 *)y = *(float2 *)(x + 1); }")
    assert "reads 8 bytes at an address that is not a multiple of it" in text


def test_two_threads_that_write_one_number() -> None:
    assert "writes byte 0 of `y`" in refused("y[t / 2] = 1.0f;")
    with emulated_gpu():
        assert launched("atomicAdd(y, 1.0f);")[0] == THREADS


def test_a_sum_of_a_warp() -> None:
    with emulated_gpu():
        result = launched(
            "float sum = x[t];\nunsigned mask = __activemask();\n"
            "for (int by = 16; by; by /= 2) sum += __shfl_down_sync(mask, sum, by, 32);\n"
            "sum = __shfl_sync(mask, sum, 0, 32);\ny[t] = sum;"
        )
    np.testing.assert_array_equal(result, [X[:32].sum()] * 32 + [X[32:].sum()] * 32)


@pytest.mark.parametrize(("place", "pieces"), [("t", 8), ("t * 7 % 64", 16), ("t * 8 % 64", 16)])
def test_pieces_of_memory(place: str, pieces: int) -> None:
    with emulated_gpu(counts=True) as gpu:
        launched(f"y[t] = x[{place}];")
        (launch,) = gpu.launches
    assert (launch.grid, launch.block) == ((1, 1, 1), (THREADS, 1, 1))
    read, written = launch.accesses
    assert (read.array, read.writes, read.requests, read.lanes, read.units) == ("x", False, 2, 64, pieces)
    assert (written.array, written.writes, written.units) == ("y", True, 8)


def test_turns_of_banks() -> None:
    """A row of 32 numbers is read down a column: all are in one bank; with 33 in a row each has its own."""
    for row, turns in ((32, 64), (33, 2)):
        place = f"(t % 32) * {row} + t / 32"
        body = (
            f"__shared__ alignas(64) float s[1056];\ns[{place}] = x[t];\n__syncthreads();\ny[t] = s[{place}];"
        )
        with emulated_gpu(counts=True) as gpu:
            launched(body)
            result = [a.units for launch in gpu.launches for a in launch.accesses if a.array == "shared"]
        assert result == [turns, turns]
