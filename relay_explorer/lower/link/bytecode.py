"""Links programs for the virtual machine: bytecode whose kernels are machine code or NumPy functions."""

from __future__ import annotations

from collections.abc import Sequence

from ...execute.vm import KernelCode, VMProgram
from ...ir.errors import RelayError
from ...ir.module import IRModule
from ..codegen.compile_kernel import output_sizes
from ..compose import compose
from ..lowering import tensor_types
from ..runtime.kernel import Kernel
from ..runtime.virtual import VMExecutable
from ..targets.target import Target


class UnlinkedBytecode:
    """Bytecode, and the kernels of it that can be compiled to machine code."""

    def __init__(self, program: VMProgram, target: Target, mod: IRModule | None = None) -> None:
        self._program, self._target, self._mod = program, target, mod
        self._compiled = [n for n, code in enumerate(program.kernels) if can_be_compiled(code, target)]
        self.functions = [program.kernels[number].function for number in self._compiled]

    def table(self, kernels: Sequence[Kernel]) -> list[Kernel | None]:
        """Return the kernels of the bytecode by index; None for one that only NumPy can compute."""
        by_number = dict(zip(self._compiled, kernels))
        return [by_number.get(number) for number in range(len(self._program.kernels))]

    def link(self, kernels: Sequence[Kernel]) -> VMExecutable:
        """Link the bytecode with its compiled kernels."""
        return VMExecutable(self._program, self.table(kernels), self._target, self._mod)


def can_be_compiled(code: KernelCode, target: Target) -> bool:
    """Whether a kernel can be compiled to machine code. Otherwise NumPy computes it: if the sizes of its
    results depend on data, or if it has no monomorphic type, such as an operator that is used as a value.
    """
    if code.host:
        return False
    function = code.function
    parts = [*function.params, function.body]
    if all(t.is_static for part in parts for t in tensor_types(part.checked_type)):
        return True
    try:
        with target.tvm:
            output_sizes(compose(function, target))
    except RelayError:
        return False
    return True
