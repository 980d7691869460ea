"""Generate three notebooks from `exercises/NAME.md`: nbgrader's source, the learners' version, and the
solution.

A cell's options determine its role: `answer` (the name of an answer, with the solution between `### BEGIN
SOLUTION` and `### END SOLUTION`), or `graded` (the name of the tested property) with `points`, and hidden
tests between `### BEGIN HIDDEN TESTS` and `### END HIDDEN TESTS`. All other cells are free.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode

from relay_explorer import _project

HERE = Path(__file__).parent
KINDS = ("source", "release", "solution")
STUB = "# Your code here.\nraise NotImplementedError"
_MARKER = re.compile(r"^[ \t]*(?://[ \t]*)?### (BEGIN|END) (SOLUTION|HIDDEN TESTS)[ \t]*\n?", re.MULTILINE)


def names() -> list[str]:
    """Return the names of the exercises in alphabetical order."""
    return sorted(path.stem for path in HERE.glob("*.md") if path.stem != "README")


def path_of(kind: str, name: str) -> Path:
    """Return the path of a notebook of one of KINDS."""
    return HERE / kind / name / f"{name}.ipynb"


def extra_of(written: NotebookNode) -> str:
    """Return the package extra that the exercise needs: `extra: notebook,compile` in the front matter if it
    needs TVM.
    """
    return str(written.metadata.get("extra", "notebook"))


def source(name: str) -> NotebookNode:
    """Build nbgrader's source notebook, which contains everything, with nbgrader's metadata on every cell."""
    written = jupytext.reads((HERE / f"{name}.md").read_text("utf-8"), fmt="md:myst")
    cells = [nbformat.v4.new_code_cell(_project.install_cell(extra_of(written)))]
    cells[0].metadata["nbgrader"] = _nbgrader("install", locked=True)
    for cell in written.cells:
        new = (
            nbformat.v4.new_code_cell(cell.source)
            if cell.cell_type == "code"
            else nbformat.v4.new_markdown_cell(cell.source)
        )
        new.metadata.update(_metadata(name, cell))
        cells.append(new)
    for number, cell in enumerate(cells):
        # The identifier does not change when another part of the notebook is edited.
        cell.id = hashlib.sha256(f"{name}:{number}:{cell.source}".encode()).hexdigest()[:12]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    notebook.nbformat_minor = 5
    return notebook


def _metadata(name: str, cell: NotebookNode) -> dict[str, Any]:
    """Convert the options of a cell to nbgrader's metadata."""
    options = {key: value for key, value in cell.metadata.items() if key != "tags"}
    answer, graded = options.pop("answer", None), options.pop("graded", None)
    points = options.pop("points", None)
    if options or (answer and graded) or (graded is None) != (points is None):
        raise ValueError(
            f"{name}.md: a cell has `answer`, or `graded` and `points`; this one has {dict(cell.metadata)}"
        )
    if answer:
        return {"nbgrader": _nbgrader(str(answer), solution=True)}
    if graded:
        return {"nbgrader": _nbgrader(str(graded), grade=True, locked=True, points=points)}
    return {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {}


def _nbgrader(grade_id: str, **fields: Any) -> dict[str, Any]:
    plain = {"grade": False, "locked": False, "solution": False, "task": False}
    return {"cell_type": "code", "grade_id": grade_id, "schema_version": 3, **plain, **fields}


def release(original: NotebookNode) -> NotebookNode:
    """Build the learners' version by nbgrader's own steps, without solutions and hidden tests."""
    from nbgrader.preprocessors import (
        ClearHiddenTests,
        ClearOutput,
        ClearSolutions,
        ComputeChecksums,
        LockCells,
    )

    notebook = copy.deepcopy(original)
    resources: dict[str, Any] = {}
    solutions = ClearSolutions(code_stub={"python": STUB})
    for step in (
        LockCells(),
        solutions,
        ClearOutput(),
        ComputeChecksums(),
        ClearHiddenTests(),
        ComputeChecksums(),
    ):
        notebook, resources = step.preprocess(notebook, resources)
    return notebook


def solution(original: NotebookNode) -> NotebookNode:
    """Build the notebook with solutions and all tests, as plain cells."""
    notebook = copy.deepcopy(original)
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
        cell.source = _MARKER.sub("", cell.source)
    return notebook


def text(notebook: NotebookNode) -> str:
    """Return the text of a notebook's file."""
    return str(nbformat.writes(notebook, version=nbformat.NO_CONVERT)) + "\n"


def generated(name: str) -> Iterator[tuple[Path, str]]:
    """Yield the three notebooks of an exercise: their paths and their texts."""
    original = source(name)
    for kind, notebook in zip(KINDS, (original, release(original), solution(original))):
        yield path_of(kind, name), text(notebook)


def write_all() -> list[Path]:
    """Write every notebook, and return the paths of those that changed."""
    changed = []
    for name in names():
        for path, content in generated(name):
            if not path.exists() or path.read_text("utf-8") != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, "utf-8")
                changed.append(path)
    return changed
