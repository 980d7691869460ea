"""The device and memory scope in which a program wants a value."""

from __future__ import annotations

import re
from typing import Any as Anything

# DLPack's numbers for kinds of devices, which TVM's objects use.
DEVICE_TYPES = {
    "cpu": 1, "cuda": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10, "ext_dev": 12, "hexagon": 14,
    "webgpu": 15,
}  # fmt: skip
_ALIASES = {"llvm": "cpu", "c": "cpu", "gpu": "cuda", "nvptx": "cuda", "cl": "opencl"}
_TEXT = re.compile(r"(\w+)(?::(\d+))?(?:/([\w.]+))?")


class VirtualDevice(str):
    """A device by kind and index, and a memory scope: "cuda:1", "cuda:0/texture". "" is any device.

    It is a string: two are equal when their texts are, and the text format writes it as a string.
    """

    __slots__ = ()

    def __new__(cls, text: str = "") -> VirtualDevice:
        match = _TEXT.fullmatch(text)
        if match is None and text:
            raise ValueError(f'a device is written like "cuda:0" or "cuda:0/scope", not {text!r:.60}')
        if match is None:
            return super().__new__(cls, "")
        kind = _ALIASES.get(match[1], match[1])
        if kind not in DEVICE_TYPES:
            raise ValueError(f"there is no device {kind!r:.40}; supported are {', '.join(DEVICE_TYPES)}")
        scope = f"/{match[3]}" if match[3] else ""
        return super().__new__(cls, f"{kind}:{int(match[2] or 0)}{scope}")

    @staticmethod
    def of(value: Anything) -> VirtualDevice:
        """Convert text, a device object as `tvm.cuda(0)` returns it, or a virtual device object of TVM."""
        if isinstance(value, str):
            return VirtualDevice(value)
        number = getattr(value, "device_type", None)
        if number == -1:
            return VirtualDevice()
        kind = next((name for name, code in DEVICE_TYPES.items() if code == number), None)
        if kind is None:
            raise TypeError(f"a device is text such as 'cuda:0', not a value of type {type(value).__name__}")
        index = getattr(value, "device_id", getattr(value, "virtual_device_id", 0))
        scope = getattr(value, "memory_scope", "")
        return VirtualDevice(f"{kind}:{index}{f'/{scope}' if scope else ''}")

    @property
    def device_type_int(self) -> int:
        """DLPack's number for the kind of device; -1 for any device."""
        return DEVICE_TYPES[self.partition(":")[0]] if self else -1

    device_type = device_type_int

    @property
    def virtual_device_id(self) -> int:
        """The index of the device among those of its kind; -1 for any device."""
        return int(self.partition(":")[2].partition("/")[0]) if self else -1

    @property
    def memory_scope(self) -> str:
        return self.partition("/")[2]

    @property
    def target(self) -> None:
        """None: TVM paired a device with a target to compile for; here `relay_explorer.build` takes the
        target.
        """
        return None
