"""Every chapter's notebook runs from top to bottom, alone in a folder, as Colab opens it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.notebooks.kernel import kernel, run

NOTEBOOKS = sorted((Path(__file__).parents[2] / "book").glob("*.ipynb"))


def needs_pytorch(path: Path) -> bool:
    """Return whether a notebook imports PyTorch: it has no small build for Colab's version of Python, so that
    such a notebook runs in the main environment.
    """
    return "import torch" in path.read_text("utf-8")


WITH_PYTORCH = [path for path in NOTEBOOKS if needs_pytorch(path)]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 5
    assert {path.stem for path in WITH_PYTORCH} == {"ch03_ten_minutes", "ch09_importing"}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with kernel() as result:
        yield result


@pytest.mark.notebook
@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if not needs_pytorch(p)], ids=lambda path: path.stem)
def test_runs(client: Any, path: Path, tmp_path: Path) -> None:
    check(client, path, tmp_path)


@pytest.mark.notebook
@pytest.mark.pytorch
@pytest.mark.parametrize("path", WITH_PYTORCH, ids=lambda path: path.stem)
def test_pytorch_notebook_runs(client: Any, path: Path, tmp_path: Path) -> None:
    check(client, path, tmp_path)


def check(client: Any, path: Path, tmp_path: Path) -> None:
    """Run a notebook, and check that it prints no error and that its explorers need no kernel."""
    notebook = run(client, nbformat.read(path, as_version=4), tmp_path)
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {output["output_type"] for output in shown}
    assert "error" not in kinds, [output["evalue"] for output in shown if output["output_type"] == "error"]
    assert not [
        output for output in shown if output["output_type"] == "stream" and output["name"] == "stderr"
    ]
    # An explorer leaves data that a page can draw without a kernel, and a picture where nothing runs at all.
    explorers = [
        output["data"] for output in shown if "relay-explorer" in str(output.get("data", {}).get("text/html"))
    ]
    assert explorers or "explore(" not in path.read_text("utf-8")
    assert all("image/svg+xml" in data for data in explorers)
