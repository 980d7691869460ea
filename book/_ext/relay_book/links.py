"""Resolve links to a state of an explorer: `[step 9](#rx-NAME:step=9)`, optionally with a page before the
`#`.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

PREFIX = "rx-"


class ExplorerLinks(SphinxPostTransform):
    """Resolves these links before MyST does, which would search for a heading of that name."""

    default_priority = 8

    def run(self, **kwargs: Any) -> None:
        """Replace each link by a plain reference. A test of the built site checks the explorers' names."""
        for node in list(self.document.findall(pending_xref)):
            if node["reftype"] != "myst":
                continue
            page = node["reftarget"] if node["refdomain"] == "doc" else ""
            target = (node.get("reftargetid") if page else node["reftarget"]) or ""
            if not target.startswith(PREFIX):
                continue
            here = node.get("refdoc", self.env.docname)
            address = self.app.builder.get_relative_uri(here, page) if page else ""
            link = nodes.reference(
                "", "", refuri=f"{address}#{target}", internal=True, classes=["to-explorer"]
            )
            link += [child.deepcopy() for child in node.children]
            node.replace_self(link)


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_post_transform(ExplorerLinks)
