"""The interface of `tvm.relay.quantize`: settings, passes, rules of users, and the split of conversions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat import tvm
from relay_explorer.ir import Call, Expr, IRModule
from relay_explorer.ir.errors import RelayError
from relay_explorer.quantize import QConfig, current_qconfig, qconfig, quantize
from relay_explorer.quantize.conversions import has_only_conversion_ops, partition_conversions
from relay_explorer.quantize.schemes.tvm_symmetric.registry import USER_RULES
from relay_explorer.transform import InferType, PassContext, Sequential, module_pass
from relay_explorer.typing import infer_types
from tests.quantize.networks import PERCEPTRON, decibels, network, operators, run, types_of


def test_settings_are_those_of_the_innermost_context() -> None:
    assert current_qconfig() == QConfig()
    with qconfig(global_scale=4.0):
        with qconfig(nbit_input=4):
            assert (current_qconfig().nbit_input, current_qconfig().global_scale) == (4, 8.0)
        assert current_qconfig().global_scale == 4.0
    assert current_qconfig() == QConfig()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"skip_dense_layers": True}, r"no field `skip_dense_layers`\n.*did you mean `skip_dense_layer`"),
        ({"calibrate_mode": "mean"}, "calibrate_mode must be one of 'global_scale'"),
        ({"rounding": "UP"}, "rounding must be one of 'UPWARD', 'TONEAREST', not 'UP'"),
    ],
)
def test_settings_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(RelayError, match=message):
        qconfig(**fields)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"nbit_input": 0}, "nbit_input is a number of bits from 2 to 32, not 0"),
        ({"nbit_weight": 4.5}, r"not 4\.5"),
        ({"nbit_input": 9}, "integers of 9 bits .* do not fit into int8"),
        ({"dtype_input": "uint8"}, "because integers are signed"),
        ({"dtype_activation": "float32"}, "dtype_activation is one of int8, int16, int32"),
        ({"global_scale": -1}, "global_scale is a positive number"),
        ({"global_scale": "a"}, "global_scale is a positive number"),
        ({"skip_conv_layers": 3}, r"for example, \[0\]"),
        ({"skip_conv_layers": ["0"]}, "skip_conv_layers is a list or None"),
        ({"debug_enabled_ops": "nn.conv2d"}, "debug_enabled_ops is a list or None"),
    ],
)
def test_numbers_and_lists_are_checked(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(RelayError, match=words):
        qconfig(**fields)
    assert qconfig(nbit_input=16, dtype_input="int16", nbit_activation=32, dtype_activation="int16")


def test_old_codes_misspelt_settings_are_ignored() -> None:
    assert tvm.relay.quantize.qconfig(skip_dense_layers=False) == QConfig()


def test_simulation_stays_in_float() -> None:
    mod, params, _ = network()
    with qconfig(do_simulation=True, skip_conv_layers=[]):
        simulated = quantize(mod, params)
    assert operators(simulated).count("relay.op.annotation.simulated_quantize") == 4
    assert set(types_of(simulated, "nn.conv2d")) == {"float32"}


def test_the_phases_are_passes_too() -> None:
    mod, params, data = network()
    with qconfig(skip_conv_layers=[], calibrate_mode="kl_divergence", weight_scale="max"):
        whole = quantize(mod, params, data)
        prepared = relay.quantize.prerequisite_optimize(mod, params)
        phases = Sequential(
            [
                relay.quantize.partition(),
                relay.quantize.annotate(),
                module_pass(relay.quantize.calibrate(data), opt_level=1, name="QuantizeCalibrate"),
                InferType(),
                relay.quantize.realize(),
                relay.transform.FoldConstant(),
            ]
        )
        with PassContext(opt_level=3):
            stepwise = phases(prepared)
    assert operators(stepwise) == operators(whole)
    np.testing.assert_array_equal(run(infer_types(stepwise), data[0]["x"]), run(whole, data[0]["x"]))


def test_statistics_are_collected_in_chunks() -> None:
    mod, params, data = network()
    with qconfig(skip_conv_layers=[]):
        prepared = relay.quantize.prerequisite_optimize(mod, params)
        annotated = relay.quantize.annotate()(infer_types(prepared))
        collect = tvm.relay.quantize._calibrate.collect_stats
        whole = list(collect(annotated, data))
        chunks = list(collect(annotated, data, chunk_by=2))
    assert len(whole) == 1
    assert [len(chunk) for chunk in chunks[:-1]] == [2] * (len(chunks) - 1)
    for a, b in zip(whole[0], [values for chunk in chunks for values in chunk], strict=True):
        np.testing.assert_array_equal(a, b)


def test_both_roundings_of_fixed_point_products_are_precise() -> None:
    mod, params, data = network()
    x = data[0]["x"]
    expected = run(mod, x, **params)
    for rounding in ("UPWARD", "TONEAREST"):
        with qconfig(skip_conv_layers=[], calibrate_mode="percentile", weight_scale="max", rounding=rounding):
            assert decibels(expected, run(quantize(mod, params, data), x)) > 25


def test_only_the_operators_of_debug_enabled_ops_are_quantized() -> None:
    mod, params, _ = network(PERCEPTRON)
    with qconfig(skip_dense_layer=False, debug_enabled_ops=["nn.conv2d"]):
        assert set(types_of(quantize(mod, params), "nn.dense")) == {"float32"}
    with qconfig(skip_dense_layer=False, debug_enabled_ops=["nn.dense"]):
        assert set(types_of(quantize(mod, params), "nn.dense")) == {"int32"}


def test_a_users_rule_replaces_that_of_an_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    old = tvm.relay.quantize
    monkeypatch.setitem(USER_RULES, "FQAnnotateRewrite", {})

    @old.register_annotate_function("nn.dense")  # type: ignore[untyped-decorator]  # old code's interface
    def first_only(ref_call: Call, new_args: list[Any], ctx: object) -> Any:
        if old.quantize_context().check_to_skip(ref_call):
            return None
        data, weight = (getattr(arg, "expr", arg) for arg in new_args)
        data = old.attach_simulated_quantize(data, old.QAnnotateKind.INPUT)
        weight = old.attach_simulated_quantize(weight, old.QAnnotateKind.WEIGHT)
        old.quantize_context().stop_quantize()
        return old._annotate.QAnnotateExpr(
            Call(ref_call.op, [data, weight], ref_call.attrs), old.QAnnotateKind.ACTIVATION
        )

    mod, params, data = network(PERCEPTRON)
    with qconfig(global_scale=4.0):
        quantized = quantize(mod, params)
    assert types_of(quantized, "nn.dense") == ["int32", "float32"]
    assert decibels(run(mod, data[0]["x"], **params), run(quantized, data[0]["x"])) > 20


def test_a_users_rule_cuts_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(USER_RULES, "FQPartitionRewrite", {})
    seen: list[str] = []

    def watch(ref_call: Call, new_args: list[Expr], ctx: object) -> None:
        seen.append(str(len(new_args)))

    relay.quantize.register_partition_function("nn.max_pool2d", watch)
    mod, params, _ = network()
    quantize(mod, params)
    assert seen == ["1"]


def test_simulation_outside_a_run_has_variables_for_its_parameters() -> None:
    x = relay.var("x", shape=(2, 3))
    old = tvm.relay.quantize._annotate
    call = old.attach_simulated_quantize(x, old.QAnnotateKind.INPUT)
    assert [param.name_hint for param in call.args] == ["x", "dom_scale", "clip_min", "clip_max"]
    assert old.attach_simulated_quantize(call, old.QAnnotateKind.INPUT) is call


def test_thresholds_of_arrays() -> None:
    values = np.append(np.random.default_rng(0).normal(size=20_000), 60).astype("float32")
    assert 2 < tvm.relay.quantize.kl_divergence._find_scale_by_kl(values) < 12
    assert tvm.relay.quantize._calibrate._find_scale_by_percentile(values, 0.999) < 5


# -- input, core, output


def integral() -> IRModule:
    mod = relay.parse(
        """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]))
}
"""
    )
    w = np.random.default_rng(0).normal(size=(4, 4, 3, 3)).astype("float32")
    with qconfig(skip_conv_layers=[]):
        return quantize(mod, {"w": w})


DTYPES = ("int8", "int32")


def test_conversions_are_split_from_the_integer_core() -> None:
    mod = integral()
    split = partition_conversions(mod, DTYPES, ensure_fully_integral=True)
    names = sorted(var.name_hint for var in split.functions)
    assert names == ["dequantize_outputs", "main", "quantize_inputs", "quantized_main"]
    assert operators(split, "quantize_inputs") == ["multiply", "round", "clip", "cast"]
    assert operators(split, "dequantize_outputs") == ["cast", "multiply"]
    assert has_only_conversion_ops(split["quantize_inputs"])
    x = np.random.default_rng(1).normal(size=(1, 4, 8, 8)).astype("float32")
    np.testing.assert_array_equal(run(split, x), run(mod, x))


def test_a_float_operator_in_the_core_is_found() -> None:
    mod, params, data = network()
    with qconfig(skip_conv_layers=[]):
        quantized = quantize(mod, params)
    split = partition_conversions(quantized, DTYPES, ensure_fully_integral=False)
    np.testing.assert_array_equal(run(split, data[0]["x"]), run(quantized, data[0]["x"]))
    with pytest.raises(AssertionError, match="some operators were not quantized"):
        partition_conversions(quantized, DTYPES, ensure_fully_integral=True)


def test_a_float_program_is_all_core() -> None:
    mod = infer_types(relay.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) { sqrt(%x) }'))
    split = partition_conversions(mod, DTYPES, ensure_fully_integral=False)
    assert operators(split, "quantized_main") == ["sqrt"]
    x = np.asarray([4, 9], "float32")
    np.testing.assert_array_equal(run(split, x), [2, 3])


def test_a_module_of_several_functions_is_not_split() -> None:
    mod = relay.parse('#[version = "0.0.5"]\ndef @f(%x: int32) { %x }\ndef @main(%x: int32) { @f(%x) }')
    with pytest.raises(RelayError, match="needs a module with one function, not 2"):
        partition_conversions(mod, DTYPES, ensure_fully_integral=False)
