"""A compiled program for the virtual machine as a file: a ZIP archive of its bytecode as text, the data of
its constants, and libraries of its kernels.
"""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
import weakref
import zipfile
from dataclasses import asdict, replace
from typing import Any

from .. import _project
from ..execute.vm import VMProgram, parse_program, program_text
from ..ir.ndarray import NDArray
from ..ir.span import Source, Span
from .files import replaced
from .kernel import Kernel
from .saved import FORMAT, kernel_fields, library_of, read_target
from .virtual import VMExecutable

MOST_SOURCE = 1_000_000  # characters of program text that are kept for errors


def save(exe: VMExecutable, path: object) -> None:
    """Writes `exe`; a RelayError where a kernel has no library, or the file cannot be written."""
    libraries = [library_of(kernel) for kernel in exe.kernels]
    numbers = {kernel: number for number, kernel in enumerate(exe.kernels)}
    told = {
        "format": FORMAT,
        "version": _project.VERSION,
        "machine": platform.machine(),
        "target": asdict(exe.target),
        "kernels": [kernel_fields(kernel) for kernel in exe.kernels],
        "kernel_of": [None if kernel is None else numbers[kernel] for kernel in exe.kernel_of],
        "constants": [[data.dtype, list(data.shape)] for data in exe.program.constants],
        "bytecode": program_text(exe.program, remarks=False),
        "places": _places(exe.program),
    }
    with replaced(path) as made, zipfile.ZipFile(made, "w") as archive:
        archive.writestr("program.json", json.dumps(told))
        for number, library in enumerate(libraries):
            if library is not None:
                archive.write(library, f"kernels/{number}{library.suffix}")
        for number, data in enumerate(exe.program.constants):
            archive.writestr(f"constants/{number}", data.data)


def _places(program: VMProgram) -> dict[str, Any]:
    """Where instructions stand in the program's text, which is kept unless it is long."""
    sources: dict[int, tuple[int, Source]] = {}
    functions: dict[str, list[Any]] = {}
    for name, function in program.functions.items():
        spans: list[Any] = []
        for span in function.spans:
            if span is None:
                spans.append(None)
                continue
            number, _ = sources.setdefault(id(span.source), (len(sources), span.source))
            spans.append([number, span.line, span.end_line, span.column, span.end_column])
        functions[name] = spans
    kept = sum(len(source.text) for _, source in sources.values()) <= MOST_SOURCE
    texts = [[source.name, source.text if kept else ""] for _, source in sources.values()]
    return {"sources": texts, "functions": functions}


def loaded(archive: zipfile.ZipFile, told: dict[str, Any]) -> VMExecutable:
    """The program of an archive that `save` wrote."""
    target = read_target(told)
    constants = [
        NDArray(tuple(shape), dtype, archive.read(f"constants/{number}"))
        for number, (dtype, shape) in enumerate(told["constants"])
    ]
    program = _with_places(parse_program(told["bytecode"], constants), told["places"])
    folder = tempfile.mkdtemp(prefix="relay_explorer_")
    kernels = []
    for number, fields in enumerate(told["kernels"]):
        kernel = Kernel(fields["name"], fields["symbol"], fields["text"], target, fields["entry"])
        kernel.uses, kernel.cached = int(fields["uses"]), True
        if not kernel.on_host:
            kernel.entry["path"] = archive.extract(f"kernels/{number}{target.library}", folder)
        kernels.append(kernel)
    program = replace(program, constants=tuple(constants))
    made = VMExecutable(program, [None if k is None else kernels[k] for k in told["kernel_of"]], target)
    weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    return made


def _with_places(program: VMProgram, places: dict[str, Any]) -> VMProgram:
    sources = [Source(name, text) for name, text in places["sources"]]
    functions = {}
    for name, function in program.functions.items():
        spans = [None if s is None else Span(sources[s[0]], *s[1:]) for s in places["functions"][name]]
        functions[name] = replace(function, spans=tuple(spans))
    return replace(program, functions=functions)
