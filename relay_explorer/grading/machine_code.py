"""The machine code of scheduled answers, for this machine. It is compiled once per loop nest, because a
check, the graded cells and their hidden tests use the same ones.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

from ..lower.codegen.compile_kernel import generated
from ..lower.require import runtime
from ..lower.runtime.kernel import Kernel
from ..lower.schedules import Scheduled

KEPT = 128  # kernels; most have a few kilobytes


class Loops:
    """A scheduled kernel. Two are equal if their loops are, whatever their names."""

    def __init__(self, result: Scheduled) -> None:
        self.scheduled = result
        self.key: Any = runtime().StructuralKey(result.mod)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loops) and bool(self.key == other.key)


def machine_code(result: Scheduled) -> Any:
    """Return TVM's executable. Raise a RelayError if TVM cannot build one."""
    return _machine_code(Loops(result))


@lru_cache(KEPT)
def _machine_code(loops: Loops) -> Any:
    return generated(loops.scheduled)


class RememberedKernel(Kernel):
    """Return a kernel of this process, whose machine code is cached."""

    @cached_property
    def _generated(self) -> Any:
        return machine_code(self.scheduled)
