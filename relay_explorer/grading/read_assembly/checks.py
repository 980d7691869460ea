"""The checks of the exercise `read_assembly`: which lines of a kernel multiply and add, whether they are
vector instructions, and where the accumulators are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any as Anything
from typing import NamedTuple

from ..answer_values import integer, repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import fused, innermost, kernel, kernels, loops, numbered, reading, written
from .generated import Shape, assembly_text, shapes, smaller

MAX_LINES_SHOWN = 40  # lines of a kernel that are shown


class Case(NamedTuple):
    """A kernel: a random one, with the seed of its registers, or the name of a stored one."""

    shape: Shape | None
    seed: int = 0
    name: str = ""

    @property
    def text(self) -> str:
        return kernel(self.name) if self.shape is None else assembly_text(self.shape, self.seed)


Hint = Callable[[Anything, str], str]


def _numbers(value: object) -> list[int] | None:
    """Return the integers of a list or tuple; None for any other value."""
    result = list(map(integer, value)) if isinstance(value, (list, tuple)) else [None]
    return None if None in result else [number for number in result if number is not None]


def _judged(function: str, part: str, hint: Hint) -> Callable[[Anything, Case], Failure | None]:
    def judge(answer: Anything, case: Case) -> Failure | None:
        text = case.text
        right = getattr(reading(text), part)
        expected = list(right) if part == "lines" else right
        description = _shown(function, case)
        outcome = limited(CASE_SECONDS, answer, text)
        if outcome.error is not None:
            return crashed(description, outcome, f"{expected}")
        got = outcome.value
        if (_numbers(got) if part == "lines" else integer(got)) == expected:
            return None
        return Failure(
            description, f"{expected}", repr_of(got, 300), hint(got, text), printed=outcome.printed
        )

    return judge


def _shown(function: str, case: Case) -> str:
    """Show the kernel with line numbers; of a long kernel, the part with its innermost loop."""
    lines = numbered(case.text).splitlines()
    named = f'kernel("{case.name}")' if case.shape is None else "text"
    if len(lines) > MAX_LINES_SHOWN:
        loop = innermost(case.text.splitlines())
        first = max(0, (loop[0] if loop else 0) - 3)
        last = min(len(lines), first + MAX_LINES_SHOWN)
        lines = ["   …", *lines[first:last], *(["   …"] if last < len(lines) else [])]
    shown = "\n".join(line.expandtabs(4)[:70] for line in lines)
    return f"{function}({named}), for the kernel\n{shown}"[:2400]


# -- the lines


def lines_hint(value: object, text: str) -> str:
    """Explain what is wrong with an answer to `multiply_adds`."""
    inputs = _numbers(value)
    if inputs is None:
        return "Return a list of line numbers, counted from 1."
    lines, right = text.splitlines(), list(reading(text).lines)
    got = sorted(set(inputs))
    if [n + 1 for n in got] == right:
        return "Count the lines from 1, as an editor does."
    if inputs != got and got == right:
        return "List each line once, in order."
    every = [at + 1 for at, line in enumerate(lines) if fused(line)]
    if not right:
        return "No loop of this kernel has a multiply-add: the list is empty."
    if got == every:
        return (
            "These are the multiply-adds of the whole text. Some are outside the innermost "
            "loop: they run once per execution of that loop, not once per iteration."
        )
    guesses = [_within(loop, lines) for loop in loops(lines)]
    if got in guesses:
        return (
            "This loop contains another one, or another loop has more multiply-adds. A loop "
            "is a label and a jump back to it. Among the loops that contain no other, choose "
            "the one with the most multiply-adds."
        )
    return _missed(got, right, lines)


def _within(loop: tuple[int, int], lines: Sequence[str]) -> list[int]:
    return [at + 1 for at in range(loop[0], loop[1] + 1) if fused(lines[at])]


def _missed(got: Sequence[int], right: Sequence[int], lines: Sequence[str]) -> str:
    extra = [n for n in got if n not in right]
    missing = [n for n in right if n not in got]
    if extra:
        if not 1 <= extra[0] <= len(lines):
            return f"There is no line {extra[0]}: the text has {len(lines)}."
        code = lines[extra[0] - 1].strip()
        if not fused(code):
            return f"Line {extra[0]}, `{code:.50}`, does not multiply and add."
        return f"Line {extra[0]} multiplies and adds, but is not in the innermost loop."
    name = lines[missing[0] - 1].split()[0]
    if name in ("fmla", "fmadd"):
        why = "on ARM, fmla is the vector instruction, fmadd the scalar one"
    elif name.endswith("ss"):
        why = "ss instead of ps means a scalar, which counts as well"
    else:
        why = "132, 213 and 231 say which operands are multiplied: all three multiply and add"
    return f"Line {missing[0]}, `{name}`, multiplies and adds too ({why})."


# -- the width


def lanes_hint(value: object, text: str) -> str:
    """Explain what is wrong with an answer to `lanes`."""
    result = reading(text)
    if (value := integer(value)) is None:
        return "Return an integer."
    if not result.lines:
        return "No loop of this kernel has a multiply-add: 0."
    line = text.splitlines()[result.lines[0] - 1].strip()
    if value == 32 * result.lanes:
        return "This is the width in bits. A float32 has 32 of them."
    if value == 4 * result.lanes and value > 16:
        return "This is the width in bytes. A float32 has four of them."
    if result.lanes == 1:
        return (
            f"`{line.split()[0]}` computes a single value, however wide the register is: it "
            "is not vectorized, so the answer is 1."
        )
    if value == len(result.lines):
        return "This is the number of multiply-adds. How many values does one of them compute?"
    if re.match(r"fmla", line):
        return f"`{line:.50}`: the suffix after the dot gives the number of lanes and their size, 4s or 2s."
    if value == result.lanes * 2 or value * 2 == result.lanes or value in (4, 8, 16):
        return (
            f"`{line:.50}`: an xmm register has 128 bits, a ymm register 256, a zmm register "
            "512. The instructions in the loop matter, not the widest that the processor has."
        )
    return "Look at the registers of a multiply-add in the loop: how many float32 values fit in one?"


# -- the accumulators


def accumulators_hint(value: object, text: str) -> str:
    """Explain what is wrong with an answer to `accumulators`."""
    result, lines = reading(text), text.splitlines()
    if (value := integer(value)) is None:
        return "Return an integer: the number of registers that hold accumulators."
    if not result.lines:
        return "No loop of this kernel has a multiply-add: 0."
    loop = innermost(lines)
    assert loop is not None
    inside = lines[loop[0] : loop[1] + 1]
    mine = [line for line in inside if fused(line)]
    targets = {register for line in mine for register in written(line)}
    if value == len(targets) and result.accumulators < len(targets):
        return (
            "Another instruction of the loop, such as a load, also writes this register. It "
            "cannot hold a sum from one iteration to the next, so the accumulator is in "
            "memory."
        )
    if value == len(mine):
        return (
            "This is the number of multiply-adds. Several may add to the same register: "
            "count the destination registers."
        )
    others = {register for line in inside if not fused(line) for register in written(line)}
    other_end = {_other_end(line.strip()) for line in mine}
    if value in (len(other_end), len(other_end - others)):
        return (
            "Which operand is the destination? In the syntax used here it is the last on x86 "
            "and the first on ARM; the others are only read."
        )
    if value == len({r for line in lines if fused(line) for r in written(line)}):
        return "Only the innermost loop counts."
    if value == len({r for line in inside for r in written(line)}):
        return "Loads write registers, too. Accumulators are in registers that multiply-adds write."
    return "Count the registers that multiply-adds of the loop write, and no other instruction in it does."


def _other_end(line: str) -> int:
    """Return the register operand at the opposite end from the destination; -1 for memory."""
    operands = re.findall(r"\([^)]*\)|%[xyz]mm\d+|\b[vs]\d+", line.partition(" ")[2])
    match = re.search(r"\d+$", operands[0] if line.startswith("v") else operands[-1])
    return int(match[0]) if match else -1


# -- the properties


def _random(*free: str) -> Anything:
    def cases(rng: random.Random, count: int) -> Iterator[Case]:
        for shape in shapes(rng, count, free):
            yield Case(shape, rng.randrange(1 << 20))

    return cases


def _stored(rng: random.Random, count: int) -> Iterator[Case]:
    return (Case(None, name=name) for name in kernels())


def _smaller(case: Case) -> Iterator[Case]:
    return iter(()) if case.shape is None else (Case(shape, case.seed) for shape in smaller(case.shape))


def _property(name: str, says: str, judge: Anything, cases: Anything) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        result: Iterable[Case] = cases(rng, count)
        return Search(lambda case: judge(answer, case), _smaller)(result)

    return Property(name, says, test)


_LINES = _judged("multiply_adds", "lines", lines_hint)
_LANES = _judged("lanes", "lanes", lanes_hint)
_ACCUMULATORS = _judged("accumulators", "accumulators", accumulators_hint)
_AROUND = ("outer", "fill", "after", "skip")

EXERCISE = {
    "multiply_adds": Exercise(
        "multiply_adds",
        "multiply_adds(text)",
        (
            _property(
                "loop", "the multiply-adds of a single loop are found, on x86 and on ARM", _LINES, _random()
            ),
            _property("innermost", "only those of the innermost loop are found", _LINES, _random(*_AROUND)),
            _property(
                "kernels", "the answer is right for kernels that this compiler generated", _LINES, _stored
            ),
        ),
    ),
    "lanes": Exercise(
        "lanes",
        "lanes(text)",
        (
            _property(
                "widths",
                "the number of lanes is right for vectors of every width, and for scalars",
                _LANES,
                _random(*_AROUND),
            ),
            _property(
                "kernels", "the answer is right for kernels that this compiler generated", _LANES, _stored
            ),
        ),
    ),
    "accumulators": Exercise(
        "accumulators",
        "accumulators(text)",
        (
            _property(
                "registers", "each register with an accumulator counts once", _ACCUMULATORS, _random(*_AROUND)
            ),
            _property(
                "memory",
                "a register that is loaded in every iteration does not count",
                _ACCUMULATORS,
                _random("memory", *_AROUND),
            ),
            _property(
                "kernels",
                "the answer is right for kernels that this compiler generated",
                _ACCUMULATORS,
                _stored,
            ),
        ),
    ),
}
