"""Random numbers as functions of a key: Threefry, bit for bit as `ops.threefry` defines it.

TOPI has had no Threefry since Relay left TVM. TVM's code generator promises LLVM that no 64-bit
sum overflows. These do, on purpose, which would be undefined behaviour, so they are added in halves.
"""

from __future__ import annotations

from math import pi, prod
from typing import Any

from ..threefry import PARITY, ROTATIONS, ROUNDS, WORDS
from .imperative import Buffers, each, int64, local, loops, when
from .library import te, tirx
from .lowered import Lowered
from .tensors import (
    Shape,
    Tensor,
    Value,
    cast,
    dims,
    every,
    number,
    product,
    quotient,
    ravel,
    reduce_axes,
    some,
    stage,
    sum_over,
    unravel,
)


def word(value: int) -> Value:
    """Build a 64-bit constant from two halves, because TVM's constants are signed."""
    high, low = (number(half, "uint64") for half in divmod(value, 2**32))
    return tirx.bitwise_or(high << number(32, "uint64"), low) if value >= 2**63 else number(value, "uint64")


def _wrapped(a: Value, b: Value) -> Value:
    """Add two words modulo 2⁶⁴, by two sums that cannot overflow."""
    low_bits, half = word(2**32 - 1), word(32)
    low = tirx.bitwise_and(a, low_bits) + tirx.bitwise_and(b, low_bits)
    high = (a >> half) + (b >> half) + (low >> half)
    return tirx.bitwise_or(high << half, tirx.bitwise_and(low, low_bits))


