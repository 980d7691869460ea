"""Derive a page's role in the book from its file name (number, part, label above the title), and build the
table of contents.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from relay_explorer import _project

ROMAN = ["", "I", "II", "III", "IV", "V", "VI", "VII"]
COVER = "book/index"
PLAYGROUND = "book/playground"

_CHAPTER = re.compile(r"book/ch0?([1-9]\d?[a-z]?)_\w+")
_PART = re.compile(r"book/part(\d)_\w+")


def chapter_of(page: str) -> str | None:
    """Return the label of the chapter on a page `book/chNN_slug`: `4`, or `17b` if a letter follows; None for
    other pages.
    """
    match = _CHAPTER.fullmatch(page)
    return match[1] if match else None


def part_of(page: str) -> int | None:
    """Return the number of the part that a page `book/partN_slug` opens; None for other pages."""
    match = _PART.fullmatch(page)
    return int(match[1]) if match else None


def kind_of(page: str) -> str:
    """Return the CSS class of the page's body: `cover`, `wide`, `part`, `chapter`, `reference` or `plain`."""
    if page == COVER:
        return "cover"
    if page == PLAYGROUND:
        return "wide"
    if part_of(page):
        return "part"
    if page.startswith("book/reference/"):
        return "reference"
    return "chapter" if chapter_of(page) else "plain"


def _title(env: BuildEnvironment, page: str) -> str:
    return str(env.titles[page].astext())


def _sections(env: BuildEnvironment, page: str) -> list[dict[str, str]]:
    """Return the titles and anchors of the page's `##` headings."""
    toc = env.tocs.get(page)
    links = []
    for link in toc.findall(nodes.reference) if toc is not None else ():
        lists, node = 0, link.parent
        while node is not None:
            lists += isinstance(node, nodes.bullet_list)
            node = node.parent
        if lists == 2:
            links.append({"title": link.astext(), "id": link["anchorname"].removeprefix("#")})
    return links


def promises_of(source: str) -> list[str]:
    """Return the items under "What you will be able to do", in order; a question refers to them by number."""
    section = re.search(r"^## What you will be able to do\n((?:(?!## ).*\n)*)", source, re.MULTILINE)
    return re.findall(r"^[*-] (.+(?:\n {2}\S.*)*)", section[1], re.MULTILINE) if section else []


def goal_of(source: str) -> str:
    """Return the first item that a chapter promises, as plain text, for its card on the cover and on its
    part's page.
    """
    promises = promises_of(source)
    if not promises:
        return ""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(promises[0].split()))
    return re.sub(r"[*_`]", "", text).rstrip(" .;,") + "."


def contents(app: Sphinx, page: str) -> dict[str, Any]:
    """Return the contents for the template: the parts with their chapters, the pages before and after them,
    and the sections of `page`.
    """
    env, builder = app.env, app.builder

    def entry(target: str, label: str = "") -> dict[str, Any]:
        link = builder.get_relative_uri(page, target) or "#"
        return {"title": _title(env, target), "link": link, "label": label, "here": target == page}

    parts: list[dict[str, Any]] = []
    front: list[dict[str, Any]] = []
    back: list[dict[str, Any]] = []
    for top in env.toctree_includes.get(COVER, []):
        number = part_of(top)
        if number is None:
            below = [entry(name) for name in env.toctree_includes.get(top, [])]
            inside = any(target["here"] for target in below)
            (back if parts else front).append({**entry(top), "below": below, "inside": inside})
            continue
        chapters = [
            {
                **entry(name, chapter_of(name) or ""),
                "goal": goal_of(Path(env.doc2path(name)).read_text("utf-8")),
            }
            for name in env.toctree_includes.get(top, [])
        ]
        parts.append({**entry(top, ROMAN[number]), "chapters": chapters})
    return {"front": front, "parts": parts, "back": back, "sections": _sections(env, page)}


LEVELS = {
    "1": ("●○○", "easy"),
    "2": ("●●○", "needs thought"),
    "3": ("●●●", "hard; may wait for a second reading"),
}


def level_mark(env: BuildEnvironment, page: str) -> str:
    """Return the HTML mark of a chapter's difficulty, from `level: 1`, 2 or 3 in its front matter; empty
    without one.
    """
    level = LEVELS.get(str(env.metadata.get(page, {}).get("level", "")))
    if level is None:
        return ""
    mark, words = level
    return f' · <span class="level" title="{words}" role="img" aria-label="Difficulty: {words}">{mark}</span>'


def eyebrow(page: str, nav: dict[str, Any]) -> str:
    """Return the label above the title: `Part III · Typing · Chapter 12`, or `Part III`."""
    number = part_of(page)
    if number:
        return f"Part {ROMAN[number]}"
    for part in nav["parts"]:
        for chapter in part["chapters"]:
            if chapter["here"]:
                return f"Part {part['label']} · {part['title']} · Chapter {chapter['label']}"
    return ""


def _furnish(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    nav = contents(app, page)
    context["nav"], context["page_kind"] = nav, kind_of(page)
    label = eyebrow(page, nav)
    if "body" in context:
        # With MyST-NB's label, a screen reader would not read the summary.
        context["body"] = context["body"].replace(' aria-label="Toggle hidden content"', "")
    if label and "body" in context:
        context["body"] = context["body"].replace(
            "<h1>", f'<p class="eyebrow">{label}{level_mark(app.env, page)}</p>\n<h1>', 1
        )
    if page in app.env.found_docs and Path(app.env.doc2path(page)).with_suffix(".ipynb").is_file():
        context["colab"] = _project.colab_address(f"{page}.ipynb")
    order = [target for top in nav["parts"] for target in top["chapters"]]
    labels = {target["link"]: target["label"] for target in order}
    for side in ("prev", "next"):
        link = context.get(side)
        if link and link["link"] in labels:
            context[side] = {**link, "title": f"{labels[link['link']]} {link['title']}"}


def _wrap_tables(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Wrap each table in an element that scrolls horizontally, so that a page on a phone never does."""
    if "body" in context:
        context["body"] = re.sub(
            r"<table\b.*?</table>", r'<div class="table-wrap">\g<0></div>', context["body"], flags=re.DOTALL
        )


def setup(app: Sphinx) -> None:
    """Connect this file's handlers."""
    app.connect("html-page-context", _furnish)
    app.connect("html-page-context", _wrap_tables)
