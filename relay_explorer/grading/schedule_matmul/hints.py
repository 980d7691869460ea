"""Translate TVM's errors about schedule steps into the common mistakes behind them."""

from __future__ import annotations

import difflib
import re

from ...ir.errors import RelayError
from ...lower.require import tvm

_PREFIX = re.compile(r"^\w+Error: (Check failed: \(.*?\) is false: )?")
# A part of TVM's message (its short form), and what to do.
REFUSALS = (
    (
        '"vectorize" cannot',
        "The lanes of a vector are computed at once, so each iteration must write an element of its own. All "
        "iterations of a loop over k add to the same one. Vectorize a loop over columns.",
    ),
    (
        '"parallel" cannot',
        "Two cores would add to the same element at once, because all iterations of a loop "
        "over k do. Parallelize a loop over rows or columns.",
    ),
    (
        "product of factors is not larger",
        "The factors of a split must cover the whole loop, whatever the sizes of the "
        "matrices are. Write `None` for one of them: `sch.split(loop, [None, 4])`.",
    ),
    (
        "factors are required to be positive",
        "A factor is 1 or more, but `//` returns 0 if the loop is short. Write `None` for "
        "the outer factor, and TVM computes it: `sch.split(loop, [None, lanes])`.",
    ),
    (
        "storage scope is invalid",
        '`"local"` is for accumulators, which become registers, and `"global"` for a copy in memory.',
    ),
    (
        "decompose_reduction expect the loop",
        "The initialization must come before all loops that accumulate. Pass the loop over k "
        "to `decompose_reduction`, or the outermost of the loops it was split into, after "
        "`reorder`.",
    ),
    (
        "no longer exists",
        "`split` and `fuse` return new loops, and the old one is gone. After other steps, "
        "call `sch.get_loops(block)` again.",
    ),
    (
        "compact dataflow",
        "TVM can no longer prove that the iterations of this loop are independent: after "
        "`decompose_reduction`, two blocks in it write the same accumulators. Parallelize "
        "loops before that.",
    ),
    (
        "values to unpack",
        "`get_loops` returns all loops around a block: `*outer, row, column = "
        "sch.get_loops(block)` takes the last two. `reverse_compute_at` drops loops of one "
        "iteration, unless `preserve_unit_loops=True`.",
    ),
    (
        "appears in the input array for multiple times",
        "Each loop may be named once in a `reorder`.",
    ),
    (
        "not in a chain",
        "`reorder` takes loops of one nest. For the loops of another block, call `sch.get_loops(block)`.",
    ),
    (
        "Cannot find a block",
        "The blocks have names: `product` is given, and `cache_read`, `cache_write` and "
        "`decompose_reduction` return the blocks that they create.",
    ),
    (
        '"factors" has wrong type',
        "The factors are a list, one for each new loop: `sch.split(loop, [None, 8])`.",
    ),
    (
        "has wrong type",
        "Primitives take the loop and block objects that `get_loops`, `split` and `cache_write` return.",
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
        return "There is no `tile`: call `split` twice and `reorder` to get one."
    known = [known for known in dir(tvm().s_tir.Schedule) if not known.startswith("_")]
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    return f"There is no such primitive. Is it {' or '.join(f'`{n}`' for n in near)}?" if near else ""


def short_message(error: BaseException) -> str:
    """Return TVM's own sentence, without the program that may follow it."""
    message = error.help[0] if isinstance(error, RelayError) and error.help else str(error)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return _PREFIX.sub("", " ".join(lines[:2])[:400])
