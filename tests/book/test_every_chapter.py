"""What holds for the source of every chapter."""

from __future__ import annotations

import re

import pytest

from tests.book.chapters import BOOK, CELL, source

PAGES = sorted(path.stem for path in BOOK.glob("ch*.md"))
WIDEST = 76  # characters of code that a page shows without scrolling


def test_there_are_chapters() -> None:
    assert len(PAGES) >= 24


@pytest.mark.parametrize("page", PAGES)
def test_code_fits_the_column(page: str) -> None:
    lines = [line for match in CELL.finditer(source(page)) for line in match[2].split("\n")]
    assert lines
    assert [line for line in lines if len(line) > WIDEST] == []


@pytest.mark.parametrize("page", PAGES)
def test_files_that_it_names_exist(page: str) -> None:
    files = re.findall(r"\{repo\}`([^`]+)`", source(page))
    files += re.findall(r"\{exercise\} (\S+)", source(page))
    assert [f for f in files if not (BOOK.parent / f).is_file()] == []
