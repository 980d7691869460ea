"""Schedules: whatever the shapes, a scheduled kernel gives what its operators mean; each class of kernel gets
the schedule that is made for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir import Call, Expr, Function, IRModule, Op, Var
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.ir.walk import post_order
from relay_explorer.lower.codegen.compile_kernel import generated, scheduled
from relay_explorer.lower.codegen.search import searched
from relay_explorer.lower.lowering import tensor_types
from relay_explorer.lower.passes.blocks import block_of
from relay_explorer.lower.passes.layouts import blocked_layouts
from relay_explorer.lower.require import tvm
from relay_explorer.lower.schedules import Scheduled
from relay_explorer.lower.targets.target import Target
from relay_explorer.relay import const
from relay_explorer.transform.optimize import optimize
from relay_explorer.typing import infer_types

nn = relay.nn


def t(name: str, *shape: int, dtype: str = "float32") -> Var:
    return relay.var(name, shape=shape, dtype=dtype)


def values(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) if "float" in dtype else rng.integers(-5, 5, shape)).astype(dtype)


def function(body: Expr) -> Function:
    params = [node for node in post_order(body) if isinstance(node, Var)]
    result = infer_types(IRModule.from_expr(Function(params, body)))["main"]
    assert isinstance(result, Function)
    return result


def laid_out(body: Expr, target: str = "cpu") -> list[Function]:
    """Return the kernels of a program whose first parameter is its input, the others constants."""
    main = function(body)
    params = {
        p.name_hint: values(as_tensor_type(p).concrete_shape, as_tensor_type(p).dtype, n)
        for n, p in enumerate(main.params)
        if n
    }
    module, _ = optimize(
        IRModule.from_expr(main), params=params, level=3, layouts=blocked_layouts(Target.of(target))
    )
    return [node for node in post_order(module["main"].body) if isinstance(node, Function)]


def check(kernel: Function, error: float = 1e-4) -> Scheduled:
    """Compiles one kernel, runs it, and compares with the interpreter."""
    target = Target.of("cpu")
    output = scheduled(kernel, "kernel", target)
    plain = function(Function(kernel.params, kernel.body).body)
    order = {p.name_hint: p for p in plain.params}
    arguments = {
        p.name_hint: values(as_tensor_type(p).concrete_shape, as_tensor_type(p).dtype, n)
        for n, p in enumerate(kernel.params)
    }
    module = IRModule.from_expr(plain)
    call = Call(module.get_global_var("main"), [const(arguments[name]) for name in order])
    expected = Interpreter(module).evaluate(call)
    expected = expected if isinstance(expected, tuple) else (expected,)
    arrays = [tvm().runtime.tensor(arguments[p.name_hint]) for p in kernel.params]
    types = tensor_types(plain.body.checked_type)
    results = [tvm().runtime.tensor(np.full(s.concrete_shape, 7, s.dtype)) for s in types]
    generated(output)["kernel"](*arrays, *results)
    for result, want in zip(results, expected, strict=True):
        actual = result.numpy()
        assert np.abs(actual - want).max(initial=0) <= error * max(1.0, np.abs(want).max(initial=0))
    return output


# inputs, outputs, height, width, kernel, stride, padding, batch, dilation, groups, and the schedule
CONVOLUTIONS: list[tuple[Any, ...]] = [
    (32, 32, 5, 14, 3, 1, (1, 1), 1, 1, 1, "blocked"),
    (16, 48, 7, 7, 1, 1, (0, 0), 2, 1, 1, "blocked"),
    (3, 32, 23, 17, 7, 2, (3, 3), 1, 1, 1, "blocked"),
    (32, 16, 13, 11, 3, 2, (0, 1, 2, 1), 1, 1, 1, "blocked"),
    (24, 40, 8, 8, 3, 1, (2, 2), 1, 2, 1, "blocked"),
    (32, 64, 8, 6, 3, 1, (1, 1), 1, 1, 2, "blocked"),
    (64, 64, 40, 40, 3, 2, (1, 1), 1, 1, 1, "blocked"),
    (64, 64, 40, 40, 3, 1, (1, 1), 1, 1, 1, "winograd"),
    (16, 48, 9, 14, 3, 1, (1, 1), 1, 1, 1, "winograd"),
    (32, 16, 12, 8, 3, 1, (0, 1, 2, 1), 2, 1, 1, "winograd"),
    (24, 8, 17, 16, 3, 1, (2, 2), 1, 1, 1, "winograd"),
    (4, 12, 5, 29, 5, 1, (2, 2), 1, 1, 1, "blocked"),
    (32, 32, 9, 14, 3, 1, (1, 1), 2, 1, 32, "depthwise"),
    (16, 16, 11, 13, 5, 2, (2, 1, 0, 2), 1, 1, 16, "depthwise"),
    (24, 24, 6, 7, 3, 1, (2, 2), 1, 2, 24, "depthwise"),
    (8, 8, 6, 7, 7, 1, (3, 3), 1, 1, 8, "depthwise"),
    (16, 16, 6, 7, 1, 1, (0, 0), 1, 1, 16, "reduction"),
    (5, 7, 9, 9, 3, 1, (1, 1), 1, 1, 1, "reduction"),
    (6, 12, 7, 9, 3, 2, (1, 1), 1, 1, 6, "reduction"),
]  # fmt: skip


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolutions_of_any_shape(case: tuple[Any, ...]) -> None:
    inputs, outputs, height, width, size, stride, padding, batch, dilation, groups, rule = case
    y = nn.conv2d(
        t("x", batch, inputs, height, width),
        t("w", outputs, inputs // groups, size, size),
        strides=stride, padding=padding, dilation=dilation, groups=groups,
        channels=outputs, kernel_size=(size, size),
    )  # fmt: skip
    kernels = laid_out(nn.relu(nn.bias_add(y, t("b", outputs))))
    result = [check(kernel) for kernel in kernels]
    assert rule in [m.rule for m in result]


def test_a_residual_is_added_in_the_registers_and_a_new_layout_comes_after() -> None:
    x = t("x", 1, 32, 7, 7)
    y = nn.relu(nn.bias_add(nn.conv2d(x, t("w", 32, 32, 3, 3), padding=(1, 1)), t("b", 32)))
    y = nn.relu(relay.add(nn.conv2d(y, t("v", 32, 32, 1, 1)), x))
    result = [check(kernel) for kernel in laid_out(nn.batch_flatten(y))]
    assert [m.rule for m in result if m.rule == "blocked"] == ["blocked"] * 2
    assert all("local" in str(m.prim_func) for m in result if m.rule == "blocked")


@pytest.mark.parametrize(
    ("lead", "features", "units", "rule"),
    [((1,), 50, 48, "dense"), ((6,), 33, 40, "dense"), ((2, 5), 16, 64, "dense"), ((), 12, 32, "dense"),
     ((7,), 20, 18, "reduction"), ((1,), 64, 10, "reduction"), ((3,), 1, 16, "reduction")],
)  # fmt: skip
def test_dense_layers_of_any_shape(lead: tuple[int, ...], features: int, units: int, rule: str) -> None:
    y = nn.dense(t("x", *lead, features), t("w", units, features))
    result = [check(kernel) for kernel in laid_out(nn.relu(relay.add(y, t("b", units))))]
    assert [m.rule for m in result] == [rule]


BLOCKS = t("x", 2, 2, 9, 7, 16)
REDUCTIONS: dict[str, Expr] = {
    "maximum of windows in blocks": nn.max_pool2d(BLOCKS, (3, 3), (2, 2), padding=(1, 1), layout="NCHW16c"),
    "mean of windows": nn.avg_pool2d(t("x", 1, 5, 9, 7), (2, 3), (2, 1), padding=(1, 0, 0, 1)),
    "mean of a channel": nn.global_avg_pool2d(BLOCKS, layout="NCHW16c"),
    "softmax": nn.softmax(t("x", 3, 5, 20)),
    "softmax of the middle": nn.softmax(t("x", 3, 20, 5), axis=1),
    "of all": relay.sum(t("x", 4, 24)),
    "of all, odd": relay.max(t("x", 3, 7)),
    "along the last axis": relay.sum(relay.multiply(t("x", 9, 64), t("y", 9, 64)), 1),
    "along the first axis": relay.mean(t("x", 33, 48), 0),
    "of integers": relay.sum(t("x", 5, 32, dtype="int32"), 1),
    "batches, transposed": nn.batch_matmul(t("x", 2, 33, 32), t("y", 2, 16, 32)),
    "batches, transposed, long": nn.batch_matmul(t("x", 2, 3, 320), t("y", 2, 5, 320)),
    "batches": nn.batch_matmul(t("x", 2, 10, 12), t("y", 2, 12, 24), transpose_b=False),
    "a matrix": nn.matmul(t("x", 7, 30), t("y", 30, 21)),
    "channels last": nn.conv2d(
        t("x", 1, 6, 5, 8), t("y", 3, 3, 8, 16), data_layout="NHWC", kernel_layout="HWIO", padding=(1, 1)
    ),
    "three axes": nn.conv3d(t("x", 1, 3, 4, 5, 6), t("y", 4, 3, 2, 2, 2)),
    "two results after it": nn.relu(relay.add(nn.dense(t("x", 3, 16), t("y", 8, 16)), t("z", 8))),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_whichever_way_the_data_lies(name: str) -> None:
    result = check(function(REDUCTIONS[name]))
    assert result.rule == "reduction"
    assert all(candidate.why for candidate in result.candidates)


def swish(y: Expr) -> Expr:
    return relay.multiply(y, relay.sigmoid(y))


def hidden() -> Expr:
    return relay.add(nn.dense(t("x", 6, 20), t("w", 32, 20)), t("b", 32))


EPILOGUES: dict[str, tuple[Expr, int]] = {
    "what is used twice": (swish(hidden()), 0),
    "two sums, added": (relay.add(relay.sum(t("x", 8, 33), 1), relay.sum(t("y", 8, 32), 1)), 1),
    "what is used outside": (relay.sum(hidden(), 1), 1),
}


@pytest.mark.parametrize("name", EPILOGUES)
def test_what_follows_is_computed_in_the_registers(name: str) -> None:
    body, left = EPILOGUES[name]
    result = check(function(body))
    assert result.rule == "reduction"
    buffers = [line for line in str(result.prim_func).splitlines() if "alloc_buffer(" in line]
    in_memory = [line for line in buffers if "scope=" not in line]
    assert len(in_memory) == left
    assert len(buffers) > left


def test_where_no_other_schedule_is_for_a_kernel() -> None:
    x = t("x", 4, 37, 12)
    result = check(function(relay.tanh(relay.add(x, relay.exp(x)))))
    assert result.rule == "fallback"
    assert "T.vectorized(16)" in str(result.prim_func) or Target.of("cpu").lanes() != 16
    odd = check(function(relay.negative(t("x", 3, 37))))
    several = check(function(relay.split(t("x", 4, 6), 2, 1).astuple()))
    assert odd.rule == several.rule == "fallback"


def test_every_candidate_gives_the_same() -> None:
    y = nn.conv2d(t("x", 1, 32, 12, 12), t("w", 64, 32, 3, 3), padding=(1, 1), strides=2)
    (kernel,) = [k for k in laid_out(nn.relu(y)) if "conv2d" in str(k)]
    target = Target.of("cpu")
    first = scheduled(kernel, "kernel", target)
    assert first.choice == first.candidates[0].choice
    assert len(first.candidates) > 1
    x, w = (values(as_tensor_type(p).concrete_shape, "float32", n) for n, p in enumerate(kernel.params))
    shape = tuple([int(d) for d in first.composed.outputs[0].shape])
    result = []
    for candidate in first.candidates:
        output = scheduled(kernel, "kernel", target, candidate.choice)
        assert output.choice == candidate.choice
        out = tvm().runtime.tensor(np.zeros(shape, "float32"))
        generated(output)["kernel"](tvm().runtime.tensor(x), tvm().runtime.tensor(w), out)
        result.append(out.numpy())
    assert all(np.allclose(result[0], other, atol=1e-4) for other in result)


@pytest.mark.parametrize(("outputs", "size"), [(32, 12), (64, 9), (16, 8)])
def test_no_core_is_left_without_work(outputs: int, size: int) -> None:
    """Where all channels make one tile, rows are shared; where rows are odd, tiles are of fewer channels."""
    y = nn.conv2d(t("x", 1, 32, size + 3, size + 3), t("w", outputs, 32, 4, 4))
    target = Target.of({"kind": "llvm", "mcpu": "skylake-avx512", "num-cores": 2})
    main = function(y)
    weight = {"w": values((outputs, 32, 4, 4), "float32", 1)}
    module, _ = optimize(IRModule.from_expr(main), params=weight, level=3, layouts=blocked_layouts(target))
    kernels = [node for node in post_order(module["main"].body) if isinstance(node, Function)]
    (kernel,) = [k for k in kernels if PACKED in str(k)]
    assert "T.parallel(2" in str(scheduled(kernel, "kernel", target).prim_func)


def test_a_search_times_the_candidates_and_takes_the_fastest() -> None:
    y = nn.conv2d(t("x", 1, 16, 6, 12), t("w", 32, 16, 1, 1))
    (kernel,) = [k for k in laid_out(nn.relu(y)) if "conv2d" in str(k)]
    result = searched(kernel, "kernel", Target.of("cpu"))
    times = [candidate.seconds for candidate in result.candidates]
    assert len(times) > 1
    assert all(seconds is not None and seconds > 0 for seconds in times)
    assert result.choice == min(result.candidates, key=lambda c: c.seconds or 0).choice
    nothing = searched(function(relay.tanh(t("x", 3, 5))), "kernel", Target.of("cpu"))
    assert nothing.rule == "fallback"


def test_what_a_search_finds_is_kept() -> None:
    program = Function([x := t("x", 6, 24)], nn.relu(nn.dense(x, const(np.ones((48, 24), "float32")))))
    plain, result, again = (relay_explorer.build(program, search=search) for search in (False, True, True))
    (kernel,) = result.kernels
    assert kernel.rule == "dense"
    assert all(candidate["seconds"] for candidate in kernel.candidates)
    assert again.kernels[0].cached
    assert again.kernels[0].choice == kernel.choice
    data = values((6, 24), "float32", 0)
    assert np.allclose(np.asarray(plain(data)), np.asarray(result(data)), atol=1e-5)


def test_a_schedule_tells_its_steps() -> None:
    y = nn.conv2d(t("x", 1, 16, 8, 8), t("w", 16, 16, 1, 1))
    (kernel,) = [k for k in laid_out(nn.relu(y)) if "conv2d" in str(k)]
    steps = "\n".join(scheduled(kernel, "kernel", Target.of("cpu")).steps)
    for primitive in ("split", "reorder", "compute_at", "set_scope", "unroll", "vectorize", "decompose"):
        assert primitive in steps


@pytest.mark.parametrize(
    ("channels", "lanes", "block"),
    [(64, 16, 16), (24, 16, 8), (20, 16, 4), (18, 16, 1), (7, 16, 1), (64, 8, 8), (12, 4, 4), (3, 4, 1)],
)
def test_the_widest_block_that_divides_the_channels(channels: int, lanes: int, block: int) -> None:
    assert block_of(channels, lanes) == block


def names(kernels: list[Function]) -> list[str]:
    return [node.op.name for kernel in kernels for node in post_order(kernel) if isinstance(node, Call)
            and isinstance(node.op, Op)]  # fmt: skip


def two_layers() -> Expr:
    y = nn.relu(nn.conv2d(t("x", 1, 3, 8, 8), t("w", 16, 3, 3, 3)))
    return nn.max_pool2d(nn.conv2d(y, t("v", 32, 16, 1, 1)), (2, 2))


def of_integers() -> Expr:
    return nn.conv2d(t("x", 1, 16, 8, 8, dtype="int32"), t("w", 16, 16, 3, 3, dtype="int32"))


def of_ten_channels() -> Expr:
    return nn.conv2d(t("x", 1, 16, 8, 8), t("w", 10, 16, 3, 3))


def of_unknown_weight() -> Expr:
    x = t("x", 16, 16)
    return nn.dense(x, nn.relu(x))


PACKED = "nn.contrib_conv2d_NCHWc"
LAID_OUT: list[tuple[Callable[[], Expr], list[str]]] = [
    (two_layers, ["layout_transform", "nn.max_pool2d", PACKED, PACKED, "nn.relu"]),
    (of_integers, ["nn.conv2d"]),
    (of_ten_channels, ["nn.conv2d"]),
    (of_unknown_weight, ["nn.dense", "nn.relu"]),
]


@pytest.mark.parametrize(("build", "expected"), LAID_OUT)
def test_what_is_laid_out_in_blocks(build: Callable[[], Expr], expected: list[str]) -> None:
    assert sorted(names(laid_out(build()))) == sorted(expected)
