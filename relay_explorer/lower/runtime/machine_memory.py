"""The memory of tensors when the virtual machine runs compiled kernels.

To make an array and hand it to a kernel takes Python longer than a small kernel computes. So an instruction
keeps the storage that it made, and when it runs again gives the same one, once nothing but this module holds
it or a tensor in it: Python counts who does. A tensor of a storage that is kept is made once, and so is what
kernels are given for it.
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

COPY_BELOW_BYTES = 1 << 11  # checking whether kernels can read an array takes as long as such a copy
ROUNDED_BELOW_BYTES = 1 << 16  # storages of dynamic size are rounded to a few sizes, up to this one
MAX_POOLED_BYTES = 1 << 24  # allocating a larger storage takes little compared to filling it
MAX_STORAGES = 16  # of one instruction: a recursive function needs several at a time

# What `getrefcount` says in `KernelMemory._is_free` of a storage, besides its tensors, and of a tensor,
# besides what kernels are given for it, when nothing else holds them.
_STORAGE, _TENSOR = 3, 3

_TYPES: list[Any] = []


def storage_type() -> Any:
    """Return the array type of memory that the machine allocated: tensors in it need no further check."""
    if not _TYPES:
        import numpy as np

        class Storage(np.ndarray):
            """Memory at an address that kernels can take; `tensors` has those in it by shape and element
            type, if it is kept.
            """

            tensors: dict[Any, Any] | None = None

        _TYPES.append(Storage)
    return _TYPES[0]


class KernelMemory(Memory):
    """Memory at addresses that kernels can take. `known` has what kernels are given for arrays, by their
    identities; it keeps the arrays alive.
    """

    def __init__(self) -> None:
        self._type = storage_type()
        self._tensor = tensor_maker()
        self.known: dict[int, Any] = {}
        self._small: dict[int, Callable[[], Array]] = {}  # by the number of bits of the size
        self.keeps = self._counts_as_expected()

    # -- what kernels are given

    def given(self, array: Array) -> Any:
        """TVM's tensor of an array that is not known yet, or of a copy where kernels cannot read it."""
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
        """Arguments of a run, among `values`, that kernels can read are looked at once; others are copied."""
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
        if size >= 1 << 62:  # NumPy says something else
            raise MemoryError(f"unable to allocate {size:,} bytes")
        # NumPy takes who owns memory for a tensor's base, so that is of the type itself.
        memory: Array = self._type((size + ALIGNMENT,), "uint8")
        start = -memory.ctypes.data % ALIGNMENT
        return memory[start : start + size]

    def storages(self, size: int) -> Callable[[], Array]:
        if size > MAX_POOLED_BYTES or not self.keeps:
            return partial(self._new, size)
        storages: deque[Any] = deque()

        def storage() -> Any:
            try:
                candidate = storages.popleft()  # that was given the longest time ago
            except IndexError:
                candidate = None
            if candidate is None or not self._is_free(candidate):
                if candidate is not None:
                    if len(storages) + 1 < MAX_STORAGES:
                        storages.append(candidate)
                    else:
                        self._forget(candidate)
                candidate = self._kept(size)
            storages.append(candidate)
            return candidate

        return storage

    def _kept(self, size: int) -> Any:
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
        """Copy an array to such memory."""
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

    # -- who holds what

    def _is_free(self, storage: Any) -> bool:
        """Whether only this module, and who asks, holds a storage and its tensors."""
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
        """Whether this Python counts holders at once, and as it did when this was written."""
        storage = self._kept(ALIGNMENT)
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
