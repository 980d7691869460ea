"""TVM's scheme follows the rules of the reference where networks branch, join, and leave operators in float.

`quantize_rules.json` has the rows that the reference's rules give, derived from them step by step.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat import tvm
from relay_explorer.ir import Call, Function, IRModule, Op, post_order
from relay_explorer.ir.walk import free_vars
from relay_explorer.quantize import KLDivergence, QConfig, Role, qconfig, quantize, trace
from relay_explorer.quantize.conversions import partition_conversions
from relay_explorer.quantize.schemes import TvmSymmetric
from relay_explorer.quantize.statistics import histogram
from relay_explorer.transform import FoldConstant, InferType, PassContext, Sequential, module_pass
from relay_explorer.typing import infer_types
from tests.quantize.networks import Params, decibels, network, operators, run, types_of

DATA = Path(__file__).parents[1] / "data" / "quantize_rules.json"
RULES: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
CASES = {f"{case['program']} {case['config']}": case for case in RULES["cases"]}
EVERYTHING: dict[str, Any] = {"skip_conv_layers": None, "skip_dense_layer": False}


def program(name: str) -> tuple[IRModule, Params, list[dict[str, Any]]]:
    mod, params, data = network(RULES["programs"][name])
    return mod, {key: np.abs(x) if key.startswith("var") else x for key, x in params.items()}, data


def rows(mod: IRModule) -> list[str]:
    calls = [node for node in post_order(mod["main"]) if isinstance(node, Call) and isinstance(node.op, Op)]
    types = [str(call.checked_type).removeprefix("Tensor[").removesuffix("]") for call in calls]
    return [f"{getattr(call.op, 'name', '')} {type_}" for call, type_ in zip(calls, types, strict=True)]


@pytest.mark.parametrize("name", CASES)
def test_programs_follow_the_references_rules(name: str) -> None:
    case = CASES[name]
    mod, params, _ = program(case["program"])
    with qconfig(**case["config"]):
        assert rows(quantize(mod, params)) == case["rows"]


@pytest.mark.parametrize("name", [name for name in CASES if "do_simulation" not in name])
def test_the_phases_as_passes_give_the_same_program(name: str) -> None:
    case = CASES[name]
    mod, params, _ = program(case["program"])
    with qconfig(**case["config"]):
        prepared = relay.quantize.prerequisite_optimize(mod, params)
        phases = Sequential(
            [
                relay.quantize.partition(),
                relay.quantize.annotate(),
                module_pass(relay.quantize.calibrate(), opt_level=1, name="QuantizeCalibrate"),
                InferType(),
                relay.quantize.realize(),
                FoldConstant(),
            ]
        )
        with PassContext(opt_level=3):
            assert rows(infer_types(phases(prepared))) == case["rows"]


def test_a_value_that_is_used_inside_and_outside_a_tuple_is_realized_once() -> None:
    mod = relay.parse(
        """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1]);
  (%0, tanh(%0), (sigmoid(%0), %0))
}
"""
    )
    w = np.random.default_rng(0).normal(size=(4, 4, 1, 1)).astype("float32")
    with qconfig(**EVERYTHING):
        quantized = quantize(mod, {"w": w})
    assert operators(quantized).count("annotation.stop_fusion") == 1


def attributes(mod: IRModule, name: str) -> list[Any]:
    calls = [node for node in post_order(mod["main"]) if isinstance(node, Call)]
    return [call.attrs for call in calls if getattr(call.op, "name", "") == name]


def test_bounds_of_32_bits_are_rounded_to_float32() -> None:
    mod, params, _ = program("skip")
    with qconfig():
        clips = attributes(quantize(mod, params), "clip")
    assert [(clip.a_min, clip.a_max) for clip in clips if clip.a_max > 127] == [(-(2.0**31), 2.0**31)]


JOINED = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w1: Tensor[(4, 4, 1, 1), float32],
          %w2: Tensor[(4, 8, 1, 1), float32]) {
  %0 = (%x, nn.conv2d(%x, %w1, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1]));
  %1 = clip(nn.relu(concatenate(%0, axis=1)), a_min=0f, a_max=6f);
  RESULT
}
"""


@pytest.mark.parametrize("result", ["sigmoid(%1)", "add(%1, %w2)"])
def test_a_wide_value_before_a_narrow_one_in_a_concatenation_raises_a_warning(result: str) -> None:
    mod, params, _ = network(JOINED.replace("RESULT", result).replace("(4, 8, 1, 1)", "(1, 8, 1, 1)"))
    with (
        qconfig(**EVERYTHING),
        pytest.warns(UserWarning, match="the first operand of a `concatenate` in int8"),
    ):
        quantized = quantize(mod, params)
    assert types_of(quantized, "concatenate") == ["int8"]


def test_a_wide_value_stays_wide_where_the_reference_rejects_its_own_program() -> None:
    layer = "nn.conv2d(%1, %w2, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1])"
    mod, params, data = network(JOINED.replace("RESULT", layer))
    with qconfig(**EVERYTHING):
        quantized = quantize(mod, params)
    assert types_of(quantized, "concatenate") == ["int32"]
    assert decibels(run(mod, data[0]["x"], **params), run(quantized, data[0]["x"])) > 20


