"""A real inference for the figures to draw: the solver's own record of a small program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from relay_explorer.ir import Call, Expr, Function, IRModule, Let, TensorType, Type, Var, show_type, var
from relay_explorer.ops.binary import add
from relay_explorer.ops.unary import exp, tanh
from relay_explorer.typing import record
from relay_explorer.typing.events import Bound, Event, Merged, Queued, Started, Typed
from relay_explorer.typing.narrate import label
from relay_explorer.typing.solver import Constraint
from relay_explorer.typing.unknown import Unknown

PROGRAM = (
    "def @main(%x: Tensor[(3, 4), float32]) {",
    "  let %f = fn (%a) { add(tanh(%a), %a) };",
    "  %f(exp(%x))",
    "}",
)


def program() -> IRModule:
    """The program that `PROGRAM` prints."""
    x, a, f = var("x", TensorType((3, 4), "float32")), var("a"), var("f")
    body = Let(f, Function([a], add(tanh(a), a)), Call(f, [exp(x)]))
    return IRModule.from_expr(Function([x], body))


@cache
def events() -> tuple[Event, ...]:
    return tuple(record(program()).events)


@dataclass
class Moment:
    """What was known at one time: a forest of classes, what the roots are, whose type each variable is."""

    parent: dict[int, int] = field(default_factory=dict)
    known: dict[int, Type] = field(default_factory=dict)
    whose: dict[int, str] = field(default_factory=dict)
    relations: list[Constraint] = field(default_factory=list)

    def apply(self, event: Event) -> None:
        match event:
            case Typed(expr, Unknown() as variable):
                self.whose.setdefault(variable.number, _name(expr))
            case Queued(relation):
                self.relations.append(relation)
                self._owner(relation)
            case Merged(winner, loser):
                self.parent[loser] = winner
            case Bound(root, type_):
                self.known[root] = type_

    def _owner(self, relation: Constraint) -> None:
        output = relation.args[-1]
        if isinstance(output, Unknown):
            self.whose.setdefault(output.number, _name(relation.call))

    def letters(self) -> dict[int, str]:
        """A Greek letter for each variable of a tensor, in the program's order; the result comes last."""
        functions = {n for n, t in self.known.items() if not isinstance(t, TensorType)}
        named = [n for n in self.whose if n not in functions]
        others = sorted({*self.parent.values(), *self.parent} - {*named, *functions})
        return dict(zip((*named, *others), "αβγδεζηθ", strict=False))

    def name(self, number: int) -> str:
        """Whose type the variable is: `%a`, `tanh`, `result`."""
        return self.whose.get(number, "result")

    def root(self, number: int) -> int:
        while number in self.parent:
            number = self.parent[number]
        return number

    def classes(self) -> list[list[int]]:
        """The classes of tensors' variables, root first; functions' types are left out."""
        numbers = sorted({*self.whose, *self.parent, *self.known})
        found: dict[int, list[int]] = {}
        for number in numbers:
            found.setdefault(self.root(number), []).append(number)
        tensors = {r: m for r, m in found.items() if isinstance(self.known.get(r), TensorType | None)}
        letters = self.letters()
        order = sorted(tensors, key=lambda root: min(letters[n] for n in tensors[root]))
        return [[root, *(n for n in tensors[root] if n != root)] for root in order]


def _name(expr: Expr) -> str:
    return label(expr) if isinstance(expr, Var) else label(expr).removesuffix("(…)")


def moments() -> Iterator[tuple[Event, Moment]]:
    """The state after each event; it is one object that changes."""
    moment = Moment()
    for event in events():
        moment.apply(event)
        yield event, moment


def before_solving() -> Moment:
    """What was known when all relations had been written down and none had run."""
    last = Moment()
    for event in events():
        if isinstance(event, Started):
            break
        last.apply(event)
    return last


def shape(type_: Type) -> str:
    """A tensor's shape, as its type prints it."""
    return show_type(type_).removeprefix("Tensor[").split("), ")[0] + ")"


__all__ = ["PROGRAM", "Moment", "before_solving", "events", "moments", "program", "shape"]
