"""Make the quantized models of PyTorch in `tests/data/quantized`: TorchScript and exported programs.

    python -m tests.data.make.quantized_torch

needs PyTorch and torchao (made with 2.13 and 0.18); the tests need PyTorch only. Each `NAME.pt` or `NAME.pt2`
has an `NAME.npz` beside it with the input and the output of PyTorch.
"""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.ao.quantization import get_default_qconfig_mapping, quantize_dynamic
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

from tests.data.make.quantized_networks import data, network

FOLDER = Path(__file__).resolve().parent.parent / "quantized"


def record(name: str, x: torch.Tensor, y: torch.Tensor) -> None:
    """Write an input and the output of PyTorch."""
    np.savez_compressed(FOLDER / f"{name}.npz", input_0=x.numpy(), output_0=y.numpy())


def torch_script(name: str, model: Any, x: torch.Tensor) -> None:
    """Trace a quantized model, and write it with its output."""
    traced = torch.jit.trace(model, x)
    with torch.no_grad():
        record(name, x, traced(x))
    torch.jit.save(traced, str(FOLDER / f"{name}.pt"))
    without_places(FOLDER / f"{name}.pt")


def without_places(path: Path) -> None:
    """Remove the places of the source code in an archive, which are those of the machine that made it."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist() if not name.endswith(".debug_pkl")}
    with zipfile.ZipFile(path, "w") as archive:
        for name, contents in entries.items():
            archive.writestr(name, contents)


def static(name: str) -> None:
    """Quantize a network after calibration, with the FX API."""
    inputs = data(name)
    prepared = prepare_fx(network(name), get_default_qconfig_mapping("x86"), (inputs[0],))
    for x in inputs:
        prepared(x)
    torch_script(f"{name}_fx", convert_fx(prepared), inputs[0])


def dynamic(name: str) -> None:
    """Quantize the weights of a network, whose data are quantized in every run."""
    model = quantize_dynamic(network(name), {nn.LSTM, nn.Linear}, dtype=torch.qint8)
    torch_script(f"{name}_dynamic", model, data(name)[0])


def exported(name: str) -> None:
    """Quantize an exported network (PT2E)."""
    from torchao.quantization.pt2e.quantize_pt2e import (  # type: ignore[import-not-found]
        convert_pt2e,
        prepare_pt2e,
    )
    from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (  # type: ignore[import-not-found]
        X86InductorQuantizer,
        get_default_x86_inductor_quantization_config,
    )

    inputs = data(name)
    model = torch.export.export(network(name), (inputs[0],)).module()
    quantizer = X86InductorQuantizer().set_global(get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(model, quantizer)
    for x in inputs:
        prepared(x)
    program = torch.export.export(convert_pt2e(prepared), (inputs[0],))
    with torch.no_grad():
        record(f"{name}_pt2e", inputs[0], program.module()(inputs[0]))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    torch.export.save(program, FOLDER / f"{name}_pt2e.pt2")


def main() -> None:
    """Make all models."""
    FOLDER.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    for name in ("resnet", "mobilenet"):
        static(name)
    for name in ("recurrent", "encoder"):
        dynamic(name)
    for name in ("resnet", "mobilenet", "encoder"):
        exported(name)


if __name__ == "__main__":
    main()
