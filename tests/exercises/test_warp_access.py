"""The checks of the exercise `warp_access`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import re

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.warp_access import (
    addresses_of,
    best_length,
    block_access,
    cycles,
    sectors,
    strided,
)
from relay_explorer.grading.warp_access.checks import _KERNEL
from tests.book.chapters import BOOK
from tests.exercises.answers import answer, answers
from tests.exercises.mistakes import Mistake, check_mistake

PARTS = ("transactions", "conflicts", "row_length")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"warp_access.{part}", answers("warp_access")[part], seed=seed, programs=200)
    assert feedback.passed, str(feedback)


def test_counts_of_chapter_23() -> None:
    """The numbers of chapter 23."""
    assert [sectors(strided(32, step), 4) for step in (1, 2, 4, 512, 0)] == [4, 8, 16, 32, 1]
    assert sectors(strided(32, 1, 1), 4) == 5
    assert [cycles(strided(32, length)) for length in (32, 33, 34, 48)] == [32, 1, 2, 16]
    written, read = _KERNEL
    assert [cycles(addresses_of(places, 33)) for places in (written, read)] == [4, 2]
    assert cycles(addresses_of(read, 32)) == 16
    text = (BOOK / "ch23_gpu.md").read_text("utf-8")
    assert "16 × 8 threads" in text


def test_best_length_beats_kernel() -> None:
    best = best_length(8, [list(places) for places in _KERNEL])
    assert max(cycles(addresses_of(places, best)) for places in _KERNEL) < 4


def test_threads_are_numbered_along_x() -> None:
    assert block_access(lambda x, y: (y, x), 16)[15:18] == [(0, 15), (1, 0), (1, 1)]


SECTORS = "{address // 32 for address in addresses}"
TRANSACTIONS = {
    "returns the sectors": Mistake([("return len(touched)", "return touched")], "strides", "integer"),
    "counts threads": Mistake([("len(touched)", "len(addresses)")], "strides", "share it"),
    "counts addresses": Mistake([(SECTORS, "set(addresses)")], "strides", "share it"),
    "divides by elements": Mistake(
        [("address // 32", "address // 128")], "strides", "Addresses are in bytes"
    ),
    "counts the sectors between": Mistake(
        [("len(touched)", "(max(addresses) - min(addresses)) // 32 + 1 if addresses else 0")],
        "strides",
        "no thread touches",
    ),
    "aligns at the first address": Mistake(
        [(SECTORS, "{(address - min(addresses)) // 32 for address in addresses}")],
        "anywhere",
        "multiples of 32",
    ),
    "takes 8 elements as a sector": Mistake(
        [("address // 32", "address // size // 8")], "anywhere", "as many elements as"
    ),
    "divides the accessed bytes": Mistake(
        [("len(touched)", "-(-len(set(addresses)) * size // 32)")], "strides", "may lie in more of them"
    ),
    "counts an idle warp as 1": Mistake(
        [("len(touched)", "max(1, len(touched))")], "anywhere", "No thread is active"
    ),
}


@pytest.mark.parametrize("name", TRANSACTIONS)
def test_hints_at_common_mistake_in_transactions(name: str) -> None:
    check_mistake("warp_access", "transactions", "warp_access.transactions", TRANSACTIONS[name])


LARGEST = "max([len(words) for words in banks.values()], default=0)"
CONFLICTS = {
    "returns nothing": Mistake([(f"return {LARGEST}", "pass")], "strides", "an integer"),
    "takes bytes as words": Mistake(
        [("word = address // 4", "word = address")], "strides", "Addresses are in bytes"
    ),
    "counts banks": Mistake([(LARGEST, "len(banks)")], "strides", "the number of banks that are accessed"),
    "omits the first access": Mistake(
        [(LARGEST, f"max(0, {LARGEST} - 1)")], "strides", "including the first"
    ),
    "counts a word twice": Mistake(
        [("set()).add(word)", "[]).append(word)")], "strides", "Count different words"
    ),
    "counts an idle warp as 1": Mistake([("default=0", "default=1")], "scattered", "No thread is active"),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_hints_at_common_mistake_in_conflicts(name: str) -> None:
    check_mistake("warp_access", "conflicts", "warp_access.conflicts", CONFLICTS[name])


CHOICE = "min(range(columns, columns + 32), key=worst)"
ROWS = {
    "returns nothing": Mistake([(f"return {CHOICE}", "pass")], "columns", "an integer"),
    "adds one word": Mistake([(CHOICE, "columns + 1")], "columns", ""),
    "allows rows that overlap": Mistake(
        [(CHOICE, "min(range(1, 33), key=worst)")], "columns", "would overlap"
    ),
    "returns the longest row": Mistake(
        [(CHOICE, "min(range(columns + 31, columns - 1, -1), key=worst)")], "columns", "A shorter row"
    ),
    "considers the first access only": Mistake(
        [("for places in accesses])", "for places in accesses[:1]])")], "tiles", "The slowest of them counts"
    ),
    "tests the length of a column": Mistake([(CHOICE, "33 if columns < 33 else columns")], "columns", ""),
}


@pytest.mark.parametrize("name", ROWS)
def test_hints_at_common_mistake_in_row_length(name: str) -> None:
    check_mistake("warp_access", "row_length", "warp_access.row_length", ROWS[name])


def test_shows_smallest_access() -> None:
    wrong = answer("warp_access", "conflicts", ("set()).add(word)", "[]).append(word)"))
    failure = check("warp_access.conflicts", wrong, "together").failure
    assert failure is not None
    (addresses,) = re.findall(r"conflicts\(\[(.*)\]\)", failure.case)
    assert addresses.count(",") <= 1
    assert (failure.expected, failure.got) == ("1", "2")


def test_reports_question_of_a_crash() -> None:
    failure = check("warp_access.transactions", lambda addresses, size: addresses[99]).failure
    assert failure is not None
    assert failure.case.startswith("transactions([")
    assert "IndexError" in failure.got
