"""What old code asks about tuned schedules and code generators. Nothing is tuned: the schedules are fixed."""

from __future__ import annotations

import warnings
from typing import Any

from .._missing import remedy
from .compiling import compiler_is_here
from .hook import real_tvm


class DispatchContext:
    """Chose schedules for the operators that were compiled in its `with`. It may be derived from and used;
    there are no schedules to choose.
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
        """Return the schedule of a workload, as a derived class finds it."""
        return self._query_inside(target, workload)

    def _query_inside(self, target: object, workload: object) -> Any:
        return None


class FallbackContext(DispatchContext):
    """Chose schedules by rules."""


class ApplyHistoryBest(DispatchContext):
    """Chose the best schedules of a log. Says once that there is nothing to apply them to."""

    def __init__(self, records: object, **options: object) -> None:
        super().__init__()
        self.records = records
        warnings.warn(f"a log of tuning is not used: {remedy('tvm.autotvm')}", stacklevel=2)


def _infer_tile_size(data: Any, kernel: Any) -> int:
    raise NotImplementedError(f"CUDA's Winograd schedule is not here: {remedy('tvm.build')}")


apply_history_best = ApplyHistoryBest


def llvm_version_major(allow_none: bool = False) -> int | None:
    """Return the version of the installed TVM's LLVM; without TVM 0, or None where that is asked for."""
    if not compiler_is_here():
        return None if allow_none else 0
    return int(real_tvm("tvm.target.codegen").llvm_version_major())


def have_fp16(compute_version: str) -> bool:
    """Whether an NVIDIA GPU of that version computes in half precision: 5.3, and from 6.0 on."""
    major, _, minor = str(compute_version).partition(".")
    return int(major) >= 6 or (int(major), int(minor or 0)) == (5, 3)


def exists() -> bool:
    """Whether a library of operators is there. None is."""
    return False
