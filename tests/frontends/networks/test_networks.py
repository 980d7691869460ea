"""Networks of torchvision's and transformers' architectures, at small widths with random weights: imported,
typed, optimized, compiled, and equal to PyTorch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import relay_explorer
from relay_explorer import relay
from relay_explorer.frontends import from_exported_program, from_onnx, from_pytorch
from relay_explorer.ir.module import IRModule
from tests.frontends.networks import language, vision
from tests.frontends.torch_export.exporting import assert_close, computed, exported, leaves

IMAGES = (2, 3, 32, 32)
TOLERANCE = 1e-4
Case = tuple[nn.Module, tuple[Tensor, ...]]

NETWORKS: dict[str, Callable[[], Case]] = {
    "resnet": lambda: (vision.ResNet(), (torch.randn(IMAGES),)),
    "mobilenet_v3": lambda: (vision.mobilenet_v3(), (torch.randn(IMAGES),)),
    "efficientnet": lambda: (vision.efficientnet(), (torch.randn(IMAGES),)),
    "convnext": lambda: (vision.convnext(), (torch.randn(IMAGES),)),
    "vit": lambda: (vision.VisionTransformer(), (torch.randn(IMAGES),)),
    "swin": lambda: (vision.Swin(), (torch.randn(IMAGES),)),
    "unet": lambda: (vision.UNet(), (torch.randn(IMAGES),)),
    "detection": lambda: (vision.DetectionHead(), (torch.randn(1, 3, 16, 16),)),
    "tagger": lambda: (language.Tagger(), (torch.randint(50, (2, 6)),)),
    "bert": language.bert,
    "gpt2": language.gpt2,
    "t5": language.t5,
    "llama": language.llama,
    "whisper": language.whisper,
}
DYNAMIC = ["resnet", "unet", "vit", "tagger", "bert", "gpt2", "llama"]


def suppressed(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """Suppress boxes as torchvision does: best first, those that overlap a better one by more."""
    kept: list[int] = []
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for index in torch.argsort(scores, descending=True, stable=True).tolist():
        corner = torch.minimum(boxes[index, 2:], boxes[kept, 2:])
        sides = (corner - torch.maximum(boxes[index, :2], boxes[kept, :2])).clamp(min=0)
        shared = sides[:, 0] * sides[:, 1]
        if not (shared / (areas[index] + areas[kept] - shared) > threshold).any():
            kept.append(index)
    return torch.tensor(kept, dtype=torch.int64)


@cache
def with_torchvision() -> torch.library.Library | None:
    """Declare torchvision's operator if torchvision, which is not among the test packages, has not."""
    if hasattr(torch.ops.torchvision, "nms"):
        return None
    library = torch.library.Library("torchvision", "FRAGMENT")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.impl("nms", suppressed, "CPU")

    def described(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
        return boxes.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64)

    torch.library.register_fake("torchvision::nms", described, lib=library)
    return library


@cache
def network(name: str) -> tuple[nn.Module, tuple[Tensor, ...], list[Tensor]]:
    """Return a network, its inputs and its results."""
    with_torchvision()
    torch.manual_seed(1)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        model, args = NETWORKS[name]()
        return model.eval(), args, leaves(model(*args))


@cache
def imported(name: str) -> tuple[IRModule, dict[str, Any]]:
    """Import a network."""
    model, args, _ = network(name)
    return from_exported_program(exported(model, args))


@pytest.mark.parametrize("name", NETWORKS)
def test_import_computes_what_pytorch_computes(name: str) -> None:
    _, args, expected = network(name)
    mod, params = imported(name)
    assert_close(computed(mod, params, args), expected, TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_compiled_import_computes_what_pytorch_computes(name: str) -> None:
    _, args, expected = network(name)
    mod, params = imported(name)
    executable = relay_explorer.build(mod, params=params, quiet=True)  # level 3: optimized for this machine
    results: Any = executable(*[arg.numpy() for arg in args])
    assert_close(results if isinstance(results, tuple) else [results], expected, TOLERANCE)


@pytest.mark.parametrize("name", NETWORKS)
def test_expressions_know_their_modules(name: str) -> None:
    mod, _ = imported(name)
    nodes = mod.source.nodes  # type: ignore[union-attr]  # a ModelSource
    operators = [node for node in nodes if node.op not in ("input", "weight")]
    assert len({node.path for node in operators}) > 3
    assert all(node.location for node in operators if node.path)


@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic_import_computes_what_pytorch_computes(name: str) -> None:
    model, args, expected = network(name)
    batch = torch.export.Dim("batch", min=1, max=64)
    repeated = tuple([torch.cat([arg, arg], 0) for arg in args])
    dynamic = tuple([{0: batch} for _ in args])
    if isinstance(model, language.Outputs):
        dynamic = (dynamic,)  # type: ignore[assignment]  # its forward takes *args
    mod, params = from_exported_program(exported(model, repeated, dynamic))
    typed: Any = relay.transform.InferType()(mod)
    assert "?" not in str(typed["main"].checked_type)
    for given in (args, repeated):
        assert_close(computed(mod, params, given)[:1], leaves(model(*given))[:1], TOLERANCE)
    assert len(expected) >= 1


@pytest.mark.parametrize("name", ["resnet", "vit", "swin", "detection", "tagger", "bert", "gpt2", "llama"])
def test_traced_import_computes_what_pytorch_computes(name: str) -> None:
    model, args, expected = network(name)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(model, args, check_trace=False)
    infos = [(f"input{i}", (tuple(arg.shape), str(arg.dtype)[6:])) for i, arg in enumerate(args)]
    mod, params = from_pytorch(traced, infos)
    assert_close(computed(mod, params, args), expected, TOLERANCE)


THROUGH_ONNX = ["mobilenet_v3", "convnext", "unet", "swin", "tagger", "bert", "t5", "whisper"]


@pytest.mark.parametrize("name", THROUGH_ONNX)
def test_import_through_onnx_computes_what_pytorch_computes(name: str, tmp_path: Path) -> None:
    model, args, expected = network(name)
    path = tmp_path / "network.onnx"
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, args, path, dynamo=False, opset_version=17)
    mod, params = from_onnx(path)
    assert_close(computed(mod, params, args), expected, TOLERANCE)
