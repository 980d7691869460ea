"""Stand-ins for TVM's interfaces to tuned schedules and code generators. Nothing is tuned: the schedules are
fixed.
"""

from __future__ import annotations

from typing import Any

from .._missing import remedy
from .compiling import compiler_is_here, say_once
from .hook import real_tvm


class DispatchContext:
    """TVM's base of contexts that choose schedules for the operators compiled inside their `with`. It can be
    derived from and entered, but there are no schedules to choose.
    """

    current: DispatchContext | None = None

    def __init__(self) -> None:
        self._outer: DispatchContext | None = None
        self.memory: dict[Any, Any] = {}

    def __enter__(self) -> Any:
        self._outer, DispatchContext.current = DispatchContext.current, self
        return self

    def __exit__(self, *exception: object) -> None:
        DispatchContext.current = self._outer

    def query(self, target: object, workload: object) -> Any:
        """Return the schedule that a derived class chooses for a workload."""
        return self._query_inside(target, workload)

    def _query_inside(self, target: object, workload: object) -> Any:
        return None


class FallbackContext(DispatchContext):
    """TVM's context that chose schedules by rules."""


class ApplyHistoryBest(DispatchContext):
    """TVM's context that chose the best schedules of a tuning log. It warns that the log is not used."""

    def __init__(self, records: object, **options: object) -> None:
        super().__init__()
        self.records = records
        say_once("a log of tuning", f"is not used: {remedy('tvm.autotvm')}")


def _infer_tile_size(data: Any, kernel: Any) -> int:
    raise NotImplementedError(f"CUDA's Winograd schedule is not available: {remedy('tvm.build')}")


class ApplyGraphBest(ApplyHistoryBest):
    """TVM's context that chose layouts and schedules of a whole graph from a log. The log is not used."""


class ApplyFixedConfig(ApplyHistoryBest):
    """TVM's context that used one schedule for all workloads. It is not used."""


apply_history_best = ApplyHistoryBest
apply_graph_best = ApplyGraphBest


def llvm_version_major(allow_none: bool = False) -> int | None:
    """Return the version of the installed TVM's LLVM; without TVM 0, or None if `allow_none`."""
    if not compiler_is_here():
        return None if allow_none else 0
    return int(real_tvm("tvm.target.codegen").llvm_version_major())


def have_fp16(compute_version: str) -> bool:
    """Whether an NVIDIA GPU of that compute capability supports half precision: 5.3, and from 6.0 on."""
    major, _, minor = str(compute_version).partition(".")
    return int(major) >= 6 or (int(major), int(minor or 0)) == (5, 3)


def can_use_thrust(target: object, func_name: str) -> bool:
    """Whether sorting calls NVIDIA's Thrust: it does not."""
    return False


def exists() -> bool:
    """Whether a library of operators is available: none is."""
    return False


__all__ = [
    "ApplyFixedConfig", "ApplyGraphBest", "ApplyHistoryBest", "DispatchContext", "FallbackContext",
    "apply_graph_best", "apply_history_best",
]  # fmt: skip
