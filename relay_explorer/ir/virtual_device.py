"""Where a program wants a value: a device and a scope of its memory."""

from __future__ import annotations

import re
from typing import Any as Anything

# The numbers of DLPack, by which TVM's objects name kinds of devices.
DEVICE_TYPES = {
    "cpu": 1, "cuda": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10, "ext_dev": 12, "hexagon": 14,
    "webgpu": 15,
}  # fmt: skip
_ALIASES = {"llvm": "cpu", "c": "cpu", "gpu": "cuda", "nvptx": "cuda", "cl": "opencl"}
_TEXT = re.compile(r"(\w+)(?::(\d+))?(?:/([\w.]+))?")


class VirtualDevice(str):
    """A device by kind and number, and a scope of its memory: "cuda:1", "cuda:0/texture". "" is any device.

    The text is the value: two are equal when they are written alike, and a program's text has it as a string.
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
            raise ValueError(f"there is no device {kind!r:.40}; known are {', '.join(DEVICE_TYPES)}")
        scope = f"/{match[3]}" if match[3] else ""
        return super().__new__(cls, f"{kind}:{int(match[2] or 0)}{scope}")

    @staticmethod
    def of(value: Anything) -> VirtualDevice:
        """Convert text, a device of `tvm.cuda(0)`'s kind, or a virtual device of TVM's kind."""
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
        """DLPack's number of the kind of device; -1 for any device."""
        return DEVICE_TYPES[self.partition(":")[0]] if self else -1

    device_type = device_type_int

    @property
    def virtual_device_id(self) -> int:
        """The number of the device among those of its kind; -1 for any device."""
        return int(self.partition(":")[2].partition("/")[0]) if self else -1

    @property
    def memory_scope(self) -> str:
        return self.partition("/")[2]

    @property
    def target(self) -> None:
        """TVM paired a device with what compiles for it; here `relay_explorer.build` takes the target."""
        return None
