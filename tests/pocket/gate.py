"""The gate: a chapter's checks, run with just the files that the chapters up to it wrote."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.pocket.chapters import CHAPTER
from tools.pocket import GIVEN, POCKET, written

ROOT = Path(__file__).parents[2]
CHECKS = Path(__file__).parent / "checks"


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
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, CHECKS / f"ch{chapter:02}.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
