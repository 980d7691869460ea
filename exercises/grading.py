"""Grading a folder of submissions with nbgrader, in a course that is made for it and thrown away.

Students' code is run as it is, by this user and without a sandbox.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import notebooks
from .nbgrader_config import configure


def submitted(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """The submissions in a folder: student, exercise, notebook. They lie in `STUDENT/EXERCISE.ipynb` or, as
    nbgrader has it, in `STUDENT/EXERCISE/EXERCISE.ipynb`.
    """
    for student in sorted(path for path in folder.iterdir() if path.is_dir()):
        for name in notebooks.names():
            for place in (student / name / f"{name}.ipynb", student / f"{name}.ipynb"):
                if place.is_file():
                    yield student.name, name, place
                    break


def grade_folder(folder: Path, out: Path, graded: Path | None = None) -> int:
    """Grades every submission in `folder`, and writes the points to the table `out` (nbgrader's form).
    `graded` is a folder for the graded notebooks. Gives 1 where some notebook could not be graded, else 0.
    """
    found = list(submitted(folder)) if folder.is_dir() else []
    if not found:
        known = ", ".join(notebooks.names())
        print(
            f"No submissions in {folder}: expected STUDENT/EXERCISE.ipynb, with EXERCISE one of {known}",
            file=sys.stderr,
        )
        return 1
    # nbgrader calls `alembic` by its name: it lies beside the Python that runs.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with tempfile.TemporaryDirectory() as root, warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="nbgrader")  # its queries warn about themselves
        failed = _grade(Path(root), found)
        _export(Path(root), out)
        if graded is not None:
            shutil.copytree(Path(root) / "autograded", graded, dirs_exist_ok=True)
    for student, name, why in failed:
        print(f"{student}/{name} could not be graded: {why}", file=sys.stderr)
    print(f"{len(found) - len(failed)} of {len(found)} submissions graded: {out}")
    return int(bool(failed))


def _config(root: Path) -> Any:
    from traitlets.config import Config

    config = Config()
    configure(config)
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"
    return config


def _grade(root: Path, found: list[tuple[str, str, Path]]) -> list[tuple[str, str, str]]:
    """Has nbgrader grade the submissions; gives those that it could not, and why."""
    from nbgrader.apps import NbGraderAPI

    for name in {name for _, name, _ in found}:
        place = root / "source" / name / f"{name}.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(notebooks.text(notebooks.source(name)), "utf-8")
    for student, name, path in found:
        place = root / "submitted" / student / name / f"{name}.ipynb"
        place.parent.mkdir(parents=True)
        shutil.copyfile(path, place)
    api = NbGraderAPI(config=_config(root))
    for name in sorted({name for _, name, _ in found}):
        _expect(api.generate_assignment(name, force=True, create=True), name)
    failed = []
    for number, (student, name, _) in enumerate(found, 1):
        print(f"[{number}/{len(found)}] {student}/{name}", file=sys.stderr)
        result = api.autograde(name, student, force=True, create=True)
        if not result["success"]:
            failed.append((student, name, _reason(result)))
    return failed


def _reason(result: dict[str, Any]) -> str:
    """The error behind a failure of nbgrader's, which itself only says that there was one."""
    told = f"{result.get('log') or ''}\n{result.get('error') or ''}"
    errors = re.findall(r"^\s*(?:\w+\.)*(\w*(?:Error|Exception)\b.*)$", told, re.MULTILINE)
    own = [error for error in errors if not error.startswith("NbGraderException")]
    return (own or errors or ["nbgrader gives no reason"])[-1].strip()


def _expect(result: dict[str, Any], name: str) -> None:
    if not result["success"]:
        raise RuntimeError(f"nbgrader cannot prepare {name}:\n{result.get('log')}\n{result.get('error')}")


def _export(root: Path, out: Path) -> None:
    from nbgrader.api import Gradebook
    from nbgrader.plugins import CsvExportPlugin

    plugin = CsvExportPlugin()
    plugin.to = str(out)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "relay_explorer") as gradebook:
        plugin.export(gradebook)
