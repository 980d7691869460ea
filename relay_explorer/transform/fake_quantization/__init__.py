"""FakeQuantizationToInteger: compute with integers what a program quantizes, computes in floating point, and
quantizes again.

A *fake-quantized* program contains `qnn.quantize` and `qnn.dequantize`, but all other operators compute with
floating-point numbers. Frameworks export quantized models in this form (ONNX calls it QDQ). `regions` finds
the parts between both, and replaces each operator by the rule in `rules` for it; `affine` is what a rule may
ask. `single` converts the operators of regions that stay float one at a time, and `events` has the reports.
"""

from __future__ import annotations

from .affine import AffineTypes, Rule, StaysFloatError
from .events import Region
from .explain import fake_quantized_regions
from .rules import (
    register_fake_quantization_to_integer,
    register_optional_fake_quantization_to_integer,
)
from .to_integer import FakeQuantizationToInteger

__all__ = [
    "AffineTypes",
    "FakeQuantizationToInteger",
    "Region",
    "Rule",
    "StaysFloatError",
    "fake_quantized_regions",
    "register_fake_quantization_to_integer",
    "register_optional_fake_quantization_to_integer",
]
