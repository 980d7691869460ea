"""Kernels written as loops, for computations that tensor expressions cannot describe: steps that depend on
earlier ones, or writes at computed indices. One thread runs them, except for loops opened by `together`.

TVM treats them as opaque blocks, which schedules do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..lazy import LazyModule
from .library import te, tirx
from .lowered import Target
from .tensors import Shape, Tensor, Value

builder: Any = LazyModule("tvm.script.ir_builder")
T: Any = LazyModule("tvm.script.ir_builder.tirx")

Buffers = list[Any]  # read and written by index


def loops(
    results: Sequence[tuple[Shape, str]],
    inputs: Sequence[Tensor],
    body: Callable[[Buffers, Buffers], None],
    name: str,
    returned: slice = slice(None),
    target: Target | None = None,
) -> list[Tensor]:
    """Build tensors of these shapes and element types, filled by `body`, a function of the buffers of
    `inputs` and of the results. Only those in the slice `returned` are returned; the others are scratch
    memory: on a GPU that of the thread that runs the loops, since a kernel can have no other there.
    """
    outside = [True] * len(results)
    if target is not None and target.kind == "cuda":
        outside = [n in range(*returned.indices(len(results))) for n in range(len(results))]

    def written(ins: Sequence[Any], outs: Sequence[Any]) -> Any:
        with builder.IRBuilder() as frame:
            with T.serial(0, 1):  # the builder requires one statement; only its body is used
                rest = iter(outs)
                buffers = [
                    next(rest) if outer else T.decl_buffer(list(shape), dtype, scope="local")
                    for outer, (shape, dtype) in zip(outside, results)
                ]
                body([T.buffer_proxy(b) for b in ins], [T.buffer_proxy(b) for b in buffers])
            return frame.get().body

    kinds = [kind for outer, kind in zip(outside, results) if outer]
    shapes, dtypes = [tuple(shape) for shape, _ in kinds], [dtype for _, dtype in kinds]
    output = te.extern(shapes, list(inputs), written, dtype=dtypes, name=name)
    tensors = list(output) if isinstance(output, (list, tuple)) or len(kinds) > 1 else [output]
    return tensors[returned] if len(tensors) == len(results) else tensors


def local(size: int, dtype: str) -> Any:
    """Declare a local buffer of a few elements that the loops update."""
    return T.buffer_proxy(T.decl_buffer([size], dtype, scope="local"))


def each(size: Any) -> Any:
    """Open a loop: `with each(n) as i`."""
    return T.serial(0, size)


def together(size: Any) -> Any:
    """Open a parallel loop, whose iterations are independent and distributed over the cores."""
    return T.parallel(0, size)


def when(condition: Value) -> Any:
    """Open a branch: `with when(condition):`."""
    return _If(condition)


class _If:
    """An If with a Then inside it, as TVM's builder requires."""

    def __init__(self, condition: Value) -> None:
        self.parts = (T.If(condition), T.Then())

    def __enter__(self) -> None:
        for part in self.parts:
            part.__enter__()

    def __exit__(self, *problem: Any) -> None:
        for part in reversed(self.parts):
            part.__exit__(*problem)


def repeat_while(condition: Value) -> Any:
    return T.While(condition)


def int32(value: Any) -> Value:
    return tirx.const(value, "int32") if isinstance(value, int) else value.astype("int32")


def int64(value: Any) -> Value:
    return tirx.const(value, "int64") if isinstance(value, int) else value.astype("int64")
