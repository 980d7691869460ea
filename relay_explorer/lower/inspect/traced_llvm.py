"""Relates each line of a kernel's LLVM IR, after LLVM's passes, to the block of the loops that it came from.

It uses LLVM's debug information, as for the assembly (see `traced`): each instruction refers to a location.
The text that is shown omits metadata and alignments, which only matter to LLVM.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .traced import CLASSES, Instruction, Traced, gathered

_DEFINE = re.compile(r"^define .*@([\w.$]+)\(")
_PLACE = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)")
_AT = re.compile(r"!dbg !(\d+)")
_LABEL = re.compile(r"^([\w.$-]+|\"[^\"]+\"):")
_TARGET = re.compile(r"label %([\w.$-]+|\"[^\"]+\")")
_META = re.compile(
    r"(, ![\w.]+ !(?:\d+|\{[^}]*\})|, align \d+|\b(?:tail|musttail|notail) (?=call\b)|\bfastcc )"
)
_PURPOSES = (
    ("multiply-add", r"call .*@llvm\.(fmuladd|fma)\."),
    ("load", r"load "), ("store", r"store |call void @llvm\.(memset|memcpy)"),
    ("broadcast", r"shufflevector .*> zeroinitializer$"),
    ("shuffle", r"(shufflevector|insertelement|extractelement) "),
    ("arithmetic", r"f(add|sub|mul|div|rem|neg|cmp|pext|ptrunc|ptosi|ptoui)\b|[su]itofp"
     r"|call .*@llvm\.(?!lifetime|assume|smin|smax|umin|umax|prefetch)"
     r"|(add|sub|mul|shl|and|or|xor|ashr|lshr|icmp|select|sext|zext|trunc|bitcast)[^%]*<\d+ x"
     r"|select .*(float|half|double) "),
    ("jump", r"(br|ret|switch|unreachable)\b|call (?!.*@llvm\.)"),
)  # fmt: skip


def read_llvm(text: str, blocks: tuple[str, ...]) -> Traced:
    """Read the functions of LLVM IR that contain instructions of a block."""
    numbers = {m[1]: int(m[2]) - 1 for line in text.splitlines() if (m := _PLACE.match(line))}
    return gathered((_read(lines, numbers) for lines in _functions(text)), blocks)


def _functions(text: str) -> list[list[str]]:
    """Return the bodies of the functions, each with a label at its start."""
    bodies: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if m := _DEFINE.match(line):
            bodies.append([f"{m[1]}:"])
            inside = True
        elif line == "}":
            inside = False
        elif inside and line.strip():
            bodies[-1].append(line)
    return bodies


def _read(lines: Sequence[str], numbers: dict[str, int]) -> list[Instruction]:
    instructions: list[Instruction] = []
    places: dict[str, int] = {}  # the index of the basic block that each label begins
    stretch: list[int] = []  # the index of each line's basic block
    jumps: list[tuple[int, str]] = []
    for line in lines:
        if label := _LABEL.match(line):
            places[label[1]] = len(places)
            instructions.append(Instruction(f"{label[1]}:", -1, -1, 0))
        else:
            at = _AT.search(line)
            block = numbers.get(at[1], -1) if at else -1
            text = _META.sub("", line.split(" ;")[0]).strip()
            if not places or not text or text.startswith(("#dbg", "]", "i32 ", "i64 ")):
                jumps += [(len(places) - 1, to) for to in _TARGET.findall(text)]
                continue
            instructions.append(Instruction(text, CLASSES.index(purpose(text)), max(-1, block), 0))
            jumps += [(len(places) - 1, to) for to in _TARGET.findall(text)]
        stretch.append(len(places) - 1)
    edges = [(at, places[to]) for at, to in jumps if to in places]
    if len(lines) > 1 and _LABEL.match(lines[1]):
        edges.append((0, 1))  # from the function's entry to its first labelled block
    depths = loop_depths(len(places), edges)
    return [
        Instruction(one.text, one.purpose, one.block, depths[at])
        for one, at in zip(instructions, stretch, strict=True)
    ]


def purpose(text: str) -> str:
    """Classify an instruction: return one of CLASSES."""
    code = text.partition(" = ")[2] or text
    return next((kind for kind, pattern in _PURPOSES if re.match(pattern, code)), "bookkeeping")


def loop_depths(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the number of loops around each of `count` basic blocks; block 0 is the entry, and `edges` are
    the edges of the control-flow graph. An edge to a block that dominates its source is a back edge, which
    closes a natural loop (Aho, Sethi and Ullman).
    """
    predecessors: list[set[int]] = [set() for _ in range(count)]
    successors: list[set[int]] = [set() for _ in range(count)]
    for a, b in edges:
        predecessors[b].add(a)
        successors[a].add(b)
    reached, pending = {0}, [0]
    while pending:
        new = successors[pending.pop()] - reached
        reached |= new
        pending += new
    dominators = [set(reached) for _ in range(count)]
    dominators[0] = {0}
    changed = True
    while changed:
        changed = False
        for node in sorted(reached - {0}):
            before = [dominators[p] for p in predecessors[node] & reached]
            dominating = set.intersection(*before) | {node}
            if dominating != dominators[node]:
                dominators[node], changed = dominating, True
    loops: dict[int, set[int]] = {}
    for a in reached:
        for head in successors[a] & dominators[a]:
            inside, todo = loops.setdefault(head, {head}), [a]
            while todo:
                node = todo.pop()
                if node not in inside:
                    inside.add(node)
                    todo += predecessors[node] & reached
    return [sum(node in inside for inside in loops.values()) for node in range(count)]
