"""Random well-typed programs, with every construct of the language, are quantized without fail."""

from __future__ import annotations

import pytest

from relay_explorer.quantize import GlobalScale, Scheme, qconfig, trace
from relay_explorer.quantize.schemes import (
    PerChannelAsymmetric,
    Ternary,
    TvmSymmetric,
    Weights4BitGroups,
)
from relay_explorer.testing import generate
from relay_explorer.typing import infer_types
from tests.property.test_evaluation import value_of
from tests.transform.test_contracts import close

SCHEMES: list[Scheme] = [
    PerChannelAsymmetric(calibrator=GlobalScale(4.0)),
    TvmSymmetric(qconfig(skip_conv_layers=None, skip_dense_layer=False)),
    Ternary(calibrator=GlobalScale(4.0), keep=()),
    Weights4BitGroups(group=4),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("seed", range(0, 80, 20))
def test_a_random_program_is_quantized(scheme: Scheme, seed: int) -> None:
    for number in range(seed, seed + 2):
        module = generate(number, size=60, closed=True).module
        quantization = trace(module, scheme)
        infer_types(quantization.realized)
        expected = value_of(quantization.float_program)
        assert close(expected, value_of(quantization.annotated), 0), number
        value_of(quantization.realized)


def test_a_program_of_doubles_is_left_alone() -> None:
    """Products of float64 are not quantized: seed 130 has one."""
    quantization = trace(generate(130, size=80).module, SCHEMES[1])
    assert any("not float32" in place.why for place in quantization.kept)
