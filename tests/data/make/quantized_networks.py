"""The small networks of which the tests of pre-quantized models have quantized forms, in PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Block(nn.Module):
    """A block of a residual network, whose shortcut has a convolution where the size changes."""

    def __init__(self, channels: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu2 = nn.ReLU()
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn2(self.conv2(self.relu1(self.bn1(self.conv1(x)))))
        result: Tensor = self.relu2(y + self.shortcut(x))
        return result


class ResNet(nn.Module):
    """Two residual blocks between a convolution with a pool and a classifier, for images of 24 × 24."""

    shape = (1, 3, 24, 24)

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(self.blocks(self.stem(x)))
        result: Tensor = self.classifier(torch.flatten(x, 1))
        return result


class MobileNet(nn.Module):
    """An inverted residual block with a depthwise convolution and a hard swish, for images of 16 × 16."""

    shape = (1, 3, 16, 16)

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6())
        self.expand = nn.Sequential(nn.Conv2d(8, 16, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        self.depthwise = nn.Sequential(
            nn.Conv2d(16, 16, 3, 1, 1, groups=16, bias=False), nn.BatchNorm2d(16), nn.ReLU6()
        )
        self.project = nn.Sequential(nn.Conv2d(16, 8, 1, bias=False), nn.BatchNorm2d(8))
        self.head = nn.Sequential(nn.Conv2d(8, 12, 1), nn.Hardswish())
        self.classifier = nn.Linear(12, 6)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = x + self.project(self.depthwise(self.expand(x)))
        x = self.head(x).mean([2, 3])
        result: Tensor = self.classifier(x)
        return result


class Encoder(nn.Module):
    """A layer of BERT: attention with two heads and a feed-forward network, each with a normalization."""

    shape = (2, 6, 16)

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(16, 16) for _ in range(3))
        self.output = nn.Linear(16, 16)
        self.norm1 = nn.LayerNorm(16)
        self.intermediate = nn.Linear(16, 32)
        self.activation = nn.GELU()
        self.down = nn.Linear(32, 16)
        self.norm2 = nn.LayerNorm(16)

    def heads(self, x: Tensor) -> Tensor:
        """Return one matrix per head."""
        return x.reshape(2, 6, 2, 8).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = torch.matmul(query, key.transpose(2, 3)) / 8**0.5
        mixed = torch.matmul(torch.softmax(scores, -1), value).transpose(1, 2).reshape(2, 6, 16)
        x = self.norm1(x + self.output(mixed))
        result: Tensor = self.norm2(x + self.down(self.activation(self.intermediate(x))))
        return result


class Recurrent(nn.Module):
    """An LSTM in both directions and a classifier of its last output, for 5 steps of 2 sequences."""

    shape = (5, 2, 6)

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 4, 2, bidirectional=True)
        self.classifier = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        output, _ = self.lstm(x)
        result: Tensor = self.classifier(output[-1])
        return result


NETWORKS: dict[str, type[Any]] = {
    "resnet": ResNet, "mobilenet": MobileNet, "encoder": Encoder, "recurrent": Recurrent,
}  # fmt: skip


def network(name: str) -> Any:
    """Make a network with random weights and statistics, the same at every call."""
    torch.manual_seed(7)
    model = NETWORKS[name]()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.2, 0.2)  # type: ignore[arg-type]  # it has one
            nn.init.uniform_(module.running_var, 0.5, 1.5)  # type: ignore[arg-type]
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.3, 0.3)
    return model.eval()


def data(name: str, count: int = 8) -> list[Tensor]:
    """Return inputs for calibration; the first is the one with which the results are recorded."""
    torch.manual_seed(11)
    return [torch.randn(NETWORKS[name].shape) for _ in range(count)]
