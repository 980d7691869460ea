"""Products of small integers on ARM processors: exact under QEMU, and in the instructions that suit them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Call, Expr, Function, Var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.walk import post_order
from relay_explorer.lower.codegen.compile_kernel import generated, scheduled
from relay_explorer.lower.prepare import kernel_calls, planned, prepared, with_params
from relay_explorer.lower.runtime.executable import GraphExecutable
from relay_explorer.lower.schedules import Scheduled
from relay_explorer.lower.targets.target import Target
from relay_explorer.views.lowering.view import lowering_view
from tests.lower.arm import WITH_DOT, WITHOUT_DOT, link, run
from tests.lower.assembly import innermost_loop
from tests.lower.test_int8_products import conv, extreme, padded, requantized

nn = relay.nn
INSTRUCTIONS = {WITH_DOT: "sdot", WITHOUT_DOT: "smull"}


def image(channels: int, size: int, dtype: str = "int8") -> Var:
    return relay.var("x", shape=(1, channels, size, size), dtype=dtype)


def dense(rows: int, features: int, units: int, dtype: str = "int8", out: str = "int32") -> Call:
    x = relay.var("x", shape=(rows, features), dtype=dtype)
    return nn.dense(x, relay.const(extreme((units, features), "int8", 3)), out_dtype=out)


def batch() -> Call:
    a, b = relay.var("a", shape=(2, 5, 16), dtype="int8"), relay.var("b", shape=(2, 12, 16), dtype="int8")
    return nn.batch_matmul(a, b, out_dtype="int32")


def network() -> Expr:
    """Two layers with a zero point, requantized between them."""
    first = conv(padded(image(4, 8, "uint8"), 77, "uint8", 1), "int8", (16, 4, 3, 3))
    small = requantized(first, 16, "int8")
    return conv(small, "int8", (8, 16, 1, 1))


PROGRAMS: dict[str, Expr] = {
    "3 x 3": conv(image(8, 7), "int8", (16, 8, 3, 3), padding=(1, 1)),
    "unsigned data": conv(image(8, 7, "uint8"), "int8", (12, 8, 3, 3), padding=(1, 1), strides=(2, 2)),
    "three channels": conv(image(3, 9), "int8", (8, 3, 3, 3), padding=(1, 1)),
    "channels that no vector divides": conv(image(6, 5), "int8", (10, 6, 3, 3)),
    "depthwise": conv(image(8, 7), "int8", (8, 1, 3, 3), groups=8, padding=(1, 1)),
    "groups": conv(image(8, 6), "int8", (16, 4, 3, 3), groups=2, padding=(1, 1)),
    "one row": dense(1, 16, 8),
    "rows that no tile divides": dense(5, 24, 20, "uint8"),
    "features that no word divides": dense(3, 10, 7),
    "a batch": batch(),
    "sums of 16 bits": conv(image(16, 6), "int8", (16, 16, 3, 3), padding=(1, 1), out_dtype="int16"),
    "a row in 16 bits": dense(2, 20, 16, out="int16"),
    "two layers": network(),
}


@pytest.mark.parametrize("target", INSTRUCTIONS)
def test_every_product_is_exact(target: str, tmp_path: Path) -> None:
    """All in one program: its arguments are those of each product. Sums of 16 bits wrap around."""
    params, values, fields, expected = [], [], [], []
    for n, body in enumerate(PROGRAMS.values()):
        own = [node for node in post_order(body) if isinstance(node, Var)]
        function = Function(own, body)
        inputs = [extreme(p.type_annotation.concrete_shape, p.type_annotation.dtype, n) for p in own]  # type: ignore[union-attr]
        expected.append(Interpreter(IRModule.from_expr(function)).call("main", inputs))
        fresh = [relay.var(f"{p.name_hint}{n}", p.type_annotation) for p in own]
        params += fresh
        values += inputs
        fields.append(Call(function, fresh))
    module = IRModule.from_expr(Function(params, relay.Tuple(fields)))
    results = run(link(module, target, tmp_path), module, values, target)
    for name, result, right in zip(PROGRAMS, results, expected, strict=True):
        np.testing.assert_array_equal(result, right, err_msg=name)


def kernel(body: Expr, target: object, rule: str) -> tuple[Scheduled, str]:
    """Return the schedule and the assembly of the kernel that `rule` schedules."""
    where = Target.of(target)
    params = [node for node in post_order(body) if isinstance(node, Var)]
    program = prepared(with_params(IRModule.from_expr(Function(params, body)), None), where, 3)
    found = [scheduled(function, "kernel", where) for _, function in kernel_calls(planned(program))]
    (result,) = [each for each in found if each.rule == rule]
    return result, str(generated(result).mod.inspect_source("s"))


def named(loop: list[str], *names: str) -> list[int]:
    """Count the instructions of each name."""
    words = [line.split()[0] for line in loop]
    return [words.count(name) for name in names]


LAYERS: list[tuple[Expr, str]] = [
    (conv(image(64, 14), "int8", (64, 64, 3, 3), padding=(1, 1)), "int8_blocked"),
    (dense(1, 256, 128), "int8_dense"),
    (dense(16, 256, 128), "int8_dense"),
]


@pytest.mark.parametrize(("body", "rule"), LAYERS, ids=["convolution", "one row", "rows"])
def test_the_dot_instruction_accumulates_in_registers(body: Expr, rule: str) -> None:
    schedule, assembly = kernel(body, WITH_DOT, rule)
    loop = innermost_loop(assembly, "sdot")
    dots, *others = named(loop, "sdot", "str", "stp", "smull", "smlal", "fmov", "dup")
    loads = sum(line.startswith("ld") for line in loop)
    assert dots >= 8
    assert not any(others)
    assert loads < dots or "1 × 8" in schedule.candidates[0].why
    assert schedule.candidates[0].why.startswith("sdot: 4 products of int8 and int8 per lane; ")


@pytest.mark.parametrize(("body", "rule"), LAYERS, ids=["convolution", "one row", "rows"])
def test_older_processors_add_pairs_of_products(body: Expr, rule: str) -> None:
    """16 bits hold a product of any two signed bytes, and `sadalp` adds pairs of them to 32 bits."""
    _, assembly = kernel(body, WITHOUT_DOT, rule)
    products, sums, *others = named(
        innermost_loop(assembly, "smull"), "smull", "sadalp", "str", "stp", "sdot"
    )
    assert products == sums >= 8
    assert not any(others)


@pytest.mark.parametrize("target", INSTRUCTIONS)
def test_sums_of_16_bits_take_one_instruction_for_eight_products(target: str) -> None:
    """The Relay paper's experiments on ARM boards: half as many instructions as for float32."""
    counts: dict[str, Any] = {}
    for dtype, out, name in (("int8", "int16", "smlal"), ("float32", "float32", "fmla")):
        x = relay.var("x", shape=(16, 256), dtype=dtype)
        weight = relay.const(np.ones((128, 256), dtype))
        _, assembly = kernel(nn.dense(x, weight, out_dtype=out), target, "dense")
        loop = innermost_loop(assembly, name)
        (counts[dtype],) = named(loop, name)
        lanes = {"int16": 8, "float32": 4}[out]
        assert f".{lanes}{'h' if out == 'int16' else 's'}" in next(x for x in loop if x.startswith(name))
    assert counts["int8"] == counts["float32"] == 16  # vectors, the former of twice as many sums


@pytest.mark.parametrize("target", INSTRUCTIONS)
def test_the_lowering_explorer_names_the_instruction(target: str) -> None:
    x = relay.var("x", shape=(16, 256), dtype="int8")
    weight = relay.const(extreme((128, 256), "int8", 3))
    exe = relay_explorer.build(Function([x], nn.dense(x, weight, out_dtype="int32")), target, quiet=True)
    assert isinstance(exe, GraphExecutable)
    (kernel,) = [kernel for kernel in exe.kernels if kernel.rule == "int8_dense"]
    view = lowering_view(kernel)
    (step,) = [step for step in view.steps if step.primitive == "Dot"]
    assert step.say[-1].startswith(INSTRUCTIONS[target])
    if target == WITH_DOT:
        assert "**16 of" in view.steps[-1].say[0]  # multiply-adds in the innermost loop
