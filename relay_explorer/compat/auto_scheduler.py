"""`tvm.auto_scheduler`, so that scripts that search for schedules run to their end with the built-in ones. A
warning names what replaced the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .._missing import remedy
from ..ir.errors import RelayError
from .tuning import ApplyHistoryBest
from .tuning_tasks import Task, say_untuned, tasks_of, touch


def extract_tasks(
    mod: Any, params: Mapping[str, Any] | None, target: Any, target_host: Any = None, **options: Any
) -> tuple[list[Task], list[int]]:
    """Return the tasks of a program, each different call of a convolution, matrix product or the like, and
    how often the program has each.
    """
    return tasks_of([mod], [params], target, None)


class _Options:
    """Options that are accepted and have no effect."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.options = options


class HardwareParams(_Options):
    """Properties of the machine for which schedules are searched."""


class LocalBuilder(_Options):
    """Compiles candidates on this machine."""


class LocalRunner(_Options):
    """Measures candidates on this machine."""


class RPCRunner(_Options):
    """Measures candidates on another machine. No connection to it is opened."""


class LocalRPCMeasureContext(_Options):
    """Measures candidates in a server on this machine, which is never started."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.runner = LocalRunner()


class RandomModel(_Options):
    """A cost model that predicts nothing."""


class XGBModel(_Options):
    """TVM's learned cost model."""


class SketchPolicy(_Options):
    """TVM's search by sketches."""


class EmptyPolicy(_Options):
    """TVM's search that tried the naive schedule."""


class PreloadMeasuredStates(_Options):
    """Skips what a log has measured."""


class PreloadCustomSketchRule(_Options):
    """Adds a rule to the search."""


class TuningOptions(_Options):
    """How long to search, and what to log."""

    def __init__(self, num_measure_trials: int = 0, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.num_measure_trials = num_measure_trials


class RecordToFile(_Options):
    """Would log measurements; the log is created, and stays empty."""

    def __init__(self, filename: str, *args: Any, **options: Any) -> None:
        super().__init__(**options)
        touch(filename)


class RecordReader:
    """Reads a log, which nothing here uses: it has no records."""

    def __init__(self, filename: str) -> None:
        self.filename = filename

    def read_lines(self, max_lines: int | None = None, skip_lines: int = 0) -> tuple[list[Any], list[Any]]:
        return [], []

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class TaskScheduler:
    """TVM's search over the tasks of a program. It searches nothing."""

    def __init__(
        self, tasks: Sequence[Task], task_weights: Sequence[int] | None = None, **options: Any
    ) -> None:
        self.tasks = list(tasks)
        self.task_weights = list(task_weights or [1] * len(self.tasks))

    def tune(self, tune_option: Any, search_policy: Any = "default", **options: Any) -> None:
        """Warn that there is no search, and return."""
        say_untuned("auto_scheduler")


class SearchTask:
    """TVM's search for the schedule of one tensor expression, which is not available."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise RelayError(
            "the search for a schedule of a single tensor expression is not available",
            help=[remedy("tvm.autotvm") or "", remedy("tvm.build") or ""],
        )


def register_workload(func: Any, f: Any = None, override: bool = False) -> Any:
    """Accept a function that describes a workload; return it, or a decorator."""
    if callable(func):
        return func
    return f if f is not None else _same


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def load_records(filename: str) -> Iterator[Any]:
    """Return the records of a log, which nothing here uses: none."""
    return iter(())


def load_best_record(filename: str, *args: Any, **options: Any) -> tuple[None, None]:
    """Return the best record of a log, and its result: there is none."""
    return None, None


__all__ = [
    "ApplyHistoryBest", "EmptyPolicy", "HardwareParams", "LocalBuilder", "LocalRPCMeasureContext",
    "LocalRunner", "PreloadCustomSketchRule", "PreloadMeasuredStates", "RPCRunner", "RandomModel",
    "RecordReader", "RecordToFile", "SearchTask", "SketchPolicy", "TaskScheduler", "TuningOptions",
    "XGBModel", "extract_tasks", "load_best_record", "load_records", "register_workload",
]  # fmt: skip
