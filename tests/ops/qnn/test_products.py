"""Products of quantized tensors: against sums of integers written as loops, and against real arithmetic."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import relay
from relay_explorer.ir.expr import Call, Expr, Function, const
from relay_explorer.ir.module import IRModule
from relay_explorer.ops.canonical import canonical_form
from relay_explorer.text import astext
from relay_explorer.transform import FoldConstant
from relay_explorer.typing import infer_types
from tests.ops.qnn.evaluate import program, value
from tests.ops.qnn.generate import Array


def bytes_of(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def test_a_convolution_sums_differences_to_the_zero_points() -> None:
    """Padding counts as zero points, so it adds nothing."""
    random = np.random.default_rng(1)
    x, w = bytes_of(random, (1, 2, 4, 5), "uint8"), bytes_of(random, (3, 2, 2, 3), "int8")
    kernel_zero = np.array([0, -5, 7])
    expected = np.zeros((1, 3, 5, 5), "int64")
    for o, i, j, c, u, v in product(range(3), range(5), range(5), range(2), range(2), range(3)):
        row, column = i + u - 1, j + v - 1
        if 0 <= row < 4 and 0 <= column < 5:
            difference = int(x[0, c, row, column]) - 128
            expected[0, o, i, j] += difference * (int(w[o, c, u, v]) - kernel_zero[o])
    body = relay.qnn.op.conv2d(
        relay.var("x", shape=x.shape, dtype="uint8"),
        relay.var("w", shape=w.shape, dtype="int8"),
        const(128),
        const(kernel_zero, "int32"),
        const(0.1),
        const(0.1),
        kernel_size=(2, 3),
        channels=3,
        padding=(1, 1),
    )
    assert value(body, x, w).tolist() == expected.tolist()


@pytest.mark.parametrize("zero", [300, -1])
def test_padding_counts_as_zero_for_a_zero_point_beyond_the_data(zero: int) -> None:
    x, w = np.full((1, 1, 1, 1), 9, "uint8"), np.ones((1, 1, 3, 3), "int8")
    data, weight = (relay.var(n, shape=a.shape, dtype=str(a.dtype)) for n, a in (("x", x), ("w", w)))
    body = relay.qnn.op.conv2d(
        data, weight, const(zero), const(0), const(0.1), const(0.1), (3, 3), 1, padding=1
    )
    assert value(body, x, w).tolist() == [[[[9 - zero]]]]


def test_real_numbers_are_convolved_to_within_their_rounding() -> None:
    random = np.random.default_rng(4)
    x, w = (
        random.normal(size=(1, 3, 6, 6)).astype("float32"),
        random.normal(size=(4, 3, 3, 3)).astype("float32"),
    )
    data, kernel = relay.var("x", shape=x.shape), relay.var("w", shape=w.shape)
    scales = np.abs(w).max((1, 2, 3)) / 127
    q, k = (
        relay.qnn.op.quantize(data, const(0.03), const(10)),
        relay.qnn.op.quantize(kernel, const(scales.astype("float32")), const(0), axis=0),
    )
    sums = relay.qnn.op.conv2d(
        q, k, const(10), const(0), const(0.03), const(scales.astype("float32")), (3, 3), 4, padding=(1, 1)
    )
    real = relay.qnn.op.dequantize(sums, const((0.03 * scales).astype("float32")), const(0), axis=1)
    exact = value(relay.nn.conv2d(data, kernel, padding=(1, 1), kernel_size=(3, 3), channels=4), x, w)
    assert np.abs(value(real, x, w) - exact).max() < 0.03 * np.abs(exact).max()


def test_sums_wrap_in_the_accumulator() -> None:
    x = np.full((1, 40_000), -32768, "int16")
    w = np.full((1, 40_000), 127, "int8")
    data, weight = relay.var("x", shape=x.shape, dtype="int16"), relay.var("w", shape=w.shape, dtype="int8")

    def sums(zero: int, out_dtype: str) -> int:
        scales = (const(0.1), const(0.1))
        body = relay.qnn.op.dense(data, weight, const(0), const(zero), *scales, 1, out_dtype)
        return int(value(body, x, w)[0, 0])

    exact = -32768 * 127 * 40_000
    assert sums(0, "int64") == exact
    assert sums(0, "int32") == (exact + 2**31) % 2**32 - 2**31
    assert sums(127, "int32") == 0  # although two of its four parts wrap


def form(body: Expr) -> str:
    """Return the lines of the canonical form of a call, after constants are folded."""
    params = relay.analysis.free_vars(body)
    main = infer_types(IRModule.from_expr(Function(params, body)))["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, Call)
    result = canonical_form(main.body)
    assert result is not None
    folded = FoldConstant()(infer_types(IRModule.from_expr(Function(params, result))))
    text = re.sub(r" /\* ty=.*? \*/", "", astext(folded["main"]).split("#[metadata]")[0])
    return "\n".join(text.strip().splitlines()[2:-1])


def dense(zero: int, kernel_zero: int) -> Expr:
    w = const(np.arange(12, dtype="int8").reshape(3, 4))
    x = relay.var("x", shape=(2, 4), dtype="int8")
    result: Expr = relay.qnn.op.dense(x, w, const(zero), const(kernel_zero), const(0.1), const(0.1), 3)
    return result


def test_without_zero_points_it_is_a_plain_product() -> None:
    assert form(dense(0, 0)) == snapshot(
        '  nn.dense(%x, meta[relay.Constant][0], units=3, out_dtype="int32")'
    )


def test_the_zero_point_of_the_data_costs_one_folded_constant() -> None:
    assert form(dense(5, 0)) == snapshot("""\
  %0 = nn.dense(%x, meta[relay.Constant][0], units=3, out_dtype="int32");
  subtract(%0, meta[relay.Constant][1])\
