"""Replays a schedule: records the loops after each primitive, and which operators each block computes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.lazy_dataclass import dataclass
from ..codegen.te_text import expression
from ..compose import Composed
from ..require import tvm
from ..schedules import Scheduled
from ..schedules.dots import MARK as DOT_MARK

# Primitives that change the loops; the other instructions of a trace only look up blocks and loops.
STRUCTURE = ("Split", "Fuse", "Reorder", "AddUnitLoop", "LoopPartition", "TransformBlockLayout")
PLACE = (
    "ComputeAt", "ReverseComputeAt", "ComputeInline", "ReverseComputeInline", "CacheRead", "CacheWrite",
    "SetScope", "DecomposeReduction", "RFactor", "TransformLayout", "StorageAlign", "DecomposePadding",
    "ReIndex", "PadEinsum",
)  # fmt: skip
MARKS = ("Parallel", "Vectorize", "Unroll", "Bind")
CHANGES = frozenset((*STRUCTURE, *PLACE, *MARKS))
DOT = "Dot"  # the annotation of a loop that becomes a dot instruction, which `words` names
_KINDS = ("serial", "parallel", "vectorized", "unrolled")  # indexed by TVM's ForKind


@dataclass(frozen=True)
class Loop:
    """A loop of a nest: its depth, its variable, its trip count (-1: dynamic), its kind ("serial",
    "parallel", "vectorized", "unrolled", or a GPU's thread tag such as "threadIdx.x"), and the blocks in it.
    """

    depth: int
    name: str
    extent: int
    how: str
    blocks: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A block of a nest: its depth, its name, and its store as text ("" if it is not a single store)."""

    depth: int
    name: str
    text: str


Nest = tuple[Loop | Block, ...]


@dataclass(frozen=True)
class Primitive:
    """One applied primitive. `loops` are the names and trip counts of its loop operands, `made` those of the
    loops that it created, `blocks` its block operands, `users` the consumers of the first of them (for
    ReverseComputeInline, its producers), and `words` its attributes. After the primitive, `nest` is the loop
    nest, `owners` maps each block to the calls (by index) that it computes, and `func` is TVM's function.
    """

    kind: str
    loops: tuple[tuple[str, int], ...]
    made: tuple[tuple[str, int], ...]
    blocks: tuple[str, ...]
    users: tuple[str, ...]
    words: tuple[str, ...]
    nest: Nest
    owners: Mapping[str, tuple[int, ...]]
    func: Any = None


def replay(kernel: Scheduled) -> tuple[Nest, dict[str, tuple[int, ...]], list[Primitive]]:
    """Replay a schedule; return the initial loops, the calls that their blocks compute, and each primitive of
    the schedule.
    """
    # TVM's rules for a GPU schedule a function that is named main.
    name = "main" if kernel.composed.target.kind == "cuda" else kernel.composed.name
    sch = tvm().s_tir.Schedule(tvm().IRModule({name: kernel.composed.prim_func}))
    sch.work_on(name)
    observer = _Observer(sch, kernel.composed, name)
    first, owners = nest(sch.mod[name]), dict(observer.owners)
    kernel.trace.apply_to_schedule(sch, remove_postproc=False, decision_provider=observer.before)
    observer.finish()
    return first, owners, observer.primitives


class _Observer:
    """Records the primitives of a trace. TVM calls `before` with each instruction before applying it, so the
    effect of an instruction is recorded when the next one arrives.
    """

    def __init__(self, sch: Any, composed: Composed, name: str) -> None:
        self.sch, self.composed, self.name = sch, composed, name
        self.owners: dict[str, tuple[int, ...]] = {
            block: (number,) for number, stage in enumerate(composed.stages) for block in stage.blocks
        }
        for part in nest(sch.mod[name]):
            if isinstance(part, Block):
                self.owners.setdefault(part.name, ())
        self.primitives: list[Primitive] = []
        self._pending: Primitive | None = None
        self._loops: Counter[tuple[str, int]] = Counter()

    def before(self, inst: Any, inputs: Any, attrs: Any, decision: Any) -> Any:
        kind = str(inst.kind.name)
        if kind == "Annotate" and DOT_MARK in map(str, attrs):
            kind, attrs = DOT, [inputs[1]]
        if (
            kind in CHANGES or kind == DOT
        ):  # others, such as other annotations, belong to the primitive before
            self.finish()
            self._begin(kind, list(inputs), list(attrs))
        return decision

    def _begin(self, kind: str, inputs: Sequence[Any], attrs: Sequence[Any]) -> None:
        loops, blocks, words = [], [], [str(a) for a in attrs]
        for operand in inputs:
            name = type(operand).__name__
            if name == "LoopRV":
                loop = self.sch.get(operand)
                loops.append((str(loop.loop_var.name), _turns(loop.extent)))
            elif name == "SBlockRV":
                blocks.append(operand)
        if kind == "RFactor":
            blocks = list(self.sch.get_child_blocks(inputs[0]))
        names = tuple([str(self.sch.get(b).name_hint) for b in blocks])
        users: tuple[str, ...] = ()
        if blocks and kind in PLACE:
            look = self.sch.get_producers if kind == "ReverseComputeInline" else self.sch.get_consumers
            users = tuple([str(self.sch.get(u).name_hint) for u in look(blocks[0])])
        self._loops = Counter(_loops(nest(self._func)))
        self._pending = Primitive(kind, tuple(loops), (), names, users, tuple(words), (), {})

    @property
    def _func(self) -> Any:
        return self.sch.mod[self.name]

    def finish(self) -> None:
        """Record the effect of the last primitive."""
        p, self._pending = self._pending, None
        if p is None:
            return
        after = nest(self._func)
        there = [part.name for part in after if isinstance(part, Block)]
        about = {n for block in p.blocks[:1] for n in self.owners.get(block, ())}
        if p.kind in ("ComputeInline", "ReverseComputeInline"):
            for user in p.users:
                self.owners[user] = _joined(self.owners[user], about)
        for name in there:
            self.owners.setdefault(name, _joined((), about))
        before = Counter(self._loops)
        new_loops = []
        for loop in _loops(after):
            before[loop] -= 1
            if before[loop] < 0:
                new_loops.append(loop)
        self.primitives.append(
            Primitive(
                p.kind, p.loops, tuple(dict.fromkeys(new_loops)), p.blocks, p.users, p.words, after,
                {name: self.owners[name] for name in there}, self._func,
            )
        )  # fmt: skip


def _joined(have: Sequence[int], more: set[int]) -> tuple[int, ...]:
    return tuple(sorted({*have, *more}))


def _loops(parts: Nest) -> list[tuple[str, int]]:
    return [(part.name, part.extent) for part in parts if isinstance(part, Loop)]


def nest(func: Any) -> Nest:
    """Return the loops and blocks of a function, from the outermost inwards."""
    nodes: list[Loop | Block] = []
    inside: list[list[str]] = []
    # A statement and its depth, or the index of a loop in `nodes` that ends here, and -1.
    pending: list[tuple[Any, int]] = [(func.body, 0)]
    while pending:
        node, depth = pending.pop()
        if depth < 0:
            at = int(node)
            loop = nodes[at]
            assert isinstance(loop, Loop)
            nodes[at] = Loop(loop.depth, loop.name, loop.extent, loop.how, tuple(inside.pop()))
            continue
        kind = type(node).__name__
        if kind == "SeqStmt":
            pending += [(part, depth) for part in reversed(list(node.seq))]
        elif kind == "For":
            pending += [(len(nodes), -1), (node.body, depth + 1)]
            nodes.append(Loop(depth, str(node.loop_var.name), _turns(node.extent), _how(node), ()))
            inside.append([])
        elif kind == "SBlockRealize" and str(node.block.name_hint) == "root":
            pending.append((node.block.body, depth))
        elif kind == "SBlockRealize":
            name = str(node.block.name_hint)
            nodes.append(Block(depth, name, _stored(node.block)))
            for names in inside:
                names.append(name)
        elif hasattr(node, "body"):
            pending.append((node.body, depth))
    return tuple(nodes)


def _turns(extent: Any) -> int:
    return int(extent) if hasattr(extent, "value") else -1


def _how(loop: Any) -> str:
    if loop.thread_binding is not None:
        return str(loop.thread_binding.thread_tag)
    kind = int(loop.kind)
    return _KINDS[kind] if kind < len(_KINDS) else "serial"


def _stored(block: Any) -> str:
    """Print the store of a block, with axes named as in the tensor expressions; return "" if the block is not
    a single store.
    """
    store = block.body
    if type(store).__name__ != "BufferStore":
        return ""
    index = ", ".join(expression(i) for i in store.indices)
    text = f"{store.buffer.name}[{index}] = {expression(store.value)}"
    return re.sub(r"\bv_(?=\w)", "", text)
