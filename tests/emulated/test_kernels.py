"""Kernels for a GPU run without one: TVM's own runtime for CUDA launches them, and an emulated GPU runs their
threads, and says what they must not do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer.execute import Interpreter
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.lower.codegen import exact_doubles as exact
from relay_explorer.lower.codegen.compile_kernel import scheduled
from relay_explorer.lower.require import tvm
from relay_explorer.lower.runtime.device_memory import DeviceMemory
from relay_explorer.lower.schedules import Choice, Scheduled
from relay_explorer.lower.targets.target import Target
from relay_explorer.models.mlp import mlp
from relay_explorer.models.tree_lstm import phrase, tree_lstm
from relay_explorer.testing.emulated_gpu import EmulatedGPU, emulated_gpu
from relay_explorer.text import parse
from relay_explorer.typing import infer_types
from tests.lower.kernels import DIGITS, Case, flat
from tests.lower.test_computes import made
from tests.models.reference import weights
from tests.ops.examples import EXAMPLES
from tests.ops.meanings import numbers, rng
from tests.ops.test_examples import program

ARCH = Target.of({"kind": "cuda", "arch": "sm_80"})
VERSION = '#[version = "0.0.5"]\n'


@pytest.fixture(autouse=True)
def gpu() -> Iterator[EmulatedGPU]:
    with emulated_gpu() as result:
        yield result


def case(text: str) -> Case:
    """Build a program with arbitrary arguments."""
    module = infer_types(parse(VERSION + text))
    types = [p.checked_type for p in module["main"].params]
    return Case(module, [numbers(rng(text), t.concrete_shape, t.dtype) for t in map(as_tensor_type, types)])


def agree(cases: list[Case], choice: Choice | None = None) -> list[Scheduled]:
    """Fails unless kernels, compiled as one, give what the operators mean; their schedules."""
    with ARCH.tvm:
        result = [scheduled(c.function, f"k{n}", ARCH, choice) for n, c in enumerate(cases)]
        functions = {f"k{n}": s.prim_func for n, s in enumerate(result)}
        library = tvm().compile(tvm().IRModule(functions), target=ARCH.tvm, tir_pipeline=exact.pipeline())
    for n, c in enumerate(cases):
        expected = flat(Interpreter(c.module).call("main", c.values))
        outs = [there(np.full(w.shape, 77).astype(w.dtype)) for w in expected]
        library[f"k{n}"](*[there(np.asarray(v)) for v in flat(tuple(c.values))], *outs)
        for out, right in zip(outs, expected, strict=True):
            close = DIGITS.get(str(right.dtype), 0) * 10
            np.testing.assert_allclose(out.numpy(), right, rtol=close, atol=close, err_msg=str(c.function))
    return result


def there(array: Any) -> Any:
    result = tvm().runtime.empty(array.shape, str(array.dtype), tvm().cuda(0))
    result.copyfrom(np.array(array, order="C"))
    return result


def test_operators_of_every_kind() -> None:
    """One in twelve; `make test-gpu` has the CUDA C of all."""
    agree([c for c in map(made, map(program, list(EXAMPLES)[::12])) if c is not None])


# Sizes that tiles do not divide: nothing is read or written beyond a tensor's end.
ODD = [
    "def @main(%x: Tensor[(1, 40), float32], %w: Tensor[(3, 40), float32]) { nn.dense(%x, %w) }",
    "def @main(%x: Tensor[(1, 33), float32], %w: Tensor[(19, 33), float32]) { nn.relu(nn.dense(%x, %w)) }",
    "def @main(%x: Tensor[(17, 33), float32], %w: Tensor[(35, 33), float32]) { nn.dense(%x, %w) }",
    "def @main(%x: Tensor[(5, 9), float16], %w: Tensor[(7, 9), float16]) { nn.relu(nn.dense(%x, %w)) }",
    "def @main(%x: Tensor[(3, 1025), float32]) { max(%x, axis=[1]) }",
    "def @main(%x: Tensor[(300, 5), bool]) { all(%x, axis=[0]) }",
    "def @main(%x: Tensor[(300, 5), int8]) { sum(%x, axis=[0]) }",
    "def @main(%x: Tensor[(7, 33), float32]) { transpose(nn.softmax(%x)) }",
    "def @main(%x: Tensor[(6, 16), float32]) { nn.relu(transpose(%x)) }",  # the ReLU is the GPU's, too
    "def @main(%x: Tensor[(32, 16), bool], %w: Tensor[(64, 16), bool])"
    ' { nn.dense(%x, %w, out_dtype="int32") }',
    "def @main(%x: Tensor[(8), float64]) { %x * 1e-17f64 + 2.5e-16f64 }",
]


def test_odd_sizes_and_small_numbers() -> None:
    agree([case(text) for text in ODD])


def test_more_rows_than_a_grid_is_high() -> None:
    """A GPU has 65,535 blocks along y, and 65,536 products of small matrices are so many that a rule with one
    for each is not taken.
    """
    text = (
        "def @main(%x: Tensor[(65536, 4, 4), float32], %w: Tensor[(65536, 4, 4), float32]) "
        "{ nn.batch_matmul(%x, %w) }"
    )
    function = infer_types(parse(VERSION + text))["main"]
    assert scheduled(function, "k", ARCH).choice["rule"] == "Sums"


def run(module: IRModule, *values: Any, **options: Any) -> Any:
    """Return the result of a program on the GPU, which must equal the result on the CPU."""
    expected = flat(relay_explorer.build(module, "cpu")(*values))
    exe = relay_explorer.build(module, "cuda", **options)
    for got, right in zip(flat(exe(*values)), expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-4)
    return exe


def test_a_network_and_a_saved_one(gpu: EmulatedGPU, tmp_path: Any) -> None:
    module = infer_types(mlp())
    types = [p.checked_type for p in module["main"].params]
    values = [
        numbers(rng("gpu"), t.concrete_shape, t.dtype) * np.float32(0.1) for t in map(as_tensor_type, types)
    ]
    exe = run(module, *values)
    assert len(gpu.launches) == sum(kernel.uses for kernel in exe.kernels)
    exe.save(tmp_path / "net")
    np.testing.assert_array_equal(relay_explorer.load(tmp_path / "net")(*values), exe(*values))


BRANCH = """def @main(%x: Tensor[(?, 6), float32], %w: Tensor[(5, 6), float32]) {
  if (sum(%x) > 0f) { nn.dense(%x, %w) } else { nn.softmax(nn.dense(%x, %w)) }
}"""


@pytest.mark.parametrize("executor", [None, "vm"])
def test_branches_and_sizes_that_are_not_known(executor: str | None) -> None:
    module = parse(VERSION + BRANCH)
    w = numbers(rng("w"), (5, 6), "float32")
    for rows, sign in ((3, 1), (8, -1)):
        run(module, sign * np.ones((rows, 6), "float32"), w, executor=executor)


def test_a_tree_stays_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The virtual machine sends words there, and fetches the answer; weights are there, as they were sent."""
    module = tree_lstm(inputs=4, hidden=3, moods=5)
    arguments = weights(module, 0)
    words = numbers(rng("words"), (4, 4), "float32")
    sentence = phrase(module, ((words[0], words[1]), (words[2], words[3])))
    exe = relay_explorer.build(module, "cuda", params=arguments)
    here = relay_explorer.build(module, "cpu", params=arguments)(sentence)
    sent: list[Any] = []
    own = DeviceMemory.own

    def noting(self: DeviceMemory, array: Any) -> Any:
        sent.append(array)
        return own(self, array)

    monkeypatch.setattr(DeviceMemory, "own", noting)
    for first in (True, False):
        np.testing.assert_allclose(exe(sentence), here, rtol=1e-4)
        assert first or len(sent) == len(words)
        sent.clear()


def test_nothing_to_compute() -> None:
    module = parse(VERSION + "def @main(%x: Tensor[(0, 4), float32]) { (exp(%x), sum(%x, axis=[0])) }")
    run(module, np.zeros((0, 4), "float32"))
