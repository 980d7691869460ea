"""Runs graph programs whose tensors stay on a device: only the arguments and the result are copied, not the
tensors that one kernel passes to the next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ...execute.graph import Copy, GraphProgram
from ...execute.graph_executor import GraphExecutor
from ...ir.ndarray import itemsize
from ..require import tvm
from .arrays import is_aligned

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from .kernel import Kernel

Run = Callable[..., object]


class DeviceExecutor(GraphExecutor):
    """Runs a graph program on `device`, in whose memory all its tensors are. For a kernel that only the host
    can compute (`Kernel.on_host`), arguments are copied to the host and results back.
    """

    def __init__(
        self, program: GraphProgram, kernels: Sequence[Kernel], constants: Mapping[int, Array], device: Any
    ) -> None:
        self.device = device
        self._buffers: dict[int, Any] = {}
        self._sizes = _sizes(program)
        runs = [_by_host(kernel.run) if kernel.on_host else kernel.on_its_device for kernel in kernels]
        super().__init__(program, runs, constants, aligned=self._empty, is_aligned=is_aligned, tensor=_itself)

    def _empty(self, shape: Sequence[int], dtype: str) -> Any:
        return tvm().runtime.empty(tuple(shape), dtype, self.device)

    def _array(self, number: int, constants: Mapping[int, Array]) -> Any:
        slot = self.program.slots[number]
        if slot.origin == "constant":
            return self._sent(constants[number])
        if slot.offset < 0:
            return None
        if slot.offset not in self._buffers:
            self._buffers[slot.offset] = self._empty((self._sizes[slot.offset],), "uint8")
        return self._buffers[slot.offset]._create_view(tuple(slot.shape), slot.dtype)

    def _sent(self, array: Array) -> Any:
        tensor = self._empty(array.shape, array.dtype.name)
        tensor.copyfrom(array)
        return tensor

    def _view(self, number: int, shape: tuple[int, ...]) -> object:
        key = number, shape
        if key not in self._views:
            self._views[key] = self._seen(number, shape)
        return self._views[key]

    def _seen(self, number: int, shape: tuple[int, ...]) -> Any:
        slot, tensor = self.program.slots[number], self._arrays[number]
        assert tensor is not None
        there: Any = tensor
        return tensor if tuple(slot.shape) == shape else there._create_view(shape, slot.dtype)

    def bind(self, number: int, array: Array) -> None:
        """Copy a parameter's value to the device. Every run does, because the value may have changed."""
        now: Any = self._arrays[number]
        if now is not None:
            now.copyfrom(array)
            return
        self._arrays[number] = self._sent(array)
        for arguments, place, shape in self._uses.get(number, ()):
            arguments[place] = self._seen(number, shape)

    def run(self) -> None:
        """Run the kernels, and wait until the device has finished them."""
        super().run()
        self.device.sync()

    def _array_of(self, number: int) -> Array:
        there: Any = super()._array_of(number)
        array: Array = there.numpy()
        return array

    def _copy(self, step: Copy) -> None:
        for source, target in step.pairs:
            target_array: Any = self._arrays[target]
            source_array: Any = self._seen(source, tuple(self.program.slots[target].shape))
            source_array.copyto(target_array)

    def timed(self) -> list[float]:
        """Run once, and return the seconds of each step, including the device's work."""
        seconds = [0.0] * len(self.calls)
        at = 0
        while at < len(self.calls):
            start = time.perf_counter()
            after = self.step(at)
            self.device.sync()
            seconds[at] += time.perf_counter() - start
            at = after
        return seconds


def _sizes(program: GraphProgram) -> dict[int, int]:
    """Return the size in bytes of each buffer, by its offset in the plan's arena. Kernels refuse a tensor
    that does not begin where its allocation does, so the arena cannot be one allocation here. Instead,
    tensors at the same offset, whose lifetimes do not overlap, share a buffer.
    """
    sizes: dict[int, int] = {}
    for slot in program.slots:
        if slot.offset >= 0:
            size = prod(slot.shape) * itemsize(slot.dtype)
            sizes[slot.offset] = max(sizes.get(slot.offset, 1), size)
    return sizes


def _itself(array: Array) -> object:
    return array


def _by_host(run: Run) -> Run:
    """Wrap a host kernel for tensors on a device. All tensors are copied to the host and back, whether or not
    the kernel writes them.
    """

    def called(*tensors: Any) -> None:
        runtime = tvm().runtime
        here = [runtime.tensor(tensor.numpy()) for tensor in tensors]
        run(*here)
        for tensor, result in zip(tensors, here, strict=True):
            tensor.copyfrom(result.numpy())

    return called
