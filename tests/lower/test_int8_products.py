"""Products of small integers: with a processor's dot instruction, in every layout, they are exactly what the
reference implementations compute, and the instruction is in the code.
"""

from __future__ import annotations

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
from relay_explorer.lower.inspect.replay import replay
from relay_explorer.lower.prepare import prepared
from relay_explorer.lower.schedules import Scheduled
from relay_explorer.lower.targets.target import Target
from relay_explorer.typing import infer_types
from relay_explorer.views.lowering.sentences import told, why

nn = relay.nn
Pair = tuple[str, str]
PAIRS: list[Pair] = [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8"), ("int8", "uint8")]
HASWELL = {"kind": "llvm", "mcpu": "haswell"}


def extreme(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    """Return integers of which many are the least or the greatest of their type."""
    rng = np.random.default_rng(seed)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = rng.integers(least, most + 1, shape)
    kinds = rng.integers(0, 4, shape)
    return np.where(kinds == 0, least, np.where(kinds == 1, most, values)).astype(dtype)


def image(channels: int, size: int, dtype: str, batch: int = 1) -> Var:
    return relay.var("x", shape=(batch, channels, size, size), dtype=dtype)


def conv(x: Expr, dtype: str, shape: tuple[int, ...], **attrs: Any) -> Call:
    weight = relay.const(extreme(shape, dtype, 1))
    attrs = {"channels": shape[0], "kernel_size": shape[2:], "out_dtype": "int32", **attrs}
    return nn.conv2d(x, weight, **attrs)


def requantized(sums: Expr, channels: int, dtype: str, scale: float = 1e-3) -> Expr:
    """Scale, round and saturate 32-bit sums, as a quantized layer does."""
    rng = np.random.default_rng(2)
    bias = relay.const(rng.integers(-99, 99, (channels, 1, 1)).astype("int32"))
    factors = relay.const((rng.random((channels, 1, 1)) * scale).astype("float32"))
    least, most = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
    product = relay.cast(sums + bias, "float32") * factors
    return relay.cast(relay.round(relay.clip(product, least, most)), dtype)


def padded(x: Expr, value: int, dtype: str, *sides: int) -> Call:
    top, left, bottom, right = sides if len(sides) == 4 else sides * 4
    widths = ((0, 0), (0, 0), (top, bottom), (left, right))
    return nn.pad(x, widths, pad_value=relay.const(np.array(value, dtype)))


def function(body: Expr) -> IRModule:
    params = [node for node in post_order(body) if isinstance(node, Var)]
    return infer_types(IRModule.from_expr(Function(params, body)))


def check(body: Expr, target: object = "cpu") -> list[str]:
    """Run a program compiled and interpreted: the results are the same bits. Return the schedules' rules."""
    module = function(body)
    inputs = [
        extreme(p.checked_type.concrete_shape, p.checked_type.dtype, n)  # type: ignore[attr-defined]
        for n, p in enumerate(module["main"].params)
    ]
    expected = Interpreter(module).call("main", inputs)
    exe = relay_explorer.build(module, target=target, quiet=True)
    result = exe(*inputs)
    assert np.array_equal(np.asarray(result), np.asarray(expected))
    return [kernel.rule for kernel in exe.kernels]


def kernel_of(body: Expr, name: str, target: object = "cpu") -> tuple[Scheduled, str]:
    """Return the schedule and the assembly of the kernel that contains the operator `name`."""
    where = Target.of(target)
    main = prepared(function(body), where, 3)["main"]
    kernels = [node for node in post_order(main.body) if isinstance(node, Function)]
    (kernel,) = [k for k in kernels if any(node is Op.get(name) for node in post_order(k.body))]
    output = scheduled(kernel, "kernel", where)
    return output, str(generated(output).mod.inspect_source("s"))


# input channels, output channels, rows and columns, kernel, stride, padding, dilation, groups, batch
CONVOLUTIONS = [
    (16, 16, 7, 3, 1, 1, 1, 1, 1),
    (3, 16, 13, 7, 2, 3, 1, 1, 1),  # three channels become four
    (32, 48, 9, 1, 1, 0, 1, 1, 2),
    (32, 32, 11, 3, 2, 1, 1, 1, 1),
    (24, 40, 6, 3, 1, 1, 1, 1, 1),  # not a multiple of 16
    (6, 10, 5, 3, 1, 0, 1, 1, 1),  # not a multiple of 4
    (16, 17, 5, 1, 1, 0, 1, 1, 1),
    (16, 32, 10, 3, 1, 2, 2, 1, 1),
    (32, 32, 6, 3, 1, 1, 1, 2, 1),
    (64, 64, 5, 3, 1, 1, 1, 16, 1),
    (16, 64, 23, 3, 1, 1, 1, 1, 1),  # 23 columns, which no tile divides
]


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions_are_exact(case: tuple[int, ...]) -> None:
    inputs, outputs, size, kernel, stride, padding, dilation, groups, batch = case
    for data, weight in PAIRS[:2] if size > 12 else PAIRS[size % 2 :: 2]:
        x = image(inputs, size, data, batch)
        shape = (outputs, inputs // groups, kernel, kernel)
        body = conv(
            x, weight, shape, strides=(stride,) * 2, padding=(padding,) * 2, dilation=(dilation,) * 2,
            groups=groups,
        )  # fmt: skip
        assert "int8_blocked" in check(body)


@pytest.mark.parametrize("target", [HASWELL, {"kind": "llvm", "mcpu": "skylake-avx512"}])
@pytest.mark.parametrize("case", [CONVOLUTIONS[0], CONVOLUTIONS[1], CONVOLUTIONS[4], CONVOLUTIONS[8]])
def test_pairs_of_16_bits_are_exact(case: tuple[int, ...], target: object) -> None:
    """Without an instruction for bytes, every combination of signs multiplies as pairs of 16-bit integers."""
    inputs, outputs, size, kernel, stride, padding, _, groups, batch = case
    for data, weight in PAIRS[1:3]:
        shape = (outputs, inputs // groups, kernel, kernel)
        x = image(inputs, size, data, batch)
        body = conv(x, weight, shape, strides=(stride,) * 2, padding=(padding,) * 2, groups=groups)
        assert "int8_blocked" in check(body, target)


@pytest.mark.parametrize("pair", PAIRS)
def test_depthwise_convolutions_are_exact(pair: Pair) -> None:
    data, weight = pair
    for channels, stride, kernel in ((32, 1, 3), (24, 2, 3), (16, 1, 5)):
        x = padded(image(channels, 9, data), 5, data, 1)
        body = conv(x, weight, (channels, 1, kernel, kernel), strides=(stride,) * 2, groups=channels)
        rules = check(requantized(body, channels, data))
        assert {"depthwise", "int8_depthwise"} & {*rules}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_padding_is_a_zero_point(pair: Pair) -> None:
    """An nn.pad by the data's zero point becomes part of the convolution, shifted with the data."""
    data, weight = pair
    x = padded(image(16, 7, data), 77, data, 2, 1, 0, 3)
    body = conv(x, weight, (32, 16, 3, 3))
    check(body)
    main = prepared(function(body), Target.of({"kind": "llvm", "mcpu": "cascadelake"}), 3)["main"]
    calls = [node for node in post_order(main) if isinstance(node, Call) and isinstance(node.op, Op)]
    assert "nn.pad" not in [call.op.name for call in calls if isinstance(call.op, Op)]
    (layer,) = [call for call in calls if call.op is Op.get("nn.contrib_conv2d_NCHWc")]
    assert layer.attrs is not None
    shifted = pair == ("int8", "int8")
    wide = weight == "uint8"
    assert layer.attrs["pad_value"] == 77 + 128 * shifted
    assert layer.attrs["kernel_layout"] == ("OIHW16o2i" if wide else "OIHW16o4i")
    assert list(layer.attrs["padding"]) == [2, 1, 0, 3]


@pytest.mark.parametrize(
    "shape", [(1, 64, 32), (7, 48, 80), (1, 30, 10), (37, 129, 70), (2, 4, 16), (33, 5, 3)]
)
def test_dense_is_exact(shape: tuple[int, int, int]) -> None:
    rows, features, units = shape
    for data, weight in PAIRS:
        x = relay.var("x", shape=(rows, features), dtype=data)
        check(nn.dense(x, relay.const(extreme((units, features), weight, 3)), out_dtype="int32"))


@pytest.mark.parametrize("shape", [(2, 5, 6, 8), (1, 1, 64, 64), (3, 17, 32, 48), (2, 5, 7, 9), (2, 4, 8, 6)])
def test_products_of_computed_matrices_are_exact(shape: tuple[int, int, int, int]) -> None:
    batch, rows, inner, columns = shape
    for number, (left, right) in enumerate(PAIRS):
        transposed = number % 2 == 0
        x = relay.var("x", shape=(batch, rows, inner), dtype=left)
        y = relay.var(
            "y", shape=(batch, *((columns, inner) if transposed else (inner, columns))), dtype=right
        )
        rules = check(nn.batch_matmul(x, y, out_dtype="int32", transpose_b=transposed))
        assert ("int8_batch" in rules) == (columns % 4 == 0 and inner % 2 == 0)


@pytest.mark.parametrize(("data", "weight"), PAIRS)
def test_a_network_is_exact(data: str, weight: str) -> None:
    """Layers in a row, a residual connection, a depthwise layer, pools: every kernel agrees with the next."""
    x = image(3, 14, data)
    first = requantized(conv(padded(x, 3, data, 1), weight, (24, 3, 3, 3)), 24, data)
    second = requantized(conv(padded(first, 3, data, 1), weight, (24, 24, 3, 3)), 24, data)
    total = relay.cast(first, "int32") + relay.cast(second, "int32")
    least, most = float(np.iinfo(data).min), float(np.iinfo(data).max)
    joined = relay.cast(relay.clip(total, least, most), data)
    apart = requantized(
        conv(joined, weight, (24, 1, 3, 3), groups=24, strides=(2, 2), padding=(1, 1)), 24, data, 1e-2
    )
    last = requantized(conv(apart, weight, (40, 24, 1, 1)), 40, data)
    pooled = nn.max_pool2d(last, (2, 2), strides=(2, 2))
    rules = check(relay.cast(pooled, "float32") + relay.const(0.5))
    assert rules.count("int8_blocked") == 3


def test_a_value_is_shifted_once_where_it_is_computed() -> None:
    """Two convolutions read the shifted value; the addition that also reads it shifts it back."""
    x = image(16, 8, "int8")
    first = requantized(conv(x, "int8", (16, 16, 1, 1)), 16, "int8")
    left, right = (
        requantized(conv(first, "int8", (16, 16, k, k), padding=(k // 2,) * 2), 16, "int8") for k in (1, 3)
    )
    body = relay.cast(left, "int32") + relay.cast(right, "int32") + relay.cast(first, "int32")
    check(body)
    main = prepared(function(body), Target.of({"kind": "llvm", "mcpu": "cascadelake"}), 3)["main"]
    flips = [node for node in post_order(main) if isinstance(node, Call) and node.op is Op.get("bitwise_xor")]
    inputs = [p for p in main.params if p in {node for flip in flips for node in post_order(flip)}]
    assert len(flips) == 3  # of the program's input, of `first`, and back
    assert not inputs  # all of them are inside kernels


def test_integers_between_kernels_are_narrow() -> None:
    """A clipped sum that a convolution reads as uint8, and an addition as int32, is stored as uint8."""
    first = requantized(conv(image(16, 8, "uint8"), "int8", (16, 16, 1, 1)), 16, "uint8")
    second = requantized(conv(first, "int8", (16, 16, 1, 1)), 16, "uint8")
    total = relay.cast(first, "int32") + relay.cast(second, "int32")
    narrow = relay.cast(relay.clip(total, 0.0, 255.0), "uint8")
    after = requantized(conv(narrow, "int8", (16, 16, 1, 1)), 16, "uint8")
    last = relay.cast(after, "int32") + relay.cast(narrow, "int32")
    body = relay.cast(relay.clip(last, 0.0, 255.0), "uint8")
    check(body)
    main = prepared(function(body), Target.of("cpu"), 3)["main"]
    kernels = [node for node in post_order(main.body) if isinstance(node, Function)]
    layers = [k for k in kernels if Op.get("nn.contrib_conv2d_NCHWc") in post_order(k.body)]
    assert [as_tensor_type(layer.body).dtype for layer in layers] == ["uint8"] * 3


# processor, dot instruction, the form of its vectors
PROCESSORS = [
    ("cascadelake", "vpdpbusd", "zmm"),
    ("znver4", "vpdpbusd", "zmm"),
    ("alderlake", "vpdpbusd", "ymm"),
    ("skylake-avx512", "vpmaddwd", "zmm"),
    ("haswell", "vpmaddwd", "ymm"),
    ("nehalem", "pmaddwd", "xmm"),
]


@pytest.mark.parametrize(("processor", "instruction", "vector"), PROCESSORS)
def test_the_code_has_the_dot_instruction(processor: str, instruction: str, vector: str) -> None:
    """With accumulators in registers: the inner loop stores nothing."""
    target = {"kind": "llvm", "mcpu": processor}
    x = image(32, 8, "uint8")
    output, assembly = kernel_of(conv(x, "int8", (64, 32, 1, 1)), "nn.contrib_conv2d_NCHWc", target)
    assert output.rule == "int8_blocked"
    assert output.candidates[0].why.startswith(f"{instruction.removeprefix('v').join(['v', ''])}: ")
    lines = [
        line for line in assembly.splitlines() if f"\t{instruction}\t" in line or f"{instruction}\t" in line
    ]
    assert lines
    assert all(f"%{vector}" in line for line in lines)
    tile = output.choice["channels"] * output.choice["columns"]
    assert len(lines) >= tile


def test_a_dense_kernel_names_its_instruction() -> None:
    x = relay.var("x", shape=(8, 64), dtype="uint8")
    weight = relay.const(extreme((64, 64), "int8", 1))
    target = {"kind": "llvm", "mcpu": "cascadelake"}
    output, assembly = kernel_of(nn.dense(x, weight, out_dtype="int32"), "nn.contrib_dense_pack", target)
    assert output.rule == "int8_dense"
    assert output.candidates[0].why == (
        "vpdpbusd: 4 products of uint8 and int8 per lane; 4 × 4 accumulators in registers"
    )
    assert "vpdpbusd" in assembly


def test_the_lowering_explorer_shows_the_instruction() -> None:
    x = image(32, 8, "uint8")
    target = {"kind": "llvm", "mcpu": "cascadelake"}
    output, _ = kernel_of(conv(x, "int8", (32, 32, 1, 1)), "nn.contrib_conv2d_NCHWc", target)
    _, _, primitives = replay(output)
    (dot,) = [primitive for primitive in primitives if primitive.kind == "Dot"]
    text, loop, name = told(dot)
    assert text == "The loop {0}, with the vector around it, becomes one **dot instruction**, {1}."
    assert (loop, name) == (dot.loops[0][0], "vpdpbusd")
    assert why(dot)


def test_requantization_takes_few_instructions() -> None:
    """The result is scaled, rounded and narrowed by vector instructions, without a branch for NaN."""
    x = image(32, 8, "uint8")
    body = requantized(conv(x, "int8", (32, 32, 1, 1)), 32, "uint8")
    target = {"kind": "llvm", "mcpu": "cascadelake"}
    _, assembly = kernel_of(body, "nn.contrib_conv2d_NCHWc", target)
    for instruction in ("vcvtdq2ps", "vmaxps", "vminps", "vrndscaleps", "vcvttps2dq", "vpmovdb"):
        assert instruction in assembly, instruction
    assert "vcmpunordps" not in assembly


def test_the_padding_is_copied_in_vectors() -> None:
    """A block of 16 channels is one vector of bytes, although a register holds 64."""
    x = image(32, 8, "uint8")
    target = {"kind": "llvm", "mcpu": "cascadelake"}
    output, _ = kernel_of(conv(x, "int8", (32, 32, 3, 3), padding=(1, 1)), "nn.contrib_conv2d_NCHWc", target)
    loops, _, block = output.mod.script().partition('with T.sblock("nn_contrib_conv2d_NCHWc_pad")')
    assert block
    assert loops.rstrip().splitlines()[-1].strip().endswith("in T.vectorized(16):")


@pytest.mark.parametrize(("before", "after"), [("uint8", "int8"), ("int8", "uint8"), ("uint16", "int16")])
def test_a_cast_between_signs_wraps(before: str, after: str) -> None:
    """TVM's simplifier assumes that a cast keeps bounds, so it would remove a clip that is needed."""
    x = relay.var("x", shape=(64,), dtype=before)
    y = relay.var("y", shape=(64,), dtype=after)
    total = relay.cast(relay.cast(x, after), "int32") + relay.cast(y, "int32")
    least, most = float(np.iinfo(after).min), float(np.iinfo(after).max)
    check(relay.cast(relay.clip(total, least, most), after))


def test_a_clip_keeps_nan() -> None:
    x = relay.var("x", shape=(5,))
    exe = relay_explorer.build(function(relay.clip(x, -1.0, 2.0)), quiet=True)
    values = np.array([np.nan, -np.inf, np.inf, 0.5, -1.0], "float32")
    assert np.array_equal(np.asarray(exe(values)), np.clip(values, -1, 2), equal_nan=True)
