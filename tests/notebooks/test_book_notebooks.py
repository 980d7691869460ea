"""Every chapter's notebook runs from top to bottom, alone in a folder, as Colab opens it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "book").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 5


@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=180, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [
        output for output in shown if output["output_type"] == "stream" and output["name"] == "stderr"
    ]
    # An explorer leaves data that a page can draw without a kernel, and a picture where nothing runs at all.
    explorers = [
        output["data"] for output in shown if "relay-explorer" in str(output.get("data", {}).get("text/html"))
    ]
    assert explorers
    assert all("image/svg+xml" in data for data in explorers)
