"""The files that the page has opened: those of the command line, and those that were dropped on the page."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ...ir.errors import RelayError

MAX_UPLOAD = 2 << 30  # bytes of one file
MAX_UPLOADS = 8 << 30  # bytes of all files
MAX_FILES = 1_000  # documents
MAX_DEPTH = 3  # folders in a folder that is dropped
MAX_SNAPSHOT = 256 << 20  # bytes; larger files have no previous version
CHUNK = 1 << 20
_WEIGHTED = (".pt", ".pth", ".pt2", ".ts", ".tflite", ".keras", ".h5", ".hdf5")
SUFFIXES = frozenset((".relay", ".rly", ".txt", ".onnx", ".pb", ".pbtxt", ".json", *_WEIGHTED))
SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")

Stamp = tuple[int, int]


class RefusedError(Exception):
    """A request that is refused: its status, and a sentence for the page."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass
class Document:
    """A file. `version` counts its changes; `snapshots` are copies of the last two that were shown.
    `settling` is the stamp of a change that may still be going on.
    """

    number: int
    name: str
    path: Path
    dropped: bool
    stamp: Stamp | None
    version: int = 1
    settling: Stamp | None = None
    snapshots: list[Path] = field(default_factory=list)
    copied: Stamp | None = None

    def public(self) -> dict[str, Any]:
        """Return what the page shows of it: no path but that which the reader typed."""
        return {
            "number": self.number, "name": self.name, "version": self.version, "dropped": self.dropped,
            "previous": len(self.snapshots) > 1,
        }  # fmt: skip


class Documents:
    """The documents, by number. The page names them by their numbers, so no request contains a path."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._documents: dict[int, Document] = {}
        self._folders: list[Path] = []
        self._uploaded = 0
        (folder / "dropped").mkdir()
        (folder / "versions").mkdir()

    # -- opening

    def add(self, path: Path) -> None:
        """Open a file, or list the models of a folder, also those that are written later."""
        if path.is_dir() and not any(
            (path / name).is_file() for name in ("saved_model.pb", "saved_model.pbtxt")
        ):
            self._folders.append(path)
            self._scan()
        elif path.exists():
            self._new(path.name, path, dropped=False)
        else:
            raise RelayError(f"there is no file `{path}`")

    def receive(self, name: str, size: int, source: BinaryIO, folder: str = "") -> Document:
        """Store a file that was dropped on the page, in a `folder` or alone; a second one with its name is
        its next version.
        """
        clean = "/".join([*_folder_parts(folder), clean_name(name)])
        with self._lock:
            if size > MAX_UPLOAD or self._uploaded + size > MAX_UPLOADS:
                raise RefusedError(
                    413, f"the file is too large: {size:,} bytes; at most {MAX_UPLOAD:,} are taken"
                )
            self._uploaded += size
            document = next((d for d in self._documents.values() if d.dropped and d.name == clean), None)
        place = self._folder / "dropped" / clean
        part = self._folder / "dropped" / f".{threading.get_ident()}.part"
        try:
            _store(source, size, part)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, place)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise RefusedError(409, f"`{clean}` is a file in one place and a folder in another") from None
        finally:
            part.unlink(missing_ok=True)
        with self._lock:
            if document is None:
                return self._new(clean, place, dropped=True)
            document.stamp, document.version = _stamp(place), document.version + 1
            return document

    def _new(self, name: str, path: Path, dropped: bool) -> Document:
        with self._lock:
            if len(self._documents) >= MAX_FILES:
                raise RefusedError(413, f"at most {MAX_FILES:,} files can be open")
            number = len(self._documents) + 1
            document = Document(number, name, path.absolute(), dropped, _stamp(path))
            self._documents[number] = document
            return document

    def _scan(self) -> bool:
        """Add the models of the folders that are not there yet; return whether there were any."""
        present = {document.path for document in self._documents.values()}
        fresh = [
            (folder, path)
            for folder in self._folders
            for path in _models_in(folder)
            if path.absolute() not in present
        ]
        for folder, path in fresh[: MAX_FILES - len(self._documents)]:
            self._new(str(path.relative_to(folder)), path, dropped=False)
        return bool(fresh)

    # -- looking at them

    def get(self, number: int) -> Document:
        """Return a document by its number."""
        with self._lock:
            if number not in self._documents:
                raise RefusedError(404, "there is no such file")
            return self._documents[number]

    def public(self) -> list[dict[str, Any]]:
        """Return what the page shows of the documents."""
        with self._lock:
            return [document.public() for document in self._documents.values()]

    def changed(self) -> Iterable[Document] | None:
        """Return the documents whose file has changed and is at rest again; None if there are new ones."""
        with self._lock:
            if self._scan():
                return None
            return [document for document in self._documents.values() if _has_changed(document)]

    def snapshot(self, document: Document) -> None:
        """Keep a copy of the version that is about to be shown."""
        with self._lock:
            stamp = _stamp(document.path)
            if stamp is None or document.copied == stamp or not document.path.is_file():
                return
            if stamp[1] > MAX_SNAPSHOT:
                return
            folder = self._folder / "versions" / f"{document.number}-{document.version}-{stamp[0]}"
            folder.mkdir(exist_ok=True)
            name = Path(document.name)
            place = folder / f"{name.stem} (previous version){name.suffix}"
            shutil.copyfile(document.path, place)
            document.copied = stamp
            document.snapshots.append(place)
            for old in document.snapshots[:-2]:
                shutil.rmtree(old.parent, ignore_errors=True)
            del document.snapshots[:-2]


def clean_name(name: str) -> str:
    """Return the last part of a file's name, without what could lead elsewhere or end a line."""
    last = re.split(r"[/\\]", name)[-1]
    last = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff:]", "", last)
    last = last.strip(" .")[-120:]
    if not last:
        raise RefusedError(400, "the file has no name")
    return last


