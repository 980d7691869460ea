"""Reads files that `torch.jit.save` wrote, after checking that they can be read safely."""

from __future__ import annotations

import os
import warnings
import zipfile
from typing import Any as Anything

from ..base.errors import ModelFileError
from ..base.require import require

MOST_ENTRIES = 200_000
LARGEST = 64 << 30  # bytes of all entries
GREATEST_RATIO = 200  # of uncompressed to compressed bytes; PyTorch stores weights uncompressed
_FREE = 64 << 20  # bytes that an archive may unpack to whatever the ratio


def load(path: str | os.PathLike[str]) -> Anything:
    """Load a TorchScript archive from a file. Raise a ModelFileError where it is none or is not safe to read.

    Loading compiles the archive's TorchScript, but does not run it. Its pickles are read by PyTorch's own
    reader of TorchScript, which creates tensors and the archive's own classes only.
    """
    torch = require("torch", "torch")
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise ModelFileError(f"there is no file {name}")
    check(name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # it advises to use torch.export
            return torch.jit.load(name, map_location="cpu")
    except (RuntimeError, ValueError, OSError, UnicodeDecodeError, MemoryError) as error:
        first = str(error).strip().split("\n")[0]
        raise ModelFileError(f"{name} cannot be read as TorchScript: {first}") from None


def check(name: str) -> None:
    """Raise a ModelFileError if a file is no zip archive of TorchScript, or one that would unpack to far more
    than its size.
    """
    try:
        with zipfile.ZipFile(name) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ModelFileError(
            f"{name} is not a TorchScript archive: {error}",
            help=["from_pytorch reads what torch.jit.save wrote, not what torch.save wrote"],
        ) from None
    size = os.path.getsize(name)
    total = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_ENTRIES:
        raise ModelFileError(f"{name} has {len(entries)} entries, more than {MOST_ENTRIES}")
    if total > LARGEST or (total > _FREE and total > GREATEST_RATIO * size):
        raise ModelFileError(f"{name} has {size} bytes but unpacks to {total}: it may be a zip bomb")
    for entry in entries:
        parts = entry.filename.replace("\\", "/").split("/")
        if entry.filename.startswith("/") or ".." in parts:
            raise ModelFileError(f"{name} has an entry outside of the archive: {entry.filename!r}")
    if not any("/code/" in entry.filename for entry in entries):
        raise ModelFileError(
            f"{name} has no TorchScript code",
            help=["write the file with torch.jit.save(torch.jit.script(model), path)"],
        )
