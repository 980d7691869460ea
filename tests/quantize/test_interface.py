"""A scheme of one's own, and what happens when it, or the dataset, is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Call, Expr, IRModule
from relay_explorer.ir.errors import RelayError
from relay_explorer.quantize import (
    Annotation,
    Candidate,
    GlobalScale,
    Keep,
    MaxAbs,
    MinMax,
    Observed,
    Parameters,
    Quantized,
    Quantizer,
    Role,
    Scheme,
    Site,
    follow,
    layer,
    parameters,
    quantize,
    trace,
)
from relay_explorer.quantize.schemes import PerChannelAsymmetric
from relay_explorer.transform import PassContext
from tests.quantize.networks import PERCEPTRON, decibels, network, operators, run


@dataclass(frozen=True)
class SixBits(Scheme):
    """6-bit symmetric operands. The first layer stays in float."""

    name = "six_bits"
    data = Quantizer(Role.INPUT, 6, calibrator=MaxAbs())
    weight = Quantizer(Role.WEIGHT, 6, axis=0, calibrator=MaxAbs())

    def annotate(self, candidate: Candidate) -> Annotation | Keep | None:
        if candidate.layer == 0:
            return Keep("the first layer stays in float")
        return layer(candidate, self.data, self.weight) or follow(candidate, self.data)


def test_a_scheme_is_a_few_lines() -> None:
    mod, params, data = network()
    quantization = trace(mod, SixBits(), params, data)
    x = data[0]["x"]
    assert decibels(run(mod, x, **params), run(quantization.realized, x)) > 20
    assert [place.why for place in quantization.kept][:1] == ["the first layer stays in float"]
    integers = [site.realized for site in quantization.sites if site.quantizer.role is Role.WEIGHT]
    assert len(integers) == 2


@dataclass(frozen=True)
class Doubling(SixBits):
    """Every method overridden: multiplications by 2 are additions, on integers whose scale is 1."""

    name = "doubling"

    def annotate(self, candidate: Candidate) -> Annotation | Keep | None:
        if candidate.op.name != "multiply":
            return None
        return Annotation([Quantizer(bits=16), None], Role.ACTIVATION, "a product with 2 is a sum")

    def calibrate(self, site: Site, observed: Observed) -> Parameters:
        assert observed.peers[0].call is site.call
        highest = site.quantizer.highest
        return parameters(site.quantizer, np.asarray(-highest), np.asarray(highest), "one", "steps of 1")

    def quantize(self, data: Expr, site: Site) -> Quantized:
        return Quantized(self, relay.cast(relay.round(data), "int32"), "int32", 1.0)

    def dequantize(self, value: Quantized) -> Expr:
        result: Expr = relay.cast(value.expr, "float32")
        return result

    def realize(self, call: Call, operands: Sequence[Quantized | Expr]) -> Quantized | Expr | None:
        value = operands[0]
        return value.but(value.expr + value.expr) if isinstance(value, Quantized) else None


def test_every_phase_can_be_replaced() -> None:
    mod = relay.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(3), float32]) { %x * 2f }')
    quantization = trace(mod, Doubling(), dataset=[[np.zeros(3, "float32")]])
    assert operators(quantization.realized) == ["round", "cast", "add", "cast"]
    assert run(quantization.realized, np.asarray([1.2, -7.6, 0], "float32")).tolist() == [2, -16, 0]


def test_the_program_computes_the_same_until_it_is_calibrated() -> None:
    mod, params, data = network()
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    np.testing.assert_array_equal(
        run(quantization.annotated, data[0]["x"]), run(quantization.float_program, data[0]["x"])
    )


def test_sites_say_what_happened() -> None:
    mod, params, data = network(PERCEPTRON)
    quantization = trace(mod, PerChannelAsymmetric(), params, data)
    site = quantization.sites[0]
    assert str(site) == "operand 0 of `nn.dense` in @main"
    assert str(site.quantizer) == "int8, asymmetric, per tensor"
    assert site.why == "layers do most of the arithmetic, so the scheme quantizes them"
    assert site.statistics is not None
    assert site.statistics.count == 4 * 4 * 64
    assert site.statistics.counts.sum() == site.statistics.count
    assert site.parameters is not None
    assert site.parameters.reason == "it covers every observed value, to within half a step"
    assert quantization.sites[1].parameters is not None
    assert quantization.sites[1].parameters.scale.shape == (96,)
    assert site == site  # arrays do not compare as one truth value, sites do
    assert site != quantization.sites[1]
    held = quantization.integers()
    assert set(held) == {site.index for site in quantization.sites}
    assert str(getattr(held[0].checked_type, "dtype", "")) == "int8"


def test_requantizations_that_cancel_are_noted() -> None:
    """A maximum keeps the scale, so the convolution behind it reads the same integers."""
    mod, params, data = network()

    @dataclass(frozen=True)
    class OneScale(PerChannelAsymmetric):
        """One scale for all activations, so that no integers change theirs."""

        def annotate(self, candidate: Candidate) -> Annotation | Keep | None:
            answer = super().annotate(candidate)
            if isinstance(answer, Annotation) and candidate.layer is not None:
                return answer._replace(operands=[self.data, *answer.operands[1:]])
            return answer

    quantization = trace(mod, OneScale(calibrator=GlobalScale(8.0)), params, data)
    assert [place.cancelled for place in quantization.requantizations].count(True) > 0
    assert [place.cancelled for place in quantization.requantizations].count(False) > 0


# -- mistakes


class Answering(Scheme):
    """A scheme whose answers are given to it."""

    name = "answering"

    def __init__(self, annotation: Any, calibration: Any = None, realization: Any = None) -> None:
        self.annotation = annotation
        self.calibration = calibration
        self.realization = realization

    def annotate(self, candidate: Candidate) -> Any:
        return self.annotation if candidate.op.name == "nn.dense" else None

    def calibrate(self, site: Site, observed: Observed) -> Any:
        return super().calibrate(site, observed) if self.calibration is None else self.calibration

    def realize(self, call: Call, operands: Sequence[Quantized | Expr]) -> Any:
        return self.realization


GOOD = Quantizer(calibrator=MaxAbs())
WEIGHT = Quantizer(Role.WEIGHT, calibrator=MaxAbs())
ONE = np.asarray(1, "float32")


def wrong_scale(value: object, zero: object = 0) -> Parameters:
    return Parameters(np.asarray(value, "float32"), np.asarray(zero, "int32"), -ONE, ONE)


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        (Answering("int8"), "returned 'int8' for `nn.dense`"),
        (Answering(Annotation([GOOD])), "returned 1 quantizer for 2 operands"),
        (
            Answering(Annotation([Quantizer(axis=2), None])),
            r"has scales along axis 2, but the value .* has 2 axes",
        ),
        (
            Answering(Annotation([Quantizer(Role.WEIGHT), None])),
            "the role of a weight, but it is not a constant",
        ),
        (Answering(Annotation([Quantizer(), None])), "its quantizer has no calibrator"),
        (Answering(Annotation([GOOD, None]), calibration=3.5), r"calibration returned 3\.5 instead"),
        (Answering(Annotation([GOOD, None]), calibration=wrong_scale(0)), "returned the scale 0"),
        (Answering(Annotation([GOOD, None]), calibration=wrong_scale(np.nan)), "returned the scale nan"),
        (Answering(Annotation([GOOD, None]), calibration=wrong_scale([1, 1], [0, 0])), r"the shape \(2,\)"),
        (Answering(Annotation([GOOD, WEIGHT]), realization=7), "returned 7 for `nn.dense`"),
    ],
)
def test_answers_that_make_no_sense_are_refused(scheme: Scheme, message: str) -> None:
    mod, params, data = network(PERCEPTRON)
    with pytest.raises(RelayError, match=message):
        trace(mod, scheme, params, data)


def test_a_scheme_without_an_integer_form_leaves_the_call_in_float_and_says_so() -> None:
    mod, params, data = network(PERCEPTRON)
    quantization = trace(mod, Answering(Annotation([GOOD, WEIGHT], None)), params, data)
    assert "nn.dense" in operators(quantization.realized)
    assert [place.why for place in quantization.kept if "integer form" in place.why] == [
        "the scheme has no integer form of `nn.dense` for these operands"
    ] * 2


def test_what_is_no_scheme_is_refused() -> None:
    mod, params, data = network(PERCEPTRON)
    with pytest.raises(RelayError, match="an instance of a class derived from Scheme"):
        trace(mod, PerChannelAsymmetric, params, data)  # type: ignore[arg-type]  # the class itself
    with pytest.raises(NotImplementedError, match="the scheme scheme has no `annotate`"):
        trace(mod, Scheme(), params, data)


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (None, "but the dataset is missing"),
        ([], "but the dataset has no inputs"),
        ([{"y": np.zeros((4, 64), "float32")}], "no values for the parameter `%x`"),
        ([3], "not int"),
        ([{"x": np.zeros((4, 63), "float32")}], "calibration failed on input 0"),
        (
            [{"x": np.full((4, 64), np.nan, "float32")}],
            "256 of 256 values are not finite, the first of them nan",
        ),
        ([{"x": np.full((4, 64), np.inf, "float32")}], "are not finite, the first of them inf"),
    ],
)
def test_datasets_that_do_not_fit_are_refused(dataset: Any, message: str) -> None:
    mod, params, _ = network(PERCEPTRON)
    with pytest.raises(RelayError, match=message):
        trace(mod, PerChannelAsymmetric(), params, dataset)


def test_weights_that_are_not_finite_are_refused() -> None:
    mod, params, data = network(PERCEPTRON)
    params["w1"][0, 0] = np.inf
    with pytest.raises(RelayError, match="a constant: 1 of 6,144 values are not finite"):
        trace(mod, PerChannelAsymmetric(), params, data)


def test_inputs_of_another_element_type_are_converted() -> None:
    mod, params, data = network(PERCEPTRON)
    doubles = [{"x": batch["x"].astype("float64"), "unused": 1} for batch in data]
    assert quantize(mod, params, doubles, PerChannelAsymmetric()) is not None


def test_a_dataset_may_be_an_iterator_and_its_inputs_sequences() -> None:
    mod, params, data = network(PERCEPTRON)
    batches = ([batch["x"]] for batch in data)
    quantization = trace(mod, PerChannelAsymmetric(), params, batches)
    assert quantization.sites[0].statistics is not None
    assert quantization.sites[0].statistics.tensors == 4


def test_constant_zero_tensors_have_a_defined_scale() -> None:
    mod, params, data = network(PERCEPTRON)
    zeros = {name: np.zeros_like(value) for name, value in params.items()}
    inputs = [{"x": np.zeros_like(batch["x"])} for batch in data]
    for scheme in (PerChannelAsymmetric(), SixBits()):
        assert not run(trace(mod, scheme, zeros, inputs).realized, inputs[0]["x"]).any()


def test_a_module_without_main_is_refused() -> None:
    with pytest.raises(RelayError, match="has no function @main"):
        trace(IRModule({}), PerChannelAsymmetric())


def test_instruments_see_the_phases() -> None:
    class Names:
        def __init__(self) -> None:
            self.seen: list[str] = []

        def run_after_pass(self, mod: IRModule, info: Any) -> None:
            self.seen.append(info.name)

    mod, params, data = network(PERCEPTRON)
    names = Names()
    with PassContext(instruments=[names]):
        trace(mod, PerChannelAsymmetric(), params, data)
    phases = [name for name in names.seen if name.startswith("Quantize")]
    assert phases == ["QuantizePartition", "QuantizeAnnotate", "QuantizeCalibrate", "QuantizeRealize"]


def test_min_and_max_is_a_calibrator_like_any_function() -> None:
    def narrow(statistics: Any, quantizer: Quantizer) -> Parameters:
        return parameters(quantizer, np.asarray(-0.5), np.asarray(0.5), "narrow", "half on both sides")

    mod, params, data = network(PERCEPTRON)
    quantization = trace(mod, PerChannelAsymmetric(calibrator=narrow), params, data)
    chosen = quantization.sites[0].parameters
    assert chosen is not None
    assert (chosen.method, chosen.reason) == ("narrow", "half on both sides")
    assert quantization.scheme != trace(mod, PerChannelAsymmetric(calibrator=MinMax()), params, data).scheme
