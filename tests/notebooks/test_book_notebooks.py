"""Every chapter's notebook runs from top to bottom, alone in a folder, as Colab opens it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.notebooks.kernel import kernel, run

NOTEBOOKS = sorted((Path(__file__).parents[2] / "book").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 5


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with kernel() as result:
        yield result


@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(client: Any, path: Path, tmp_path: Path) -> None:
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
