"""The project's public address stands in one place, and what is derived from it follows."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from relay_explorer import _project
from tools import address

ROOT = Path(__file__).parents[2]
SLUG = _project.REPOSITORY.removeprefix("https://github.com/")

# What `make address` and `make exercises` write from it.
DERIVED = ("CITATION.cff", "README.md", "book/*.ipynb", "exercises/*/*/*.ipynb")


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    return [Path(name) for name in listed if name and (ROOT / name).is_file()]


def names_it(text: str) -> bool:
    return SLUG in text or "colab.research.google.com/github/" in text


def test_nothing_else_names_it() -> None:
    allowed = {Path("relay_explorer/_project.py"), Path("tests/machinery/test_address.py")}
    wrong = []
    for path in tracked():
        if path in allowed or any(path.match(pattern) for pattern in DERIVED):
            continue
        try:
            text = (ROOT / path).read_text("utf-8")
        except UnicodeDecodeError:
            continue
        if names_it(text):
            wrong.append(path.as_posix())
    assert not wrong


def test_citation_is_derived() -> None:
    assert (ROOT / "CITATION.cff").read_text("utf-8") == address.citation()


def test_readme_is_derived() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert text == address.derived(text)
    assert not names_it(address._BLOCK.sub("", text)), (
        "the README names the address outside of its derived parts"
    )


def test_a_change_reaches_what_is_derived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_project, "REPOSITORY", "https://github.com/someone/else")
    monkeypatch.setattr(_project, "TAG", "v9")
    assert "repository-code: https://github.com/someone/else\n" in address.citation()
    assert (
        _project.colab_address("book/a.ipynb")
        == "https://colab.research.google.com/github/someone/else/blob/v9/book/a.ipynb"
    )
    assert (
        _project.raw_address("figures/svg/a.svg")
        == "https://github.com/someone/else/raw/v9/figures/svg/a.svg"
    )
    assert (
        _project.source_address("relay_explorer/a.py", 7)
        == "https://github.com/someone/else/blob/v9/relay_explorer/a.py#L7"
    )
    assert "git+https://github.com/someone/else@v9" in _project.install_cell()


def test_every_notebook_installs_from_it() -> None:
    """Each notebook's first cell is the one that `_project` gives, with whatever extra it asks for."""
    for path in tracked():
        if path.suffix != ".ipynb" or "source" in path.parts or path.parts[0] == "tests":
            continue
        first = "".join(json.loads((ROOT / path).read_text("utf-8"))["cells"][0]["source"])
        extras = (
            "notebook", "grading", "notebook,graphs", "notebook,plot", "notebook,compile",
            "notebook,compile,plot", "notebook,compile,torch", "notebook,onnx,torch",
        )  # fmt: skip
        assert first in {_project.install_cell(extra) for extra in extras}, path.as_posix()


def test_what_compiles_asks_for_tvm() -> None:
    """The package may be there without it. Importing TVM would take a second, and PyTorch with it."""
    cell = _project.install_cell("notebook,compile")
    assert cell.splitlines()[:4] == [
        "try:",
        "    import relay_explorer",
        "    from importlib.metadata import version",
        "    version('apache-tvm')",
    ]
    assert "relay_explorer[notebook,compile] @ git+" in cell
