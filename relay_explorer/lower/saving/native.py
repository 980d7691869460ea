"""Saves and loads programs that were compiled ahead of time. The file is a shared library, to which a
description is appended that Python needs to call it: its parameters and data types. Other programs ignore it.
"""

from __future__ import annotations

import json
import platform
import shutil
import struct
import tempfile
import time
import weakref
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from ... import _project
from ...execute.aot import NativeSource
from ...execute.graph import Input
from ...execute.vm import VMFunction, VMProgram, parse_program, program_text
from ...ir.errors import RelayError
from ...ir.expr import Function, Tuple, Var
from ..cache.store import digest
from ..profiling.timed import Program, timed
from ..runtime.executable import Executable
from ..runtime.native_library import NativeLibrary
from ..runtime.virtual import parameters, types_of
from ..targets.target import Target, needed_features
from .files import replaced
from .formats import register_library

FORMAT = 2
ELF = b"\x7fELF"
_MARK = b"relayao2"
_END = struct.Struct("<Q32s8s")  # the length and digest of the description, which precedes it, and _MARK
_REBUILD = 'build the program again, and save it: relay_explorer.build(…, executor="aot").save(path)'
# Linux's names of processor features for which LLVM has other names.
_LINUX = {"avx512vnni": "avx512_vnni", "dotprod": "asimddp"}


def described(native: NativeSource, program: VMProgram, target: Target, library: bytes) -> bytes:
    """Return the description that is appended to a library."""
    main = program.functions["main"]
    head = VMFunction("main", main.params, main.types, 0, 0, ())
    description = {
        "format": FORMAT,
        "version": _project.VERSION,
        "machine": "aarch64" if target.kind == "arm64" else platform.machine(),
        "features": needed_features(target),
        "target": asdict(target),
        "name": native.prefix,
        "tags": [[*names, tag] for names, tag in native.tags.items()],
        "program": program_text(VMProgram({"main": head}, types=program.types), remarks=False),
        "header": native.header,
        "library": digest(library),
    }
    text = json.dumps(description).encode()
    return text + _END.pack(len(text), sha256(text).digest(), _MARK)


class LoadedNative(Executable):
    """A program that was compiled ahead of time, saved and loaded.

    exe(x, y)   runs the program, as NativeExecutable does; `exe.header` is its C header
    """

    def __init__(self, path: str, data: bytes, description: dict[str, Any]) -> None:
        super().__init__([], Target.from_dict(description["target"]))
        # Load a private copy: the system identifies libraries by path, and the file may be replaced.
        folder = tempfile.mkdtemp(prefix="relay_explorer_")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path, self.header = Path(folder) / "library.so", str(description["header"])
        self.path.write_bytes(data)
        self.name = str(description["name"])
        head: VMProgram = parse_program(description["program"], [])
        self._head = head.functions["main"]
        tags = {(type_, constructor): tag for type_, constructor, tag in description["tags"]}
        native = NativeSource(self.name, "", self.header, b"", tags, self._head.params, ())
        start = time.perf_counter()
        params = [Var(p.name_hint, p.type_annotation) for p in parameters(head)]
        main = Function(params, Tuple([]))
        try:
            self.library = NativeLibrary(str(self.path), native, main, types_of(head))
        except (OSError, AttributeError) as problem:
            raise RelayError(
                f"the program in {path!r} cannot be loaded: {problem}", help=[_REBUILD]
            ) from None
        self.seconds = time.perf_counter() - start

    @property
    def inputs(self) -> list[Input]:
        """The parameters of `@main`: their names, and their types as text."""
        return [Input(name, None, type_) for name, type_ in zip(self._head.params, self._head.types)]

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Run the program; see NativeExecutable."""
        return self.library(*args, **named)

    def time(self, *args: Any, repeat: int = 10, **named: Any) -> float:
        """Return the seconds of the fastest of `repeat` runs; the arguments are converted once, before the
        first.
        """
        return self.library.time(args, named, repeat)

    def save(self, path: object) -> None:
        """Copy the library to a path."""
        with replaced(path) as output:
            shutil.copy(self.path, output)

    def __repr__(self) -> str:
        takes = ", ".join(f"%{param.name}: {param.type}" for param in self.inputs[:4])
        more = ", …" if len(self.inputs) > 4 else ""
        return f"<program `{self.name}` in C for {self.target}: ({takes}{more}), loaded>"


def load(path: str) -> LoadedNative:
    """Load the program in a shared library. Raise a RelayError if the library was not saved by this package,
    was changed, or is for another machine. None of its code runs before these checks.
    """
    data = Path(path).read_bytes()
    length, sha, mark = _END.unpack(data[-_END.size :]) if len(data) > _END.size else (0, b"", b"")
    begin = len(data) - _END.size - length
    if mark != _MARK or begin < 0:
        raise RelayError(
            f"{path!r} is a library, but not a complete program that this package saved",
            help=[_REBUILD, "C code can link any library through its header"],
        )
    text = data[begin : len(data) - _END.size]
    description = json.loads(text) if sha256(text).digest() == sha else {"format": FORMAT, "library": ""}
    if description["format"] != FORMAT:
        raise RelayError(
            f"{path!r} was saved by version {description['version']} in another format", help=[_REBUILD]
        )
    if description["library"] != digest(data[:begin]):
        raise RelayError(f"{path!r} was changed after it was saved", help=[_REBUILD])
    _check_machine(description)
    return LoadedNative(path, data, description)


def _check_machine(description: dict[str, Any]) -> None:
    here = platform.machine()
    missing = _missing(description["features"]) if description["machine"] == here else []
    if description["machine"] == here and not missing:
        return
    lacks = f", which has no {', '.join(missing)}" if missing else ""
    raise RelayError(
        f"the program was built for {description['machine']}, and this machine is {here}{lacks}",
        help=["build it for this machine"],
    )


def _missing(features: Sequence[str]) -> list[str]:
    """Return the processor features that a program needs and Linux does not report."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    names = {
        name for line in lines if line.lower().startswith(("flags", "features")) for name in line.split()
    }
    return [feature for feature in features if names and _LINUX.get(feature, feature) not in names]


@timed.register(LoadedNative)
def _timed(exe: LoadedNative, args: Sequence[Any], named: dict[str, Any] | None = None) -> Program:
    raise RelayError(
        "a saved library does not read the clock between its kernels",
        help=["measure the program where it was built, before saving it; here, use exe.time(…)"],
    )


register_library(ELF, load)
