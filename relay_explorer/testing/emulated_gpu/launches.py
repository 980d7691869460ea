"""What an emulated GPU tells of each launch."""

from __future__ import annotations

from typing import NamedTuple


class Access(NamedTuple):
    """All reads, or all writes, of one array by the warps of a launch.

    `array` is a parameter of the kernel, or "shared" for the shared memory of its blocks; `requests` how
    often a warp asked, `lanes` how many of its threads took part, in all. `units` is what the memory did:
    pieces of 32 bytes that were fetched or written, or turns of the banks of shared memory.
    """

    array: str
    writes: bool
    requests: int
    lanes: int
    units: int


class Launch(NamedTuple):
    """A kernel that ran: the sizes of its grid and its blocks, bytes of shared memory a block; `accesses`
    where they were counted.
    """

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    accesses: tuple[Access, ...] = ()

    @property
    def threads(self) -> int:
        """All threads of the launch."""
        found = 1
        for size in (*self.grid, *self.block):
            found *= size
        return found


def launches(report: str) -> list[Launch]:
    """Those of a report (`told` in gpu.cpp): a line a launch, a line with two blanks an array."""
    found: list[Launch] = []
    for line in report.splitlines():
        words = line.replace("(", "").replace(")", "").replace(",", "").split()
        if line.startswith("  "):
            access = Access(words[0], words[1] == "write", int(words[2]), int(words[3]), int(words[4]))
            found[-1] = found[-1]._replace(accesses=(*found[-1].accesses, access))
        else:
            sizes = [int(word) for word in words[1:]]
            found.append(Launch(words[0], tuple(sizes[:3]), tuple(sizes[3:6]), sizes[6]))
    return found