def _folder_parts(folder: str) -> list[str]:
    """Return the names of a dropped folder and of those in it, each without what could lead elsewhere."""
    parts = [part for part in re.split(r"[/\\]", folder) if part.strip(" .")]
    return [clean_name(part) for part in parts[:MAX_DEPTH]]


def _store(source: BinaryIO, size: int, place: Path) -> None:
    with place.open("wb") as file:
        left = size
        while left:
            chunk = source.read(min(left, CHUNK))
            if not chunk:
                raise RefusedError(400, "the upload ended early")
            file.write(chunk)
            left -= len(chunk)


def _models_in(folder: Path) -> Iterator[Path]:
    """Yield the models in a folder and in the folders in it. Links that lead out of it are left out."""
    root = folder.resolve()
    try:
        inner = [path for place in folder.iterdir() if _plain_folder(place) for path in place.iterdir()]
        paths = sorted([*folder.iterdir(), *inner])
    except OSError:
        return
    for path in paths:
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or path.suffix.lower() not in SUFFIXES or not path.is_file():
            continue
        if path.resolve().is_relative_to(root):
            yield path


def _plain_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not path.name.startswith(".")


def _stamp(path: Path) -> Stamp | None:
    """Return when a file was last written, and its size; of a folder, of its newest file."""
    try:
        if path.is_dir():
            stats = [p.stat() for p in path.rglob("*") if p.is_file()]
            return max((s.st_mtime_ns for s in stats), default=0), sum(s.st_size for s in stats)
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


def _has_changed(document: Document) -> bool:
    """Note a change; it counts once two looks in a row have seen the same file."""
    stamp = _stamp(document.path)
    if stamp is None or stamp == document.stamp:
        document.settling = None
        return False
    if stamp != document.settling:
        document.settling = stamp
        return False
    document.stamp, document.settling = stamp, None
    document.version += 1
    return True
