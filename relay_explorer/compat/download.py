"""`tvm.contrib.download`: find files that old scripts download. Nothing is downloaded here.

A file is looked for in the folder that the environment variable TEST_DATA_ROOT_PATH names, or else in
`~/.tvm_test_data`, where TVM kept its downloads, and then in the folder `downloads` of this package's cache,
which RELAY_EXPLORER_CACHE names.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import unquote, urlparse


def __getattr__(name: str) -> Path:
    if name == "TEST_DATA_ROOT_PATH":  # not read at import, because tests change the variable
        return folders()[0]
    raise AttributeError(name)


def folders() -> list[Path]:
    """Return the folders in which files are looked for, in that order."""
    from ..lower.cache.store import VARIABLE, folder

    root = os.environ.get("TEST_DATA_ROOT_PATH")
    first = Path(root).expanduser() if root else Path.home() / ".tvm_test_data"
    cache = folder() if os.environ.get(VARIABLE) else folder().parent
    return [first, cache / "downloads"]


def download(
    url: str,
    path: str | os.PathLike[str],
    overwrite: bool = False,
    size_compare: bool = False,
    retries: int = 3,
) -> None:
    """Check that the file `path` exists, or copy it from a folder of files that were fetched before.

    Raise a FileNotFoundError that says where to put the file. The options are those of TVM, and have no
    effect, because nothing is downloaded.
    """
    target = Path(path)
    if target.is_file():
        return
    names = [target.name, _file_name(url)]
    for source in _candidates(url, names):
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            return
    raise _missing(url, target)


def download_testdata(
    url: str, relpath: str, module: str | list[str] | None = None, overwrite: bool = False
) -> str:
    """Return the path of a file that was fetched before: `FOLDER/module/relpath`.

    Raise a FileNotFoundError that says where to put the file.
    """
    parts = [module] if isinstance(module, str) else list(module or [])
    for folder in folders():
        path = folder.joinpath(*parts, relpath)
        if path.is_file():
            return str(path)
    target = folders()[0].joinpath(*parts, relpath)
    for source in _candidates(url, [Path(relpath).name, _file_name(url)]):
        if source.is_file():
            return str(source)
    raise _missing(url, target)


def _file_name(url: str) -> str:
    return Path(unquote(urlparse(url).path)).name


def _candidates(url: str, names: list[str]) -> list[Path]:
    parts = urlparse(url)
    named = [Path(unquote(parts.path))] if parts.scheme == "file" else []
    return [*named, *(folder / name for folder in folders() for name in names if name)]


def _missing(url: str, target: Path) -> FileNotFoundError:
    return FileNotFoundError(
        f"relay_explorer downloads nothing: fetch {url} with a browser or curl, and save it as {target}"
    )


__all__ = ["TEST_DATA_ROOT_PATH", "download", "download_testdata"]  # noqa: F822  # by __getattr__
