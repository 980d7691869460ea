"""`tvm.nd`: arrays that old code creates, fills and reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.ndarray import NDArray, itemsize
from .devices import Device, cpu


class DeviceArray(NDArray):
    """An array with a device, which can be overwritten, like those of `tvm.nd`."""

    __slots__ = ("device",)
    __hash__ = object.__hash__  # by identity, because its contents change

    def __init__(
        self, shape: tuple[int, ...], dtype: str, data: bytes | memoryview, device: Device | None = None
    ) -> None:
        super().__init__(shape, dtype, data)
        self.device = device or cpu()

    @property
    def ctx(self) -> Device:
        """Its device, under the name it had before 0.8."""
        return self.device

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    def same_as(self, other: object) -> bool:
        return self is other

    def copyfrom(self, source: Any) -> DeviceArray:
        """Overwrite the elements with those of `source`, which must have the same shape; they are converted
        to this array's type.
        """
        import numpy

        values = numpy.asarray(source)
        if values.shape != self.shape:
            raise ValueError(f"an array of shape {values.shape} cannot be copied to one of {self.shape}")
        self.data = NDArray.from_numpy(values.astype(self.dtype)).data
        return self

    def copyto(self, target: Device | DeviceArray, mem_scope: str | None = None) -> DeviceArray:
        """Copy the array to a device, or its elements into another array."""
        if isinstance(target, Device):
            return DeviceArray(self.shape, self.dtype, self.data, target)
        return target.copyfrom(self)

    def to_dlpack(self) -> Any:
        """Export a copy of the elements as a DLPack capsule."""
        return self.numpy().copy().__dlpack__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.to_dlpack()

    def __dlpack_device__(self) -> tuple[int, int]:
        return cpu().device_type, 0

    def __getitem__(self, index: Any) -> Any:
        return self.numpy()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        import numpy

        values = self.numpy()
        values[index] = numpy.asarray(value)
        self.copyfrom(values)


def array(arr: Any, device: Device | None = None, mem_scope: str | None = None) -> DeviceArray:
    """Copy `arr` (a NumPy array, a nested list, a number, or another of these arrays); NumPy determines the
    element type.
    """
    if not isinstance(arr, NDArray):
        import numpy

        converted = numpy.asarray(arr)
        if converted.dtype.kind not in "biuf" and "float" not in converted.dtype.name:
            raise TypeError(f"an array is one of numbers, not {arr!r:.60}")
        arr = NDArray.from_numpy(converted)
    return DeviceArray(arr.shape, arr.dtype, arr.data, device)


def empty(
    shape: Sequence[int],
    dtype: str = "float32",
    device: Device | None = None,
    mem_scope: str | None = None,
) -> DeviceArray:
    """Create an array of zeros, to be filled."""
    extents = tuple(int(extent) for extent in shape)
    count = itemsize(dtype)
    for extent in extents:
        count *= extent
    return DeviceArray(extents, dtype, bytes(count), device)


class _Capsule:
    """Wraps a DLPack capsule as an object that exports it."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> object:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return cpu().device_type, 0


def from_dlpack(tensor: Any) -> DeviceArray:
    """Copy an array of another library, or one that is exported as a DLPack capsule."""
    import numpy

    exporter: Any = tensor if hasattr(tensor, "__dlpack__") else _Capsule(tensor)
    return array(numpy.from_dlpack(exporter))


__all__ = ["NDArray", "array", "empty", "from_dlpack"]
