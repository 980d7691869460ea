"""Kernels: compiled primitive functions, which can be inspected at every level of lowering."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ...execute.aot.shape_constraints import ShapeConstraint, shape_constraints
from ...execute.arguments import fits
from ...execute.results import to_value
from ...execute.tensor_arguments import by_dlpack
from ...ir.errors import RelayError
from ...ir.expr import Function
from ...ir.nest import nested
from ...ir.types import TensorType
from ..codegen import levels
from ..codegen.compile_kernel import compiled, function_of, generated, output_sizes, scheduled
from ..codegen.symbolic_sizes import evaluated
from ..codegen.te_text import expressions
from ..lowering import tensor_types
from ..require import runtime, tvm
from ..schedules import Scheduled
from ..targets.device import Usage, lacks, on_device, usage
from ..targets.target import Target
from .arrays import aligned, aligned_copy, is_aligned, tensor_of
from .thread_pool import connect


class Kernel:
    """A compiled primitive function.

    `name` is unique in a program, `symbol` is the name in the library, `text` the function as Relay, and
    `uses` the number of its calls in the program. `rule`, `choice` and `candidates` describe its schedule;
    `seconds` is the compile time, `cached` whether it came from the cache, and `size` the bytes of its
    library. A kernel with an operator that has no lowering runs `on_host`, by the NumPy reference
    implementations of its operators.
    """

    def __init__(self, name: str, symbol: str, text: str, target: Target, entry: Mapping[str, Any]) -> None:
        self.name = name
        self.symbol = symbol
        self.text = text
        self.target = target
        self.uses = 0
        self.cached = False
        self.entry = dict(entry)
        self.folder: object = None  # of a loaded program: keeps the folder of its library from being deleted

    @property
    def on_host(self) -> bool:
        return bool(self.entry.get("host"))

    @property
    def rule(self) -> str:
        return str(self.entry.get("rule", "host"))

    @property
    def choice(self) -> dict[str, Any]:
        return dict(self.entry.get("choice", {}))

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The candidates, with the seconds of those that were measured."""
        return list(self.entry.get("candidates", []))

    @property
    def seconds(self) -> float:
        return float(self.entry.get("seconds", 0.0))

    @property
    def size(self) -> int:
        return int(self.entry.get("bytes", 0))

    @cached_property
    def function(self) -> Function:
        """The kernel as Relay, with its types."""
        from ...ir.module import IRModule
        from ...typing import infer_types

        if isinstance(function := self.entry.get("function"), Function):
            return function
        return infer_types(IRModule.from_expr(function_of(self.text)))["main"]

    @property
    def operators(self) -> list[str]:
        """The names of the kernel's operators, in order."""
        return levels.operators(self.function)

    @cached_property
    def flops(self) -> int:
        """The floating-point operations of a call."""
        from ...analysis import call_cost

        return sum(call_cost(call).flops for call in levels.calls(self.function))

    @cached_property
    def traffic(self) -> int:
        """The bytes of the arguments and results, each counted once."""
        from ...ir.ndarray import itemsize
        from ...ir.op import size_of

        types = [*self.input_types, *self.output_types]
        return sum(size_of(t) * itemsize(t.dtype) for t in types)

    @property
    def input_types(self) -> list[TensorType]:
        """The types of the tensors that the kernel reads, with tuples flattened."""
        return [t for p in self.function.params for t in tensor_types(p.checked_type)]

    @property
    def output_types(self) -> list[TensorType]:
        return tensor_types(self.function.body.checked_type)

    # -- the levels of lowering

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels that `source` accepts."""
        if self.on_host:
            return ("relay",)
        return levels.CUDA if self.target.kind == "cuda" else levels.CPU

    @cached_property
    def scheduled(self) -> Scheduled:
        """The tensor expressions, loops and schedule, rebuilt with the compiled kernel's choice."""
        if self.on_host:
            raise RelayError(f"the kernel `{self.name}` is not scheduled: it runs on the host")
        return scheduled(self.function, self.symbol, self.target, self.choice)

    @cached_property
    def _generated(self) -> Any:
        return generated(self.scheduled)

    def write_object(self, path: Path) -> None:
        """Compile the kernel in this process, and write it as an object file."""
        self._generated.mod.write_to_file(str(path), "o")

    def source(self, level: str) -> str:
        """Return the kernel's text at a level: "relay", "te" (tensor expressions), "tir" (the loops that
        these define), "scheduled" (loops after scheduling), "llvm" or "asm"; for a GPU "cuda" instead of the
        last two, and "ptx" if nvcc is installed.
        """
        if level not in self.levels:
            raise RelayError(
                f"the kernel `{self.name}` has no level {level!r:.40}",
                help=[f"it has {', '.join(map(repr, self.levels))}"],
            )
        if level == "relay":
            return levels.relay(self.function)
        if level == "te":
            return expressions(self.scheduled.composed)
        if level == "tir":
            return str(self.scheduled.composed.prim_func.script())
        if level == "scheduled":
            return str(self.scheduled.prim_func.script())
        return levels.machine(self._generated, level, self.target)

    # -- running it

    @cached_property
    def run(self) -> Callable[..., object]:
        """The function that runs the kernel on tensors in host memory: those that it reads, then those that
        it writes.
        """
        if self.on_host:
            from .host_kernel import host_kernel

            self._check_runs()
            return host_kernel(self.function)
        if self.target.kind == "cuda":
            return on_device(self.on_its_device, len(self.input_types), tvm().cuda(0))
        self._check_runs()
        path = self.library
        if path is None:
            return self._built_here
        try:
            self._library = runtime().load_module(str(path))
        except Exception as problem:
            raise RelayError(
                f"the library of the kernel `{self.name}` cannot be loaded: {str(problem).strip()[-300:]}",
                help=[
                    "if programs in its folder cannot be executed, set the environment variable "
                    "RELAY_EXPLORER_CACHE to another one; if it is damaged, delete it"
                ],
            ) from None
        if path.suffix == ".so":
            connect(path)
        function: Callable[..., object] = self._library[self.symbol]
        return function

    @property
    def library(self) -> Path | None:
        """The path of the library; None if the kernel was compiled in this process. If the library has been
        removed from the cache, it is compiled again.
        """
        stored = self.entry.get("path")
        if stored is None:
            return None
        path = Path(str(stored))
        if not path.is_file():
            entry = compiled(self.text, self.symbol, self.target, self.choice or None)
            self.entry.update(entry)
            path = Path(str(entry["path"]))
        return path

    @property
    def on_its_device(self) -> Callable[..., object]:
        """The function that runs the kernel on tensors in the memory of the target's device."""
        self._check_runs()
        if all(t.is_static and 0 in t.concrete_shape for t in self.output_types):
            return _nothing  # TVM would launch a thread even without elements
        return self._built_here

    def _check_runs(self) -> None:
        if not self.target.runs_here:
            raise RelayError(
                f"the kernel `{self.name}` is compiled for {self.target}, {self._obstacle()}",
                help=[f"its code can be read: kernel.source({self._code!r})"],
            )

    @property
    def _code(self) -> str:
        """The last level that needs no tool to read."""
        return [level for level in self.levels if level != "ptx"][-1]

    def _obstacle(self) -> str:
        return f"and {lacks(self.target)}" if self.target.kind == "cuda" else "which this machine cannot run"

    @property
    def usage(self) -> list[Usage]:
        """The kernel's use of GPU resources: registers, shared memory, and occupancy of a multiprocessor.
        NVIDIA's compiler nvcc reports it; no GPU is needed.
        """
        if self.target.kind != "cuda" or self.on_host:
            raise RelayError(
                f"the kernel `{self.name}` is not compiled for a GPU, so it has no resource usage"
            )
        return usage(self.source("cuda"), self.target)

    @cached_property
    def _built_here(self) -> Callable[..., object]:
        """The function that TVM compiles in this process, for kernels without a library."""
        function: Callable[..., object] = self._generated[self.symbol]
        return function

    def __call__(self, *arrays: Any) -> Any:
        """Run the kernel on NumPy arrays, with tuples flattened, and return new arrays. Dynamic sizes are
        read from the arrays. Raise a RelayError for arguments of the wrong number, shape or type.
        """
        expected = self.input_types
        arrays = tuple([_read(array, f"p{number}") for number, array in enumerate(arrays)])
        if len(arrays) != len(expected) or not all(map(_is, arrays, expected)):
            actual = ", ".join(map(_described, arrays))
            raise RelayError(
                f"the kernel `{self.name}` expects {', '.join(map(str, expected)) or 'nothing'}, "
                f"got {actual or 'nothing'}"
            )
        self._check_sizes(arrays)
        outputs = [aligned(shape, t.dtype) for shape, t in zip(self._shapes(arrays), self.output_types)]
        inputs = [a if is_aligned(a) else aligned_copy(a) for a in arrays]
        self.run(*map(tensor_of, inputs), *map(tensor_of, outputs))
        return nested(iter(outputs), self.function.body.checked_type)

    @cached_property
    def sizes(self) -> list[list[Any]] | None:
        """The programs that compute the results' sizes from the arguments' (see
        `lower.codegen.symbolic_sizes`); None if all sizes are static.
        """
        if all(t.is_static for t in self.output_types):
            return None
        if "sizes" not in self.entry:
            return output_sizes(self.scheduled.composed)
        sizes: list[list[Any]] | None = self.entry["sizes"]
        return sizes

    @cached_property
    def _agreements(self) -> list[ShapeConstraint]:
        """The dynamic sizes that must agree, although the types do not say so."""
        return [] if all(t.is_static for t in self.input_types) else shape_constraints(self.function)

    def _check_sizes(self, arrays: Any) -> None:
        for agreement in self._agreements:
            sizes = {arrays[number].shape[axis] for number, axis in agreement.places}
            sizes |= set() if agreement.number is None else {agreement.number}
            if len(sizes - ({1} if agreement.ones else set())) > 1:
                actual = ", ".join(f"{a.dtype}{list(a.shape)}" for a in arrays)
                raise RelayError(f"the kernel `{self.name}` is called with inconsistent sizes: {actual}")

    def _shapes(self, arrays: Any) -> list[tuple[int, ...]]:
        if self.sizes is None:
            return [t.concrete_shape for t in self.output_types]
        shapes = [a.shape for a in arrays]
        return [tuple([evaluated(size, shapes) for size in program]) for program in self.sizes]

    def __repr__(self) -> str:
        how = "on the host" if self.on_host else f"by {self.rule}, {self.size / 1024:.0f} KB"
        return f"<kernel {self.name}: {' · '.join(self.operators)}; {how}, used {self.uses}×>"


def _read(value: Any, name: str) -> Any:
    """Convert an argument to an array if it is a number, a NumPy value, or exports its memory by DLPack."""
    value = by_dlpack(value, name)
    if isinstance(value, (bool, int, float)) or type(value).__module__ == "numpy":
        return to_value(value)
    return value


def _described(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "dtype") else f"a {type(value).__name__}"


def _nothing(*tensors: Any) -> None:
    """Do nothing: the kernel has no elements to write."""


def _is(value: Any, type_: TensorType) -> bool:
    return hasattr(value, "dtype") and fits(value, type_)
