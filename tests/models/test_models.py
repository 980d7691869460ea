"""The book's models have the sizes that their papers and their usual implementations give."""

from __future__ import annotations

from math import prod

import pytest

from relay_explorer import models
from relay_explorer.ir import Call, IRModule, Op, RelayError, TensorType, post_order, structural_equal
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types

RESULTS = {
    "mlp": (1, 10),
    "lenet": (1, 10),
    "digits": (1, 10),
    "dqn": (1, 18),
    "resnet18": (1, 1000),
    "resnet50": (1, 1000),
    "mobilenet": (1, 1000),
    "vgg16": (1, 1000),
    "squeezenet": (1, 1000),
    "densenet121": (1, 1000),
    "inception_v3": (1, 1000),
    "dcgan": (1, 3, 64, 64),
    "transformer": (128, 768),
    "lstm": (1, 128),
    "tree_lstm": (1, 5),
    "char_rnn": (1, 18),
    "char_rnn_writer": None,  # a list
}

# Trainable scalars, as torchvision counts its models (batch norm's running mean and variance are not
# trained), as the layers' sizes give them for the others,
# and as BERT base has in its 12 layers without embeddings and pooler.
TRAINED = {
    "mlp": 784 * 256 + 256 + 256 * 10 + 10,
    "lenet": 61_706,
    "digits": 16 * 10 + 32 * (16 * 9 + 1) + 32 * 129 + 10 * 33,
    "dqn": 4 * 64 * 32 + 32 + 32 * 16 * 64 + 64 + 64 * 9 * 64 + 64 + 3136 * 512 + 512 + 512 * 18 + 18,
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "mobilenet": 4_231_976,
    "vgg16": 138_357_544,
    "squeezenet": 1_248_424,
    "densenet121": 7_978_856,
    "inception_v3": 27_161_264 - 3_326_696,  # less the classifier that only training uses
    "dcgan": 16 * (100 * 1024 + 1024 * 512 + 512 * 256 + 256 * 128 + 128 * 3) + 2 * (512 + 256 + 128),
    "transformer": 85_054_464,
    "lstm": 4 * 128 * (64 + 128 + 1),
    "tree_lstm": 300 * 301 + 750 * 301 + 5 * 151,
    "char_rnn": 57 * 128 + 128 * 129 + 18 * 129,
    "char_rnn_writer": 57 * 128 + 128 * 129 + 57 * 129,
}

CONVOLUTIONS = {
    "mlp": 0,
    "lenet": 2,
    "digits": 2,
    "dqn": 3,
    "resnet18": 20,
    "resnet50": 53,
    "mobilenet": 27,
    "vgg16": 13,
    "squeezenet": 26,
    "densenet121": 120,
    "inception_v3": 94,
    "dcgan": 0,
    "transformer": 0,
    "lstm": 0,
    "tree_lstm": 0,
    "char_rnn": 0,
    "char_rnn_writer": 0,
}


def operators(module: IRModule) -> list[str]:
    return [n.op.name for n in post_order(module["main"]) if isinstance(n, Call) and isinstance(n.op, Op)]


def trained(module: IRModule) -> int:
    """Scalars of the weights; inputs and batch norm's statistics are left out."""
    total = 0
    for param in module["main"].params:
        weight = "_" in param.name_hint or param.name_hint in ("bias", "letters")
        if weight and not param.name_hint.endswith(("_mean", "_var")):
            annotation = param.type_annotation
            assert isinstance(annotation, TensorType)
            total += prod(annotation.concrete_shape)
    return total


def test_every_model_is_checked() -> None:
    assert models.names() == list(RESULTS) == list(TRAINED) == list(CONVOLUTIONS)


@pytest.mark.parametrize("name", models.names())
def test_result(name: str) -> None:
    result, shape = infer_types(models.load(name))["main"].ret_type, RESULTS[name]
    assert str(result) == "List[int32]" if shape is None else result == TensorType(shape)


@pytest.mark.parametrize("name", models.names())
def test_weights(name: str) -> None:
    assert trained(models.load(name)) == TRAINED[name]


@pytest.mark.parametrize("name", models.names())
def test_convolutions(name: str) -> None:
    assert operators(models.load(name)).count("nn.conv2d") == CONVOLUTIONS[name]


@pytest.mark.parametrize("name", models.names())
def test_print_then_parse(name: str) -> None:
    typed = infer_types(models.load(name))
    assert structural_equal(infer_types(parse(astext(typed))), typed)  # type arguments are not in the text


def test_the_lstm_shares_its_weights_between_steps() -> None:
    assert operators(models.load("lstm")).count("nn.dense") == 2 * 32


def test_a_model_that_does_not_exist() -> None:
    with pytest.raises(RelayError) as caught:
        models.load("resnet51")
    assert (
        str(caught.value)
        == "error: there is no model called `resnet51`\nhelp: did you mean `resnet50` or `resnet18`?"
    )