def _hash(key: Any, counter: Any) -> None:
    """Hash the four words in `counter` in place by Threefry-4x64-20, under the first four of `key`."""
    schedule = local(5, "uint64")
    schedule[4] = word(PARITY)
    for n in range(4):
        schedule[n] = key[n]
        schedule[4] = tirx.bitwise_xor(schedule[4], key[n])
    mixed = local(2, "uint64")
    for group in range(ROUNDS // 4):
        for n in range(4):
            counter[n] = _wrapped(counter[n], schedule[(group + n) % 5])
        counter[3] = _wrapped(counter[3], word(group))
        for step in range(4):
            left, right = ROTATIONS[(4 * group + step) % 8]
            counter[0] = _wrapped(counter[0], counter[1])
            counter[2] = _wrapped(counter[2], counter[3])
            mixed[0] = tirx.bitwise_xor(_rotated(counter[3], right), counter[2])
            mixed[1] = tirx.bitwise_xor(_rotated(counter[1], left), counter[0])
            counter[1], counter[3] = mixed[0], mixed[1]  # the words are swapped


def _rotated(value: Value, places: int) -> Value:
    return tirx.bitwise_or(value << word(places), value >> word(64 - places))


def _halved_bit(key: Any) -> tuple[Value, Value]:
    """Return the two words of the key's path bit, shifted by one position."""
    return key[8] >> word(1), tirx.bitwise_or(key[9] >> word(1), key[8] << word(63))


def _lengthened(key: Any, source: Any, one: bool) -> None:
    """Set `key` to `source` with one more step on its path."""
    for n in range(8):
        key[n] = tirx.bitwise_or(source[n], source[n + 4]) if one and n in (4, 5) else source[n]
    key[8], key[9] = _halved_bit(source)


def _rehash(key: Any, counter: Any) -> None:
    """Set `key` to one with an empty path, hashed from the counter."""
    _hash(key, counter)
    for n in range(WORDS):
        key[n] = counter[n] if n < 4 else word(1 << 63 if n == 8 else 0)


def _open(key: Any) -> Value:
    """Return whether the key's path has room for another step."""
    return some([tirx.NE(key[8], word(0)), tirx.NE(key[9], word(0))])


def _copied(source: Any) -> Any:
    copy = local(WORDS, "uint64")
    for n in range(WORDS):
        copy[n] = source[n]
    return copy


def _generate(call: Lowered, count: Any, name: str) -> tuple[Tensor, Tensor]:
    """Generate the next key, and `count` words of random bits."""
    whole, blocks = quotient(count, 4) * 4, quotient(count + 3, 4)

    def body(ins: Buffers, outs: Buffers) -> None:
        (source,), (after, words) = ins, outs
        key, counter = _copied(source), local(4, "uint64")
        full, opened = local(1, "bool"), local(1, "bool")
        most = word(2**64 - 1 - count) if isinstance(count, int) else word(2**64 - 1) - _word(count)
        full[0] = key[7] >= most
        opened[0] = _open(key)
        with when(every([full[0], opened[0]])):
            _lengthened(key, _copied(source), one=True)
            key[6], key[7] = word(0), word(0)
        with when(every([full[0], tirx.Not(opened[0])])):
            for n in range(4):
                counter[n] = word(2**64 - 1)
            _rehash(key, counter)
        with each(blocks) as block:
            for n in range(4):
                counter[n] = _wrapped(key[4 + n], block.astype("uint64"))
            with when(block >= quotient(count, 4)):  # the last block, of which only a part is used
                for n in range(4):
                    counter[n] = _wrapped(key[4 + n], _word(whole) if n == 3 else word(0))
            _hash(key, counter)
            for n in range(4):
                with when(block * 4 + n < count):
                    words[block * 4 + n] = counter[n]
        for n in range(WORDS):
            after[n] = key[n]
        after[6] = word(0)
        after[7] = _wrapped(key[7], _word(blocks * 4))

    results = loops([((WORDS,), "uint64"), ((count,), "uint64")], [call.inputs[0]], body, name)
    return results[0], results[1]


def _word(count: Any) -> Value:
    """Return a size as a word."""
    return word(count) if isinstance(count, int) else count.astype("uint64")


def threefry_generate(call: Lowered) -> list[Tensor]:
    shape = call.attrs.out_shape
    key, words = _generate(call, prod(shape), f"{call.name}_words")
    return [key, stage(shape, lambda *i: words(ravel(i, shape)), call.name)]


def threefry_split(call: Lowered) -> list[Tensor]:
    """Split the key into two independent ones: one more step on the path, left and right."""

    def body(ins: Buffers, outs: Buffers) -> None:
        (source,), (left, right) = ins, outs
        key, counter = _copied(source), local(4, "uint64")
        with when(tirx.Not(_open(source))):
            for n in range(4):
                counter[n] = key[4 + n]
            _rehash(key, counter)
        _lengthened(left, key, one=False)
        _lengthened(right, key, one=True)

    return loops([((WORDS,), "uint64")] * 2, [call.inputs[0]], body, call.name)


def _unit(bits: Value, dtype: str) -> Value:
    """Convert a word to a number in [0, 1), whose fraction has the word's bits."""
    width, fraction = (64, 52) if dtype == "float64" else (32, 23)
    low = bits if width == 64 else tirx.bitwise_and(bits, word(2**32 - 1))
    whole = (low >> word(width - fraction)).astype("int64").astype("float64")
    return (whole * number(2.0**-fraction, "float64")).astype(dtype)


def _units(call: Lowered, shape: Shape, dtype: str) -> tuple[Tensor, Any]:
    """Return the next key, and a function from an index of `shape` to a number in [0, 1)."""
    key, words = _generate(call, product(shape), f"{call.name}_words")
    return key, lambda *i: _unit(words(ravel(i, shape)), dtype)


def uniform(call: Lowered) -> list[Tensor]:
    _, low, high = call.inputs
    shape, dtype = call.attrs.out_shape, call.attrs.out_dtype or "float32"
    key, unit = _units(call, shape, dtype)
    return [key, stage(shape, lambda *i: unit(*i) * (high() - low()) + low(), call.name)]


def normal(call: Lowered) -> list[Tensor]:
    """Draw normally distributed numbers, each from two uniform ones, by the Box-Muller transform."""
    _, mean, scale = call.inputs
    shape, dtype = call.attrs.out_shape, call.attrs.out_dtype or "float32"
    key, unit = _units(call, (2, *shape), dtype)

    def value(*i: Value) -> Value:
        rest = number(1, dtype) - unit(0, *i)
        radius = te.sqrt(number(-2, dtype) * te.log(rest))
        angle = te.sin(number(2 * pi, dtype) * unit(1, *i))
        return radius * angle * scale() + mean()

    return [key, stage(shape, value, call.name)]


def multinomial(call: Lowered) -> list[Tensor]:
    """Draw indices: each is the number of cumulative probabilities that a uniform random number reaches."""
    probs = call.inputs[1]
    samples = call.attrs.num_samples
    *lead, classes = dims(probs)
    shape = (*lead, samples)
    key, unit = _units(call, shape, "float32")

    def body(ins: Buffers, outs: Buffers) -> None:
        (weights,), (sums,) = ins, outs
        with each(product(lead)) as row:
            at = unravel(row, lead)
            total = local(2, "float32")
            total[0], total[1] = number(0, "float32"), number(0, "float32")
            for goal in range(2):
                with each(classes) as c:
                    weight = te.max(cast(weights[(*at, c)], "float32"), number(0, "float32"))
                    if goal:
                        total[1] = total[1] + weight / total[0]
                        sums[(*at, c)] = total[1]
                    else:
                        total[0] = total[0] + weight

    sums = loops([((*lead, classes), "float32")], [probs], body, f"{call.name}_sums")[0]
    (c,) = reduce_axes([classes])

    def below(*i: Value) -> Value:
        return sum_over(cast(sums(*i[:-1], c) <= unit(*i), "int32"), [c])

    counts = stage(shape, below, f"{call.name}_below")
    last = int64(classes).astype("int32")
    return [key, stage(shape, lambda *i: te.if_then_else(counts(*i) >= last, 0, counts(*i)), call.name)]
