"""A network learns: LeNet on the 1,797 digits that scikit-learn ships, by the gradient of its loss."""

from __future__ import annotations

from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Call, Function
from relay_explorer.lower.executor import create_executor
from relay_explorer.models.lenet import lenet
from relay_explorer.transform import gradient
from relay_explorer.typing import infer_types

BATCH, EPOCHS, RATE, MOMENTUM = 32, 3, 0.02, 0.9
Array = np.ndarray[Anything, Anything]


def digits() -> tuple[Array, Array]:
    """Return the images, each of eight by eight pixels scaled to three by three and padded by two: (n, 1, 28,
    28) between 0 and 1; and their classes.
    """
    from sklearn.datasets import load_digits

    data = load_digits()
    large = np.kron(data.images / 16, np.ones((1, 3, 3)))
    framed = np.pad(large, [(0, 0), (2, 2), (2, 2)])
    return framed[:, None].astype("float32"), data.target


def loss_and_logits() -> Function:
    """LeNet with the mean cross entropy of a batch: (loss, logits), of which the loss is differentiated."""
    main = lenet(BATCH)["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, Call)
    assert str(main.body.op) == "nn.softmax"
    (logits,) = main.body.args
    targets = relay.var("targets", shape=(BATCH, 10))
    loss = relay.nn.cross_entropy_with_logits(relay.nn.log_softmax(logits), targets)
    return Function([main.params[0], targets, *main.params[1:]], relay.Tuple([loss, logits]))


@pytest.mark.slow
def test_lenet_learns_the_digits() -> None:
    images, classes = digits()
    random = np.random.default_rng(0)
    order = random.permutation(len(images))
    training, kept = order[:1408], order[1408:]
    function = loss_and_logits()
    step = create_executor().evaluate(gradient(function, mode="first_order"))
    weights = [initial(p.checked_type.concrete_shape, random) for p in function.params[2:]]  # type: ignore[attr-defined]
    speeds = [np.zeros_like(w) for w in weights]
    losses = []
    for _ in range(EPOCHS):
        for some in random.permutation(training).reshape(-1, BATCH):
            targets = np.eye(10, dtype="float32")[classes[some]]
            (loss, _), derivatives = step(images[some], targets, *weights)
            losses.append(float(loss.numpy()))
            for k, by in enumerate(derivatives[2:]):
                speeds[k] = MOMENTUM * speeds[k] - RATE * by.numpy()
                weights[k] = weights[k] + speeds[k]
    assert losses[0] == pytest.approx(np.log(10), abs=0.3)  # nothing is known yet
    assert np.mean(losses[-20:]) < 0.2
    assert accuracy(function, weights, images[kept], classes[kept]) > 0.93  # 0.956 when it was written


def initial(shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Weights whose products keep their size; biases of zero."""
    if len(shape) == 1:
        return np.zeros(shape, "float32")
    weights: Array = (random.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))).astype("float32")
    return weights


def accuracy(function: Function, weights: list[Array], images: Array, classes: Array) -> float:
    """Of the images in whole batches, how many are recognized."""
    run = create_executor().evaluate(infer_types(relay.IRModule.from_expr(function))["main"])
    right, whole = 0, len(images) // BATCH * BATCH
    for first in range(0, whole, BATCH):
        some = slice(first, first + BATCH)
        _, logits = run(images[some], np.zeros((BATCH, 10), "float32"), *weights)
        right += int((logits.numpy().argmax(1) == classes[some]).sum())
    return right / whole
