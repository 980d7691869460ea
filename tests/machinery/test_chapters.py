"""Every chapter has the same parts, in the same order, and keeps the book's conventions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from relay_book.chapters import promises_of

from tools.chapters import MAX_WORDS, length, main_line

BOOK = Path(__file__).parents[2] / "book"
CHAPTERS = sorted(BOOK.glob("ch[0-9][0-9]*_*.md"))

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
QUESTION = re.compile(
    r"^(?P<fence>`{3,})\{(?P<kind>predict|exercise|answer)\}[^\n]*\n"
    r"(?::checks: (?P<checks>[^\n]*)\n)?(?P<body>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)
ANSWER = re.compile(r"\s*```(?:\{answer\}|\{code-cell\} python\n:tags: \[hide-output\])")
OPTIONAL = "Going deeper"  # stands between "Where it breaks" and "Exercise"


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
    listed = set(re.findall(r"book/(ch\d\d[a-z]?_\w+)", (BOOK.parent / "_toc.yml").read_text("utf-8")))
    assert listed == {page.stem for page in CHAPTERS}


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)
class TestChapter:
    def test_anatomy(self, page: Path) -> None:
        headings = re.findall(r"^## (.*)$", without_code(page.read_text("utf-8")), re.MULTILINE)
        if OPTIONAL in headings:
            assert headings.index(OPTIONAL) == ANATOMY.index("Exercise")
            headings.remove(OPTIONAL)
        assert headings == ANATOMY

    def test_one_title_without_a_number(self, page: Path) -> None:
        titles = re.findall(r"^# (.*)$", without_code(page.read_text("utf-8")), re.MULTILINE)
        assert len(titles) == 1
        assert not re.match(r"\d|Chapter", titles[0])

    def test_promises(self, page: Path) -> None:
        promises = re.findall(r"^[*-] ", section(page.read_text("utf-8"), ANATOMY[0]), re.MULTILINE)
        assert 3 <= len(promises) <= 4

    def test_each_promise_is_checked_by_a_question(self, page: Path) -> None:
        """A question names the promises that it checks, by number, in its option `:checks:`."""
        text = page.read_text("utf-8")
        options = [match["checks"] for match in QUESTION.finditer(text) if match["checks"]]
        named = {int(number) for option in options for number in option.split(",")}
        assert named == set(range(1, len(promises_of(text)) + 1))

    def test_each_question_has_an_answer(self, page: Path) -> None:
        """It stands inside the question, or is the folded block or the hidden output that follows."""
        text = page.read_text("utf-8")
        predictions = [match for match in QUESTION.finditer(text) if match["kind"] == "predict"]
        assert [
            match["body"].strip()
            for match in predictions
            if "{answer}" not in match["body"] and not ANSWER.match(text, match.end())
        ] == []

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

    def test_a_chapter_is_short_and_drawn(self, page: Path) -> None:
        measured = length(page.read_text("utf-8"))
        assert measured.words <= MAX_WORDS
        assert measured.drawings >= 3

    def test_sources_are_named(self, page: Path) -> None:
        assert re.search(r"^[*-] \S", section(page.read_text("utf-8"), "Sources"), re.MULTILINE)


def test_the_main_line_is_what_a_first_reader_reads() -> None:
    page = """---
level: 1
---

# Title

One two.

```{code-cell} python
x = 1
```

## The idea

Three.

````{predict}
What?

```{answer}
That.
```
````

## Going deeper

Four.

## Summary

Five – six.
"""
    assert main_line(page).split() == ["#", "Title", "One", "two.", "Three.", "Five", "–", "six."]
    assert length(page).words == 6
