"""The checks of the exercise `kl_threshold`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from relay_explorer.grading import check
from relay_explorer.grading.kl_threshold import candidates, histogram
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake

EXERCISE = "kl_threshold"


@pytest.mark.parametrize("part", ["divergence", "threshold"])
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"{EXERCISE}.{part}", answer(EXERCISE, part), seed=seed)
    assert feedback.passed, str(feedback)


def test_solution_with_numpy_passes() -> None:
    """Compute with arrays, and return NumPy's numbers."""

    def divergence(counts: Any, kept: int, levels: int) -> Any:
        inside = np.array(counts[:kept], float)
        p, q = inside.copy(), np.zeros(kept)
        p[-1] += sum(counts[kept:])
        bounds = np.arange(levels + 1) * kept // levels
        for first, last in pairwise(bounds):
            part = inside[first:last]
            if part.any():
                q[first:last][part > 0] = part.sum() / (part > 0).sum()
        p, q = p / p.sum(), q / q.sum()
        if (q[p > 0] == 0).any():
            return np.inf
        return np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0]))

    feedback = check(f"{EXERCISE}.divergence", divergence)
    assert feedback.passed, str(feedback)


def test_outliers_are_clipped_and_many_values_are_not() -> None:
    """The exercise's histogram shows what it is about: few outliers are clipped."""
    for levels in (8, 16):
        losses = candidates(histogram(outliers=2), levels)
        assert math.isfinite(min(losses))
        assert losses.index(min(losses)) + levels < 60


P = "p = [*inside[:-1], inside[-1] + sum(counts[kept:])]"
INFINITE = "if a > 0 and b == 0:\n            return math.inf\n        "
NORMAL = "a, b = a / sum(p), b / sum(q)"
WRONG = {
    "divergence": {
        "forgets what is clipped": Mistake([(P, "p = inside")], "clipped", "missing from P"),
        "quantizes what is clipped": Mistake([(P, P + "\n    inside = p")], "clipped", "Only P contains"),
        "spreads over empty bins": Mistake(
            [("filled = [b for b in bins if inside[b] > 0]", "filled = list(bins)")],
            "empty",
            "*non-empty* bins",
        ),
        "does not normalize": Mistake([(NORMAL, "pass")], "merged", "divide each by its own sum"),
        "exchanges P and Q": Mistake(
            [("result += a * math.log(a / b)", "result += b * math.log(b / a)")], "merged", "swapped"
        ),
        "takes the binary logarithm": Mistake([("math.log(a / b)", "math.log2(a / b)")], "merged", "natural"),
        "takes the decimal logarithm": Mistake(
            [("math.log(a / b)", "math.log10(a / b)")], "merged", "natural"
        ),
        "clips into the first bin": Mistake(
            [(P, "p = [inside[0] + sum(counts[kept:]), *inside[1:]]")], "clipped", "not the first"
        ),
        "keeps a bin too many": Mistake(
            [("inside = counts[:kept]", "kept = min(kept + 1, len(counts)); inside = counts[:kept]")],
            "clipped",
            "One bin too many",
        ),
        "divides Q by the sum of P": Mistake(
            [(NORMAL, NORMAL.replace("sum(q)", "sum(p)"))], "clipped", "own sum"
        ),
        "says that impossible bins add nothing": Mistake(
            [("return math.inf", "return 0.0")], "empty", "makes the divergence infinite"
        ),
        "rounds the ends of the levels": Mistake(
            [
                (
                    "bins = range(level * kept // levels, (level + 1) * kept // levels)",
                    "bins = range(round(level * kept / levels), round((level + 1) * kept / levels))",
                )
            ],
            "uneven",
            "level i has the bins",
        ),
        "calls the package's solution": Mistake(
            [
                (
                    "inside = counts[:kept]",
                    "from relay_explorer.grading import kl_threshold; "
                    "return kl_threshold.divergence(counts, kept, levels)",
                )
            ],
            "merged",
            "",
        ),
        "leaves impossible bins out": Mistake(
            [("if a > 0 and b == 0:\n            return math.inf\n        if a > 0:", "if a > 0 and b > 0:")],
            "empty",
            "infinite",
        ),
        "divides by zero": Mistake(
            [("if a > 0 and b == 0:\n            return math.inf\n        ", "")], "empty", "may be empty"
        ),
        "has the rest in the last level": Mistake(
            [
                (
                    "bins = range(level * kept // levels, (level + 1) * kept // levels)",
                    "w = kept // levels\n"
                    "        bins = range(level * w, kept if level == levels - 1 else level * w + w)",
                )
            ],
            "uneven",
            "do not divide",
        ),
        "returns nothing": Mistake([("return result", "pass")], "merged", "Return a number"),
    },
    "threshold": {
        "clips nothing": Mistake(
            [("candidates = range(levels, len(counts) + 1)", "return len(counts)\n    candidates = []")],
            "chosen",
            "smallest of them",
        ),
        "leaves out the whole histogram": Mistake(
            [("len(counts) + 1)", "max(len(counts), levels + 1))")],
            "chosen",
            "the whole histogram is a candidate",
        ),
        "calls the package's solution": Mistake(
            [
                (
                    "candidates = range(levels, len(counts) + 1)",
                    "from relay_explorer.grading import kl_threshold; "
                    "return kl_threshold.candidates(counts, levels).index(0)\n    candidates = []",
                )
            ],
            "chosen",
            "",
        ),
        "takes the greatest": Mistake(
            [
                ("least = min(losses)", "least = max(x for x in losses if x < math.inf)"),
                ("if loss <= least + 1e-9", "if loss == least"),
            ],
            "chosen",
            "Clipping nothing",
        ),
        "returns the place": Mistake(
            [
                (
                    "return next(kept for kept, loss in zip(candidates, losses) if loss <= least + 1e-9)",
                    "return losses.index(least)",
                )
            ],
            "chosen",
            "At least as many bins",
        ),
        "returns the divergence": Mistake(
            [
                (
                    "return next(kept for kept, loss in zip(candidates, losses) if loss <= least + 1e-9)",
                    "return least + 0.5",
                )
            ],
            "chosen",
            "an integer",
        ),
    },
}


@pytest.mark.parametrize(
    ("part", "mistake"), [(part, name) for part, names in WRONG.items() for name in names]
)
def test_mistake_gets_its_hint(part: str, mistake: str) -> None:
    check_mistake(EXERCISE, part, f"{EXERCISE}.{part}", WRONG[part][mistake])
