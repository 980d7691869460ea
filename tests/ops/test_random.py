"""Random numbers: Threefry against its published vectors, and what distributions promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer.ir.expr import Constant, Expr, const
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import IncompleteType, TensorType
from relay_explorer.ops import random, threefry
from relay_explorer.relay import Function, IRModule, var
from relay_explorer.typing import infer_types
from tests.ops.meanings import Array, run
from tests.ops.tensor_programs import refused, t, typed

ALL = 2**64 - 1


def value_of(made: TupleWrapper) -> Anything:
    return run(IRModule.from_expr(Function([], made.astuple())), [])


def key(seed: int = 0) -> Constant:
    return random.threefry_key(seed)


def words(*numbers: int) -> Array:
    return np.array(numbers, "uint64")


@pytest.mark.parametrize(
    ("filled", "wanted"),
    [
        (0, (0x09218EBDE6C85537, 0x55941F5266D86105, 0x4BD25E16282434DC, 0xEE29EC846BD2E40B)),
        (ALL, (0x29C24097942BBA1B, 0x0371BBFB0F6F4E11, 0x3C231FFA33F83A1C, 0xCD29113FDE32D168)),
    ],
)
def test_twenty_rounds_are_those_of_the_paper(filled: int, wanted: tuple[int, ...]) -> None:
    """The authors' vectors for Threefry-4x64-20, which adds the key once more than the reference did."""
    k = words(*[filled] * 4)
    parity = np.bitwise_xor.reduce(k) ^ np.uint64(0x1BD11BDAA9FC1A22)
    schedule = [*k, parity]
    with np.errstate(over="ignore"):
        once_more = np.array([schedule[n % 5] for n in range(5, 9)]) + words(0, 0, 0, 5)
        found = threefry.hashed(k, words(*[filled] * 4)[None])[0] + once_more
    assert found.tolist() == list(wanted)


def test_a_number_depends_on_the_key_and_its_place_alone() -> None:
    _, few = value_of(random.threefry_generate(key(7), (8,)))
    _, more = value_of(random.threefry_generate(key(7), (5, 4)))
    np.testing.assert_array_equal(more.reshape(-1)[:8], few)
    _, other = value_of(random.threefry_generate(key(8), (8,)))
    assert not set(few) & set(other)
    assert len(set(more.reshape(-1))) == 20


@pytest.mark.parametrize("count", [1, 3, 4, 6])
def test_the_next_key_goes_on_where_this_one_ended(count: int) -> None:
    drawn, state = [], key(3)
    for _ in range(6):
        after, numbers = value_of(random.threefry_generate(state, (count,)))
        drawn += numbers.tolist()
        state = const(after, "uint64")
    assert len(set(drawn)) == 6 * count


def test_a_full_counter_takes_another_path() -> None:
    full = words(1, 2, 3, 4, 0, 0, 0, ALL - 3, 1 << 63, 0)
    after, numbers = threefry.generated(full, 8)
    assert after.tolist() == [1, 2, 3, 4, 1 << 63, 0, 0, 8, 1 << 62, 0]
    last = words(1, 2, 3, 4, 0, 0, 0, ALL - 3, 0, 0)  # and no path is left
    after, more = threefry.generated(last, 8)
    assert after.tolist()[:4] != [1, 2, 3, 4]
    assert after.tolist()[4:] == [0, 0, 0, 8, 1 << 63, 0]
    assert not set(numbers) & set(more)


def leaves(state: Array, depth: int) -> Iterator[Array]:
    if depth == 0:
        yield state
        return
    for half in threefry.split(state):
        yield from leaves(half, depth - 1)


def test_splits_have_nothing_in_common() -> None:
    keys = list(leaves(np.array(threefry.fresh(5), "uint64"), 5))
    assert len({tuple(k) for k in keys}) == 32
    assert len({int(n) for k in keys for n in threefry.generated(k, 12)[1]}) == 32 * 12


def test_a_path_of_128_splits_is_full_and_hashed() -> None:
    state = np.array(threefry.fresh(5), "uint64")
    seen = set()
    for _ in range(300):
        _, state = threefry.split(state)
        seen.add(tuple(state))
    assert len(seen) == 300
    assert tuple(state[:4]) != tuple(threefry.fresh(5)[:4])


def test_splitting_a_program() -> None:
    left, right = value_of(random.threefry_split(key(1)))
    assert left.tolist()[4:] == [0, 0, 0, 0, 1 << 62, 0]
    assert right.tolist()[4:] == [1 << 63, 0, 0, 0, 1 << 62, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform(dtype: str) -> None:
    _, x = value_of(random.uniform(key(2), (100, 200), dtype, -1, 3))
    assert x.min() >= -1
    assert x.max() < 3
    counts, _ = np.histogram(x, 20, (-1, 3))
    assert np.abs(counts - 1000).max() < 160  # five standard deviations
    lag = np.corrcoef(x.reshape(-1)[:-1], x.reshape(-1)[1:])[0, 1]
    assert abs(lag) < 0.04


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal(dtype: str) -> None:
    _, x = value_of(random.normal(key(3), (20000,), dtype, 5, 2))
    z = np.sort((x.astype("float64") - 5) / 2)
    from math import erf, sqrt

    ideal = np.array([(1 + erf(v / sqrt(2))) / 2 for v in z])
    steps = np.arange(1, len(z) + 1) / len(z)
    assert np.abs(ideal - steps).max() < 1.95 / sqrt(len(z))  # Kolmogorov and Smirnov, at 0.001


def test_multinomial() -> None:
    probs = const(np.array([[1.0, 3.0, 0.0, -2.0, 4.0], [0, 0, 1, 0, 0]]), "float64")
    _, drawn = value_of(random.multinomial(key(4), probs, 4000))
    assert drawn.shape == (2, 4000)
    shares = np.bincount(drawn[0], minlength=5) / 4000
    np.testing.assert_allclose(shares, [1 / 8, 3 / 8, 0, 0, 1 / 2], atol=0.04)
    assert set(drawn[1].tolist()) == {2}


def test_types_flow_both_ways() -> None:
    unknown = var("key", IncompleteType())
    module = infer_types(IRModule.from_expr(Function([unknown], random.uniform(unknown, (2, 3)).astuple())))
    main = module["main"]
    assert main.params[0].checked_type == random.KEY
    assert typed(random.normal(key(), (2,), "float64")) == "(Tensor[(10), uint64], Tensor[(2), float64])"
    assert typed(random.multinomial(key(), t(4, 5), 3)) == "(Tensor[(10), uint64], Tensor[(4, 3), int32])"
    assert TensorType((10,), "uint64") == random.KEY


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            random.threefry_split(t(10)),
            "the key must be Tensor[(10), uint64], not Tensor[(10), float32]",
        ),
        (random.uniform(key(), (2,), "float16"), 'out_dtype is "float16", but it is float32 or float64'),
        (random.threefry_generate(key(), (2, -1)), "out_shape=[2, -1] has a negative extent"),
        (
            random.uniform(key(), (2,), low=t(3)),
            "the parameters of the distribution must be scalars of type float32, not Tensor[(3), float32]",
        ),
        (
            random.multinomial(key(), t(), 3),
            "num_samples=3 indices are drawn from each row of probs, float32",
        ),
        (
            random.multinomial(key(), t(2, 0), 3),
            "num_samples=3 indices are drawn from each row of probs, Tensor[(2, 0), float32]",
        ),
    ],
)
def test_what_does_not_fit_is_said(call: Expr | TupleWrapper, message: str) -> None:
    assert refused(call).message.partition(": ")[2] == message
