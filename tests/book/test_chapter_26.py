"""Chapter 26: its cells run, and what the text and the folded answers say is so, for the measurement that is
kept, and for others like it.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import meta_schedule
from tests.book.chapters import names, output, shown, source

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
    assert float(re.findall(r"ratio: ([\d.]+)", output(PAGE, "import json"))[0]) > 3
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


def test_meta_schedule_is_measured() -> None:
    """The text repeats the benchmark's table."""
    table = Path(meta_schedule.__file__).with_suffix(".md").read_text("utf-8")
    (own,) = re.findall(r"first candidate \| 1 \| – \| ([\d,]+) µs", table)
    (trials, took, best) = re.findall(r"MetaSchedule \| (\d+) \| (\d+) s \| ([\d,]+) µs", table)[0]
    assert (trials, own[:3], best[:3]) == ("48", "1,1", "2,9")
    assert 150 < int(took) < 180
    assert "takes 2.9 ms; ours takes 1.1 ms" in source(PAGE)


# -- predict, then run


def test_a_rule_leaves_few_tiles_and_the_best() -> None:
    page = names(PAGE)
    fitting = [t for t in page["tiles"] if t["channels"] * t["columns"] <= page["MOST"]]
    enough = [t for t in fitting if t["channels"] * t["columns"] >= 12]
    assert (len(fitting), len(enough), len(page["remaining"])) == (26, 10, 3)
    assert output(PAGE, "def accepted").endswith("of the good ones, 2 of 6\n")
    assert page["best"] in page["remaining"]
    assert not all(page["accepted"](tile) for tile in page["good"])


def test_what_each_condition_of_the_formula_contributes() -> None:
    rows = [
        [int(number) for number in re.findall(r"(\d+)%", line)]
        for line in output(PAGE, "def without").splitlines()
    ]
    whole, fit, enough, even = rows
    assert fit[0] < enough[0] < whole[0] <= even[0]  # the registers matter most; `even` does not help ranking
    assert fit[1] > 20
    assert (whole[1], enough[1]) == (0, 0)
    assert 0 < even[1] < 4  # less than the noise


def test_alternating_runs_agree_better() -> None:
    serial, alternating = (
        [float(number) for number in re.findall(r"([\d.]+)%", line)]
        for line in output(PAGE, "twenties =").splitlines()
    )
    assert alternating[0] < serial[0] / 2
    assert alternating[1] < serial[1]


def test_the_answer_to_the_ungraded_exercise() -> None:
    """Other features make the search shorter, and so do three first tiles."""
    page = dict(names(PAGE))
    features, trials, guided = page["features"], page["trials"], page["guided"]

    def counts(**options: int) -> list[int]:
        return [trials(guided(seed, **options)) for seed in range(40)]

    def parabola(tile: dict[str, float]) -> list[float]:
        one, c, p, *_ = features(tile)
        return [one, c, p, (c + p) ** 2, float(page["SIDE"] % tile["columns"] == 0)]

    assert (round(sum(counts()) / 40, 1), max(counts())) == (7.2, 18)
    assert round(sum(counts(first=3)) / 40, 1) == 6.3
    scope = guided.__globals__
    scope["features"] = parabola
    try:
        assert (round(sum(counts()) / 40, 1), max(counts())) == (6.6, 17)
    finally:
        scope["features"] = features


def test_answer_schedules_with_an_accepted_tile() -> None:
    assert output(PAGE, "every = ") == "5 of 140 tiles, 4,320 of 120,960 schedules\n"
