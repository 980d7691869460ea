"""What of an explorer can be written without a browser."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..ir.errors import RelayError
from ..views import picture
from ..views.format import RowKind, View
from .states import row_facts

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?", re.IGNORECASE)


def content(view: View, suffix: str, page: Callable[[], str]) -> str:
    """Return the text of a file with this suffix; `page` writes the HTML document."""
    match suffix:
        case ".html" | ".htm":
            return page()
        case ".svg":
            return picture.svg(view)
        case ".txt":
            return program(view)
        case ".csv":
            return csv(view)
        case ".json":
            return view.to_json()
        case ".png" | ".gif" | ".zip" | ".pdf":
            raise RelayError(
                f"a {suffix} file is drawn by a browser",
                help=[
                    "save the explorer as .html, open it, and choose *save* in its bar",
                    "without a browser there are .html, .svg, .csv, .txt and .json",
                ],
            )
    raise RelayError(
        f"an explorer cannot be saved as {suffix}", help=["it can be .html, .svg, .csv, .txt or .json"]
    )


def program(view: View) -> str:
    """Return the rows as text, all of them."""
    return "".join(f"{'  ' * row.depth}{row.text}\n" for row in view.rows)


def csv(view: View) -> str:
    """Return a line for each row. The file begins with a byte-order mark, without which spreadsheets misread
    everything that is not ASCII.
    """
    notes = view.beside()
    lines: list[list[object]] = [
        ["row", "depth", "kind", "program", "name", "operator", "type", "function", "note", "imported from"]
    ]
    for number, facts in enumerate(row_facts(view)):
        row = view.rows[number]
        node = row.imported
        source = (
            ", ".join(part for part in (node.op, node.name, node.path, node.location) if part) if node else ""
        )
        lines.append(
            [
                number, row.depth, RowKind(row.kind).name.lower(), row.text, facts["name"], facts["operator"],
                facts["type"], facts["function"], notes.get(number, ""), source,
            ]
        )  # fmt: skip
    return "\ufeff" + "".join(",".join(map(_field, line)) + "\r\n" for line in lines)


def _field(value: object) -> str:
    text = str(value)
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text
