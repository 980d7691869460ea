"""The checks of the exercise `warp_access`: the memory sectors that a warp fetches, the cycles that
a shared-memory access takes, and how long the rows of a tile should be.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any as Anything
from typing import NamedTuple

from ...ir.show import counted
from ..answer_values import integer, repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import BANKS, SECTOR, WARP, WORD, Place, best_length, block_access, cycles, sectors, strided, worst


class Access(NamedTuple):
    """One access of a warp: the addresses of its threads, of elements of `size` bytes."""

    addresses: tuple[int, ...]
    size: int = 4


class Tile(NamedTuple):
    """A tile in shared memory, that many columns wide, and the accesses to it."""

    columns: int
    accesses: tuple[tuple[Place, ...], ...]


# -- sectors


def _judge_sectors(answer: Anything, case: Access) -> Failure | None:
    right = sectors(case.addresses, case.size)
    description = f"transactions({_list(case.addresses)}, {case.size})"
    outcome = limited(CASE_SECONDS, answer, list(case.addresses), case.size)
    if outcome.error is not None:
        return crashed(description, outcome, str(right))
    if integer(outcome.value) == right:
        return None
    hint = sectors_hint(outcome.value, case)
    return Failure(description, str(right), repr_of(outcome.value), hint, printed=outcome.printed)


def sectors_hint(value: object, case: Access) -> str:
    """Explain what is wrong with an answer to `transactions`."""
    addresses, size = case
    if (value := integer(value)) is None:
        return "Return the number of sectors, an integer."
    if not addresses:
        return "No thread is active, so nothing is fetched."
    low, high = min(addresses), max(addresses)
    more = value > sectors(addresses, size)
    guesses = [
        (len({a // (SECTOR * WORD) for a in addresses}), _BYTES),
        (len({a // size // SECTOR for a in addresses}), _BYTES),
        ((high - low) // SECTOR + 1 if more else None, _BETWEEN),
        (len({(a - low) // SECTOR for a in addresses}), _BEGIN),
        (len({a // size // 8 for a in addresses}), _EIGHT),
        (-(-len(set(addresses)) * size // SECTOR), _TOUCHED),
        (len(set(addresses)), _SHARED),
        (len(addresses), _SHARED),
    ]
    last = "For each address compute its sector, and count the different ones."
    return next((hint for guess, hint in guesses if guess == value), last)


_BYTES = "Addresses are in bytes, and a sector has 32 bytes, not 32 elements."
_BETWEEN = "Sectors between the lowest and the highest address that no thread touches are not fetched."
_BEGIN = "Sectors begin at multiples of 32 bytes, wherever a warp begins to read."
_EIGHT = "A sector has as many elements as fit in 32 bytes: eight elements of four bytes."
_TOUCHED = "Count the sectors that are touched: the bytes that are accessed may lie in more of them."
_SHARED = "Threads whose addresses lie in the same sector share it."


# -- banks


def _judge_cycles(answer: Anything, case: Access) -> Failure | None:
    right = cycles(case.addresses)
    description = f"conflicts({_list(case.addresses)})"
    outcome = limited(CASE_SECONDS, answer, list(case.addresses))
    if outcome.error is not None:
        return crashed(description, outcome, str(right), hint="" if case.addresses else cycles_hint(0, ()))
    if integer(outcome.value) == right:
        return None
    hint = cycles_hint(outcome.value, case.addresses)
    return Failure(description, str(right), repr_of(outcome.value), hint, printed=outcome.printed)


def cycles_hint(value: object, addresses: Sequence[int]) -> str:
    """Explain what is wrong with an answer to `conflicts`."""
    if (value := integer(value)) is None:
        return "Return the number of cycles of the busiest bank, an integer."
    if not addresses:
        return "No thread is active, so no bank is accessed: 0."
    words = [a // WORD for a in addresses]
    busiest = _most(word % BANKS for word in set(words))
    guesses = [
        (_most(word % BANKS for word in words), _SAME_WORD),
        (_most(a % BANKS for a in set(addresses)), _WORDS),
        (busiest - 1, "Count all cycles, including the first: without a conflict the answer is 1."),
        (len({word % BANKS for word in words}), _ASKED),
    ]
    last = (
        "For each bank, count the different words that threads access in it; the largest count is the answer."
    )
    return next((hint for guess, hint in guesses if guess == value), last)


_SAME_WORD = "A bank serves all threads that access the same word together. Count different words."
_WORDS = "Addresses are in bytes; a bank serves words of four bytes."
_ASKED = "That is the number of banks that are accessed. How many words does the busiest of them serve?"


def _most(keys: Iterable[int]) -> int:
    return max(Counter(keys).values())


# -- rows


def _judge_rows(answer: Anything, case: Tile) -> Failure | None:
    right = best_length(case.columns, case.accesses)
    most = worst(right, case.accesses)
    shown = "\n".join(f"  {_list(places)}" for places in case.accesses)
    description = f"row_length({case.columns}, accesses), with the accesses\n{shown}"
    expected = f"{right}: at most {counted(most, 'cycle')}"
    outcome = limited(CASE_SECONDS, answer, case.columns, [list(places) for places in case.accesses])
    if outcome.error is not None:
        return crashed(description, outcome, expected)
    value = outcome.value
    length = integer(value)
    if length == right:
        return None
    got = repr_of(value)
    if length is not None and length >= case.columns:
        got += f": {counted(worst(length, case.accesses), 'cycle')}"
    return Failure(description, expected, got, rows_hint(value, case), printed=outcome.printed)


def rows_hint(value: object, case: Tile) -> str:
    """Explain what is wrong with an answer to `row_length`."""
    columns, accesses = case
    if (value := integer(value)) is None:
        return "Return the length of a row in words, an integer."
    if value < columns:
        return f"The tile has {columns} columns: in shorter rows, columns would overlap."
    right = best_length(columns, accesses)
    if worst(value, accesses) == worst(right, accesses):
        return "A shorter row is just as fast, and takes less memory."
    if value == columns + 1:
        return "One extra word is right for columns as long as a warp. Try all lengths, and count."
    if len(accesses) > 1 and any(value == best_length(columns, [one]) for one in accesses):
        return "That is best for one of the accesses. The slowest of them counts."
    if value >= columns + BANKS:
        return "The pattern of banks repeats after 32 words, so a shorter row does the same as a longer one."
    return "Try all lengths from the number of columns on: the pattern of banks repeats after 32 words."


def _list(values: Sequence[Anything]) -> str:
    shown = ", ".join(str(value) for value in values[:WARP])
    return f"[{shown}]"


# -- test cases

_KERNEL = (  # the transpose of chapter 23, a tile of 16 rows and 8 columns: written, and read
    block_access(lambda x, y: (2 * y + (x >> 3), x & 7), 16),
    block_access(lambda x, y: (x, y), 16),
)


def _plain(rng: random.Random, count: int) -> Iterator[Access]:
    """Yield contiguous and strided accesses."""
    for step in (1, 2, 3, 8, 9, 32, 0):
        yield Access(tuple(strided(WARP, step)))
    for _ in range(count):
        yield Access(tuple(strided(WARP, rng.choice((1, 2, 4, 5, 7, 16, 31, 33, 64)))))


def _shifted(rng: random.Random, count: int) -> Iterator[Access]:
    """Yield accesses with any start address and element size, and partial warps."""
    yield Access(())
    yield Access(tuple(strided(WARP, 1, 1)))
    for _ in range(count):
        size = rng.choice((1, 2, 4, 8, 16))
        threads, first = rng.choice((WARP, WARP, rng.randint(1, WARP))), rng.randrange(100)
        yield Access(tuple(strided(threads, rng.choice((0, 1, 1, 2, 3, 12)), first, size)), size)


def _scattered(rng: random.Random, count: int) -> Iterator[Access]:
    """Yield addresses in any order: gathers, several rows, the same element for several threads."""
    for _ in range(count):
        kind, size = rng.randrange(3), rng.choice((2, 4, 8))
        if kind == 0:
            result = [rng.randrange(400) for _ in range(WARP)]
        elif kind == 1:
            width, row = rng.choice((4, 8, 16)), rng.choice((64, 100, 512))
            result = [(t // width) * row + t % width for t in range(WARP)]
        else:
            result = [8 * rng.randrange(6) + rng.randrange(2) for _ in range(WARP)]
        yield Access(tuple([size * place for place in result]), size)


def _words(*kinds: Callable[[random.Random, int], Iterator[Access]]) -> Callable[..., Iterator[Access]]:
    """Generate the same accesses as words of four bytes."""

    def generate(rng: random.Random, count: int) -> Iterator[Access]:
        for cases in kinds:
            for case in cases(rng, count // len(kinds)):
                yield Access(tuple([a // case.size * WORD for a in case.addresses]))

    return generate


def _repeated(rng: random.Random, count: int) -> Iterator[Access]:
    """Yield accesses in which several threads read the same word."""
    for _ in range(count):
        each, step = rng.choice((2, 4, 8, 32)), rng.choice((1, 8, 16, 32))
        yield Access(tuple([WORD * step * (t // each) for t in range(WARP)]))


def _columns(rng: random.Random, count: int) -> Iterator[Tile]:
    """Yield reads down a column."""
    for columns in (32, 16, 8, 33):
        yield Tile(columns, (tuple((t, 0) for t in range(WARP)),))
    for _ in range(count):
        yield Tile(rng.randint(4, 70), (tuple((t, 1) for t in range(WARP)),))


def _tiles(rng: random.Random, count: int) -> Iterator[Tile]:
    """Yield tiles that are written in one pattern and read in another."""
    yield Tile(8, tuple(map(tuple, _KERNEL)))
    for _ in range(count):
        columns = rng.choice((8, 16, 20, 32, 48, 64))
        result = [tuple(_blocked(rng, columns)) for _ in range(rng.randint(1, 3))]
        yield Tile(columns, tuple(result))


def _blocked(rng: random.Random, columns: int) -> list[Place]:
    width = rng.choice((4, 8, 16, 32))
    if rng.random() < 0.5:
        return [(t % width, t // width) for t in range(WARP)]
    step = min(width, columns)
    return [(t // step, t % step) for t in range(WARP)]


def _fewer(case: Access) -> Iterator[Access]:
    """Yield accesses of fewer threads."""
    threads = case.addresses
    for parts in (2, 4, 8):
        for at in range(0, len(threads), max(1, len(threads) // parts)):
            rest = threads[:at] + threads[at + max(1, len(threads) // parts) :]
            if rest and len(rest) < len(threads):
                yield Access(rest, case.size)


def _simpler(case: Tile) -> Iterator[Tile]:
    """Yield tiles with fewer accesses."""
    if len(case.accesses) > 1:
        for at in range(len(case.accesses)):
            yield Tile(case.columns, case.accesses[:at] + case.accesses[at + 1 :])


def _smallest(
    judge: Callable[[Anything, Anything], Failure | None],
    answer: Anything,
    smaller: Callable[[Anything], Iterator[Anything]],
    case: Anything,
    hint: str,
) -> Failure | None:
    """Return the failure of the smallest case with the same hint."""

    def same(case: Anything) -> Failure | None:
        failure = judge(answer, case)
        return failure if failure is not None and failure.hint == hint else None

    return Search[Anything](same, smaller)([case])


def _properties(
    judge: Callable[[Anything, Anything], Failure | None],
    smaller: Callable[[Anything], Iterator[Anything]],
    *rows: tuple[str, str, Callable[[random.Random, int], Iterator[Anything]]],
) -> tuple[Property, ...]:
    def one(name: str, says: str, cases: Callable[[random.Random, int], Iterator[Anything]]) -> Property:
        def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
            for case in cases(rng, count):
                failure = judge(answer, case)
                if failure is not None:
                    return _smallest(judge, answer, smaller, case, failure.hint)
            return None

        return Property(name, says, test)

    return tuple(one(*row) for row in rows)


EXERCISE = {
    "transactions": Exercise(
        "transactions",
        "transactions(addresses, size)",
        _properties(
            _judge_sectors, _fewer,
            ("strides", "the number of sectors is right for contiguous and for strided accesses", _plain),
            (
                "anywhere",
                "it is right for any start address and element size, even if some threads are inactive",
                _shifted,
            ),
            ("scattered", "it is right for addresses in any order", _scattered),
        ),
    ),
    "conflicts": Exercise(
        "conflicts",
        "conflicts(addresses)",
        _properties(
            _judge_cycles, _fewer,
            ("strides", "different words of a bank cause a conflict", _words(_plain)),
            ("together", "threads that read the same word are served together", _repeated),
            (
                "scattered", "it is right for addresses in any order, even if some threads are inactive",
                _words(_shifted, _scattered),
            ),
        ),
    ),
    "row_length": Exercise(
        "row_length",
        "row_length(columns, accesses)",
        _properties(
            _judge_rows, _simpler,
            ("columns", "a column is read in as few cycles as possible", _columns),
            ("tiles", "the slowest of several accesses counts, and no row is longer than necessary", _tiles),
        ),
    ),
}  # fmt: skip
