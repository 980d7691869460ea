"""Wrong schemes, data, parameters and quantizers: each message says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.module import IRModule
from relay_explorer.quantize import (
    Annotation,
    GlobalScale,
    Keep,
    LeastSquares,
    MaxAbs,
    MinMax,
    Parameters,
    Quantizer,
    Role,
    Scheme,
    follow,
    parameters,
    quantize,
    trace,
)
from relay_explorer.quantize.schemes import Int8Int16, PerChannelAsymmetric, Ternary, Weights4BitGroups
from tests.quantize.networks import PERCEPTRON, network, run

DATA = Quantizer(calibrator=MaxAbs())
WEIGHT = Quantizer(Role.WEIGHT, calibrator=MaxAbs())
BOTH = Annotation([DATA, WEIGHT])
Array = np.ndarray[Anything, Anything]


def fails(*_: object) -> Anything:
    raise ValueError("boom")


def scheme(annotation: object = BOTH, **methods: Callable[..., Anything]) -> Scheme:
    """Make a scheme that annotates dense layers, and has some methods."""

    def annotate(self: Scheme, candidate: Anything) -> Anything:
        if callable(annotation):
            return annotation(candidate)
        return annotation if candidate.op.name == "nn.dense" else None

    scheme: Scheme = type("Mine", (Scheme,), {"name": "mine", "annotate": annotate, **methods})()
    return scheme


def message(scheme: Scheme) -> str:
    """Return the error that a scheme raises on a network of dense layers."""
    mod, params, data = network(PERCEPTRON)
    with pytest.raises(RelayError) as caught:
        trace(mod, scheme, params, data)
    return str(caught.value)


# -- methods that raise an error


@pytest.mark.parametrize(
    ("method", "about"),
    [
        ("annotate", "`nn.dense` in @main"),
        ("calibrate", "operand 0 of `nn.dense` in @main"),
        ("quantize", "operand 0 of `nn.dense` in @main"),
        ("realize", "`nn.dense` in @main"),
        ("dequantize", "a value of int32"),
        ("prepare", "the float program"),
        ("shared", "the result of `nn.dense` in @main"),
    ],
)
def test_an_error_names_the_scheme_the_method_and_the_call(method: str, about: str) -> None:
    wrong = scheme(**{method: fails})
    if method != "shared":
        assert f"`{method}` of the scheme mine failed for {about}: ValueError: boom" in message(wrong)
        return
    text = """#[version = "0.0.5"]
    def @main(%x: Tensor[(2, 4), float32], %w: Tensor[(4, 4), float32]) {
      let %a = nn.dense(%x, %w, units=4);
      nn.dense(%a, %w, units=4) + nn.dense(%a, %w, units=4)
    }"""
    weights = {"w": np.eye(4, dtype="float32")}
    with pytest.raises(RelayError, match=f"`shared` of the scheme mine failed for {about}: ValueError"):
        trace(relay.parse(text), wrong, weights, [[np.ones((2, 4), "float32")]])


def test_the_error_itself_is_the_cause() -> None:
    mod, params, data = network(PERCEPTRON)
    with pytest.raises(RelayError) as caught:
        trace(mod, scheme(calibrate=fails), params, data)
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_error_of_the_package_gets_a_note() -> None:
    unbounded = Quantizer(calibrator=lambda seen, how: parameters(how, -np.inf, np.inf))
    text = message(scheme(Annotation([unbounded, WEIGHT])))
    assert "the range from -inf to inf is not finite" in text
    assert "`calibrate` of the scheme mine, for operand 0 of `nn.dense` in @main" in text


def test_an_ill_typed_program_names_its_scheme() -> None:
    text = message(scheme(realize=lambda self, call, operands: relay.const(1.0)))
    assert "this comes from `realize` of the scheme mine" in text


# -- answers of the wrong kind


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (scheme(Annotation(DATA)), "the operands of an Annotation are a list of quantizers"),  # type: ignore[arg-type]
        (scheme(Annotation(["int8", None])), "'int8' is not a quantizer"),  # type: ignore[list-item]
        (scheme(Annotation([DATA, WEIGHT], "float")), "a Role, a Quantizer or None, not 'float'"),  # type: ignore[arg-type]
        (scheme(Keep(None)), "give the reason as a sentence"),  # type: ignore[arg-type]
        (
            scheme(Annotation([Quantizer(Role.IDENTITY, calibrator=MaxAbs()), WEIGHT])),
            "the role of a value that is not quantized",
        ),
        (scheme(prepare=lambda self, mod: None), "`prepare` of the scheme mine returned None"),
        (scheme(prepare=lambda self, mod: IRModule({})), "no function @main"),
        (scheme(quantize=lambda self, data, site: data), "`quantize` of the scheme mine returned"),
        (scheme(dequantize=lambda self, value: None), "`dequantize` of the scheme mine returned None"),
        (
            scheme(Annotation([Quantizer(group=3, calibrator=MaxAbs()), WEIGHT])),
            "no operator of `qnn` has a scale for each group",
        ),
        (scheme(Annotation([DATA, Quantizer(Role.WEIGHT, axis=5)])), "its axes are 0 to 1"),
    ],
)
def test_answers_of_other_kinds_are_refused(wrong: Scheme, words: str) -> None:
    text = message(wrong)
    assert words in text
    assert "mine" in text or "nn.dense" in text or "@main" in text


@pytest.mark.parametrize(
    ("scale", "zero_point", "words"),
    [
        (1e-60, 0, "the scale 1e-60; scales are positive and finite in float32"),
        (1e60, 0, r"the scale 1e\+60"),
        (0.1, 500, "the zero point 500, but it is one of the integers from -127 to 127"),
        (0.1, 0.5, r"the zero point 0\.5"),
        (0.1, np.nan, "the zero point nan"),
        ("a", 0, "whose fields are not arrays of numbers"),
    ],
)
def test_parameters_that_are_no_use_are_refused(scale: Anything, zero_point: Anything, words: str) -> None:
    def calibrate(*_: object) -> Parameters:
        return Parameters(scale, zero_point, np.float32(-1), np.float32(1))

    mod, params, data = network(PERCEPTRON)
    with pytest.raises(RelayError, match=words):
        trace(mod, scheme(calibrate=calibrate), params, data)


def test_numbers_of_python_are_parameters() -> None:
    mod, params, data = network(PERCEPTRON)
    simple = scheme(calibrate=lambda self, site, observed: Parameters(0.1, 0, -12.7, 12.7))
    result = trace(mod, simple, params, data).sites[0].parameters
    assert result is not None
    assert (result.scale.dtype, result.zero_point.dtype) == ("float32", "int32")


# -- quantizers, calibrators and the options of schemes


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Quantizer(bits=True), "not True"),
        (lambda: Quantizer(axis=0.5), "`axis` of a quantizer is an integer"),  # type: ignore[arg-type]
        (lambda: Quantizer(group="2"), "`group` of a quantizer is an integer"),  # type: ignore[arg-type]
        (lambda: Quantizer(steps=0), "at least one step"),
        (lambda: Quantizer("input"), "the role of a quantizer is a Role"),  # type: ignore[arg-type]
        (lambda: Quantizer(calibrator=MaxAbs), r"write calibrator=MaxAbs\(\)"),  # type: ignore[arg-type]
        (lambda: Quantizer(calibrator="max"), "not 'max'"),  # type: ignore[arg-type]
        (lambda: GlobalScale(0), "a threshold is positive"),
        (lambda: GlobalScale(float("nan")), "a threshold is positive"),
        (lambda: LeastSquares(0), "at least one candidate"),
        (lambda: Int8Int16(margin=float("inf")), "a finite factor"),
        (lambda: Int8Int16(margin=float("nan")), "a finite factor"),
        (lambda: PerChannelAsymmetric(bits=16), "weights of at most 8 bits, not 16"),
        (lambda: PerChannelAsymmetric(keep=0), "`keep` has the numbers of the layers"),  # type: ignore[arg-type]
        (lambda: Weights4BitGroups(keep="0"), "`keep` has the numbers of the layers"),  # type: ignore[arg-type]
        (lambda: Ternary(keep=None), "`keep` has the numbers of the layers"),  # type: ignore[arg-type]
    ],
)
def test_options_are_checked(make: Callable[[], object], words: str) -> None:
    with pytest.raises(RelayError, match=words):
        make()


# -- data


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        ({"x": np.zeros((4, 64))}, "not a value of type dict"),
        (np.zeros((4, 64)), "not a value of type ndarray"),
        (5, "not a value of type int"),
        ("data", "not a value of type str"),
        ([np.zeros((4, 64))], "not ndarray"),
        ([{"x": np.zeros((4, 64), "complex64")}], "complex64"),
    ],
)
def test_datasets_of_other_kinds_are_refused(dataset: Anything, words: str) -> None:
    mod, params, _ = network(PERCEPTRON)
    with pytest.raises(RelayError, match=words):
        trace(mod, PerChannelAsymmetric(), params, dataset)


def test_floats_are_not_cut_off_to_integers() -> None:
    text = """#[version = "0.0.5"]
    def @main(%i: Tensor[(2), int32], %w: Tensor[(3, 4), float32]) {
      nn.dense(cast(reshape(%i, newshape=[1, 2]), dtype="float32"), reshape(%w, newshape=[6, 2]), units=6)
    }"""
    weights = {"w": np.ones((3, 4), "float32")}
    mod = relay.parse(text)
    assert trace(mod, PerChannelAsymmetric(), weights, [[np.asarray([1, 2], "int64")]]).sites
    with pytest.raises(RelayError, match="must be `Tensor"):
        trace(mod, PerChannelAsymmetric(), weights, [[np.asarray([1.5, 2])]])


class Tensor:
    """A tensor of PyTorch, as far as its values are read."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Array:
        return self.values


