"""Import TFLite models.

    from relay_explorer import relay
    mod, params = relay.frontend.from_tflite("model.tflite")

The float operators become Relay's. A quantized operator computes with the real values: its operands are
dequantized, and its result is quantized again; convolutions and dense layers compute with integers, whose
sums are exact. The result of an operator differs from TensorFlow Lite's by at most one quantization step.
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
