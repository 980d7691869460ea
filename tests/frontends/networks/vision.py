"""Architectures of torchvision at small widths, written anew: blocks as in the papers, random weights."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # PyTorch's own name for it
from torch import Tensor, nn


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Return a convolution with batch normalization, whose statistics are not the trivial ones."""
    norm = nn.BatchNorm2d(outputs)
    nn.init.uniform_(norm.running_mean, -0.1, 0.1)  # type: ignore[arg-type]  # a buffer
    nn.init.uniform_(norm.running_var, 0.5, 1.5)  # type: ignore[arg-type]  # a buffer
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), norm
    )


class Bottleneck(nn.Module):
    """ResNet's block with a 1×1, a 3×3 and a 1×1 convolution (arXiv 1512.03385)."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.reduce = convolution(inputs, width, 1)
        self.conv = convolution(width, width, 3, stride)
        self.expand = convolution(width, 4 * width, 1)
        same = stride == 1 and inputs == 4 * width
        self.shortcut = nn.Identity() if same else convolution(inputs, 4 * width, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.conv(F.relu(self.reduce(x))))
        return F.relu(self.expand(y) + self.shortcut(x))


class ResNet(nn.Module):
    """A ResNet with bottlenecks."""

    def __init__(self, width: int = 8, depths: Sequence[int] = (2, 1, 1)) -> None:
        super().__init__()
        self.stem = nn.Sequential(convolution(3, width, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        stages, inputs = [], width
        for index, depth in enumerate(depths):
            blocks = []
            for block in range(depth):
                blocks.append(Bottleneck(inputs, width << index, 2 if index and not block else 1))
                inputs = 4 * (width << index)
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.Sequential(*stages)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.classifier = nn.Linear(inputs, 10)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.classifier(torch.flatten(self.pool(self.stages(self.stem(x))), 1))
        return y


class SqueezeExcitation(nn.Module):
    """Scale channels by what a small network makes of their means (arXiv 1709.01507)."""

    def __init__(self, channels: int, squeezed: int, gate: nn.Module) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)
        self.gate = gate

    def forward(self, x: Tensor) -> Tensor:
        scale = F.adaptive_avg_pool2d(x, 1)
        scale = self.gate(self.up(F.relu(self.down(scale))))
        scaled: Tensor = scale * x
        return scaled


class InvertedResidual(nn.Module):
    """Expand, convolve channel by channel, scale, and project (arXiv 1801.04381, 1905.02244)."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        expansion: int,
        kernel: int,
        stride: int,
        act: nn.Module,
        gate: nn.Module,
    ) -> None:
        super().__init__()
        hidden = inputs * expansion
        self.expand = nn.Sequential(convolution(inputs, hidden, 1), act)
        self.depthwise = nn.Sequential(convolution(hidden, hidden, kernel, stride, groups=hidden), act)
        self.excite = SqueezeExcitation(hidden, max(hidden // 4, 2), gate)
        self.project = convolution(hidden, outputs, 1)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.project(self.excite(self.depthwise(self.expand(x))))
        return x + y if self.residual else y


def mobilenet_v3() -> nn.Module:
    """Return a small MobileNet v3: hard swish, hard sigmoid."""
    act, gate = nn.Hardswish(inplace=True), nn.Hardsigmoid(inplace=True)
    return nn.Sequential(
        nn.Sequential(convolution(3, 8, 3, 2), act),
        InvertedResidual(8, 8, 1, 3, 1, nn.ReLU(inplace=True), gate),
        InvertedResidual(8, 12, 3, 5, 2, act, gate),
        InvertedResidual(12, 12, 3, 3, 1, act, gate),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Sequential(nn.Linear(12, 16), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(16, 10)),
    )


def efficientnet() -> nn.Module:
    """Return a small EfficientNet: SiLU and sigmoid (arXiv 1905.11946)."""
    act, gate = nn.SiLU(inplace=True), nn.Sigmoid()
    return nn.Sequential(
        nn.Sequential(convolution(3, 8, 3, 2), act),
        InvertedResidual(8, 8, 2, 3, 1, act, gate),
        InvertedResidual(8, 16, 4, 5, 2, act, gate),
        InvertedResidual(16, 16, 4, 3, 1, act, gate),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(1),
        nn.Linear(16, 10),
    )


class ConvNeXtBlock(nn.Module):
    """A 7×7 depthwise convolution and a network per position (arXiv 2201.03545)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.scale = nn.Parameter(torch.full((width, 1, 1), 0.5))

    def forward(self, x: Tensor) -> Tensor:
        y = self.network(self.norm(self.depthwise(x).permute(0, 2, 3, 1)))
        result: Tensor = x + self.scale * y.permute(0, 3, 1, 2)
        return result


class ChannelNorm(nn.LayerNorm):
    """Layer normalization over the channels of NCHW."""

    def forward(self, x: Tensor) -> Tensor:
        y = F.layer_norm(x.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps)
        return y.permute(0, 3, 1, 2)


def convnext() -> nn.Module:
    """Return a small ConvNeXt."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 4, 4), ChannelNorm(8, eps=1e-6), ConvNeXtBlock(8),
        ChannelNorm(8, eps=1e-6), nn.Conv2d(8, 16, 2, 2), ConvNeXtBlock(16), ConvNeXtBlock(16),
        nn.AdaptiveAvgPool2d(1), ChannelNorm(16, eps=1e-6), nn.Flatten(1), nn.Linear(16, 10),
    )  # fmt: skip


class VisionTransformer(nn.Module):
    """A transformer over patches (arXiv 2010.11929)."""

    def __init__(self, width: int = 16, patch: int = 8, size: int = 32) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.1)
        self.positions = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width) * 0.1)
        layer = nn.TransformerEncoderLayer(
            width, 2, 2 * width, batch_first=True, norm_first=True, activation="gelu"
        )
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        y = self.patches(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.token.expand(x.shape[0], -1, -1), y], 1) + self.positions
        logits: Tensor = self.head(self.encoder(y)[:, 0])
        return logits


