"""Random programs that read nested values, for the exercise `vm_instruction`: matches with nested patterns,
and fields of fields.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from ...ir.module import IRModule
from ...text import parse

Pattern = tuple["Pattern", "Pattern"] | str  # Two(…, …), or a word: "_", "one", "item"

_HEAD = """
type Item { One(int32), Two(Item, Item) }

def @count(%i: Item) -> int32 {
  match (%i) { One(%n) => { %n }, Two(%a, %b) => { add(@count(%a), @count(%b)) } }
}

"""
MAX_CLAUSES, MAX_TERMS = 3, 3
Path = tuple[int, int, int]
_PAIR = "(int32, int32)"
_FOUR = f"({_PAIR}, {_PAIR})"


class Clause(NamedTuple):
    """A pattern, and the nested fields of `%p` that are added to the values that it binds."""

    pattern: Pattern
    fields: tuple[Path, ...]


class Sample(NamedTuple):
    """A program: its clauses, what is added if none matches, whether an `if` chooses a field, and fields of
    a named part of `%p`.
    """

    clauses: tuple[Clause, ...]
    fields: tuple[Path, ...]
    choice: bool = False
    shared: tuple[tuple[int, int], ...] = ()

    def text(self) -> str:
        """Write the program in Relay."""
        clauses = [_clause(clause) for clause in self.clauses] + [f"_ => {{ {_added('', self.fields)} }}"]
        chosen = "if (less(%p.0.0.0, 3)) { %p.1.0 } else { %p.0.1 }"
        body = f"match (%t) {{ {', '.join(clauses)} }}" if self.clauses else _added("", self.fields)
        lets = []
        if self.choice:
            lets += [f"let %m = {body}", f"let %c = {chosen}"]
            body = "add(%c.0, %m)"
        if self.shared:
            terms = " ".join(f"%q.{a}.{b}" for a, b in self.shared)
            lets = ["let %q = %p.1", f"let %s = {_added(terms, ())}", *lets]
            body = f"add(%s, {body})"
        body = "; ".join([*lets, body])
        return f"{_HEAD}def @main(%t: Item, %p: ({_FOUR}, {_FOUR})) -> int32 {{ {body} }}"

    def module(self) -> IRModule:
        return parse(self.text(), "case")

    def smaller(self) -> Iterator[Sample]:
        """Yield simpler samples, the simplest first."""
        for at in range(len(self.clauses)):
            yield self._replace(clauses=self.clauses[:at] + self.clauses[at + 1 :])
        if self.choice:
            yield self._replace(choice=False)
        for at in range(len(self.shared)):
            yield self._replace(shared=self.shared[:at] + self.shared[at + 1 :])
        for at in range(len(self.fields)):
            yield self._replace(fields=self.fields[:at] + self.fields[at + 1 :])
        for at, clause in enumerate(self.clauses):
            others = [clause._replace(pattern=p) for p in _simpler(clause.pattern)]
            for k in range(len(clause.fields)):
                others.append(clause._replace(fields=clause.fields[:k] + clause.fields[k + 1 :]))
            for other in others:
                yield self._replace(clauses=(*self.clauses[:at], other, *self.clauses[at + 1 :]))


def _clause(clause: Clause) -> str:
    names: list[tuple[str, str]] = []
    pattern = _pattern(clause.pattern, names)
    terms = [f"%{name}" if kind == "one" else f"@count(%{name})" for name, kind in names]
    return f"{pattern} => {{ {_added(' '.join(terms), clause.fields)} }}"


def _pattern(pattern: Pattern, names: list[tuple[str, str]]) -> str:
    if isinstance(pattern, tuple):
        return f"Two({_pattern(pattern[0], names)}, {_pattern(pattern[1], names)})"
    if pattern == "_":
        return "_"
    names.append((f"v{len(names)}", pattern))
    return f"One(%v{len(names) - 1})" if pattern == "one" else f"%v{len(names) - 1}"


def _added(terms: str, fields: tuple[Path, ...]) -> str:
    """Write the sum of all terms."""
    parts = [*terms.split(), *[f"%p.{a}.{b}.{c}" for a, b, c in fields]]
    total = parts[0] if parts else "1"
    for part in parts[1:]:
        total = f"add({total}, {part})"
    return total


def _simpler(pattern: Pattern) -> Iterator[Pattern]:
    if isinstance(pattern, tuple):
        left, right = pattern
        yield from ("_", left, right)
        yield from ((one, right) for one in _simpler(left))
        yield from ((left, one) for one in _simpler(right))
    elif pattern != "_":
        yield "_"


def sample(rng: random.Random, size: int, *kinds: str) -> Sample:
    """Generate a random sample, larger for a larger size. `kinds`: "match", "choice", "shared"."""
    clauses = [Clause(_made(rng, 1 + size // 3), _fields(rng)) for _ in range(rng.randint(1, MAX_CLAUSES))]
    shared = tuple([(rng.randint(0, 1), rng.randint(0, 1)) for _ in range(rng.randint(2, MAX_TERMS))])
    return Sample(
        tuple(clauses) if "match" in kinds else (),
        _fields(rng),
        "choice" in kinds and rng.random() < 0.7,
        shared if "shared" in kinds and rng.random() < 0.7 else (),
    )


def _made(rng: random.Random, depth: int) -> Pattern:
    if depth > 0 and rng.random() < 0.75:
        return _made(rng, depth - 1), _made(rng, depth - 1)
    return rng.choice(("_", "one", "item", "item"))


def _fields(rng: random.Random) -> tuple[Path, ...]:
    def bit() -> int:
        return rng.randint(0, 1)

    return tuple([(bit(), bit(), bit()) for _ in range(rng.randint(0, MAX_TERMS))])


Tree = tuple["Tree", "Tree"] | int


def trees(rng: random.Random, count: int) -> list[Tree]:
    """Generate items to read: integers, and pairs of items."""

    def tree(depth: int) -> Tree:
        return (tree(depth - 1), tree(depth - 1)) if depth and rng.random() < 0.75 else rng.randint(1, 50)

    return [tree(k % 5) for k in range(count)]
