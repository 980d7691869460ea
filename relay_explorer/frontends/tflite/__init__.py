"""Import TFLite models.

    from relay_explorer import relay
    mod, params = relay.frontend.from_tflite("model.tflite")

The float operators become Relay's. Quantized convolutions and dense layers become operators of the dialect
`qnn`, whose sums are integers. Another quantized operator computes as its kernel in TensorFlow Lite does,
with integers, or with the real values: its operands are dequantized, and its result is quantized again,
unless `integers=True` lets it compute with integers. A layer with weights of 8 bits and float data
(dynamic-range quantization) quantizes the data in every run.

The results of most operators are those of TensorFlow Lite's default kernels to the last bit, for 8 bits and
for activations of 16; with `reference_kernels=True`, they are those of its reference kernels. Functions of 16
bits that are interpolated (GELU, logarithm, inverse root) differ by one step at most, products of elements
along an axis by more. XNNPACK's product of quantized matrices ignores a zero point; the imported model does
not.

Loops become tail-recursive functions. A dynamic axis is `?` unless `shape_dict` gives it.
"""

from __future__ import annotations

from .importer import from_tflite
from .old_converter import OperatorConverter
from .reader import Model, Operator, Quantization, Subgraph, Tensor, read

__all__ = [
    "Model",
    "Operator",
    "OperatorConverter",
    "Quantization",
    "Subgraph",
    "Tensor",
    "from_tflite",
    "read",
]
