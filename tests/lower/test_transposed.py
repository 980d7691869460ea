"""Transposed convolutions, phase by phase: kernels shorter and longer than the stride, any padding, layouts
and groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir.expr import Var
from relay_explorer.ir.module import IRModule
from relay_explorer.lower.compose import compose
from relay_explorer.lower.passes.transposed import PlainTransposed
from relay_explorer.lower.targets.target import Target
from relay_explorer.relay import const
from tests.lower.kernels import agree, case
from tests.lower.test_schedules import check, function

nn = relay.nn


def x(*shape: int, dtype: str = "float32") -> Var:
    return relay.var("x", shape=shape, dtype=dtype)


def w(*shape: int, dtype: str = "float32") -> Var:
    return relay.var("w", shape=shape, dtype=dtype)


# size of the kernel, stride, padding, output padding
PLACES: list[tuple[Any, ...]] = [
    ((4, 4), (2, 2), (1, 1), (0, 0)),
    ((3, 3), (2, 2), (1, 1), (1, 1)),
    ((2, 5), (3, 2), (0, 1, 0, 2), (2, 0)),
    ((1, 1), (2, 3), (0, 0), (0, 1)),
    ((3, 4), (1, 4), (2, 1), (0, 3)),
    ((5, 5), (2, 2), (4, 3), (0, 0)),
]


AS_CONVOLUTIONS = [*PLACES, ((3, 3), (1, 1), (0, 2), (0, 0)), ((2, 2), (2, 2), (3, 3), (0, 0))]


@pytest.mark.parametrize(("size", "strides", "padding", "more"), AS_CONVOLUTIONS)
def test_with_a_known_weight_they_are_convolutions(size: Any, strides: Any, padding: Any, more: Any) -> None:
    weight = np.random.default_rng(0).standard_normal((3, 2, *size)).astype("float32")
    data = np.random.default_rng(1).standard_normal((2, 3, 5, 4)).astype("float32")
    result = nn.conv2d_transpose(x(2, 3, 5, 4), const(weight), strides=strides, padding=padding,
                               output_padding=more, channels=2, kernel_size=size)  # fmt: skip
    before = IRModule.from_expr(function(result))
    after = PlainTransposed()(before)
    assert "nn.conv2d(" in str(after)
    assert "nn.conv2d_transpose" not in str(after)
    expected = Interpreter(before).call("main", [data])
    np.testing.assert_allclose(Interpreter(after).call("main", [data]), expected, rtol=1e-5, atol=1e-5)


def test_those_that_stay() -> None:
    three: dict[str, Any] = {"channels": 4, "kernel_size": (3, 3)}
    known = const(np.ones((4, 4, 3, 3), "float32"))
    stay = [
        nn.conv2d_transpose(x(1, 4, 3, 3), w(4, 4, 3, 3), **three),
        nn.conv2d_transpose(x(1, 4, 3, 3), known, dilation=(2, 2), **three),
        nn.conv2d_transpose(x(1, 4, 3, 3), const(np.ones((4, 1, 3, 3), "float32")), groups=4, **three),
    ]
    for result in stay:
        assert "nn.conv2d_transpose" in str(PlainTransposed()(IRModule.from_expr(function(result))))


def test_a_transposed_convolution_gets_the_schedules_of_convolutions() -> None:
    weight = const(np.random.default_rng(0).standard_normal((16, 8, 4, 4)).astype("float32"))
    result = nn.conv2d_transpose(x(1, 16, 6, 5), weight, strides=(2, 2), padding=(1, 1), channels=8,
                               kernel_size=(4, 4))  # fmt: skip
    program = relay_explorer.build(function(result), quiet=True)
    assert "blocked" in [kernel.rule for kernel in program.kernels]
    data = np.random.default_rng(1).standard_normal((1, 16, 6, 5)).astype("float32")
    expected = Interpreter(IRModule.from_expr(function(result))).call("main", [data])
    np.testing.assert_allclose(program(data), expected, rtol=1e-4, atol=1e-4)


def test_phases_of_all_shapes() -> None:
    cases = [
        case(nn.conv2d_transpose(x(2, 3, 5, 4), w(3, 2, *size), strides=strides, padding=padding,
                                 output_padding=more, channels=2, kernel_size=size))
        for size, strides, padding, more in PLACES
    ]  # fmt: skip
    two: dict[str, Any] = {"strides": (2, 2), "padding": (1, 1), "kernel_size": (3, 3)}
    cases += [
        case(nn.conv2d_transpose(x(1, 6, 4, 4), w(6, 2, 3, 3), channels=6, groups=3, **two)),
        case(nn.conv2d_transpose(x(1, 4, 3, 3, dtype="float16"), w(4, 2, 3, 3, dtype="float16"), channels=2,
                                 **two)),
        case(nn.conv2d_transpose(x(1, 4, 3, 3, dtype="int8"), w(4, 2, 3, 3, dtype="int8"), channels=2,
                                 out_dtype="int32", **two)),
        case(nn.conv2d_transpose(x(1, 3, 4, 3), w(3, 3, 2, 3), channels=2, data_layout="NHWC",
                                 kernel_layout="HWOI", **two)),
        case(nn.conv1d_transpose(x(1, 3, 7), w(3, 2, 4), channels=2, kernel_size=(4,), strides=(3,),
                                 padding=(1,))),
        case(nn.conv3d_transpose(x(1, 2, 3, 2, 4), w(2, 3, 3, 2, 3), channels=3, kernel_size=(3, 2, 3),
                                 strides=(2, 1, 2), padding=(1, 0, 1))),
    ]  # fmt: skip
    agree(cases)


def test_only_elements_are_multiplied() -> None:
    """Of a kernel of 4 × 4 with a stride of 2, each place sees 2 × 2 elements."""
    call = nn.conv2d_transpose(
        x(1, 8, 6, 16), w(8, 4, 4, 4), strides=(2, 2), padding=(1, 1), channels=4, kernel_size=(4, 4)
    )
    result = check(function(nn.relu(call)))
    assert result.rule == "reduction"
    loops = str(result.composed.prim_func).replace("\n", " ")
    assert "T.grid(1, 4, 2, 2, 6, 16, 8, 2, 2)" in loops


@pytest.mark.parametrize(("size", "strides", "padding", "more"), PLACES, ids=str)
def test_phases_scheduled(size: Any, strides: Any, padding: Any, more: Any) -> None:
    """TVM loses a summand of an index that is divided, where loops have become one."""
    call = nn.conv2d_transpose(x(1, 3, 6, 16), w(3, 8, *size), strides=strides, padding=padding,
                               output_padding=more, channels=8, kernel_size=size)  # fmt: skip
    assert not check(function(nn.relu(call))).refused


def test_where_nothing_lies_between_there_are_no_phases() -> None:
    choices: tuple[dict[str, Any], ...] = ({"strides": (1, 1)}, {"strides": (2, 2), "dilation": (2, 2)})
    for options in choices:
        call = nn.conv2d_transpose(x(1, 2, 4, 4), w(2, 2, 3, 3), channels=2, kernel_size=(3, 3), **options)
        result = case(call, np.ones((1, 2, 4, 4)))
        assert "phases" not in str(compose(result.function, Target.of("cpu")).prim_func)
        agree([result])
