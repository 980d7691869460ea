"""Show what a cell prints exactly as it was printed.

A kernel sends printed output in pieces, which it may cut at any time, even within a line. MyST-NB's
`nb_merge_streams` ends every piece with a line break, so this module joins the pieces first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sphinx.application import Sphinx

Outputs = list[Any]


def joined(outputs: Outputs) -> Outputs:
    """Merge all pieces of each stream into its first output."""
    merged: Outputs = []
    streams: dict[str, Any] = {}
    for output in outputs:
        name = output["name"] if output["output_type"] == "stream" else ""
        if name in streams:
            streams[name]["text"] += output["text"]
            continue
        if name:
            streams[name] = output
        merged.append(output)
    return merged


def setup(app: Sphinx) -> None:
    """Call `joined` before MyST-NB's own merging."""
    from myst_nb.core import render

    usual: Callable[[Outputs], Outputs] = render.coalesce_streams
    if getattr(usual, "of_relay_book", False):
        return

    def coalesced(outputs: Outputs) -> Outputs:
        return usual(joined(outputs))

    coalesced.of_relay_book = True  # type: ignore[attr-defined]  # a mark, so that it is done once
    render.coalesce_streams = coalesced
