"""Threefry, a random number generator without state: number n is a hash of n and a key (Salmon et al.,
"Parallel random numbers: as easy as 1, 2, 3", 2011), made splittable by a path that belongs to the key
(Claessen and Pałka, "Splittable pseudorandom number generators using cryptographic hashing", 2013).

A key is 10 words of 64 bits: 4 of hash key, 2 of path, 2 of counter, and 2 with the bit of the path that the
next split decides.
"""

from __future__ import annotations

from .numeric import Array, np

WORDS = 10
ROUNDS = 20
PARITY = 0x1BD11BDAA9FC1A22  # XORed with the words of a key
# The rotation of the second word of each pair, for eight rounds, after which they repeat.
ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))
_FIRST = 1 << 63  # the path's first bit


def hashed(key: Array, counters: Array) -> Array:
    """Hash `counters` (n, 4) by Threefry-4x64-20 under `key` (4), all 64-bit words: (n, 4)."""
    schedule = [*key, np.bitwise_xor.reduce(key) ^ np.uint64(PARITY)]
    a, b, c, d = counters.T.copy()
    for group in range(ROUNDS // 4):
        a, b, c, d = (word + schedule[(group + n) % 5] for n, word in enumerate((a, b, c, d)))
        d = d + np.uint64(group)
        for step in range(4):
            left, right = ROTATIONS[(4 * group + step) % 8]
            a, c = a + b, c + d
            b, d = _rotated(d, right) ^ c, _rotated(b, left) ^ a  # the words are swapped
    return np.stack([a, b, c, d], -1)


def _rotated(words: Array, places: int) -> Array:
    return (words << np.uint64(places)) | (words >> np.uint64(64 - places))


def fresh(seed: int) -> list[int]:
    """Return the key of a seed, taken modulo 2²⁵⁶, as ten words."""
    words = [(seed >> 64 * n) & (2**64 - 1) for n in range(4)]
    return [*words, 0, 0, 0, 0, _FIRST, 0]


def _next_bit(key: Array) -> Array:
    """Return the two words of the key's path bit, shifted by one position; both are 0 after the last."""
    bit = ((int(key[8]) << 64) | int(key[9])) >> 1
    return np.array([bit >> 64, bit & (2**64 - 1)], "uint64")


def _longer(key: Array, one: bool) -> Array:
    """Return the key with one more step on its path."""
    longer = key.copy()
    if one:
        longer[4:6] |= key[8:]
    longer[8:] = _next_bit(key)
    return longer


def _rehashed(key: Array, counter: Array) -> Array:
    """Return a key with an empty path, hashed from one whose path is full."""
    start = np.zeros(WORDS, "uint64")
    start[:4] = hashed(key[:4], counter[None])[0]
    start[8] = np.uint64(_FIRST)
    return start


def generated(key: Array, count: int) -> tuple[Array, Array]:
    """Return the next key, and `count` words of random bits."""
    if int(key[7]) >= 2**64 - 1 - count:  # the counter would overflow
        if key[8:].any():
            key = _longer(key, one=True)
            key[6:8] = 0
        else:
            key = _rehashed(key, np.full(4, 2**64 - 1, "uint64"))
    blocks, rest = divmod(count, 4)
    words = hashed(key[:4], _counters(key, 0, blocks)).reshape(-1)
    after = key.copy()
    after[6] = 0
    after[7] += np.uint64(count)
    if rest:
        more = hashed(key[:4], _last_counter(key, 4 * blocks))[0]
        words = np.concatenate([words, more[:rest]])
        after[7] = key[7] + np.uint64(4 * blocks + 4)
    return after, words


def _counters(key: Array, first: int, count: int) -> Array:
    """Return the key's path and counter `count` times, each time incremented by one."""
    return key[4:8] + np.arange(first, first + count, dtype="uint64")[:, None]


def _last_counter(key: Array, place: int) -> Array:
    counter = key[4:8].copy()
    counter[3] += np.uint64(place)
    return counter[None]


def split(key: Array) -> tuple[Array, Array]:
    """Split the key into two independent ones."""
    if not key[8:].any():
        key = _rehashed(key, key[4:8])
    return _longer(key, one=False), _longer(key, one=True)


def unit(words: Array, dtype: str) -> Array:
    """Convert `words` to numbers in [0, 1) of the type `dtype`, whose fraction has the words' bits."""
    bits, fraction = (64, 52) if dtype == "float64" else (32, 23)
    mantissa = (words & np.uint64(2**bits - 1)) >> np.uint64(bits - fraction)
    return (mantissa.astype("float64") / 2.0**fraction).astype(dtype)
