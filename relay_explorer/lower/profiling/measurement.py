"""Measurements of a program's run: when each kernel ran, how long it took, and the machine's peak
performance.

A measurement is data. It is made once, on a machine that it names, and stored in a file; the lowering
explorer can show it anywhere, without that machine. `measure` makes one, `Measurement.load` reads one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...execute.tensor_arguments import whole
from ...ir.errors import RelayError
from ...ir.hooks import hook
from ...ir.lazy_dataclass import dataclass
from ...ir.types import TensorType
from ..runtime.kernel import Kernel
from ..runtime.services import provides
from ..runtime.virtual import parsed_type
from ..targets.target import Target
from .peak import Limits, limits
from .timed import fastest, timed

if TYPE_CHECKING:
    from ..runtime.executable import Executable

FORMAT, VERSION = "relay-explorer-measurement", 1
STORED = ("mobilenet", "resnet18")  # models whose measurements come with the package
RUNS = 200  # the most runs, of which the fastest is recorded


class MeasuredKernel(NamedTuple):
    """A kernel of the program: its name, its Relay function as text, the rule and choice of its schedule, the
    types of its results, its floating-point operations, and the bytes of its arguments and results.
    """

    name: str
    text: str
    rule: str
    choice: Mapping[str, Any]
    result: str
    flops: int
    traffic: int


class MeasuredLaunch(NamedTuple):
    """One call of a kernel: its index, its start and its duration in nanoseconds."""

    kernel: int
    start: int
    ns: int


@dataclass(frozen=True)
class Measurement:
    """The fastest of `runs` runs, with its `launches` in order; `ns` is the minimum time of a run without
    reading the clock in between. `limits` is the peak performance of `machine`, measured at the same time;
    `target` is the target of the kernels, as JSON, and `caches` the bytes of its L1 and L2 caches. `executor`
    called the kernels: "graph", "vm", or "aot".
    """

    program: str
    machine: str
    target: str
    caches: tuple[int, int]
    limits: Limits
    runs: int
    ns: int
    kernels: tuple[MeasuredKernel, ...]
    launches: tuple[MeasuredLaunch, ...]
    executor: str = "graph"

    @property
    def span(self) -> int:
        """The nanoseconds from the start of the first launch to the end of the last."""
        return self.launches[-1].start + self.launches[-1].ns if self.launches else 0

    def calls(self, kernel: int) -> list[MeasuredLaunch]:
        """Return the launches of one kernel."""
        return [launch for launch in self.launches if launch.kernel == kernel]

    @property
    def compiled_for(self) -> Target:
        """The target of the kernels, with the threads and caches of the measured machine."""
        options = {**json.loads(self.target), "num-cores": self.limits.threads}
        return replace(Target.of(options), caches=self.caches)

    def remade(self, number: int) -> Kernel:
        """Build a kernel again, scheduled with the same choices for the same target, so that it can be
        inspected at every level on any machine.
        """
        measured = self.kernels[number]
        where = self.compiled_for
        entry = {"rule": measured.rule, "choice": dict(measured.choice), "host": measured.rule == "host"}
        return Kernel(measured.name, measured.name, measured.text, where, entry)

    def plot(self, ax: Any = None, *, kernels: Sequence[str] | None = None, theme: str = "light") -> Any:
        """Draw the roofline: `relay_explorer.interop.plot_roofline`. Return matplotlib's Axes."""
        return hook("plot")(self, ax, kernels=kernels, theme=theme)

    # -- as a file

    def to_dict(self) -> dict[str, Any]:
        """Convert the measurement to lists, dictionaries, strings and integers."""
        most = self.limits
        return {
            "format": FORMAT, "version": VERSION, "program": self.program, "machine": self.machine,
            "target": json.loads(self.target), "caches": list(self.caches),
            "limits": {
                "flops": round(most.flops), "bandwidth": round(most.bandwidth), "threads": most.threads,
            },
            **({} if self.executor == "graph" else {"executor": self.executor}),
            "runs": self.runs, "ns": self.ns,
            "kernels": [{**k._asdict(), "choice": dict(k.choice)} for k in self.kernels],
            "launches": [list(launch) for launch in self.launches],
        }  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the measurement to a file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n", "utf-8")

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Measurement:
        """Read a file that `save` wrote. Raise a RelayError that names the reason if it cannot be used."""
        try:
            return Measurement.from_dict(json.loads(Path(path).read_text("utf-8")))
        except (ValueError, RelayError) as problem:
            reason = problem.message if isinstance(problem, RelayError) else "it is not JSON"
            raise RelayError(f"`{path}` is not a measurement: {reason}", help=[_MAKE]) from None

    @staticmethod
    def from_dict(data: object) -> Measurement:
        """Restore a measurement from the result of `to_dict`."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise RelayError(f'its "format" is not "{FORMAT}"', help=[_MAKE])
        if data.get("version") != VERSION:
            raise RelayError(f"its version is {data.get('version')!r:.20}, not {VERSION}", help=[_MAKE])
        try:
            measurement = _read(data)
        except (KeyError, TypeError, ValueError) as problem:
            raise RelayError(f"a part of it is missing or damaged ({problem!r:.80})", help=[_MAKE]) from None
        if not measurement.launches or any(
            not 0 <= n.kernel < len(measurement.kernels) for n in measurement.launches
        ):
            raise RelayError("it has launches of kernels that it does not contain", help=[_MAKE])
        return measurement


def stored(name: str) -> Measurement:
    """Load a measurement that comes with the package: of "resnet18" or "mobilenet", with random weights, at
    batch size 1. `python -m benchmarks.run_of_a_model` produced them.
    """
    if name not in STORED:
        raise RelayError(
            f"there is no measurement of {name!r:.60} here",
            help=[f"there are {', '.join(map(repr, STORED))}"],
        )
    return Measurement.load(Path(__file__).parent / "measured" / f"{name}.json")


_MAKE = "make one: exe.measure().save(path)"


def _read(data: dict[str, Any]) -> Measurement:
    most = data["limits"]
    limits = Limits(float(most["flops"]), float(most["bandwidth"]), int(most["threads"]))
    if not (limits.flops > 0 and limits.bandwidth > 0 and limits.threads > 0):
        raise ValueError("limits that are not positive")
    first, second = data["caches"]
    return Measurement(
        str(data["program"]), str(data["machine"]), json.dumps(data["target"], sort_keys=True),
        (int(first), int(second)), limits, int(data["runs"]), int(data["ns"]),
        tuple([_kernel(k) for k in data["kernels"]]),
        tuple([MeasuredLaunch(int(k), int(start), max(1, int(ns))) for k, start, ns in data["launches"]]),
        str(data.get("executor", "graph")),
    )  # fmt: skip


def _kernel(k: dict[str, Any]) -> MeasuredKernel:
    return MeasuredKernel(
        str(k["name"]), str(k["text"]), str(k["rule"]), dict(k["choice"]), str(k["result"]), int(k["flops"]),
        int(k["traffic"]),
    )  # fmt: skip


# -- measuring


@provides("measure")
def measure(
    exe: Executable, args: Sequence[Any] = (), program: str = "program", runs: int = RUNS
) -> Measurement:
    """Measure a program: run it up to `runs` times, reading the clock before and after every kernel, and
    record the fastest run. Also measure the peak performance of this machine. This takes a few seconds.

    Without `args`, the program runs on random values. In a program of the virtual machine, the arguments
    determine which kernels are called, and how often; if they also determine sizes, the operations and bytes
    of a kernel are averages over its calls.
    """
    runs = whole(runs, "runs")
    most = limits(exe.target)
    timer = timed(exe, args or _random_arguments(exe))
    count, calls, ns = fastest(timer, max(1, runs), 1)
    ran = {call.kernel for call in calls}
    kernels = [
        MeasuredKernel(
            k.name, k.text, k.rule, k.choice,
            ", ".join(map(str, k.output_types)), *(timer.cost(number) if number in ran else (0, 0)),
        )
        for number, k in enumerate(timer.kernels)
    ]  # fmt: skip
    launches = [MeasuredLaunch(n, start - calls[0].start, max(1, stop - start)) for n, start, stop in calls]
    return Measurement(
        program, machine(), exe.target.options, exe.target.caches, most, count, ns, tuple(kernels),
        tuple(launches), timer.caller,
    )  # fmt: skip


def _random_arguments(exe: Executable) -> list[Any]:
    """Create arguments of the right types: normally distributed numbers, or zeros where a type is not
    floating point. None is denormal, since that would be slow. Raise a RelayError unless all are static
    tensors.
    """
    import numpy as np

    generator = np.random.default_rng(0)
    values: list[Any] = []
    for param in exe.inputs:
        type_ = parsed_type(param.type)
        if not isinstance(type_, TensorType) or not type_.is_static:
            raise RelayError(
                f"the argument `%{param.name}` is a `{param.type}`: pass the arguments to measure with",
                help=["exe.measure(…), or explore(exe, view='lowering', measure=True, args=[…])"],
            )
        shape = type_.concrete_shape
        dtype = "float32" if type_.dtype == "bfloat16" else type_.dtype
        numbers = generator.normal(size=shape) if "float" in type_.dtype else np.zeros(shape)
        values.append(np.asarray(numbers, dtype))
    return values


def machine() -> str:
    """Describe this machine in one line: its processor and number of cores."""
    import platform

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text("utf-8", "replace").splitlines():
            if line.startswith(("model name", "Model")):
                model = line.partition(":")[2].strip() or model
                break
    count = os.cpu_count() or 1
    return f"{model}, {count} core{'' if count == 1 else 's'}, {platform.system()}"
