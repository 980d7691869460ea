"""The exercises' notebooks: what is committed, what learners receive, and what comes of running it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from exercises import notebooks
from relay_explorer import _project
from relay_explorer.grading.check import EXERCISES
from tests.exercises.submissions import submission
from tests.notebooks.kernel import kernel, run

NAMES = notebooks.names()
NO_OCCURS = ("if occurs(left, right, classes):", "if False:")


def read(kind: str, name: str) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(notebooks.path_of(kind, name), as_version=4)
    return notebook


def test_every_exercise_has_checks() -> None:
    assert sorted(EXERCISES) == NAMES


@pytest.mark.slow  # needs nbgrader, which Colab's environment has not
@pytest.mark.parametrize("name", NAMES)
def test_committed_notebooks_are_generated(name: str) -> None:
    for path, content in notebooks.generated(name):
        assert path.read_text("utf-8") == content, f"{path.name}: run `make exercises`"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", notebooks.KINDS)
def test_committed_notebooks_are_clean(name: str, kind: str) -> None:
    notebook = read(kind, name)
    nbformat.validate(notebook)
    uses_tvm = "extra: notebook,compile\n" in (notebooks.HERE / f"{name}.md").read_text("utf-8")
    assert notebook.cells[0].source == _project.install_cell("notebook,compile" if uses_tvm else "notebook")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert {cell.execution_count for cell in code} == {None}


@pytest.mark.parametrize("name", NAMES)
def test_points_add_up(name: str) -> None:
    graded = [
        cell.metadata["nbgrader"] for cell in read("release", name).cells if "nbgrader" in cell.metadata
    ]
    points = [cell["points"] for cell in graded if cell["grade"]]
    assert sum(points) == 10
    assert max(points) <= 2
    assert len({cell["grade_id"] for cell in graded}) == len(graded)


@pytest.mark.parametrize("name", NAMES)
def test_learners_receive_no_solution_and_no_hidden_test(name: str) -> None:
    released = notebooks.path_of("release", name).read_text("utf-8")
    assert "SOLUTION" not in released
    assert "HIDDEN" not in released
    assert "seed=" not in released
    for cell in read("source", name).cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            body = cell.source.partition("### BEGIN SOLUTION")[2].partition("### END SOLUTION")[0]
            lines = [line.strip() for line in body.splitlines() if len(line.strip()) > 30]
            assert lines
            assert not [line for line in lines if json.dumps(line)[1:-1] in released]
            assert notebooks.STUB.splitlines()[1] in released


def test_a_misspelt_option_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.md").write_text("```{code-cell} python\n:graded: forward\nx = 1\n```\n", "utf-8")
    monkeypatch.setattr(notebooks, "HERE", tmp_path)
    with pytest.raises(ValueError, match=r"^broken\.md: a cell has `answer`, or `graded` and `points`"):
        notebooks.source("broken")


# -- running them


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with kernel() as result:
        yield result


def errors(notebook: NotebookNode) -> dict[str, str]:
    """By the name of a graded cell, or its text: the error that it ended in."""
    result = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                name = cell.metadata.get("nbgrader", {}).get("grade_id", cell.source)
                result[name] = f"{output['ename']}: {output['evalue']}"
    return result


def feedback(notebook: NotebookNode) -> list[str]:
    """Return the HTML of all feedback that checks display."""
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    html = [str(output.get("data", {}).get("text/html", "")) for output in shown]
    return [text for text in html if "rx-feedback" in text]


@pytest.mark.notebook
@pytest.mark.parametrize("name", NAMES)
def test_the_solution_runs(client: Any, name: str, tmp_path: Path) -> None:
    """With hidden tests: full marks. `check` tries few programs: the graded cells try the same, and all."""
    notebook = read("source", name)
    for cell in notebook.cells:
        cell.source = re.sub(r"^(check\(.*)\)$", r"\1, programs=5)", cell.source, flags=re.MULTILINE)
    done = run(client, notebook, tmp_path)
    assert errors(done) == {}
    assert feedback(done)
    assert all('data-state="fails"' not in text for text in feedback(done))


@pytest.mark.notebook
def test_a_wrong_answer_is_shown(client: Any, tmp_path: Path) -> None:
    done = run(client, submission("unification", NO_OCCURS), tmp_path)
    assert set(errors(done)) == {"unify-occurs", "unify-names"}
    assert errors(done)["unify-occurs"].startswith("WrongAnswerError: unify: occurs does not hold")
    wrong = [text for text in feedback(done) if 'data-state="fails"' in text]
    # `check`, and the two graded cells; each with the program, drawn.
    assert len(wrong) == 3
    assert all("relay-explorer" in text and "application/json" in text for text in wrong)


@pytest.mark.notebook
def test_an_unanswered_notebook_runs_to_its_end(client: Any, tmp_path: Path) -> None:
    done = run(client, read("release", "type_relation"), tmp_path)
    assert "It is not written yet" in feedback(done)[0]
    graded = {
        cell.metadata.nbgrader.grade_id
        for cell in done.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    assert graded <= set(errors(done))
