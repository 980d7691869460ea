"""The base class of views, with the program's rows, a title and a summary, and its serialization to JSON."""

from __future__ import annotations

import json
from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from enum import IntEnum
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from ..ir.lazy_dataclass import dataclass
from .encode import Interner, type_writer, writer
from .schema import Amount, Flat, OneOf, RowOrNone, Sentence, Wire, describe, list_of

__all__ = [
    "NAME",
    "VERSION",
    "Block",
    "ModelNode",
    "Passage",
    "Question",
    "Remark",
    "Row",
    "RowKind",
    "Sentence",
    "Token",
    "TokenClass",
    "View",
    "spoken",
]

NAME, VERSION = "relay-explorer", 1
Json = Any


class RowKind(IntEnum):
    """The kind of a row of the program."""

    MODULE = 0
    FUNCTION = 1
    PARAMETER = 2
    BINDING = 3
    LET = 4
    RESULT = 5
    CLOSE = 6
    BRANCH = 7
    TYPE = 8
    COMMENT = 9


class TokenClass(IntEnum):
    """The class of a token, which determines its color."""

    PLAIN = 0
    KEYWORD = 1
    LOCAL = 2
    GLOBAL = 3
    OPERATOR = 4
    TYPE = 5
    LITERAL = 6
    ATTRIBUTE = 7
    CONSTRUCTOR = 8
    COMMENT = 9


class Token(NamedTuple):
    """A token of a row's text. `ref` is the index of what it names: a node (IR, fusion), a type variable
    (types), a name (evaluation), a key (sharing), an item (pipeline, partial), a value or line (gradient), a
    value (memory), an operator (lowering), a kernel (run), or -1.
    """

    kind: Annotated[int, OneOf(TokenClass)]
    text: str
    ref: int = -1


class ModelNode(NamedTuple):
    """A node of an imported model, from which an expression came: the framework's operator, the node's name,
    the path of its module, and where the user's code calls it; an empty text stands for what is unknown.
    """

    op: str
    name: str
    path: str
    location: str


class Row(NamedTuple):
    """One line of the program. `depth` is its indentation, `node` the node that it defines (only in the IR
    view), `end` the closing row of the block that it opens; -1 stands for none. `type` is the inferred type
    of the value that it defines, empty where there is none or it is not known. `imported` is the node of the
    imported model from which the line came.
    """

    kind: Annotated[int, OneOf(RowKind)]
    depth: Amount
    tokens: Annotated[tuple[Token, ...], Flat()]
    node: int = -1
    end: RowOrNone = -1
    type: str = ""
    imported: Annotated[ModelNode | None, Wire(omitted=True)] = None

    @property
    def text(self) -> str:
        """The row's text, without indentation."""
        return "".join(t.text for t in self.tokens)


class Block(NamedTuple):
    """Rows with a name, from the first to the last."""

    name: str
    first: int
    last: int


class Passage(NamedTuple):
    """Rows in a static picture and the note beside each; with `half`, they take at most half of it."""

    rows: Sequence[Row]
    notes: Sequence[str]
    half: bool = False


class Question(NamedTuple):
    """A what-if question of a view: its name, the answers, and the index of the one that holds in the actual
    run.
    """

    name: str
    answers: tuple[str, ...]
    actual: int = 0


class Remark(NamedTuple):
    """A line in a static picture that is not part of the program."""

    depth: int
    text: str


def spoken(say: Sentence) -> str:
    """Format a sentence as plain text."""
    template = say[0].replace("**", "").replace("`", "").replace("\n", " ")
    return template.format(*say[1:])


@dataclass(frozen=True)
class View(ABC):
    """The base class of views. `summary` is one or two sentences, the text equivalent of the first frame."""

    kind: ClassVar[str]
    title: str
    summary: str
    rows: tuple[Row, ...]

    def programs(self) -> tuple[tuple[Row, ...], ...]:
        """Return the rows of each program that the view shows."""
        return (self.rows,)

    def beside(self) -> dict[int, str]:
        """Return the notes beside rows in a static picture, by the index of the row."""
        return {}

    def passages(self) -> Iterator[Passage | Remark]:
        """Iterate over the contents of a static picture, from the top: rows with their notes, and remarks."""
        beside = self.beside()
        yield Passage(self.rows, [beside.get(number, "") for number in range(len(self.rows))])

    #: The number of the first sentence of the story.
    first_step: ClassVar[int] = 0

    def story(self) -> Sequence[Sentence]:
        """Return the sentences of the steps; a view without steps has none."""
        return ()

    #: The pairs of a state's token that hold the step and the answer to a what-if question.
    step_key: ClassVar[str] = "step"
    choice_key: ClassVar[str] = ""

    def questions(self) -> tuple[Question, ...]:
        """Return the what-if questions. In a token, `choice_key` has the indices of their answers, joined by
        dots; it is absent in the actual run.
        """
        return ()

    def selected_row(self, state: Mapping[str, str]) -> int:
        """Return the index of the row that a state selects, or -1. `state` has the pairs of a token."""
        row = state.get("row", "")
        return int(row) if row.isdecimal() and int(row) < len(self.rows) else -1

    def select_row(self, row: int, state: Mapping[str, str]) -> dict[str, str]:
        """Return the pairs of a token that select a row, or none (-1), in a state."""
        return {"row": str(row) if row >= 0 else ""}

    def selected_block(self, state: Mapping[str, str]) -> Block | None:
        """Return the block of rows that a state selects, if it selects one."""
        return None

    def select_block(self, wanted: Mapping[str, object]) -> dict[str, str]:
        """Return the pairs of a token that select the block with this `group` (its name) and, where they are
        given, these first (`row`) and `last` rows. Raise a ValueError if there is none.
        """
        raise ValueError(f"the view {self.kind!r} has no group {wanted.get('group')!r}")

    def rows_shown(self, state: Mapping[str, str]) -> range:
        """Return the indices of the rows of the program that is shown."""
        return range(len(self.rows))

    def last_step(self, state: Mapping[str, str]) -> int:
        """Return the number of the last step as the explorer shows it, 0 for a view without steps."""
        return len(getattr(self, "steps", ())) or len(self.story())

    def opening(self) -> str:
        """Say in a few words why the step that is shown first is that one; "" if there is no reason."""
        return ""

    #: The program as text that can be edited, where the rows are not because they refer to constants.
    editable: ClassVar[str] = ""

    def with_editable(self, text: str) -> Self:
        """Return the view with a text to edit."""
        view = copy(self)
        object.__setattr__(view, "editable", text)  # no field, because the fields of subclasses follow
        return view

    def to_dict(self) -> dict[str, Json]:
        """Return the view as plain lists, dictionaries, strings and numbers."""
        intern = Interner()
        rows = _write_rows(self.rows, intern)
        own = writer(describe(type(self)))(self, intern)
        more = {"opening": self.opening(), "editable": self.editable}
        return {
            "format": NAME, "version": VERSION, "view": self.kind,
            "title": _text(self.title), "summary": _text(self.summary),
            "strings": intern.strings,
            **{name: _text(text) for name, text in more.items() if text}, "program": {"rows": rows}, **own,
        }  # fmt: skip

    def to_json(self) -> str:
        """Return the view as compact JSON (UTF-8; to embed it in HTML use
        `relay_explorer.widgets.page.script_json`).
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


_write_rows = type_writer(list_of(Row))
