"""Four networks at full size with random weights, for the benchmark of quantized networks: as modules of
PyTorch, as ONNX files in float32, and as ONNX files that ONNX Runtime has quantized.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.imported_networks import NETWORKS as IMPORTED

OPSET = 17
EXAMPLES = 4  # random inputs that calibrate the ranges
MOBILENET = [
    (32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2),
    *[(512, 512, 1)] * 5, (512, 1024, 2), (1024, 1024, 1),
]  # fmt: skip  # input channels, output channels, stride
UNITS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}  # of each stage of a residual network


class Network(NamedTuple):
    """A network: `make` returns the module and its example inputs; `dynamic` says that PyTorch quantizes its
    activations at run time, which is its way with transformers.
    """

    make: Callable[[], tuple[Any, tuple[Any, ...]]]
    dynamic: bool = False


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, relu: bool = True) -> Any:
    """Build a convolution, a batch normalization, and a ReLU."""
    from torch import nn

    layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    nn.init.kaiming_normal_(layer.weight)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs), *([nn.ReLU()] if relu else []))


def _unit(layers: int, inputs: int, width: int, stride: int) -> Any:
    """Build a residual unit: two 3 × 3 convolutions, or from 50 layers on a bottleneck."""
    import torch
    from torch import nn

    outputs = width if layers < 50 else 4 * width

    class Unit(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            if layers < 50:
                self.body = nn.Sequential(_conv(inputs, width, 3, stride), _conv(width, width, 3, relu=False))
            else:
                self.body = nn.Sequential(
                    _conv(inputs, width, 1),
                    _conv(width, width, 3, stride),
                    _conv(width, outputs, 1, relu=False),
                )
            same = inputs == outputs and stride == 1
            self.shortcut = nn.Identity() if same else _conv(inputs, outputs, 1, stride, relu=False)
            self.relu = nn.ReLU()

        def forward(self, x: Any) -> Any:
            return self.relu(torch.add(self.body(x), self.shortcut(x)))

    return Unit()


def _head(channels: int) -> list[Any]:
    from torch import nn

    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000)]


def _image() -> tuple[Any, ...]:
    import torch

    return (torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(1)),)


def _resnet(layers: int) -> Callable[[], tuple[Any, tuple[Any, ...]]]:
    def make() -> tuple[Any, tuple[Any, ...]]:
        from torch import nn

        parts, channels = [_conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
        for stage, count in enumerate(UNITS[layers]):
            width = 64 << stage
            for number in range(count):
                parts.append(_unit(layers, channels, width, 2 if stage and not number else 1))
                channels = width if layers < 50 else 4 * width
        return nn.Sequential(*parts, *_head(channels)).eval(), _image()

    return make


def _mobilenet() -> tuple[Any, tuple[Any, ...]]:
    from torch import nn

    parts = [_conv(3, 32, 3, 2)]
    for inputs, outputs, stride in MOBILENET:
        parts += [_conv(inputs, inputs, 3, stride, groups=inputs), _conv(inputs, outputs, 1)]
    return nn.Sequential(*parts, *_head(1024)).eval(), _image()


NETWORKS = {
    "ResNet-18": Network(_resnet(18)),
    "ResNet-50": Network(_resnet(50)),
    "MobileNet v1": Network(_mobilenet),
    "BERT-base": Network(IMPORTED["BERT-base"].make, dynamic=True),
}


def export(name: str, folder: Path) -> None:
    """Write the network as `float.onnx`, as `int8.onnx` with QuantizeLinear and DequantizeLinear around its
    operators, and its inputs.
    """
    import torch
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    torch.manual_seed(0)
    model, inputs = NETWORKS[name].make()
    plain, clean = folder / "float.onnx", folder / "clean.onnx"
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, inputs, str(plain), dynamo=False, opset_version=OPSET)
    quant_pre_process(str(plain), str(clean), skip_symbolic_shape=True)
    quantize_static(
        str(clean), str(folder / "int8.onnx"), _Examples(str(clean)), quant_format=QuantFormat.QDQ,
        per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip
    np.savez(folder / "inputs.npz", *[value.numpy() for value in inputs])


class _Examples:
    """Random inputs, as ONNX Runtime's calibration reads them."""

    def __init__(self, path: str) -> None:
        import onnxruntime

        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.entries = session.get_inputs()
        self.left = self._values()

    def _values(self) -> Iterator[dict[str, Any]]:
        random = np.random.default_rng(0)
        for _ in range(EXAMPLES):
            yield {
                entry.name: random.standard_normal(entry.shape).astype("float32")
                if "float" in entry.type
                else random.integers(0, 30_000, entry.shape)
                for entry in self.entries
            }

    def get_next(self) -> dict[str, Any] | None:
        """Return the next inputs by name; None after the last."""
        return next(self.left, None)


def quantized_by_torch(name: str) -> tuple[Any, tuple[Any, ...]]:
    """Quantize the module by PyTorch: its static quantization with the x86 engine, or, for a transformer, the
    dynamic quantization of its linear layers.
    """
    import torch
    from torch.ao.quantization import get_default_qconfig_mapping, quantize_dynamic, quantize_fx

    torch.manual_seed(0)
    torch.backends.quantized.engine = "x86"
    model, inputs = NETWORKS[name].make()
    if NETWORKS[name].dynamic:
        return quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8), inputs
    prepared = quantize_fx.prepare_fx(model, get_default_qconfig_mapping("x86"), inputs)
    prepared(*inputs)
    return quantize_fx.convert_fx(prepared), inputs
