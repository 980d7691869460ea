"""The kernel cache on disk, keyed by everything that a kernel depends on: its program, target, versions, and
this package's own lowerings and schedules. No entry is therefore ever stale, and the cache can be deleted at
any time.

It is in the user's cache folder, or in the folder that the environment variable RELAY_EXPLORER_CACHE names.
It takes at most 2 GB, or as much as RELAY_EXPLORER_CACHE_SIZE allows (see `pruning`). An entry whose library
was damaged, by a full disk or an interrupted copy, counts as missing.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from ... import _project
from ...ir.errors import RelayError
from .. import require
from ..targets.target import Target
from . import pruning

VARIABLE = "RELAY_EXPLORER_CACHE"
FORMAT = 1  # the version of the entries' format
_SET = f"set the environment variable {VARIABLE} to a folder that can be written to"


def folder() -> Path:
    """Return the folder of compiled kernels."""
    try:
        if setting := os.environ.get(VARIABLE):
            return Path(setting).expanduser()
        if sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        elif sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home())
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home folder, as in containers
        raise RelayError("there is no home folder to store compiled kernels in", help=[_SET]) from None
    return base / "relay_explorer" / "kernels"


def key(text: str, target: Target, choice: object = None) -> str:
    """Return the cache key of a kernel: a digest of its program, its target and everything else that its
    library depends on.
    """
    parts = [FORMAT, text, repr(target), repr(choice), require.versions(), _sources()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:40]


@cache
def _sources() -> str:
    """Compute a digest of the source code that generates kernels."""
    digest = hashlib.sha256(_project.VERSION.encode())
    package = Path(__file__).parents[2]
    code = ("ops/**/*.py", "lower/lowering.py", "lower/codegen/*.py", "lower/schedules/*.py")
    for path in [path for pattern in code for path in sorted(package.glob(pattern))]:
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def get(name: str) -> dict[str, Any] | None:
    """Return the entry that is stored under a key, with the path of its library as `path`; None if there is
    no intact entry.
    """
    place = folder() / name[:2]
    try:
        described = place / f"{name}.json"
        entry = json.loads(described.read_text("utf-8"))
        if entry.pop("check") != _check(entry):
            return None
        library = place / str(entry["file"])
        if entry["format"] == FORMAT and digest(library.read_bytes()) == entry["sha256"]:
            pruning.touch(described)
            return {**entry, "path": str(library)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    return None


def _check(entry: dict[str, Any]) -> str:
    """Compute the checksum of an entry. It protects the sizes in it: if they were damaged, kernels would
    write beyond the end of a tensor.
    """
    return digest(json.dumps(entry, sort_keys=True).encode())


def put(
    name: str, library: bytes, ending: str, entry: dict[str, Any], linkable: bytes = b""
) -> dict[str, Any]:
    """Store a library and the entry that describes it; return what `get` will return. `linkable` is the
    object file that the library was linked from; it is stored beside the library, under the name "object".

    Each file is renamed to its final name when it is complete, the entry last, so that other processes see
    all of it or nothing. Raise a RelayError if the folder cannot be written to.
    """
    place = folder() / name[:2]
    sha = digest(library)
    file = f"{name}-{sha[:12]}{ending}"  # named by its content, so a loaded library is never overwritten
    whole = {**entry, "format": FORMAT, "file": file, "sha256": sha}
    files = {file: library}
    if linkable:
        whole["object"], whole["object_sha256"] = f"{name}-{sha[:12]}.o", digest(linkable)
        files[whole["object"]] = linkable
    files[f"{name}.json"] = json.dumps({**whole, "check": _check(whole)}).encode()
    try:
        if place.exists() and not place.is_dir():
            place.unlink()
        place.mkdir(parents=True, exist_ok=True)
        for file_name, data in files.items():
            _write(place / file_name, data)
        pruning.wrote(folder(), sum(map(len, files.values())))
    except OSError as problem:
        raise RelayError(
            f"compiled kernels cannot be stored in {folder()}: {problem.strerror}",
            help=[_SET + (", on a disk with space left" if problem.errno == errno.ENOSPC else "")],
        ) from None
    return {**whole, "path": str(place / file)}


def _write(path: Path, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        if path.is_dir() and not path.is_symlink():  # a file cannot replace a folder
            shutil.rmtree(path)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def digest(data: bytes | memoryview) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