class WindowAttention(nn.Module):
    """Attention in windows, which every other layer shifts (Swin, arXiv 2103.14030)."""

    def __init__(self, width: int, heads: int, window: int, shift: int, size: int) -> None:
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.bias = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.2)
        steps = torch.stack(
            torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")
        ).flatten(1)
        apart = (steps[:, :, None] - steps[:, None, :]).permute(1, 2, 0) + window - 1
        self.places: Tensor
        self.register_buffer("places", apart[..., 0] * (2 * window - 1) + apart[..., 1])
        regions = torch.zeros(1, size, size, 1)
        for row, rows in enumerate((slice(0, -window), slice(-window, -shift), slice(-shift, None))):
            for column, columns in enumerate(
                (slice(0, -window), slice(-window, -shift), slice(-shift, None))
            ):
                regions[:, rows, columns] = 3 * row + column
        cut = self.cut(regions).squeeze(-1)
        self.mask: Tensor
        self.register_buffer("mask", (cut[:, None] != cut[:, :, None]).float() * -100)

    def cut(self, x: Tensor) -> Tensor:
        """Cut images (batch, rows, columns, width) into windows."""
        b, h, w, c = x.shape
        n = self.window
        return x.view(b, h // n, n, w // n, n, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, n * n, c)

    def forward(self, x: Tensor) -> Tensor:
        b, h, w, c = x.shape
        n = self.window
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        windows = self.cut(x)
        q, k, v = self.qkv(windows).reshape(-1, n * n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q * (c // self.heads) ** -0.5) @ k.transpose(-2, -1)
        scores = scores + self.bias[self.places.view(-1)].view(n * n, n * n, -1).permute(2, 0, 1).unsqueeze(0)
        if self.shift:
            count = windows.shape[0] // b
            scores = scores.view(b, count, self.heads, n * n, n * n) + self.mask.unsqueeze(1).unsqueeze(0)
            scores = scores.view(-1, self.heads, n * n, n * n)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(-1, n * n, c)
        y = self.out(mixed).view(b, h // n, w // n, n, n, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(y, (self.shift, self.shift), (1, 2)) if self.shift else y


class SwinBlock(nn.Module):
    """Window attention and a network per position."""

    def __init__(self, width: int, shift: int, size: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = WindowAttention(width, 2, 4, shift or 2, size)
        self.attention.shift = shift
        self.network = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.first(x))
        y: Tensor = x + self.network(self.second(x))
        return y


class PatchMerging(nn.Module):
    """Join blocks of 2×2 positions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.reduce = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        y: Tensor = self.reduce(self.norm(torch.cat(parts, -1)))
        return y


class Swin(nn.Module):
    """A small Swin transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4)
        self.stages = nn.Sequential(
            SwinBlock(8, 0, 8), SwinBlock(8, 2, 8), PatchMerging(8), SwinBlock(16, 0, 4)
        )
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.stages(self.patches(x).permute(0, 2, 3, 1)))
        logits: Tensor = self.head(y.permute(0, 3, 1, 2).mean((2, 3)))
        return logits


class UNet(nn.Module):
    """An encoder and a decoder with connections between them (arXiv 1505.04597)."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.enter, self.down = self.pair(3, width), self.pair(width, 2 * width)
        self.bottom = self.pair(2 * width, 4 * width)
        self.rise = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2)
        self.up, self.leave = self.pair(4 * width, 2 * width), self.pair(3 * width, width)
        self.head = nn.Conv2d(width, 2, 1)

    @staticmethod
    def pair(inputs: int, outputs: int) -> nn.Sequential:
        """Return two convolutions."""
        return nn.Sequential(
            convolution(inputs, outputs, 3),
            nn.ReLU(inplace=True),
            convolution(outputs, outputs, 3),
            nn.ReLU(),
        )

    def forward(self, x: Tensor) -> Tensor:
        a = self.enter(x)
        b = self.down(F.max_pool2d(a, 2))
        y = self.rise(self.bottom(F.max_pool2d(b, 2)))
        y = self.up(torch.cat([b, y], 1))
        y = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        logits: Tensor = self.head(self.leave(torch.cat([a, y], 1)))
        return logits


class DetectionHead(nn.Module):
    """Boxes and scores of a feature map, thresholded and suppressed as torchvision's detectors do."""

    def __init__(self, size: int = 8) -> None:
        super().__init__()
        self.features = nn.Sequential(convolution(3, 8, 3, 2), nn.ReLU())
        self.scores, self.deltas = nn.Conv2d(8, 1, 1), nn.Conv2d(8, 4, 1)
        steps = torch.arange(size) * 4.0 + 2
        y, x = torch.meshgrid(steps, steps, indexing="ij")
        self.centres: Tensor
        self.register_buffer("centres", torch.stack([x, y], -1).reshape(-1, 2))

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        features = self.features(image)
        scores = self.scores(features).flatten().sigmoid()
        deltas = self.deltas(features)[0].permute(1, 2, 0).reshape(-1, 4)
        centres = self.centres + 2 * deltas[:, :2]
        sizes = 6 * torch.exp(torch.clamp(deltas[:, 2:], max=1.0))
        boxes = torch.cat([centres - sizes / 2, centres + sizes / 2], 1).clamp(0, 32)
        likely = torch.where(scores > 0.45)[0]
        boxes, scores = boxes[likely], scores[likely]
        best = torch.ops.torchvision.nms(boxes, scores, 0.3)
        return boxes[best], scores[best]
