"""The files of the reader's compiler: what the chapters' cells say, short, and each built on earlier ones."""

from __future__ import annotations

import ast
from pathlib import Path

import pocket
import pytest

from tests.pocket.chapters import CHAPTER
from tools.pocket import APART, GIVEN, POCKET, cells, lines_of_code, pages, printed_files, written

FILES = printed_files()
WIDEST = 76  # characters of code that a page shows without scrolling


def test_files_are_what_the_cells_say() -> None:
    for file, text in written().items():
        assert (POCKET / file).read_text("utf-8") == text, f"{file}: run python -m tools.pocket"


def test_running_a_cell_as_it_is_changes_nothing_in_its_file() -> None:
    for file, code in cells():
        text = (POCKET / file).read_text("utf-8")
        assert pocket.merge(text, code) == text, f"{file}: {code[:200]}"


def test_has_fewer_than_1000_lines_of_code() -> None:
    compiler = [path for path in FILES if path.name not in APART]
    assert sum(lines_of_code(path.read_text("utf-8")) for path in compiler) < 1000


def test_the_importer_which_counts_apart_is_small() -> None:
    assert {"importer.py"} == APART
    assert sum(lines_of_code((POCKET / file).read_text("utf-8")) for file in APART) <= 60


def test_counts_lines_of_code() -> None:
    function = 'def f():\n    """Do."""\n    return (\n        x\n    )\n'
    text = f'"""Title\n\nmore"""\n# remark\nx = 1  # one\n\n{function}'
    assert lines_of_code(text) == 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_fits_the_column_in_pieces_that_run_one_by_one(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [line for line in text.split("\n") if len(line) > WIDEST] == []
    pieces = text.split("# %%\n")
    assert pieces[0] == ""
    assert len(pieces) > 1
    for piece in pieces[1:]:
        assert ast.parse(piece).body
        assert len(piece.split("\n")) < 70


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_uses_only_what_earlier_chapters_wrote(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "pocket":
            names = (
                [node.module or ""] if node.module != "pocket" else [f"pocket.{a.name}" for a in node.names]
            )
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names if a.name.startswith("pocket.")]
        files = {f"{name.partition('.')[2]}.py" for name in names} - GIVEN
        assert all(CHAPTER[file] <= CHAPTER[path.name] for file in files), files


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_a_page_imports_pocket_before_its_first_cell_of_it(page: Path) -> None:
    before, magic, _ = page.read_text("utf-8").partition("\n%%pocket ")
    assert not magic or "\nimport pocket\n" in before
