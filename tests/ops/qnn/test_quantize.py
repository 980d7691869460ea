"""Between real numbers and integers: rounding, saturation, NaN; simulations and their gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Expr, Function, const
from relay_explorer.ir.module import IRModule
from relay_explorer.transform import gradient
from relay_explorer.typing import infer_types
from tests.ops.qnn.evaluate import value
from tests.ops.qnn.generate import Array

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32")


def quantized(x: Array, scale: object, zero: object, dtype: str = "int8", axis: int = -1) -> Array:
    data = relay.var("x", shape=x.shape)
    scales, zeros = const(np.asarray(scale, "float32")), const(np.asarray(zero, "int32"))
    return value(relay.qnn.op.quantize(data, scales, zeros, axis, dtype), x)


def test_ties_go_to_the_even_integer() -> None:
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], "float32")
    assert quantized(x, 1.0, 0).tolist() == [-2, -2, 0, 0, 2, 2]
    assert quantized(x, 1.0, 1).tolist() == [-1, -1, 1, 1, 3, 3]  # before the zero point is added


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_beyond_the_range_saturate_and_nan_is_the_zero_point(dtype: str) -> None:
    x = np.array([math.nan, math.inf, -math.inf, 3e38, -3e38], "float32")
    limits = np.iinfo(dtype)
    # the largest float32 below 2³¹ is 2³¹ − 128
    most = limits.max - 127 if dtype == "int32" else limits.max
    assert quantized(x, 0.1, 0, dtype).tolist() == [0, most, limits.min, most, limits.min]
    if dtype != "int32":
        assert quantized(x, 0.1, 5, dtype).tolist() == [5, limits.max, limits.min, limits.max, limits.min]


def test_nan_is_the_end_of_the_range_where_the_zero_point_lies_beyond_it() -> None:
    x = relay.var("x", shape=(2,))
    for dtype, zero, expected in (("uint16", -300, 0), ("int8", 200, 127), ("uint8", -7, 0)):
        call = relay.qnn.op.quantize(x, const(0.5), const(zero), out_dtype=dtype)
        module = infer_types(IRModule.from_expr(Function([x], call)))
        plain = infer_types(relay.qnn.transform.CanonicalizeOps()(module))
        for each in (module, plain):
            values = Interpreter(each).call("main", [np.asarray([np.nan, 0], "float32")])
            assert values.tolist() == [expected] * 2


def test_a_computed_scale_of_zero_saturates() -> None:
    """A program that derives the scale from its data may find a range of zero."""
    x = relay.var("x", shape=(4,))
    scale = relay.max(relay.abs(relay.var("y", shape=(4,))))
    body = relay.qnn.op.quantize(x, scale, const(7))
    found = value(body, np.array([0, 1, -1, math.nan], "float32"), np.zeros(4, "float32"))
    assert found.tolist() == [7, 127, -128, 7]


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_a_constant_that_is_no_scale_is_refused(scale: float) -> None:
    x = relay.var("x", shape=(2,))
    module = infer_types(IRModule.from_expr(Function([x], relay.qnn.op.quantize(x, const(scale), const(0)))))
    with pytest.raises(Exception, match=f"the scale of the result is {scale:g}, but must be positive"):
        relay.qnn.transform.CanonicalizeOps()(module)


def test_channels_have_their_own_scales() -> None:
    x = np.array([[1, 2], [3, 4]], "float32")
    assert quantized(x, [1.0, 0.5], [0, 1], axis=1).tolist() == [[1, 5], [3, 9]]
    assert quantized(x, [1.0, 0.5], 1, axis=0).tolist() == [[2, 3], [7, 9]]


def dequantized(x: Array, scale: object, zero: object, axis: int = -1, dtype: str = "float32") -> Array:
    data = relay.var("x", shape=x.shape, dtype=str(x.dtype))
    scales, zeros = const(np.asarray(scale, "float32")), const(np.asarray(zero, "int32"))
    return value(relay.qnn.op.dequantize(data, scales, zeros, axis, dtype), x)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quantization_undoes_dequantization(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.unique(np.linspace(limits.min, limits.max, 300).astype("int64")).astype(dtype)
    if dtype == "int32":  # float32 has 24 bits
        x = np.arange(-(2**22), 2**22, 70_001).astype(dtype)
    for zero in (0, 11):
        real = dequantized(x, 0.3, zero)
        np.testing.assert_array_equal(quantized(real, 0.3, zero, dtype), x)


def test_dequantization_takes_half_precision() -> None:
    found = dequantized(np.array([-1, 2], "int8"), 0.5, 1, dtype="float16")
    assert found.dtype == "float16"
    assert found.tolist() == [-1.0, 0.5]


def slopes(body: Expr, **arrays: Array) -> list[Array]:
    """Return the gradients of the sum of an expression, in the order of its variables."""
    params = relay.analysis.free_vars(body)
    main = infer_types(IRModule.from_expr(Function(params, relay.sum(body))))["main"]
    module = infer_types(IRModule.from_expr(gradient(main, mode="first_order")))
    return [
        np.asarray(part)
        for part in Interpreter(module).call("main", [arrays[p.name_hint] for p in params])[1]
    ]


def test_the_gradient_of_dequantize_goes_to_the_scale() -> None:
    x = np.array([[1, -2, 3], [4, 5, -6]], "int8")
    data = relay.var("x", shape=x.shape, dtype="int8")
    for shape, expected in (((), 5 - 6 * 2), ((1,), [5 - 6 * 2]), ((3,), [1, -1, -7])):
        scale = relay.var("s", shape=shape)
        body = relay.qnn.op.dequantize(data, scale, const(2))
        found = slopes(body, x=x, s=np.full(shape, 0.5, "float32"))
        assert found[1].tolist() == expected
        assert not found[0].any()


# -- simulations


def simulated(x: Expr, scale: Expr, zero: Expr, dtype: str | Expr, axis: int = -1) -> Expr:
    units = relay.qnn.op.simulated_quantize(x, scale, zero, axis, dtype)
    result: Expr = relay.qnn.op.simulated_dequantize(units, scale, zero, axis, dtype)
    return result


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_a_simulation_computes_what_the_integers_are(dtype: str) -> None:
    x = np.random.default_rng(2).normal(size=(5, 3)).astype("float32") * 30
    data = relay.var("x", shape=x.shape)
    for scale, zero in ((const([0.25]), const([3])), (const([0.25, 0.5, 1.0]), const([0, 2, 4]))):
        units = value(relay.qnn.op.simulated_quantize(data, scale, zero, 1, dtype), x)
        assert units.dtype == "float32"
        real = relay.qnn.op.quantize(data, scale, zero, 1, dtype)
        assert units.tolist() == value(real, x).tolist()
        both = value(simulated(data, scale, zero, dtype, 1), x)
        whole = relay.qnn.op.dequantize(real, scale, zero, 1)
        np.testing.assert_array_equal(both, value(whole, x))


def test_a_simulation_can_be_switched_by_a_number_of_the_program() -> None:
    x = np.array([0.3, 300.0, -300.0], "float32")
    code = relay.var("c", shape=(), dtype="int32")
    body = simulated(relay.var("x", shape=(3,)), const([1.0]), const([0]), code)
    found = {c: value(body, x, np.asarray(c, "int32")).tolist() for c in (0, 1, 2, 3, 9)}
    assert found == {
        0: x.tolist(), 1: [0.0, 127.0, -128.0], 2: [0.0, 255.0, 0.0], 3: [0.0, 300.0, -300.0], 9: x.tolist(),
    }  # fmt: skip


def test_gradients_pass_straight_through_a_simulation_except_where_it_clamps() -> None:
    x = np.array([0.3, 0.9, 300.0, -300.0], "float32")
    scale = relay.var("s", shape=(1,))
    body = simulated(relay.var("x", shape=(4,)), scale, const([0]), "int8")
    by_data, by_scale = slopes(body, x=x, s=np.array([0.5], "float32"))
    assert by_data.tolist() == [1.0, 1.0, 0.0, 0.0]
    # the scale moves each number by its rounding error, and the clamped ones by their bounds
    assert by_scale.tolist() == pytest.approx([(1 - 0.6) + (2 - 1.8) + 127 - 128])


def test_gradients_pass_a_simulation_that_is_switched_off() -> None:
    x = np.array([0.3, 300.0], "float32")
    body = simulated(relay.var("x", shape=(2,)), relay.var("s", shape=(1,)), const([0]), "disable")
    by_data, by_scale = slopes(body, x=x, s=np.array([0.5], "float32"))
    assert by_data.tolist() == [1.0, 1.0]
    assert by_scale.tolist() == [0.0]


def test_a_simulation_names_its_element_types() -> None:
    with raises(
        snapshot("""\
AttributeSchemaError:
error: simulated quantization has no element type "int4"
help: it has disable, int8, uint8, int32\
""")
    ):
        relay.qnn.op.simulated_quantize(
            relay.var("x", shape=(2,)), const([1.0]), const([0]), out_dtype="int4"
        )
