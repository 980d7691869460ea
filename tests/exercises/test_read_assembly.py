"""The checks of the exercise `read_assembly`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import random

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.read_assembly import kernel, kernels, loops, reading
from relay_explorer.grading.read_assembly.generated import REGISTERS, Shape, assembly_text, shapes, smaller
from tests.exercises.answers import answers
from tests.exercises.mistakes import Mistake, check_mistake


@pytest.mark.parametrize("part", ["multiply_adds", "lanes", "accumulators"])
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"read_assembly.{part}", answers("read_assembly")[part], seed=seed, programs=150)
    assert feedback.passed, str(feedback)


def test_reads_generated_loops() -> None:
    free = ("memory", "outer", "fill", "after", "skip")
    for seed, shape in enumerate(shapes(random.Random(1), 300, free)):
        result = reading(assembly_text(shape, seed))
        assert (len(result.lines), result.lanes, result.accumulators) == (
            shape.fused,
            shape.lanes,
            shape.accumulators,
        ), shape
        assert all(s.rows * s.vectors <= REGISTERS[s.isa] for s in smaller(shape))


# Determined by hand with the lowering explorer: lanes, registers, number of lines, first and last line.
EXPECTED_READINGS = {
    "layer-avx2": (8, 8, 16, 48, 72),
    "product-neon": (4, 16, 16, 51, 75),
    "relu-avx2": (0, 0, 0, 0, 0),
    "product-avx512": (16, 16, 16, 191, 209),
    "naive-neon": (1, 0, 8, 35, 168),
    "layer-avx512": (8, 16, 16, 55, 76),
    "softmax-avx2": (8, 0, 9, 229, 240),
}


@pytest.mark.parametrize("name", EXPECTED_READINGS)
def test_reading_of_compiled_kernels(name: str) -> None:
    result = reading(kernel(name))
    ends = (result.lines[0], result.lines[-1]) if result.lines else (0, 0)
    assert (result.lanes, result.accumulators, len(result.lines), *ends) == EXPECTED_READINGS[name]


def test_compiled_kernels_have_one_main_loop() -> None:
    """Loops are disjoint or nested, and one innermost loop has more multiply-adds than the others."""
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


LINE_NUMBERS, FUSED = "lines_of_loop = [at + 1 for at", 'r"(vfmadd\\d+[ps]s|fmla|fmadd)\\s"'
LINES = {
    "returns nothing": Mistake([("    return best", "    pass")], "loop", "Return a list of line numbers"),
    "numbers lines from 0": Mistake(
        [(LINE_NUMBERS, "lines_of_loop = [at for at")], "loop", "Count the lines from 1"
    ),
    "accepts one FMA operand order": Mistake([("vfmadd\\d+", "vfmadd213")], "loop", "132, 213 and 231"),
    "ignores scalar FMAs": Mistake(
        [("[ps]s|fmla|fmadd", "ps|fmla|fmadd")], "loop", "ss instead of ps", programs=60
    ),
    "ignores ARM": Mistake([("|fmla|fmadd", "")], "loop", "on ARM, fmla is the vector instruction"),
    "counts loads as multiply-adds": Mistake(
        [("(vfmadd", "(vbroadcastss|ldr|vfmadd")], "loop", "does not multiply and add"
    ),
    "searches the whole text": Mistake(
        [("    return best", "    return [at + 1 for at, line in enumerate(lines) if fused.match(line)]")],
        "innermost",
        "the multiply-adds of the whole text",
    ),
    "treats forward jumps as loops": Mistake(
        [
            (
                "            if first < at:\n                loops[first] = at",
                "            loops[min(first, at)] = max(first, at)",
            )
        ],
        "innermost",
        "",
    ),
    "accepts outer loops": Mistake(
        [("if any(first < a and b <= last for a, b in loops.items()):", "if False:")], "innermost", ""
    ),
    "returns the last loop": Mistake(
        [
            (
                "        if len(lines_of_loop) > len(best):\n            best = lines_of_loop",
                "        best = lines_of_loop",
            )
        ],
        "kernels",
        "",
    ),
    "returns the first loop": Mistake(
        [("        if len(lines_of_loop) > len(best):", "        if not best and first == min(loops):")],
        "innermost",
        "",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_hints_at_common_mistake_in_lines(name: str) -> None:
    check_mistake("read_assembly", "multiply_adds", "read_assembly.multiply_adds", LINES[name])


LANES = {
    "returns bits": Mistake(
        [('{"x": 4, "y": 8, "z": 16}[letter]', '{"x": 128, "y": 256, "z": 512}[letter]')],
        "widths",
        "width in bits",
    ),
    "returns bytes": Mistake(
        [('{"x": 4, "y": 8, "z": 16}[letter]', '{"x": 4, "y": 32, "z": 64}[letter]')],
        "widths",
        "width in bytes",
    ),
    "treats scalars as vectors": Mistake(
        [('line.split()[0].endswith("ss")', "False")], "widths", "the answer is 1"
    ),
    "assumes 8 lanes": Mistake([('{"x": 4, "y": 8, "z": 16}[letter]', "8")], "widths", "not the widest"),
    "assumes 4 lanes on ARM": Mistake([("return int(width[1]) if width else 1", "return 4")], "widths", ""),
    "returns the number of lines": Mistake(
        [("    line = text.splitlines()[num", "    return len(numbers)\n    line = text.splitlines()[num")],
        "widths",
        "",
    ),
}


@pytest.mark.parametrize("name", LANES)
def test_hints_at_common_mistake_in_width(name: str) -> None:
    check_mistake("read_assembly", "lanes", "read_assembly.lanes", LANES[name])


LAST, EXCEPT_LOADED = 'r"%[xyz]mm(\\d+)$", operands', " - {r for at in others for r in written(lines[at])}"
ACCUMULATORS = {
    "counts multiply-adds": Mistake(
        [("return len(targets" + EXCEPT_LOADED + ")", "return len(numbers)")],
        "registers",
        "destination registers",
    ),
    "counts source registers": Mistake(
        [(LAST, 'r"%[xyz]mm(\\d+)", operands')], "registers", "is the destination"
    ),
    "counts registers reloaded from memory": Mistake(
        [("targets" + EXCEPT_LOADED, "targets")], "memory", "the accumulator is in memory"
    ),
    "searches the whole text": Mistake([("begin, end = min(ends", "begin, end = max(ends")], "registers", ""),
    "counts loaded registers": Mistake(
        [("targets" + EXCEPT_LOADED, "targets" + EXCEPT_LOADED.replace("-", "|", 1))],
        "registers",
        "Loads write registers, too",
    ),
}


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_hints_at_common_mistake_in_accumulators(name: str) -> None:
    check_mistake("read_assembly", "accumulators", "read_assembly.accumulators", ACCUMULATORS[name])


def test_finds_smallest_kernel() -> None:
    wrong = answers("read_assembly", ("vfmadd\\d+", "vfmadd213"))["multiply_adds"]
    failure = check("read_assembly.multiply_adds", wrong).failure
    assert failure is not None
    assert len(failure.case.splitlines()) < 16, failure.case
    assert "vfmadd231" in failure.case
    shape = Shape("neon", 2, 1, 4, unrolled=2, outer=True)
    assert Shape("neon", 2, 1, 4, unrolled=2) in list(smaller(shape))
