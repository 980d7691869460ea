"""Links programs for the graph executor: tensors in planned memory, and calls of kernels in order."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis import StoragePlan
from ...execute.graph import graph_program
from ...ir.expr import Expr
from ...ir.module import IRModule
from ..prepare import kernel_calls
from ..runtime.arrays import aligned_copy
from ..runtime.executable import GraphExecutable
from ..runtime.kernel import Kernel
from ..targets.target import Target


class UnlinkedGraph:
    """A storage plan, and its calls of kernels."""

    def __init__(self, plan: StoragePlan, target: Target, mod: IRModule) -> None:
        self._plan, self._target, self._mod = plan, target, mod
        self._calls = kernel_calls(plan)
        self.functions = [function for _, function in self._calls]

    def link(self, kernels: Sequence[Kernel]) -> GraphExecutable:
        """Link the plan with a kernel for each of its calls."""
        distinct = list(dict.fromkeys(kernels))
        numbers = {kernel: k for k, kernel in enumerate(distinct)}
        calls: dict[Expr, int] = {call: numbers[kernel] for (call, _), kernel in zip(self._calls, kernels)}
        program = graph_program(self._plan, calls)
        constants = {}
        for number in program.constants:
            data = self._plan.tensors[number].expr.data  # type: ignore[attr-defined]  # a constant
            constants[number] = aligned_copy(data.numpy(), data.dtype)
        return GraphExecutable(program, distinct, constants, self._target, self._mod)
