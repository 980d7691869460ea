"""Print the length of each chapter: `python -m tools.chapters`.

A chapter's *main line* is what a first reader reads: its prose without code, drawings, predictions and the
sections that may be skipped. It has at most MAX_WORDS words.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MAX_WORDS = 3_000
ASIDE = {"Predict, then run", "Going deeper", "Exercise", "Sources"}  # sections outside the main line
_FENCE = re.compile(r"^(`{3,}|:{3,})(?:.*\n)(?:.*\n)*?\1[ \t]*$", re.MULTILINE)
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


class Length(NamedTuple):
    """What a chapter consists of: words of its main line, drawings, explorers, and cells of code."""

    words: int
    drawings: int
    explorers: int
    cells: int


def main_line(text: str) -> str:
    """Return the prose of a chapter's main line."""
    prose = _FENCE.sub("", re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL))
    head, *rest = _SECTION.split(prose)
    sections = zip(rest[::2], rest[1::2], strict=True)
    return head + "".join(body for title, body in sections if title.partition(":")[0].strip() not in ASIDE)


def length(text: str) -> Length:
    """Measure a chapter. A word is a run of characters without white space that has a letter or digit."""
    words = [word for word in main_line(text).split() if re.search(r"\w", word)]
    return Length(
        len(words),
        len(re.findall(r"^`{3,}\{diagram\}", text, re.MULTILINE)),
        len(re.findall(r"\bexplore\(", text)),
        len(re.findall(r"^`{3,}\{code-cell\}", text, re.MULTILINE)),
    )


def chapters() -> dict[str, Length]:
    """Return the length of every chapter, by the name of its file."""
    return {path.stem: length(path.read_text("utf-8")) for path in sorted((ROOT / "book").glob("ch*.md"))}


def main() -> int:
    """Print a table; fail if a main line is too long."""
    table = chapters()
    print(f"{'chapter':28}{'words':>7}{'drawings':>10}{'explorers':>11}{'cells':>7}")
    for name, each in table.items():
        print(f"{name:28}{each.words:7,}{each.drawings:10}{each.explorers:11}{each.cells:7}")
    return int(any(each.words > MAX_WORDS for each in table.values()))


if __name__ == "__main__":
    sys.exit(main())
