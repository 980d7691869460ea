"""From kernels and a program to an executable: for the graph executor, the virtual machine, and as C.

What is linked can be saved and measured, so those rooms are loaded with this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...ir.expr import Function
from .. import profiling as profiling
from .. import saving as saving
from ..runtime.executable import Executable
from ..runtime.kernel import Kernel


class Unlinked(Protocol):
    """A program for an executor, whose kernels are not compiled yet."""

    @property
    def functions(self) -> Sequence[Function]:
        """The primitive functions that it needs kernels of, in the order in which `link` takes them."""
        ...

    def link(self, kernels: Sequence[Kernel]) -> Executable:
        """Put the program and its kernels, one for each of `functions`, together."""
        ...
