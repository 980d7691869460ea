"""The exercise `type_relation`: right answers pass, and every usual mistake is told by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from relay_explorer.grading import check, grade
from relay_explorer.grading.feedback import FAILED, PASSED, WrongAnswerError
from relay_explorer.grading.type_relation import Case, Holds, Refusal, Waits, program, register
from relay_explorer.grading.type_relation import answer as right
from relay_explorer.ir import (
    Any,
    IncompleteType,
    Op,
    RelationError,
    TensorType,
    TupleType,
    TypeInferenceError,
)
from relay_explorer.ops.relation import broadcast_shapes
from relay_explorer.text import parse
from relay_explorer.typing import infer_types
from tests.exercises.answers import answer

NOTHING = ("    if isinstance(points, IncompleteType):\n        return False\n", "")


def distances(*changes: tuple[str, str]) -> object:
    return answer("type_relation", "distances", *changes)


@pytest.mark.parametrize("seed", range(2))
def test_the_solution_passes(seed: int) -> None:
    feedback = check("type_relation", distances(), seed=seed, programs=60)
    assert feedback.passed, str(feedback)
    assert {line.state for line in feedback.lines} == {PASSED}


def by_cases(types, num_inputs, attrs, reporter):  # type: ignore[no-untyped-def]
    """Answer correctly in another way: the batch axes by hand, and the types in two runs."""
    shapes = [t.shape if isinstance(t, TensorType) else None for t in types[:2]]
    if any(not isinstance(t, (TensorType, IncompleteType)) for t in types[:2]):
        raise RelationError(
            "all must be tensors", culprits=tuple(n for n in (0, 1) if isinstance(types[n], TupleType))
        )
    if shapes[0] is None:
        return False
    if len(shapes[0]) < 2:
        raise RelationError("too few axes", culprits=(0,))
    if shapes[1] is None:
        if attrs.count is not None:
            reporter.assign(types[1], TensorType([attrs.count, shapes[0][-1]], types[0].dtype))
            reporter.assign(types[2], TensorType([*shapes[0][:-1], attrs.count], types[0].dtype))
        return attrs.count is not None
    if len(shapes[1]) < 2 or types[0].dtype != types[1].dtype:
        raise RelationError("too few axes, or two dtypes", culprits=(0, 1))
    for a, b in [(shapes[0][-1], shapes[1][-1])] + (
        [] if attrs.count is None else [(attrs.count, shapes[1][-2])]
    ):
        if a != b and not isinstance(a, Any) and not isinstance(b, Any):
            raise RelationError(f"{a} and {b} disagree", culprits=(0, 1))
    batch = broadcast_shapes(shapes[0][:-2], shapes[1][:-2])
    count = shapes[1][-2] if attrs.count is None else attrs.count
    reporter.assign(types[-1], TensorType([*batch, shapes[0][-2], count], types[1].dtype))
    return True


def test_another_way_of_writing_it_passes() -> None:
    feedback = check("type_relation", by_cases, programs=60)
    assert feedback.passed, str(feedback)


WRONG = {
    "exchanges rows and columns": (
        [("(*both, n, k)", "(*both, k, n)")],
        "forward",
        "last two axes are exchanged",
    ),
    "keeps the coordinates": ([("(*both, n, k)", "(*both, n, d)")], "forward", "coordinates do not appear"),
    "fixes the element type": (
        [("(*both, n, k), points.dtype", "(*both, n, k), 'float32'")],
        "forward",
        "element type of the arguments",
    ),
    "forgets to return": (
        [("points.dtype))\n    return True", "points.dtype))")],
        "forward",
        "Every path must return",
    ),
    "returns the type": (
        [
            (
                "reporter.assign(out, TensorType((*both, n, k), points.dtype))\n    return True",
                "return TensorType((*both, n, k), points.dtype)",
            )
        ],
        "forward",
        "The answer is True or False",
    ),
    "writes into the list": (
        [
            (
                "reporter.assign(out, TensorType((*both, n, k), points.dtype))",
                "types[2] = TensorType((*both, n, k), points.dtype)",
            )
        ],
        "forward",
        "may not put types into the list",
    ),
    "never assigns the result": (
        [("reporter.assign(out, TensorType((*both, n, k), points.dtype))", "pass")],
        "forward",
        "without assigning the result",
    ),
    "changes a type": (
        [("*batch, n, d = points.shape", "*batch, n, d = points.shape; points.shape = (*batch, d, n)")],
        "forward",
        "is never changed",
    ),
    "never ends": ([("*batch, n, d = points.shape", "while True: pass")], "forward", "never ends"),
    "calls itself": (
        [("*batch, n, d = points.shape", "return distances(types, num_inputs, attrs, reporter)")],
        "forward",
        "something smaller",
    ),
    "takes the batch of the points": (
        [("broadcast_shapes(tuple(batch), tuple(others))", "tuple(batch)")],
        "broadcast",
        "batch axes of both arguments count",
    ),
    "aligns at the front": (
        [
            (
                "broadcast_shapes(tuple(batch), tuple(others))",
                "broadcast_shapes(tuple(batch[::-1]), tuple(others[::-1]))[::-1]",
            )
        ],
        "broadcast",
        "Align them at the last one",
    ),
    "takes an unknown type for an error": ([NOTHING], "waits", "That is no error: return False"),
    "looks into an unknown type": (
        [NOTHING, ('points = tensor(points, 0, "points")', "")],
        "waits",
        "A type that is not known yet has no shape",
    ),
    "answers too early": (
        [(NOTHING[0], NOTHING[0].replace("False", "True"))],
        "waits",
        "answered True before it had assigned the result",
    ),
    "guesses": (
        [
            (
                "return False\n        known = TensorType((attrs.count, d)",
                "attrs = attrs.replace(count=1)\n        known = TensorType((attrs.count, d)",
            )
        ],
        "waits",
        "It has to wait",
    ),
    "does not reason backwards": (
        [("if attrs.count is None:", "if True:")],
        "backward",
        "what the centres are",
    ),
    "waits for itself": (
        [("reporter.assign(centres, known)", "reporter.assign(centres, known); return False")],
        "backward",
        "work out the result in the same run",
    ),
    "assigns a shape": (
        [
            (
                "reporter.assign(out, TensorType((*both, n, k), points.dtype))",
                "reporter.assign(out, (*both, n, k))",
            )
        ],
        "forward",
        "takes two types",
    ),
    "keeps what it learns backwards": (
        [("reporter.assign(centres, known)", "pass")],
        "backward",
        "assign the type of the centres as well",
    ),
    "exchanges the centres' axes": (
        [("known = TensorType((attrs.count, d)", "known = TensorType((d, attrs.count)")],
        "backward",
        "`count` is the number of centres",
    ),
    "compares `?` as a number": ([("not same_dim(d, e)", "d != e")], "any", "disagrees with nothing"),
    "does not compare coordinates": ([("not same_dim(d, e)", "False")], "refuses", "Nothing compares them"),
    "does not compare counts": ([("not same_dim(k, attrs.count)", "False")], "refuses", "they must agree"),
    "does not compare dtypes": (
        [("points.dtype != centres.dtype", "False")],
        "refuses",
        "Compare the dtypes",
    ),
    "does not count axes": (
        [("len(points.shape) < 2", "False")],
        "refuses",
        "enough axes before you look at them",
    ),
    "raises another error": (
        [
            ('raise RelationError(f"a point', 'raise ValueError(f"a point'),
            (', and a centre {e}", culprits=(0, 1))', ', and a centre {e}")'),
        ],
        "refuses",
        "by raising RelationError",
    ),
    "does not say whose fault it is": (
        [('and a centre {e}", culprits=(0, 1))', 'and a centre {e}")')],
        "message",
        "culprits=(0, 1)",
    ),
    "blames a number": (
        [('and a centre {e}", culprits=(0, 1))', 'and a centre {e}", culprits=1)')],
        "refuses",
        "a tuple of argument numbers",
    ),
    "does not name the numbers": (
        [("a point has {d} coordinates, and a centre {e}", "the coordinates differ")],
        "message",
        "the two numbers that disagree",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_usual_mistake_is_named(name: str) -> None:
    changes, fails, hint = WRONG[name]
    feedback = check("type_relation", distances(*changes))
    assert feedback.failed == fails, str(feedback)
    assert feedback.failure is not None
    assert hint in feedback.failure.hint, str(feedback)
    assert feedback.picture is not None
    # The smallest program that shows it fits a glance.
    assert len(feedback.failure.case.splitlines()) <= 7


def test_an_answer_that_refuses_everything_has_no_points() -> None:
    def refuse(types: object, num_inputs: int, attrs: object, reporter: object) -> bool:
        raise RelationError("something is wrong")

    names = [line.name for line in check("type_relation", refuse).lines]
    results = {name: check("type_relation", refuse, name).passed for name in names}
    assert not any(results.values())


def test_the_smallest_program_is_found() -> None:
    feedback = check("type_relation", distances(("(*both, n, k)", "(*both, k, n)")), "broadcast")
    assert feedback.failure is not None
    assert feedback.failure.case == (
        "def @main(%points: Tensor[(2, 4), float32], %centres: Tensor[(3, 4), float32]) {\n"
        "  distances(%points, %centres)\n}"
    )


def test_a_graded_cell_raises_the_feedback() -> None:
    wrong = distances(("(*both, n, k)", "(*both, k, n)"))
    with pytest.raises(WrongAnswerError) as raised:
        grade("type_relation", wrong, "forward")
    assert raised.value.feedback.lines[0].state == FAILED
    assert "last two axes are exchanged" in str(raised.value)
    assert raised.value._render_traceback_() == [
        "WrongAnswerError: The type relation of distances: forward does not hold (0 of 1 do so far)"
    ]
    grade("type_relation", wrong, "message")


# -- the operator as learners try it


PROGRAM = """
def @main(%pixels: Tensor[(640, 3), float32], %palette) {
  nn.softmax(distances(%pixels, %palette, count=16))
}
"""


@pytest.fixture
def unregistered() -> Iterator[None]:
    yield
    Op.unregister("distances")


@pytest.mark.usefixtures("unregistered")
def test_the_operator_can_be_used_in_programs() -> None:
    register(distances())
    main = infer_types(parse(PROGRAM))["main"]
    assert str(main.checked_type) == (
        "fn (Tensor[(640, 3), float32], Tensor[(16, 3), float32]) -> Tensor[(640, 16), float32]"
    )


def unwritten(types: object, num_inputs: int, attrs: object, reporter: object) -> bool:
    raise NotImplementedError


@pytest.mark.usefixtures("unregistered")
@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (unwritten, "`distances`: the relation raised NotImplementedError: "),
        (lambda types, num_inputs, attrs, reporter: None, "`distances`: the relation returned None"),
    ],
)
def test_a_broken_relation_refuses_the_program(rule: Callable[..., object], says: str) -> None:
    register(rule)
    with pytest.raises(TypeInferenceError) as raised:
        infer_types(parse(PROGRAM))
    assert raised.value.message == says


# -- the oracle itself

N = Any()


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (Case((4, 3), (5, 3)), (4, 5)),
        (Case((8, 1, 4, 3), (6, 5, 3)), (8, 6, 4, 5)),
        (Case((7, 4, 3), (5, 3), 5), (7, 4, 5)),
        (Case((4, 3), None, 9), (4, 9)),
        (Case((N, 3), (N, N)), (N, N)),
        (Case((N, 4, 3), (6, 5, 3)), (6, 4, 5)),
        (Case((N, 4, 3), (1, 5, 3)), (N, 4, 5)),
        (Case((4, 3), (N, 3), 5), (4, 5)),
    ],
)
def test_what_is_right(case: Case, expected: tuple[object, ...]) -> None:
    result = right(case)
    assert isinstance(result, Holds)
    assert result.out.shape == expected


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        (Case((4, 3), (5, 2)), Refusal),
        (Case((4, 3), (5, 3), 4), Refusal),
        (Case((2, 4, 3), (3, 5, 3)), Refusal),
        (Case((4, 3), (5, 3), dtypes=("float32", "int8")), Refusal),
        (Case((3,), (5, 3)), Refusal),
        (Case((4, 3), None), Waits),
        (Case(None, (5, 3)), Waits),
    ],
)
def test_what_is_wrong_or_unknown(case: Case, kind: type) -> None:
    assert isinstance(right(case), kind)


def test_the_oracle_agrees_with_dense_where_they_are_the_same() -> None:
    """Without batches of centres `distances` and `nn.dense` have one rule: a check of two oracles by each
    other.
    """
    from relay_explorer.ir import Call, Function, IRModule

    for case in (Case((2, 7, 4, 3), (5, 3)), Case((4, 3), None, 9), Case((N, 4, 3), (5, N))):
        module, _ = program(case, lambda *args: True)
        main = module["main"]
        call = Call(Op.get("nn.dense"), main.params, Op.get("nn.dense").attrs_class(units=case.count))  # type: ignore[misc]  # it has attributes
        typed = infer_types(IRModule.from_expr(Function(main.params, call)))["main"]
        result = right(case)
        assert isinstance(result, Holds)
        assert typed.body.checked_type == result.out
