"""Devices and targets as old code names them. Where a program runs is decided when it is built: see
`compiling.chosen_target`.
"""

from __future__ import annotations

import threading
from typing import Any

from ..transform.infrastructure.context import DEFAULTS

_TYPES = {
    "cpu": 1, "cuda": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10,
}  # fmt: skip  # numbered as DLPack numbers them
_NAMES = {number: name for name, number in _TYPES.items()}
_ALIASES = {"llvm": "cpu", "c": "cpu", "gpu": "cuda", "nvptx": "cuda", "cl": "opencl"}


class Device:
    """A device by type and number. Only CPUs exist here: a program may name another, but runs on the CPU."""

    def __init__(self, device_type: int, device_id: int = 0) -> None:
        self.device_type = int(device_type)
        self.device_id = int(device_id)

    @property
    def exist(self) -> bool:
        return self.device_type == _TYPES["cpu"]

    def sync(self) -> None:
        """Wait for the device: a no-op, because nothing here is asynchronous."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_id))

    def __repr__(self) -> str:
        return f"{_NAMES.get(self.device_type, self.device_type)}({self.device_id})"


def device(dev_type: str | int, dev_id: int = 0) -> Device:
    """Return the device of a type (`"cpu"`, `"cuda"`, a target such as `"llvm -mcpu=skylake"`, or a
    number).
    """
    if isinstance(dev_type, int):
        return Device(dev_type, dev_id)
    kind = (dev_type.split() or [""])[0]
    number = _TYPES.get(_ALIASES.get(kind, kind))
    if number is None:
        raise ValueError(f"there is no device {kind!r}; supported are {', '.join((*_TYPES, *_ALIASES))}")
    return Device(number, dev_id)


def cpu(dev_id: int = 0) -> Device:
    return device("cpu", dev_id)


def cuda(dev_id: int = 0) -> Device:
    return device("cuda", dev_id)


gpu = cuda  # its name before 0.8


def opencl(dev_id: int = 0) -> Device:
    return device("opencl", dev_id)


cl = opencl


def metal(dev_id: int = 0) -> Device:
    return device("metal", dev_id)


def rocm(dev_id: int = 0) -> Device:
    return device("rocm", dev_id)


def vulkan(dev_id: int = 0) -> Device:
    return device("vulkan", dev_id)


class VirtualDevice:
    """The place of a value in old code: a device, the target that computes the value, and a scope of the
    device's memory. It is only stored, compared and printed; everything runs on the CPU.
    """

    def __init__(
        self, device: Device | None = None, target: Target | None = None, memory_scope: str = ""
    ) -> None:
        self.device = device
        self.target = target
        self.memory_scope = memory_scope

    @property
    def device_type(self) -> int:
        return self.device.device_type if self.device is not None else -1

    @property
    def virtual_device_id(self) -> int:
        return self.device.device_id if self.device is not None else -1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VirtualDevice):
            return NotImplemented
        mine = (self.device, str(self.target), self.memory_scope)
        return mine == (other.device, str(other.target), other.memory_scope)

    def __hash__(self) -> int:
        return hash((self.device, str(self.target), self.memory_scope))

    def __repr__(self) -> str:
        return f"VirtualDevice({self.device}, {self.target}, {self.memory_scope!r})"


class TargetKind:
    """The kind of a target, without its options."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


class Target:
    """A target for compilation: a kind and options, as text (`"llvm -mcpu=skylake"`) or as a dictionary. It
    is stored, compared, printed, and current inside a `with`; `compiling` maps it to a target of this
    package.
    """

    _stack = threading.local()
    kind: TargetKind
    attrs: dict[str, Any]

    def __init__(self, target: str | dict[str, Any] | Target, host: str | Target | None = None) -> None:
        if isinstance(target, Target):
            kind, attrs = str(target.kind), dict(target.attrs)
        elif isinstance(target, dict):
            attrs = dict(target)
            kind = str(attrs.pop("kind", ""))
        else:
            kind, *options = target.split() or [""]
            pairs = (option.lstrip("-").partition("=") for option in options)
            attrs = {name: value if equals else True for name, equals, value in pairs}
        if not kind:
            raise ValueError(
                f'a target begins with its kind, as "llvm" or {{"kind": "llvm"}}, not {target!r}'
            )
        self.kind = TargetKind(kind)
        self.attrs = attrs
        self.host = None if host is None else Target(host)

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """Return the target of the innermost `with`."""
        stack: list[Target] = Target._stack.__dict__.get("targets", [])
        if not stack and not allow_none:
            raise ValueError('no target is current: use `with tvm.target.Target("llvm"):`')
        return stack[-1] if stack else None

    @property
    def max_function_args(self) -> int:
        """The most arguments that a kernel may have; 0 means any number."""
        usual = {"opencl": 128, "metal": 31}
        return int(self.attrs.get("max_function_args", usual.get(str(self.kind), 0)))

    def __enter__(self) -> Target:
        Target._stack.__dict__.setdefault("targets", []).append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        Target._stack.targets.pop()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Target):
            return NotImplemented
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        options = [f"-{k}" if v is True else f"-{k}={v}" for k, v in sorted(self.attrs.items())]
        return " ".join([self.kind.name, *options])

    def __repr__(self) -> str:
        return f"Target({str(self)!r})"


def _limits() -> dict[str, int]:
    """Return the options of passes that the current target sets."""
    target = Target.current()
    most = target.max_function_args if target is not None else 0
    return {"relay.max_function_args": most} if most else {}


DEFAULTS.append(_limits)


def create(target: str | dict[str, Any]) -> Target:
    """Create a Target, under the name that the function had before 0.7."""
    return Target(target)
