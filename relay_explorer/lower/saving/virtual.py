"""Saves and loads programs for the virtual machine as ZIP archives of the bytecode as text, the data of the
constants, and the libraries of the kernels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...execute.vm import VMProgram, parse_program, program_text
from ...ir.ndarray import NDArray
from ...ir.span import Source, Span
from ..runtime.virtual import VMExecutable
from .archive import ArchiveReader
from .formats import register_archive
from .graph import read_kernels, read_target, write_archive

MAX_SOURCE_CHARACTERS = 1_000_000  # characters of program text that are saved for error messages


def save(exe: VMExecutable, path: object) -> None:
    """Write `exe` to a file. Raise a RelayError if a kernel has no library, or the file cannot be written."""
    numbers = {kernel: number for number, kernel in enumerate(exe.kernels)}
    constants = exe.program.constants
    description = {
        "kernel_of": [None if kernel is None else numbers[kernel] for kernel in exe.kernel_of],
        "constants": [[data.dtype, list(data.shape)] for data in constants],
        "bytecode": program_text(exe.program, remarks=False),
        "places": _places(exe.program),
    }
    write_archive(path, exe, description, {number: data.data for number, data in enumerate(constants)})


def _places(program: VMProgram) -> dict[str, Any]:
    """Return the source spans of the instructions, and the program's text unless it is long."""
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
    include_text = sum(len(source.text) for _, source in sources.values()) <= MAX_SOURCE_CHARACTERS
    texts = [[source.name, source.text if include_text else ""] for _, source in sources.values()]
    return {"sources": texts, "functions": functions}


def loaded(archive: ArchiveReader, description: dict[str, Any]) -> VMExecutable:
    """Restore the program of an archive that `save` wrote."""
    target = read_target(description)
    constants = [
        NDArray(tuple(shape), dtype, archive.read(f"constants/{number}"))
        for number, (dtype, shape) in enumerate(description["constants"])
    ]
    program = _with_places(parse_program(description["bytecode"], constants), description["places"])
    program = replace(program, constants=tuple(constants))
    kernels = read_kernels(archive, description, target)
    exe = VMExecutable(program, [None if k is None else kernels[k] for k in description["kernel_of"]], target)
    exe._text = str(description.get("text", ""))
    return exe


def _with_places(program: VMProgram, places: dict[str, Any]) -> VMProgram:
    sources = [Source(name, text) for name, text in places["sources"]]
    functions = {}
    for name, function in program.functions.items():
        spans = [None if s is None else Span(sources[s[0]], *s[1:]) for s in places["functions"][name]]
        functions[name] = replace(function, spans=tuple(spans))
    return replace(program, functions=functions)


register_archive(VMExecutable, "bytecode", save, loaded)
