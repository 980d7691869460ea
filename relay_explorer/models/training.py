"""What trains the models: initial weights, and the optimizer Adam (D. Kingma, J. Ba, 2015, arXiv 1412.6980,
algorithm 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir.types import TensorType, Type

if TYPE_CHECKING:
    from numpy import ndarray as Array
    from numpy.random import Generator

FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8


def initial(type_: Type, random: Generator, gain: float = 1.0) -> Array:
    """Return zeros for a bias, and for other weights random numbers with which products keep the magnitude of
    their inputs, times `gain`.
    """
    import numpy as np

    assert isinstance(type_, TensorType)
    shape = type_.concrete_shape
    if len(shape) == 1:
        return np.zeros(shape, "float32")
    return (random.normal(size=shape) * gain / np.sqrt(math.prod(shape[1:]))).astype("float32")


class Adam:
    """Updates `weights` by gradients. The moments of the gradients begin at zero."""

    def __init__(self, weights: Sequence[Array]) -> None:
        import numpy as np

        self.weights = list(weights)
        self._first = [np.zeros_like(w) for w in weights]
        self._second = [np.zeros_like(w) for w in weights]
        self._steps = 0

    def step(self, gradients: Sequence[Array], rate: float) -> None:
        """Move each weight against its gradient, by about `rate`."""
        import numpy as np

        self._steps += 1
        for k, gradient in enumerate(gradients):
            self._first[k] = FIRST * self._first[k] + (1 - FIRST) * gradient
            self._second[k] = SECOND * self._second[k] + (1 - SECOND) * gradient * gradient
            mean = self._first[k] / (1 - FIRST**self._steps)
            square = self._second[k] / (1 - SECOND**self._steps)
            moved = self.weights[k] - rate * mean / (np.sqrt(square) + EPSILON)
            self.weights[k] = moved.astype(self.weights[k].dtype)
