"""A view as a still picture: the program's rows and what stands beside them. For places that run no script,
and for the moment before it runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from .evaluation.format import EvaluationView
from .format import Row, RowKind, Sentence, Token, View
from .fusion.format import FusionView
from .gradient.format import GradientView, Kept, Value
from .ir.format import IRView
from .lowering.format import LoweringView
from .machine.format import MachineView
from .memory.format import Life, MemoryView
from .partial.format import PartialView
from .pipeline.format import Fate, PipelineView
from .run.format import RunView
from .sharing.format import Item, SharingView
from .types.format import TypesView
from .words import counted

MOST_ROWS = 60
MOST_STEPS = 60
MANY_PARAMETERS = 8  # longer lists are shown as one line
DEEPEST = 20  # levels that are still indented
WIDEST_ROW, WIDEST_NOTE = 84, 44  # characters
CHAR, LINE, TOP, LEFT = 7.8, 21, 64, 16  # pixels

_COLOURS = (
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
_NOTE_COLOUR, _SOFT = "#0a6964", "#5c5c63"


class Line(NamedTuple):
    """One line of the picture: how far it is indented, its tokens, and the type that stands beside it."""

    depth: int
    tokens: tuple[Token, ...]
    note: str

    @property
    def indent(self) -> str:
        return "  " * min(self.depth, DEEPEST)

    @property
    def width(self) -> int:
        """Characters, indentation included."""
        return len(self.indent) + sum(len(t.text) for t in self.tokens)


def lines(view: View) -> list[Line]:
    """Return the picture's lines: long parameter lists as one line, and at most MOST_ROWS rows."""
    drawn = list(_drawn(view))
    if len(drawn) <= MOST_ROWS:
        return drawn
    rest = len(drawn) - MOST_ROWS + 1
    return [*drawn[: MOST_ROWS - 1], _remark(0, f"… {rest:,} more rows")]


def _drawn(view: View) -> Iterator[Line]:
    match view:
        case PipelineView():
            return _stages(view)
        case PartialView():
            return _evaluated(view)
    return _folded(view.rows, _notes(view))


def _evaluated(view: PartialView) -> Iterator[Line]:
    """Draw the program with its static values, up to half of the picture; then the residual program without
    its dead code.
    """
    notes = _notes(view)
    program = list(_folded(view.rows[: view.split], notes[: view.split]))
    shown = program if len(program) <= MOST_ROWS // 2 else program[: MOST_ROWS // 2]
    yield from shown
    yield _remark(0, f"… {len(program) - len(shown):,} more rows" if len(shown) < len(program) else "")
    yield _remark(0, "What remains:")
    needed = [number for number, row in enumerate(view.residual, view.split) if row.needed]
    yield from _folded([view.rows[number] for number in needed], [notes[number] for number in needed])


def _remark(depth: int, text: str) -> Line:
    return Line(depth, (Token(9, text),), "")


def _stages(view: PipelineView) -> Iterator[Line]:
    """Draw what each pass did, then the program after each pass that changed it, with the fate of its
    rows.
    """
    for name, stages in view.pipelines:
        if len(view.pipelines) > 1:
            yield _remark(0, f"{name}:")
        yield from (_remark(1, _spoken(view.stages[number].say)) for number in stages)
    for stage in view.stages:
        if stage.same:
            continue
        yield _remark(0, "" if stage.before < 0 else f"After {stage.name}:")
        notes = [""] * (stage.last + 1 - stage.first)
        for _, after, fate in stage.align:
            if after >= 0 and fate != Fate.KEPT:
                notes[after - stage.first] = Fate(fate).name.lower()
        yield from _folded(view.rows[stage.first : stage.last + 1], notes)


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


def _notes(view: View) -> list[str]:
    """Return the note beside each row: the type of what it defines."""
    notes = [""] * len(view.rows)
    if isinstance(view, IRView):
        for index, row in enumerate(view.rows):
            if row.node >= 0:
                notes[index] = view.nodes[row.node].short
    elif isinstance(view, TypesView):
        for row_index, text in _final_types(view):
            notes[row_index] += (", " if notes[row_index] else "") + text
    elif isinstance(view, EvaluationView):
        for row_index, text in view.last_values().items():
            notes[row_index] = text
    elif isinstance(view, FusionView):
        for number, kernel in enumerate(view.variants[0].kernels, 1):
            for node in kernel.nodes:
                if view.nodes[node].row >= 0:
                    notes[view.nodes[node].row] = f"kernel {number}: {kernel.name}"
    elif isinstance(view, PartialView):
        for row_index, text in view.notes().items():
            notes[row_index] = text
    elif isinstance(view, GradientView):
        for value in view.values:
            notes[value.row] = _differentiated(view, value)
    elif isinstance(view, LoweringView):
        for number, operator in enumerate(view.operators):
            notes[operator.row] = view.instructions(number)
    elif isinstance(view, RunView):
        for measured in view.kernels:
            notes[measured.row] = view.measured(measured)
    elif isinstance(view, MachineView):
        for row_index, text in view.instructions().items():
            notes[row_index] = text
    elif isinstance(view, MemoryView):
        for life in view.variants[0].lives:
            if life.value >= 0 and view.values[life.value].row >= 0:
                row_index = view.values[life.value].row
                notes[row_index] += ("; " if notes[row_index] else "") + _stored(life)
    elif isinstance(view, SharingView):
        for form in view.forms:
            for item in form.items:
                if item.row >= 0:
                    notes[item.row] = _measured(item)
    return notes


