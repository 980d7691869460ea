"""`tvm.contrib.debugger.debug_executor`, `tvm.runtime.profiler_vm`, `tvm.runtime.executor.AotModule`: other
ways to run a built program than `graph_executor.GraphModule`, which report more about the run.

    lib = relay.build(mod, "llvm", params=params)
    module = debug_executor.create(lib.get_graph_json(), lib.get_lib(), tvm.cpu())
    print(module.profile(data=image))
    module.debug_get_output("fused_nn_dense").numpy()
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..execute.graph import Launch
from ..ir.errors import RelayError
from .arrays import DeviceArray, array
from .build import Factory
from .devices import Device, cpu
from .graph_module import GraphModule
from .libraries import Library
from .virtual_machine import Executable, VirtualMachine

if TYPE_CHECKING:
    from ..lower.profiling.profile import Profile
    from ..lower.runtime.executable import GraphExecutable


class AotModule(GraphModule):
    """Runs a program that was built for the executor "aot". Here the program determines its executor, so it
    runs like a GraphModule.
    """


class Report:
    """The time of a run by kernel calls: `calls` has one entry for each, in order, with the columns "Name",
    "Duration (us)", "Percent" and "Count".
    """

    def __init__(self, profile: Profile) -> None:
        total = sum(step.seconds for step in profile.steps) or 1.0
        self._profile = profile
        self.calls: list[dict[str, Any]] = [
            {
                "Name": step.kernel.name, "Duration (us)": step.seconds * 1e6,
                "Percent": 100 * step.seconds / total, "Count": 1,
            }
            for step in profile.steps
        ]  # fmt: skip

    def table(self, sort: bool = True, aggregate: bool = True, col_sums: bool = True) -> str:
        """Return a table of the kernels, the slowest first, with their shares, speeds and schedules; the
        options are ignored.
        """
        return str(self._profile)

    def csv(self) -> str:
        """Return the calls as comma-separated values, with a header line."""
        text = io.StringIO()
        writer = csv.DictWriter(text, ["Name", "Duration (us)", "Percent", "Count"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.calls)
        return text.getvalue()

    def json(self) -> str:
        return json.dumps({"calls": self.calls})

    __str__ = __repr__ = table


class GraphModuleDebug(GraphModule):
    """A GraphModule that reports how long each kernel takes, and what it computes. The graph is that of the
    library, and nothing is written to `dump_root`.
    """

    def __init__(
        self,
        module: Factory | Library | GraphModule,
        device: Device | Sequence[Device] = (),
        graph_json_str: str | None = None,
        dump_root: object = None,
    ) -> None:
        super().__init__(module, *(device if isinstance(device, Sequence) else [device]))

    def profile(self, collectors: object = None, **input_dict: Any) -> Report:
        """Run the program, and report the time of each kernel."""
        self.set_input(**input_dict)
        return Report(self._program.profile(*self._values()))

    def run_individual(
        self, number: int, repeat: int = 1, min_repeat_ms: int = 0, **rest: Any
    ) -> list[float]:
        """Return the minimum seconds that each kernel takes in `number` runs, `repeat` times, in the order of
        the graph; 0 for nodes without a kernel.
        """
        profile = self._program.profile(*self._values(), repeat=max(1, number) * max(1, repeat))
        return [0.0] * self._first_kernel() + [step.seconds for step in profile.steps]

    def debug_get_output(self, node: int | str, out: DeviceArray | None = None) -> DeviceArray:
        """Return the output of a graph node, by its index or name: the first output of the first node of that
        name.
        """
        graph, first = self._graph(), self._first_kernel()
        steps = [step for step in graph.program.steps if isinstance(step, Launch)]
        names = [graph.kernels[step.kernel].name for step in steps]
        if isinstance(node, str) and node in names:
            node = first + names.index(node)
        if not isinstance(node, int) or not first <= node < first + len(names):
            raise RelayError(
                f"the graph has no kernel call {node!r:.60}",
                help=[f"its calls are numbers {first} to {first + len(names) - 1}: {', '.join(names[:12])}"],
            )
        value = array(graph.written(node - first, self._values())[0])
        return out.copyfrom(value) if out is not None else value

    def exit(self) -> None:
        """Do nothing: TVM removed the files in `dump_root` here, and none are written."""

    def _graph(self) -> GraphExecutable:
        """Return the program. Raise a RelayError where it is not a graph without branches."""
        from ..lower.runtime.executable import GraphExecutable

        program = self._program
        if isinstance(program, GraphExecutable) and all(isinstance(s, Launch) for s in program.program.steps):
            return program
        raise RelayError(
            "the program is not a graph of kernels: it has branches, functions or data types",
            help=['its values can be watched: relay_explorer.explore(mod, view="evaluation")'],
        )

    def _first_kernel(self) -> int:
        """Return the index of the graph's first node with a kernel; inputs and constants come before it."""
        nodes = json.loads(self.factory.get_graph_json())["nodes"] if self._graph() else []
        return next((k for k, node in enumerate(nodes) if node["op"] != "null"), len(nodes))


def create(
    graph_json_str: str, libmod: Any, device: Device | list[Device] | None = None, dump_root: object = None
) -> GraphModuleDebug:
    """Create a `GraphModuleDebug` from the parts that the result of `relay.build` was unpacked into."""
    return GraphModuleDebug(libmod, device or cpu())


class VirtualMachineProfiler(VirtualMachine):
    """A virtual machine that reports the time of each kernel."""

    def profile(self, *args: Any, func_name: str = "main", **kwargs: Any) -> Report:
        """Run `@main`, and report the time of each of its kernels."""
        if func_name != "main":
            raise RelayError(f"the profile is one of `@main`, not of `@{func_name:.60}`")
        stored, named = self._inputs.get("main", ((), {}))
        positional, by_name = (args, kwargs) if args or kwargs else (stored, named)
        return Report(self.executable._compiled("machine code to measure").profile(*positional, **by_name))


__all__ = ["AotModule", "Executable", "GraphModuleDebug", "Report", "VirtualMachineProfiler", "create"]
