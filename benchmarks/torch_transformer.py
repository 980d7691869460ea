"""The transformer encoder in PyTorch, layer for layer that of `relay_explorer.models`, for comparison."""

from __future__ import annotations

import math

import torch
from torch import nn


class Layer(nn.Module):
    """Self-attention and two dense layers, each followed by the residual sum and normalization."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.ffn1, self.ffn2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def split(self, data: torch.Tensor) -> torch.Tensor:
        """Reshape (tokens, width) to (heads, tokens, size)."""
        return data.reshape(data.shape[0], self.heads, self.size).permute(1, 0, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.bmm(query, key.permute(0, 2, 1)) * (1 / math.sqrt(self.size))
        mixed = torch.bmm(torch.softmax(scores, dim=-1), value).permute(1, 0, 2).reshape(x.shape)
        x = self.norm1(x + self.output(mixed))
        inner = self.ffn1(x)
        gelu = inner * 0.5 * (1.0 + torch.erf(inner * math.sqrt(0.5)))
        out: torch.Tensor = self.norm2(x + self.ffn2(gelu))
        return out


class Encoder(nn.Module):
    """The encoder, from (tokens, width) to (tokens, width)."""

    def __init__(self, layers: int = 12, width: int = 768, heads: int = 12, hidden: int = 3072) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(Layer(width, heads, hidden) for _ in range(layers)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.layers(x)
        return out
