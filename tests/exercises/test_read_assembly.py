"""The exercise `read_assembly`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import random

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.read_assembly import kernel, kernels, loops, reading
from relay_explorer.grading.read_assembly.generated import REGISTERS, Shape, shapes, smaller, written_out
from tests.exercises.answers import answers
from tests.exercises.mistakes import Mistake, tried


@pytest.mark.parametrize("part", ["multiply_adds", "lanes", "sums"])
@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"read_assembly.{part}", answers("read_assembly")[part], seed=seed, programs=150)
    assert feedback.passed, str(feedback)


def test_what_is_read_is_what_was_written() -> None:
    free = ("memory", "outer", "fill", "after", "skip")
    for seed, shape in enumerate(shapes(random.Random(1), 300, free)):
        result = reading(written_out(shape, seed))
        assert (len(result.lines), result.lanes, result.sums) == (shape.fused, shape.lanes, shape.sums), shape
        assert all(s.rows * s.vectors <= REGISTERS[s.isa] for s in smaller(shape))


# Read by eye, with the lowering explorer beside it: lanes, registers, lines, the first and the last of them.
BY_EYE = {
    "layer-avx2": (8, 8, 16, 48, 72), "product-neon": (4, 16, 16, 51, 75), "relu-avx2": (0, 0, 0, 0, 0),
    "product-avx512": (16, 16, 16, 191, 209), "naive-neon": (1, 0, 8, 35, 168),
    "layer-avx512": (8, 16, 16, 55, 76), "softmax-avx2": (8, 0, 9, 229, 240),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_EYE)
def test_kernels_of_the_compiler_are_read_as_by_eye(name: str) -> None:
    result = reading(kernel(name))
    ends = (result.lines[0], result.lines[-1]) if result.lines else (0, 0)
    assert (result.lanes, result.sums, len(result.lines), *ends) == BY_EYE[name]


def test_no_kernel_of_the_compiler_leaves_a_choice() -> None:
    """Loops lie apart or within one another, and one of the innermost has most multiply-adds."""
    for name in kernels():
        lines = kernel(name).splitlines()
        result = loops(lines)
        for a, b in result:
            assert not any(a < c <= b < d for c, d in result), name
        counts = sorted(
            sum("fmadd" in line or "fmla" in line for line in lines[a : b + 1])
            for a, b in result
            if not any(a < c and d <= b for c, d in result)
        )
        assert len(counts) < 2 or counts[-1] == 0 or counts[-1] > counts[-2], name
    with pytest.raises(ValueError, match="there is no kernel 'dense': there are layer-avx2, "):
        kernel("dense")


FOUND, FUSED = "found = [at + 1 for at", 'r"(vfmadd\\d+[ps]s|fmla|fmadd)\\s"'
LINES = {
    "nothing returned": Mistake([("    return best", "    pass")], "loop", "Return a list of the numbers"),
    "from 0": Mistake([(FOUND, "found = [at for at")], "loop", "Count the lines from 1"),
    "only 231": Mistake([("vfmadd\\d+", "vfmadd213")], "loop", "132, 213 and 231"),
    "no single numbers": Mistake(
        [("[ps]s|fmla|fmadd", "ps|fmla|fmadd")], "loop", "ss instead of ps", programs=60
    ),
    "only x86": Mistake([("|fmla|fmadd", "")], "loop", "on ARM, vectors do it with fmla"),
    "all products": Mistake([("(vfmadd", "(vbroadcastss|ldr|vfmadd")], "loop", "does not multiply and add"),
    "all of the text": Mistake(
        [("    return best", "    return [at + 1 for at, line in enumerate(lines) if fused.match(line)]")],
        "innermost", "the multiply-adds of the whole text",
    ),
    "jumps forwards": Mistake(
        [("            if first < at:\n                loops[first] = at",
          "            loops[min(first, at)] = max(first, at)")],
        "innermost", "",
    ),
    "an outer loop": Mistake(
        [("if any(first < a and b <= last for a, b in loops.items()):", "if False:")], "innermost", ""
    ),
    "the last loop": Mistake(
        [("        if len(found) > len(best):\n            best = found", "        best = found")],
        "kernels", "",
    ),
    "the first loop": Mistake(
        [("        if len(found) > len(best):", "        if not best and first == min(loops):")],
        "innermost", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_usual_mistake_of_the_lines_is_named(name: str) -> None:
    tried("read_assembly", "multiply_adds", "read_assembly.multiply_adds", LINES[name])


LANES = {
    "bits": Mistake([('{"x": 4, "y": 8, "z": 16}[letter]', '{"x": 128, "y": 256, "z": 512}[letter]')],
                    "widths", "width in bits"),
    "bytes": Mistake([('{"x": 4, "y": 8, "z": 16}[letter]', '{"x": 4, "y": 32, "z": 64}[letter]')],
                     "widths", "width in bytes"),
    "single numbers": Mistake([('line.split()[0].endswith("ss")', "False")], "widths", "not vectorized, 1"),
    "always 8": Mistake([('{"x": 4, "y": 8, "z": 16}[letter]', "8")], "widths", "not the largest"),
    "on ARM four": Mistake([("return int(width[1]) if width else 1", "return 4")], "widths", ""),
    "how many": Mistake(
        [("    line = text.splitlines()[num", "    return len(numbers)\n    line = text.splitlines()[num")],
        "widths", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LANES)
def test_a_usual_mistake_of_the_width_is_named(name: str) -> None:
    tried("read_assembly", "lanes", "read_assembly.lanes", LANES[name])


LAST, WITHOUT = 'r"%[xyz]mm(\\d+)$", operands', " - {r for at in others for r in written(lines[at])}"
SUMS = {
    "multiply-adds": Mistake(
        [("return len(targets" + WITHOUT + ")", "return len(numbers)")], "registers", "count the registers"
    ),
    "what is read": Mistake([(LAST, 'r"%[xyz]mm(\\d+)", operands')], "registers", "Which operand is written"),
    "in memory": Mistake([("targets" + WITHOUT, "targets")], "memory", "it is in memory"),
    "all of the text": Mistake([("begin, end = min(ends", "begin, end = max(ends")], "registers", ""),
    "loads too": Mistake([("targets" + WITHOUT, "targets" + WITHOUT.replace("-", "|", 1))],
                         "registers", "Loads write registers too"),
}  # fmt: skip


@pytest.mark.parametrize("name", SUMS)
def test_a_usual_mistake_of_the_sums_is_named(name: str) -> None:
    tried("read_assembly", "sums", "read_assembly.sums", SUMS[name])


def test_the_smallest_kernel_is_found() -> None:
    wrong = answers("read_assembly", ("vfmadd\\d+", "vfmadd213"))["multiply_adds"]
    failure = check("read_assembly.multiply_adds", wrong).failure
    assert failure is not None
    assert len(failure.case.splitlines()) < 16, failure.case
    assert "vfmadd231" in failure.case
    shape = Shape("neon", 2, 1, 4, turns=2, outer=True)
    assert Shape("neon", 2, 1, 4, turns=2) in list(smaller(shape))
