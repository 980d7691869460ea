"""The exercise `lower_operator`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

import pytest

from relay_explorer.grading import check
from relay_explorer.ir.op import OpPattern
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, tried

RELATION, LOWERING, PATTERN = (f"lower_operator.{part}" for part in ("relation", "lowering", "pattern"))


@pytest.mark.parametrize("part", ["relation", "lowering", "pattern"])
def test_the_solution_passes(part: str) -> None:
    feedback = check(f"lower_operator.{part}", answer("lower_operator", part))
    assert feedback.passed, str(feedback)


def test_another_way_of_writing_it_passes() -> None:
    """From the first neighbour that there is, by sums of a padded copy, and one tensor instead of a list."""
    from tvm import te, tirx

    def padded(call):  # type: ignore[no-untyped-def]
        x, r = call.inputs[0], call.attrs.radius
        n, wide = x.shape[-1], "float64"
        zero = te.const(0, wide)
        shape = [*x.shape[:-1], n + 2 * r]

        def inner(*i):  # type: ignore[no-untyped-def]
            inside = tirx.all(i[-1] >= r, i[-1] < n + r)
            return te.if_then_else(inside, x(*i[:-1], i[-1] - r).astype(wide), zero)

        wider = te.compute(shape, inner, name="wider")
        k = te.reduce_axis((0, 2 * r + 1), name="k")
        total = te.compute(x.shape, lambda *i: te.sum(wider(*i[:-1], i[-1] + k), axis=k), name="total")
        return te.compute(
            x.shape,
            lambda *i: (
                total(*i) / (tirx.min(n, i[-1] + r + 1) - tirx.max(0, i[-1] - r)).astype(wide)
            ).astype(x.dtype),
            name="mean",
        )

    feedback = check(LOWERING, padded)
    assert feedback.passed, str(feedback)


TERM = "te.if_then_else(inside, x(*row, j).astype(wide), te.const(0, wide))"
COUNT = "(last - first + 1).astype(wide)"
MEAN = "(total(*i) / (last - first + 1).astype(wide)).astype(x.dtype)"
ALL = "te.const(2 * radius + 1, wide)"
LAST = "tirx.min(i[-1] + radius, n - 1)"
WIDE = '"float32" if x.dtype == "float16" else x.dtype'
RETURN = 'return [te.compute(x.shape, mean, name="mean")]'

REFUSED = {
    "integers": Mistake(
        [('if x.dtype not in ("float16", "float32", "float64"):', "if False:")], "refuses", "no integer"
    ),
    "no axis": Mistake([("if not x.shape:", "if False:")], "refuses", "has no last one"),
    "negative": Mistake([("if attrs.radius < 0:", "if False:")], "refuses", "nothing divided by nothing"),
    "impatient": Mistake(
        [("        return False", "        raise RelationError('no type')")], "types", "It is never an error"
    ),
    "says nothing": Mistake([("reporter.assign(types[1], x)", "pass")], "types", "Say what you learnt"),
    "returns nothing": Mistake([("    return True\n", "")], "types", "Return True"),
}  # fmt: skip

WRONG = {
    "whole windows": Mistake([(COUNT, ALL)], "ends", "by as many as there are"),
    "edges": Mistake(
        [(TERM, "x(*row, tirx.min(tirx.max(j, 0), n - 1)).astype(wide)"), (COUNT, ALL)],
        "ends", "You read the last number inside",
    ),
    "round": Mistake(
        [(TERM, "x(*row, (j + 100 * n) % n).astype(wide)"), (COUNT, ALL)],
        "ends", "the axis is no circle",
    ),
    "one short": Mistake(
        [("(0, 2 * radius + 1)", "(0, 2 * radius)"), (LAST, "tirx.min(i[-1] + radius - 1, n - 1)")],
        "ends", "One neighbour is missing",
    ),
    "to the right": Mistake(
        [("j = at + k - radius", "j = at + k"), ("tirx.max(i[-1] - radius, 0)", "i[-1]"),
         (LAST, "tirx.min(i[-1] + 2 * radius, n - 1)")],
        "ends", "lie to one side",
    ),
    "sum": Mistake([(MEAN, "total(*i).astype(x.dtype)")], "ends", "This is the sum"),
    "one axis": Mistake([("*row, at = i", "(at,), row = i, ()")], "axes", "any number of axes"),
    "first axis": Mistake([("n = x.shape[-1]", "n = x.shape[0]")], "axes", ""),
    "single": Mistake([(WIDE, '"float32"')], "types", "seventh digit"),
    "narrow": Mistake([(WIDE, "x.dtype")], "long", "11 bits"),
    "times zero": Mistake(
        [(TERM, "te.if_then_else(inside, te.const(1, wide), te.const(0, wide)) * "
          "x(*row, tirx.min(tirx.max(j, 0), n - 1)).astype(wide)")],
        "infinite", "infinity times zero",
    ),
    "python's min": Mistake([(LAST, "min(i[-1] + radius, n - 1)")], "ends", "Python's cannot"),
    "divided within": Mistake([("axis=k)\n", "axis=k) / te.const(3, wide)\n")], "ends", "stands alone"),
    "nothing": Mistake([(RETURN, "te.compute(x.shape, mean)")], "ends", "A lowering returns tensors"),
    "element type": Mistake([(MEAN, "total(*i).astype('int32')")], "ends", "its element type"),
    "own placeholder": Mistake(
        [("x, radius = call.inputs[0], call.attrs.radius",
          "radius, x = call.attrs.radius, te.placeholder(call.inputs[0].shape, call.inputs[0].dtype)")],
        "ends", "call.inputs[0]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_mistakes_in_the_relation(name: str) -> None:
    tried("lower_operator", "relation", RELATION, REFUSED[name])


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_in_the_lowering(name: str) -> None:
    tried("lower_operator", "lowering", LOWERING, WRONG[name])


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (OpPattern.ELEMWISE, "where it is needed"),
        (OpPattern.INJECTIVE, "each number of x is needed once"),
        (OpPattern.COMM_REDUCE, "is not taken in"),
        (OpPattern.OPAQUE, "fused with nothing"),
        ("ELEMWISE", "It is one of OpPattern"),
    ],
)
def test_mistakes_in_the_pattern(given: object, hint: str) -> None:
    feedback = check(PATTERN, lambda radius: given)
    assert feedback.failure is not None
    assert hint in feedback.failure.hint, str(feedback)
    assert feedback.picture is not None or isinstance(given, str)


def test_the_kernel_is_drawn() -> None:
    feedback = check(LOWERING, answer("lower_operator", "lowering", *WRONG["sum"].changes))
    assert feedback.picture.view.kind == "lowering"
    assert "result[0] = " in feedback.failure.got  # type: ignore[union-attr]  # it fails
    assert "site-packages" not in str(feedback)
