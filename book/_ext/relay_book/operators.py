"""Generate the operator reference when Sphinx reads its pages, and read them again in every build.

A page `reference/operators_FAMILY` contains only its title; in `reference/operators`, comments `<!--
operators: TABLE -->` mark where the tables go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from . import operator_text

_FAMILY = re.compile(r"book/reference/operators_(\w+)")
_TABLE = re.compile(r"^<!-- operators: (\w+) -->$", re.MULTILINE)
INDEX = "book/reference/operators"
TABLES = {
    "families": operator_text.families_table,
    "index": operator_text.index_table,
    "left_out": operator_text.left_out_list,
}


def is_reference(page: str) -> bool:
    """Whether a page belongs to the operator reference."""
    return page == INDEX or _FAMILY.fullmatch(page) is not None


def _table(match: re.Match[str]) -> str:
    if match[1] not in TABLES:
        raise ExtensionError(
            f"there is no table of operators called {match[1]!r}; there are {', '.join(TABLES)}"
        )
    return TABLES[match[1]]()


def _write(app: Sphinx, page: str, source: list[str]) -> None:
    family = _FAMILY.fullmatch(page)
    if family:
        if family[1] not in operator_text.TITLES:
            raise ExtensionError(f"{page}: there is no family of operators called {family[1]!r}")
        title = f"# {operator_text.TITLES[family[1]]}"
        if source[0].strip() != title:
            raise ExtensionError(f"{page} holds its title, {title!r}, and nothing else: the rest is written")
        source[0] = operator_text.family_page(family[1])
    elif page == INDEX:
        source[0] = _TABLE.sub(_table, source[0])


def _anchored(app: Sphinx, doctree: nodes.document) -> None:
    """Register the operators' anchors, so that `[exp](reference/operators_arithmetic.md#op-exp)` resolves;
    MyST only registers those of headings.
    """
    if is_reference(app.env.docname):
        slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
        for section in doctree.findall(nodes.section):
            title = section.next_node(nodes.title)
            for name in section["ids"]:
                if name.startswith("op-") and title is not None:
                    slugs[name] = (section.line or 0, name, title.astext())


def _outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> Iterable[str]:
    """Return all pages of the reference: their text follows from the package, which may have changed.
    Generating them takes a second or two.
    """
    return [page for page in env.found_docs if is_reference(page)]


def setup(app: Sphinx) -> None:
    """Connect this file's handlers."""
    app.connect("source-read", _write)
    app.connect("doctree-read", _anchored)
    app.connect("env-get-outdated", _outdated)
