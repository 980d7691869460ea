"""Train the weights of `sentiment`: run `python -m relay_explorer.models.sentiment_training`.

The loss of a sentence is the cross entropy of its mood. This package differentiates it through the recursion
over the tree; the program that computes the loss and its gradient is compiled ahead of time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import relay
from ..ir.expr import Call, Function, Let
from ..ir.module import IRModule
from ..transform import gradient
from ..typing import infer_types
from .sentiment import MOODS, module, mood, sentences, vectors
from .training import Adam, initial
from .tree_lstm import phrase

if TYPE_CHECKING:
    from numpy import ndarray as Array

SENTENCES, EPOCHS, BATCH, RATE = 4000, 12, 16, 0.003


def with_gradient() -> IRModule:
    """Build the program from a sentence, its mood (1, 5) and the weights to the loss and the gradients."""
    mod = module()
    main = mod["main"]
    target = relay.var("mood", shape=(1, len(MOODS)))
    body = main.body
    assert isinstance(body, Let)
    softmax = body.body
    assert isinstance(softmax, Call)
    loss = relay.nn.cross_entropy_with_logits(relay.nn.log_softmax(softmax.args[0]), target)
    mod["main"] = Function([main.params[0], target, *main.params[1:]], Let(body.var, body.value, loss))
    typed = infer_types(mod)
    function = gradient(typed["main"], typed)
    typed["main"] = function
    return typed


def train(
    seed: int = 0, count: int = SENTENCES, epochs: int = EPOCHS, step: Callable[..., Any] | None = None
) -> tuple[dict[str, Array], list[float]]:
    """Train the model; return the weights and the mean loss of each epoch. `step` runs the program
    `with_gradient`, which is compiled by default.
    """
    import numpy as np

    mod = module()
    if step is None:
        from ..lower.build import build_native

        step = build_native(with_gradient(), name="training")
    random = np.random.default_rng(seed)
    params = infer_types(mod)["main"].params[1:]
    optimizer = Adam([initial(p.checked_type, random) for p in params])
    data = [(phrase(mod, tree, vectors()), mood(tree) + 2) for tree in sentences(seed, count)]
    losses = []
    for epoch in range(epochs):
        total, rate = 0.0, RATE * (1 - epoch / epochs)
        for batch in random.permutation(len(data)).reshape(-1, BATCH):
            sums = [np.zeros_like(w) for w in optimizer.weights]
            for index in batch:
                sentence, label = data[index]
                loss, (_, _, *derivatives) = step(
                    sentence, np.eye(5, dtype="float32")[[label]], *optimizer.weights
                )
                total += float(loss)
                for sum_, derivative in zip(sums, derivatives):
                    sum_ += derivative
            optimizer.step([sum_ / BATCH for sum_ in sums], rate)
        losses.append(total / len(data))
    return {p.name_hint: w for p, w in zip(params, optimizer.weights)}, losses


if __name__ == "__main__":
    import numpy

    trained, losses = train()
    print("mean loss of each epoch:", ", ".join(f"{loss:.3f}" for loss in losses))
    with (Path(__file__).parent / "sentiment.npz").open("wb") as file:
        numpy.savez(file, allow_pickle=False, **trained)
