"""The exercises' notebooks: the committed files, the learners' version, and the results of running them."""

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


@pytest.mark.slow  # needs nbgrader, which Colab's environment lacks
@pytest.mark.parametrize("name", NAMES)
def test_committed_notebooks_are_generated(name: str) -> None:
    for path, content in notebooks.generated(name):
        assert path.read_text("utf-8") == content, f"{path.name}: run `make exercises`"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", notebooks.KINDS)
def test_committed_notebooks_have_no_outputs(name: str, kind: str) -> None:
    notebook = read(kind, name)
    nbformat.validate(notebook)
    uses_tvm = "extra: notebook,compile\n" in (notebooks.HERE / f"{name}.md").read_text("utf-8")
    assert notebook.cells[0].source == _project.install_cell("notebook,compile" if uses_tvm else "notebook")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert {cell.execution_count for cell in code} == {None}


@pytest.mark.parametrize("name", NAMES)
def test_points_add_up_to_10(name: str) -> None:
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


def test_rejects_misspelt_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.md").write_text("```{code-cell} python\n:graded: forward\nx = 1\n```\n", "utf-8")
    monkeypatch.setattr(notebooks, "HERE", tmp_path)
    with pytest.raises(ValueError, match=r"^broken\.md: a cell has `answer`, or `graded` and `points`"):
        notebooks.source("broken")


# -- running the notebooks


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with kernel() as result:
        yield result


def errors(notebook: NotebookNode) -> dict[str, str]:
    """Return the errors by the name of the graded cell, or by the text of another cell."""
    result = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                name = cell.metadata.get("nbgrader", {}).get("grade_id", cell.source)
                result[name] = f"{output['ename']}: {output['evalue']}"
    return result


def feedback(notebook: NotebookNode) -> list[str]:
    """Return the HTML of all feedback that checks display."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    html = [str(output.get("data", {}).get("text/html", "")) for output in outputs]
    return [text for text in html if "rx-feedback" in text]


@pytest.mark.notebook
@pytest.mark.parametrize("name", NAMES)
def test_solution_notebook_runs(client: Any, name: str, tmp_path: Path) -> None:
    """The solution gets full marks, with hidden tests. `check` runs few programs, because the graded cells
    run them all.
    """
    notebook = read("source", name)
    for cell in notebook.cells:
        cell.source = re.sub(r"^(check\(.*)\)$", r"\1, programs=5)", cell.source, flags=re.MULTILINE)
    executed = run(client, notebook, tmp_path)
    assert errors(executed) == {}
    assert feedback(executed)
    assert all('data-state="fails"' not in text for text in feedback(executed))
    printed = "".join(str(out.get("text", "")) for cell in executed.cells for out in cell.get("outputs", []))
    assert not re.search(r"does not work here yet|not written yet|\bwrong\b", printed), printed


@pytest.mark.notebook
def test_shows_wrong_answer(client: Any, tmp_path: Path) -> None:
    executed = run(client, submission("unification", NO_OCCURS), tmp_path)
    assert set(errors(executed)) == {"unify-occurs", "unify-names"}
    assert errors(executed)["unify-occurs"].startswith("WrongAnswerError: unify: occurs does not hold")
    wrong = [text for text in feedback(executed) if 'data-state="fails"' in text]
    # `check` and the two graded cells, each with a picture of the program.
    assert len(wrong) == 3
    assert all("relay-explorer" in text and "application/json" in text for text in wrong)


@pytest.mark.notebook
@pytest.mark.parametrize("name", NAMES)
def test_unanswered_notebook_runs_to_its_end(client: Any, name: str, tmp_path: Path) -> None:
    executed = run(client, read("release", name), tmp_path)
    assert any("There is no answer yet" in text for text in feedback(executed))
    graded = {
        cell.metadata.nbgrader.grade_id
        for cell in executed.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    assert set(errors(executed)) == graded
