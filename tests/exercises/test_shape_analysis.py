"""The exercise `shape_analysis`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import random

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.shape_analysis.checks import right_answer
from relay_explorer.grading.shape_analysis.programs import AXES, BINARY, UNARY, Maker, changed, forgetful
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried


@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(seed: int) -> None:
    feedback = check("shape_analysis", answer("shape_analysis", "shape_of"), seed=seed, programs=60)
    assert feedback.passed, str(feedback)


WRONG = {
    "no broadcasting": Mistake(
        [("return broadcast(*args)", "return args[0]")], "broadcast", "align the shapes at the last axis"
    ),
    "aligned at the front": Mistake(
        [
            (
                "zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right)",
                "zip(left + (1,) * (rank - len(left)), right + (1,) * (rank - len(right)))",
            )
        ],
        "broadcast",
        "",
    ),
    "no ones": Mistake(
        [("return b if a == 1 else a if b == 1 else agree(a, b)", "return agree(a, b)")],
        "broadcast",
        "These shapes fit",
    ),
    "dense as a product": Mistake(
        [("(*batch, one), (units, other) = args", "(*batch, one), (other, units) = args")], "dense", ""
    ),
    "dense of a matrix": Mistake(
        [("(*batch, one), (units, other) = args", "(batch, one), (units, other) = args; batch = [batch]")],
        "dense",
        "",
    ),
    "the inverse permutation": Mistake(
        [
            (
                "return tuple(data[axis] for axis in axes)",
                "return tuple(data[list(axes).index(i)] for i in range(len(data)))",
            )
        ],
        "axes",
        "Axis `i` of the result is axis `axes[i]`",
    ),
    "no axes": Mistake(
        [("range(len(data))[::-1] if attrs.axes is None else attrs.axes", "attrs.axes")], "axes", ""
    ),
    "keepdims": Mistake([(" or attrs.keepdims]", "]")], "axes", "becomes 1 with `keepdims`"),
    "negative axes": Mistake(
        [("[axis % len(data) for axis in attrs.axis]", "attrs.axis")], "axes", "Axes may be negative"
    ),
    "joined along a negative axis": Mistake([("    axis %= len(first)\n", "")], "axes", ""),
    "no let": Mistake([("            shapes[expr.var] = shape(expr.value)\n", "")], "lets", ""),
    "no memory": Mistake(
        [
            (
                "        if expr not in shapes:\n            shapes[expr] = found(expr)\n"
                "        return shapes[expr]",
                "        return shapes[expr] if expr in shapes else found(expr)",
            )
        ],
        "lets",
        "",
        endless=True,
    ),
    "accepts everything": Mistake(
        [('    raise ShapeError(f"{a} is not {b}")', "    return a")],
        "refuse",
        "Raise a ShapeError where it is not so",
    ),
    "another error": Mistake(
        [('    raise ShapeError(f"{a} is not {b}")', '    raise ValueError("no")')], "refuse", ""
    ),
    "unknown with a number": Mistake(
        [
            (
                "return relay.Any() if isinstance(known, relay.Any) or known == 1 else known",
                "return relay.Any()",
            )
        ],
        "unknown",
        "give the number",
    ),
    "unknown with one": Mistake(
        [("return relay.Any() if isinstance(known, relay.Any) or known == 1 else known", "return known")],
        "unknown",
        "with 1 it is not known",
    ),
    "unknown is different": Mistake(
        [
            ("    if isinstance(a, relay.Any) or a == b:", "    if a == b:"),
            ("    if isinstance(b, relay.Any):\n        return a\n    raise", "    raise"),
        ],
        "unknown",
        "no reason to refuse",
    ),
    "a type": Mistake(
        [("    return shape(function.body)", "    return str(shape(function.body))")],
        "broadcast",
        "must return a tuple",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    tried("shape_analysis", "shape_of", "shape_analysis", WRONG[name])


def test_the_programs_are_what_they_should_be() -> None:
    """Programs that are made for a shape are well typed; changed ones often are not; some have unknowns."""
    rng = random.Random(1)
    result = [Maker(rng, (*UNARY, *BINARY, *AXES, "nn.dense"), lets=True).module(3) for _ in range(60)]
    assert all(right_answer(module) is not None for module in result)
    refused = [right_answer(changed(rng, module, None)) is None for module in result]
    assert 5 < sum(refused) < 55
    assert any("?" in str(right_answer(forgetful(rng, module))) for module in result)
