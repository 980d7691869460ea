"""A kernel's schedule: the loops that it led to, and how, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ...ir.lazy_dataclass import dataclass
from ..compose import Composed
from ..tvm_types import IRModule, PrimFunc, Trace

Choice = Mapping[str, Any]  # the sizes of tiles and the like that a rule is free in, by name


@dataclass(frozen=True)
class Candidate:
    """A choice, why it is one, and the seconds that its kernel took, where that was measured."""

    choice: Choice
    why: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Scheduled:
    """`mod` holds the scheduled function under the kernel's name; `trace` is TVM's record of the primitives,
    which can be replayed; `rule` names the file of this folder that scheduled; `choice` is what it chose, of
    `candidates`. `refused` are rules that were tried before, and why TVM did not let them finish.
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
        """The primitives, one a line, as Python."""
        return [str(line) for line in self.trace.as_python()]
