"""Where the machine's tensors lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import ndarray as Array


class Memory:
    """New memory for each tensor, from NumPy. Kernels that ask more of it have one of their own."""

    def storage(self, size: int) -> Array:
        """Memory of so many bytes."""
        import numpy as np

        made: Array = np.empty(size, np.uint8)
        return made

    def storages(self, size: int) -> Callable[[], Array]:
        """What gives the memory of one `alloc_storage`, each time that it runs."""
        return partial(self.storage, size)

    def tensors(self, shape: tuple[int, ...], dtype: str) -> Callable[[Array], Array]:
        """What makes the tensor of one `alloc_tensor` at the beginning of a storage."""
        import numpy as np

        kind, make = np.dtype(dtype), np.ndarray

        def tensor(storage: Array) -> Array:
            made: Array = make(shape, kind, storage)
            return made

        return tensor

    def tensor(self, shape: Sequence[int], dtype: Any) -> Array:
        """A tensor in memory of its own, whose shape is known only then."""
        import numpy as np

        made: Array = np.ndarray(shape, dtype, self.storage(dtype.itemsize * prod(shape)))
        return made

    def at_hand(self, values: list[Any]) -> AbstractContextManager[None]:
        """While a run lasts: its arguments, `values`, where kernels find them quickly."""
        return nullcontext()

    def own(self, array: Array) -> Array:
        """The array in memory that kernels can take."""
        return array
