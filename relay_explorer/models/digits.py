"""Two small networks that read handwritten digits of 8 × 8 pixels, with trained weights.

The images are the 1,797 that scikit-learn ships (E. Alpaydin, C. Kaynak, 1998: the test set of *Optical
Recognition of Handwritten Digits*). A fixed permutation splits them into 1,440 for training and 357 that the
networks have never seen. `digits_training` trained the weights, with the gradients of this package.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from .. import relay
from ..ir.errors import RelayError
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder

if TYPE_CHECKING:
    from numpy import ndarray as Array

CLASSES, SIDE, TRAINING = 10, 8, 1440
BRIGHTEST = 16  # of a pixel, which counts the dark points of a square of 4 × 4


def digits(batch: int = 1) -> IRModule:
    """Build a convolutional network from data (batch, 1, 8, 8) between 0 and 1 to class probabilities
    (batch, 10).
    """
    b = Builder()
    x: Expr = b.input("data", (batch, 1, SIDE, SIDE))
    x = relay.nn.relu(b.conv(x, "conv1", 1, 16, kernel=3, padding=1, bias=True))
    x = b.max_pool(x, 2, 2)
    x = relay.nn.relu(b.conv(x, "conv2", 16, 32, kernel=3, padding=1, bias=True))
    x = b.max_pool(x, 2, 2)
    x = relay.nn.relu(b.dense(relay.nn.batch_flatten(x), "fc1", 128, 32))
    return b.module(relay.nn.softmax(b.dense(x, "fc2", 32, CLASSES)))


def perceptron(batch: int = 1) -> IRModule:
    """Build a network of three dense layers with the same input and result."""
    b = Builder()
    x: Expr = relay.nn.batch_flatten(b.input("data", (batch, 1, SIDE, SIDE)))
    x = relay.nn.relu(b.dense(x, "fc1", SIDE * SIDE, 64))
    x = relay.nn.relu(b.dense(x, "fc2", 64, 64))
    return b.module(relay.nn.softmax(b.dense(x, "fc3", 64, CLASSES)))


NETWORKS = {"digits": digits, "perceptron": perceptron}


@cache
def weights(network: str = "digits") -> dict[str, Array]:
    """Return the trained weights of a network, by the names of its parameters."""
    import numpy as np

    if network not in NETWORKS:
        raise RelayError(
            f"there are no weights of a network called {network!r:.60}",
            help=[f"the networks are {', '.join(NETWORKS)}"],
        )
    with (files(__package__) / "digits.npz").open("rb") as file, np.load(file) as arrays:
        names = [name for name in arrays.files if name.startswith(f"{network}.")]
        return {name.removeprefix(f"{network}."): arrays[name] for name in names}


class Examples(NamedTuple):
    """Images (n, 1, 8, 8) of float32 between 0 and 1, and their classes (n,)."""

    images: Array
    classes: Array


class Data(NamedTuple):
    """The images that the networks were trained on, and those that they have never seen."""

    training: Examples
    unseen: Examples


@cache
def data() -> Data:
    """Return scikit-learn's digits, divided. Raise an ImportError if that package is not installed."""
    import numpy as np

    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError:
        raise ImportError("the digits are in scikit-learn: pip install scikit-learn") from None
    images, classes = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    scaled = (images[order] / BRIGHTEST).astype("float32").reshape(-1, 1, SIDE, SIDE)
    classes = classes[order]
    return Data(
        Examples(scaled[:TRAINING], classes[:TRAINING]), Examples(scaled[TRAINING:], classes[TRAINING:])
    )
