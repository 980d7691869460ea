"""FakeQuantizationToInteger: what stays float, and why; its options; and rules that a user registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer import relay
from relay_explorer.ir import Call, Expr, Function, IRModule, Op, RelayError, const, structural_equal
from relay_explorer.ir.affine_type import TensorAffineType
from relay_explorer.ir.errors import PassOptionError
from relay_explorer.ir.recorder import Recorder
from relay_explorer.ir.rewrites import Rewrite
from relay_explorer.transform import FakeQuantizationToInteger, ToGraphNormalForm
from relay_explorer.transform.fake_quantization import (
    AffineTypes,
    fake_quantized_regions,
    register_fake_quantization_to_integer,
)
from relay_explorer.typing import infer_types
from tests.transform.fake_quantized import (
    image,
    integer,
    main,
    operators,
    qnn,
    quantized,
    reason,
    run,
    typed,
)

Build = Callable[[Expr], Expr]


# -- what stays float


def test_the_report_names_the_operator_and_the_reason() -> None:
    body = quantized(relay.nn.softmax(relay.nn.relu(image())))
    mod = typed(body)
    assert structural_equal(integer(mod), mod)
    (region,) = fake_quantized_regions(mod)
    assert str(region) == snapshot("nn.relu, nn.softmax: float, because `nn.softmax` has no integer form")
    assert isinstance(region.culprit, Call)
    assert region.culprit.op is Op.get("nn.softmax")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (relay.add(image(), relay.var("f", shape=(1,))), snapshot("`%f` is not quantized")),
        (
            relay.tanh(relay.nn.avg_pool2d(image(zero=0), (2, 2))) * const(2.0),
            snapshot("the range of the result of `tanh` is not known where it is computed"),
        ),
        (relay.nn.relu(image(scale=0.0)), snapshot("a scale is 0, which is not a positive number")),
        (
            relay.nn.relu(image(scale=float("nan"))),
            snapshot("a scale is nan, which is not a positive number"),
        ),
        (
            relay.nn.relu(image(scale=float("inf"))),
            snapshot("a scale is inf, which is not a positive number"),
        ),
        (relay.nn.relu(image(scale=-1.0)), snapshot("a scale is -1, which is not a positive number")),
        (relay.maximum(image(dtype="int16"), const(float("nan"))), snapshot("the constant is NaN")),
        (
            relay.nn.conv2d(image(scale=1e-25), image(scale=1e-25, name="w"), kernel_size=(6, 6)),
            snapshot(
                "a scale is 0, which is not a positive number: the product of the scales of data and weight"
            ),
        ),
        (
            relay.multiply(image(dtype="int16"), const(0.0)),
            snapshot("`multiply` multiplies by 0, which leaves no scale"),
        ),
        (
            relay.nn.dense(
                qnn.dequantize(relay.var("x", shape=(2, 8), dtype="int16"), const(1.0), const(0)),
                qnn.dequantize(relay.var("w", shape=(2, 8), dtype="int8"), const(1.0), const(0)),
            ),
            snapshot("the data of `nn.dense` is int16, wider than 8 bits"),
        ),
    ],
)
def test_what_cannot_be_computed_with_integers_stays_float(body: Expr, message: str) -> None:
    assert reason(quantized(body)) == message


@pytest.mark.parametrize("by_channel", [False, True])
def test_scales_that_the_program_computes_serve_for_products(by_channel: bool) -> None:
    """Dynamic quantization: the scale of the data follows from its range."""
    x = relay.var("x", shape=(2, 8))
    scale = relay.divide(relay.max(relay.abs(x)), const(127.0))
    data = qnn.dequantize(qnn.quantize(x, scale, const(0)), scale, const(0))
    weight = relay.var("w", shape=(3, 8), dtype="int8")
    scales = const([0.5, 0.25, 0.125]) if by_channel else const(0.5)
    mod = typed(relay.nn.dense(data, qnn.dequantize(weight, scales, const(0), 0)))
    converted = integer(mod, use_qat=True)
    assert "qnn.dense" in operators(converted)
    random = np.random.default_rng(0)
    values = [random.normal(size=(2, 8)).astype("float32"), random.integers(-128, 128, (3, 8)).astype("int8")]
    assert np.allclose(run(converted, values), run(mod, values), rtol=1e-5)


def test_a_comparison_needs_a_scale_that_is_known_to_be_positive() -> None:
    computed = relay.var("s", shape=())
    body = quantized(
        relay.nn.relu(
            relay.transpose(qnn.dequantize(relay.var("x", shape=(2, 2), dtype="int8"), computed, const(0)))
        )
    )
    assert reason(body) == snapshot("a scale is computed by the program")


def test_a_let_ends_a_region() -> None:
    x = relay.var("x", shape=(4,), dtype="int8")
    v = relay.var("v")
    inner = qnn.dequantize(x, const(0.5), const(0))
    other = qnn.dequantize(x, const(0.25), const(0))
    body = relay.Let(v, inner, quantized(relay.add(other, relay.nn.relu(v))))
    mod = infer_types(IRModule.from_expr(Function([x], body)))
    assert structural_equal(integer(mod), mod)
    assert fake_quantized_regions(mod)[0].reason == snapshot(
        "`%v` is bound by a `let`: apply ToGraphNormalForm first"
    )
    assert operators(integer(infer_types(ToGraphNormalForm()(mod)))) == ["maximum", "qnn.add"]


def test_hard_fail_is_an_error_that_says_why() -> None:
    with pytest.raises(RelayError) as problem:
        integer(typed(quantized(relay.nn.softmax(image()))), hard_fail=True)
    assert problem.value.message == snapshot(
        "a fake-quantized region cannot be computed with integers: `nn.softmax` has no integer form"
    )


def test_quantizing_a_float_value_is_no_region() -> None:
    mod = typed(quantized(relay.nn.relu(relay.var("f", shape=(4,)))))
    assert fake_quantized_regions(mod) == []
    integer(mod, hard_fail=True)


# -- options and rules


def test_an_optional_operator_is_converted_on_request() -> None:
    x = qnn.dequantize(relay.var("x", shape=(5, 10), dtype="int8"), const(0.1), const(0))
    mod = typed(quantized(relay.nn.softmax(x, axis=1), 1 / 256, -128))
    assert operators(integer(mod)) == ["qnn.dequantize", "nn.softmax", "qnn.quantize"]
    assert operators(integer(mod, optional_qnn_ops=["nn.softmax"])) == ["qnn.softmax"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"optional_qnn_ops": ["nn.softmux"]},
            snapshot("FakeQuantizationToInteger: there is no operator called `nn.softmux`"),
        ),
        (
            {"rounding": "UP"},
            snapshot(
                "FakeQuantizationToInteger: the option `rounding` must be one of 'None', 'UPWARD', "
                "'TONEAREST', 'TOEVEN', not 'UP' (type str)"
            ),
        ),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Anything], message: str) -> None:
    with pytest.raises(PassOptionError) as problem:
        FakeQuantizationToInteger(**options)
    assert problem.value.message == message


def test_with_use_qat_layers_are_converted_one_at_a_time() -> None:
    data = qnn.dequantize(relay.var("x", shape=(2, 8), dtype="int8"), const(0.5), const(1))
    weight = qnn.dequantize(relay.var("w", shape=(3, 8), dtype="int8"), const(0.5), const(0))
    mod = typed(relay.nn.softmax(relay.nn.dense(relay.nn.relu(data), weight)))
    assert structural_equal(integer(mod), mod)
    converted = integer(mod, use_qat=True)
    assert main(converted) == snapshot("""\