def test_a_narrow_value_before_a_wide_one_in_a_concatenation_is_precise() -> None:
    mod, params, data = program("skip")
    with qconfig(**EVERYTHING):
        quantized = quantize(mod, params)
    assert decibels(run(mod, data[0]["x"], **params), run(quantized, data[0]["x"])) > 20


def test_a_simulated_program_has_no_numbers_of_sites() -> None:
    mod, params, _ = program("branches")
    with qconfig(do_simulation=True):
        simulated = quantize(mod, params)
    assert {attrs.site for attrs in attributes(simulated, "relay.op.annotation.simulated_quantize")} == {-1}
    assert "site" not in simulated.astext()


# -- calibration


def test_kl_divergence_has_255_levels_for_any_number_of_bits() -> None:
    scheme = TvmSymmetric(qconfig(calibrate_mode="kl_divergence", nbit_input=4))
    quantizers = [scheme.quantizer(role) for role in (Role.INPUT, Role.ACTIVATION)]
    assert [how.bits for how in quantizers] == [4, 32]
    assert {how.calibrator for how in quantizers} == {KLDivergence(levels=255)}


def test_kl_divergence_calibrates_accumulators() -> None:
    mod, params, data = program("skip")
    with qconfig(calibrate_mode="kl_divergence", **EVERYTHING):
        sites = trace(mod, params=params, dataset=data).sites
    (wide,) = [site for site in sites if site.quantizer.role is Role.ACTIVATION]
    assert wide.parameters is not None
    assert wide.statistics is not None
    assert wide.parameters.method == "KL divergence"
    assert 0 < float(wide.parameters.scale) * 2**31 <= wide.statistics.largest


def test_the_histogram_of_zeros_has_the_edges_of_numpy() -> None:
    zeros = np.zeros(100, "float32")
    counts, edges = histogram([zeros], 0.0)
    bound: Any = np.float32(0)
    expected = np.histogram(zeros, bins=8001, range=(bound, bound))
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_array_equal(edges, expected[1])


# -- the interface


def test_outside_a_context_old_code_skips_no_convolution() -> None:
    mod, params, _ = program("branches")
    old = tvm.relay.quantize
    assert old.current_qconfig() == QConfig(skip_conv_layers=None)
    assert set(types_of(old.quantize(mod, params), "nn.conv2d")) == {"int32"}
    with old.qconfig():
        assert types_of(old.quantize(mod, params), "nn.conv2d")[0] == "float32"


def test_folding_removes_marks_of_kernels_from_constants() -> None:
    x, one = relay.var("x", shape=(2,)), relay.const(np.ones(2, "float32"))
    marks = relay.annotation
    body = relay.add(marks.stop_fusion(x), marks.stop_fusion(marks.cast_hint(one, "int8")))
    mod = infer_types(IRModule.from_expr(Function([x], body)))
    assert operators(FoldConstant()(mod)) == ["annotation.stop_fusion", "add"]


def split(source: str, **values: Any) -> tuple[IRModule, IRModule]:
    mod = relay.parse(source)
    with qconfig(**EVERYTHING):
        quantized = quantize(mod, values)
    return quantized, partition_conversions(quantized, ("int8", "int32"), ensure_fully_integral=False)


def test_float_operators_after_the_last_integers_belong_to_the_output() -> None:
    w = np.random.default_rng(0).normal(size=(4, 8)).astype("float32")
    quantized, parts = split(
        """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(4, 8), float32]) {
  %0 = nn.dense(%x, %w, units=4);
  subtract(nn.softmax(%0), sigmoid(%0))
}
""",
        w=w,
    )
    assert operators(parts, "quantized_main") == ["nn.dense", "add", "right_shift", "clip"]
    assert "nn.softmax" in operators(parts, "dequantize_outputs")
    names = [var.name_hint for var in post_order(parts["main"]) if isinstance(var, relay.Var)]
    assert [name for name in names if name != "x"] == [
        "quantized_inputs", "quantized_outputs", "dequantized_outputs",
    ]  # fmt: skip
    x = np.random.default_rng(1).normal(size=(2, 8)).astype("float32")
    np.testing.assert_array_equal(run(parts, x), run(quantized, x))


def test_an_output_that_also_depends_on_floats_is_not_split() -> None:
    w = np.random.default_rng(0).normal(size=(8, 8)).astype("float32")
    quantized, parts = split(
        """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(8, 8), float32]) {
  %0 = tanh(%x);
  subtract(%0, nn.dense(%0, %w, units=8))
}
""",
        w=w,
    )
    assert operators(parts, "dequantize_outputs") == []
    x = np.random.default_rng(1).normal(size=(2, 8)).astype("float32")
    np.testing.assert_array_equal(run(parts, x), run(quantized, x))


def test_an_input_that_two_layers_convert_is_converted_once() -> None:
    random = np.random.default_rng(0)
    a, b = (random.normal(size=(4, 8)).astype("float32") for _ in range(2))
    quantized, parts = split(
        """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 8), float32], %a: Tensor[(4, 8), float32], %b: Tensor[(4, 8), float32]) {
  add(nn.dense(%x, %a, units=4), nn.dense(%x, %b, units=4))
}
""",
        a=a,
        b=b,
    )
    main = parts["main"]
    assert isinstance(main, Function)
    assert len(main.params) == 1
    assert free_vars(parts["quantize_inputs"]) == []
    x = random.normal(size=(2, 8)).astype("float32")
    np.testing.assert_array_equal(run(parts, x), run(quantized, x))