def test_tensors_of_pytorch_are_data_and_weights() -> None:
    mod, params, data = network(PERCEPTRON)

    def loader() -> Iterator[Sequence[Tensor]]:
        yield from ([Tensor(batch["x"].astype("float64"))] for batch in data)

    tensors = {name: Tensor(value) for name, value in params.items()}
    result = trace(mod, PerChannelAsymmetric(), tensors, loader())
    expected = trace(mod, PerChannelAsymmetric(), params, data)
    np.testing.assert_array_equal(run(result.realized, data[0]["x"]), run(expected.realized, data[0]["x"]))


# -- parameters and programs


def test_arrays_of_another_precision_become_the_parameters_type() -> None:
    mod, params, data = network(PERCEPTRON)
    doubles = {name: value.astype("float64") for name, value in params.items()}
    result = trace(mod, PerChannelAsymmetric(), doubles, data)
    assert [site.quantizer.role for site in result.sites].count(Role.WEIGHT) == 2


def test_params_that_do_not_fit_are_refused() -> None:
    mod, params, data = network(PERCEPTRON)
    with pytest.raises(RelayError, match=r"`%w1` has the shape \(64, 96\)"):
        quantize(mod, params | {"w1": params["w1"].T}, data, PerChannelAsymmetric())
    with pytest.raises(RelayError, match="the order of arguments is"):
        quantize(mod, PerChannelAsymmetric(), data)  # type: ignore[arg-type]  # the scheme in place of params
    with pytest.raises(RelayError, match="a program to quantize is a module"):
        quantize(mod["main"], params, data)  # type: ignore[arg-type]  # a function


