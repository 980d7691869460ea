"""The ZIP archive that a compiled program is saved in, with a digest of each member.

Loading a truncated library would crash the process, and a changed description could cause any kind of error,
so a member that differs from what was saved is rejected before it is used. This detects damage; it does not
protect against an attacker, who can change the digests as well.
"""

from __future__ import annotations

import json
import zipfile
from typing import Any

from ...ir.errors import RelayError
from ..cache.store import digest

DIGESTS = "digests.json"
REBUILD = "build the program again, and save it: relay_explorer.build(…).save(path)"


class ArchiveWriter:
    """Writes the members of an archive, and records their digests."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._digests: dict[str, str] = {}

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Add a member."""
        self._digests[name] = digest(data)
        self._archive.writestr(name, data)

    def close(self) -> None:
        """Add the digests of all members."""
        self._archive.writestr(DIGESTS, json.dumps(self._digests))


class ArchiveReader:
    """Reads the members of a saved archive, and checks their digests; `path` is named in errors."""

    def __init__(self, archive: zipfile.ZipFile, path: str) -> None:
        self._archive, self._path = archive, path

    def description(self, name: str, form: int) -> dict[str, Any]:
        """Read the archive's JSON description. Raise a RelayError if the archive's format is not `form`."""
        described = json.loads(self._archive.read(name))
        if described["format"] != form:
            raise RelayError(
                f"{self._path!r} was saved by version {described['version']} in another format",
                help=[REBUILD],
            )
        self._digests: dict[str, str] = json.loads(self._archive.read(DIGESTS))
        self.read(name)
        return dict(described)

    def read(self, name: str) -> bytes:
        """Read a member. Raise a RelayError if it has changed since it was saved."""
        data = self._archive.read(name)
        if digest(data) != self._digests.get(name):
            raise RelayError(
                f"{self._path!r} is damaged: {name} in it has changed since it was saved", help=[REBUILD]
            )
        return data
