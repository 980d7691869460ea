"""What tests of every area share: limits of time, their order, the form of snapshots, the built book."""

from __future__ import annotations

import fcntl
import gc
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from inline_snapshot.plugin import Builder, Custom, customize

# A chapter's cells that write the reader's compiler leave no files behind.
os.environ["RELAY_EXPLORER_BOOK_BUILD"] = "1"

WIDTH = 90  # characters of a piece of text in a snapshot, so that its line has at most 110
HANG = 1100  # seconds: far more than any test takes, the one that builds the book included


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """Let a test that never ends fail, with the location where it hung."""

    def stop(number: int, frame: object) -> None:
        pytest.fail(f"still running after {HANG} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANG)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


LONG = ("slow", "browser", "book", "notebook")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start long tests first, so that at the end no process waits for another. Files stay whole."""
    long = {item.path for item in items if any(item.get_closest_marker(name) for name in LONG)}
    items.sort(key=lambda item: (not item.path.name.startswith("test_environments"), item.path not in long))


# Thousands of tests and the modules under them live to the end, and many tests make large programs: Python's
# collector of cyclic garbage would look at all of it again and again, two fifths of the time of some files.
gc.set_threshold(100_000, 20, 50)


def pytest_collection_finish() -> None:
    """Freeze all existing objects, so that the garbage collector need not traverse them."""
    gc.collect()
    gc.freeze()


@customize
def long_string(value: object, builder: Builder) -> Custom | None:
    """Break a string in a snapshot that would not fit a line, at its line ends and at spaces."""
    if not isinstance(value, str) or max(map(len, value.split("\n"))) <= WIDTH:
        return None
    pieces = [piece for line in value.splitlines(keepends=True) for piece in wrapped(line)]
    # `repr` itself calls this function here: inline-snapshot replaces it.
    return builder.create_code(" ".join(map(str.__repr__, pieces)))


def wrapped(line: str) -> list[str]:
    """Split a line after spaces into pieces that fit, which joined are the line."""
    pieces = [""]
    for word in re.findall(r"\S*\s*", line):
        if pieces[-1] and len(pieces[-1] + word.rstrip()) > WIDTH:
            pieces.append("")
        pieces[-1] += word
    return pieces


@contextmanager
def alone(what: str) -> Iterator[None]:
    """Only one of several test processes at a time does what is inside."""
    path = Path(tempfile.gettempdir()) / f"relay-explorer-{os.getuid()}-{what}.lock"
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def npm_packages() -> Path:
    """The folder of the front end's packages, which are installed once."""
    frontend = Path(__file__).parents[1] / "frontend"
    folder = frontend / "node_modules"
    with alone("npm"):
        if not all((folder / name).is_dir() for name in ("axe-core", "puppeteer-core", "pyodide")):
            subprocess.run(["npm", "ci", "--silent"], cwd=frontend, check=True)
    return folder


@pytest.fixture(scope="session")
def playground_files(npm_packages: Path) -> Path:
    """The folder of the playground's files, which are built once."""
    from tools import playground

    with alone("playground"):
        assert playground.build()
    return playground.BUILT


@pytest.fixture(scope="session")
def site(playground_files: Path) -> Path:
    """Return the folder of the built book; built here, which is quick when nothing has changed."""
    from tools.build_book import SITE, build

    with alone("book"):
        status, output = build()
    assert status == 0, f"the book does not build:\n{output[-6000:]}"
    return SITE
