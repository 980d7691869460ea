"""The checks of the exercise `type_relation`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from relay_explorer.grading import check, grade
from relay_explorer.grading.feedback import FAILED, PASSED, WrongAnswerError
from relay_explorer.grading.type_relation import Case, Holds, Refusal, Waits, program, register
from relay_explorer.grading.type_relation import answer as oracle
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
def test_solution_passes(seed: int) -> None:
    feedback = check("type_relation", distances(), seed=seed, programs=60)
    assert feedback.passed, str(feedback)
    assert {line.state for line in feedback.lines} == {PASSED}


def case_analysis(types, num_inputs, attrs, reporter):  # type: ignore[no-untyped-def]
    """Solve the exercise differently: batch axes by hand, and the types in two runs."""
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


def test_alternative_solution_passes() -> None:
    feedback = check("type_relation", case_analysis, programs=60)
    assert feedback.passed, str(feedback)


WRONG = {
    "exchanges rows and columns": (
        [("(*both, n, k)", "(*both, k, n)")],
        "forward",
        "last two axes are swapped",
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
        "The return value is True or False",
    ),
    "modifies the list of types": (
        [
            (
                "reporter.assign(out, TensorType((*both, n, k), points.dtype))",
                "types[2] = TensorType((*both, n, k), points.dtype)",
            )
        ],
        "forward",
        "may not modify the list of types",
    ),
    "never assigns the result": (
        [("reporter.assign(out, TensorType((*both, n, k), points.dtype))", "pass")],
        "forward",
        "without assigning the result",
    ),
    "modifies a type": (
        [("*batch, n, d = points.shape", "*batch, n, d = points.shape; points.shape = (*batch, d, n)")],
        "forward",
        "immutable",
    ),
    "does not terminate": (
        [("*batch, n, d = points.shape", "while True: pass")],
        "forward",
        "does not terminate",
    ),
    "recurses without end": (
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
    "refuses an incomplete type": ([NOTHING], "waits", "Return False instead"),
    "reads the shape of an incomplete type": (
        [NOTHING, ('points = tensor(points, 0, "points")', "")],
        "waits",
        "A type that is not known yet has no shape",
    ),
    "returns True before assigning": (
        [(NOTHING[0], NOTHING[0].replace("False", "True"))],
        "waits",
        "returned True before it had assigned the result",
    ),
    "guesses the number of centers": (
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
        "the type of the centers",
    ),
    "returns False after assigning the centers": (
        [("reporter.assign(centers, known)", "reporter.assign(centers, known); return False")],
        "backward",
        "compute the result in the same run",
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
    "does not assign the centers": (
        [("reporter.assign(centers, known)", "pass")],
        "backward",
        "assign it as well",
    ),
    "exchanges the axes of the centers": (
        [("known = TensorType((attrs.count, d)", "known = TensorType((d, attrs.count)")],
        "backward",
        "`count` is the number of centers",
    ),
    "compares `?` as a number": ([("not same_dim(d, e)", "d != e")], "any", "never disagrees"),
    "does not compare coordinates": ([("not same_dim(d, e)", "False")], "refuses", "nothing compares them"),
    "does not compare counts": ([("not same_dim(k, attrs.count)", "False")], "refuses", "they must agree"),
    "does not compare dtypes": (
        [("points.dtype != centers.dtype", "False")],
        "refuses",
        "Compare the element types",
    ),
    "does not count axes": (
        [("len(points.shape) < 2", "False")],
        "refuses",
        "enough axes before you look at them",
    ),
    "raises another error": (
        [
            ('raise RelationError(f"a point', 'raise ValueError(f"a point'),
            (', and a center {e}", culprits=(0, 1))', ', and a center {e}")'),
        ],
        "refuses",
        "by raising a RelationError",
    ),
    "names no culprits": (
        [('and a center {e}", culprits=(0, 1))', 'and a center {e}")')],
        "message",
        "culprits=(0, 1)",
    ),
    "passes one culprit without a tuple": (
        [('and a center {e}", culprits=(0, 1))', 'and a center {e}", culprits=1)')],
        "refuses",
        "a tuple of argument indices",
    ),
    "does not report the dimensions": (
        [("a point has {d} coordinates, and a center {e}", "the coordinates differ")],
        "message",
        "the two numbers that disagree",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    changes, failed_property, hint = WRONG[name]
    feedback = check("type_relation", distances(*changes))
    assert feedback.failed == failed_property, str(feedback)
    assert feedback.failure is not None
    assert hint in feedback.failure.hint, str(feedback)
    assert feedback.picture is not None
    # The reported program is small.
    assert len(feedback.failure.case.splitlines()) <= 7


def test_refusing_everything_earns_no_points() -> None:
    def refuse(types: object, num_inputs: int, attrs: object, reporter: object) -> bool:
        raise RelationError("something is wrong")

    names = [line.name for line in check("type_relation", refuse).lines]
    results = {name: check("type_relation", refuse, name).passed for name in names}
    assert not any(results.values())


def test_finds_smallest_program() -> None:
    feedback = check("type_relation", distances(("(*both, n, k)", "(*both, k, n)")), "broadcast")
    assert feedback.failure is not None
    assert feedback.failure.case == (
        "def @main(%points: Tensor[(2, 4), float32], %centers: Tensor[(3, 4), float32]) {\n"
        "  distances(%points, %centers)\n}"
    )


def test_grade_raises_feedback() -> None:
    wrong = distances(("(*both, n, k)", "(*both, k, n)"))
    with pytest.raises(WrongAnswerError) as raised:
        grade("type_relation", wrong, "forward")
    assert raised.value.feedback.lines[0].state == FAILED
    assert "last two axes are swapped" in str(raised.value)
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
def test_registered_operator_types_programs() -> None:
    register(distances())
    main = infer_types(parse(PROGRAM))["main"]
    assert str(main.checked_type) == (
        "fn (Tensor[(640, 3), float32], Tensor[(16, 3), float32]) -> Tensor[(640, 16), float32]"
    )


def unwritten(types: object, num_inputs: int, attrs: object, reporter: object) -> bool:
    raise NotImplementedError


@pytest.mark.usefixtures("unregistered")
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (unwritten, "`distances`: the relation raised NotImplementedError: "),
        (lambda types, num_inputs, attrs, reporter: None, "`distances`: the relation returned None"),
    ],
)
def test_broken_relation_is_a_type_error(rule: Callable[..., object], message: str) -> None:
    register(rule)
    with pytest.raises(TypeInferenceError) as raised:
        infer_types(parse(PROGRAM))
    assert raised.value.message == message


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
def test_oracle_infers_shapes(case: Case, expected: tuple[object, ...]) -> None:
    result = oracle(case)
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
def test_oracle_refuses_or_waits(case: Case, kind: type) -> None:
    assert isinstance(oracle(case), kind)


def test_oracle_agrees_with_dense() -> None:
    """Without batches of centers, `distances` and `nn.dense` have the same type relation."""
    from relay_explorer.ir import Call, Function, IRModule

    for case in (Case((2, 7, 4, 3), (5, 3)), Case((4, 3), None, 9), Case((N, 4, 3), (5, N))):
        module, _ = program(case, lambda *args: True)
        main = module["main"]
        call = Call(Op.get("nn.dense"), main.params, Op.get("nn.dense").attrs_class(units=case.count))  # type: ignore[misc]  # it has attributes
        typed = infer_types(IRModule.from_expr(Function(main.params, call)))["main"]
        result = oracle(case)
        assert isinstance(result, Holds)
        assert typed.body.checked_type == result.out
