"""Translate one bytecode function to C.

The C function takes the machine, its registers, and the point at which it resumes. It returns to the
machine's loop at each call, and is resumed when the result is available, so that C's own stack stays flat. A
register that will not be read any more is empty: its value is freed, or moved elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..vm.bytecode import TailInvoke, VMFunction, read, targets, written
from ..vm.text import instruction_text
from .liveness import live_before, successors
from .names import Naming, comment


class FunctionWriter:
    """Translates one function to C."""

    def __init__(self, function: VMFunction, names: Naming) -> None:
        self.function, self.names, self.code = function, names, function.code
        self.live = live_before(self.code)
        self.lines: list[str] = []
        self.returns = 0  # points at which it resumes after a call
        self.labels = {t for instruction in self.code for t in targets(instruction)}
        tails = [i for i in self.code if isinstance(i, TailInvoke) and i.function == function.name]
        self.loops = bool(tails)

    def write(self) -> str:
        from .instructions import WRITERS

        function = self.function
        count = len(function.params) + function.captured
        unused = [r for r in range(count) if r not in self.live[0]]
        body = self.lines
        if self.loops:
            body.append("start:")
        self.clear(unused)
        for number, instruction in enumerate(self.code):
            if number in self.labels:
                body.append(f"L{number}:")
            body.append(f"  /* {comment(instruction_text(instruction))} */")
            WRITERS[type(instruction)](self, instruction, number)
        params = ", ".join(f"%{p}: {t}" for p, t in zip(function.params, function.types))
        head = [
            f"/* @{comment(function.name)}({comment(params)}) -> {comment(function.types[-1])} */",
            f"static int {self.names.functions[function.name]}(Machine *m, Object **r, int at) {{",
            "  (void)r;",
        ]
        if self.returns:
            cases = " ".join(f"case {k + 1}: goto back{k + 1};" for k in range(self.returns))
            head.append(f"  switch (at) {{ {cases} }}")
        else:
            head.append("  (void)at;")
        return "\n".join([*head, *body, "}"]) + "\n"

    # -- registers

    def dying(self, number: int) -> list[int]:
        """Return the registers whose values are dead after an instruction."""
        instruction = self.code[number]
        after: set[int] = set()
        for following in successors(self.code, number):
            after |= self.live[following]
        dead = set(written(instruction)) | (set(read(instruction)) - after)
        return [r for r in dict.fromkeys(read(instruction)) if r in dead]

    def clear(self, registers: Iterable[int]) -> None:
        for register in registers:
            self.lines.append(f"  clear(m, &r[{register}]);")

    def values(self, registers: Sequence[int], number: int, of: str = "r") -> list[str]:
        """Return C expressions for values that go elsewhere: a register's last read moves the value, any
        other shares it.
        """
        dying = set(self.dying(number))
        expressions = []
        for position, register in enumerate(registers):
            last = register in dying and register not in registers[position + 1 :]
            expressions.append(f"take(&{of}[{register}])" if last else f"keep({of}[{register}])")
        return expressions

    def made(self, to: int, value: str, number: int, used: Iterable[int] = ()) -> None:
        """Emit the assignment of a new value, which is NULL if memory is exhausted. The registers in `used`
        have been moved into it already.
        """
        self.lines.append(f"  {{ Object *made = {value}; if (!made) return 1;")
        self.settle(to, number, used)

    def settle(self, to: int, number: int, used: Iterable[int] = ()) -> None:
        """Close a block in which `made` is the value of the register `to`."""
        handed = set(used)
        self.clear(register for register in self.dying(number) if register not in handed)
        if to in self.live[number + 1]:
            self.lines.append(f"  r[{to}] = made; }}")
        else:
            self.lines.append("  drop(m, made); }")

    def edge(self, number: int, target: int) -> str:
        """Return the code that frees the registers that are dead on the edge between two instructions."""
        after: set[int] = set(read(self.code[number]))
        for following in successors(self.code, number):
            after |= self.live[following]
        return "".join(f"clear(m, &r[{r}]); " for r in sorted(after - self.live[target]))
