"""Saves and loads executables. Each format registers here, with the mark that identifies its files."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from typing import Any

from ...ir.errors import RelayError
from ..runtime.executable import Executable
from ..runtime.services import provides
from .archive import REBUILD, ArchiveReader
from .files import path_of

FORMAT = 2
DESCRIPTION = "program.json"

Save = Callable[[Any, object], None]
Read = Callable[[ArchiveReader, dict[str, Any]], Executable]
_SAVERS: dict[type[Executable], Save] = {}
_ARCHIVES: dict[str, Read] = {}
_LIBRARIES: dict[bytes, Callable[[str], Executable]] = {}


def register_archive(kind: type[Executable], field: str, save: Save, read: Read) -> None:
    """Register a format of archives: `save` writes an executable of the class `kind`, and `read` reads an
    archive whose description has `field`.
    """
    _SAVERS[kind], _ARCHIVES[field] = save, read


def register_library(magic: bytes, read: Callable[[str], Executable]) -> None:
    """Register a format of libraries: `read` loads a file that begins with `magic`."""
    _LIBRARIES[magic] = read


@provides("save")
def save(exe: Executable, path: object) -> None:
    """Save an executable in the format of its class."""
    _SAVERS[type(exe)](exe, path)


def load(path: object) -> Executable:
    """Load a program that `Executable.save` wrote. Raise a RelayError if the file is not such a program, is
    damaged, or is for another machine. It contains machine code, so load only files that you trust.
    """
    return _load(str(path_of(path)))


def _load(path: str) -> Executable:
    try:
        with open(path, "rb") as file:
            head = file.read(max(map(len, _LIBRARIES)))
        for magic, read_library in _LIBRARIES.items():
            if head.startswith(magic):
                return read_library(path)
        with zipfile.ZipFile(path) as opened:
            archive = ArchiveReader(opened, path)
            description = archive.description(DESCRIPTION, FORMAT)
            read = next(read for field, read in _ARCHIVES.items() if field in description)
            return read(archive, description)
    except OSError as problem:
        raise RelayError(f"there is no program to load at {path!r}: {problem.strerror}") from None
    except RelayError:
        raise
    except Exception as problem:  # a damaged file can cause any kind of error
        reason = f"{type(problem).__name__}: {problem}"
        raise RelayError(
            f"{path!r} is not a complete program that this package saved: {reason}"[:400], help=[REBUILD]
        ) from None
