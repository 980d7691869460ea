"""Products with weights of few bits, compiled: they are packed into words, and unpacked in registers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Expr, Function, Var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.walk import post_order
from relay_explorer.lower.codegen.compile_kernel import generated, scheduled
from relay_explorer.lower.prepare import kernel_calls, planned, prepared, with_params
from relay_explorer.lower.runtime.executable import GraphExecutable
from relay_explorer.lower.schedules import Scheduled
from relay_explorer.lower.targets.target import Target
from relay_explorer.ops.nn.nbits import pack
from tests.lower.arm import WITHOUT_DOT, link, run
from tests.lower.assembly import innermost_loop

nn = relay.nn
HASWELL = {"kind": "llvm", "mcpu": "haswell"}
CASCADE_LAKE = {"kind": "llvm", "mcpu": "cascadelake"}


def layer(
    x: Expr, units: int, features: int, bits: int = 4, group: int = 32, *, zeros: bool = True, seed: int = 0
) -> Expr:
    rng = np.random.default_rng(seed)
    groups = -(-features // (group or features))
    integers = rng.integers(0, 1 << bits, (units, features))
    zero = rng.integers(0, 1 << bits, (units, groups)) if zeros else np.array(1 << (bits - 1))
    scales = rng.random((units, groups), "float32")
    weight, scale, point = map(relay.const, (pack(integers, bits), scales, zero.astype("uint8")))
    return nn.contrib_dense_nbits(x, weight, scale, point, bits=bits, group_size=group)


def data(*shape: int, dtype: str = "float32") -> Var:
    return relay.var("x", shape=shape, dtype=dtype)


def module_of(body: Expr) -> IRModule:
    return IRModule.from_expr(Function([n for n in post_order(body) if isinstance(n, Var)], body))


def check(body: Expr, *shape: int, dtype: str = "float32", error: float = 1e-4) -> list[str]:
    """Compare compiled and interpreted results, and return the rules of the kernels."""
    module = module_of(body)
    x = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    exe = relay_explorer.build(module, quiet=True)
    assert isinstance(exe, GraphExecutable)
    expected = Interpreter(module).call("main", [x])
    result = exe(x)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, error, error * float(np.abs(expected).max()))
    return [kernel.rule for kernel in exe.kernels]


# rows, units, features, bits, group
SHAPES = [
    (1, 64, 128, 4, 32),
    (7, 48, 96, 4, 32),  # rows that no tile divides
    (3, 40, 100, 4, 32),  # a last group of 4 weights; blocks of 8 outputs
    (2, 33, 64, 4, 16),  # padded outputs
    (2, 16, 20, 4, 0),  # a row is one group, of no whole number of words
    (4, 32, 64, 2, 32),
    (2, 32, 64, 1, 64),
    (2, 32, 36, 8, 12),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_packed_weights_are_multiplied_as_they_should_be(shape: tuple[int, ...]) -> None:
    rows, units, features, bits, group = shape
    for zeros in (True, False):
        body = nn.relu(layer(data(rows, features), units, features, bits, group, zeros=zeros))
        assert "nbits" in check(body, rows, features)


@pytest.mark.parametrize("seed", range(4))
def test_random_shapes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = int(rng.choice([1, 2, 4, 8]))
    rows, units, words, groups = (int(n) for n in rng.integers(1, [9, 70, 4, 6]))
    group = words * 32 // bits
    features = groups * group - int(rng.integers(0, group))
    check(layer(data(rows, features), units, features, bits, group, seed=seed), rows, features)


def test_groups_that_fill_no_words_are_not_packed() -> None:
    assert "nbits" not in check(layer(data(2, 24), 16, 24, 4, 4), 2, 24)


def test_float16_is_accumulated_in_float32() -> None:
    rules = check(layer(data(2, 64, dtype="float16"), 32, 64), 2, 64, dtype="float16", error=2e-3)
    assert "nbits" in rules


def test_leading_axes_are_rows() -> None:
    assert "nbits" in check(layer(data(2, 3, 64), 32, 64), 2, 3, 64)
    assert "nbits" in check(layer(data(64), 32, 64), 64)


def test_what_follows_is_fused_and_padding_stays_inside() -> None:
    """A bias and an activation are computed before the surplus outputs are sliced off."""
    bias = relay.const(np.arange(33, dtype="float32"))
    body = nn.relu(relay.add(layer(data(2, 64), 33, 64), bias))
    assert check(body, 2, 64).count("nbits") == 1


def kernel(body: Expr, target: object) -> tuple[Scheduled, str]:
    """Return the schedule and the assembly of a product."""
    where = Target.of(target)
    program = prepared(with_params(module_of(body), None), where, 3)
    found = [scheduled(function, "kernel", where) for _, function in kernel_calls(planned(program))]
    (result,) = [each for each in found if each.rule == "nbits"]
    return result, str(generated(result).mod.inspect_source("s"))


@pytest.mark.parametrize(
    ("target", "multiply", "unpack", "memory"),
    [
        (CASCADE_LAKE, "vfmadd", "vpternlogd", r"%[xyz]mm\d+, [^%]*\(%r"),
        (HASWELL, "vfmadd", "vpsrld", r"%[xyz]mm\d+, [^%]*\(%r"),
        (WITHOUT_DOT, "fmla", "ushr", r"^st[rp]"),
    ],
    ids=["AVX-512", "AVX2", "NEON"],
)
def test_weights_are_unpacked_in_registers(target: object, multiply: str, unpack: str, memory: str) -> None:
    """The innermost loop, over the words of a group, stores nothing: accumulators stay in registers."""
    schedule, assembly = kernel(layer(data(1, 1024), 256, 1024, group=64), target)
    loop = innermost_loop(assembly, multiply)
    count = schedule.choice["units"] * 8
    assert sum(line.startswith(multiply) for line in loop) == count
    assert any(line.startswith(unpack) for line in loop)
    assert not [line for line in loop if re.search(memory, line) and not line.startswith(multiply)]
    assert "call" not in " ".join(loop)
    assert schedule.candidates[0].why == (
        "8 weights of 4 bits per lane, unpacked in registers by shifts and masks; "
        f"1 × {schedule.choice['units']} accumulators"
    )


def test_it_runs_on_arm(tmp_path: Path) -> None:
    x = data(3, 100)
    layers = [layer(x, 20, 100, bits, group, seed=bits) for bits, group in ((4, 32), (2, 0), (8, 64))]
    module = IRModule.from_expr(Function([x], relay.Tuple(layers)))
    value = np.random.default_rng(5).standard_normal((3, 100)).astype("float32")
    program = link(module, WITHOUT_DOT, tmp_path)
    expected: Any = Interpreter(module).call("main", [value])
    for result, right in zip(run(program, module, [value], WITHOUT_DOT), expected, strict=True):
        np.testing.assert_allclose(result, right, 1e-4, 1e-2)
