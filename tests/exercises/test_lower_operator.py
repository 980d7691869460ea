"""The checks of the exercise `lower_operator`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import pytest

from relay_explorer.grading import check
from relay_explorer.ir.op import OpPattern
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake

RELATION, LOWERING, PATTERN = (f"lower_operator.{part}" for part in ("relation", "lowering", "pattern"))


@pytest.mark.parametrize("part", ["relation", "lowering", "pattern"])
def test_solution_passes(part: str) -> None:
    feedback = check(f"lower_operator.{part}", answer("lower_operator", part))
    assert feedback.passed, str(feedback)


def test_alternative_solution_passes() -> None:
    """Sum windows of a padded copy, and return one tensor instead of a list."""
    from tvm import te, tirx

    def with_padding(call):  # type: ignore[no-untyped-def]
        x, r = call.inputs[0], call.attrs.radius
        n, wide = x.shape[-1], "float64"
        zero = te.const(0, wide)
        shape = [*x.shape[:-1], n + 2 * r]

        def inner(*i):  # type: ignore[no-untyped-def]
            inside = tirx.all(i[-1] >= r, i[-1] < n + r)
            return te.if_then_else(inside, x(*i[:-1], i[-1] - r).astype(wide), zero)

        padded_input = te.compute(shape, inner, name="wider")
        k = te.reduce_axis((0, 2 * r + 1), name="k")
        total = te.compute(x.shape, lambda *i: te.sum(padded_input(*i[:-1], i[-1] + k), axis=k), name="total")
        return te.compute(
            x.shape,
            lambda *i: (
                total(*i) / (tirx.min(n, i[-1] + r + 1) - tirx.max(0, i[-1] - r)).astype(wide)
            ).astype(x.dtype),
            name="mean",
        )

    feedback = check(LOWERING, with_padding)
    assert feedback.passed, str(feedback)


TERM = "te.if_then_else(inside, x(*batch, j).astype(accumulator), te.const(0, accumulator))"
COUNT = "(last - first + 1).astype(accumulator)"
MEAN = "(total(*i) / (last - first + 1).astype(accumulator)).astype(x.dtype)"
FULL_WINDOW = "te.const(2 * radius + 1, accumulator)"
LAST = "tirx.min(i[-1] + radius, n - 1)"
WIDE = '"float32" if x.dtype == "float16" else x.dtype'
RETURN = 'return [te.compute(x.shape, mean_of, name="mean")]'

RELATION_MISTAKES = {
    "accepts integers": Mistake(
        [('if x.dtype not in ("float16", "float32", "float64"):', "if False:")], "refuses", "not an integer"
    ),
    "accepts scalars": Mistake([("if not x.shape:", "if False:")], "refuses", "has no last axis"),
    "accepts a negative radius": Mistake(
        [("if attrs.radius < 0:", "if False:")], "refuses", "mean of nothing"
    ),
    "refuses incomplete types": Mistake(
        [("        return False", "        raise RelationError('no type')")], "types", "never an error"
    ),
    "does not assign the result": Mistake(
        [("reporter.assign(types[1], x)", "pass")], "types", "the relation infers"
    ),
    "returns nothing": Mistake([("    return True\n", "")], "types", "Return True"),
}

WRONG = {
    "divides by the full window": Mistake([(COUNT, FULL_WINDOW)], "ends", "by their actual number"),
    "repeats the boundary element": Mistake(
        [(TERM, "x(*batch, tirx.min(tirx.max(j, 0), n - 1)).astype(accumulator)"), (COUNT, FULL_WINDOW)],
        "ends",
        "read the boundary element instead",
    ),
    "wraps around": Mistake(
        [(TERM, "x(*batch, (j + 100 * n) % n).astype(accumulator)"), (COUNT, FULL_WINDOW)],
        "ends",
        "wrap around to the other end",
    ),
    "omits the last neighbor": Mistake(
        [("(0, 2 * radius + 1)", "(0, 2 * radius)"), (LAST, "tirx.min(i[-1] + radius - 1, n - 1)")],
        "ends",
        "The last neighbor to the right is missing",
    ),
    "reads neighbors on one side": Mistake(
        [
            ("j = center + k - radius", "j = center + k"),
            ("tirx.max(i[-1] - radius, 0)", "i[-1]"),
            (LAST, "tirx.min(i[-1] + 2 * radius, n - 1)"),
        ],
        "ends",
        "are on one side",
    ),
    "does not divide": Mistake([(MEAN, "total(*i).astype(x.dtype)")], "ends", "This is the sum"),
    "handles one axis only": Mistake(
        [("*batch, center = i", "(center,), batch = i, ()")], "axes", "any number of axes"
    ),
    "takes the length of the first axis": Mistake([("n = x.shape[-1]", "n = x.shape[0]")], "axes", ""),
    "accumulates in float32": Mistake([(WIDE, '"float32"')], "types", "seven digits"),
    "accumulates in the element type": Mistake([(WIDE, "x.dtype")], "long", "11 significant bits"),
    "masks by multiplying with zero": Mistake(
        [
            (
                TERM,
                "te.if_then_else(inside, te.const(1, accumulator), te.const(0, accumulator)) * "
                "x(*batch, tirx.min(tirx.max(j, 0), n - 1)).astype(accumulator)",
            )
        ],
        "infinite",
        "infinity times zero",
    ),
    "uses Python's min": Mistake([(LAST, "min(i[-1] + radius, n - 1)")], "ends", "instead of Python's"),
    "divides inside the sum": Mistake(
        [("axis=k)\n", "axis=k) / te.const(3, accumulator)\n")], "ends", "whole formula"
    ),
    "returns no list": Mistake(
        [(RETURN, "te.compute(x.shape, mean_of)")], "ends", "returns a list of tensors"
    ),
    "returns another element type": Mistake(
        [(MEAN, "total(*i).astype('int32')")], "ends", "its element type"
    ),
    "creates a placeholder": Mistake(
        [
            (
                "x, radius = call.inputs[0], call.attrs.radius",
                "radius, x = call.attrs.radius, te.placeholder(call.inputs[0].shape, call.inputs[0].dtype)",
            )
        ],
        "ends",
        "call.inputs[0]",
    ),
}


@pytest.mark.parametrize("name", RELATION_MISTAKES)
def test_hints_at_common_mistake_in_relation(name: str) -> None:
    check_mistake("lower_operator", "relation", RELATION, RELATION_MISTAKES[name])


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake_in_lowering(name: str) -> None:
    check_mistake("lower_operator", "lowering", LOWERING, WRONG[name])


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        (OpPattern.ELEMWISE, "where it is needed"),
        (OpPattern.INJECTIVE, "each element of x is read once"),
        (OpPattern.COMM_REDUCE, "It does not fuse with the operators"),
        (OpPattern.OPAQUE, "OPAQUE is never fused"),
        ("ELEMWISE", "It is one of OpPattern"),
    ],
)
def test_hints_at_common_mistake_in_pattern(pattern: object, hint: str) -> None:
    feedback = check(PATTERN, lambda radius: pattern)
    assert feedback.failure is not None
    assert hint in feedback.failure.hint, str(feedback)
    assert feedback.picture is not None or isinstance(pattern, str)


def test_draws_kernel() -> None:
    feedback = check(LOWERING, answer("lower_operator", "lowering", *WRONG["does not divide"].changes))
    assert feedback.picture.view.kind == "lowering"
    assert "result[0] = " in feedback.failure.got  # type: ignore[union-attr]  # it fails
    assert "site-packages" not in str(feedback)
