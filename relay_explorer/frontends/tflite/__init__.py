"""Import TFLite models.

    from relay_explorer import relay
    mod, params = relay.frontend.from_tflite("model.tflite")

The float operators become Relay's. Quantized convolutions and dense layers become operators of the dialect
`qnn`, whose sums are integers. Another quantized operator computes with the real values: its operands are
dequantized, and its result is quantized again, unless `integers=True` lets it compute with integers. For 8
bits the results of most operators are those of TensorFlow Lite's default kernels to the last bit; others, and
those of its reference kernels, differ by one step at most. Activations of 16 bits are exact in convolutions,
pools and dense layers; sigmoid and tanh, which TensorFlow Lite interpolates in tables, differ by two steps at
most. Loops become tail-recursive functions. A dynamic axis is `?` unless `shape_dict` gives it.
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
