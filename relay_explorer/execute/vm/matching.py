"""Compile a match into switches over constructors that examine each part of the value at most once per path.

A state consists of the clauses that are still possible and of the constructors that are known, by their
position in the value. In a state, the first clause determines which position to examine next: that of its
first constructor that is not known yet. Equal states are shared, so the result is a graph. It can still grow
with the product of the clauses; beyond MAX_STATES states, clauses are tried one after the other instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...ir.adt import Constructor, Pattern, PatternConstructor, PatternTuple, PatternVar
from ...ir.expr import Var
from ...ir.lazy_dataclass import dataclass

MAX_STATES = 500

Path = tuple[int, ...]  # from the value, the fields that lead to a part of it
Rows = tuple[int, ...]  # numbers of clauses
Facts = frozenset[tuple[Path, str]]
State = tuple[Rows, Facts]


@dataclass(frozen=True)
class Look:
    """Examines the part at `path`, of the data type `type`: `cases` has the next state for each constructor,
    `otherwise` that for all others, if there are any.
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
    """Build the decision automaton of a match: return its first state, and the action in each, with every
    state before those that follow it. `constructors` are those of each data type.
    """
    tests = [dict(_tests(pattern)) for pattern in patterns]
    start: State = (tuple(range(len(patterns))), frozenset())
    automaton: dict[State, Look | Chosen] = {}
    pending = [start]
    while pending:
        state = pending.pop()
        if state in automaton:
            continue
        decision = _decision(state, tests, constructors, len(automaton) > MAX_STATES)
        automaton[state] = decision
        if isinstance(decision, Look):
            if decision.otherwise is not None:
                pending.append(decision.otherwise)
            pending += [after for _, after in reversed(decision.cases)]
    return start, {state: automaton[state] for state in _ordered(start, automaton)}


def _ordered(start: State, automaton: Mapping[State, Look | Chosen]) -> list[State]:
    """Sort the states so that all jumps go forward: in reverse post-order."""
    done: list[State] = []
    visited: set[State] = set()
    stack = [(start, False)]
    while stack:
        state, ready = stack.pop()
        if ready:
            done.append(state)
        elif state not in visited:
            visited.add(state)
            stack.append((state, True))
            decision = automaton[state]
            if isinstance(decision, Look):
                # The state pushed last is visited first, and so comes last: push the first case first.
                stack += [(after, False) for _, after in decision.cases]
                if decision.otherwise is not None:
                    stack.append((decision.otherwise, False))
    done.reverse()
    return done


def _tests(pattern: Pattern) -> Iterator[tuple[Path, Constructor]]:
    """Iterate over the constructors that a pattern tests for, from left to right, the outer ones first."""
    pending: list[tuple[Pattern, Path]] = [(pattern, ())]
    while pending:
        part, path = pending.pop()
        if isinstance(part, PatternConstructor):
            yield path, part.constructor
        if isinstance(part, (PatternConstructor, PatternTuple)):
            pending += [(inner, (*path, k)) for k, inner in reversed(list(enumerate(part.patterns)))]


def variables(pattern: Pattern) -> Iterator[tuple[Path, Var]]:
    """Iterate over the variables that a pattern binds, with their paths in the value."""
    pending: list[tuple[Pattern, Path]] = [(pattern, ())]
    while pending:
        part, path = pending.pop()
        if isinstance(part, PatternVar):
            yield path, part.var
        elif isinstance(part, (PatternConstructor, PatternTuple)):
            pending += [(inner, (*path, k)) for k, inner in reversed(list(enumerate(part.patterns)))]


def _decision(
    state: State,
    tests: Sequence[Mapping[Path, Constructor]],
    constructors: Mapping[str, Sequence[str]],
    one_by_one: bool,
) -> Look | Chosen:
    rows, facts = state
    known_facts = dict(facts)
    if not rows:
        return Chosen(None)
    first = tests[rows[0]]
    path = next((path for path in first if path not in known_facts), None)
    if path is None:
        return Chosen(rows[0])
    header = first[path].belong_to.name_hint
    if one_by_one:
        name = first[path].name_hint
        yes: State = ((rows[0], *rows[1:]), facts | {(path, name)})
        return Look(path, header, ((name, yes),), (rows[1:], frozenset()))
    named = dict.fromkeys(tests[row][path].name_hint for row in rows if path in tests[row])
    cases = []
    for name in named:
        left = tuple([row for row in rows if path not in tests[row] or tests[row][path].name_hint == name])
        cases.append((name, _state(left, facts | {(path, name)}, tests)))
    others = tuple([row for row in rows if path not in tests[row]])
    total = all(name in named for name in constructors.get(header, ("?",)))
    return Look(path, header, tuple(cases), None if total else _state(others, facts, tests))


def _state(rows: Rows, facts: Facts, tests: Sequence[Mapping[Path, Constructor]]) -> State:
    """Normalize a state: drop facts that no clause tests, and clauses after one that is known to match."""
    known_facts = dict(facts)
    for number, row in enumerate(rows):
        if all(known_facts.get(path) == constructor.name_hint for path, constructor in tests[row].items()):
            rows = rows[: number + 1]
            break
    tested = {path for row in rows for path in tests[row]}
    return rows, frozenset([fact for fact in facts if fact[0] in tested])
