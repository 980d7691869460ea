"""Types for the parts of TVM's interface that code generation and schedules use; TVM has no stubs.

The objects are TVM's own; these classes are never instantiated. The types for tensor expressions are in
`relay_explorer.ops.te.tvm_types`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, overload

from ..ops.te.tvm_types import Extent, PrimExpr, TensorExpressions, Topi


class LoopRV:
    """A schedule's handle of a loop (TVM's "random variable"); `Schedule.get` returns the loop itself."""


class SBlockRV:
    """A schedule's handle of a block."""


class Buffer(Protocol):
    """`tvm.tirx.Buffer`: an array that a block reads or writes."""

    name: str
    dtype: object
    shape: Sequence[Extent]

    def same_as(self, other: object) -> bool: ...


class BufferRegion(Protocol):
    """`tvm.tirx.BufferRegion`: a part of a buffer, an interval for each axis."""

    source: Buffer
    region: Sequence[Any]


class For(Protocol):
    """`tvm.tirx.For`: a loop."""

    loop_var: Any
    min: PrimExpr
    extent: PrimExpr
    body: Any
    thread_binding: Any


class SBlock(Protocol):
    """`tvm.s_tir.SBlock`: a block, the unit that a schedule moves."""

    name_hint: str
    iter_vars: Sequence[Any]
    reads: Sequence[BufferRegion]
    writes: Sequence[BufferRegion]
    body: Any
    annotations: Mapping[str, Any]


class PrimFunc(Protocol):
    """`tvm.tirx.PrimFunc`: a function of loops, such as a kernel."""

    params: Sequence[Any]
    body: Any
    attrs: Any
    buffer_map: Mapping[Any, Buffer]

    def with_attr(self, name: str, value: object) -> PrimFunc: ...
    def with_body(self, body: Any) -> PrimFunc: ...
    def script(self) -> str: ...


class IRModule(Protocol):
    """`tvm.IRModule`: functions by name."""

    functions: Mapping[Any, PrimFunc]

    def __getitem__(self, name: str) -> PrimFunc: ...
    def __setitem__(self, var: Any, function: PrimFunc) -> None: ...
    def functions_items(self) -> Sequence[tuple[Any, PrimFunc]]: ...
    def clone(self) -> IRModule: ...
    def script(self) -> str: ...


class Trace(Protocol):
    """`tvm.s_tir.schedule.Trace`: the primitives of a schedule, which can be replayed."""

    insts: Sequence[Any]
    decisions: Mapping[Any, Any]

    def as_python(self) -> Sequence[object]: ...
    def apply_to_schedule(
        self, sch: Schedule, remove_postproc: bool, decision_provider: Any = ...
    ) -> None: ...
    def as_json(self) -> Any: ...


class Schedule(Protocol):
    """`tvm.s_tir.Schedule`: a module, and the primitives that change its loops."""

    def __init__(self, mod: IRModule, *, error_render_level: str = ...) -> None: ...
    @property
    def mod(self) -> IRModule: ...
    @property
    def trace(self) -> Trace: ...

    # queries
    def work_on(self, func_name: str) -> None: ...
    @overload
    def get(self, rand_var: LoopRV) -> For: ...
    @overload
    def get(self, rand_var: SBlockRV) -> SBlock: ...
    def get_sblock(self, name: str) -> SBlockRV: ...
    def get_loops(self, block: SBlockRV) -> list[LoopRV]: ...
    def get_child_blocks(self, block: SBlockRV) -> list[SBlockRV]: ...
    def get_producers(self, block: SBlockRV) -> list[SBlockRV]: ...
    def get_consumers(self, block: SBlockRV) -> list[SBlockRV]: ...
    def get_output_blocks(self, scope_block: SBlockRV) -> list[SBlockRV]: ...

    # loops
    def split(self, loop: LoopRV, factors: Sequence[int | None]) -> list[LoopRV]: ...
    def fuse(self, *loops: LoopRV) -> LoopRV: ...
    def reorder(self, *loops: LoopRV) -> None: ...
    def add_unit_loop(self, block_or_loop: SBlockRV | LoopRV) -> LoopRV: ...
    def parallel(self, loop: LoopRV) -> None: ...
    def vectorize(self, loop: LoopRV) -> None: ...
    def unroll(self, loop: LoopRV) -> None: ...
    def bind(self, loop: LoopRV, thread_axis: str) -> None: ...

    # blocks
    def compute_inline(self, block: SBlockRV) -> None: ...
    def compute_at(self, block: SBlockRV, loop: LoopRV, preserve_unit_loops: bool = ...) -> None: ...
    def reverse_compute_at(self, block: SBlockRV, loop: LoopRV, preserve_unit_loops: bool = ...) -> None: ...
    def cache_read(self, block: SBlockRV, read_buffer_index: int, storage_scope: str) -> SBlockRV: ...
    def cache_write(self, block: SBlockRV, write_buffer_index: int, storage_scope: str) -> SBlockRV: ...
    def decompose_reduction(self, block: SBlockRV, loop: LoopRV) -> SBlockRV: ...
    def rfactor(self, loop: LoopRV, factor_axis: int) -> SBlockRV: ...
    def set_scope(self, block: SBlockRV, buffer_index: int, storage_scope: str) -> None: ...
    def storage_align(
        self, block: SBlockRV, buffer_index: int, axis: int, factor: int, offset: int
    ) -> None: ...
    def transform_layout(
        self, block: SBlockRV, buffer: Any, index_map: Any, pad_value: Any = ...
    ) -> None: ...
    def annotate(self, block_or_loop: SBlockRV | LoopRV, ann_key: str, ann_val: object) -> None: ...


_Schedule = Schedule  # another name, which the attribute `Schedule` below does not hide


class Scheduling(Protocol):
    """The module `tvm.s_tir`."""

    Schedule: type[_Schedule]
    ScheduleError: type[Exception]
    SBlock: Any
    SBlockRealize: Any
    schedule: Any
    transform: Any


class Target(Protocol):
    """`tvm.target.Target`: the machine that code is generated for."""

    @property
    def kind(self) -> Any: ...
    @property
    def attrs(self) -> Mapping[str, Any]: ...
    def __enter__(self) -> Target: ...
    def __exit__(self, *exception: object) -> None: ...


class TVM(Protocol):
    """The module `tvm`."""

    __file__: str
    s_tir: Scheduling
    te: TensorExpressions
    tirx: Any
    topi: Topi
    ir: Any
    sym: Any
    target: Any
    runtime: Any
    DataType: Any
    compile: Any
    cuda: Any
    cpu: Any
    get_global_func: Any
    script: Any

    def IRModule(self, functions: Mapping[str, Any]) -> IRModule: ...  # noqa: N802 - TVM's name of the class
