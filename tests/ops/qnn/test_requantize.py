"""Requantization: exact fractions, the direction of ties, saturation, defaults, and scales that are none."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Call, Expr, Function, Var, const
from relay_explorer.ir.module import IRModule
from relay_explorer.ops.canonical import canonical_form
from relay_explorer.ops.qnn.config import current_requantize_config, requantize_config
from relay_explorer.ops.qnn.fixed_point import fixed_point, ratio_of
from relay_explorer.text import astext
from relay_explorer.typing import infer_types
from tests.ops.qnn.generate import Array

ROUNDINGS = ("UPWARD", "TONEAREST", "TOEVEN")
COMPUTE = ("int64", "float32", "float64")


def both(body: Expr, values: list[Array], params: list[Var]) -> Array:
    """Evaluate a call, and check that its canonical form has the same value."""
    module = infer_types(IRModule.from_expr(Function(params, body)))
    main = module["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, Call)
    form = canonical_form(main.body)
    assert form is not None
    plain = infer_types(IRModule.from_expr(Function(params, form)))
    result = np.asarray(Interpreter(module).call("main", list(values)))
    np.testing.assert_array_equal(Interpreter(plain).call("main", list(values)), result)
    return result


def requantized(
    x: Array,
    scale: object,
    zero: object,
    to: float,
    end: int,
    *,
    axis: int = -1,
    rounding: str = "None",
    compute_dtype: str = "None",
    out_dtype: str = "int32",
) -> Array:
    data = relay.var("x", shape=x.shape, dtype=str(x.dtype))
    body = relay.qnn.op.requantize(
        data,
        const(np.asarray(scale, "float32")),
        const(np.asarray(zero, "int32")),
        const(to),
        const(end),
        axis,
        rounding,
        compute_dtype,
        out_dtype,
    )
    return both(body, [x], [data])


@pytest.mark.parametrize("compute_dtype", COMPUTE)
def test_ties_are_rounded_in_the_direction_that_is_asked_for(compute_dtype: str) -> None:
    x = np.array([-5, -3, -2, -1, 0, 1, 2, 3, 5], "int32")  # halved
    found = {
        rounding: requantized(x, 0.5, 0, 1.0, 0, rounding=rounding, compute_dtype=compute_dtype).tolist()
        for rounding in ROUNDINGS
    }
    assert found == {
        "UPWARD": [-2, -1, -1, 0, 0, 1, 1, 2, 3],
        "TONEAREST": [-3, -2, -1, -1, 0, 1, 1, 2, 3],
        "TOEVEN": [-2, -2, -1, 0, 0, 0, 1, 2, 2],
    }


def rounded(value: Fraction, rounding: str) -> int:
    if rounding == "UPWARD":
        return math.floor(value + Fraction(1, 2))
    if rounding == "TONEAREST":
        return int(math.copysign(math.floor(abs(value) + Fraction(1, 2)), value))
    return round(value)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_fixed_point_arithmetic_is_exact(rounding: str) -> None:
    random = np.random.default_rng(7)
    for scale, to in ((0.3, 1.7), (1.7, 0.3), (1e-5, 1.0), (2.0**-30, 1.0), (1000.0, 0.01), (2.0**-33, 1.0)):
        x = random.integers(-(2**31), 2**31, 60).astype("int32")
        multiplier, shift = fixed_point(ratio_of(float(np.float32(scale)), float(np.float32(to))))
        factor = Fraction(multiplier) * Fraction(2) ** (shift - 31)
        expected = [min(max(rounded(int(v) * factor, rounding), -(2**31)), 2**31 - 1) for v in x]
        found = requantized(x, scale, 0, to, 0, rounding=rounding, compute_dtype="int64")
        assert found.tolist() == expected


@pytest.mark.parametrize("compute_dtype", COMPUTE)
@pytest.mark.parametrize("out_dtype", ["int8", "uint8", "int16", "int32"])
def test_results_saturate(compute_dtype: str, out_dtype: str) -> None:
    x = np.array([-(2**31), -(2**30), 0, 2**30, 2**31 - 1], "int32")
    limits = np.iinfo(out_dtype)
    for scale in (1.0, 300.0, 2.0**27):
        found = requantized(x, scale, 0, 0.5, 3, compute_dtype=compute_dtype, out_dtype=out_dtype)
        # float32 has no 2³¹ − 1: the largest number before the zero point is added is 2³¹ − 128
        greatest = 2**31 - 125 if compute_dtype == "float32" and out_dtype == "int32" else limits.max
        least = limits.min + 3 if out_dtype == "int32" else limits.min
        assert found.tolist() == [least, least, 3, greatest, greatest]


def test_a_difference_to_the_zero_point_saturates_rather_than_wraps() -> None:
    x = np.array([-(2**31), 2**31 - 1], "int32")
    assert requantized(x, 1.0, 5, 1.0, 0).tolist() == [-(2**31), 2**31 - 6]
    assert requantized(x, 1.0, -5, 1.0, 0).tolist() == [-(2**31) + 5, 2**31 - 1]
    wide = np.array([-(2**60), 2**60], "int64")
    assert requantized(wide, 1.0, 0, 1.0, 0).tolist() == [-(2**31), 2**31 - 1]


@pytest.mark.parametrize("zero", [2**31 - 1, -(2**31), 2**30, 200, -200])
def test_a_zero_point_beyond_the_range_saturates_in_compiled_code_too(zero: int) -> None:
    x = relay.var("x", shape=(4,), dtype="int32")
    call = relay.qnn.op.requantize(x, const(0.5), const(0), const(0.5), const(np.int32(zero)))
    module = infer_types(IRModule.from_expr(Function([x], call)))
    values = np.asarray([100, -100, 2**31 - 1, -(2**31)], "int32")
    plain = infer_types(relay.qnn.transform.CanonicalizeOps()(module))
    expected = np.clip(values.astype("int64") + zero, -128, 127)
    for each in (module, plain):
        assert Interpreter(each).call("main", [values]).tolist() == expected.tolist()


def test_channels_have_their_own_scales_and_zero_points() -> None:
    x = np.array([[10, 20], [30, 40]], "int32")
    assert requantized(x, [1.0, 0.5], [0, 10], 1.0, 1).tolist() == [[11, 6], [31, 16]]
    assert requantized(x, [1.0, 0.5], [0, 10], 1.0, 1, axis=0).tolist() == [[11, 21], [11, 16]]


def test_a_scale_of_zero_makes_everything_the_zero_point() -> None:
    """That is what a channel of zeros has, in some tools."""
    x = np.array([[-7, 100]], "int32")
    for compute_dtype in COMPUTE:
        for scale in (0.0, [0.0, 1.0]):
            found = requantized(x, scale, 0, 1.0, 9, compute_dtype=compute_dtype)
            assert found.tolist() == [[9, 9 if scale == 0.0 else 109]]


def test_the_scales_of_a_program_give_what_the_same_constants_give() -> None:
    random = np.random.default_rng(3)
    x = random.integers(-(2**20), 2**20, (4, 3)).astype("int32")
    params = [
        relay.var("x", shape=(4, 3), dtype="int32"),
        relay.var("s", shape=(3,)),
        relay.var("t", shape=()),
        relay.var("z", shape=(), dtype="int32"),
    ]
    scales, to, end = random.uniform(1e-6, 1e-2, 3).astype("float32"), np.float32(0.3), np.int32(-4)
    for rounding in ROUNDINGS:
        for compute_dtype in COMPUTE:
            how = (-1, rounding, compute_dtype, "int8")
            body = relay.qnn.op.requantize(params[0], params[1], const(0), params[2], params[3], *how)
            found = both(body, [x, scales, np.asarray(to), np.asarray(end)], params)
            fixed = requantized(
                x, scales, 0, float(to), int(end),
                rounding=rounding, compute_dtype=compute_dtype, out_dtype="int8",
            )  # fmt: skip
            assert found.tolist() == fixed.tolist()


# -- defaults


def test_a_call_without_attributes_takes_the_defaults_of_the_configuration() -> None:
    x = np.array([-3], "int32")
    assert requantized(x, 0.5, 0, 1.0, 0).tolist() == [-1]
    with requantize_config(rounding="TONEAREST"):
        assert requantized(x, 0.5, 0, 1.0, 0).tolist() == [-2]
        assert requantized(x, 0.5, 0, 1.0, 0, rounding="UPWARD").tolist() == [-1]
        with requantize_config(compute_dtype="float32") as config:
            assert current_requantize_config() is config
            assert config.rounding == "UPWARD"
        assert current_requantize_config().compute_dtype == "int64"
    assert repr(current_requantize_config()) == "RequantizeConfig(rounding='UPWARD', compute_dtype='int64')"


def test_the_defaults_are_checked() -> None:
    with raises(
        snapshot(
            """\
