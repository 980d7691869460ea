"""Ten networks of PyTorch at their full size, with random weights, for the benchmarks of importing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Network(NamedTuple):
    """A network: `make` returns the module and its example inputs."""

    make: Callable[[], tuple[Any, tuple[Any, ...]]]
    about: str


def _first(model: Any, field: str, **fixed: Any) -> Any:
    """Return a module that returns one tensor of the outputs of a model of `transformers`."""
    import torch

    class First(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            return getattr(self.model(*inputs, **fixed), field)

    return First().eval()


def _scaled(model: Any) -> Any:
    """Initialize convolutions and batch normalizations so that values keep their size from layer to layer.

    As `transformers` initializes them, the outputs of EfficientNet are so close to 0 that they cannot be
    compared.
    """
    import torch

    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight)
        elif isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.ones_(module.weight)
    return model


def _image(size: int = 224, channels: int = 3) -> tuple[Any, ...]:
    import torch

    return (torch.randn(1, channels, size, size, generator=torch.Generator().manual_seed(1)),)


def _tokens(length: int, vocabulary: int) -> tuple[Any, ...]:
    import torch

    return (torch.randint(0, vocabulary, (1, length), generator=torch.Generator().manual_seed(1)),)


def _vision(name: str, **options: Any) -> Callable[[], tuple[Any, tuple[Any, ...]]]:
    def make() -> tuple[Any, tuple[Any, ...]]:
        import transformers

        config = getattr(transformers, f"{name}Config")(**options)
        model = getattr(transformers, f"{name}ForImageClassification")(config)
        return _first(_scaled(model), "logits"), _image()

    return make


def _text(name: str, length: int, **options: Any) -> Callable[[], tuple[Any, tuple[Any, ...]]]:
    def make() -> tuple[Any, tuple[Any, ...]]:
        import torch
        import transformers

        family = name.removesuffix("Encoder")
        config = getattr(transformers, f"{family}Config")(attn_implementation="sdpa", **options)
        model = getattr(transformers, f"{name}Model")(config)
        tokens = _tokens(length, config.vocab_size)
        # Given a mask, GPT-2 does not look for packed sequences, for which ONNX has no operator.
        fixed = {"use_cache": False, "attention_mask": torch.ones_like(tokens[0])} if family == "GPT2" else {}
        return _first(model, "last_hidden_state", **fixed), tokens

    return make


def _whisper() -> tuple[Any, tuple[Any, ...]]:
    import torch
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = WhisperConfig(d_model=512, encoder_layers=6, encoder_attention_heads=8, encoder_ffn_dim=2048)
    features = torch.randn(1, 80, 3000, generator=torch.Generator().manual_seed(1))
    return _first(WhisperEncoder(config), "last_hidden_state"), (features,)


def _unet() -> tuple[Any, tuple[Any, ...]]:
    from torch import nn

    def block(inputs: int, outputs: int) -> nn.Sequential:
        layers: list[nn.Module] = []
        for channels in (inputs, outputs):
            layers += [nn.Conv2d(channels, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)]
            layers += [nn.ReLU()]
        return nn.Sequential(*layers)

    class UNet(nn.Module):
        def __init__(self, widths: tuple[int, ...] = (32, 64, 128, 256, 512)) -> None:
            super().__init__()
            self.down = nn.ModuleList([block(a, b) for a, b in zip((3, *widths), widths)])
            pairs = list(zip(widths[:0:-1], widths[-2::-1]))
            self.up = nn.ModuleList([nn.ConvTranspose2d(a, b, 2, stride=2) for a, b in pairs])
            self.join = nn.ModuleList([block(2 * b, b) for _, b in pairs])
            self.last = nn.Conv2d(widths[0], 2, 1)

        def forward(self, x: Any) -> Any:
            import torch

            kept = []
            for index, down in enumerate(self.down):
                x = down(x if index == 0 else nn.functional.max_pool2d(x, 2))
                kept.append(x)
            for up, join, skip in zip(self.up, self.join, kept[-2::-1]):
                x = join(torch.cat([skip, up(x)], 1))
            return self.last(x)

    return UNet().eval(), _image(256)


NETWORKS: dict[str, Network] = {
    "ResNet-50": Network(_vision("ResNet"), "residual convolutions"),
    "MobileNet v2": Network(_vision("MobileNetV2"), "depthwise convolutions"),
    "EfficientNet-B0": Network(
        _vision(
            "EfficientNet", width_coefficient=1.0, depth_coefficient=1.0, image_size=224, hidden_dim=1280
        ),
        "depthwise convolutions, squeeze-and-excitation",
    ),
    "ConvNeXt-T": Network(_vision("ConvNext"), "7×7 depthwise convolutions, layer norms"),
    "U-Net": Network(_unet, "transposed convolutions, concatenations"),
    "ViT-B/16": Network(_vision("ViT"), "attention over 197 patches"),
    "Swin-T": Network(_vision("Swin"), "attention in shifted windows"),
    "BERT-base": Network(_text("Bert", 128), "attention over 128 tokens"),
    "GPT-2": Network(_text("GPT2", 128), "causal attention over 128 tokens"),
    "Whisper-base encoder": Network(_whisper, "convolutions, attention over 1,500 frames"),
}
