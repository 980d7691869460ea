"""Draw a view as a static picture: the program's rows with their notes. It is shown where scripts do not run,
and until the script has started.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from .format import Passage, Remark, Row, RowKind, Token, View, spoken

MAX_ROWS = 60
MAX_STEPS = 60
MANY_PARAMETERS = 8  # longer lists are shown as one line
MAX_DEPTH = 20  # levels that are still indented
WIDEST_ROW, WIDEST_NOTE = 84, 44  # characters
CHAR, LINE, TOP, LEFT = 7.8, 21, 64, 16  # pixels

_COLORS = (
    "#1d1d1f",
    "#7b2d8e",
    "#1d1d1f",
    "#1f4fa3",
    "#8a3a00",
    "#0a6964",
    "#2b6a1e",
    "#5c5c63",
    "#8f2458",
    "#5c5c63",
)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NOTE_COLOR, _SOFT = "#0a6964", "#5c5c63"


class Line(NamedTuple):
    """One line of the picture: its indentation, its tokens, and the note beside it."""

    depth: int
    tokens: tuple[Token, ...]
    note: str

    @property
    def indent(self) -> str:
        return "  " * min(self.depth, MAX_DEPTH)

    @property
    def width(self) -> int:
        """The width in characters, including the indentation."""
        return len(self.indent) + sum(len(t.text) for t in self.tokens)


def lines(view: View) -> list[Line]:
    """Return the picture's lines: long parameter lists as one line, and at most MAX_ROWS rows."""
    drawn = list(_drawn(view))
    if len(drawn) <= MAX_ROWS:
        return drawn
    rest = len(drawn) - MAX_ROWS + 1
    return [*drawn[: MAX_ROWS - 1], _remark(0, f"… {rest:,} more rows")]


def _drawn(view: View) -> Iterator[Line]:
    for part in view.passages():
        match part:
            case Remark():
                yield _remark(part.depth, part.text)
            case Passage(half=False):
                yield from _folded(part.rows, part.notes)
            case Passage():
                program = list(_folded(part.rows, part.notes))
                shown = program[: MAX_ROWS // 2]
                yield from shown
                rest = len(program) - len(shown)
                yield _remark(0, f"… {rest:,} more rows" if rest else "")


def _remark(depth: int, text: str) -> Line:
    return Line(depth, (Token(9, text),), "")


def _folded(rows: Sequence[Row], notes: Sequence[str]) -> Iterator[Line]:
    at = 0
    while at < len(rows):
        end = at
        while end < len(rows) and rows[end].kind == RowKind.PARAMETER:
            end += 1
        if end - at > MANY_PARAMETERS:
            yield _remark(rows[at].depth, f"… {end - at:,} parameters")
            at = end
            continue
        row = rows[at]
        yield Line(row.depth, row.tokens, notes[at])
        at += 1


# -- as text and HTML


def text(view: View) -> str:
    """Draw the picture as plain text, with the notes to the right of the rows."""
    return "\n".join(_plain(line) for line in lines(view))


def _plain(line: Line) -> str:
    row = _cut(line.indent + "".join(t.text for t in line.tokens), WIDEST_ROW)
    return f"{row:<{WIDEST_ROW}}  {_cut(line.note, WIDEST_NOTE)}".rstrip()


def _cut(text: str, most: int) -> str:
    """Return `text` on one line, cut to at most `most` characters."""
    flat = " ".join(text.splitlines()) if len(text.splitlines()) > 1 else text
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def html(view: View) -> str:
    """Draw the picture as an HTML fragment without style sheet or script."""
    return (
        f"<p><strong>{escape(view.title)}</strong>. {escape(view.summary)}</p>"
        f'<pre tabindex="0" style="max-height:30em;overflow:auto">{escape(text(view))}</pre>' + _story(view)
    )


def _story(view: View) -> str:
    """Write the steps of a run, or of a fusion, as a list."""
    sentences, first = view.story(), view.first_step
    if not sentences:
        return ""
    steps = [spoken(say) for say in sentences[:MAX_STEPS]]
    rest = len(sentences) - len(steps)
    more = f"<p>… {rest:,} more steps</p>" if rest else ""
    items = "".join(f"<li>{escape(step)}</li>" for step in steps)
    return f'<details><summary>The steps</summary><ol start="{first}">{items}</ol>{more}</details>'


# -- as SVG


def svg(view: View) -> str:
    """Draw the picture as an SVG document with a light background."""
    picture_lines = lines(view)
    with_notes = any(line.note for line in picture_lines)
    longest = min(WIDEST_ROW, max((line.width for line in picture_lines), default=0))
    note_x = LEFT + (max(longest, 40) + 3) * CHAR
    width = int(note_x + (WIDEST_NOTE if with_notes else 0) * CHAR + LEFT)
    height = TOP + LINE * len(picture_lines) + LEFT
    summary = _cut(view.summary, int(width / 6.6))
    size = f'width="{width}" height="{height}"'
    sans = 'font-family="system-ui,sans-serif"'
    mono = "font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\""
    title = _xml(_cut(view.title, 80))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" role="img">',
        f"<title>{_xml(view.title)}</title><desc>{_xml(view.summary)}</desc>",
        f'<rect {size} rx="10" fill="#ffffff" stroke="#dcdcd6"/>',
        f'<text x="{LEFT}" y="27" {sans} font-size="15" font-weight="700" fill="#1d1d1f">{title}</text>',
        f'<text x="{LEFT}" y="47" {sans} font-size="12.5" fill="{_SOFT}">{_xml(summary)}</text>',
        f'<g {mono} font-size="13" style="white-space:pre">',
    ]
    for number, line in enumerate(picture_lines):
        y = TOP + LINE * number + 15
        x = LEFT + len(line.indent) * CHAR
        parts.append(f'<text x="{x:.1f}" y="{y}">{_spans(line)}</text>')
        if line.note:
            note = _xml(_cut(line.note, WIDEST_NOTE))
            parts.append(f'<text x="{note_x:.0f}" y="{y}" fill="{_NOTE_COLOR}">{note}</text>')
    return "".join(parts) + "</g></svg>"


def _spans(line: Line) -> str:
    """Return the tokens of a line as colored spans, cut at the widest row."""
    left = WIDEST_ROW - len(line.indent)
    parts: list[str] = []
    for token in line.tokens:
        if left <= 0:
            break
        shown = token.text if len(token.text) <= left else token.text[: left - 1] + "…"
        left -= len(token.text)
        parts.append(f'<tspan fill="{_COLORS[token.kind]}">{_xml(shown)}</tspan>')
    return "".join(parts)


def _xml(text: str) -> str:
    """Escape a text, and replace the characters that XML cannot represent."""
    return escape(_NOT_XML.sub("\ufffd", text))
