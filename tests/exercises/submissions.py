"""Notebooks as learners hand them in: the released one, with answers written into it."""

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
    left = dict(changes)
    for cell, right in zip(released.cells, solved.cells, strict=True):
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = right.source
            for old in [old for old in left if old in cell.source]:
                cell.source = cell.source.replace(old, left.pop(old))
    assert not left, f"not in the solution: {left}"
    return released
