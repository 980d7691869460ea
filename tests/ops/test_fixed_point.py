"""Multiplication by fixed-point factors, against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from relay_explorer.ir.expr import Expr
from relay_explorer.ops import fixed_point
from tests.ops.meanings import close, evaluate, rng
from tests.ops.tensor_programs import ints, refused, t


def exact(x: int, multiplier: int, shift: int) -> int:
    """The nearest whole number, a half rounded up."""
    return floor(Fraction(x * multiplier, 1) * Fraction(2) ** (shift - 31) + Fraction(1, 2))


@pytest.mark.parametrize("shift", [-30, -12, -3, -1, 0, 1, 4])
def test_one_factor_for_all(shift: int) -> None:
    random = rng(shift)
    x = random.integers(-(2**31), 2**31, 50).astype("int32") >> max(shift + 1, 0)
    for multiplier in (0, 1, 2**30, 2**31 - 1, int(random.integers(2**31))):
        found = evaluate(fixed_point.fixed_point_multiply, x, multiplier=multiplier, shift=shift)
        close(found, np.array([exact(int(v), multiplier, shift) for v in x], "int32"))


def test_a_half_is_rounded_up() -> None:
    x = np.array([-3, -1, 1, 3], "int32")
    found = evaluate(fixed_point.fixed_point_multiply, x, multiplier=2**30, shift=0)  # by 1/2
    assert found.tolist() == [-1, 0, 1, 2]


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("axes", [[0], [-1], [2, 0]])
def test_a_factor_for_each_place_of_some_axes(axes: list[int], left: bool, right: bool) -> None:
    random = rng(axes, left, right)
    x = random.integers(-(2**20), 2**20, (2, 3, 4)).astype("int32")
    along = tuple([x.shape[axis] for axis in axes])
    m = random.integers(0, 2**31, along).astype("int32")
    ls, rs = (random.integers(0, 6, along).astype("int32") for _ in range(2))
    found = evaluate(
        lambda data, by, up, down: fixed_point.fixed_point_multiply_per_axis(
            data, by, up, down, left, right, axes
        ),
        x,
        m,
        ls,
        rs,
    )
    for at in np.ndindex(*x.shape):
        place = tuple([at[axis] for axis in axes])
        scaled = int(x[at]) << (int(ls[place]) if left else 0)
        assert found[at] == exact(scaled, int(m[place]), -int(rs[place]) if right else 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            fixed_point.fixed_point_multiply(t(3), 1, 0),
            "data must be int32, but its elements are float32",
        ),
        (
            fixed_point.fixed_point_multiply(ints(3), -1, 0),
            "multiplier=-1 is a fraction of 2³¹, from 0 to 2147483647",
        ),
        (fixed_point.fixed_point_multiply(ints(3), 1, 40), "shift=40 shifts all 32 bits out"),
        (
            fixed_point.fixed_point_multiply_per_axis(
                ints(2, 3), ints(3, name="m"), ints(2, name="l"), ints(2, name="r"), True, True, [0]
            ),
            "multiplier has the shape (3), but along axes [0] the data (2, 3) has (2)",
        ),
    ],
)
def test_what_does_not_fit_is_said(call: Expr, message: str) -> None:
    assert refused(call).message.partition(": ")[2] == message
