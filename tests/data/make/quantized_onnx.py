"""Make the quantized ONNX models in `tests/data/quantized`, with ONNX Runtime's tools and its results.

    python -m tests.data.make.quantized_onnx

needs PyTorch, onnx and onnxruntime (made with 2.13, 1.23 and 1.32). Each `NAME.onnx` has an `NAME.npz` beside
it with the input and two outputs of ONNX Runtime: `output_0`, for which it computed with integers where it
could, and `exact_0`, which it computed node by node.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

from tests.data.make.quantized_networks import data, network

FOLDER = Path(__file__).resolve().parent.parent / "quantized"


class Reader(CalibrationDataReader):  # type: ignore[misc]
    """The inputs for calibration."""

    def __init__(self, inputs: list[torch.Tensor]) -> None:
        self._remaining = iter([{"x": value.numpy()} for value in inputs])

    def get_next(self) -> Any:
        """Return the next input, or None."""
        return next(self._remaining, None)


def real(name: str, folder: Path) -> Path:
    """Export a network, and return the path of the model, prepared for quantization."""
    path, prepared = folder / f"{name}.onnx", folder / f"{name}_prepared.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network(name), (data(name)[0],), str(path), input_names=["x"], dynamo=False, opset_version=17
        )
    quant_pre_process(str(path), str(prepared))
    return prepared


def record(name: str, x: torch.Tensor) -> None:
    """Write the input and ONNX Runtime's outputs; remove what the model does not need."""
    path = FOLDER / f"{name}.onnx"
    model = onnx.load(path)
    del model.graph.value_info[:]
    for node in model.graph.node:
        node.doc_string = ""
    onnx.save(model, path)
    np.savez_compressed(
        FOLDER / f"{name}.npz", input_0=x.numpy(), output_0=result(path, x), exact_0=result(path, x, False)
    )


def result(path: Path, x: torch.Tensor, optimized: bool = True) -> Any:
    """Return ONNX Runtime's output; without its optimizations, it computes node by node."""
    options = onnxruntime.SessionOptions()
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x.numpy()})[0]


def main() -> None:
    """Make all models."""
    FOLDER.mkdir(exist_ok=True)
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("resnet", "mobilenet", "encoder"):
            prepared = real(name, Path(folder))
            inputs = data(name)
            for suffix, form in (("qdq", QuantFormat.QDQ), ("qoperator", QuantFormat.QOperator)):
                quantize_static(
                    str(prepared), str(FOLDER / f"{name}_{suffix}.onnx"), Reader(inputs), quant_format=form,
                    per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    reduce_range=True,
                )  # fmt: skip
                record(f"{name}_{suffix}", inputs[0])
        quantize_dynamic(
            str(real("encoder", Path(folder))), str(FOLDER / "encoder_dynamic_onnx.onnx"),
            weight_type=QuantType.QInt8, reduce_range=True,
        )  # fmt: skip
        record("encoder_dynamic_onnx", data("encoder")[0])


if __name__ == "__main__":
    main()
