"""`tvm.contrib.utils`: folders that are removed automatically."""

from __future__ import annotations

import tempfile
from pathlib import Path


class TempDirectory:
    """A folder that is removed when nothing refers to it, or at the end of its `with`."""

    def __init__(self, custom_path: str | None = None, keep_for_debug: bool | None = None) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if custom_path is not None or keep_for_debug:
            self.temp_dir = custom_path or tempfile.mkdtemp()
            Path(self.temp_dir).mkdir(parents=True, exist_ok=True)
        else:
            # Removing it is the point: that it was left to the end is no mistake worth a warning.
            self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
            self.temp_dir = self._folder.name

    @property
    def path(self) -> Path:
        return Path(self.temp_dir)

    def relpath(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return str(self.path / name)

    def listdir(self) -> list[str]:
        """Return the names of the files in the folder."""
        return sorted(entry.name for entry in self.path.iterdir())

    def remove(self) -> None:
        """Remove the folder now."""
        if self._folder is not None:
            self._folder.cleanup()

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def __enter__(self) -> TempDirectory:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()

    def __del__(self) -> None:
        if getattr(self, "_folder", None) is not None:
            self.remove()


def tempdir(custom_path: str | None = None, keep_for_debug: bool | None = None) -> TempDirectory:
    """Create a temporary folder, or, with a path, a folder that is not removed."""
    return TempDirectory(custom_path, keep_for_debug)


__all__ = ["TempDirectory", "tempdir"]
