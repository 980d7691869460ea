"""Describe a compiled program as the JSON graph that TVM's graph executor read: nodes, storage, shapes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..execute.graph import GraphProgram, Launch

if TYPE_CHECKING:
    from ..lower.runtime.executable import Executable


def graph_json(exe: Executable) -> str:
    """Return the graph of a program that only launches kernels; other programs as Relay text.

    Inputs and constants are the nodes without an operator. Tensors at the same offset in memory share one
    storage.
    """
    program = exe.program
    if not isinstance(program, GraphProgram) or not all(isinstance(s, Launch) for s in program.steps):
        return exe.text
    return json.dumps(_Graph(exe, program).described())


class _Graph:
    def __init__(self, exe: Executable, program: GraphProgram) -> None:
        self.exe, self.program = exe, program
        self.nodes: list[dict[str, Any]] = []
        self.arguments: list[int] = []
        self.entries: list[tuple[int, str, tuple[int, ...]]] = []  # storage, element type, shape
        self.rows = [0]
        self.node_of: dict[int, list[int]] = {}  # by tensor: node, output, version
        self.storages: dict[int, int] = {}  # by offset in memory

    def described(self) -> dict[str, Any]:
        for param in self.program.inputs:
            for number in _leaves(param.nest):
                self._plain(param.name, number)
        for count, number in enumerate(self.program.constants):
            self._plain(f"p{count}", number)
        for step in self.program.steps:
            assert isinstance(step, Launch)
            self._launch(step)
        storages, dtypes, shapes = zip(*self.entries) if self.entries else ((), (), ())
        heads = [self.node_of[number] for number, _ in _leaves_of_result(self.program.result)]
        return {
            "nodes": self.nodes,
            "arg_nodes": self.arguments,
            "heads": heads,
            "attrs": {
                "dltype": ["list_str", list(dtypes)],
                "storage_id": ["list_int", list(storages)],
                "shape": ["list_shape", [list(shape) for shape in shapes]],
            },
            "node_row_ptr": self.rows,
        }

    def _plain(self, name: str, number: int) -> None:
        self.arguments.append(len(self.nodes))
        self.node_of[number] = [len(self.nodes), 0, 0]
        self.nodes.append({"op": "null", "name": name, "inputs": []})
        self._entry(number, self.program.slots[number].shape)
        self.rows.append(len(self.entries))

    def _launch(self, step: Launch) -> None:
        kernel = self.exe.kernels[step.kernel]
        attrs = {
            "func_name": kernel.symbol, "num_inputs": str(len(step.reads)),
            "num_outputs": str(len(step.writes)), "flatten_data": "0",
        }  # fmt: skip
        for output, (number, shape) in enumerate(step.writes):
            self.node_of[number] = [len(self.nodes), output, 0]
            self._entry(number, shape)
        inputs = [self.node_of[number] for number, _ in step.reads]
        self.nodes.append({"op": "tvm_op", "name": kernel.name, "attrs": attrs, "inputs": inputs})
        self.rows.append(len(self.entries))

    def _entry(self, number: int, shape: tuple[int, ...]) -> None:
        slot = self.program.slots[number]
        key = slot.offset if slot.offset >= 0 else -1 - number
        self.entries.append((self.storages.setdefault(key, len(self.storages)), slot.dtype, shape))


def _leaves(nest: Any) -> list[int]:
    """Return the tensors of a parameter. Tuple types nest only a few levels."""
    return [number for part in nest for number in _leaves(part)] if isinstance(nest, list) else [nest]


def _leaves_of_result(nest: Any) -> list[tuple[int, tuple[int, ...]]]:
    return [leaf for part in nest for leaf in _leaves_of_result(part)] if isinstance(nest, list) else [nest]
