"""What TVM means when it refuses a step of a schedule, and the usual mistakes behind it."""

from __future__ import annotations

import difflib
import re

from ...ir.errors import RelayError
from ...lower.require import tvm

_PREFIX = re.compile(r"^\w+Error: (Check failed: \(.*?\) is false: )?")
# A part of what TVM says (its short form), and what to do.
REFUSALS = (
    (
        '"vectorize" cannot',
        "The numbers of a vector are computed at once, so each turn must write a number of its own. All "
        "turns of a loop over k add to the same one. Vectorize a loop over columns.",
    ),
    (
        '"parallel" cannot',
        "Two cores would add to the same number at once: all turns of a loop over k do. Share a loop over "
        "rows or columns.",
    ),
    (
        "product of factors is not larger",
        "The factors of a split must cover the whole loop, whatever the sizes of the matrices are. Write "
        "`None` for one of them: `sch.split(loop, [None, 4])`.",
    ),
    (
        "factors are required to be positive",
        "A factor is 1 or more, and `//` gives 0 where a loop is short. Write `None` for the number of "
        "parts, and TVM finds it: `sch.split(loop, [None, lanes])`.",
    ),
    (
        "storage scope is invalid",
        '`"local"` is a place for sums, which become registers, and `"global"` one for a copy in memory.',
    ),
    (
        "decompose_reduction expect the loop",
        "The zeros must stand before all loops that add. Give `decompose_reduction` the loop over k, or "
        "the outermost of those it was split into, after `reorder`.",
    ),
    (
        "no longer exists",
        "`split` and `fuse` give new loops, and the old one is gone. After other steps, ask "
        "`sch.get_loops(block)` again.",
    ),
    (
        "compact dataflow",
        "TVM can no longer see that the turns of this loop are independent: after `decompose_reduction` two "
        "blocks in it write the same sums. Make loops parallel before.",
    ),
    (
        "values to unpack",
        "`get_loops` gives all loops around a block: `*outer, row, column = sch.get_loops(block)` takes the "
        "last two. `reverse_compute_at` leaves out loops of one turn, unless `preserve_unit_loops=True`.",
    ),
    (
        "appears in the input array for multiple times",
        "Each loop may be named once in a `reorder`.",
    ),
    (
        "not in a chain",
        "`reorder` takes loops that are within each other. Those of another block are asked for with "
        "`sch.get_loops(block)`.",
    ),
    (
        "Cannot find a block",
        "The blocks have names: `product` is given, and `cache_read`, `cache_write` and "
        "`decompose_reduction` give those that they make.",
    ),
    (
        '"factors" has wrong type',
        "The factors are a list, one for each new loop: `sch.split(loop, [None, 8])`.",
    ),
    (
        "has wrong type",
        "Primitives take the loops and blocks themselves, as `get_loops`, `split` and `cache_write` give "
        "them.",
    ),
)


def refused_hint(error: BaseException) -> str:
    """Advise on an error that a schedule step raised."""
    message = str(error)
    if isinstance(error, AttributeError) and "Schedule" in message:
        return _unknown(message)
    return next((hint for part, hint in REFUSALS if part in message), "")


def _unknown(message: str) -> str:
    """Suggest primitives with names like an unknown one."""
    name = message.rpartition("attribute ")[2].strip("'. ")
    if name == "tile":
        return "There is none called `tile`: `split` twice and `reorder`, and you have one."
    known = [known for known in dir(tvm().s_tir.Schedule) if not known.startswith("_")]
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    return f"There is no such primitive. Is it {' or '.join(f'`{n}`' for n in near)}?" if near else ""


def told(error: BaseException) -> str:
    """TVM's own sentence, without the program that may stand after it."""
    message = error.help[0] if isinstance(error, RelayError) and error.help else str(error)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return _PREFIX.sub("", " ".join(lines[:2])[:400])
