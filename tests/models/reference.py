"""The recurrent models again, by their equations: in NumPy, and with PyTorch's own cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from relay_explorer.ir import IRModule, TensorType

Array = Any


def weights(module: IRModule, seed: int) -> dict[str, Array]:
    """Random values for the weights of `@main`, by name."""
    rng = np.random.default_rng(seed)
    result = {}
    for param in module["main"].params:
        kind = param.type_annotation
        if isinstance(kind, TensorType) and kind.shape:
            result[param.name_hint] = (0.5 * rng.standard_normal(kind.concrete_shape)).astype(kind.dtype)
    return result


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max())
    return e / e.sum()


def tree_state(sentence: Any, w: dict[str, Array]) -> tuple[Array, Array]:
    """Hidden vector and cell of a sentence of nested pairs, by Tai and others' equations 9 to 14 with N = 2
    (a word by the leaf form); in 64 bits.
    """
    if not isinstance(sentence, tuple):
        c, o = np.split(w["word_weight"].astype("float64") @ sentence + w["word_bias"], 2)
        return sigmoid(o) * np.tanh(c), c
    (h1, c1), (h2, c2) = tree_state(sentence[0], w), tree_state(sentence[1], w)
    i, u, f1, f2, o = np.split(w["pair_weight"] @ np.concatenate([h1, h2]) + w["pair_bias"], 5)
    c = sigmoid(i) * np.tanh(u) + sigmoid(f1) * c1 + sigmoid(f2) * c2
    return sigmoid(o) * np.tanh(c), c


def mood(sentence: Any, w: dict[str, Array]) -> Array:
    hidden, _ = tree_state(sentence, w)
    return softmax(w["mood_weight"] @ hidden + w["mood_bias"])[None]


def torch_tree_state(sentence: Any, w: dict[str, Array]) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the same in PyTorch, layer by layer, in 32 bits."""
    t = {name: torch.from_numpy(value) for name, value in w.items()}
    linear = torch.nn.functional.linear
    if not isinstance(sentence, tuple):
        c, o = linear(torch.from_numpy(sentence)[None], t["word_weight"], t["word_bias"]).chunk(2, 1)
        return torch.sigmoid(o) * torch.tanh(c), c
    (h1, c1), (h2, c2) = torch_tree_state(sentence[0], w), torch_tree_state(sentence[1], w)
    i, u, f1, f2, o = linear(torch.cat([h1, h2], 1), t["pair_weight"], t["pair_bias"]).chunk(5, 1)
    c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f1) * c1 + torch.sigmoid(f2) * c2
    return torch.sigmoid(o) * torch.tanh(c), c


def torch_cell(name: str, w: dict[str, Array]) -> torch.nn.Module:
    """PyTorch's cell with the weights of a char_rnn. A one-hot letter times `weight_ih` is a column of it, so
    the model's table of letters is its transpose.
    """
    hidden = w["state_weight"].shape[1]
    kinds = {"rnn": torch.nn.RNNCell, "gru": torch.nn.GRUCell, "lstm": torch.nn.LSTMCell}
    cell: torch.nn.RNNCellBase = kinds[name](len(w["letters"]), hidden)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(w["letters"].T))
        cell.bias_ih.zero_()
        cell.weight_hh.copy_(torch.from_numpy(w["state_weight"]))
        cell.bias_hh.copy_(torch.from_numpy(w["state_bias"]))
    return cell


class Reader:
    """A character RNN with PyTorch's cell."""

    def __init__(self, name: str, w: dict[str, Array]) -> None:
        self.name, self.w, self.cell = name, w, torch_cell(name, w)
        hidden = w["state_weight"].shape[1]
        zeros = torch.zeros(1, hidden)
        self.state: Any = (zeros, zeros) if name == "lstm" else zeros

    @torch.no_grad()
    def read(self, letter: int) -> None:
        one_hot = torch.zeros(1, len(self.w["letters"]))
        one_hot[0, letter] = 1
        self.state = self.cell(one_hot, self.state)

    def scores(self) -> Array:
        hidden = self.state[0] if self.name == "lstm" else self.state
        return (hidden.numpy() @ self.w["out_weight"].T + self.w["out_bias"])[0]
