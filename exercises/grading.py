"""Grade a folder of submissions with nbgrader, in a temporary course.

Students' code is executed unchanged, by this user and without a sandbox.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat

from . import notebooks
from .nbgrader_config import configure

Submission = tuple[str, str, Path]  # student, exercise, notebook
CELL_SECONDS = 60
GRADED_SECONDS = 180  # per cell; checks stop endless code themselves, but slowly on a busy machine
NOTEBOOK_SECONDS = 600  # per notebook; after that, its remaining cells get little time
LITTLE = 2
# nbgrader's columns. Those that stay empty are for courses with dates and names in nbgrader's database.
COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip


def submitted(folder: Path) -> Iterator[Submission]:
    """Yield the submissions in a folder: `STUDENT/EXERCISE.ipynb` or, as in nbgrader,
    `STUDENT/EXERCISE/EXERCISE.ipynb`.
    """
    for student in sorted(path for path in folder.iterdir() if path.is_dir()):
        for name in notebooks.names():
            for path in (student / name / f"{name}.ipynb", student / f"{name}.ipynb"):
                if path.is_file():
                    yield student.name, name, path
                    break


def strays(folder: Path, submissions: list[Submission]) -> list[Path]:
    """Return the notebooks in a folder that are not submissions because of their names or folders; hidden
    ones are ignored.
    """
    accepted = {path for _, _, path in submissions}
    others = [path.relative_to(folder) for path in folder.rglob("*.ipynb") if path not in accepted]
    return sorted(path for path in others if not any(part.startswith(".") for part in path.parts))


def grade_folder(folder: Path, out: Path, graded: Path | None = None) -> int:
    """Grade every submission in `folder`, and write the points to the table `out` (in nbgrader's form).
    `graded` is a folder for the graded notebooks. Return 1 if some notebook was not graded, else 0.
    """
    submissions = list(submitted(folder)) if folder.is_dir() else []
    unknown = strays(folder, submissions) if folder.is_dir() else []
    for path in unknown:
        print(f"{path} is not graded: a submission is STUDENT/EXERCISE.ipynb", file=sys.stderr)
    if not submissions:
        choices = ", ".join(notebooks.names())
        print(
            f"No submissions in {folder}: expected STUDENT/EXERCISE.ipynb, with EXERCISE one of {choices}",
            file=sys.stderr,
        )
        return 1
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a"):  # fails now, and not in an hour, if the file cannot be written
        pass
    # nbgrader runs `alembic` by its name; the program is next to this Python's executable.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="nbgrader")  # about its own queries
        warnings.filterwarnings("ignore", module="nbformat")  # about cells that were copied or restored
        root = Path(place)
        failed = _grade(root, submissions)
        _export(root, out, submissions, set(failed))
        if graded is not None:
            _copy(root, graded, submissions)
    for (student, name), why in failed.items():
        print(f"{student}/{name} could not be graded: {why}", file=sys.stderr)
    print(f"{len(submissions) - len(failed)} of {len(submissions)} submissions graded: {out}")
    return int(bool(failed or unknown))


def limits() -> Callable[[Any], int]:
    """Return the time limit, in seconds, of a cell that begins now. After two consecutive cells had to be
    stopped, the kernel no longer responds, and the remaining cells get little time.
    """
    start = before = time.monotonic()
    limit, stopped = NOTEBOOK_SECONDS, 0

    def of(cell: Any) -> int:
        nonlocal before, limit, stopped
        now = time.monotonic()
        stopped = stopped + 1 if now - before >= limit else 0
        most = GRADED_SECONDS if cell.metadata.get("nbgrader", {}).get("grade") else CELL_SECONDS
        left = 0 if stopped > 1 else int(NOTEBOOK_SECONDS - (now - start))
        before, limit = now, max(LITTLE, min(most, left))
        return limit

    return of


def _config(root: Path) -> Any:
    from traitlets.config import Config

    config = Config()
    configure(config)
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"
    return config


def _ids(submissions: list[Submission]) -> dict[str, str]:
    """Name the students within the course: their own names may contain commas, stars and brackets, which
    have a meaning for nbgrader.
    """
    return {name: f"s{number}" for number, name in enumerate(dict.fromkeys(who for who, _, _ in submissions))}


def _grade(root: Path, submissions: list[Submission]) -> dict[tuple[str, str], str]:
    """Let nbgrader grade the submissions; return those that it could not grade, with the reasons."""
    from nbgrader.apps import NbGraderAPI

    for name in {name for _, name, _ in submissions}:
        path = root / "source" / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(notebooks.text(notebooks.source(name)), "utf-8")
    ids = _ids(submissions)
    for student, name, path in submissions:
        target = root / "submitted" / ids[student] / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True)
        missing = _repaired(path, target, name)
        if missing:
            print(f"{student}/{name}: graded cells were missing: {', '.join(missing)}", file=sys.stderr)
    api = NbGraderAPI(config=_config(root))
    for name in sorted({name for _, name, _ in submissions}):
        _expect(api.generate_assignment(name, force=True, create=True), name)
    failed = {}
    for number, (student, name, _) in enumerate(submissions, 1):
        print(f"[{number}/{len(submissions)}] {student}/{name}", file=sys.stderr)
        api.config.Execute.timeout_func = limits()
        result = api.autograde(name, ids[student], force=True, create=True)
        if not result["success"]:
            failed[student, name] = _reason(result)
    return failed


def _repaired(path: Path, place: Path, name: str) -> list[str]:
    """Copy a submission. Graded cells that were deleted, or that lost their metadata in another tool, are
    added again at the end and reported. Of a duplicated cell only the first keeps its metadata, since
    nbgrader refuses duplicates. A file that is not a notebook is copied unchanged, so that nbgrader reports
    the reason.
    """
    read: Any = nbformat.read
    try:
        notebook = read(path, as_version=4)
    except Exception:  # any error: the file may be invalid in many ways
        shutil.copyfile(path, place)
        return []
    identifiers = set()
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id is not None and grade_id in identifiers:
            del cell.metadata["nbgrader"]
        identifiers.add(grade_id)
    released = read(notebooks.path_of("release", name), as_version=4).cells
    graded = [cell for cell in released if cell.metadata.get("nbgrader", {}).get("grade")]
    missing = [cell for cell in graded if cell.metadata["nbgrader"]["grade_id"] not in identifiers]
    notebook.cells += missing
    place.write_text(notebooks.text(notebook), "utf-8")
    return [str(cell.metadata["nbgrader"]["grade_id"]) for cell in missing]


def _reason(result: dict[str, Any]) -> str:
    """Return the error that caused a failure of nbgrader, whose own message only says that it failed."""
    messages = f"{result.get('log') or ''}\n{result.get('error') or ''}"
    errors = re.findall(r"^\s*(?:\w+\.)*(\w*(?:Error|Exception)\b.*)$", messages, re.MULTILINE)
    own = [error for error in errors if not error.startswith("NbGraderException")]
    return str((own or errors or ["nbgrader gives no reason"])[-1]).strip()


def _expect(result: dict[str, Any], name: str) -> None:
    if not result["success"]:
        raise RuntimeError(f"nbgrader cannot prepare {name}:\n{result.get('log')}\n{result.get('error')}")


def _export(root: Path, out: Path, submissions: list[Submission], failed: set[tuple[str, str]]) -> None:
    """Write the table: a row for each submission, without points if it could not be graded."""
    from nbgrader.api import Gradebook

    ids = _ids(submissions)
    with (
        Gradebook(f"sqlite:///{root / 'gradebook.db'}", "relay_explorer") as gradebook,
        out.open("w", encoding="utf-8", newline="") as file,
    ):
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        for student, name, _ in sorted(submissions, key=lambda one: one[1::-1]):
            row: dict[str, str | float] = {"assignment": name, "student_id": student}
            if (student, name) not in failed:
                graded = gradebook.find_submission(name, ids[student])
                score = float(graded.score)
                row |= {"raw_score": score, "late_submission_penalty": 0.0, "score": score}
            table.writerow({**row, "max_score": float(gradebook.find_assignment(name).max_score)})


def _copy(root: Path, graded: Path, submissions: list[Submission]) -> None:
    """Copy the graded notebooks to the folders of the students who submitted them."""
    ids = _ids(submissions)
    for student, name, _ in submissions:
        feedback = root / "autograded" / ids[student] / name
        if feedback.is_dir():
            shutil.copytree(feedback, graded / student / name, dirs_exist_ok=True)
