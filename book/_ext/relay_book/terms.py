"""Link each glossary term at its first use in a chapter, and tell explorers where terms are defined.

The glossary page is the only list: `Term, another form (ABBREVIATION)`, each followed by its definition. An
everyday word (`call`, `pass`) counts as a term only where a chapter introduces it, in italics.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from .chapters import chapter_of

GLOSSARY = "book/glossary"
SOURCE = Path(__file__).parents[2] / "glossary.md"
SCRIPT = "terms.js"

# Terms that are also plain English: they are linked where they are introduced, and not in explorers.
EVERYDAY = frozenset(
    {
        "any",
        "attribute",
        "block",
        "call",
        "consistent",
        "constant",
        "effect",
        "expression",
        "fold",
        "frame",
        "function",
        "instrument",
        "kind",
        "let",
        "match",
        "module",
        "operator",
        "pass",
        "reference",
        "scope",
        "sharing",
        "stage",
        "target",
        "trace",
    }
)


def slug(term: str) -> str:
    """Return the anchor of a term."""
    return "term-" + re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")


def forms(entry: str) -> list[str]:
    """Return the words that stand for an entry `Reference count, reference counting (RC)`."""
    plain = re.sub(r"[`*]", "", entry)
    abbreviations = re.findall(r"\(([^)]*)\)", plain)
    return [
        form.strip() for form in (*re.sub(r"\([^)]*\)", "", plain).split(","), *abbreviations) if form.strip()
    ]


@cache
def glossary() -> dict[str, str]:
    """Return the anchor of each form, in lower case unless it is an abbreviation."""
    anchors = {}
    for match in re.finditer(r"^(\S.*)\n: ", SOURCE.read_text("utf-8"), re.MULTILINE):
        for form in forms(match[1]):
            anchors[form if form.isupper() else form.lower()] = slug(match[1])
    return anchors


def pattern(words: list[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of the words, also in the plural; the longest first."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    alternatives = "|".join(
        re.escape(word) if word.isupper() else f"(?i:{re.escape(word)})" for word in longest_first
    )
    return re.compile(rf"(?<![\w-])({alternatives})(?=(?:e?s)?(?![\w-]))")


@cache
def _plain() -> re.Pattern[str]:
    return pattern([form for form in glossary() if form not in EVERYDAY])


@cache
def _introduced() -> re.Pattern[str]:
    return pattern(list(glossary()))


def _key(text: str) -> str:
    return text if text.isupper() else text.lower()


class TermLinks(SphinxPostTransform):
    """Turns the first use of each term in a chapter into a link to its definition."""

    default_priority = 7

    def run(self, **kwargs: Any) -> None:
        """Link terms in the chapter's paragraphs, lists and remarks."""
        page = self.env.docname
        if chapter_of(page) is None:
            return
        address = self.app.builder.get_relative_uri(page, GLOSSARY)
        linked: set[str] = set()
        for text in list(_running_text(self.document)):
            emphasis = isinstance(text.parent, nodes.emphasis)
            pieces = list(_pieces(str(text), _introduced() if emphasis else _plain(), linked, address))
            if len(pieces) > 1 or not isinstance(pieces[0], nodes.Text):
                text.parent.replace(text, pieces)


def _running_text(document: nodes.document) -> Iterator[nodes.Text]:
    for paragraph in document.findall(nodes.paragraph):
        for text in paragraph.findall(nodes.Text):
            node = text.parent
            while node is not paragraph and not isinstance(
                node, (nodes.literal, nodes.reference, nodes.math)
            ):
                node = node.parent
            if node is paragraph:
                yield text


def _pieces(text: str, words: re.Pattern[str], linked: set[str], address: str) -> Iterator[nodes.Node]:
    """Split a text into nodes, where each term that is not linked yet becomes a link."""
    at = 0
    for match in words.finditer(text):
        anchor = glossary()[_key(match[1])]
        if anchor in linked:
            continue
        linked.add(anchor)
        if match.start() > at:
            yield nodes.Text(text[at : match.start()])
        yield nodes.reference("", match[1], refuri=f"{address}#{anchor}", internal=True, classes=["term"])
        at = match.end()
    if at < len(text) or not text:
        yield nodes.Text(text[at:])


def _anchor_definitions(app: Sphinx, document: nodes.document) -> None:
    if app.env.docname == GLOSSARY:
        for item in document.findall(nodes.definition_list_item):
            term = next(item.findall(nodes.term))
            term["ids"].append(slug(term.astext()))


def _write_terms(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        terms = {form: anchor for form, anchor in glossary().items() if form not in EVERYDAY}
        content = json.dumps({"page": f"{GLOSSARY}.html", "terms": terms}, ensure_ascii=False)
        (Path(app.outdir) / "_static" / SCRIPT).write_text(f"globalThis.relayTerms = {content};\n", "utf-8")


def _add_script(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if 'class="relay-explorer"' in context.get("body", ""):
        app.add_js_file(SCRIPT, loading_method="defer", priority=400)  # before the explorers' bundle


def setup(app: Sphinx) -> None:
    """Connect this file's handlers."""
    app.add_post_transform(TermLinks)
    app.connect("doctree-read", _anchor_definitions)
    app.connect("html-page-context", _add_script)
    app.connect("build-finished", _write_terms)
