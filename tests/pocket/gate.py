"""The gate: a chapter's checks, run with just the files that the chapters up to it wrote."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.pocket.chapters import CHAPTER
from tools.pocket import GIVEN, POCKET, written

ROOT = Path(__file__).parents[2]
CHECKS = Path(__file__).parent / "checks"
TOO_LONG = """The traceback above, most recent call first, says where they were.
Is a shared expression visited once for every path to it?
"""


def run_checks(
    chapter: int, folder: Path, changed: Mapping[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Copy the files of the chapters up to one, replace some of them, and run the chapter's checks."""
    package = folder / "pocket"
    package.mkdir(parents=True)
    for file in GIVEN | {file for file, number in CHAPTER.items() if number <= chapter}:
        if (POCKET / file).exists():
            shutil.copy(POCKET / file, package)
    texts = written(last=chapter)  # of a file that several chapters write: what these chapters do
    for file, text in {**texts, **(changed or {})}.items():
        (package / file).write_text(text, "utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, str(CHECKS / f"ch{chapter:02}.py")]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # the fault handler writes where the program is
            out, err = process.communicate()
            err += f"The checks of chapter {chapter} ran longer than {timeout:g} seconds.\n{TOO_LONG}"
    return subprocess.CompletedProcess(command, process.returncode, out, err)
