"""The memory of tensors when the virtual machine runs compiled kernels.

Creating an array and passing it to a kernel takes Python longer than a small kernel computes. Each allocating
instruction therefore keeps its storages in a pool, and reuses one when it runs again, as soon as nothing but
this module refers to the storage or to a tensor in it, which Python's reference counts show. The tensors of a
pooled storage, and the TVM tensors that kernels take for them, are created only once.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ...execute.vm.memory import Memory
from .arrays import ALIGNMENT, is_aligned, tensor_maker

if TYPE_CHECKING:
    from numpy import ndarray as Array

COPY_BELOW_BYTES = 1 << 11  # copying so little takes no longer than checking whether kernels can read it
ROUNDED_BELOW_BYTES = 1 << 16  # storages of dynamic size are rounded to a few sizes, up to this one
MAX_POOLED_BYTES = 1 << 24  # allocating a larger storage takes little compared to filling it
MAX_STORAGES = 16  # of one instruction: a recursive function needs several at a time

# The reference counts that `KernelMemory._is_free` sees when nothing else refers to the objects: of a
# storage, not counting its tensors, and of a tensor, not counting the TVM tensor that kernels take for it.
_STORAGE, _TENSOR = 3, 3

_TYPES: list[Any] = []


def storage_type() -> Any:
    """Return the array type of the virtual machine's own memory; tensors in it need no further check."""
    if not _TYPES:
        import numpy as np

        class Storage(np.ndarray):
            """Memory that is aligned for kernels. If it is pooled, `tensors` maps shapes and element types to
            the tensors in it.
            """

            tensors: dict[Any, Any] | None = None

        _TYPES.append(Storage)
    return _TYPES[0]


class KernelMemory(Memory):
    """Memory that is aligned for kernels. `known` maps the ids of arrays to the TVM tensors that kernels take
    for them; it keeps the arrays alive.
    """

    def __init__(self) -> None:
        self._type = storage_type()
        self._tensor = tensor_maker()
        self.known: dict[int, Any] = {}
        self._small: dict[int, Callable[[], Array]] = {}  # by the number of bits of the size
        self.keeps = self._counts_as_expected()

    # -- the arguments of kernels

    def given(self, array: Array) -> Any:
        """Return the TVM tensor of an array not in `known`, or of a copy if kernels cannot read it."""
        base: Any = array.base
        if type(base) is self._type:
            tensor = self._tensor(array)
            if (tensors := base.tensors) is not None and array is tensors.get((array.shape, array.dtype)):
                self.known[id(array)] = tensor
            return tensor
        if array.nbytes > COPY_BELOW_BYTES and is_aligned(array):
            return self._tensor(array)
        return self._tensor(self._copy(array, self.storage(array.nbytes)))

    @contextmanager
    def at_hand(self, values: list[Any]) -> Iterator[None]:
        """Make the arrays among `values`, the arguments of a run, available to kernels while the context is
        entered. Those that kernels can read are checked only once; others are copied.
        """
        held = []
        try:
            for number, value in enumerate(values):
                if hasattr(value, "dtype") and value.dtype.kind in "biuf":
                    if not is_aligned(value):
                        values[number] = value = self.own(value)
                    if id(value) not in self.known:
                        tensor = self._tensor(value)
                        held.append(id(value))
                        self.known[id(value)] = tensor
            yield
        finally:
            for key in held:
                self.known.pop(key, None)

    # -- memory

    def storage(self, size: int) -> Array:
        if size > ROUNDED_BELOW_BYTES:
            return self._new(size)
        bits = size.bit_length()
        if bits not in self._small:
            self._small[bits] = self.storages(1 << bits)
        return self._small[bits]()

    def _new(self, size: int) -> Array:
        if size >= 1 << 62:  # NumPy would raise another kind of error
            raise MemoryError(f"unable to allocate {size:,} bytes")
        # NumPy makes the array that owns the memory a tensor's base, so that array must be of the type.
        memory: Array = self._type((size + ALIGNMENT,), "uint8")
        start = -memory.ctypes.data % ALIGNMENT
        return memory[start : start + size]

    def storages(self, size: int) -> Callable[[], Array]:
        if size > MAX_POOLED_BYTES or not self.keeps:
            return partial(self._new, size)
        storages: deque[Any] = deque()

        def storage() -> Any:
            try:
                candidate = storages.popleft()  # the least recently used
            except IndexError:
                candidate = None
            if candidate is None or not self._is_free(candidate):
                if candidate is not None:
                    if len(storages) + 1 < MAX_STORAGES:
                        storages.append(candidate)
                    else:
                        self._forget(candidate)
                candidate = self._pooled(size)
            storages.append(candidate)
            return candidate

        return storage

    def _pooled(self, size: int) -> Any:
        storage: Any = self._new(size)
        storage.tensors = {}
        return storage

    def tensors(self, shape: tuple[int, ...], dtype: str) -> Callable[[Array], Array]:
        import numpy as np

        make, key = np.ndarray, (shape, np.dtype(dtype))

        def tensor(storage: Any) -> Array:
            tensors = storage.tensors
            result: Array | None = None if tensors is None else tensors.get(key)
            if result is None:
                result = make(*key, storage)
                if tensors is not None:
                    tensors[key] = result
            return result

        return tensor

    def own(self, array: Array) -> Array:
        """Copy an array to new aligned memory."""
        return self._copy(array, self._new(array.nbytes))

    def constant(self, array: Array) -> Array:
        """Copy an array to memory that lives as long as this object."""
        array_copy = self.own(array)
        if array_copy.dtype.kind in "biuf":
            self.known[id(array_copy)] = self._tensor(array_copy)
        return array_copy

    def _copy(self, array: Array, storage: Array) -> Array:
        import numpy as np

        result: Array = np.ndarray(array.shape, array.dtype.newbyteorder("="), storage)
        result[...] = array
        return result

    # -- reference counts

    def _is_free(self, storage: Any) -> bool:
        """Whether only this module, and the caller, refer to a storage and its tensors."""
        count, tensors = sys.getrefcount, storage.tensors
        if count(storage) != _STORAGE + len(tensors):
            return False
        for tensor in tensors.values():  # noqa: SIM110  # before every kernel: `all` would take twice as long
            if count(tensor) != _TENSOR + (id(tensor) in self.known):
                return False
        return True

    def _forget(self, storage: Any) -> None:
        """Drop this module's own reference to a storage, so that only its users keep it alive."""
        tensors, storage.tensors = storage.tensors, None
        for tensor in tensors.values():
            self.known.pop(id(tensor), None)

    def _counts_as_expected(self) -> bool:
        """Whether this Python updates reference counts at once, to the values that `_is_free` expects."""
        storage = self._pooled(ALIGNMENT)
        tensor = self.tensors((4,), "float32")
        held = [tensor(storage)]
        self.given(held[0])
        free = [self._is_free(storage)]
        held.clear()
        free.append(self._is_free(storage))
        held.append(storage)
        free.append(self._is_free(storage))
        self._forget(storage)
        return free == [False, True, False]
