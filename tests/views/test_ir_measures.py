"""What the IR explorer's data say of a program beside its structure: statistics of tensors, and devices."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Function, IRModule
from relay_explorer.ir.ndarray import NDArray
from relay_explorer.views.ir import statistics
from relay_explorer.views.ir.format import IRView
from relay_explorer.views.ir.statistics import BARS, SAMPLE, tensor_statistics
from relay_explorer.views.ir.view import ir_view
from tests.support.views.check import check


def test_statistics_of_a_constant_and_of_a_parameter() -> None:
    x = relay.var("x", shape=(2, 3))
    weight = relay.var("w", shape=(2, 3))
    numbers = np.array([[-1.5, 0, 0], [0.5, 3, np.inf]], "float32")
    body = relay.add(relay.multiply(x, relay.const(numbers)), weight)
    module = IRModule.from_expr(Function([x, weight], body))
    view = ir_view(module, params={"w": NDArray.from_numpy(np.full((2, 3), 7, "int64"))})
    assert check(json.loads(view.to_json())) == []
    constant, parameter = sorted(view.values, key=lambda v: view.nodes[v.node].label)[::-1]
    assert view.nodes[constant.node].label == "constant"
    assert constant[1:8] == (6, 6, 2, 1, "-1.5", "3", "0.4")
    assert (len(constant.histogram), sum(constant.histogram)) == (BARS, 5)
    assert (constant.histogram[0], constant.histogram[-1]) == (1, 1)
    assert view.nodes[parameter.node].label == "%w"
    assert (parameter.least, parameter.greatest, parameter.histogram) == ("7", "7", ())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8", "bool", "float64"])
def test_statistics_of_every_type(dtype: str) -> None:
    values: list[bool | int | float] = [0, 1, 1, 0]
    result = tensor_statistics(0, NDArray.from_list(values, (4,), dtype))
    assert result is not None
    assert (result.elements, result.zeros, result.least, result.greatest) == (4, 2, "0", "1")
    assert float(result.mean) == 0.5


def test_a_large_tensor_is_sampled_and_a_program_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    large = NDArray.from_numpy(np.arange(3 * SAMPLE, dtype="float32"))
    result = tensor_statistics(0, large)
    assert result is not None
    assert (result.elements, result.examined, sum(result.histogram)) == (3 * SAMPLE, SAMPLE, SAMPLE)
    monkeypatch.setattr(statistics, "MOST", 2 * SAMPLE)
    assert [v.node for v in statistics.statistics((n, large) for n in range(5))] == [0, 1]


def test_statistics_without_numpy_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = NDArray.from_list([-2.0, 0.0, float("nan"), 1.0, 4.0], (5,), "float32")
    expected = tensor_statistics(3, tensor)
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    assert tensor_statistics(3, tensor) == expected
    assert tensor_statistics(0, NDArray((8, 1024), "uint8", bytes(8192))) is None


def devices(view: IRView) -> dict[str, str]:
    return {view.nodes[p.node].label: p.device for p in view.devices}


def test_devices_extend_along_edges_up_to_the_next_mark() -> None:
    x = relay.var("x", shape=(2,))
    first = relay.tanh(relay.exp(x))
    there = relay.annotation.on_device(first, "cuda:0", constrain_result=False)
    module = IRModule.from_expr(
        Function([x], relay.annotation.on_device(relay.sqrt(there), "cpu", constrain_result=True))
    )
    view = ir_view(module)
    assert check(json.loads(view.to_json())) == []
    labels = devices(view)
    assert {labels[name] for name in ("tanh", "exp", "%x")} == {"cuda:0"}
    assert labels["sqrt"] == "cpu:0"
    assert ir_view(IRModule.from_expr(Function([x], first))).devices == ()


def test_a_region_of_another_compiler_is_a_device() -> None:
    x = relay.var("x", shape=(2,))
    inside = relay.annotation.compiler_end(relay.exp(relay.annotation.compiler_begin(x, "dsp")), "dsp")
    view = ir_view(IRModule.from_expr(Function([x], relay.sqrt(inside))))
    assert devices(view)["exp"] == "dsp"
    assert "sqrt" not in devices(view)


@pytest.mark.parametrize("name", ["mobilenet"])
def test_times_of_a_stored_measurement_are_those_of_its_kernels(name: str) -> None:
    from relay_explorer import explore, models
    from relay_explorer.lower.profiling.measurement import stored

    run = stored(name)
    view = explore(models.load(name), view="ir", measure=run).view
    assert isinstance(view, IRView)
    assert sum(time.ns for time in view.times) == sum(launch.ns for launch in run.launches)
    assert {view.nodes[time.node].label for time in view.times} == {
        "nn.conv2d", "nn.dense", "nn.softmax", "nn.global_avg_pool2d",
    }  # fmt: skip
    assert view.summary.endswith("Its kernels took 2.99 ms.")


def test_parameters_that_an_importer_read_have_statistics() -> None:
    from relay_explorer import explore

    x, weight = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    module = IRModule.from_expr(Function([x, weight], relay.add(x, weight)))
    view = explore((module, {"w": NDArray.from_list([1.0, 2.0], (2,), "float32")})).view
    assert isinstance(view, IRView)
    assert [(view.nodes[v.node].label, v.least, v.greatest) for v in view.values] == [("%w", "1", "2")]
