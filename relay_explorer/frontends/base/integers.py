"""Let an imported model compute with integers between the operators that quantize and dequantize."""

from __future__ import annotations

from ...ir.module import IRModule
from ...transform.fake_quantization import FakeQuantizationToInteger
from ...typing import infer_types


def with_integers(module: IRModule) -> IRModule:
    """Return a model whose quantized regions compute with integers.

    Sums are rescaled in float32 and rounded half to even, as frameworks do. Results differ from those of the
    model as it was imported by at most one step of each scale at which values are quantized; most are equal.
    """
    convert = FakeQuantizationToInteger(use_qat=True, rounding="TOEVEN", compute_dtype="float32")
    return convert(infer_types(module))
