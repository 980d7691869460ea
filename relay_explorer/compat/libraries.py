"""The library that `relay.build` returned: its code as text, and a file that `tvm.runtime.load_module`
reads.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..ir.errors import RelayError
from .arrays import DeviceArray, array

if TYPE_CHECKING:
    from ..lower.runtime.executable import Executable
    from .build import Factory

ENTRY = "old_code.json"  # a member of the saved program, which only old code needs
_FORMATS = {"": "llvm", "ll": "llvm", "llvm": "llvm", "s": "asm", "asm": "asm", "cuda": "cuda", "cu": "cuda"}


class Library:
    """The kernels of a program."""

    type_key = "llvm"

    def __init__(self, factory: Factory) -> None:
        self.factory = factory

    @property
    def imported_modules(self) -> list[Library]:
        """The module of GPU code, if kernels run on a GPU: TVM kept it separate."""
        return [self] if self.factory.program.target.kind == "cuda" else []

    imports = imported_modules

    def get_source(self, fmt: str = "") -> str:
        """Return the kernels' code: LLVM IR ("ll"), assembly ("asm"), or for a GPU CUDA C."""
        if fmt not in _FORMATS:
            raise RelayError(
                f"there is no code in the format {fmt!r:.40}", help=[f"there are {', '.join(_FORMATS)[2:]}"]
            )
        level = "cuda" if self.factory.program.target.kind == "cuda" else _FORMATS[fmt]
        kernels = [kernel for kernel in self.factory.program.kernels if level in kernel.levels]
        return "\n".join([kernel.source(level) for kernel in kernels])

    inspect_source = get_source

    def export_library(self, file_name: object, *arguments: Any, **options: Any) -> None:
        """Write the whole program; see `Factory.export_library`."""
        self.factory.export_library(file_name)

    save = export_library

    def __getitem__(self, name: str) -> Any:
        return self.factory[name]


def digests(params: Mapping[str, Any]) -> dict[str, str]:
    """Return a digest of each parameter's value."""
    return {name: digest(value) for name, value in params.items()}


def digest(value: Any) -> str:
    tensor = value if isinstance(value, DeviceArray) else array(value)
    header = f"{tensor.dtype} {tensor.shape} ".encode()
    return hashlib.sha256(header + bytes(tensor.data)).hexdigest()


def save(program: Executable, path: str, name: str, bound: Mapping[str, str]) -> None:
    """Save the program like `Executable.save`, with the names that old code uses."""
    program.save(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(ENTRY, json.dumps({"name": name, "bound": dict(bound)}))


def load_module(path: object, fmt: str = "") -> Factory:
    """Load a program that `export_library` wrote, whatever its file is called. It contains machine code: load
    only files that you trust.
    """
    from ..lower.saving import load
    from .build import Factory

    program = load(str(path))
    description: dict[str, Any] = {}
    if zipfile.is_zipfile(str(path)):  # a library compiled ahead of time is no archive
        with zipfile.ZipFile(str(path)) as archive:
            if ENTRY in archive.namelist():
                description = json.loads(archive.read(ENTRY))
    return Factory(program, {}, str(description.get("name", "default")), description.get("bound", {}))


__all__ = ["Library", "load_module"]
