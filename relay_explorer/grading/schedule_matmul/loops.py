"""What can be read off the loops that an answer to `schedule_matmul` leaves: how they run, what moves along
them, and what of a tile is kept in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...ir.lazy_dataclass import dataclass
from ...lower.require import tvm
from ...lower.schedules import Scheduled

SERIAL, PARALLEL, VECTORIZED, UNROLLED, BOUND = 0, 1, 2, 3, 4  # TVM's numbers of the kinds of loops
SUMMED = 2  # and of the kind of an axis along which something is summed
ROWS, COLUMNS = 0, 1  # the axes of the product's block; the third is summed
LEAST_REUSE = 1.3  # multiply-adds for each load: a tile of 2 rows and 4 vectors has that
LEAST_TURNS = 8  # to be shared among cores


@dataclass(frozen=True)
class Around:
    """A loop around a statement: `moves` are the axes of the block that follow its variable, each with how
    far one turn takes it (0: not a fixed way).
    """

    name: str
    extent: int
    kind: int
    moves: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Statement:
    """A block with the loops around it, from the outermost. `summed` are the numbers of the axes that it sums
    over; `begins` says whether what begins its sums stands in it; `guarded` whether it first asks if there is
    anything to do.
    """

    name: str
    loops: tuple[Around, ...]
    axes: int
    summed: frozenset[int]
    begins: bool
    guarded: bool
    scope: str

    def is_sum(self, loop: Around) -> bool:
        return any(axis in self.summed for axis, _ in loop.moves)

    @property
    def inner(self) -> tuple[Around, ...]:
        """The loops within the innermost one that sums and is not written out: the tile."""
        sums = [
            at
            for at, loop in enumerate(self.loops)
            if self.is_sum(loop) and loop.extent > 1 and loop.kind != UNROLLED
        ]
        inside = self.loops[sums[-1] + 1 :] if sums else self.loops
        return tuple([loop for loop in inside if not self.is_sum(loop)])

    @property
    def turns(self) -> int:
        """How often the statement runs."""
        return prod(max(1, loop.extent) for loop in self.loops)

    @property
    def copies(self) -> int:
        """How often the statement stands in the code, a vector counted as its numbers."""
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
        Around(
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
    """How far one turn of a loop takes an axis; 0 where the axis does not follow the loop."""
    coefficients = list(tvm().sym.detect_linear_equation(value, [var]))
    if not coefficients or not hasattr(coefficients[0], "value"):
        return NOT_FIXED
    return int(coefficients[0].value)


# -- what must be true of them


@dataclass(frozen=True)
class Finding:
    """What is not as it should be: what is there, and what to do."""

    got: str
    hint: str


def product_of(scheduled: Scheduled) -> Statement:
    """Return the statement that multiplies and adds: of several, the one that runs most often."""
    return max((s for s in statements(scheduled) if s.summed), key=lambda s: s.turns)


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
            f"{_loop(loop)} is vectorized, along which the rows change",
            "Numbers below each other lie a whole row apart in memory: each is fetched by itself. Along "
            "the columns they lie side by side.",
        )
    if any(step != 1 for axis, step in loop.moves if axis == COLUMNS):
        return Finding(
            f"{_loop(loop)} is vectorized, and a turn takes it further than to the next column",
            "Vectorize the innermost part of the split columns: its turns are neighbours in memory.",
        )
    if loop.extent % lanes:
        return Finding(
            f"{_loop(loop)} is vectorized: {loop.extent} numbers, where a vector holds {lanes}",
            "Split by `lanes`, which is not the same on every processor.",
        )
    return None


def tile(scheduled: Scheduled, lanes: int, registers: int) -> Finding | None:
    """Within the innermost loop over k there is a tile of sums that fits the registers, and each number that
    is loaded is used several times.
    """
    statement = product_of(scheduled)
    inner = statement.inner
    if any(step == NOT_FIXED for loop in inner for _, step in loop.moves):
        return None  # loops that were fused: nothing simple can be said of them
    rows = prod(loop.extent for loop in inner if _follows(loop, ROWS))
    columns = prod(loop.extent for loop in inner if _follows(loop, COLUMNS))
    wide = max(1, columns // lanes)
    needs = f"{rows} × {wide} vectors of sums, {wide} of B and 1 of A: {rows * wide + wide + 1} registers"
    if rows * wide == 1:
        return Finding(
            "within the loop over k, one vector is added to",
            "Each multiply-add waits for the one before, and loads as much as it computes. `reorder` loops "
            "over a few rows and vectors of columns to the inside of k.",
        )
    if rows * wide + wide + 1 > registers:
        return Finding(
            f"within the loop over k, {needs}, where the processor has {registers}",
            "What does not fit goes to memory and back at every step of k. Make the tile smaller: "
            "`registers` says how many there are.",
        )
    if rows * wide / (rows + wide) < LEAST_REUSE:
        return Finding(
            f"within the loop over k, {needs}; {rows * wide} multiply-adds for {rows + wide} loads",
            "The more square a tile is, and the larger, the more often is a number used that has been "
            "loaded.",
        )
    return None


def begins(scheduled: Scheduled, lanes: int, registers: int) -> Finding | None:
    """Check that the accumulators are set to zero before the loop that adds to them."""
    if any(s.summed and s.begins for s in statements(scheduled)):
        return Finding(
            "in every turn of the loops over k it is asked whether this is the first",
            "`decompose_reduction(product, loop)` puts the zeros before a loop: that over k, or the "
            "outermost of those it was split into.",
        )
    return None


def nested(scheduled: Scheduled) -> str:
    """Advise on loops that no CPU can run: bound to threads, or parallelized twice; an empty string for
    others.
    """
    for statement in statements(scheduled):
        if any(loop.kind == BOUND for loop in statement.loops):
            return "`bind` gives a loop to a GPU's threads. Here `parallel` shares one among the cores."
        if sum(loop.kind == PARALLEL for loop in statement.loops) > 1:
            return (
                "Cores cannot be shared out twice. `fuse` the two loops first, or share only the outer one."
            )
    return ""


def cores(scheduled: Scheduled, lanes: int, registers: int) -> Finding | None:
    """Check that the outermost loop is parallelized over the cores."""
    statement = product_of(scheduled)
    loops = [loop for loop in statement.loops if loop.extent != 1]
    shared = [at for at, loop in enumerate(loops) if loop.kind == PARALLEL]
    if not shared:
        return Finding("no loop is parallel", "Share the outermost loop among the cores: `parallel`.")
    if shared[0] > 0:
        return Finding(
            f"{_loop(loops[shared[0]])} is parallel, within {_loop(loops[0])}",
            "The cores are woken and waited for once for each turn of the loops outside. Make the "
            "outermost loop parallel.",
        )
    if len(shared) > 1:
        return Finding("two loops within each other are parallel", nested(scheduled))
    if loops[0].extent < LEAST_TURNS:
        return Finding(
            f"{_loop(loops[0])} is parallel: {loops[0].extent} turns to be shared",
            "With few turns some cores have nothing to do. Put another loop outside, or `fuse` two.",
        )
    return None


Look = Callable[[Scheduled, int, int], Finding | None]


def _follows(loop: Around, axis: int) -> bool:
    return any(moved == axis for moved, _ in loop.moves)


def _loop(loop: Around) -> str:
    return f"the loop `{loop.name}`"
