"""Allocate the machine's tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import ndarray as Array


class Memory:
    """Allocates new memory for each tensor with NumPy. Kernels that require more of it have a subclass of
    their own.
    """

    def storage(self, size: int) -> Array:
        """Allocate `size` bytes of memory."""
        import numpy as np

        array: Array = np.empty(size, np.uint8)
        return array

    def storages(self, size: int) -> Callable[[], Array]:
        """Return a function that allocates the memory of one `alloc_storage`, each time it runs."""
        return partial(self.storage, size)

    def tensors(self, shape: tuple[int, ...], dtype: str) -> Callable[[Array], Array]:
        """Return a function that creates the tensor of one `alloc_tensor` at the beginning of a storage."""
        import numpy as np

        kind, make = np.dtype(dtype), np.ndarray

        def tensor(storage: Array) -> Array:
            array: Array = make(shape, kind, storage)
            return array

        return tensor

    def tensor(self, shape: Sequence[int], dtype: Any) -> Array:
        """Allocate a tensor in memory of its own, whose shape is known only at run time."""
        import numpy as np

        array: Array = np.ndarray(shape, dtype, self.storage(dtype.itemsize * prod(shape)))
        return array

    def at_hand(self, values: list[Any]) -> AbstractContextManager[None]:
        """Return a context for the length of a run, in which kernels access its arguments, `values`,
        quickly.
        """
        return nullcontext()

    def own(self, array: Array) -> Array:
        """Return the array in memory that kernels can read."""
        return array
