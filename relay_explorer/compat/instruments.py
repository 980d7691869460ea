"""`tvm.ir.instrument`: objects that observe passes while they run, `PassContext(instruments=[…])`."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from ..ir.module import IRModule
from ..transform import PassInfo


class PassInstrument:
    """The base of instruments; a subclass overrides some methods. A pass runs if every `should_run` returns
    True.
    """

    def enter_pass_ctx(self) -> None:
        """Handle the entry into a context."""

    def exit_pass_ctx(self) -> None:
        """Handle the exit from a context."""

    def should_run(self, mod: IRModule, info: PassInfo) -> bool:
        return True

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        """Handle that a pass is about to run on `mod`."""

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        """Handle that a pass has returned `mod`."""


def pass_instrument(pi_cls: type | None = None) -> Any:
    """Turn a class that has some of the methods into an instrument; a decorator."""

    def make(cls: type) -> type:
        return type(
            cls.__name__, (cls, PassInstrument), {"__doc__": cls.__doc__, "__module__": cls.__module__}
        )

    return make if pi_cls is None else make(pi_cls)


class PassTimingInstrument(PassInstrument):
    """Measures how long each pass takes; `render` returns the report."""

    def __init__(self) -> None:
        self._open: list[tuple[int, float]] = []
        self._rows: list[tuple[int, str, float]] = []  # depth, name, seconds

    def enter_pass_ctx(self) -> None:
        self._open.clear()
        self._rows.clear()

    exit_pass_ctx = enter_pass_ctx  # as in TVM: measurements are read before the context ends

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        self._open.append((len(self._rows), time.perf_counter()))
        self._rows.append((len(self._open) - 1, info.name, 0.0))

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        row, start = self._open.pop()
        depth, name, _ = self._rows[row]
        self._rows[row] = (depth, name, time.perf_counter() - start)

    def render(self) -> str:
        """Return one line per pass; the passes of a pipeline are indented below it."""
        return "\n".join(
            f"{'  ' * depth}{name}: {1e6 * seconds:.0f} us" for depth, name, seconds in self._rows
        )


class PassPrintingInstrument(PassInstrument):
    """Prints the module before the passes with some names, and after those with others."""

    def __init__(
        self, print_before_pass_names: Collection[str] = (), print_after_pass_names: Collection[str] = ()
    ) -> None:
        self.before = print_before_pass_names
        self.after = print_after_pass_names

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        if info.name in self.before:
            print(f"Before {info.name}:\n{mod}\n")

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        if info.name in self.after:
            print(f"After {info.name}:\n{mod}\n")


class PrintBeforeAll(PassInstrument):
    """Prints the module before each pass."""

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        print(f"Before {info.name}:\n{mod}\n")


class PrintAfterAll(PassInstrument):
    """Prints the module after each pass."""

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        print(f"After {info.name}:\n{mod}\n")


__all__ = [
    "PassInstrument", "PassPrintingInstrument", "PassTimingInstrument", "PrintAfterAll", "PrintBeforeAll",
    "pass_instrument",
]  # fmt: skip
