"""Passes on quantized operators: canonical forms, legalization, folding, layouts; and all executors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

import numpy as np
import pytest
from inline_snapshot import snapshot

import relay_explorer
from relay_explorer import relay
from relay_explorer.analysis import list_fake_quantized_op_freqs
from relay_explorer.compat.devices import Target
from relay_explorer.compat.op_attributes import TempOpAttr
from relay_explorer.compat.qnn_legalize import Legalize as LegalizeForTarget
from relay_explorer.ir import Call, Expr, Function, IRModule, Op, TensorType, const, structural_equal
from relay_explorer.ir.recorder import Recorder
from relay_explorer.ir.rewrites import Rewrite
from relay_explorer.ir.walk import post_order
from relay_explorer.transform import (
    ConvertLayout,
    FakeQuantizationToInteger,
    FoldConstant,
    FoldExplicitPadding,
    Legalize,
    Pass,
    PassContext,
    QnnCanonicalizeOps,
    QnnLegalize,
    SimplifyExpr,
)
from relay_explorer.typing import infer_types
from tests.transform.fake_quantized import Region, operators, qnn, run, typed
from tests.transform.golden import check


def after(step: Pass, body: Expr) -> list[str]:
    with PassContext(opt_level=4):
        return operators(infer_types(step(typed(body))))


def layer(data: str = "int8", weight: str = "int8", zero_point: Expr | None = None) -> Call:
    x, w = relay.var("x", shape=(2, 8), dtype=data), relay.var("w", shape=(3, 8), dtype=weight)
    return qnn.dense(x, w, const(3), const(1) if zero_point is None else zero_point, const(0.5), const(0.25))


def network(seed: int) -> tuple[IRModule, list[Anything]]:
    """Return an integer program of two layers, and its inputs."""
    region = Region(seed)
    x = region.convolution(region.image())
    middle = qnn.quantize(relay.nn.relu(x), const(0.05), const(-128))
    pooled = relay.nn.avg_pool2d(qnn.dequantize(middle, const(0.05), const(-128)), (2, 2))
    body = qnn.quantize(pooled, const(0.04), const(-128))
    mod = infer_types(IRModule.from_expr(Function(region.inputs, body)))
    return infer_types(FakeQuantizationToInteger(hard_fail=True)(mod)), region.arrays


# -- canonical forms


@pytest.mark.parametrize("seed", range(10))
def test_canonical_forms_compute_the_same_integers(seed: int) -> None:
    mod, arrays = network(seed)
    plain = infer_types(QnnCanonicalizeOps()(mod))
    assert not [name for name in operators(plain) if name.startswith("qnn.")]
    assert np.array_equal(run(plain, arrays), run(mod, arrays))


def test_a_program_without_quantized_operators_stays_as_it_is() -> None:
    mod = typed(relay.nn.relu(relay.var("x", shape=(3,))))
    assert QnnCanonicalizeOps()(mod) is mod


def test_each_expansion_is_recorded_with_its_operator() -> None:
    with Recorder(Rewrite) as recorder:
        QnnCanonicalizeOps()(typed(layer()))
    assert [event.rule for event in recorder.events] == snapshot(
        ["`qnn.dense` is expanded into plain operators on integers."]
    )


@pytest.mark.parametrize("executor", ["graph", "vm", "aot"])
def test_all_executors_run_quantized_programs(executor: str) -> None:
    mod, arrays = network(1)
    compiled = relay_explorer.build(mod, executor=executor, quiet=True)
    assert np.array_equal(np.asarray(compiled(*arrays)), run(mod, arrays))


# -- legalization


def test_a_registered_function_replaces_quantized_operators_only_in_this_pass() -> None:
    def shifted(attrs: Anything, inputs: Sequence[Expr], types: Sequence[TensorType]) -> Expr:
        assert [type_.dtype for type_ in types] == [
            "int8",
            "int8",
            "int32",
            "int32",
            "float32",
            "float32",
            "int32",
        ]
        return Call(Op.get("qnn.dense"), [relay.add(inputs[0], const(np.int8(1))), *inputs[1:]], attrs)

    with TempOpAttr("qnn.dense", "FTVMQnnLegalize", shifted):
        assert after(Legalize(), layer()) == ["qnn.dense"]
        assert after(QnnLegalize(), layer()) == ["add", "qnn.dense"]


SAPPHIRE = "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids"
OLD_ARM = "llvm -device=arm_cpu -mtriple=aarch64-linux-gnu"
ARM = f"{OLD_ARM} -mattr=+v8.2a,+dotprod"


@pytest.mark.parametrize(
    ("target", "data", "weight", "products"),
    [
        (SAPPHIRE, "uint8", "int8", ["uint8", "int8"]),
        (SAPPHIRE, "int8", "uint8", ["uint8", "int8"]),
        (ARM, "int8", "int8", ["int8", "int8"]),
        (ARM, "uint8", "int8", ["int8", "int8"]),
        (ARM, "int8", "uint8", ["uint8", "uint8"]),
        ("cuda", "uint8", "uint8", ["int8", "int8"]),
        (OLD_ARM, "int8", "uint8", ["int16", "int16"]),
        ("llvm", "uint8", "int8", ["int16", "int16"]),
        ("hexagon", "uint8", "int8", ["uint8", "int8"]),
        ("c", "int8", "int8", ["int8", "int8"]),
    ],
)
@pytest.mark.parametrize("by_channel", [False, True])
def test_old_targets_choose_the_types_of_products(
    target: str, data: str, weight: str, products: list[str], by_channel: bool
) -> None:
    mod = typed(layer(data, weight, const([1, 0, 5]) if by_channel else None))
    with Target(target):
        result = infer_types(LegalizeForTarget()(mod))
    product = next(
        node
        for node in post_order(result["main"])
        if isinstance(node, Call) and isinstance(node.op, Op) and node.op.name.endswith("dense")
    )
    types = [arg.checked_type for arg in product.args[:2]]
    assert [type_.dtype for type_ in types if isinstance(type_, TensorType)] == products
    random = np.random.default_rng(0)
    arrays = [random.integers(-100, 100, (n, 8)).astype(dtype) for n, dtype in ((2, data), (3, weight))]
    assert np.array_equal(run(result, arrays), run(mod, arrays))


def test_without_a_target_nothing_is_legalized() -> None:
    mod = typed(layer())
    assert structural_equal(LegalizeForTarget()(mod), mod)


# -- folding and simplification


def test_quantized_constants_are_folded_on_request() -> None:
    body = relay.add(
        qnn.quantize(const([1.0, 2.0]), const(0.5), const(0)), relay.var("x", shape=(2,), dtype="int8")
    )
    assert after(FoldConstant(), body) == ["qnn.quantize", "add"]
    assert after(FoldConstant(fold_qnn=True), body) == ["add"]


@pytest.mark.parametrize(("value", "left"), [(3, []), (0, ["nn.pad"])])
def test_padding_by_the_zero_point_is_folded(value: int, left: list[str]) -> None:
    x, w = relay.var("x", shape=(1, 2, 4, 4), dtype="int8"), relay.var("w", shape=(2, 2, 3, 3), dtype="int8")
    padded = relay.nn.pad(x, ((0, 0), (0, 0), (1, 1), (1, 0)), np.int8(value))
    body = qnn.conv2d(padded, w, const(3), const(0), const(1.0), const(1.0), kernel_size=(3, 3), channels=2)
    assert after(FoldExplicitPadding(), body) == [*left, "qnn.conv2d"]


@pytest.mark.parametrize(
    ("dtype", "scale", "left"),
    [
        ("int8", 0.5, []),
        ("int8", -0.5, ["qnn.dequantize"]),
        ("int8", 0.0, ["qnn.dequantize"]),
        ("int8", float("nan"), ["qnn.dequantize"]),
        ("int32", 0.5, ["qnn.dequantize"]),  # 2 ** 24 and 2 ** 24 + 1 are equal as float32 numbers
    ],
)
@pytest.mark.parametrize("compare", [relay.argmax, relay.argmin, relay.argsort])
def test_the_greatest_number_is_the_greatest_integer(
    compare: Anything, dtype: str, scale: float, left: list[str]
) -> None:
    x = relay.var("x", shape=(2, 4), dtype=dtype)
    body = compare(qnn.dequantize(x, const(scale), const(3)), axis=1)
    assert after(SimplifyExpr(), body)[:-1] == left


# -- layouts and analysis


def test_quantized_layers_change_their_layout() -> None:
    check(
        ConvertLayout({"qnn.conv2d": ["NCHW", "default"]}),
        """
        def @main(%x: Tensor[(1, 6, 6, 4), uint8], %w: Tensor[(3, 3, 4, 2), int8], %s: Tensor[(2), float32]) {
          %0 = qnn.conv2d(%x, %w, 3, 0, 1f, %s, padding=[0, 0, 0, 0], channels=2, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
          %1 = qnn.requantize(%0, %s, 0, 2f, 0, axis=3, out_dtype="uint8");
          nn.relu(%1)
        }
        """,  # noqa: E501
        """
        def @main(%x: Tensor[(1, 6, 6, 4), uint8], %w: Tensor[(3, 3, 4, 2), int8], %s: Tensor[(2), float32]) -> Tensor[(1, 4, 4, 2), uint8] {
          %0 = layout_transform(%x, src_layout="NHWC", dst_layout="NCHW");
          %1 = layout_transform(%w, src_layout="HWIO", dst_layout="OIHW");
          %2 = qnn.conv2d(%0, %1, 3, 0, 1f, %s, padding=[0, 0, 0, 0], channels=2, kernel_size=[3, 3], out_dtype="int32");
          %3 = qnn.requantize(%2, %s, 0, 2f, 0, axis=1, out_dtype="uint8");
          %4 = nn.relu(%3);
          layout_transform(%4, src_layout="NCHW", dst_layout="NHWC")
        }
        """,  # noqa: E501
    )


def test_operators_of_fake_quantized_regions_are_counted() -> None:
    x = qnn.dequantize(relay.var("x", shape=(2, 8), dtype="int8"), const(0.5), const(0))
    w = qnn.dequantize(relay.var("w", shape=(3, 8), dtype="int8"), const(0.5), const(0))
    shared = relay.nn.relu(relay.nn.dense(x, w))
    ends = [qnn.quantize(shared, const(0.5), const(0)), qnn.quantize(relay.exp(shared), const(0.1), const(0))]
    outside = relay.tanh(qnn.dequantize(ends[0], const(0.5), const(0)))
    float_input = qnn.quantize(relay.add(shared, relay.var("f", shape=(3,))), const(0.5), const(0))
    mod = typed(relay.Tuple([*ends, outside, float_input]))
    assert list_fake_quantized_op_freqs(mod) == {"nn.dense": 1, "nn.relu": 1, "exp": 1}