""")


def test_the_zero_point_of_the_weight_needs_sums_of_the_data() -> None:
    assert form(dense(5, 3)) == snapshot("""\
  %0 = cast(%x, dtype="int32");
  %1 = sum(%0, axis=[1], keepdims=True);
  %2 = nn.dense(%x, meta[relay.Constant][0], units=3, out_dtype="int32");
  %3 = multiply(3, %1);
  %4 = subtract(%2, %3);
  add(%4, meta[relay.Constant][1])\
""")


def conv(zero: int, kernel_zero: int, groups: int = 1, padding: int = 1) -> Expr:
    x = relay.var("x", shape=(1, 4, 6, 6), dtype="uint8")
    w = const(np.ones((4, 4 // groups, 3, 3), "int8"))
    parameters = (const(zero), const(kernel_zero), const(0.1), const(0.1))
    result: Expr = relay.qnn.op.conv2d(
        x, w, *parameters, kernel_size=(3, 3), channels=4, groups=groups, padding=padding
    )
    return result


def test_padding_stays_in_a_convolution_whose_zero_point_is_0() -> None:
    assert form(conv(0, 0)) == snapshot(
        "  nn.conv2d(%x, meta[relay.Constant][0], padding=[1, 1, 1, 1], channels=4, kernel_size=[3, "
        '3], out_dtype="int32")'
    )


def test_other_padding_is_filled_with_the_zero_point() -> None:
    assert form(conv(7, 0)) == snapshot(
        "  %0 = nn.pad(%x, 7u8, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);\n"
        "  %1 = nn.conv2d(%0, meta[relay.Constant][0], padding=[0, 0, 0, 0], channels=4, "
        'kernel_size=[3, 3], out_dtype="int32");\n'
        "  subtract(%1, meta[relay.Constant][1])"
    )


def test_windows_are_summed_after_channels() -> None:
    assert form(conv(0, 2)) == snapshot(
        '  %0 = cast(%x, dtype="int32");\n'
        "  %1 = sum(%0, axis=[1], keepdims=True);\n"
        "  %2 = nn.conv2d(%1, meta[relay.Constant][0], padding=[1, 1, 1, 1], channels=1, "
        'kernel_size=[3, 3], out_dtype="int32");\n'
        "  %3 = nn.conv2d(%x, meta[relay.Constant][1], padding=[1, 1, 1, 1], channels=4, "
        'kernel_size=[3, 3], out_dtype="int32");\n'
        "  %4 = multiply(2, %2);\n"
        "  subtract(%3, %4)"
    )


def test_groups_have_their_own_sums() -> None:
    assert form(conv(0, 2, groups=4, padding=0)) == snapshot(
        "  %0 = nn.conv2d(%x, meta[relay.Constant][0], padding=[0, 0, 0, 0], groups=4, channels=4, "
        'kernel_size=[3, 3], out_dtype="int32");\n'
        "  %1 = nn.conv2d(%x, meta[relay.Constant][1], padding=[0, 0, 0, 0], groups=4, channels=4, "
        'kernel_size=[3, 3], out_dtype="int32");\n'
        "  %2 = multiply(2, %0);\n"
        "  subtract(%1, %2)"
    )


def test_blocked_layouts_are_the_compilers() -> None:
    body = relay.qnn.op.conv2d(
        relay.var("x", shape=(1, 1, 6, 6, 4), dtype="uint8"),
        relay.var("w", shape=(4, 4, 3, 3), dtype="int8"),
        const(0), const(0), const(0.1), const(0.1), (3, 3), 4,
        data_layout="NCHW4c",
    )  # fmt: skip
    module = program(body)
    with raises(
        snapshot(
            "RelayError:\n"
            "error: `qnn.conv2d` has no kernel for the layouts NCHW4c, OIHW, NCHW4c\n"
            "help: use layouts without blocks, such as NCHW and OIHW; the compiler chooses blocks by "
            "itself"
        )
    ):
        relay.qnn.transform.CanonicalizeOps()(module)


@pytest.mark.parametrize("zero", [0, 3])
def test_a_dynamic_number_of_summands_is_centered_first(zero: int) -> None:
    n = relay.Any()
    x, y = (relay.var(name, shape=(1, 2, n), dtype="int8") for name in "xy")
    body = relay.qnn.op.batch_matmul(x, y, const(zero), const(1), const(0.1), const(0.1))
    arrays = [np.arange(6, dtype="int8").reshape(1, 2, 3), np.ones((1, 2, 3), "int8")]
    assert value(body, *arrays).tolist() == [[[0, 0], [0, 0]]]
    w = relay.var("w", shape=(1, n), dtype="int8")
    rows = relay.qnn.op.dense(
        relay.var("x", shape=(2, n), dtype="int8"), w, const(zero), const(1), const(0.1), const(0.1), 1
    )
    assert value(rows, arrays[0][0], 2 * arrays[1][0, :1]).tolist() == [[3 - 3 * zero], [12 - 3 * zero]]
