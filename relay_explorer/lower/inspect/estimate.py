"""Estimates the cost of a loop nest without running it.

`instructions` counts those of the busiest core: arithmetic (a multiply-add is one), loads, stores, and two
for each iteration of a loop, to count and to branch. A vector instruction counts as one. A value that a
statement computes twice counts once; `operations` describes how conditionals count. A computation or load
that does not depend on the innermost loops is counted once, before them, because the compiler hoists it; but
an accumulator in a global array is loaded and stored in every iteration. Unrolled loops have no loop
overhead. The iterations of a parallel loop are divided by the number of cores; of a loop over the threads of
a GPU, one iteration is counted. `traffic` is the bytes of the arrays that the nests read and write, where an
intermediate result counts in each nest that uses it; buffers that are local to a loop are not counted.

`near` and `far` are the bytes that this core fetches from beyond its L1 cache and its L2 cache (see
`footprint`). `cycles` is the sum over the nests of the maximum of four times: for the instructions, at ISSUED
per cycle; for the longest chain of additions, each of which waits LATENCY cycles for the previous one; and
for the bytes of either kind, at NEAR and FAR per cycle. These four constants are round numbers for a current
core, chosen with the six nests of `benchmarks/schedule_steps.py`. Among the convolutions of ResNet-18 and
MobileNet (blocked, depthwise and by Winograd's algorithm), most that take more than 10 µs are estimated at
two thirds to one and a half times the measured time, and all at half to twice of it.

The model leaves out address arithmetic, register spills, loads of scattered elements, slower arithmetic
instructions, starting the threads (a microsecond or two), and what other kernels leave in the caches. The
estimates therefore show what each primitive removes, and how large its effect can be, but not how long a run
takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .footprint import Touch, fetched
from .operations import LOADS, counted, parts

LOOP_OVERHEAD = 2  # instructions per iteration
ISSUED, LATENCY = 3, 4  # instructions per cycle; cycles from an addition to the next one that depends on it
NEAR, FAR = 64, 32  # bytes per cycle from the L2 cache, and from beyond it


class Estimate(NamedTuple):
    """Instructions of the busiest core, bytes read and written, bytes that come from beyond its L1 and its L2
    cache, and cycles; all 0 if sizes are dynamic. For a GPU the last three are 0.
    """

    instructions: int
    traffic: int
    near: int = 0
    far: int = 0
    cycles: int = 0


class _Loop(NamedTuple):
    var: Any
    turns: int
    kind: int  # TVM's ForKind: 0 serial, 1 parallel, 2 vectorized, 3 unrolled


PARALLEL, VECTORIZED, UNROLLED, THREADS = 1, 2, 3, 4


def estimate(func: Any, cores: int, caches: tuple[int, int] | None = None) -> Estimate:
    """Estimate the cost of a TIR function, scheduled or not. `caches` are the sizes in bytes of a core's L1
    and L2 caches; without them, only instructions and traffic are estimated.
    """
    nests: list[_Nest] = []
    values: dict[Any, Any] = {}  # the expressions that block variables are bound to
    allocated: set[Any] = set()  # arrays of intermediate results
    pending: list[tuple[Any, tuple[_Loop, ...], dict[Any, set[Any]]]] = [(func.body, (), {})]
    while pending:
        node, loops, depends = pending.pop()
        kind = type(node).__name__
        if kind == "SeqStmt":
            pending += [(part, loops, depends) for part in reversed(list(node.seq))]
        elif kind == "For":
            if not hasattr(node.extent, "value"):
                return Estimate(0, 0)
            if not loops:
                nests.append(_Nest(cores))
            loop = _Loop(node.loop_var, int(node.extent.value), int(node.kind))
            nests[-1].overhead((*loops, loop))
            pending.append((node.body, (*loops, loop), {**depends, node.loop_var: {node.loop_var}}))
        elif kind == "SBlockRealize":
            inner = dict(depends)
            allocated |= set(node.block.alloc_buffers)
            for iter_var, value in zip(node.block.iter_vars, node.iter_values, strict=True):
                inner[iter_var.var] = _vars(value, depends)
                values[iter_var.var] = value
            if node.block.init is not None and loops:
                summed = {v for iv in node.block.iter_vars if int(iv.iter_type) == 2 for v in inner[iv.var]}
                once = tuple([loop for loop in loops if loop.var not in summed])
                pending.append((node.block.init, once, inner))
            pending.append((node.block.body, loops, inner))
        elif kind == "BufferStore":
            if not nests or not loops:
                nests.append(_Nest(cores))
            nests[-1].statement(node, loops, depends, values)
        elif kind == "IfThenElse":
            pending += [
                (part, loops, depends) for part in (node.then_case, node.else_case) if part is not None
            ]
        elif hasattr(node, "body"):
            pending.append((node.body, loops, depends))
    work, traffic = round(sum(nest.work for nest in nests)), sum(nest.traffic for nest in nests)
    if caches is None:
        return Estimate(work, traffic)
    near, far = ([nest.fetched(nests, allocated, values, size) for nest in nests] for size in caches)
    cycles = sum(nest.cycles(*beyond) for nest, *beyond in zip(nests, near, far, strict=True))
    return Estimate(work, traffic, round(sum(near)), round(sum(far)), round(cycles))


class _Nest:
    """The cost of one nest of loops on the core that executes most of its statements."""

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self.work = 0.0
        self.chain = 0.0  # cycles
        self.buffers: dict[Any, int] = {}
        self.statements: list[tuple[tuple[_Loop, ...], list[Touch]]] = []

    @property
    def traffic(self) -> int:
        return sum(self.buffers.values())

    def fetched(
        self, nests: Sequence[_Nest], allocated: set[Any], values: dict[Any, Any], cache: int
    ) -> float:
        """Return the bytes that the busiest core fetches from beyond a cache. A working set that fits into
        the cache as a whole is still there from the previous run, and an intermediate result that fits, from
        the previous nest.
        """
        sizes = {t.buffer: t.size for nest in nests for _, touches in nest.statements for t in touches}
        if sum(sizes.values()) <= cache:
            return 0.0
        there = {buffer for buffer in allocated if sizes.get(buffer, 0) <= cache}
        total = 0.0
        for loops, touches in self.statements:
            moved = fetched(
                [t for t in touches if t.buffer not in there], [loop[:2] for loop in loops], values, cache
            )
            total += moved * self._share(loops)
        return total

    def cycles(self, near: float, far: float) -> float:
        """Return the cycles of the busiest core, given the bytes that it fetches from beyond its L1 and L2
        caches.
        """
        return max(self.work / ISSUED, self.chain, near / NEAR, far / FAR)

    def _share(self, loops: Sequence[_Loop]) -> float:
        """Return the fraction of the work within some loops that the busiest core does."""
        shared = 1
        for loop in loops:
            shared *= loop.turns if loop.kind == PARALLEL else 1
        return -(-shared // self.cores) / max(1, shared)

    def _add(self, count: float, loops: Sequence[_Loop]) -> None:
        self.work += count * self._share(loops)

    def overhead(self, loops: Sequence[_Loop]) -> None:
        """Add the instructions that count and branch in the innermost loop."""
        if loops[-1].kind not in (VECTORIZED, UNROLLED, THREADS):
            self._add(LOOP_OVERHEAD * _product(loops), loops)

    def statement(
        self, store: Any, loops: Sequence[_Loop], depends: dict[Any, set[Any]], values: Mapping[Any, Any]
    ) -> None:
        """Add the operations and memory accesses of a store within `loops`."""
        copies = [loop.var for loop in loops if loop.kind == UNROLLED]
        operations, loads = counted(store.value, [loop[:2] for loop in loops], copies, values)
        self._add(operations * _product(loops), loops)
        own = [load for load in loads if load.source.same_as(store.buffer)]
        touched: list[Touch] = []
        for access in (store, *loads):
            buffer = store.buffer if access is store else access.source
            summed = bool(own) and (access is store or access in own)
            touched += self._access(buffer, access.indices, loops, depends, access is store, summed)
        self.statements.append((tuple(loops), touched))
        if own:
            self._wait(store, loops, depends)

    def _wait(self, store: Any, loops: Sequence[_Loop], depends: dict[Any, set[Any]]) -> None:
        """Add the latency of dependent additions; those of the same iteration of the innermost reduction loop
        are independent.
        """
        needed = {v for index in store.indices for v in _vars(index, depends)}
        adding = [n for n, loop in enumerate(loops) if loop.var not in needed and loop.turns > 1]
        if adding:
            self.chain += LATENCY * _product(loops[: adding[-1] + 1]) * self._share(loops)

    def _access(
        self,
        buffer: Any,
        indices: Any,
        loops: Sequence[_Loop],
        depends: dict[Any, set[Any]],
        written: bool = False,
        summed: bool = False,
    ) -> list[Touch]:
        needed = {v for index in indices for v in _vars(index, depends)}
        outside = str(buffer.scope()) in ("global", "")
        executed = loops if summed and outside else _without_invariant(loops, needed)
        self._add(_product(executed), loops)
        if not outside:
            return []
        self.buffers.setdefault((buffer, written), _bytes(buffer))
        shape = tuple([int(size.value) if hasattr(size, "value") else -1 for size in buffer.shape])
        return [Touch(buffer, tuple(indices), _width(str(buffer.dtype)), shape, _bytes(buffer))]


def _without_invariant(loops: Sequence[_Loop], needed: set[Any]) -> list[_Loop]:
    """Return the loops that repeat an access. Unrolled and vectorized innermost loops are one basic block; an
    access is hoisted out of it, and out of the loops around it, as far as it does not depend on them.
    """
    inner = len(loops)
    while inner and loops[inner - 1].kind in (VECTORIZED, UNROLLED):
        inner -= 1
    dependent = [loop for loop in loops[inner:] if loop.var in needed]
    while inner and loops[inner - 1].var not in needed:
        inner -= 1
        if loops[inner].kind == PARALLEL:
            inner += 1
            break
    return [*loops[:inner], *dependent]


def _product(loops: Sequence[_Loop]) -> int:
    total = 1
    for loop in loops:
        total *= 1 if loop.kind in (VECTORIZED, THREADS) else loop.turns
    return total


def _bytes(buffer: Any) -> int:
    total = (
        max(1, int(buffer.dtype.bits) // 8) if hasattr(buffer.dtype, "bits") else _width(str(buffer.dtype))
    )
    for size in buffer.shape:
        total *= int(size.value) if hasattr(size, "value") else 1
    return total


def _width(dtype: str) -> int:
    digits = "".join(c for c in dtype if c.isdigit())
    return max(1, int(digits or 8) // 8)


def _vars(value: Any, depends: dict[Any, set[Any]]) -> set[Any]:
    """Return the loop variables that an index depends on."""
    variables: set[Any] = set()
    for node in parts(value):
        if type(node).__name__ == "Var":
            variables |= depends.get(node, set())
        elif type(node).__name__ in LOADS:
            for index in node.indices:
                variables |= _vars(index, depends)
    return variables
