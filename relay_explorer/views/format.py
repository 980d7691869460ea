"""The view format, version 1, as `frontend/FORMAT.md` describes it: frozen dataclasses that turn into JSON.
Strings are interned on the way out.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

NAME, VERSION = "relay-explorer", 1
Json = Any
Sentence = tuple[str, ...]  # a template, then its arguments


class RowKind(IntEnum):
    """What a row of the program is."""

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
    """What a token is, by which it is coloured."""

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
    """A stretch of a row's text. `ref` is what it names: a node of an IR view, a type variable of a types
    view, or -1.
    """

    kind: int
    text: str
    ref: int = -1


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the program. `node` is what it defines (IR view), `end` the closing row of the block that
    it opens; -1 is none.
    """

    kind: int
    depth: int
    tokens: tuple[Token, ...]
    node: int = -1
    end: int = -1

    @property
    def text(self) -> str:
        """The row as it is read, without its indentation."""
        return "".join(t.text for t in self.tokens)


class Interner:
    """Strings by number, each kept once."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.strings)
            # Half a surrogate pair is no character: no encoder would take it.
            self.strings.append(text if text.isascii() else text.encode("utf-8", "replace").decode())
        return number

    def sentence(self, say: Sentence) -> list[int]:
        return [self(part) for part in say]


@dataclass(frozen=True)
class View(ABC):
    """What every view has. `summary` is one or two sentences: the text equivalent of the first frame."""

    kind: ClassVar[str]
    title: str
    summary: str
    rows: tuple[Row, ...]

    @abstractmethod
    def _fields(self, intern: Interner) -> dict[str, Json]:
        """The view's own fields."""

    def to_dict(self) -> dict[str, Json]:
        """The view as plain lists, dictionaries, strings and numbers."""
        intern = Interner()
        rows = [[int(r.kind), r.depth, _tokens(r.tokens, intern), r.node, r.end] for r in self.rows]
        own = self._fields(intern)
        return {
            "format": NAME, "version": VERSION, "view": self.kind,
            "title": _text(self.title), "summary": _text(self.summary),
            "strings": intern.strings, "program": {"rows": rows}, **own,
        }  # fmt: skip

    def to_json(self) -> str:
        """The view as compact JSON (UTF-8, not safe inside HTML: see
        `relay_explorer.widgets.page.script_json`).
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _tokens(tokens: Sequence[Token], intern: Interner) -> list[int]:
    flat: list[int] = []
    for kind, text, ref in tokens:
        flat += (int(kind), intern(text), ref)
    return flat


class Family(NamedTuple):
    """A group of operators: how its nodes are drawn."""

    name: str
    shape: str
    hue: str


class Node(NamedTuple):
    """An expression. `params` counts parameter scalars read here, `bytes` those read and written; `uses` are
    the edges that leave.
    """

    label: str
    family: int
    row: int
    type: str
    short: str
    params: int
    flops: int
    bytes: int
    attributes: str
    group: int
    uses: int
    detail: str


class Edge(NamedTuple):
    """`source` produces operand number `operand` of `target`."""

    source: int
    target: int
    operand: int


class Group(NamedTuple):
    """A function (kind 0), a repeated block (1) or a branch (2), and its rows. Blocks with the same `repeat`
    are the same again.
    """

    label: str
    parent: int
    first: int
    last: int
    kind: int
    repeat: str = ""


class Scope(NamedTuple):
    """The variable that the `let` at `row` binds can be used in the rows from `first` to `last`."""

    row: int
    first: int
    last: int


class Totals(NamedTuple):
    """Sums over the program; each expression once."""

    nodes: int
    calls: int
    params: int
    flops: int
    bytes: int


@dataclass(frozen=True)
class IRView(View):
    """The program as text and graph."""

    kind: ClassVar[str] = "ir"
    families: tuple[Family, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    groups: tuple[Group, ...]
    scopes: tuple[Scope, ...]
    totals: Totals

    def _fields(self, s: Interner) -> dict[str, Json]:
        return {
            "families": [[s(f.name), f.shape, f.hue] for f in self.families],
            "nodes": [
                [
                    s(n.label), n.family, n.row, s(n.type), s(n.short), n.params, n.flops, n.bytes,
                    s(n.attributes), n.group, n.uses, s(n.detail),
                ]
                for n in self.nodes
            ],
            "edges": [number for edge in self.edges for number in edge],
            "groups": [[s(g.label), g.parent, g.first, g.last, g.kind, s(g.repeat)] for g in self.groups],
            "scopes": [list(scope) for scope in self.scopes],
            "totals": self.totals._asdict(),
        }  # fmt: skip


class Mark(IntEnum):
    """What a step of inference does."""

    GENERATE = 0
    UNIFY = 1
    SOLVE = 2
    WAIT = 3
    REQUEUE = 4
    REFUSE = 5
    DONE = 6


class TypeVariable(NamedTuple):
    """A type variable or known type: its name (`α`, `%x`), its row, and what it is the type of."""

    name: str
    row: int
    what: str


class RelationBox(NamedTuple):
    """A relation: the operator's name, its row, its formula with the variables put in, and the variables,
    output last.
    """

    name: str
    row: int
    label: str
    variables: tuple[int, ...]


# ("v", var) · ("t", var, short, full, known) · ("u", var, var) · ("r", rel, status) · ("q", rel) · ("f", rel)
# · ("p", rel)
Change = tuple[str | int, ...]


class Step(NamedTuple):
    """One step of inference: the sentence, the earlier steps that it used, and what it changed."""

    mark: int
    row: int
    say: Sentence
    because: tuple[int, ...]
    changes: tuple[Change, ...]


class ChainLink(NamedTuple):
    """One link of the chain that led to a type."""

    step: int
    row: int
    say: Sentence


class Side(NamedTuple):
    """One of two types that disagree, and how it came about."""

    type: str
    chain: tuple[ChainLink, ...]


class Conflict(NamedTuple):
    """Why a program is refused."""

    step: int
    row: int
    say: Sentence
    left: Side
    right: Side
    tries: tuple[Sentence, ...]


class FunctionRows(NamedTuple):
    """A function and its rows."""

    name: str
    first: int
    last: int


@dataclass(frozen=True)
class TypesView(View):
    """A recorded inference, step by step. `start` is the step shown first; None is the last."""

    kind: ClassVar[str] = "types"
    variables: tuple[TypeVariable, ...]
    relations: tuple[RelationBox, ...]
    steps: tuple[Step, ...]
    functions: tuple[FunctionRows, ...]
    conflict: Conflict | None = None
    start: int | None = None

    def _fields(self, s: Interner) -> dict[str, Json]:
        fields: dict[str, Json] = {
            "vars": [[s(v.name), v.row, s(v.what)] for v in self.variables],
            "rels": [[s(r.name), r.row, s(r.label), list(r.variables)] for r in self.relations],
            "steps": [
                [int(t.mark), t.row, s.sentence(t.say), list(t.because), [_change(c, s) for c in t.changes]]
                for t in self.steps
            ],
            "functions": [[s(f.name), f.first, f.last] for f in self.functions],
            "conflict": None if self.conflict is None else _conflict(self.conflict, s),
        }  # fmt: skip
        if self.start is not None:
            fields["start"] = self.start
        return fields


def _change(change: Change, intern: Interner) -> list[str | int]:
    if change[0] == "t":
        _, variable, short, full, known = change
        return ["t", variable, intern(str(short)), intern(str(full)), known]
    return list(change)


def _conflict(conflict: Conflict, s: Interner) -> dict[str, Json]:
    def side(of: Side) -> dict[str, Json]:
        return {
            "type": s(of.type),
            "chain": [[link.step, link.row, s.sentence(link.say)] for link in of.chain],
        }

    return {
        "step": conflict.step, "row": conflict.row, "say": s.sentence(conflict.say),
        "left": side(conflict.left), "right": side(conflict.right),
        "try": [s.sentence(t) for t in conflict.tries],
    }  # fmt: skip
