"""What a cell prints is shown as it was printed.

A kernel sends what a cell prints in pieces, which end where its clock says so, within a line too. MyST-NB's
`nb_merge_streams` ends every piece with a line break. So the pieces are put together before it sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sphinx.application import Sphinx

Outputs = list[Any]


def joined(outputs: Outputs) -> Outputs:
    """The outputs, all pieces of a stream in its first one."""
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
    """Puts `joined` before what MyST-NB does."""
    from myst_nb.core import render

    usual: Callable[[Outputs], Outputs] = render.coalesce_streams
    if getattr(usual, "of_relay_book", False):
        return

    def coalesced(outputs: Outputs) -> Outputs:
        return usual(joined(outputs))

    coalesced.of_relay_book = True  # type: ignore[attr-defined]  # a mark, so that it is done once
    render.coalesce_streams = coalesced
