"""Writes the files that programs are saved in: checks the path first, and replaces a file only when the new
one is complete.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...ir.errors import RelayError


def path_of(path: object) -> Path:
    """Return the path of a file. Raise a RelayError for a value that is not a path."""
    try:
        text = os.fsdecode(path)  # type: ignore[arg-type]  # it raises a TypeError if it is not a path
    except TypeError:
        raise RelayError(
            f"a path is a string or a pathlib.Path, not a value of type {type(path).__name__}"
        ) from None
    if not text or "\0" in text:
        raise RelayError(f"{text[:80]!r} is not the path of a file")
    return Path(text)


@contextmanager
def replaced(location: object) -> Iterator[Path]:
    """Yield a new file that replaces the file at a path once it is completely written. The old file, which
    may be loaded at the moment, stays unchanged if writing fails. Links are followed. Raise a RelayError if
    the path is something other than a file, such as a folder or a device, and for errors of the operating
    system.
    """
    path = path_of(location)
    try:
        target = _target(path)
        with tempfile.TemporaryDirectory() as place:
            temporary = Path(place) / "made"
            yield temporary
            _put(temporary, target)
    except OSError as problem:
        raise _problem(path, problem.strerror or problem) from None


def _target(path: Path) -> Path:
    """Resolve a path, following links. Raise a RelayError if it is something other than a file."""
    try:
        target = path.resolve()
    except RuntimeError as problem:  # a cycle of links
        raise _problem(path, problem) from None
    if target.exists() and not target.is_file():
        raise _problem(path, "Is a directory" if target.is_dir() else "it is not a regular file")
    return target


def _put(temporary: Path, target: Path) -> None:
    descriptor, beside = tempfile.mkstemp(prefix=".relay_explorer-", dir=target.parent)
    os.close(descriptor)
    try:
        shutil.copy(temporary, beside)
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _problem(path: Path, reason: object) -> RelayError:
    return RelayError(f"the program cannot be saved as {str(path)!r:.200}: {reason}")
