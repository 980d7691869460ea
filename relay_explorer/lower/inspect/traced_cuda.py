"""Relates each line of a GPU kernel's CUDA C, and of the PTX that NVIDIA's compiler generates from it, to the
block of the loops that it came from.

TVM's CUDA C has no line table. A line belongs to the block whose array its statement stores into, which the
array's name identifies; a computation into a temporary, or among threads, belongs to the store that follows.
Loops and conditions belong to all blocks that they enclose. PTX is related to the lines of the CUDA C by
nvcc's line table.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ..schedules import Scheduled
from ..targets.target import Target
from .traced import Instruction, Traced

C_CLASSES = ("multiply-add", "arithmetic", "copy", "loop", "barrier", "declaration")
PTX_CLASSES = ("multiply-add", "arithmetic", "load", "store", "barrier", "bookkeeping", "jump")
_PTX = (
    ("multiply-add", r"(fma|mad)\.(rn\.|rz\.)?(f|bf)|dp4a"), ("load", r"ld\."), ("store", r"st\."),
    ("barrier", r"bar|membar|fence|shfl|activemask"), ("jump", r"bra|ret|call|exit"),
    ("arithmetic", r"(add|sub|mul|div|neg|abs|min|max|sqrt|rcp|ex2|lg2|tanh|sin|cos|setp|set|cvt)"
     r"\.[\w.]*(f16|f32|f64|bf16)"
     r"|mma|wmma"),
)  # fmt: skip


def traced_cuda(kernel: Scheduled, source: str) -> tuple[Traced, tuple[int, ...]]:
    """Return the lines of a kernel's CUDA C, from its first function on, and the line number of each in the
    source.
    """
    arrays = stores(kernel.prim_func)
    names = list(dict.fromkeys(arrays.values()))
    lines = source.splitlines()
    first = next((at for at, text in enumerate(lines) if "__global__" in text and text.endswith("{")), 0)
    instructions: list[Instruction] = []
    numbers: list[int] = []
    waiting: list[int] = []  # lines that belong to the next store
    open_: list[int] = []  # lines whose brace is open
    for number, line in enumerate(lines[first:], first + 1):
        text = line.strip()
        if not text:
            continue
        if text.startswith("}") and open_:
            open_.pop()
        kind = _c_purpose(text)
        instructions.append(Instruction(text, C_CLASSES.index(kind) if kind else -1, -1, len(open_)))
        numbers.append(number)
        if text.endswith("{"):
            open_.append(len(instructions) - 1)
        if not kind or kind in ("loop", "barrier"):
            continue
        array = _array(text, kind, arrays)
        if kind == "declaration" and "[" in text:
            instructions[-1] = replace(instructions[-1], block=names.index(arrays[array]) if array else -1)
            continue
        waiting.append(len(instructions) - 1)
        if array:
            for at in waiting:
                instructions[at] = replace(instructions[at], block=names.index(arrays[array]))
            waiting = []
    return _enclosed(instructions, names), tuple(numbers)


def stores(func: Any) -> dict[str, str]:
    """Map the arrays that a function stores into to the blocks that store; of several blocks, to the last."""
    blocks: dict[str, str] = {}
    pending = [(func.body, "")]
    while pending:
        node, block = pending.pop()
        kind = type(node).__name__
        if kind == "SeqStmt":
            pending += [(part, block) for part in reversed(list(node.seq))]
        elif kind == "SBlockRealize":
            pending.append((node.block.body, str(node.block.name_hint)))
        elif kind == "BufferStore":
            blocks[re.sub(r"\W", "_", str(node.buffer.name))] = block
        elif kind == "IfThenElse":
            pending += [(part, block) for part in (node.else_case, node.then_case) if part is not None]
        elif hasattr(node, "body"):
            pending.append((node.body, block))
    return blocks


def _array(text: str, kind: str, arrays: dict[str, str]) -> str:
    """Return the array that a line stores into or declares; "" if it is not an array of the loops."""
    left = text if kind == "declaration" else text.partition(" = ")[0]
    for word in re.findall(r"[A-Za-z_]\w*", left):
        for name in (re.sub(r"(_ptr)?(_\d+)?$", "", word), re.sub(r"_ptr(_\d+)?$", "", word)):
            if name in arrays:
                return name
    return ""


def _c_purpose(text: str) -> str:
    """Classify a line of C: return one of C_CLASSES; "" for braces and the head of a function."""
    if text.startswith(("}", "extern")) or "__global__" in text:
        return "loop" if re.match(r"\} else", text) else ""
    if re.match(r"(for|if|while|do)\b", text):
        return "loop"
    if "__syncthreads" in text:
        return "barrier"
    if " = " not in text:
        return "declaration"
    right = text.partition(" = ")[2]
    plain = re.sub(r"\[[^\[\]]*(\[[^\]]*\][^\]]*)*\]|\(\(int\)(threadIdx|blockIdx)\.\w\)", "", right)
    if re.search(r"\+ \(.*\*|\+ __\w+|fma|__dp4a", plain) or re.search(r"\+__\d+\.", plain):
        return "multiply-add"
    return "arithmetic" if re.search(r" [-+*/<>] |\w\(|[\w\]][-+*/<>][\w(]", plain) else "copy"


def _enclosed(lines: list[Instruction], names: list[str]) -> Traced:
    """Attribute each line that opens a brace to the blocks of all lines that it encloses."""
    blocks = list(names)
    result = list(lines)
    for at, line in enumerate(lines):
        if line.purpose < 0 or not line.text.endswith("{"):
            continue
        inside = []
        for other in lines[at + 1 :]:
            if other.depth <= line.depth:
                break
            inside.append(other.block)
        name = "+".join(dict.fromkeys([names[block] for block in inside if block >= 0]))
        if name and name not in blocks:
            blocks.append(name)
        result[at] = replace(line, block=blocks.index(name) if name else -1)
    return Traced(tuple(blocks), tuple(result), 0)


def traced_ptx(source: str, c: Traced, numbers: tuple[int, ...], target: Target) -> Traced:
    """Compile CUDA C to PTX and relate the two by nvcc's line table. Raise a RelayError without nvcc."""
    from ..targets.device import ptx

    return read_ptx(ptx(source, target, "-lineinfo"), c, numbers)


def read_ptx(text: str, c: Traced, numbers: tuple[int, ...]) -> Traced:
    """Read the instructions of a kernel's functions from PTX; `numbers` are the line numbers of the lines of
    `c`.
    """
    block_of = {number: line.block for number, line in zip(numbers, c.lines, strict=True)}
    instructions: list[Instruction] = []
    block, inside = -1, False
    for line in text.splitlines():
        code = line.partition("//")[0].strip()
        if re.match(r"\.(visible )?\.?entry|\.visible \.entry", code):
            inside = True
        elif code == "}":
            inside = False
        elif at := re.match(r"\.loc\s+\d+\s+(\d+)\s+\d+(?:.*inlined_at\s+\d+\s+(\d+))?", code):
            block = block_of.get(int(at[2] or at[1]), -1)
        elif inside and re.match(r"[$\w]+:$", code):
            instructions.append(Instruction(code, -1, -1, 0))
        elif inside and code.endswith(";") and not code.startswith("."):
            short = " ".join(code.split()).rstrip(";")
            instructions.append(Instruction(short, PTX_CLASSES.index(_ptx_purpose(short)), block, 0))
    return Traced(c.blocks, tuple(instructions), 0)


def _ptx_purpose(text: str) -> str:
    name = text.partition(" ")[2] if text.startswith("@") else text
    return next((kind for kind, pattern in _PTX if re.match(pattern, name)), "bookkeeping")
