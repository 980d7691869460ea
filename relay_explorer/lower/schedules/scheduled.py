"""The result of scheduling a kernel: its loops, and the primitives that led to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ...ir.lazy_dataclass import dataclass
from ..compose import Composed
from ..tvm_types import IRModule, PrimFunc, Trace

Choice = Mapping[str, Any]  # the parameters that a rule is free to choose, such as tile sizes, by name


@dataclass(frozen=True)
class Candidate:
    """A choice, the reason for it, and the seconds that its kernel took, if that was measured."""

    choice: Choice
    why: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Scheduled:
    """A scheduled kernel. `mod` contains the scheduled function under the kernel's name; `trace` is TVM's
    record of the primitives, which can be replayed; `rule` names the file of this folder that scheduled the
    kernel; `choice` is its choice among `candidates`. `refused` lists rules that failed before, with TVM's
    reason.
    """

    composed: Composed
    mod: IRModule
    trace: Trace
    rule: str
    choice: Choice = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def prim_func(self) -> PrimFunc:
        return self.mod[self.composed.name]

    @property
    def steps(self) -> list[str]:
        """The primitives as lines of Python."""
        return [str(line) for line in self.trace.as_python()]
