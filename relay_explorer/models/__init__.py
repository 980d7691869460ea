"""The programs that the book uses, each at its real size and built through the public API.

    from relay_explorer import models
    module = models.load("resnet50")

Weights are parameters of `main`, after the input, so that a module holds no data.
"""

from __future__ import annotations

import difflib
import importlib
from typing import NamedTuple

from ..ir.errors import RelayError
from ..ir.module import IRModule
from ..ir.span import Source


class Model(NamedTuple):
    """A program of the book: the `file:function` that builds it, a description in one line, and its
    source.
    """

    build: str
    description: str
    source: str


MODELS = {
    "mlp": Model("mlp:mlp", "Two dense layers for 28 × 28 digits, 784 to 256 to 10.", "textbook"),
    "lenet": Model(
        "lenet:lenet",
        "LeNet-5 for 28 × 28 digits: two convolutions, three dense layers.",
        "LeCun et al., 1998",
    ),
    "digits": Model(
        "digits:digits",
        "A trained network for 8 × 8 digits: two convolutions, two dense layers.",
        "textbook; Alpaydin and Kaynak, 1998",
    ),
    "dqn": Model(
        "dqn:dqn", "The deep Q-network for Atari: three convolutions, two dense layers.", "Mnih et al., 2015"
    ),
    "resnet18": Model("resnet:resnet18", "ResNet-18 for 224 × 224 images.", "He et al., 2016"),
    "resnet50": Model("resnet:resnet50", "ResNet-50 for 224 × 224 images.", "He et al., 2016"),
    "mobilenet": Model(
        "mobilenet:mobilenet", "MobileNet, version 1, for 224 × 224 images.", "Howard et al., 2017"
    ),
    "vgg16": Model("vgg:vgg16", "VGG-16 for 224 × 224 images.", "Simonyan and Zisserman, 2015"),
    "squeezenet": Model(
        "squeezenet:squeezenet", "SqueezeNet 1.0 for 224 × 224 images.", "Iandola et al., 2016"
    ),
    "densenet121": Model("densenet:densenet", "DenseNet-121 for 224 × 224 images.", "Huang et al., 2017"),
    "inception_v3": Model(
        "inception_v3:inception_v3", "Inception v3 for 299 × 299 images.", "Szegedy et al., 2016"
    ),
    "dcgan": Model(
        "dcgan:dcgan", "DCGAN's generator: 100 numbers to a 64 × 64 image.", "Radford et al., 2016"
    ),
    "transformer": Model(
        "transformer:encoder",
        "A transformer encoder of 12 layers: 128 tokens, width 768, 12 heads (the size of BERT base).",
        "Vaswani et al., 2017; Devlin et al., 2019",
    ),
    "lstm": Model(
        "lstm:lstm",
        "An LSTM over 32 steps, unrolled: input 64, hidden 128.",
        "Hochreiter and Schmidhuber, 1997",
    ),
    "tree_lstm": Model(
        "tree_lstm:tree_lstm",
        "A binary TreeLSTM over a sentence's tree, by recursion: words of 300, states of 150, 5 moods.",
        "Tai et al., 2015",
    ),
    "char_rnn": Model(
        "char_rnn:char_rnn",
        "A character RNN that folds a name, a list of letters, to one of 18 languages: state 128.",
        "Robertson, PyTorch tutorials",
    ),
    "char_rnn_writer": Model(
        "char_rnn:char_rnn_writer",
        "A character RNN that writes a list of letters, each the likeliest after the last: state 128.",
        "Robertson, PyTorch tutorials",
    ),
}


def names() -> list[str]:
    """List the names that `load` accepts."""
    return list(MODELS)


def load(name: str) -> IRModule:
    """Build the module of the model called `name`; types are not inferred yet."""
    model = MODELS.get(name)
    if model is None:
        near = difflib.get_close_matches(str(name), MODELS, n=2)
        raise RelayError(
            f"there is no model called `{name}`",
            help=[
                f"did you mean {' or '.join(f'`{n}`' for n in near)}?"
                if near
                else f"the models are {', '.join(MODELS)}"
            ],
        )
    file, _, function = model.build.partition(":")
    built: IRModule = getattr(importlib.import_module(f"{__name__}.{file}"), function)()
    built.source = Source(name, "")  # so that explorers show its name
    return built


__all__ = ["MODELS", "Model", "load", "names"]
