"""Links kernels and a program into an executable: for the graph executor, for the virtual machine, or as C.

Executables can be saved and measured, so this package imports the packages that do so.
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
        """The primitive functions that the program needs kernels for, in the order of `link`'s argument."""
        ...

    def link(self, kernels: Sequence[Kernel]) -> Executable:
        """Link the program with its kernels, one for each of `functions`."""
        ...
