"""Relates each instruction of a kernel's machine code to the block of the loops that it came from.

It uses LLVM's debug information. Each store of the scheduled loops gets the number of its block as its source
line; LLVM preserves these lines through all its passes, and writes them into the assembly. TVM emits no debug
scope for the part of a kernel that runs on several cores, so one is added to the LLVM IR from which the
assembly is generated. Neither changes an instruction.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...ir.lazy_dataclass import dataclass
from ..require import tvm
from ..schedules import Scheduled

# The purpose of an instruction, by a prefix of its mnemonic: for x86-64, then for ARM.
CLASSES = ("multiply-add", "arithmetic", "load", "store", "broadcast", "shuffle", "bookkeeping", "jump")
_X86 = (
    ("broadcast", r"v?(p?broadcast|movddup)"),
    ("shuffle", r"v?(p?shuf|perm|p?unpck|p?extract?|p?insr|insert|p?blend|palign|movlh|movhl)"),
    ("multiply-add", r"vfn?m(add|sub)|vpdp"),
    ("jump", r"j\w+$|call|ret"),
    (
        "arithmetic",
        r"v\w*(ps|pd|ss|sd)$|v?cvt|vp(add|sub|mul|max|min|cmp|sll|srl|sra|madd|abs|xor|or|and)|vroundp"
        r"|(add|sub|mul|div|max|min|sqrt|and|or|xor|cmp)(ps|pd|ss|sd)$",
    ),
)
_ARM = (
    ("broadcast", r"dup$"), ("shuffle", r"(ext|zip[12]|uzp[12]|trn[12]|tbl|ins)$"),
    ("multiply-add", r"(f?ml[as]|[us]ml[as]l2?|fn?madd|fn?msub|[us]dot)$"),
    ("load", r"ld"), ("store", r"st"),
    ("jump", r"(b|bl|br|blr|ret|cbn?z|tbn?z)$|b\."),
    ("arithmetic", r"f\w+$|[us]cvtf$|movi$|[us]mull2?$|[us]adalp$|[us]shr$|shl$"),
)  # fmt: skip
_MOVES = re.compile(r"v?(mov|pmov)\w*")
_VECTOR = re.compile(r"%[xyz]mm")


@dataclass(frozen=True)
class Instruction:
    """A line of code: its text, its purpose (an index into CLASSES; -1: a label), the block that it came from
    (an index into the kernel's blocks; -1: none), and the number of loops around it.
    """

    text: str
    purpose: int
    block: int
    depth: int


@dataclass(frozen=True)
class Traced:
    """The code of a kernel. `blocks` are the names of the blocks that its lines refer to, `lines` those of
    the functions that compute; `others` counts the instructions of the remaining functions, which check the
    arguments and start the threads.
    """

    blocks: tuple[str, ...]
    lines: tuple[Instruction, ...]
    others: int


def traced(kernel: Scheduled) -> Traced:
    """Return the assembly of a scheduled kernel for a CPU."""
    return both(kernel)[1]


def both(kernel: Scheduled) -> tuple[Traced, Traced]:
    """Return the LLVM IR of a scheduled kernel for a CPU, and the assembly that LLVM generates from it."""
    from ..codegen.compile_kernel import generated
    from .traced_llvm import read_llvm

    func, blocks = marked(kernel.prim_func)
    module = tvm().IRModule({kernel.composed.name: func})
    text = with_scopes(str(generated(replace(kernel, mod=module)).mod.inspect_source("ll")))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "kernel.ll"
        path.write_text(text, "utf-8")
        assembly = str(tvm().runtime.load_module(str(path)).inspect_source("s"))
    arm = kernel.composed.target.kind == "arm64"
    return read_llvm(text, tuple(blocks)), read(assembly, tuple(blocks), arm=arm)


# -- marking the loops


def marked(func: Any) -> tuple[Any, list[str]]:
    """Return the function with each store attributed to a source line that stands for its block (the first
    block has line 1), and the blocks' names.
    """
    blocks: list[str] = []
    marker = _Marker(blocks)
    return func.with_body(marker.copy(func.body, 0)), blocks


class _Marker:
    """Copies loops with source lines. Recursion is safe: loops nest only as deep as tensors have axes."""

    def __init__(self, blocks: list[str]) -> None:
        self.blocks = blocks

    def copy(self, node: Any, line: int) -> Any:
        tirx, s_tir = tvm().tirx, tvm().s_tir
        kind = type(node).__name__
        span = self._span(line)
        if kind == "SeqStmt":
            return tirx.SeqStmt([self.copy(part, line) for part in node.seq], span)
        if kind == "For":
            body = self.copy(node.body, line)
            return tirx.For(
                node.loop_var, node.min, node.extent, node.kind, body, node.thread_binding, node.annotations,
                node.step, span,
            )  # fmt: skip
        if kind == "SBlockRealize":
            return s_tir.SBlockRealize(node.iter_values, node.predicate, self.copy(node.block, line), span)
        if kind == "SBlock":
            if str(node.name_hint) != "root":
                self.blocks.append(str(node.name_hint))
                line = len(self.blocks)
            init = None if node.init is None else self.copy(node.init, line)
            return s_tir.SBlock(
                node.iter_vars, node.reads, node.writes, node.name_hint, self.copy(node.body, line), init,
                node.alloc_buffers, node.match_buffers, node.annotations, self._span(line),
            )  # fmt: skip
        if kind == "BufferStore":
            return tirx.BufferStore(node.buffer, node.value, node.indices, span)
        if kind == "IfThenElse":
            other = None if node.else_case is None else self.copy(node.else_case, line)
            return tirx.IfThenElse(node.condition, self.copy(node.then_case, line), other, span)
        return node

    def _span(self, line: int) -> Any:
        if line == 0:
            return None
        ir = tvm().ir
        return ir.Span(ir.SourceName("blocks"), line, line, 1, 1)


# -- LLVM IR

_DEFINE = re.compile(r"^define .*@([\w.$]+)\(.*\{$")
_PLACE = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)")


def with_scopes(text: str) -> str:
    """Add a debug scope (DISubprogram) to each function of LLVM IR that has none, and move the source lines
    of its instructions into it. Remove the debug records of variables. Return the text unchanged if it has no
    debug information.
    """
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#dbg_")]
    numbers = {m[1]: int(m[2]) for line in lines if (m := _PLACE.match(line))}
    unit = next((m[1] for line in lines if (m := re.match(r"^!llvm\.dbg\.cu = !\{(!\d+)\}", line))), None)
    file = next((m[1] for line in lines if (m := re.match(r"^(!\d+) = !DIFile\(", line))), None)
    if unit is None or file is None:
        return text
    free = 1 + max((int(m) for m in re.findall(r"^!(\d+) =", "\n".join(lines), re.M)), default=0)
    added, output, scope = [], [], 0
    places: dict[int, str] = {}
    for line in lines:
        if (m := _DEFINE.match(line)) and " !dbg " not in line:
            scope, free, places = free, free + 1, {}
            added.append(
                f'!{scope} = distinct !DISubprogram(name: "{m[1]}", scope: {file}, file: {file}, '
                f"type: !DISubroutineType(types: !{{}}), spFlags: DISPFlagDefinition, unit: {unit})"
            )
            line = f"{line[:-1]}!dbg !{scope} {{"
        elif line == "}":
            scope = 0
        elif scope and (at := re.search(r"!dbg !(\d+)", line)):
            number = numbers.get(at[1], 0)
            if number not in places:
                places[number], free = f"!{free}", free + 1
                added.append(f"{places[number]} = !DILocation(line: {number}, column: 1, scope: !{scope})")
            line = line.replace(at[0], f"!dbg {places[number]}")
        output.append(line)
    return "\n".join([*output, *added, ""])


# -- the assembly

_SYMBOL = re.compile(r"^([A-Za-z_.$][\w.$]*):")
_LOCAL = re.compile(r"^\.L(BB)?\w+:")


def read(assembly: str, blocks: tuple[str, ...], arm: bool = False) -> Traced:
    """Read the functions of an assembly that contain instructions of a block."""
    return gathered((_instructions(lines, arm) for lines in _functions(assembly)), blocks)


def gathered(functions: Iterable[list[Instruction]], blocks: tuple[str, ...]) -> Traced:
    """Join the lines of the functions that contain instructions of a block; count those of the others."""
    lines: list[Instruction] = []
    others = 0
    for instructions in functions:
        if any(one.block >= 0 for one in instructions):
            lines += instructions
        else:
            others += sum(one.purpose >= 0 for one in instructions)
    return Traced(blocks, tuple(lines), others)


def _functions(assembly: str) -> list[list[str]]:
    functions: list[list[str]] = []
    named = re.compile(r"^\s*\.type\s+([\w.$]+),\s*[@%]function")
    names = {m[1] for line in assembly.splitlines() if (m := named.match(line))}
    for line in assembly.splitlines():
        symbol = _SYMBOL.match(line)
        if symbol and symbol[1] in names:
            functions.append([])
        if re.match(r"\.Lfunc_end\d+:", line):
            functions.append([])
        elif functions:
            functions[-1].append(line)
    return [lines for lines in functions if lines and (m := _SYMBOL.match(lines[0])) and m[1] in names]


def _instructions(lines: list[str], arm: bool) -> list[Instruction]:
    """Parse the instructions of a function, and the labels that are jump targets."""
    jumps = re.compile(r"^\s+(?:j\w+|b|b\.\w+|cbn?z|tbn?z)\s+(?:.*[\s,])?(\.LBB\w+)\s*$")
    targets = {m[1] for line in lines if (m := jumps.match(line))}
    instructions: list[Instruction] = []
    place: dict[str, int] = {}  # of each label
    jump_labels: dict[int, str] = {}  # by the index of a jump: the label of its target
    block = -1
    comment = r"\s+//" if arm else r"\s+#"  # on ARM, a number begins with #
    for line in lines:
        code = re.split(comment, line, maxsplit=1)[0].rstrip()
        label = _SYMBOL.match(code)
        if label and label[1] in targets:
            place[label[1]] = len(instructions)
            instructions.append(Instruction(code, -1, -1, 0))
        elif at := re.match(r"\s+\.loc\s+\d+\s+(\d+)", code):
            block = int(at[1]) - 1
        elif code.startswith(("\t", " ")) and not code.lstrip().startswith((".", "#", "//")):
            text = " ".join(code.split())
            if jump := jumps.match(code):
                jump_labels[len(instructions)] = jump[1]
            instructions.append(Instruction(text, CLASSES.index(purpose(text, arm)), block, 0))
    depths = _depths(instructions, {at: place[to] for at, to in jump_labels.items() if to in place})
    return [
        Instruction(one.text, one.purpose, one.block, depth)
        for one, depth in zip(instructions, depths, strict=True)
    ]


_LEAVES = re.compile(r"(jmp|ret\w?|b|br)( |$)")  # instructions that never fall through to the next line


def _depths(lines: list[Instruction], jumps: dict[int, int]) -> list[int]:
    """Return the number of loops around each line. A backward jump closes a loop. The loop contains the lines
    between the target and the jump from which the jump is reached without passing the target.
    """
    predecessors: list[list[int]] = [[] for _ in lines]
    for at, line in enumerate(lines[:-1]):
        if not _LEAVES.match(line.text):
            predecessors[at + 1].append(at)
    for at, to in jumps.items():
        predecessors[to].append(at)
    loops: dict[int, set[int]] = {}
    for at, first in jumps.items():
        if first > at:
            continue
        inside, pending = loops.setdefault(first, {first}), [at]
        while pending:
            line_at = pending.pop()
            if line_at not in inside and first < line_at <= at:
                inside.add(line_at)
                pending += predecessors[line_at]
    return [sum(at in inside for inside in loops.values()) for at in range(len(lines))]


def purpose(text: str, arm: bool = False) -> str:
    """Classify an instruction: return one of CLASSES."""
    name, _, operands = text.partition(" ")
    if arm:
        return next((kind for kind, pattern in _ARM if re.match(pattern, name)), "bookkeeping")
    for kind, pattern in _X86[:2]:
        if re.match(pattern, name):
            return kind
    if _MOVES.fullmatch(name) and _VECTOR.search(operands):
        if re.search(r"\)\s*$", operands) or re.search(r"\)\s*\{%k\d\}$", operands):
            return "store"
        if "(" in operands:
            return "load"
        return "arithmetic" if "pmov" in name else "bookkeeping"  # a conversion of width, or a copy
    return next((kind for kind, pattern in _X86[2:] if re.match(pattern, name)), "bookkeeping")
