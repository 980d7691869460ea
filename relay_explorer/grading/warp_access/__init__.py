"""What the exercise `warp_access` gives to a learner, and what right answers are: the accesses of a warp, the
pieces of memory that they touch, and the banks of shared memory that they ask.

Addresses are in bytes. NVIDIA, "CUDA C++ Best Practices Guide": accesses to global memory are served in
pieces of 32 bytes (compute capability 6.0 and later), shared memory has 32 banks of 4 bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from ..answer_values import withheld

WARP = 32  # threads
PIECE = 32  # bytes that are fetched together
BANKS, WORD = 32, 4  # of shared memory, and bytes of what one of them gives at a time

Place = tuple[int, int]  # a row and a column of a tile


def strided(count: int, step: int, first: int = 0, size: int = 4) -> list[int]:
    """Return the addresses of so many threads, `step` elements of `size` bytes apart."""
    return [size * (first + step * thread) for thread in range(count)]


def block_access(place: Callable[[int, int], Place], width: int, threads: int = WARP) -> list[Place]:
    """Return the elements of a tile that a warp's threads touch, in blocks that are `width` threads wide:
    `place` is called with threadIdx.x and threadIdx.y.
    """
    return [place(thread % width, thread // width) for thread in range(threads)]


def addresses_of(places: Iterable[Place], length: int) -> list[int]:
    """Where places lie whose rows are `length` words long."""
    return [WORD * (row * length + column) for row, column in places]


@withheld
def pieces(addresses: Sequence[int], size: int) -> int:
    """Pieces of memory that are touched: an element lies in one, since its address is a multiple of its
    size.
    """
    return len({address // PIECE for address in addresses})


@withheld
def turns(addresses: Sequence[int]) -> int:
    """How often the bank has to be asked that is asked most: once for each word that is wanted of it."""
    expected: dict[int, set[int]] = defaultdict(set)
    for address in addresses:
        word = address // WORD
        expected[word % BANKS].add(word)
    return max(map(len, expected.values()), default=0)


@withheld
def worst(length: int, accesses: Sequence[Sequence[Place]]) -> int:
    """Return the largest number of serialized accesses, the degree of the worst bank conflict, with rows of
    that length.
    """
    return max((turns(addresses_of(places, length)) for places in accesses), default=0)


@withheld
def best_length(columns: int, accesses: Sequence[Sequence[Place]]) -> int:
    """Return the shortest row length whose worst access has the smallest bank conflict. Banks repeat after 32
    words, so there are only 32 lengths to try.
    """
    return min(range(columns, columns + BANKS), key=lambda length: (worst(length, accesses), length))


__all__ = [
    "BANKS", "PIECE", "WARP", "WORD", "Place", "addresses_of", "best_length", "block_access", "pieces",
    "strided", "turns", "worst",
]  # fmt: skip
