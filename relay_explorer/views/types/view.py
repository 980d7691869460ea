"""The type-inference explorer's data: a recorded inference, step by step, beside the program's rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...ir.expr import Expr, Var
from ...ir.show import short_type, show_type
from ...ir.substitute import parts_of
from ...ir.types import TensorType, Type
from ...typing.constraint import Constraint
from ...typing.events import (
    Annotated,
    Bound,
    Ended,
    FunctionEntered,
    InferenceEvent,
    Merged,
    Moved,
    Named,
    Queued,
    Refused,
    Started,
    Typed,
    Unifying,
)
from ...typing.history import History, Link, step_expr
from ...typing.history import Step as Played
from ...typing.infer import Inference
from ...typing.narrate import label, refusal
from ...typing.variables import InferenceVariable
from ..format import Row, RowKind
from ..rows import ProgramRows, program_rows
from ..words import counted
from . import format as data
from .format import (
    ChainLink,
    Change,
    Conflict,
    FunctionRows,
    Mark,
    RelationBox,
    Side,
    Step,
    TypesView,
    TypeVariable,
)
from .sentences import Narrator
from .steps import annotated_run, mark_of, told

QUEUED, RUNNING, WAITING, DONE, REFUSED = 1, 2, 3, 4, 5
SHORT = 60
MAX_CHAIN_LENGTH = 8


def types_view(inference: Inference, title: str = "") -> TypesView:
    """Build the view of a recorded inference; a failed one ends at its conflict."""
    program = program_rows(inference.source, {})  # a row has a type only once a step has inferred it
    return _Builder(inference, program).view(title)


class _Builder:
    """Replays the recording, and collects the changes of each step."""

    def __init__(self, inference: Inference, program: ProgramRows) -> None:
        self.inference = inference
        self.program = program
        self.history = History(inference.events)
        self.now = History([])  # the replay as of the step being written
        self.variables: list[TypeVariable] = []
        self.by_expr: dict[Expr, int] = {}
        self.by_number: dict[int, int] = {}
        self.greek = 0
        self.relations: list[RelationBox] = []
        self.relation_numbers: dict[int, int] = {}
        self.mentions: dict[int, set[int]] = {}  # by root: the variables whose shown type names that class
        self.shown: dict[int, Type] = {}  # by variable: the type that it shows
        self.steps: list[Step] = []
        self.renumbered: dict[int, int] = {}
        self.row = -1
        self.members: dict[int, list[int]] = {}  # by root: the variables of the class
        self.narrator = Narrator(
            self.name, self.variable, self.show, self.known, self.classmates, self._formula
        )

    def view(self, title: str) -> TypesView:
        pending = told(self.history.steps)
        at = 0
        while at < len(pending):
            run = annotated_run(pending, at)
            self._write(pending[at : at + run])
            at += run
        rows = self.program.filled(lambda expr: self.by_expr.get(expr, -1))
        functions = tuple(_functions(rows))
        return TypesView(
            title=title or "type inference",
            summary=self._summary(),
            rows=rows,
            variables=tuple(self.variables),
            relations=tuple(self.relations),
            steps=tuple(self.steps),
            functions=functions,
            conflict=self._conflict(),
            start=self._start(),
        )

    # -- names

    def name(self, expr: Expr) -> str:
        return self.program.name(expr) or label(expr)

    def show(self, type_: Type) -> str:
        return show_type(self.now.resolve(type_), self._variable_name)

    def known(self, type_: Type) -> bool:
        return _known(self.now.resolve(type_)) == 2

    def _variable_name(self, type_: Type) -> str | None:
        if not isinstance(type_, InferenceVariable):
            return None
        return self.variables[self._numbered(self.now.root(type_.number))].name

    def variable(self, expr: Expr, type_: Type) -> str:
        """Return the name of the type variable of an expression."""
        index = self.by_expr.get(expr)
        return self.variables[index].name if index is not None else self.show(type_)

    def classmates(self, expr: Expr, type_: Type) -> list[str]:
        """Return the other variables in the equivalence class of an expression's type."""
        if not isinstance(type_, InferenceVariable):
            return []
        own = self.by_expr.get(expr)
        return [self.variables[m].name for m in self.members.get(self.now.root(type_.number), ()) if m != own]

    def _numbered(self, number: int) -> int:
        """Return the variable for the solver's variable `number`; one without an expression appears when it
        is first mentioned.
        """
        index = self.by_number.get(number)
        if index is None:
            index = self.by_number[number] = self._appear(self._next_greek(), self.row, "a type variable")
            self.members.setdefault(self.now.root(number), []).append(index)
        return index

    def _next_greek(self) -> str:
        letters = "αβγδεζηθικλμνξοπρστυφχψω"
        index, turn = self.greek % len(letters), self.greek // len(letters)
        self.greek += 1
        return letters[index] + (
            str(turn).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")) if turn else ""
        )

    # -- variables and relations

    def _appear(self, name: str, row: int, what: str) -> int:
        self.variables.append(TypeVariable(name, row, what))
        self.changes.append(data.Appears("v", len(self.variables) - 1))
        return len(self.variables) - 1

    def _type_expr(self, expr: Expr, type_: Type) -> None:
        if expr in self.by_expr:
            return
        row = self.program.row(expr)
        name = self.name(expr)
        if isinstance(type_, InferenceVariable):
            first = self.by_number.get(type_.number)
            variable = self._appear(self._next_greek(), row, name)
            self.members.setdefault(self.now.root(type_.number), []).append(variable)
            if first is None:
                self.by_number[type_.number] = variable
            else:
                self.changes.append(data.Unified("u", first, variable))
                type_known = self.now.known.get(self.now.root(type_.number))
                if type_known is not None:
                    self._show_type(variable, type_known)
        else:
            variable = self._appear(name if isinstance(expr, Var) else self._next_greek(), row, name)
            self._show_type(variable, type_)
        self.by_expr[expr] = variable

    def _show_type(self, variable: int, type_: Type) -> None:
        """Show the known type of a variable's class, and remember which classes the text mentions."""
        self.shown[variable] = type_
        resolved = self.now.resolve(type_)
        short, full = short_type(resolved, self._variable_name), show_type(resolved, self._variable_name)
        self.changes.append(data.Typed("t", variable, short, full, _known(resolved)))
        if resolved.__class__ is not TensorType:
            for root in _roots(resolved):
                self.mentions.setdefault(self.now.root(root), set()).add(variable)

    def _refresh(self, root: int) -> None:
        """Show the types that mention the class `root` again, because it has changed."""
        for variable in sorted(self.mentions.pop(root, ())):
            self._show_type(variable, self.shown[variable])

    def _relation(self, constraint: Constraint) -> int:
        number = self.relation_numbers.get(constraint.number)
        if number is not None:
            return number
        ends: list[int] = []
        for arg, variable in self._operands(constraint):
            if variable is None and isinstance(arg, InferenceVariable):
                variable = self._numbered(arg.number)
            if variable is not None and variable not in ends:
                ends.append(variable)
        number = self.relation_numbers[constraint.number] = len(self.relations)
        name = getattr(getattr(constraint.call, "op", None), "name", None) or constraint.relation.name
        text = f"{name}: {self._formula(constraint)}"
        self.relations.append(RelationBox(name, self.program.row(constraint.call), text, tuple(ends)))
        self.changes.append(data.Moved("r", number, 0))
        return number

    def _operands(self, constraint: Constraint) -> Iterator[tuple[Type, int | None]]:
        """Iterate over the types that a relation relates, with the variables of the expressions that have
        them.
        """
        parts = getattr(constraint.call, "args", ()) or (getattr(constraint.call, "tuple_value", None),)
        for position, arg in enumerate(constraint.args):
            expr = parts[position] if position < len(parts) else constraint.call
            yield arg, self.by_expr.get(expr) if expr is not None else None

    def _formula(self, constraint: Constraint) -> str:
        names = [
            short_type(self.now.resolve(arg), self._variable_name)
            if variable is None
            else self.variables[variable].name
            for arg, variable in self._operands(constraint)
        ]
        formula = constraint.relation.formula.replace("{out}", names[-1])
        for position, text in enumerate(names[:-1]):
            formula = formula.replace(f"{{{position}}}", text)
        return formula

    # -- steps

    def _write(self, played: list[Played]) -> None:
        """Add a step of the view: one of the recording, or several annotated parameters."""
        self.changes: list[Change] = []
        first = played[0]
        place = step_expr(first)
        self.row = self.program.row(place) if place is not None else -1
        before = self.narrator.before(first)
        for one in played:
            self.renumbered[one.index] = len(self.steps)
            for event in one.events:
                self._event(event)
        say = self.narrator.parameters(played) if len(played) > 1 else self.narrator.say(first, before)
        because = tuple(
            dict.fromkeys(self.renumbered[b] for one in played for b in one.because if b in self.renumbered)
        )
        self.steps.append(Step(mark_of(first), self.row, say, because, tuple(self.changes)))

    def _event(self, event: InferenceEvent) -> None:
        self.now.add(event)
        match event:
            case Typed():
                self._type_expr(event.expr, event.type)
            case Named():
                if event.value in self.by_expr:
                    self.by_expr[event.var] = self.by_expr[event.value]
            case Queued():
                number = self._relation(event.relation)
                self.changes += (data.Moved("r", number, QUEUED), data.Queued("q", number))
            case Started():
                self.changes.append(data.Moved("r", self._relation(event.relation), RUNNING))
            case Ended():
                number = self._relation(event.relation)
                self.changes.append(data.Popped("p", number))
                self.changes.append(data.Moved("r", number, DONE if event.done else WAITING))
                if not event.done:
                    self.changes.append(data.Queued("q", number))
            case Moved():
                number = self._relation(event.relation)
                self.changes += (data.Moved("r", number, QUEUED), data.Requeued("f", number))
            case Bound():
                variable = self._numbered(event.root)
                self._show_type(variable, event.type)
                self._refresh(event.root)
            case Merged():
                winner, loser = self._numbered(event.winner), self._numbered(event.loser)
                self.changes.append(data.Unified("u", winner, loser))
                self.members.setdefault(event.winner, []).extend(self.members.pop(event.loser, []))
                mentioned = self.mentions.pop(event.loser, set())
                self.mentions.setdefault(event.winner, set()).update(mentioned)
                known_type = self.now.known.get(event.winner)
                if known_type is not None:
                    self._show_type(winner, known_type)
                self._refresh(event.winner)
            case Refused():
                if event.relation is not None:
                    number = self._relation(event.relation)
                    if isinstance(self.now.steps[-1].main, Started):  # it was run, so it is not in the queue
                        self.changes.append(data.Popped("p", number))
                    self.changes.append(data.Moved("r", number, REFUSED))
            case FunctionEntered() | Unifying() | Annotated():
                pass

    # -- the whole

    def _conflict(self) -> Conflict | None:
        event = self.inference.events[-1] if self.inference.events else None
        if not isinstance(event, Refused):
            return None
        sentence, tries = refusal(event)
        row = self.program.row(event.at) if event.at is not None else -1
        left = self._side(event.left, event.left_expr)
        right = self._side(event.right, event.right_expr)
        return Conflict(len(self.steps) - 1, row, sentence, left, right, tuple((_plain(t),) for t in tries))

    def _side(self, type_: Type | None, expr: Expr | None) -> Side:
        links: list[Link] = self.history.chain(expr, MAX_CHAIN_LENGTH) if expr is not None else []
        chain = tuple(
            ChainLink(
                self.renumbered.get(k.step, 0),
                self.program.row(k.expr) if k.expr is not None else -1,
                k.sentence,
            )
            for k in links
        )
        return Side(self.show(type_) if type_ is not None else "", chain)

    def _start(self) -> int | None:
        """Return the step that is shown first: one in which a waiting relation can continue, because that
        explains the most. In a short inference it is the last such step, by which most is known; in a long
        one, the first. None is the last step: the conflict, if there is one.
        """
        if not self.inference.succeeded:
            return None
        end = -1 if len(self.steps) <= SHORT else 0
        for mark in (Mark.REQUEUE, Mark.SOLVE):
            numbers = [number for number, step in enumerate(self.steps) if step.mark == mark]
            if numbers:
                return numbers[end]
        return None

    def _summary(self) -> str:
        things = (len(self.variables), "type"), (len(self.relations), "relation"), (len(self.steps), "step")
        counts = ", ".join(counted(number, noun) for number, noun in things)
        if self.inference.succeeded:
            return f"The program is well typed: {counts}."
        message = getattr(self.inference.error, "message", "")
        return f"The program is rejected: {message}. {counts[:1].upper()}{counts[1:]}."


def _plain(text: str) -> str:
    """Return a text as a template without arguments."""
    return text.replace("{", "{{").replace("}", "}}")


def _known(type_: Type) -> int:
    """Return how much of a type is known: 0 for nothing, 1 for a part, 2 for everything."""
    if type_.__class__ is TensorType:
        return 2
    if isinstance(type_, InferenceVariable):
        return 0
    return 1 if _roots(type_) else 2


def _roots(type_: Type) -> list[int]:
    roots: list[int] = []
    pending: list[Type] = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, InferenceVariable):
            roots.append(current.number)
        elif current.__class__ is not TensorType:
            pending.extend(parts_of(current))
    return roots


def _functions(rows: Iterable[Row]) -> Iterable[FunctionRows]:
    for index, row in enumerate(rows):
        if row.kind == RowKind.FUNCTION and row.depth == 0:
            name = next((t.text for t in row.tokens if t.text.startswith("@")), row.text)
            yield FunctionRows(name, index, row.end if row.end >= 0 else index)
