"""Saves and loads graph programs as ZIP archives of libraries, constants, and a description in JSON."""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ... import _project
from ...execute.graph import Branch, Copy, GraphProgram, Input, Launch, Slot
from ...ir.errors import RelayError
from ..runtime.arrays import aligned
from ..runtime.executable import Executable, GraphExecutable
from ..runtime.kernel import Kernel
from ..targets.target import Target
from ..targets.toolchain import c_compiler
from .archive import REBUILD, ArchiveReader, ArchiveWriter
from .files import replaced
from .formats import DESCRIPTION, FORMAT, register_archive

_KINDS: dict[str, Any] = {"Launch": Launch, "Branch": Branch, "Copy": Copy}


def save(exe: GraphExecutable, path: object) -> None:
    """Write `exe` to a file. Raise a RelayError if a kernel has no library, or the file cannot be written."""
    program = exe.program
    description = {
        "slots": program.slots,
        "steps": [[type(step).__name__, step] for step in program.steps],
        "inputs": program.inputs,
        "result": program.result,
        "arena": program.arena,
    }
    write_archive(
        path, exe, description, {number: array.tobytes() for number, array in exe.constants.items()}
    )


def write_archive(
    path: object, exe: Executable, fields: Mapping[str, Any], constants: Mapping[int, bytes | memoryview]
) -> None:
    """Write a program's archive; `fields` is the part of its description that depends on the executor."""
    libraries = [_library_of(kernel) for kernel in exe.kernels]
    description = {
        "format": FORMAT,
        "version": _project.VERSION,
        "machine": platform.machine(),
        "target": asdict(exe.target),
        "kernels": [_kernel_fields(kernel) for kernel in exe.kernels],
        "text": exe.text,
        **fields,
    }
    with replaced(path) as output, zipfile.ZipFile(output, "w") as archive:
        writer = ArchiveWriter(archive)
        writer.write(DESCRIPTION, json.dumps(description).encode())
        for number, library in enumerate(libraries):
            if library is not None:
                writer.write(f"kernels/{number}{library.suffix}", library.read_bytes())
        for number, data in constants.items():
            writer.write(f"constants/{number}", data)
        writer.close()


def _library_of(kernel: Kernel) -> Path | None:
    """Return the library of a kernel; None if it runs on the host. Raise a RelayError if it has none."""
    if kernel.on_host:
        return None
    library = kernel.library
    if library is None:
        raise RelayError(
            f"the kernel `{kernel.name}` was compiled in this process, and has no library to save",
            help=[
                "install a C compiler (gcc)"
                if c_compiler() is None
                else "kernels with user-defined lowerings are compiled in this process: "
                'build(…, executor="aot") builds a library that can be saved'
            ],
        )
    return library


def _kernel_fields(kernel: Kernel) -> dict[str, Any]:
    """Return the fields that are saved for a kernel in addition to its library."""
    left_out = ("path", "function", "file", "sha256", "format")
    entry = {name: value for name, value in kernel.entry.items() if name not in left_out}
    own = {"name": kernel.name, "symbol": kernel.symbol, "text": kernel.text, "uses": kernel.uses}
    return {**own, "entry": entry}


def _loaded(archive: ArchiveReader, description: dict[str, Any]) -> GraphExecutable:
    import numpy as np

    target = read_target(description)
    program = GraphProgram(
        tuple([Slot(o, d, tuple(s), a) for o, d, s, a in description["slots"]]),
        tuple([_KINDS[kind](*map(_tuples, fields)) for kind, fields in description["steps"]]),
        tuple([Input(*fields) for fields in description["inputs"]]),
        _result(description["result"]),
        int(description["arena"]),
    )
    constants = {}
    for number in program.constants:
        slot = program.slots[number]
        array = aligned(slot.shape, slot.dtype)
        array[...] = np.frombuffer(archive.read(f"constants/{number}"), array.dtype).reshape(slot.shape)
        constants[number] = array
    exe = GraphExecutable(program, read_kernels(archive, description, target), constants, target)
    exe._text = str(description["text"])
    return exe


def read_kernels(archive: ArchiveReader, description: dict[str, Any], target: Target) -> list[Kernel]:
    """Read the kernels of a saved program. Their libraries are extracted to a temporary folder that lives as
    long as the kernels.
    """
    kernels = []
    folder = _Folder()
    for number, fields in enumerate(description["kernels"]):
        kernel = Kernel(fields["name"], fields["symbol"], fields["text"], target, fields["entry"])
        kernel.uses, kernel.cached = int(fields["uses"]), True
        if not kernel.on_host:
            library = Path(folder.path) / f"{number}{target.library}"
            library.write_bytes(archive.read(f"kernels/{number}{target.library}"))
            kernel.entry["path"] = str(library)
            kernel.folder = folder
        kernels.append(kernel)
    return kernels


class _Folder:
    """A temporary folder, which is removed when nothing refers to this object any more."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="relay_explorer_")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def read_target(description: dict[str, Any]) -> Target:
    """Return the target that a program was built for. Raise a RelayError if this machine cannot run it."""
    target = Target.from_dict(description["target"])
    if description["machine"] != platform.machine() or not target.runs_here:
        raise RelayError(
            f"the program was built for {target} on {description['machine']}, and this machine cannot run it",
            help=[REBUILD],
        )
    return target


def _tuples(value: Any) -> Any:
    """Convert lists back to the tuples that they were before they were saved as JSON."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _result(nest: Any) -> Any:
    """Restore a program's nested result: a pair of an index and a shape is a leaf, other lists are tuples."""
    if len(nest) == 2 and isinstance(nest[0], int):
        return nest[0], tuple(nest[1])
    return [_result(part) for part in nest]


register_archive(GraphExecutable, "slots", save, _loaded)
