"""A recorded inference that figures draw: the one that the explorer on the book's cover replays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import relay_explorer

PROGRAM = (
    "def @main(%x: Tensor[(3, 4), float32]) {",
    "  let %f = fn (%a) { add(tanh(%a), %a) };",
    "  %f(exp(%x))",
    "}",
)
KNOWN_IN_PART, KNOWN = 1, 2  # the view format's states of a type
DONE = 4  # the state of a solved relation


@cache
def view() -> dict[str, Any]:
    """Return the explorer's data, so that figures and explorers use the same names for variables."""
    return relay_explorer.explore("\n".join(PROGRAM), view="types").to_dict()


def word(index: int) -> str:
    """Return one of the view's strings."""
    return str(view()["strings"][index])


@dataclass
class Relation:
    """A type relation: its operator, and the numbers of the variables that it connects, the output last."""

    operator: str
    variables: list[int]


@dataclass
class Moment:
    """What is known at one time: a forest of classes, and the types of its roots."""

    parent: dict[int, int] = field(default_factory=dict)
    known: dict[int, str] = field(default_factory=dict)
    functions: set[int] = field(default_factory=set)

    def apply(self, change: list[Any]) -> None:
        match change:
            case ["u", winner, loser]:
                self.parent[self.root(loser)] = self.root(winner)
            case ["t", variable, _, full, how] if how >= KNOWN_IN_PART and word(full)[:2] == "fn":
                self.functions.add(variable)
            case ["t", variable, short, _, how] if how == KNOWN:
                self.known[self.root(variable)] = word(short)

    def root(self, number: int) -> int:
        while number in self.parent:
            number = self.parent[number]
        return number

    def classes(self) -> list[list[int]]:
        """Return the classes of the variables that stand for tensor types, root first, in program order."""
        groups: dict[int, list[int]] = {}
        for number in variables():
            if number not in self.functions:
                root = self.root(number)
                groups.setdefault(root, [root]).append(number)
        return [list(dict.fromkeys(members)) for members in groups.values()]


def variables() -> dict[int, tuple[str, str]]:
    """Return every type variable: its Greek letter, and the expression whose type it is."""
    rows = enumerate(view()["vars"])
    return {i: (word(name), word(what)) for i, (name, _, what) in rows if word(name) != word(what)}


def owner(number: int) -> str:
    """Return whose type a variable is: `%a`, the operator of an intermediate result, or the last call."""
    operators = {relation.variables[-1]: relation.operator for relation in relations()}
    return operators.get(number, variables()[number][1])


def relations() -> list[Relation]:
    """Return all relations, in the order in which they entered the queue."""
    return [Relation(word(name), list(connected)) for name, _, _, connected in view()["rels"]]


def moments() -> Iterator[tuple[str | None, Moment]]:
    """Yield the state after each step, one object that is updated, and the operator whose relation the step
    solved.
    """
    moment = Moment()
    for step in view()["steps"]:
        done = None
        for change in step[4]:
            moment.apply(change)
            if change[0] == "r" and change[2] == DONE:
                done = relations()[change[1]].operator
        yield done, moment


def before_solving() -> Moment:
    """Return what is known once all relations have been generated and none has run."""
    last = Moment()
    for step in view()["steps"]:
        if any(change[0] == "r" and change[2] >= KNOWN for change in step[4]):
            break
        for change in step[4]:
            last.apply(change)
    return last
