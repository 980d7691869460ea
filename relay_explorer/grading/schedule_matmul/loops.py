"""Analyze the loops of an answer to `schedule_matmul`: how they run, which axes they move, and which part
of a tile stays in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...ir.lazy_dataclass import dataclass
from ...lower.require import tvm
from ...lower.schedules import Scheduled

SERIAL, PARALLEL, VECTORIZED, UNROLLED, BOUND = 0, 1, 2, 3, 4  # TVM's codes for the kinds of loops
SUMMED = 2  # TVM's code for a reduction axis
ROWS, COLUMNS = 0, 1  # the axes of the product's block; the third is the reduction axis
LEAST_REUSE = 1.3  # multiply-adds per load: as many as a tile of 2 rows and 4 vectors has
LEAST_ITERATIONS = 8  # iterations to be distributed over the cores


@dataclass(frozen=True)
class EnclosingLoop:
    """A loop around a statement: `moves` are the axes of the block that follow its variable, each with the
    distance that one iteration moves it (0: no fixed distance).
    """

    name: str
    extent: int
    kind: int
    moves: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Statement:
    """A block with the loops around it, from the outermost. `summed` are the indices of its reduction axes;
    `initializes` says whether it initializes its accumulators; `guarded` whether it first checks that there
    is anything to do.
    """

    name: str
    loops: tuple[EnclosingLoop, ...]
    axes: int
    summed: frozenset[int]
    initializes: bool
    guarded: bool
    scope: str

    def is_sum(self, loop: EnclosingLoop) -> bool:
        return any(axis in self.summed for axis, _ in loop.moves)

    @property
    def inner(self) -> tuple[EnclosingLoop, ...]:
        """Return the loops inside the innermost reduction loop that is not unrolled: the tile."""
        sums = [
            at
            for at, loop in enumerate(self.loops)
            if self.is_sum(loop) and loop.extent > 1 and loop.kind != UNROLLED
        ]
        inside = self.loops[sums[-1] + 1 :] if sums else self.loops
        return tuple([loop for loop in inside if not self.is_sum(loop)])

    @property
    def executions(self) -> int:
        """Return how often the statement runs."""
        return prod(max(1, loop.extent) for loop in self.loops)

    @property
    def copies(self) -> int:
        """Return how many copies of the statement the code has, counting each lane of a vector."""
        return prod(loop.extent for loop in self.loops if loop.kind in (VECTORIZED, UNROLLED))


def statements(scheduled: Scheduled) -> list[Statement]:
    """Return the blocks of a scheduled function, in order."""
    statements_found: list[Statement] = []
    pending: list[tuple[Any, tuple[Any, ...]]] = [(scheduled.prim_func.body, ())]
    while pending:
        node, loops = pending.pop()
        kind = type(node).__name__
        if kind == "SeqStmt":
            pending += [(part, loops) for part in reversed(list(node.seq))]
        elif kind == "For":
            pending.append((node.body, (*loops, node)))
        elif kind == "SBlockRealize":
            if str(node.block.name_hint) != "root":
                statements_found.append(_statement(node, loops))
            pending.append((node.block.body, loops))
        elif kind == "IfThenElse":
            pending += [(part, loops) for part in (node.else_case, node.then_case) if part is not None]
        elif hasattr(node, "body"):
            pending.append((node.body, loops))
    return statements_found


def _statement(node: Any, loops: tuple[Any, ...]) -> Statement:
    block = node.block
    values = list(node.iter_values)
    around = [
        EnclosingLoop(
            str(loop.loop_var.name),
            int(loop.extent) if hasattr(loop.extent, "value") else -1,
            int(loop.kind),
            tuple(
                [(axis, step) for axis, value in enumerate(values) if (step := _step(value, loop.loop_var))]
            ),
        )
        for loop in loops
    ]
    summed = frozenset([axis for axis, var in enumerate(block.iter_vars) if int(var.iter_type) == SUMMED])
    guarded = not (hasattr(node.predicate, "value") and int(node.predicate.value) == 1)
    scope = str(block.writes[0].source.scope()) if len(block.writes) else ""
    return Statement(
        str(block.name_hint), tuple(around), len(values), summed, block.init is not None, guarded, scope
    )


NOT_FIXED = 1 << 40


def _step(value: Any, var: Any) -> int:
    """Return how far one iteration of a loop moves an axis; 0 if the axis does not follow the loop."""
    coefficients = list(tvm().sym.detect_linear_equation(value, [var]))
    if not coefficients or not hasattr(coefficients[0], "value"):
        return NOT_FIXED
    return int(coefficients[0].value)


# -- requirements


@dataclass(frozen=True)
class Finding:
    """A defect of a schedule: what it is, and what to do about it."""

    got: str
    hint: str


def product_of(scheduled: Scheduled) -> Statement:
    """Return the statement that multiplies and adds: of several, the one that runs most often."""
    return max((s for s in statements(scheduled) if s.summed), key=lambda s: s.executions)


def vectors(scheduled: Scheduled, lanes: int, registers: int) -> Finding | None:
    """Check that the multiply-add works on vectors of adjacent elements."""
    statement = product_of(scheduled)
    wide = [loop for loop in statement.loops if loop.kind == VECTORIZED]
    if not wide:
        return Finding(
            "no loop around the multiply-add is vectorized",
            "Split the columns by `lanes`, move that loop to the inside, and `vectorize` it.",
        )
    loop = wide[-1]
    along = {axis for axis, _ in loop.moves}
    if along and along <= {ROWS}:
        return Finding(
            f"{_loop(loop)} is vectorized, but it runs along the rows",
            "Elements of a column are a whole row apart in memory, so each is fetched "
            "separately. Elements of a row are adjacent: vectorize along the columns.",
        )
    if any(step != 1 for axis, step in loop.moves if axis == COLUMNS):
        return Finding(
            f"{_loop(loop)} is vectorized, but an iteration moves further than to the next column",
            "Vectorize the innermost part of the split columns: its iterations are adjacent in memory.",
        )
    if loop.extent % lanes:
        return Finding(
            f"{_loop(loop)} is vectorized: {loop.extent} elements, but a vector holds {lanes}",
            "Split by `lanes`, which differs between processors.",
        )
    return None


def tile(scheduled: Scheduled, lanes: int, registers: int) -> Finding | None:
    """Check that the innermost loop over k contains a tile of accumulators that fits the registers, and
    that each loaded element is used several times.
    """
    statement = product_of(scheduled)
    inner = statement.inner
    if any(step == NOT_FIXED for loop in inner for _, step in loop.moves):
        return None  # fused loops, which are hard to analyze
    rows = prod(loop.extent for loop in inner if _follows(loop, ROWS))
    columns = prod(loop.extent for loop in inner if _follows(loop, COLUMNS))
    wide = max(1, columns // lanes)
    needs = (
        f"{rows} × {wide} vectors of accumulators, {wide} of B and 1 of A: {rows * wide + wide + 1} registers"
    )
    if rows * wide == 1:
        return Finding(
            "inside the loop over k, a single vector is accumulated",
            "Each multiply-add waits for the previous one, and needs as many loads as it "
            "does work. `reorder` loops over a few rows and vectors of columns to the inside "
            "of k.",
        )
    if rows * wide + wide + 1 > registers:
        return Finding(
            f"inside the loop over k, {needs}, but the processor has {registers}",
            "Accumulators that do not fit are stored and reloaded in every iteration over k. "
            "Make the tile smaller: `registers` is the number of registers.",
        )
    if rows * wide / (rows + wide) < LEAST_REUSE:
        return Finding(
            f"inside the loop over k, {needs}; {rows * wide} multiply-adds for {rows + wide} loads",
            "The larger and the more square a tile is, the more often each loaded element is used.",
        )
    return None


def initialization(scheduled: Scheduled, lanes: int, registers: int) -> Finding | None:
    """Check that the accumulators are set to zero before the loop that adds to them."""
    if any(s.summed and s.initializes for s in statements(scheduled)):
        return Finding(
            "every iteration of the loops over k checks whether it is the first",
            "`decompose_reduction(product, loop)` moves the initialization before a loop: "
            "the one over k, or the outermost of those it was split into.",
        )
    return None


def nested(scheduled: Scheduled) -> str:
    """Advise on loops that no CPU can run: bound to threads, or parallelized twice; an empty string for
    others.
    """
    for statement in statements(scheduled):
        if any(loop.kind == BOUND for loop in statement.loops):
            return (
                "`bind` maps a loop to a GPU's threads. On a CPU, `parallel` distributes one over the cores."
            )
        if sum(loop.kind == PARALLEL for loop in statement.loops) > 1:
            return (
                "Only one loop can be distributed over the cores. `fuse` the two loops "
                "first, or parallelize only the outer one."
            )
    return ""


def cores(scheduled: Scheduled, lanes: int, registers: int) -> Finding | None:
    """Check that the outermost loop is parallelized over the cores."""
    statement = product_of(scheduled)
    loops = [loop for loop in statement.loops if loop.extent != 1]
    shared = [at for at, loop in enumerate(loops) if loop.kind == PARALLEL]
    if not shared:
        return Finding("no loop is parallel", "Distribute the outermost loop over the cores: `parallel`.")
    if shared[0] > 0:
        return Finding(
            f"{_loop(loops[shared[0]])} is parallel, inside {_loop(loops[0])}",
            "The cores are started and joined once per iteration of the outer loops. Make "
            "the outermost loop parallel.",
        )
    if len(shared) > 1:
        return Finding("two nested loops are parallel", nested(scheduled))
    if loops[0].extent < LEAST_ITERATIONS:
        return Finding(
            f"{_loop(loops[0])} is parallel, but has only {loops[0].extent} iterations",
            "With few iterations some cores are idle. Put another loop outside, or `fuse` two.",
        )
    return None


Look = Callable[[Scheduled, int, int], Finding | None]


def _follows(loop: EnclosingLoop, axis: int) -> bool:
    return any(moved == axis for moved, _ in loop.moves)


def _loop(loop: EnclosingLoop) -> str:
    return f"the loop `{loop.name}`"
