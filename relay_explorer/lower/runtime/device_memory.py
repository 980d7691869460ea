"""Device memory for the virtual machine: only arguments and inspected values are copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from ...execute.vm import KernelCode
from ...execute.vm.kernels import NumPyKernel
from ...execute.vm.memory import Memory
from ..require import tvm
from .arrays import aligned_copy, is_aligned, tensor_of

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from .kernel import Kernel

MIN_BYTES = 256  # the smallest memory block


class DeviceStorage:
    """A memory block. It returns to the free list when nothing refers to it or to a tensor in it."""

    def __init__(self, size: int, free: list[Any], device: Any) -> None:
        self.free = free
        self.memory = free.pop() if free else tvm().runtime.empty((size,), "uint8", device)

    def __del__(self) -> None:
        self.free.append(self.memory)


class DeviceArray:
    """A tensor on a device, as a value of the virtual machine. Converting it to a NumPy array copies it."""

    def __init__(self, tensor: Any, dtype: Any, storage: DeviceStorage) -> None:
        self.tensor, self.dtype, self.storage = tensor, dtype, storage
        self.shape = tuple(map(int, tensor.shape))

    @property
    def here(self) -> Array:
        """A copy of its elements in host memory."""
        array: Array = self.tensor.numpy()
        return array

    def copy(self) -> Array:
        return self.here

    def reshape(self, *shape: Any) -> DeviceArray:
        """Return a view of the same elements with another shape."""
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = tuple(shape[0])
        count, product = prod(self.shape), prod(extent for extent in shape if extent >= 0)
        shape = tuple([count // max(1, product) if extent < 0 else int(extent) for extent in shape])
        return DeviceArray(self.tensor._create_view(shape, self.dtype.name), self.dtype, self.storage)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return self.here if dtype is None else self.here.astype(dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        import numpy as np

        array = self.here
        array[index] = np.asarray(value)
        self.tensor.copyfrom(array)

    def __bool__(self) -> bool:
        return bool(self.here)

    def __len__(self) -> int:
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.here, name)


class DeviceMemory(Memory):
    """Memory of a device, in blocks whose sizes are powers of two."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self._free: dict[int, list[Any]] = {}

    def storage(self, size: int) -> Any:
        whole = max(MIN_BYTES, 1 << (max(size, 1) - 1).bit_length())
        return DeviceStorage(whole, self._free.setdefault(whole, []), self.device)

    def storages(self, size: int) -> Callable[[], Array]:
        return partial(self.storage, size)

    def tensors(self, shape: tuple[int, ...], dtype: str) -> Callable[[Any], Any]:
        import numpy as np

        return partial(_view, shape, np.dtype(dtype))

    def tensor(self, shape: Sequence[int], dtype: Any) -> Any:
        return _view(tuple(shape), dtype, self.storage(dtype.itemsize * prod(shape)))

    def own(self, array: Array) -> Any:
        """Copy an array to the device."""
        result = self.tensor(array.shape, array.dtype.newbyteorder("="))
        result.tensor.copyfrom(array if is_aligned(array) else aligned_copy(array))
        return result

    @contextmanager
    def at_hand(self, values: list[Any]) -> Iterator[None]:
        import numpy as np

        for number, value in enumerate(values):
            if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
                values[number] = self.own(value)
        yield

    def given(self, array: Any) -> Any:
        """Return the tensor to pass to a kernel for a tensor of the virtual machine."""
        return array.tensor if isinstance(array, DeviceArray) else self.own(array).tensor


def _view(shape: tuple[int, ...], dtype: Any, storage: DeviceStorage) -> DeviceArray:
    return DeviceArray(storage.memory._create_view(shape, dtype.name), dtype, storage)


class DeviceKernel:
    """A compiled kernel for a device, as the virtual machine calls it."""

    def __init__(self, kernel: Kernel, code: KernelCode, memory: DeviceMemory) -> None:
        reference = HostKernel(code)
        self.kernel, self.memory = kernel, memory
        self.shapes, self.compute = reference.shapes, reference.compute
        types = [t.dtype for t in (*kernel.input_types, *kernel.output_types)]
        self._reads = len(kernel.input_types)
        self._narrow = types if "bfloat16" in types else None
        self._run: Any = None

    def run(self, *arrays: Any) -> None:
        if self._narrow is not None:
            self._run_narrow(arrays, self._narrow)
            return
        if self._run is None:
            self._run = self.kernel.on_its_device
        self._run(*map(self.memory.given, arrays))

    def _run_narrow(self, arrays: Sequence[Any], dtypes: Sequence[str]) -> None:
        """Run with bfloat16 tensors, which the virtual machine, like NumPy, stores as float32."""
        import numpy as np

        own = [aligned_copy(np.asarray(array), dtype) for array, dtype in zip(arrays, dtypes)]
        self.kernel.run(*map(tensor_of, own))
        for array, result in zip(arrays[self._reads :], own[self._reads :]):
            array[...] = result


class HostKernel(NumPyKernel):
    """The NumPy reference implementation of a kernel, for tensors on a device."""

    def compute(self, arguments: Sequence[Any]) -> list[Any]:
        return super().compute([a.here if isinstance(a, DeviceArray) else a for a in arguments])