AttributeSchemaError:
error: rounding="DOWN" is not supported
help: it is UPWARD, TONEAREST or TOEVEN\
"""
        )
    ):
        requantize_config(rounding="DOWN")
    with raises(
        snapshot(
            """\
AttributeSchemaError:
error: compute_dtype="int32" is not supported
help: it is int64, float32 or float64\
"""
        )
    ):
        requantize_config(compute_dtype="int32")


# -- the form that the compiler uses


def form(scale: float, to: float, rounding: str = "None", compute_dtype: str = "None") -> str:
    x = relay.var("x", shape=(2,), dtype="int32")
    call = relay.qnn.op.requantize(
        x, const(scale), const(0), const(to), const(3), -1, rounding, compute_dtype
    )
    main = infer_types(IRModule.from_expr(Function([x], call)))["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, Call)
    result = canonical_form(main.body)
    assert result is not None
    return "\n".join(astext(Function([x], result)).splitlines()[2:-1])


def test_equal_scales_need_no_product() -> None:
    assert form(0.5, 0.5) == snapshot("""\
  %0 = clip(%x, a_min=-131f, a_max=124f);
  %1 = add(%0, 3);
  cast(%1, dtype="int8")\
""")


def test_the_default_is_a_fixed_point_product() -> None:
    assert form(0.5, 1.5) == snapshot("""\
  %0 = fixed_point_multiply(%x, multiplier=1431655765, shift=-1);
  %1 = clip(%0, a_min=-131f, a_max=124f);
  %2 = add(%1, 3);
  cast(%2, dtype="int8")\
