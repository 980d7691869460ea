"""The TreeLSTM and the character RNN of `relay_explorer.models` as idiomatic PyTorch eager code: the
recursion and the loop are Python's.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import linear

Weights = dict[str, torch.Tensor]
State = tuple[torch.Tensor, torch.Tensor]


class TreeLSTM:
    """Map a sentence of nested pairs, with words as (1, inputs), to probabilities (1, moods)."""

    def __init__(self, weights: Weights) -> None:
        self.w = weights

    def encode(self, sentence: Any) -> State:
        w = self.w
        if not isinstance(sentence, tuple):
            cell, out = linear(sentence, w["word_weight"], w["word_bias"]).chunk(2, 1)
            return torch.sigmoid(out) * torch.tanh(cell), cell
        (h1, c1), (h2, c2) = self.encode(sentence[0]), self.encode(sentence[1])
        gates = linear(torch.cat([h1, h2], 1), w["pair_weight"], w["pair_bias"])
        take, new, left, right, out = gates.chunk(5, 1)
        cell = torch.sigmoid(take) * torch.tanh(new) + torch.sigmoid(left) * c1 + torch.sigmoid(right) * c2
        return torch.sigmoid(out) * torch.tanh(cell), cell

    def __call__(self, sentence: Any) -> torch.Tensor:
        hidden, _ = self.encode(sentence)
        return torch.softmax(linear(hidden, self.w["mood_weight"], self.w["mood_bias"]), 1)


class CharRNN:
    """Map a list of letters' indices to probabilities (1, languages)."""

    def __init__(self, weights: Weights) -> None:
        self.w = weights
        self.letters = nn.Embedding.from_pretrained(weights["letters"])

    def __call__(self, text: list[torch.Tensor]) -> torch.Tensor:
        w = self.w
        state = torch.zeros(1, w["state_weight"].shape[1])
        for letter in text:
            state = torch.tanh(self.letters(letter) + linear(state, w["state_weight"], w["state_bias"]))
        return torch.softmax(linear(state, w["out_weight"], w["out_bias"]), 1)


class CharRNNWriter:
    """Map the index of a first letter and a count to the indices of that many following letters."""

    def __init__(self, weights: Weights) -> None:
        self.w = weights
        self.letters = nn.Embedding.from_pretrained(weights["letters"])

    def __call__(self, letter: torch.Tensor, count: int) -> torch.Tensor:
        w = self.w
        state = torch.zeros(1, w["state_weight"].shape[1])
        letters = []
        for _ in range(count):
            state = torch.tanh(self.letters(letter) + linear(state, w["state_weight"], w["state_bias"]))
            letter = linear(state, w["out_weight"], w["out_bias"])[0].argmax()
            letters.append(letter)
        return torch.stack(letters)
