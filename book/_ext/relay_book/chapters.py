"""What a page's file name says about it: its chapter number, its part, and the label above its title."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

PARTS = {
    1: "Why a compiler",
    2: "Building",
    3: "Typing",
    4: "Optimizing",
    5: "Compiling",
    6: "Dynamic models",
    7: "Evidence",
}
ROMAN = ["", "I", "II", "III", "IV", "V", "VI", "VII"]
# The last chapter of each part, in order.
LAST = [3, 9, 13, 20, 27, 32, 34]

COVER = "book/index"


def chapter_of(page: str) -> int | None:
    """The chapter number of a page called `book/chNN_slug`."""
    found = re.fullmatch(r"book/ch(\d\d)_\w+", page)
    return int(found[1]) if found else None


def part_of(page: str) -> int | None:
    """The part that a page belongs to, or opens (`book/partN_slug`)."""
    found = re.fullmatch(r"book/part(\d)_\w+", page)
    if found:
        return int(found[1])
    chapter = chapter_of(page)
    if chapter is None:
        return None
    return next(part for part, last in enumerate(LAST, 1) if chapter <= last)


def eyebrow(page: str) -> str:
    """The label above the title: `Chapter 12 · Typing`, or `Part III`."""
    part, chapter = part_of(page), chapter_of(page)
    if part is None:
        return ""
    return f"Part {ROMAN[part]}" if chapter is None else f"Chapter {chapter} · {PARTS[part]}"


def _furnish(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if "body" not in context:
        return
    label = eyebrow(page)
    if label:
        context["body"] = context["body"].replace("<h1>", f'<p class="eyebrow">{label}</p>\n<h1>', 1)
    for side in ("prev", "next"):
        link = context.get(side)
        chapter = chapter_of(_target(app, page, link["link"])) if link else None
        if chapter is not None:
            context[side] = {**link, "title": f"{chapter} {link['title']}"}


def _target(app: Sphinx, page: str, link: str) -> str:
    """The page that a relative link of `page` leads to."""
    folder = page.rpartition("/")[0]
    return f"{folder}/{link.removesuffix('.html')}" if folder else link.removesuffix(".html")


def setup(app: Sphinx) -> None:
    """Connect this file's handlers."""
    app.connect("html-page-context", _furnish)
