"""The checks of the exercise `shape_analysis`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import random

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.shape_analysis.checks import right_answer
from relay_explorer.grading.shape_analysis.programs import AXES, BINARY, UNARY, Maker, changed, forgetful
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake


@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(seed: int) -> None:
    feedback = check("shape_analysis", answer("shape_analysis", "shape_of"), seed=seed, programs=60)
    assert feedback.passed, str(feedback)


WRONG = {
    "does not broadcast": Mistake(
        [("return broadcast(*args)", "return args[0]")], "broadcast", "align the shapes at the last axis"
    ),
    "aligns at the first axis": Mistake(
        [
            (
                "zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right)",
                "zip(left + (1,) * (rank - len(left)), right + (1,) * (rank - len(right)))",
            )
        ],
        "broadcast",
        "",
    ),
    "does not stretch axes of length 1": Mistake(
        [("return b if a == 1 else a if b == 1 else agree(a, b)", "return agree(a, b)")],
        "broadcast",
        "These shapes match",
    ),
    "treats dense as a matrix product": Mistake(
        [("(*batch, one), (units, other) = args", "(*batch, one), (other, units) = args")], "dense", ""
    ),
    "handles only matrices in dense": Mistake(
        [("(*batch, one), (units, other) = args", "(batch, one), (units, other) = args; batch = [batch]")],
        "dense",
        "",
    ),
    "applies the inverse permutation": Mistake(
        [
            (
                "return tuple(data[axis] for axis in axes)",
                "return tuple(data[list(axes).index(i)] for i in range(len(data)))",
            )
        ],
        "axes",
        "Axis `i` of the result is axis `axes[i]`",
    ),
    "ignores the default axes": Mistake(
        [("range(len(data))[::-1] if attrs.axes is None else attrs.axes", "attrs.axes")], "axes", ""
    ),
    "ignores keepdims": Mistake([(" or attrs.keepdims]", "]")], "axes", "becomes 1 with `keepdims`"),
    "rejects negative axes": Mistake(
        [("[axis % len(data) for axis in attrs.axis]", "attrs.axis")], "axes", "Axes may be negative"
    ),
    "rejects a negative axis of concatenate": Mistake([("    axis %= len(first)\n", "")], "axes", ""),
    "does not record let values": Mistake(
        [("            shapes[expr.var] = shape(expr.value)\n", "")], "lets", ""
    ),
    "has no memo": Mistake(
        [
            (
                "        if expr not in shapes:\n            shapes[expr] = compute(expr)\n"
                "        return shapes[expr]",
                "        return shapes[expr] if expr in shapes else compute(expr)",
            )
        ],
        "lets",
        "",
        endless=True,
    ),
    "accepts everything": Mistake(
        [('    raise ShapeError(f"{a} is not {b}")', "    return a")],
        "refuse",
        "Otherwise, raise a ShapeError",
    ),
    "raises another error": Mistake(
        [('    raise ShapeError(f"{a} is not {b}")', '    raise ValueError("no")')], "refuse", ""
    ),
    "loses static dimensions": Mistake(
        [
            (
                "return relay.Any() if isinstance(static, relay.Any) or static == 1 else static",
                "return relay.Any()",
            )
        ],
        "dynamic",
        "the result is that number",
    ),
    "treats dynamic with 1 as static": Mistake(
        [("return relay.Any() if isinstance(static, relay.Any) or static == 1 else static", "return static")],
        "dynamic",
        "with 1 it is dynamic",
    ),
    "treats dynamic dimensions as different": Mistake(
        [
            ("    if isinstance(a, relay.Any) or a == b:", "    if a == b:"),
            ("    if isinstance(b, relay.Any):\n        return a\n    raise", "    raise"),
        ],
        "dynamic",
        "never a mismatch",
    ),
    "returns a string": Mistake(
        [("    return shape(function.body)", "    return str(shape(function.body))")],
        "broadcast",
        "must return a tuple",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake("shape_analysis", "shape_of", "shape_analysis", WRONG[name])


def test_generated_programs_are_valid_or_refused() -> None:
    """Generated programs are well typed, mutated ones often are not, and some are dynamic."""
    rng = random.Random(1)
    result = [Maker(rng, (*UNARY, *BINARY, *AXES, "nn.dense"), lets=True).module(3) for _ in range(60)]
    assert all(right_answer(module) is not None for module in result)
    refused = [right_answer(changed(rng, module, None)) is None for module in result]
    assert 5 < sum(refused) < 55
    assert any("?" in str(right_answer(forgetful(rng, module))) for module in result)
