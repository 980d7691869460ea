"""The page's small arrays against NumPy: every operator's example, and the rules of types and indices."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer.playground.arrays import NotHereError
from relay_explorer.playground.arrays.namespace import module as small
from tests.playground import small_arrays

ROOT = Path(__file__).parents[2]
# Their results depend on what the arguments of these tests are not: sorted numbers.
LEFT_OUT = {"searchsorted"}
# What the page cannot evaluate; `book/playground.md` says so.
NOT_HERE = {"stft"}


def same(p: Any, q: Any, dtype: str) -> bool:
    if p == q or (p != p and q != q):
        return True
    tolerance = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-12}.get(dtype, 0)
    return bool(math.isfinite(p) and abs(p - q) <= tolerance * max(abs(p), 1e-3))


@pytest.fixture(scope="module")
def without_numpy() -> dict[str, Any]:
    """What a process computes in which NumPy and TVM are hidden, as in a page."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.playground.small_arrays"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_runs_look_the_same(without_numpy: dict[str, Any]) -> None:
    for title, answer in small_arrays.examples().items():
        if answer[0]["view"] in ("evaluation", "sharing", "partial", "machine"):
            assert rounded(without_numpy["examples"][title]) == rounded(answer), title


def rounded(answer: object) -> str:
    """An answer with five digits of each number: `exp` may differ in the last bit."""
    return re.sub(r"\d+\.\d{5,}", lambda match: f"{float(match[0]):.5g}", json.dumps(answer))


@pytest.mark.filterwarnings("ignore")
def test_every_operator_that_is_evaluated_gives_what_numpy_gives(without_numpy: dict[str, Any]) -> None:
    ours = without_numpy["operators"]
    theirs = small_arrays.evaluate()
    wrong, lacking, equal = [], set(), 0
    for name, result in theirs.items():
        if "error" in result or name in LEFT_OUT:
            continue
        if "error" in ours[name]:
            lacking.add(name)
            continue
        for (shape, dtype, values), (own_shape, own_dtype, own) in zip(
            result["values"], ours[name]["values"], strict=True
        ):
            if (shape, dtype) != (own_shape, own_dtype):
                wrong.append(f"{name}: {own_dtype}{own_shape}, not {dtype}{shape}")
            elif not all(same(p, q, dtype) for p, q in zip(values, own, strict=True)):
                wrong.append(f"{name}: {own[:8]}, not {values[:8]}")
        equal += 1
    assert wrong == []
    assert lacking == NOT_HERE
    assert equal >= 220


DTYPES = [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_types_of_results() -> None:
    for a in DTYPES:
        for b in DTYPES:
            for name in ("add", "multiply", "divide", "maximum", "less"):
                expected = getattr(np, name)(np.ones(2, a), np.ones(2, b)).dtype
                assert str(getattr(small, name)(small.ones(2, a), small.ones(2, b)).dtype) == str(expected)
        for number in (3, 2.5):
            expected = (np.ones(2, a) * number).dtype
            assert str((small.ones(2, a) * number).dtype) == str(expected)
        for name in ("sum", "mean", "exp", "cumsum"):
            assert str(getattr(small, name)(small.ones(2, a)).dtype) == str(
                getattr(np, name)(np.ones(2, a)).dtype
            )


def test_integers_wrap_and_floats_are_rounded() -> None:
    assert (small.asarray([127], "int8") + small.asarray([1], "int8")).tolist() == [-128]
    assert (small.asarray([0], "uint8") - small.asarray([1], "uint8")).tolist() == [255]
    tenth = small.asarray([0.1], "float32")
    assert (tenth + tenth).tolist() == (np.array([0.1], "f4") * 2).tolist()
    assert small.asarray([1e300]).astype("float32").tolist() == [math.inf]
    assert small.asarray([70000.0]).astype("float16").tolist() == [math.inf]
    assert (small.asarray([1.0]) / small.asarray([0.0])).tolist() == [math.inf]


KEYS: list[Any] = [
    0, -1, (1, 2), slice(None, None, -1), (slice(1, None), 0), (Ellipsis, 1), None, (slice(None), None, 2),
    [2, 0], (slice(None), [3, 0, 3]), ([0, 2], [1, 3]), ([0, 2], slice(1, 3)), (Ellipsis, [0, 1]),
    ([1], None, 0),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices(key: Any) -> None:
    x = np.arange(3 * 4 * 2).reshape(3, 4, 2)
    y = small.arange(3 * 4 * 2).reshape(3, 4, 2)
    assert y[key].tolist() == x[key].tolist()
    assert y[key].shape == x[key].shape
    x[key], y[key] = 7, 7
    assert y.tolist() == x.tolist()


def test_what_is_not_here_is_said() -> None:
    with pytest.raises(NotHereError, match=r"lack `numpy\.fft`"):
        small.fft.rfft([1.0])
    with pytest.raises(ValueError, match="too large for the playground"):
        small.zeros((10_000, 10_000))


@pytest.mark.parametrize("bins", [1, 3, 12])
@pytest.mark.parametrize("limits", [None, (-2.0, 2.0), (0.0, 0.5)], ids=str)
def test_histograms(bins: int, limits: tuple[float, float] | None) -> None:
    values = [((i * 37) % 29 - 13) / 8 for i in range(40)]
    for numbers in (values, [3.0, 3.0], []):
        counts, edges = small.histogram(small.asarray(numbers, "float64"), bins, limits)
        expected = np.histogram(np.array(numbers), bins, limits)
        assert counts.tolist() == expected[0].tolist()
        assert edges.tolist() == pytest.approx(expected[1].tolist())
