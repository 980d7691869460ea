"""The operator that simulates quantization."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import Executor
from relay_explorer.ir import Constant, Function, IRModule, const
from relay_explorer.ir.errors import TypeInferenceError
from relay_explorer.lower.executor import create_executor
from relay_explorer.ops.simulated_quantize import observing
from relay_explorer.transform import gradient
from relay_explorer.typing import infer_types
from tests.quantize.networks import Array

X = np.asarray([[-3.0, -0.26, 0.0, 0.25, 0.75, 100.0]], "float32")


def simulated(
    scale: object, low: float = -127, high: float = 127, kind: int = 1, rounding: str = "round"
) -> IRModule:
    x = relay.var("x", shape=X.shape)
    step, least, most = (const(np.asarray(value, "float32")) for value in (scale, low, high))
    call = relay.annotation.simulated_quantize(x, step, least, most, kind, True, rounding, 7)
    return IRModule.from_expr(Function([x], call))


def value(mod: IRModule) -> Array:
    result: Array = Executor("debug", mod).evaluate()(X).numpy()
    return result


def test_it_rounds_to_multiples_of_the_scale_within_the_bounds() -> None:
    np.testing.assert_array_equal(value(simulated(0.5, -4, 7)), [[-2, -0.5, 0, 0, 1, 3.5]])


def test_ties_go_to_the_even_step() -> None:
    np.testing.assert_array_equal(value(simulated(0.5, -4, 7)), value(simulated(0.5, -4, 7)))
    assert value(simulated(0.5))[0, 3:5].tolist() == [0, 1]  # 0.25 is half a step, 0.75 one and a half


@pytest.mark.parametrize(("rounding", "expected"), [("floor", -0.5), ("ceil", 0.0)])
def test_other_roundings(rounding: str, expected: float) -> None:
    assert value(simulated(0.5, rounding=rounding))[0, 1] == expected


def test_a_scale_of_zero_leaves_the_value_unchanged() -> None:
    np.testing.assert_array_equal(value(simulated(0.0)), X)


def test_the_kind_identity_leaves_the_value_unchanged() -> None:
    np.testing.assert_array_equal(value(simulated(0.5, kind=0)), X)


def test_scales_may_differ_along_an_axis() -> None:
    scales = [0.5, 0.5, 1, 1, 2, 2]
    np.testing.assert_array_equal(value(simulated(scales, -4, 7)), [[-2, -0.5, 0, 0, 0, 14]])


@pytest.mark.parametrize("scale", [0.5, 0.0, [0.5, 0.25, 1, 0.1, 2, 0]])
def test_the_kernel_computes_what_the_reference_does(scale: object) -> None:
    mod = simulated(scale, -4, 7)
    compiled = create_executor("graph", mod).evaluate()(X).numpy()
    np.testing.assert_array_equal(compiled, value(mod))


def test_parameters_without_a_type_are_scalars() -> None:
    x, s, low, high = relay.var("x", shape=(2, 3)), relay.var("s"), relay.var("low"), relay.var("high")
    call = relay.annotation.simulated_quantize(x, s, low, high, 1)
    main = infer_types(IRModule.from_expr(Function([x, s, low, high], call)))["main"]
    assert isinstance(main, Function)
    assert [str(param.checked_type) for param in main.params[1:]] == ["float32"] * 3


def test_the_gradient_passes_where_the_value_is_not_clipped() -> None:
    mod = infer_types(simulated(0.5, -4, 7))
    main = mod["main"]
    assert isinstance(main, Function)
    _, (slope,) = Executor("debug", IRModule.from_expr(gradient(main, mod=mod))).evaluate()(X)
    np.testing.assert_array_equal(slope.numpy(), [[0, 1, 1, 1, 1, 0]])


def test_an_observer_receives_the_values_and_the_site() -> None:
    seen = []
    with observing(lambda site, values: seen.append((site, values.copy()))):
        value(simulated(0.5))
    value(simulated(0.25))
    assert [site for site, _ in seen] == [7]
    np.testing.assert_array_equal(seen[0][1], X)


@pytest.mark.parametrize(
    ("scale", "dtype", "message"),
    [
        ([0.5] * 5, "float32", "do not broadcast"),
        (np.ones((3, 1, 6)), "float32", "dom_scale has more elements than the data"),
        (0.5, "float64", "dom_scale must be float32"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(scale: object, dtype: str, message: str) -> None:
    x = relay.var("x", shape=X.shape)
    low, high = const(-4.0, "float32"), const(7.0, "float32")
    call = relay.annotation.simulated_quantize(x, Constant(np.asarray(scale, dtype)), low, high, 1)
    with pytest.raises(TypeInferenceError, match=message):
        infer_types(IRModule.from_expr(Function([x], call)))


def test_integers_and_unknown_roundings_are_refused() -> None:
    x = relay.var("x", shape=(2,), dtype="int8")
    one = const(1.0, "float32")
    mod = IRModule.from_expr(Function([x], relay.annotation.simulated_quantize(x, one, one, one, 1)))
    with pytest.raises(TypeInferenceError, match="data must be floating point"):
        infer_types(mod)
    with pytest.raises(TypeInferenceError, match='rounding is "nearest"'):
        infer_types(simulated(0.5, rounding="nearest"))
