"""Which outputs of a notebook carry the bundle: one, unless something happened to it.

The kernel cannot see the notebook, so these rules decide by what the front end sends with each execution. An
output carries the bundle if no other output of the session does, or if its cell is run again although nothing
else was: its reader may have seen that its explorer is not drawn. A front end that is opened again is another
session. An output that finds no bundle in its page shows the static picture, and says that its cell has to be
run again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .host import has_framed_outputs, shell


@dataclass
class Carriers:
    """The cells whose outputs carry the bundle, and those that were run since then and rely on it."""

    session: str = ""
    cells: set[str] = field(default_factory=set)
    relying: dict[str, str] = field(default_factory=dict)
    run: str = ""  # the run in which a cell's output received the bundle

    def start(self, session: str, cell: str, deleted: list[str]) -> None:
        """Note that a cell runs, so that its outputs are replaced, and which cells are gone."""
        if session != self.session:
            self.session = session
            self.cells.clear()
            self.relying.clear()
        self.cells -= {cell, *deleted}

    def carries(self, cell: str, run: str) -> bool:
        """Decide whether an output of a cell's `run` carries the bundle."""
        if run == self.run and cell in self.cells:
            return False
        if self.cells and self.relying.setdefault(cell, run) == run:
            return False
        self.cells.add(cell)
        self.relying.clear()
        self.run = run
        return True


_carriers = Carriers()


def carries() -> bool:
    """Return whether the output that is displayed now carries the bundle."""
    if has_framed_outputs():
        return True
    request = _request()
    if request is None:
        return True
    _watch()
    _carriers.start(request.session, "", [])
    return _carriers.carries(request.cell, request.run)


@dataclass(frozen=True)
class Request:
    """What a front end sent when it asked for a cell to be run. A front end that does not name its cells is
    known by their text.
    """

    session: str
    run: str
    cell: str
    deleted: list[str]


def _request() -> Request | None:
    """Return the request that the kernel works on; None for a widget's callback and without a kernel."""
    parent: Any = getattr(shell(), "get_parent", dict)()
    if not isinstance(parent, dict) or "code" not in (parent.get("content") or {}):
        return None
    header, metadata = parent.get("header") or {}, parent.get("metadata") or {}
    return Request(
        str(header.get("session", "")),
        str(header.get("msg_id", "")),
        str(metadata.get("cellId") or parent["content"]["code"]),
        [str(cell) for cell in metadata.get("deletedCells") or ()],
    )


_watched: set[int] = set()


def _watch() -> None:
    """Have IPython call `_started` before each run of a cell."""
    current = shell()
    if id(current) not in _watched and hasattr(current, "events"):
        _watched.add(id(current))
        current.events.register("pre_run_cell", _started)


def _started(_info: object = None) -> None:
    request = _request()
    if request is not None:
        _carriers.start(request.session, request.cell, request.deleted)
