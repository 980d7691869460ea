"""The functions of the exercise `warp_access`, and its right answers: the accesses of a warp, the memory
sectors that they touch, and the shared-memory banks that they access.

Addresses are in bytes. NVIDIA, "CUDA C++ Best Practices Guide": accesses to global memory are served in
sectors of 32 bytes (compute capability 6.0 and later), shared memory has 32 banks of 4 bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from ..answer_values import withheld

WARP = 32  # threads
SECTOR = 32  # bytes of a sector
BANKS, WORD = 32, 4  # of shared memory, and the bytes that one of them serves at a time

Place = tuple[int, int]  # a row and a column of a tile


def strided(count: int, step: int, first: int = 0, size: int = 4) -> list[int]:
    """Return the addresses of that many threads, `step` elements of `size` bytes apart."""
    return [size * (first + step * thread) for thread in range(count)]


def block_access(place: Callable[[int, int], Place], width: int, threads: int = WARP) -> list[Place]:
    """Return the elements of a tile that a warp's threads access, in thread blocks of width `width`:
    `place` is called with threadIdx.x and threadIdx.y.
    """
    return [place(thread % width, thread // width) for thread in range(threads)]


def addresses_of(places: Iterable[Place], length: int) -> list[int]:
    """Return the addresses of elements, as (row, column), of a tile whose rows are `length` words long."""
    return [WORD * (row * length + column) for row, column in places]


@withheld
def sectors(addresses: Sequence[int], size: int) -> int:
    """Count the sectors that are touched. An element lies in one sector, since its address is
    a multiple of its size.
    """
    return len({address // SECTOR for address in addresses})


@withheld
def cycles(addresses: Sequence[int]) -> int:
    """Return the largest number of words that any bank must serve: one cycle per different word."""
    expected: dict[int, set[int]] = defaultdict(set)
    for address in addresses:
        word = address // WORD
        expected[word % BANKS].add(word)
    return max(map(len, expected.values()), default=0)


@withheld
def worst(length: int, accesses: Sequence[Sequence[Place]]) -> int:
    """Return the cycles of the slowest access, with rows of that length."""
    return max((cycles(addresses_of(places, length)) for places in accesses), default=0)


@withheld
def best_length(columns: int, accesses: Sequence[Sequence[Place]]) -> int:
    """Return the shortest row length whose slowest access has the smallest bank conflict. The pattern of
    banks repeats after 32 words, so there are only 32 lengths to try.
    """
    return min(range(columns, columns + BANKS), key=lambda length: (worst(length, accesses), length))


__all__ = [
    "BANKS",
    "SECTOR",
    "WARP",
    "WORD",
    "Place",
    "addresses_of",
    "best_length",
    "block_access",
    "cycles",
    "sectors",
    "strided",
    "worst",
]  # fmt: skip
