"""Random kernels for the exercise `read_assembly`: a matrix multiplication in a compiler's style, with
other loops around and beside it, for three instruction sets.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...ir.lazy_dataclass import dataclass

REGISTERS = {"avx2": 16, "avx512": 32, "neon": 32}
WIDTHS = {"avx2": (4, 8), "avx512": (4, 8, 16), "neon": (2, 4)}


@dataclass(frozen=True)
class Shape:
    """A kernel: `rows` × `vectors` accumulators of `lanes` elements each (1: not vectorized), in registers
    or in `memory`, with `unrolled` iterations in its body; a loop around it (`outer`), one before it without
    multiply-adds (`fill`), multiply-adds after it (`after`), and a forward jump inside it (`skip`).
    """

    isa: str
    rows: int
    vectors: int
    lanes: int
    unrolled: int = 1
    memory: bool = False
    outer: bool = False
    fill: bool = False
    after: bool = False
    skip: bool = False

    @property
    def accumulators(self) -> int:
        """Return the registers that hold accumulators."""
        return 0 if self.memory else self.rows * self.vectors

    @property
    def fused(self) -> int:
        """Return the number of multiply-adds in the loop."""
        return self.rows * self.vectors * self.unrolled


def shapes(rng: random.Random, count: int, free: Sequence[str] = ()) -> Iterator[Shape]:
    """Yield random shapes that fit the registers; the properties named in `free` vary."""
    isas = tuple(REGISTERS)
    for number in range(count):
        isa = isas[number % len(isas)]
        while True:
            rows, vectors = rng.randint(1, 6), rng.randint(1, 4)
            if rows * vectors + vectors + 2 <= REGISTERS[isa]:
                break
        lanes = rng.choice((1, *WIDTHS[isa], *WIDTHS[isa]))
        result = Shape(isa, rows, vectors, lanes, rng.choice((1, 1, 2)))
        yield replace(result, **{name: rng.random() < 0.5 for name in free})  # type: ignore[arg-type]


def smaller(shape: Shape) -> Iterator[Shape]:
    """Yield simpler kernels."""
    for name in ("outer", "fill", "after", "skip"):
        if getattr(shape, name):
            yield replace(shape, **{name: False})  # type: ignore[arg-type]
    if shape.unrolled > 1:
        yield replace(shape, unrolled=1)
    if shape.rows > 1:
        yield replace(shape, rows=shape.rows - 1)
    if shape.vectors > 1:
        yield replace(shape, vectors=shape.vectors - 1)


def assembly_text(shape: Shape, seed: int) -> str:
    """Generate the kernel as assembly; `seed` determines the registers and the numbers of the labels."""
    rng = random.Random(seed)
    numbers = rng.sample(range(REGISTERS[shape.isa]), REGISTERS[shape.isa])
    first = rng.randint(0, 8)
    code = (_Arm if shape.isa == "neon" else _X86)(shape, numbers)
    label = [f".LBB{first}_{n}" for n in range(1, 6)]
    lines = code.begin()
    if shape.fill:
        lines += [f"{label[0]}:", *code.filled(label[0])]
    if shape.outer:
        lines += [f"{label[1]}:"]
    lines += [*code.cleared(), f"{label[2]}:"]
    if shape.skip:
        lines += code.skipped(label[3])
    for iteration in range(shape.unrolled):
        lines += code.products(iteration)
    lines += code.back(label[2])
    if shape.after:
        lines += code.scaled()
    lines += code.stored()
    if shape.outer:
        lines += code.around(label[1])
    return "\n".join(line if line.endswith(":") else f"\t{line}" for line in [*lines, code.end]) + "\n"


class _X86:
    end = "retq"

    def __init__(self, shape: Shape, numbers: list[int]) -> None:
        self.shape = shape
        count = shape.rows * shape.vectors
        letter = {16: "z", 8: "y"}.get(shape.lanes, "x")
        names = [f"%{letter}mm{n}" for n in numbers]
        self.accumulators, self.weights = names[:count], names[count : count + shape.vectors]
        self.broadcast = names[count + shape.vectors]
        self.small = f"%xmm{numbers[count + shape.vectors]}"
        self.kind = "ss" if shape.lanes == 1 else "ps"
        self.move = "vmovss" if shape.lanes == 1 else "vmovups"

    def begin(self) -> list[str]:
        return ["xorl %eax, %eax", "vxorps %xmm0, %xmm0, %xmm0"]

    def filled(self, label: str) -> list[str]:
        return ["movq $0, (%rdx,%rax,8)", "incq %rax", "cmpq $64, %rax", f"jne {label}"]

    def cleared(self) -> list[str]:
        moves = ["movq $-512, %rcx"]
        return moves if self.shape.memory else [*(f"vxorps {s}, {s}, {s}" for s in self.accumulators), *moves]

    def skipped(self, label: str) -> list[str]:
        return ["testq %r9, %r9", f"je {label}", "prefetcht0 256(%rdi,%rcx)", f"{label}:"]

    def products(self, iteration: int) -> list[str]:
        width, lines = 4 * self.shape.lanes, []
        for v, weight in enumerate(self.weights):
            from_ = width * (v + iteration * len(self.weights))
            lines.append(f"{self.move} {from_}(%rdi,%rcx,8), {weight}")
        for row in range(self.shape.rows):
            load = "vmovss" if self.shape.lanes == 1 else "vbroadcastss"
            lines.append(f"{load} {4 * iteration + 1024 * row}(%rsi,%rcx), {self.broadcast}")
            for v, weight in enumerate(self.weights):
                at = row * len(self.weights) + v
                accumulator, place = self.accumulators[at], f"{width * at}(%rdx)"
                lines += [f"{self.move} {place}, {accumulator}"] if self.shape.memory else []
                lines.append(f"vfmadd231{self.kind} {weight}, {self.broadcast}, {accumulator}")
                lines += [f"{self.move} {accumulator}, {place}"] if self.shape.memory else []
        return lines

    def back(self, label: str) -> list[str]:
        return [f"addq ${4 * self.shape.unrolled}, %rcx", f"jne {label}"]

    def scaled(self) -> list[str]:
        first = f"{self.move} (%r8), {self.broadcast}"
        kinds = ("132", "213")
        return [
            first,
            *(
                f"vfmadd{kinds[n % 2]}{self.kind} {16 * n}(%r8), {self.broadcast}, {s}"
                for n, s in enumerate(self.accumulators)
            ),
        ]

    def stored(self) -> list[str]:
        return [f"{self.move} {s}, {4 * self.shape.lanes * n}(%rdx)" for n, s in enumerate(self.accumulators)]

    def around(self, label: str) -> list[str]:
        return ["incq %r10", "cmpq $16, %r10", f"jl {label}"]


class _Arm:
    end = "ret"

    def __init__(self, shape: Shape, numbers: list[int]) -> None:
        self.shape = shape
        count = shape.rows * shape.vectors
        self.accumulators, self.weights = numbers[:count], numbers[count : count + shape.vectors]
        self.broadcast = numbers[count + shape.vectors]
        self.letter = {1: "s", 2: "d"}.get(shape.lanes, "q")

    def _named(self, number: int) -> str:
        return f"s{number}" if self.shape.lanes == 1 else f"v{number}.{self.shape.lanes}s"

    def begin(self) -> list[str]:
        return ["mov x8, xzr", "mov x9, #64"]

    def filled(self, label: str) -> list[str]:
        return ["str xzr, [x2, x8, lsl #3]", "add x8, x8, #1", "cmp x8, #64", f"b.ne {label}"]

    def cleared(self) -> list[str]:
        moves = ["mov x4, #128"]
        return (
            moves
            if self.shape.memory
            else [*(f"movi v{s}.2d, #0000000000000000" for s in self.accumulators), *moves]
        )

    def skipped(self, label: str) -> list[str]:
        return [f"cbz x12, {label}", "prfm pldl1keep, [x1, #256]", f"{label}:"]

    def products(self, iteration: int) -> list[str]:
        width, lines = 4 * self.shape.lanes, []
        for v, weight in enumerate(self.weights):
            lines.append(f"ldr {self.letter}{weight}, [x1, #{width * (v + iteration * len(self.weights))}]")
        for row in range(self.shape.rows):
            lines.append(f"ldr s{self.broadcast}, [x3, #{4 * iteration + 256 * row}]")
            for v, weight in enumerate(self.weights):
                at = row * len(self.weights) + v
                accumulator, place = self.accumulators[at], f"[x2, #{width * at}]"
                lines += [f"ldr {self.letter}{accumulator}, {place}"] if self.shape.memory else []
                lines.append(self._fused(accumulator, weight))
                lines += [f"str {self.letter}{accumulator}, {place}"] if self.shape.memory else []
        return lines

    def _fused(self, accumulator: int, weight: int) -> str:
        if self.shape.lanes == 1:
            return f"fmadd s{accumulator}, s{weight}, s{self.broadcast}, s{accumulator}"
        return f"fmla {self._named(accumulator)}, {self._named(weight)}, v{self.broadcast}.s[0]"

    def back(self, label: str) -> list[str]:
        return ["add x1, x1, #64", f"subs x4, x4, #{self.shape.unrolled}", f"b.ne {label}"]

    def scaled(self) -> list[str]:
        return [f"ldr s{self.broadcast}, [x5]", *(self._fused(s, self.weights[0]) for s in self.accumulators)]

    def stored(self) -> list[str]:
        return [
            f"str {self.letter}{s}, [x2, #{4 * self.shape.lanes * n}]"
            for n, s in enumerate(self.accumulators)
        ]

    def around(self, label: str) -> list[str]:
        return ["add x10, x10, #1", "cmp x10, #16", f"b.lt {label}"]
