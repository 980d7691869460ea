"""A match as switches over constructors, each part of the value looked at no oftener than it must be.

A state is the clauses that are still possible, and the constructors that are known, by place in the value. In
a state, the first clause says which place to look at next: the first of its constructors that is not known
yet. States that know the same are one, so that what is made is a graph; it can still grow with the product of
the clauses, and beyond MOST_STATES clauses are tried one after the other instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...ir.adt import Constructor, Pattern, PatternConstructor, PatternTuple, PatternVar
from ...ir.expr import Var
from ...ir.lazy_dataclass import dataclass

MOST_STATES = 500

Path = tuple[int, ...]  # from the value, the fields that lead to a part of it
Rows = tuple[int, ...]  # numbers of clauses
Facts = frozenset[tuple[Path, str]]
State = tuple[Rows, Facts]


@dataclass(frozen=True)
class Look:
    """Looks at the part at `path`, of the data type `type`: which state follows for each constructor, and for
    all others, if there are any.
    """

    path: Path
    type: str
    cases: tuple[tuple[str, State], ...]
    otherwise: State | None


@dataclass(frozen=True)
class Chosen:
    """The clause that fits; None where none does."""

    clause: int | None


def decisions(
    patterns: Sequence[Pattern], constructors: Mapping[str, Sequence[str]]
) -> tuple[State, dict[State, Look | Chosen]]:
    """The state in which a match begins, and what to do in each, in an order in which a state comes before
    those that follow it. `constructors` are those of each data type.
    """
    wanted = [dict(_tests(pattern)) for pattern in patterns]
    start: State = (tuple(range(len(patterns))), frozenset())
    found: dict[State, Look | Chosen] = {}
    pending = [start]
    while pending:
        state = pending.pop()
        if state in found:
            continue
        made = _decision(state, wanted, constructors, len(found) > MOST_STATES)
        found[state] = made
        if isinstance(made, Look):
            if made.otherwise is not None:
                pending.append(made.otherwise)
            pending += [after for _, after in reversed(made.cases)]
    return start, {state: found[state] for state in _ordered(start, found)}


def _ordered(start: State, found: Mapping[State, Look | Chosen]) -> list[State]:
    """The states so that all jumps go forward: reversed post-order."""
    done: list[State] = []
    seen: set[State] = set()
    stack = [(start, False)]
    while stack:
        state, ready = stack.pop()
        if ready:
            done.append(state)
        elif state not in seen:
            seen.add(state)
            stack.append((state, True))
            made = found[state]
            if isinstance(made, Look):
                # What is pushed last is visited first, and so comes last: the first case shall come first.
                stack += [(after, False) for _, after in made.cases]
                if made.otherwise is not None:
                    stack.append((made.otherwise, False))
    done.reverse()
    return done


def _tests(pattern: Pattern) -> Iterator[tuple[Path, Constructor]]:
    """The constructors that a pattern asks for, from left to right, the outer ones first."""
    pending: list[tuple[Pattern, Path]] = [(pattern, ())]
    while pending:
        part, path = pending.pop()
        if isinstance(part, PatternConstructor):
            yield path, part.constructor
        if isinstance(part, (PatternConstructor, PatternTuple)):
            pending += [(inner, (*path, k)) for k, inner in reversed(list(enumerate(part.patterns)))]


def variables(pattern: Pattern) -> Iterator[tuple[Path, Var]]:
    """The variables that a pattern binds, and where in the value."""
    pending: list[tuple[Pattern, Path]] = [(pattern, ())]
    while pending:
        part, path = pending.pop()
        if isinstance(part, PatternVar):
            yield path, part.var
        elif isinstance(part, (PatternConstructor, PatternTuple)):
            pending += [(inner, (*path, k)) for k, inner in reversed(list(enumerate(part.patterns)))]


def _decision(
    state: State,
    wanted: Sequence[Mapping[Path, Constructor]],
    constructors: Mapping[str, Sequence[str]],
    one_by_one: bool,
) -> Look | Chosen:
    rows, facts = state
    known = dict(facts)
    if not rows:
        return Chosen(None)
    first = wanted[rows[0]]
    path = next((path for path in first if path not in known), None)
    if path is None:
        return Chosen(rows[0])
    header = first[path].belong_to.name_hint
    if one_by_one:
        name = first[path].name_hint
        yes: State = ((rows[0], *rows[1:]), facts | {(path, name)})
        return Look(path, header, ((name, yes),), (rows[1:], frozenset()))
    named = dict.fromkeys(wanted[row][path].name_hint for row in rows if path in wanted[row])
    cases = []
    for name in named:
        left = tuple([row for row in rows if path not in wanted[row] or wanted[row][path].name_hint == name])
        cases.append((name, _state(left, facts | {(path, name)}, wanted)))
    others = tuple([row for row in rows if path not in wanted[row]])
    total = all(name in named for name in constructors.get(header, ("?",)))
    return Look(path, header, tuple(cases), None if total else _state(others, facts, wanted))


def _state(rows: Rows, facts: Facts, wanted: Sequence[Mapping[Path, Constructor]]) -> State:
    """A state without what makes no difference: facts that no clause asks for, and clauses after one that is
    known to fit.
    """
    known = dict(facts)
    for number, row in enumerate(rows):
        if all(known.get(path) == constructor.name_hint for path, constructor in wanted[row].items()):
            rows = rows[: number + 1]
            break
    asked = {path for row in rows for path in wanted[row]}
    return rows, frozenset([fact for fact in facts if fact[0] in asked])
