"""Notebooks as learners submit them: the released notebook with answers filled in."""

from __future__ import annotations

import nbformat
from nbformat import NotebookNode

from exercises import notebooks


def submission(exercise: str, *changes: tuple[str, str]) -> NotebookNode:
    """Return the released notebook with the solution's answers, modified by pairs of an old and a new
    text.
    """
    released: NotebookNode = nbformat.read(notebooks.path_of("release", exercise), as_version=4)
    solved = notebooks.solution(notebooks.source(exercise))
    remaining = dict(changes)
    for cell, solved_cell in zip(released.cells, solved.cells, strict=True):
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = solved_cell.source
            for old in [old for old in remaining if old in cell.source]:
                cell.source = cell.source.replace(old, remaining.pop(old))
    assert not remaining, f"not in the solution: {remaining}"
    return released