def test_an_annotated_program_is_not_annotated_again() -> None:
    mod, params, data = network(PERCEPTRON)
    result = trace(mod, PerChannelAsymmetric(), params, data)
    for again in (result.annotated, result.calibrated):
        with pytest.raises(RelayError, match="has been annotated already"):
            trace(again, PerChannelAsymmetric(), None, data)
    integers = trace(result.realized, PerChannelAsymmetric(), None, data)  # nothing is left to quantize
    assert not integers.sites


def test_operands_of_more_than_16_bits_stay_in_float() -> None:
    """A single product of them could overflow an accumulator of 32 bits."""
    mod, params, data = network(PERCEPTRON)
    for bits in (24, 32):
        wide = Quantizer(bits=bits, calibrator=MinMax())
        result = trace(mod, scheme(Annotation([wide, WEIGHT])), params, data)
        x = data[0]["x"]
        np.testing.assert_allclose(run(result.realized, x), run(result.calibrated, x), 1e-4, 1e-5)


def test_a_bias_that_is_not_a_number_stays_in_float() -> None:
    text = """#[version = "0.0.5"]
    def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(2, 4), float32], %b: Tensor[(2), float32]) {
      nn.bias_add(nn.dense(%x, %w, units=2), %b)
    }"""
    x = np.ones((1, 4), "float32")
    weights = {"w": np.ones((2, 4), "float32"), "b": np.asarray([np.nan, 1], "float32")}
    result = trace(relay.parse(text), PerChannelAsymmetric(), weights, [[x]])
    values = run(result.realized, x)
    assert np.isnan(values[0, 0])
    assert values[0, 1] == pytest.approx(5, rel=0.02)


# -- extreme numbers


@pytest.mark.parametrize("calibrator", [MinMax(), MaxAbs(), LeastSquares()])
@pytest.mark.parametrize("size", [1e-40, 1e-30, 1e20, 3e38])
def test_extreme_magnitudes_are_calibrated(calibrator: Anything, size: float) -> None:
    from relay_explorer.quantize.quantizer import to_integers, to_reals
    from relay_explorer.quantize.statistics import of_values

    quantizer = Quantizer(symmetric=not isinstance(calibrator, MinMax), calibrator=calibrator)
    values = np.asarray([-1, -0.5, 0, 0.25, 1], "float32") * np.float32(size)
    seen = of_values([values], quantizer)
    assert seen.counts.sum() == values.size
    result = calibrator(seen, quantizer)
    assert np.isfinite([result.scale, result.low, result.high]).all()
    if size > 1e-36:  # below, a step is no normal number, and the scale becomes 1
        reals = to_reals(to_integers(values, quantizer, result), quantizer, result)
        np.testing.assert_allclose(reals, values, rtol=0.01, atol=size / 100)


def test_tensors_without_elements_have_no_range_and_say_so() -> None:
    text = """#[version = "0.0.5"]
    def @main(%x: Tensor[(2, 0), float32], %w: Tensor[(3, 0), float32]) { nn.dense(%x, %w, units=3) }"""
    empty = {"w": np.zeros((3, 0), "float32")}
    for each in (PerChannelAsymmetric(), Int8Int16(), Weights4BitGroups(), Ternary(keep=())):
        result = trace(relay.parse(text), each, empty, [[np.zeros((2, 0), "float32")]])
        assert not run(result.realized, np.zeros((2, 0), "float32")).any()
        assert {place.why for place in result.kept} >= {"it has no elements, so it has no range"}


def test_a_program_whose_layers_are_kept_needs_no_data() -> None:

    mod, params, _ = network(PERCEPTRON)

    def annotate(candidate: Anything) -> Anything:
        return Keep("all of them") if candidate.layer is not None else follow(candidate, DATA)

    assert not trace(mod, scheme(annotate), params).sites
