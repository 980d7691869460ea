"""Transformers' architectures with tiny configurations and random weights, and an LSTM tagger."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Tagger(nn.Module):
    """Embed words, run a bidirectional LSTM, and classify each word."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 8)
        self.lstm = nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.classifier = nn.Linear(12, 5)

    def forward(self, words: Tensor) -> Tensor:
        y: Tensor = self.classifier(self.lstm(self.embedding(words))[0]).log_softmax(-1)
        return y


class Outputs(nn.Module):
    """A model of transformers that returns tensors only."""

    def __init__(self, model: nn.Module, *names: str, **options: Any) -> None:
        super().__init__()
        self.model, self.names, self.options = model, names, options

    def forward(self, *args: Tensor) -> Any:
        keys = self.options.get("keys", ("input_ids",))
        result = self.model(**dict(zip(keys, args)), use_cache=False, return_dict=True)
        return tuple(result[name] for name in self.names)


def bert() -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Return BERT with a mask."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=16,
    )  # fmt: skip
    model = Outputs(
        BertModel(config), "last_hidden_state", "pooler_output", keys=("input_ids", "attention_mask")
    )
    return model, (torch.randint(40, (2, 7)), torch.tensor([[1] * 7, [1] * 4 + [0] * 3]))


def gpt2() -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Return GPT-2."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=40, n_positions=16, n_embd=16, n_layer=2, n_head=2)
    return Outputs(GPT2LMHeadModel(config), "logits"), (torch.randint(40, (1, 6)),)


def t5() -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Return T5, encoder and decoder."""
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(vocab_size=40, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2)
    model = Outputs(T5ForConditionalGeneration(config), "logits", keys=("input_ids", "decoder_input_ids"))
    return model, (torch.randint(40, (1, 6)), torch.randint(40, (1, 4)))


def llama() -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Return Llama with grouped keys and values."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=16,
    )  # fmt: skip
    return Outputs(LlamaForCausalLM(config), "logits"), (torch.randint(40, (1, 6)),)


class WhisperFeatures(nn.Module):
    """Whisper's encoder."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import WhisperConfig
        from transformers.models.whisper.modeling_whisper import WhisperEncoder

        config = WhisperConfig(
            d_model=16, encoder_layers=2, encoder_attention_heads=2, encoder_ffn_dim=24, num_mel_bins=8,
            max_source_positions=10, vocab_size=40, pad_token_id=0,
        )  # fmt: skip
        self.encoder = WhisperEncoder(config)

    def forward(self, spectrogram: Tensor) -> Tensor:
        y: Tensor = self.encoder(spectrogram).last_hidden_state
        return y


def whisper() -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Return Whisper's encoder."""
    return WhisperFeatures(), (torch.randn(1, 8, 20),)
