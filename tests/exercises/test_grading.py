"""Grading a folder of submissions, and the exercises' folder as an nbgrader course."""

from __future__ import annotations

import copy
import csv
import os
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from exercises import __main__ as command
from exercises import notebooks
from exercises.grading import CELL_SECONDS, GRADED_SECONDS, LITTLE, NOTEBOOK_SECONDS, grade_folder, limits
from tests.exercises.submissions import submission

COUNT_ELEMENTS = ("{address // 32 for address in addresses}", "{address // 128 for address in addresses}")


def submit(folder: Path, student: str, content: NotebookNode | str, file: str = "warp_access.ipynb") -> None:
    path = folder / student / file
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else nbformat.writes(content, nbformat.NO_CONVERT)
    path.write_text(text, "utf-8")


@pytest.mark.slow  # needs nbgrader, which Colab's environment lacks
@pytest.mark.filterwarnings("ignore")  # nbgrader's own
def test_grades_folder_of_submissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, table, graded = tmp_path / "submissions", tmp_path / "new" / "grades.csv", tmp_path / "graded"
    copied = submission("warp_access")
    copied.cells += [copy.deepcopy(cell) for cell in copied.cells if "def conflicts" in cell.source]
    submit(folder, "Lovelace, Ada [1]", copied)
    deleted = submission("warp_access", COUNT_ELEMENTS)
    deleted.cells = [cell for cell in deleted.cells if 'grade("warp_access.row_length"' not in cell.source]
    submit(folder, "eve", deleted, "warp_access/warp_access.ipynb")
    submit(folder, "eve", "{}", "Copy of warp_access.ipynb")
    submit(folder, "eve", "{}", ".ipynb_checkpoints/warp_access-checkpoint.ipynb")
    submit(folder, "mallory", "{ not a notebook")

    arguments = ["exercises", "grade", str(folder), "-o", str(table), "--graded", str(graded)]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setenv("PATH", os.environ["PATH"])  # the command extends it
    assert command.main() == 1  # one could not be read
    message = capsys.readouterr()
    assert "2 of 3 submissions graded" in message.out
    assert "mallory/warp_access could not be graded: NotJSONError: " in message.err
    stray = "eve/Copy of warp_access.ipynb is not graded: a submission is STUDENT/EXERCISE.ipynb\n"
    assert stray in message.err
    assert "checkpoint" not in message.err
    assert "eve/warp_access: graded cells were missing: rows-columns, rows-tiles\n" in message.err
    with table.open(newline="") as file:
        points = {(row["student_id"], row["assignment"]): row["score"] for row in csv.DictReader(file)}
    assert points == {
        ("Lovelace, Ada [1]", "warp_access"): "10.0",
        ("eve", "warp_access"): "7.0",
        ("mallory", "warp_access"): "",
    }
    executed = nbformat.read(graded / "eve" / "warp_access" / "warp_access.ipynb", as_version=4)
    text = [
        out.evalue for cell in executed.cells for out in cell.get("outputs", []) if out.output_type == "error"
    ]
    assert len(text) == 3
    assert "transactions: strides does not hold" in text[0]


def test_reports_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grade_folder(tmp_path, tmp_path / "grades.csv") == 1
    assert capsys.readouterr().err == (
        f"No submissions in {tmp_path}: expected STUDENT/EXERCISE.ipynb, with EXERCISE one of "
        f"{', '.join(notebooks.names())}\n"
    )


def test_limits_time_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    plain, graded = nbformat.v4.new_code_cell(), nbformat.v4.new_code_cell()
    graded.metadata["nbgrader"] = {"grade": True}

    seconds = limits()
    assert (seconds(plain), seconds(graded)) == (CELL_SECONDS, GRADED_SECONDS)
    now = NOTEBOOK_SECONDS - 100.0
    assert (seconds(plain), seconds(graded)) == (CELL_SECONDS, 100)
    now = NOTEBOOK_SECONDS + 5.0
    assert (seconds(plain), seconds(graded)) == (LITTLE, LITTLE)

    # A kernel that does not respond uses all the time that each cell is allowed.
    seconds, allowed = limits(), []
    for cell in (plain, plain, graded, graded, plain):
        allowed.append(seconds(cell))
        now += allowed[-1]
    assert allowed == [CELL_SECONDS, CELL_SECONDS, LITTLE, LITTLE, LITTLE]
    now -= 1
    assert seconds(plain) == CELL_SECONDS  # it responds again


@pytest.mark.slow  # needs nbgrader
@pytest.mark.filterwarnings("ignore")  # nbgrader's own
def test_nbgrader_generates_committed_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Generate the release from the source with nbgrader, for an answer that is a text and for one of
    functions.
    """
    from nbgrader.apps import NbGraderAPI
    from traitlets.config.loader import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", str(notebooks.HERE)).load_config()
    assert config.CourseDirectory.course_id == "relay_explorer"
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.db_url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    course = NbGraderAPI(config=config)
    for name in ("map_and_fold", "warp_access"):
        source = tmp_path / "source" / name / f"{name}.ipynb"
        source.parent.mkdir(parents=True)
        source.write_text(notebooks.path_of("source", name).read_text("utf-8"), "utf-8")
        executed = course.generate_assignment(name)
        assert executed["success"], executed
        result = nbformat.read(tmp_path / "release" / name / f"{name}.ipynb", as_version=4)
        committed = nbformat.read(notebooks.path_of("release", name), as_version=4)
        assert [cell.source for cell in result.cells] == [cell.source for cell in committed.cells]
        assert [cell.metadata for cell in result.cells] == [cell.metadata for cell in committed.cells]
