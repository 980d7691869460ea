"""Chapter 26: its cells run, and what the text and the folded answers say is so, for the measurement that is
kept, and for others like it.
"""

from __future__ import annotations

import re

from tests.book.chapters import names, output, shown

PAGE = "ch26_tuning"


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch26-run"]


def test_the_space() -> None:
    assert "120,960 schedules" in output(PAGE, "def divisors")
    assert len(names(PAGE)["tiles"]) == 39


def test_the_hill() -> None:
    """The best tile is in the middle, and the largest are far below it."""
    page = names(PAGE)
    sums = page["best"]["channels"] * page["best"]["columns"]
    assert 8 <= sums <= 28
    assert float(re.findall(r"between them: ([\d.]+)", output(PAGE, "import json"))[0]) > 3
    largest = max(page["tiles"], key=lambda tile: tile["channels"] * tile["columns"])
    assert page["speed"](largest) < 0.6 * page["speed"](page["best"])


def test_the_formula_is_that_of_the_package() -> None:
    """For tiles that it would consider."""
    from relay_explorer.lower.schedules.blocked import REMAINDER_FACTOR, tile_score

    page = names(PAGE)
    for tile in page["tiles"]:
        c, p = tile["channels"], tile["columns"]
        if c * p <= page["MOST"]:
            even = 1.0 if 28 % p == 0 else REMAINDER_FACTOR
            assert abs(page["score"](tile) - even * tile_score(c, p, page["MOST"])) < 1e-9


def test_models() -> None:
    loads, registers = (
        tuple(int(n) for n in re.findall(r"(\d+)%", line))
        for line in output(PAGE, "from itertools").splitlines()
    )
    assert loads[0] < registers[0]
    assert loads[1] > 20 > 6 > registers[1]
    learned = [
        list(map(int, re.findall(r"(\d+)%", line)))[:2] for line in output(PAGE, "import numpy").splitlines()
    ]
    assert learned[0][0] < learned[-1][0]
    assert abs(learned[-1][0] - registers[0]) <= 12  # in order about as well as the formula
    assert learned[0][1] > 5 > learned[-1][1]  # the top is found late


def test_searches() -> None:
    chance, learning, formula = output(PAGE, "def trials").splitlines()
    numbers = [list(map(float, re.findall(r"[\d.]+", line))) for line in (chance, learning, formula)]
    assert numbers[2][0] <= numbers[1][0] < numbers[0][0]
    assert numbers[1][1] < numbers[0][1]


def test_the_shortest_is_the_steadiest() -> None:
    apart = [float(n) for n in re.findall(r"([\d.]+)%", output(PAGE, "times = np.array"))]
    assert len(apart) == 3
    assert min(apart) == apart[2]


def test_a_search_finds_little() -> None:
    gains = names(PAGE)["gains"]
    assert len(gains) > 5
    assert min(gains) == 1
    assert sum(gains) / len(gains) < 1.15
    (more,) = re.findall(r"(\d+) gain more than the noise", output(PAGE, "def micro"))
    assert int(more) == sum(gain > names(PAGE)["noise"] for gain in gains) <= len(gains) / 4


def test_keys_depend_on_all_that_they_should() -> None:
    keys = [line.split()[-1] for line in output(PAGE, "from relay_explorer import relay").splitlines()]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 4


def test_the_winner_looks_better_than_it_is() -> None:
    assert float(re.findall(r"([\d.]+)%", output(PAGE, "random = np"))[0]) > 0.5


def test_amdahl() -> None:
    twice, without = map(float, re.findall(r"([\d.]+) times", output(PAGE, "spent = {}")))
    assert 1 < twice < without
