"""Train the networks of `digits`: run `python -m relay_explorer.models.digits_training`, for twenty seconds.

The loss of a batch is the mean cross entropy of its images. This package differentiates it, and compiles the
program that computes the loss and its gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import relay
from ..ir.expr import Call, Function
from ..transform import gradient
from ..typing import infer_types
from .digits import CLASSES, NETWORKS, Examples, data
from .training import Adam, initial

if TYPE_CHECKING:
    from numpy import ndarray as Array

EPOCHS, BATCH, RATE = 40, 32, 0.004
GAIN = math.sqrt(2)  # a ReLU sets half of its inputs to zero


def with_gradient(network: str, batch: int = BATCH) -> Function:
    """Build the function from images, their classes one-hot (batch, 10), and the weights to the loss and the
    gradients.
    """
    main = NETWORKS[network](batch)["main"]
    assert isinstance(main, Function)
    softmax = main.body
    assert isinstance(softmax, Call)
    targets = relay.var("targets", shape=(batch, CLASSES))
    loss = relay.nn.cross_entropy_with_logits(relay.nn.log_softmax(softmax.args[0]), targets)
    return gradient(Function([main.params[0], targets, *main.params[1:]], loss), mode="first_order")


def train(
    network: str,
    examples: Examples,
    seed: int = 0,
    epochs: int = EPOCHS,
    step: Callable[..., Any] | None = None,
) -> tuple[dict[str, Array], list[float]]:
    """Train a network; return the weights and the mean loss of each epoch. `step` runs the function
    `with_gradient`, which is compiled by default. Images that don't fill a batch wait for the next epoch.
    """
    import numpy as np

    function = with_gradient(network)
    if step is None:
        from ..lower.executor import create_executor

        step = create_executor().evaluate(function)
    random = np.random.default_rng(seed)
    params = infer_types(NETWORKS[network](BATCH))["main"].params[1:]
    optimizer = Adam([initial(p.checked_type, random, GAIN) for p in params])
    losses = []
    for epoch in range(epochs):
        order = random.permutation(len(examples.images))
        batches = order[: len(order) // BATCH * BATCH].reshape(-1, BATCH)
        total = 0.0
        for batch in batches:
            targets = np.eye(CLASSES, dtype="float32")[examples.classes[batch]]
            loss, (_, _, *slopes) = step(examples.images[batch], targets, *optimizer.weights)
            total += float(loss.numpy())
            optimizer.step([slope.numpy() for slope in slopes], RATE * (1 - epoch / epochs))
        losses.append(total / len(batches))
    return {p.name_hint: w for p, w in zip(params, optimizer.weights)}, losses


if __name__ == "__main__":
    import numpy

    arrays: dict[str, Array] = {}
    for name in NETWORKS:
        trained, losses = train(name, data().training)
        print(f"{name}, mean loss of each epoch:", ", ".join(f"{loss:.3f}" for loss in losses))
        arrays |= {f"{name}.{parameter}": weight for parameter, weight in trained.items()}
    with (Path(__file__).parent / "digits.npz").open("wb") as file:
        numpy.savez(file, allow_pickle=False, **arrays)
