"""Build the view of a compiled program: of one of its kernels, or of a measured run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...ir.errors import RelayError
from ...lower.build import build
from ...lower.profiling.measurement import Measurement, measure
from ...lower.runtime.executable import Executable
from ...lower.runtime.kernel import Kernel
from ..format import View
from ..run.format import Level, RunView
from ..run.view import run_view
from .view import lowering_view

MAIN = "program"


def compiled_view(
    x: object, kernel: Any, title: str, timed: bool, args: Sequence[object], ptx: bool
) -> tuple[View, Opened | None]:
    """Build the view of a measurement, a kernel, a compiled program or a module; for a run, also return the
    object that opens more of its kernels. `timed` measures a run on this machine or, if one `kernel` is
    chosen, its times.
    """
    if isinstance(x, Measurement):
        shown = run_view(x, kernel, title)
        return shown, Opened(x, shown)
    several = kernel is None or not isinstance(kernel, (str, int))
    if not several or not timed or isinstance(x, Kernel):
        if several and kernel is not None:
            raise ValueError("several kernels can only be shown as part of a run: measure=True")
        return lowering_view(x, kernel, title, timed, ptx), None
    exe = x if isinstance(x, Executable) else build(x, quiet=True)  # type: ignore[arg-type]  # it checks
    measured = measure(exe, args, title or MAIN)
    shown = run_view(measured, kernel, title, exe.kernels)
    return shown, Opened(measured, shown, lambda number: exe.kernels[number])


class Opened:
    """A run shown by a live widget, for which Python can build the levels of any of its kernels."""

    def __init__(
        self, measured: Measurement, view: RunView, kernel_of: Callable[[int], Kernel] | None = None
    ) -> None:
        self.view = replace(view, live=True)
        self._kernel_of = kernel_of or measured.remade
        self._number = {k.name: number for number, k in enumerate(measured.kernels)}

    def answer(self, question: Mapping[str, Any]) -> RunView:
        """Return the view with the levels of one more kernel, `{"kernel": number}`, by its number in the
        view.
        """
        kernel = question.get("kernel")
        if type(kernel) is not int or not 0 <= kernel < len(self.view.kernels):
            raise RelayError(f"the run has no kernel {kernel!r:.40}")
        if kernel not in [number for number, _ in self.view.levels]:
            level = lowering_view(self._kernel_of(self._number[self.view.kernels[kernel].name]))
            self.view = replace(self.view, levels=(*self.view.levels, Level(kernel, level)))
        return self.view
