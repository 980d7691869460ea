"""Make views, one at a time, in a process that can be stopped: `relay-explorer explore FILE --json`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

LIMIT_SECONDS = 600.0
MIN_BYTES = 1 << 30  # of memory, with which every view of a small program can be made
MAX_MESSAGE = 20_000  # bytes of an error that are shown
STEP = 0.05
_ERROR = re.compile(r"^(?:\S[^\n]*:\d+: )?error: ", re.MULTILINE)
Gone = Callable[[], bool]


class Outcome(NamedTuple):
    """What came of a request: the file with the view, or else a message."""

    view: Path | None
    message: str


class Work:
    """Runs one command after the other; `stop` ends the one that runs, and all that wait."""

    def __init__(self, folder: Path, seconds: float = LIMIT_SECONDS, memory: int = 0) -> None:
        """Work in a folder; a view may take so many `seconds`, and so many bytes of `memory` (0: as many as
        the machine has).
        """
        self._folder = folder
        self._seconds = seconds
        self._memory = memory or _physical()
        self._turn = threading.Lock()
        self._stopped = threading.Event()
        self._number = 0

    def stop(self) -> None:
        """End what runs and what waits."""
        self._stopped.set()

    def run(self, arguments: Sequence[str], folder: Path, gone: Gone) -> Outcome:
        """Run `relay-explorer explore` in a folder, until it ends, takes too long, or the page is `gone`."""
        while not self._turn.acquire(timeout=STEP):
            if gone() or self._stopped.is_set():
                return Outcome(None, "cancelled")
        try:
            self._number += 1
            view = self._folder / f"view-{self._number}.json"
            errors = self._folder / "errors.txt"
            command = [sys.executable, "-P", "-m", "relay_explorer.cli.limited", str(self._memory)]
            command += ["explore", *arguments, "--json", f"--output={view}"]
            with errors.open("wb") as stderr, _process(command, folder, stderr) as process:
                message = self._wait(process, gone)
            if message:
                view.unlink(missing_ok=True)
                return Outcome(None, message)
            if process.returncode == 0 and view.is_file():
                return Outcome(view, "")
            view.unlink(missing_ok=True)
            return Outcome(None, _message(errors, process.returncode))
        finally:
            self._turn.release()

    def _wait(self, process: subprocess.Popen[bytes], gone: Gone) -> str:
        """Wait for the end; return why there was none."""
        end = time.monotonic() + self._seconds
        while process.poll() is None:
            if gone() or self._stopped.is_set():
                return "cancelled"
            if time.monotonic() > end:
                return (
                    f"error: this took more than {self._seconds:.0f} seconds, so it was stopped: "
                    "`serve --timeout SECONDS` allows more"
                )
            time.sleep(STEP)
        return ""


@contextmanager
def _process(command: Sequence[str], folder: Path, stderr: BinaryIO) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process in a group of its own, which is ended in any case."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()


def _physical() -> int:
    """Return the bytes of memory of this machine, or a number that limits nothing if it is not known."""
    try:
        return max(MIN_BYTES, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return 1 << 62


def _environment() -> dict[str, str]:
    """Return this process's environment, in which no module is imported from the folder of a model."""
    environment = dict(os.environ)
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in paths)
    return environment


def _message(errors: Path, status: int) -> str:
    text = errors.read_bytes()[:MAX_MESSAGE].decode("utf-8", "replace").strip()
    if text:
        start = _ERROR.search(text)  # frameworks write warnings before it
        return text[start.start() :] if start else text
    if status < 0:
        return (
            f"error: the process that makes the view was ended by signal {-status}, perhaps because it needs "
            "more memory: `serve --memory GB` allows more"
        )
    return "error: no view was made, and no reason was given"
