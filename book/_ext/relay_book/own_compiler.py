"""Highlight cells of the reader's compiler as Python, with the name of their file above them.

Because they begin with a cell magic, the highlighter would otherwise treat them as plain text.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

MAGIC = re.compile(r"%%pocket (\S+)\n")


class NameFiles(SphinxPostTransform):
    """Turns the magic of each `%%pocket FILE` cell into a label."""

    default_priority = 8

    def run(self, **kwargs: Any) -> None:
        """Relabel every such cell of the page."""
        for block in list(self.document.findall(nodes.literal_block)):
            match = MAGIC.match(block.astext())
            if match:
                code = block.astext()[match.end() :]
                label = nodes.paragraph("", "", classes=["pocket-file"])
                label += nodes.literal("", match[0].strip())
                replacement = nodes.literal_block(code, code, language="python3", classes=block["classes"])
                block.parent.replace(block, [label, replacement])


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_post_transform(NameFiles)