""")


def test_float32_is_clamped_before_it_is_rounded() -> None:
    assert form(0.5, 1.5, "TOEVEN", "float32") == snapshot("""\
  %0 = cast(%x, dtype="float32");
  %1 = multiply(%0, 0.33333334f);
  %2 = clip(%1, a_min=-131f, a_max=124f);
  %3 = round(%2);
  %4 = cast(%3, dtype="int32");
  %5 = add(%4, 3);
  cast(%5, dtype="int8")\
""")


# -- numbers that are no scales


@pytest.mark.parametrize("to", [0.0, -1.0, math.inf, math.nan])
def test_a_result_needs_a_scale(to: float) -> None:
    x = relay.var("x", shape=(2,), dtype="int32")
    module = infer_types(
        IRModule.from_expr(
            Function([x], relay.qnn.op.requantize(x, const(1.0), const(0), const(to), const(0)))
        )
    )
    message = f"the scale of the result is {to:g}, but must be positive and finite"
    with pytest.raises(Exception, match=message):
        relay.qnn.transform.CanonicalizeOps()(module)
    with pytest.raises(Exception, match=message):
        Interpreter(module).call("main", [np.zeros(2, "int32")])


def test_the_error_names_the_operator_and_the_remedy() -> None:
    x = relay.var("x", shape=(2,), dtype="int32")
    call = relay.qnn.op.requantize(x, const(math.nan), const(0), const(1.0), const(0))
    module = infer_types(IRModule.from_expr(Function([x], call)))
    with raises(
        snapshot(
            "RelayError:\n"
            "error: `qnn.requantize` cannot be compiled: a scale is nan, but must be finite and not "
            "negative\n"
            "help: compute scales from the range of the values: (maximum - minimum) / 255 for 8 bits, "
            "and not from an empty or constant one"
        )
    ):
        relay.qnn.transform.CanonicalizeOps()(module)


def test_a_factor_beyond_64_bits_is_refused() -> None:
    x = relay.var("x", shape=(2,), dtype="int32")
    call = relay.qnn.op.requantize(x, const(1e6), const(0), const(1e-6), const(0))
    module = infer_types(IRModule.from_expr(Function([x], call)))
    with raises(
        snapshot(
            "RelayError:\n"
            "error: `qnn.requantize` cannot be compiled: the scale 1e+06 is 1e+12 times that of the "
            "result, 1e-06; less than 5.37e+08 is supported\n"
            "help: compute scales from the range of the values: (maximum - minimum) / 255 for 8 bits, "
            "and not from an empty or constant one"
        )
    ):
        relay.qnn.transform.CanonicalizeOps()(module)
