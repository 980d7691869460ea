"""`tvm.autotvm`, so that scripts that tune run to their end with the built-in schedules. A warning names what
replaced tuning.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .tuning_tasks import Task, say_untuned, tasks_of, touch


def extract_from_program(
    mod: Any,
    params: Mapping[str, Any] | None = None,
    target: Any = None,
    target_host: Any = None,
    ops: Any = None,
) -> list[Task]:
    """Return the tasks of a program: its convolutions, matrix products and the like, each once."""
    return tasks_of([mod], [params], target, ops)[0]


def extract_from_multiple_program(
    mods: Sequence[Any],
    params: Sequence[Mapping[str, Any] | None],
    target: Any = None,
    target_host: Any = None,
    ops: Any = None,
) -> list[Task]:
    """Return the tasks of several programs, each once."""
    return tasks_of(mods, params, target, ops)[0]


class Builder:
    """How candidates are compiled. Its options are accepted, and have no effect."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.options = options


class Runner(Builder):
    """How candidates are measured. Its options are accepted, and have no effect."""


class LocalBuilder(Builder):
    """Compiles candidates on this machine."""


class LocalRunner(Runner):
    """Measures candidates on this machine."""


class RPCRunner(Runner):
    """Measures candidates on another machine. No connection to it is opened."""


def measure_option(builder: Any, runner: Any) -> dict[str, Any]:
    """Combine how candidates are compiled and measured."""
    return {"builder": builder, "runner": runner}


class Tuner:
    """A tuner, which tries no candidates."""

    def __init__(self, task: Task, *args: Any, **options: Any) -> None:
        self.task = task
        self.best_config: Any = None
        self.best_flops = 0.0

    def tune(
        self,
        n_trial: int,
        measure_option: Any = None,
        early_stopping: int | None = None,
        callbacks: Iterable[Callable[..., Any]] = (),
        si_prefix: str = "G",
    ) -> None:
        """Warn that nothing is tuned, and return."""
        say_untuned("autotvm")

    def load_history(self, data_set: Any, min_seed_records: int = 500) -> None:
        """Accept records of earlier tuning."""

    def has_next(self) -> bool:
        return False

    def reset(self) -> None:
        """Return to the beginning."""


class XGBTuner(Tuner):
    """TVM's tuner with a learned cost model."""


class XGBTunerCurve(XGBTuner):
    """TVM's tuner with a cost model of curves."""


class GATuner(Tuner):
    """TVM's genetic tuner."""


class RandomTuner(Tuner):
    """TVM's tuner that tried candidates at random."""


class GridSearchTuner(Tuner):
    """TVM's tuner that tried all candidates in order."""


class BaseGraphTuner:
    """TVM's tuner of layouts. It chooses none, because the compiler does."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def benchmark_layout_transform(self, *args: Any, **options: Any) -> None:
        """Measure nothing."""

    def run(self, **options: Any) -> None:
        """Warn that nothing is tuned, and return."""
        say_untuned("autotvm")

    def write_opt_sch2record_file(self, record_file: str = "graph_opt_schedule.log") -> None:
        """Create an empty log, if there is none."""
        touch(record_file)


class DPTuner(BaseGraphTuner):
    """TVM's tuner of layouts by dynamic programming."""


class PBQPTuner(BaseGraphTuner):
    """TVM's tuner of layouts by quadratic assignment."""


def log_to_file(file_out: Any, protocol: str = "json") -> Callable[..., None]:
    """Return a callback that would log measurements; the log is created, and stays empty."""
    if not hasattr(file_out, "write"):
        touch(file_out)
    return _nothing


def progress_bar(total: int, prefix: str = "", si_prefix: str = "G") -> Callable[..., None]:
    """Return a callback that would show progress."""
    return _nothing


def _nothing(*args: Any) -> None:
    pass


def pick_best(in_file: str, out_file: Any) -> None:
    """Copy a log's best records: all of it, because nothing was measured."""
    if hasattr(out_file, "write"):
        out_file.write(Path(in_file).read_text("utf-8"))
    elif Path(in_file).resolve() != Path(out_file).resolve():
        shutil.copyfile(in_file, out_file)


def load_from_file(filename: Any) -> Iterator[Any]:
    """Return the records of a log, which nothing here uses: none."""
    return iter(())


def encode(inp: Any, result: Any, protocol: str = "json") -> str:
    """Return a record as one line of text."""
    return str((inp, result))


__all__ = [
    "Builder", "DPTuner", "GATuner", "GridSearchTuner", "LocalBuilder", "LocalRunner", "PBQPTuner",
    "RPCRunner", "RandomTuner", "Runner", "Task", "Tuner", "XGBTuner", "XGBTunerCurve", "encode",
    "extract_from_multiple_program", "extract_from_program", "load_from_file", "log_to_file",
    "measure_option", "pick_best", "progress_bar",
]  # fmt: skip
