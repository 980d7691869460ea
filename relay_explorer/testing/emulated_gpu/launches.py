"""An emulated GPU's reports of kernel launches."""

from __future__ import annotations

from typing import NamedTuple


class Access(NamedTuple):
    """All reads, or all writes, of one array by the warps of a launch.

    `array` is a parameter of the kernel, or "shared" for the shared memory of its blocks; `requests` is the
    number of requests by warps, `lanes` the total number of their active threads. `units` is the work of the
    memory: sectors of 32 bytes that were read or written, or cycles of the shared memory's banks.
    """

    array: str
    writes: bool
    requests: int
    lanes: int
    units: int


class Launch(NamedTuple):
    """A kernel launch: the sizes of its grid and its blocks, bytes of shared memory per block; `accesses`
    where they were counted.
    """

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    accesses: tuple[Access, ...] = ()

    @property
    def threads(self) -> int:
        """The number of threads of the launch."""
        count = 1
        for size in (*self.grid, *self.block):
            count *= size
        return count


def launches(report: str) -> list[Launch]:
    """Parse a report of gpu.cpp: one line per launch, and one line indented by two spaces per array."""
    result: list[Launch] = []
    for line in report.splitlines():
        words = line.replace("(", "").replace(")", "").replace(",", "").split()
        if line.startswith("  "):
            access = Access(words[0], words[1] == "write", int(words[2]), int(words[3]), int(words[4]))
            result[-1] = result[-1]._replace(accesses=(*result[-1].accesses, access))
        else:
            sizes = [int(word) for word in words[1:]]
            result.append(Launch(words[0], tuple(sizes[:3]), tuple(sizes[3:6]), sizes[6]))
    return result
