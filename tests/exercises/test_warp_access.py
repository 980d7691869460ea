"""The exercise `warp_access`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import re

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.warp_access import addresses_of, best_length, block_access, pieces, strided, turns
from relay_explorer.grading.warp_access.checks import _KERNEL
from tests.book.chapters import BOOK
from tests.exercises.answers import answer, answers
from tests.exercises.mistakes import Mistake, tried

PARTS = ("transactions", "conflicts", "row_length")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"warp_access.{part}", answers("warp_access")[part], seed=seed, programs=200)
    assert feedback.passed, str(feedback)


def test_what_the_book_counts() -> None:
    """The numbers of chapter 23."""
    assert [pieces(strided(32, step), 4) for step in (1, 2, 4, 512, 0)] == [4, 8, 16, 32, 1]
    assert pieces(strided(32, 1, 1), 4) == 5
    assert [turns(strided(32, length)) for length in (32, 33, 34, 48)] == [32, 1, 2, 16]
    written, read = _KERNEL
    assert [turns(addresses_of(places, 33)) for places in (written, read)] == [4, 2]
    assert turns(addresses_of(read, 32)) == 16
    text = (BOOK / "ch23_gpu.md").read_text("utf-8")
    assert "16 × 8 threads" in text


def test_a_length_that_is_better_than_that_of_the_kernel() -> None:
    best = best_length(8, [list(places) for places in _KERNEL])
    assert max(turns(addresses_of(places, best)) for places in _KERNEL) < 4


def test_threads_are_numbered_along_x() -> None:
    assert block_access(lambda x, y: (y, x), 16)[15:18] == [(0, 15), (1, 0), (1, 1)]


PIECES = "{address // 32 for address in addresses}"
TRANSACTIONS = {
    "the pieces themselves": Mistake([("return len(touched)", "return touched")], "strides", "whole number"),
    "every thread": Mistake([("len(touched)", "len(addresses)")], "strides", "share it"),
    "every address": Mistake([(PIECES, "set(addresses)")], "strides", "share it"),
    "elements": Mistake([("address // 32", "address // 128")], "strides", "Addresses are bytes"),
    "what is in between": Mistake(
        [("len(touched)", "(max(addresses) - min(addresses)) // 32 + 1 if addresses else 0")],
        "strides", "nobody touches",
    ),
    "from its own start": Mistake(
        [(PIECES, "{(address - min(addresses)) // 32 for address in addresses}")],
        "anywhere", "multiples of 32",
    ),
    "eight elements": Mistake([("address // 32", "address // size // 8")], "anywhere", "as many elements as"),
    "as many bytes": Mistake(
        [("len(touched)", "-(-len(set(addresses)) * size // 32)")], "strides", "may lie in more of them"
    ),
    "nobody": Mistake([("len(touched)", "max(1, len(touched))")], "anywhere", "No thread takes part"),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSACTIONS)
def test_a_usual_mistake_of_pieces_is_named(name: str) -> None:
    tried("warp_access", "transactions", "warp_access.transactions", TRANSACTIONS[name])


LARGEST = "max([len(words) for words in banks.values()], default=0)"
CONFLICTS = {
    "nothing returned": Mistake([(f"return {LARGEST}", "pass")], "strides", "a whole number"),
    "bytes": Mistake([("word = address // 4", "word = address")], "strides", "Addresses are bytes"),
    "banks": Mistake([(LARGEST, "len(banks)")], "strides", "how many banks are asked"),
    "only the others": Mistake([(LARGEST, f"max(0, {LARGEST} - 1)")], "strides", "the first one too"),
    "the same word twice": Mistake(
        [("set()).add(word)", "[]).append(word)")], "strides", "Count different words"
    ),
    "nobody": Mistake([("default=0", "default=1")], "scattered", "No thread takes part"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_usual_mistake_of_banks_is_named(name: str) -> None:
    tried("warp_access", "conflicts", "warp_access.conflicts", CONFLICTS[name])


CHOICE = "min(range(columns, columns + 32), key=worst)"
ROWS = {
    "nothing returned": Mistake([(f"return {CHOICE}", "pass")], "columns", "a whole number"),
    "one word more": Mistake([(CHOICE, "columns + 1")], "columns", ""),
    "too short": Mistake([(CHOICE, "min(range(1, 33), key=worst)")], "columns", "lie upon each other"),
    "the longest": Mistake(
        [(CHOICE, "min(range(columns + 31, columns - 1, -1), key=worst)")], "columns", "A shorter row"
    ),
    "the first access": Mistake(
        [("for places in accesses])", "for places in accesses[:1]])")], "tiles", "The worst of them counts"
    ),
    "the length of a column": Mistake([(CHOICE, "33 if columns < 33 else columns")], "columns", ""),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_usual_mistake_of_rows_is_named(name: str) -> None:
    tried("warp_access", "row_length", "warp_access.row_length", ROWS[name])


def test_the_smallest_access_is_shown() -> None:
    wrong = answer("warp_access", "conflicts", ("set()).add(word)", "[]).append(word)"))
    failure = check("warp_access.conflicts", wrong, "together").failure
    assert failure is not None
    (shown,) = re.findall(r"conflicts\(\[(.*)\]\)", failure.case)
    assert shown.count(",") <= 1
    assert (failure.expected, failure.got) == ("1", "2")


def test_a_crash_says_what_was_asked() -> None:
    failure = check("warp_access.transactions", lambda addresses, size: addresses[99]).failure
    assert failure is not None
    assert failure.case.startswith("transactions([")
    assert "IndexError" in failure.got
