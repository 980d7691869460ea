"""Every chapter has the same parts, in the same order, and keeps the book's conventions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "book"
CHAPTERS = sorted(BOOK.glob("ch[0-9][0-9]_*.md"))

ANATOMY = [
    "What you will be able to do",
    "The problem",
    "The idea",
    "Watch it",
    "Build it",
    "Predict, then run",
    "Where it breaks",
    "Exercise",
    "Summary",
    "Sources",
]


def without_code(text: str) -> str:
    """Return the page without its front matter and without fenced code, in which `#` begins a comment."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    return re.sub(
        r"^(`{3,})\{?(?:code-cell|code-block|[a-z]+\n).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE
    )


def section(text: str, name: str) -> str:
    """Return the text of a `##` section."""
    section = re.search(rf"^## {re.escape(name)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert section is not None, name
    return section[1]


def test_the_chapters_of_the_contents_exist() -> None:
    listed = set(re.findall(r"book/(ch\d\d_\w+)", (BOOK.parent / "_toc.yml").read_text("utf-8")))
    assert listed == {page.stem for page in CHAPTERS}


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
class TestChapter:
    def test_anatomy(self, page: Path) -> None:
        assert re.findall(r"^## (.*)$", without_code(page.read_text("utf-8")), re.MULTILINE) == ANATOMY

    def test_one_title_without_a_number(self, page: Path) -> None:
        titles = re.findall(r"^# (.*)$", without_code(page.read_text("utf-8")), re.MULTILINE)
        assert len(titles) == 1
        assert not re.match(r"\d|Chapter", titles[0])

    def test_promises(self, page: Path) -> None:
        promises = re.findall(r"^[*-] ", section(page.read_text("utf-8"), ANATOMY[0]), re.MULTILINE)
        assert 3 <= len(promises) <= 4

    def test_something_to_watch_and_to_predict(self, page: Path) -> None:
        text = page.read_text("utf-8")
        assert "explore(" in section(text, "Watch it")
        predictions = section(text, "Predict, then run")
        assert "{predict}" in predictions
        assert "{answer}" in predictions or "hide-output" in predictions

    def test_explorers_have_names_of_their_own(self, page: Path) -> None:
        names = re.findall(r"explore\([^\n]*name=\"([^\"]+)\"", page.read_text("utf-8"))
        assert len(names) == len(set(names))

    def test_cells_install_nothing_and_fetch_nothing(self, page: Path) -> None:
        assert not re.search(r"^\s*[%!]\s*pip|urlopen|requests\.get", page.read_text("utf-8"), re.MULTILINE)

    def test_sources_are_named(self, page: Path) -> None:
        assert re.search(r"^[*-] \S", section(page.read_text("utf-8"), "Sources"), re.MULTILINE)