def _differentiated(view: GradientView, value: Value) -> str:
    """Write the derivative by a value, and what is kept of the value for the backward pass."""
    parts = [view.lines[value.derivative].name if value.derivative >= 0 else ""]
    if not value.given and value.kept:
        parts.append("its shape" if value.kept == Kept.SHAPE else f"kept: {counted(value.bytes, 'byte')}")
    return ", ".join(filter(None, parts))


def _stored(life: Life) -> str:
    """Where a value is, and how long."""
    return f"b{life.buffer}, {counted(life.bytes, 'byte')}, steps {life.made} to {life.last}"


def _measured(item: Item) -> str:
    """How often an expression was evaluated, and how long its first value was needed."""
    text = "once" if item.runs == 1 else counted(item.runs, "time")
    if not item.lives:
        return text
    first, last = item.lives[0]
    return f"{text}, {counted(item.bytes, 'byte')}, steps {first} to {last}"


def _final_types(view: TypesView) -> Iterator[tuple[int, str]]:
    """For each variable that has a row: the row, and the variable's name and type after the last step."""
    parent = list(range(len(view.variables)))
    types: dict[int, str] = {}

    def root(number: int) -> int:
        while parent[number] != number:
            number = parent[number]
        return number

    for step in view.steps:
        for change in step.changes:
            if change[0] == "u":
                a, b = root(int(change[1])), root(int(change[2]))
                if a != b:
                    parent[b] = a
                    types.setdefault(a, types.pop(b, ""))
            elif change[0] == "t":
                types[root(int(change[1]))] = str(change[2])
    for number, variable in enumerate(view.variables):
        if variable.row >= 0:
            yield variable.row, f"{variable.name}: {types.get(root(number)) or '?'}"


# -- as text and HTML


def text(view: View) -> str:
    """Draw the picture as plain text, with the types to the right of the rows."""
    return "\n".join(_plain(line) for line in lines(view))


def _plain(line: Line) -> str:
    row = _cut(line.indent + "".join(t.text for t in line.tokens), WIDEST_ROW)
    return f"{row:<{WIDEST_ROW}}  {_cut(line.note, WIDEST_NOTE)}".rstrip()


def _cut(text: str, most: int) -> str:
    """`text` on one line, with at most `most` characters."""
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
    match view:
        case EvaluationView():
            sentences, first = [step.say for step in view.steps], 0
        case FusionView():
            sentences, first = [step.say for step in view.variants[0].steps], 1
        case GradientView():
            sentences, first = [step.say for step in view.steps], 1
        case LoweringView():
            sentences, first = [step.say for step in view.steps], 0
        case MachineView():
            sentences, first = [step.say for step in view.steps], 1
        case MemoryView():
            sentences, first = [step.say for step in view.variants[0].steps], 0
        case PartialView():
            sentences, first = [step.say for step in view.steps], 1
        case RunView():
            sentences, first = [(f"{k.say[0]} {k.why[0]}", *k.say[1:]) for k in view.kernels], 1
        case _:
            return ""
    steps = [_spoken(say) for say in sentences[:MOST_STEPS]]
    rest = len(sentences) - len(steps)
    more = f"<p>… {rest:,} more steps</p>" if rest else ""
    items = "".join(f"<li>{escape(step)}</li>" for step in steps)
    return f'<details><summary>The steps</summary><ol start="{first}">{items}</ol>{more}</details>'


def _spoken(say: Sentence) -> str:
    """Turn a sentence into plain text."""
    template = say[0].replace("**", "").replace("`", "").replace("\n", " ")
    return template.format(*say[1:])


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
            parts.append(f'<text x="{note_x:.0f}" y="{y}" fill="{_NOTE_COLOUR}">{note}</text>')
    return "".join(parts) + "</g></svg>"


def _spans(line: Line) -> str:
    """Coloured stretches of text; what is too wide is cut."""
    left = WIDEST_ROW - len(line.indent)
    parts: list[str] = []
    for token in line.tokens:
        if left <= 0:
            break
        shown = token.text if len(token.text) <= left else token.text[: left - 1] + "…"
        left -= len(token.text)
        parts.append(f'<tspan fill="{_COLOURS[token.kind]}">{_xml(shown)}</tspan>')
    return "".join(parts)


def _xml(text: str) -> str:
    """Escaped, and without the characters that XML cannot hold."""
    return escape(_NOT_XML.sub("\ufffd", text))