%0 = maximum(%x, 1i8);
%1 = qnn.dense(%0, %w, 1, 0, 0.5f, 0.5f, out_dtype="int32");
%2 = qnn.dequantize(%1, 0.25f, 0, axis=1, out_dtype="float32");
nn.softmax(%2)\
""")
    values = [np.arange(16).reshape(2, 8).astype("int8"), np.arange(24).reshape(3, 8).astype("int8")]
    assert np.array_equal(run(converted, values), run(mod, values))


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: relay.mean(x, axis=(2, 3)), ["cast", "subtract", "sum", "squeeze", "qnn.dequantize"]),
        (
            lambda x: relay.nn.avg_pool2d(x, (2, 2)),
            ["qnn.dequantize", "nn.avg_pool2d"],
        ),  # it would be rounded
        (lambda x: relay.add(x, const(0.7)), ["qnn.dequantize", "add"]),  # int32 would not be faster
        (lambda x: relay.clip(x, 0.0, 2.0), ["clip", "qnn.dequantize"]),
        (lambda x: relay.tanh(x), ["qnn.dequantize", "tanh"]),
        (lambda x: relay.concatenate([x, image(name="y")], 1), ["concatenate", "qnn.dequantize"]),
    ],
)
def test_with_use_qat_only_what_stays_exact_is_converted(build: Build, expected: list[str]) -> None:
    mod = typed(build(image()))
    converted = integer(mod, use_qat=True)
    assert operators(converted) == expected
    random = np.random.default_rng(0)
    values = [random.integers(-128, 128, (1, 4, 6, 6)).astype("int8") for _ in mod["main"].params]
    assert np.allclose(run(converted, values), run(mod, values), rtol=1e-5, atol=1e-6)


def test_a_registered_rule_replaces_the_own_one() -> None:
    def doubled(call: Call, types: AffineTypes) -> list[Anything]:
        type_ = types.tensor(call.args[0])
        return [relay.add(*call.args * 2), TensorAffineType(type_.scale, const(6), "int8")]

    op = Op.get("nn.relu")
    register_fake_quantization_to_integer("nn.relu", doubled)
    try:
        mod = typed(quantized(relay.nn.relu(image())))
        assert operators(integer(mod)) == ["add", "qnn.requantize"]
    finally:
        op.reset_attr("FTVMFakeQuantizationToInteger")


def test_a_rule_that_fails_leaves_the_region() -> None:
    def refuses(call: Call, types: AffineTypes) -> list[Anything]:
        raise NotImplementedError("not on Sundays")

    op = Op.get("nn.relu")
    register_fake_quantization_to_integer("nn.relu", refuses)
    try:
        assert reason(quantized(relay.nn.relu(image()))) == snapshot(
            "the rule of `nn.relu` failed: not on Sundays"
        )
    finally:
        op.reset_attr("FTVMFakeQuantizationToInteger")


def test_every_conversion_is_recorded() -> None:
    mod = typed(quantized(relay.nn.max_pool2d(relay.add(image(), image(name="y")), (2, 2))))
    with Recorder(Rewrite) as recorder:
        FakeQuantizationToInteger()(mod)
    assert [event.rule for event in recorder.events] == snapshot(
        [
            "Add integers of one scale.",
            "Select elements among the integers, as among the numbers that they stand for.",
            "What is quantized is an integer already; it is requantized where the scales differ.",
        ]
    )
