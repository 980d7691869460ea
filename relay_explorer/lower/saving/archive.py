"""The ZIP archive that a compiled program is saved in, with a digest of each member.

A library that was shortened would end the process when it is loaded, and a changed description would end in
errors of any kind, so whatever differs from what was saved is refused before it is used. This detects damage;
it is not a protection against a person who changes the digests too.
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
    """Members of an archive that is being written."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._digests: dict[str, str] = {}

    def write(self, name: str, data: bytes) -> None:
        """Add a member."""
        self._digests[name] = digest(data)
        self._archive.writestr(name, data)

    def close(self) -> None:
        """Add the digests of all members."""
        self._archive.writestr(DIGESTS, json.dumps(self._digests))


class ArchiveReader:
    """Members of an archive that was saved, in `path`."""

    def __init__(self, archive: zipfile.ZipFile, path: str) -> None:
        self._archive, self._path = archive, path

    def description(self, name: str, form: int) -> dict[str, Any]:
        """Read the description in JSON of an archive that has the format `form`; a RelayError otherwise."""
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
        """Read a member. Raise a RelayError where it has changed since it was saved."""
        data = self._archive.read(name)
        if digest(data) != self._digests.get(name):
            raise RelayError(
                f"{self._path!r} is damaged: {name} in it has changed since it was saved", help=[REBUILD]
            )
        return data
