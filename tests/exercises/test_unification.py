"""The checks of the exercise `unification`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.unification import Classes, MismatchError, Variable, same_up_to_names
from relay_explorer.grading.unification.oracle import drawn, solve
from relay_explorer.ir import FuncType, TensorType, TupleType
from relay_explorer.typing import record
from tests.exercises.answers import answer

PARTS = ("resolve", "occurs", "unify")
F32 = TensorType((), "float32")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(part: str, seed: int) -> None:
    feedback = check(f"unification.{part}", answer("unification", part), seed=seed, programs=60)
    assert feedback.passed, str(feedback)


OCCURS = answer("unification", "occurs")


def iterative(left, right, classes):  # type: ignore[no-untyped-def]
    """Solve the exercise differently: with an explicit worklist, and substitution by hand."""
    worklist = [(right, left)]
    while worklist:
        a, b = worklist.pop()
        pair = []
        for type_ in (a, b):
            known = classes.known(type_) if isinstance(type_, Variable) else None
            pair.append(type_ if known is None else known)
        a, b = pair
        if isinstance(b, Variable) and not isinstance(a, Variable):
            a, b = b, a
        if isinstance(a, Variable) and isinstance(b, Variable):
            classes.merge(b, a)
        elif isinstance(a, Variable):
            if OCCURS(a, b, classes):
                raise MismatchError(b, a)
            classes.learn(a, b)
        elif isinstance(a, TensorType) or type(a) is not type(b):
            if a != b:
                raise MismatchError(b, a)
        else:
            lists = [[*t.fields] if isinstance(t, TupleType) else [*t.arg_types, t.ret_type] for t in (a, b)]
            if len(lists[0]) != len(lists[1]):
                raise MismatchError(a, b)
            worklist += zip(*lists)


def test_alternative_solution_passes() -> None:
    feedback = check("unification.unify", iterative, programs=60)
    assert feedback.passed, str(feedback)


FUNCTIONS = (
    "    if isinstance(type, FuncType):\n        return FuncType([resolve(arg, classes) for arg "
    "in type.arg_types], "
    "resolve(type.ret_type, classes))\n"
)
WRONG_RESOLVE = {
    "resolves one level only": (
        [("else resolve(known, classes)", "else known")],
        "inside",
        "resolve it, too",
    ),
    "returns the variable itself": (
        [("return classes.find(type) if", "return type if")],
        "variables",
        "representative",
    ),
    "does not resolve function results": (
        [("resolve(type.ret_type, classes))", "type.ret_type)")],
        "inside",
        "A function has parts, too",
    ),
    "does not resolve functions": ([(FUNCTIONS, "")], "inside", "A function has parts, too"),
    "returns a list": (
        [
            (
                "return TupleType([resolve(field, classes) for field in type.fields])",
                "return [resolve(field, classes) for field in type.fields]",
            )
        ],
        "variables",
        "must return a type",
    ),
    "modifies the type": (
        [
            (
                "return TupleType([resolve(field, classes) for field in type.fields])",
                "type.fields = tuple([resolve(f, classes) for f in type.fields]); return type",
            )
        ],
        "variables",
        "immutable",
    ),
    "returns nothing for tensors": (
        [("    return type\n\n\ndef", "    return type.dtype and None\n\n\ndef")],
        "variables",
        "must return a type",
    ),
    "does not test the kind of type": (
        [("if isinstance(type, TupleType):\n        return TupleType", "if True:\n        return TupleType")],
        "variables",
        "test which kind it is",
    ),
}
WRONG_OCCURS = {
    "compares objects": (
        [("classes.find(type) is classes.find(variable)", "type is variable")],
        "known",
        "compare representatives",
    ),
    "does not look inside known types": (
        [("return known is not None and occurs(variable, known, classes)", "return False")],
        "known",
        "look inside the types of known variables",
    ),
    "skips function results": (
        [("in (*type.arg_types, type.ret_type)", "in type.arg_types")],
        "direct",
        "Look into every part",
    ),
    "ignores the variable itself": (
        [("return True\n        known", "return False\n        known")],
        "direct",
        "so it occurs in it",
    ),
    "always returns True": (
        [("return False\n", "return True\n")],
        "direct",
        "Nothing in the type is of the variable's class",
    ),
    "returns nothing": ([("    return False\n", "    pass\n")], "direct", "must return True or False"),
}
TENSORS = "elif left != right:\n        raise MismatchError(left, right)"
LENGTHS = "    if len(left_parts) != len(right_parts):\n        raise MismatchError(left, right)\n"
RIGHT_VARIABLE = "    elif isinstance(right, Variable):\n        unify(right, left, classes)\n"
WRONG_UNIFY = {
    "omits the occurs check": (
        [("if occurs(left, right, classes):", "if False:")],
        "occurs",
        "Call `occurs` before `learn`",
    ),
    "checks occurrences in one level only": (
        [("return known is not None and occurs(variable, known, classes)", "return False")],
        "occurs",
        "look inside known types",
    ),
    "ignores known types": (
        [
            (
                "    if isinstance(left, Variable) and classes.known(left) is not None:\n        "
                "left = classes.known(left)\n",
                "",
            )
        ],
        "variables",
        "Look at known types before you learn",
    ),
    "handles variables on the left only": (
        [(RIGHT_VARIABLE, "")],
        "variables",
        "It works with the two arguments swapped",
    ),
    "does not compare lengths": ([(LENGTHS, "")], "plain", "`zip` silently stops"),
    "skips function results": (
        [("        unify(left.ret_type, right.ret_type, classes)\n", "")],
        "plain",
        "must be unified with its counterpart",
    ),
    "returns False": ([(TENSORS, "elif left != right:\n        return False")], "plain", "is ignored"),
    "compares element types": (
        [
            (TENSORS, "elif left.dtype != right.dtype:\n        raise MismatchError(left, right)"),
            (
                "elif isinstance(left, FuncType) and isinstance(right, FuncType):",
                "elif type(left) is not type(right):\n"
                "        raise MismatchError(left, right)\n    elif isinstance(left, FuncType):",
            ),
        ],
        "plain",
        "Two tensors are equal if their shapes and element types are",
    ),
    "confuses kinds": (
        [
            (
                TENSORS,
                "elif isinstance(left, TensorType) and isinstance(right, TensorType) and left != right:\n"
                "        raise MismatchError(left, right)",
            )
        ],
        "plain",
        "Tensors, tuples and functions are different kinds",
    ),
    "runs the occurs check on equal variables": (
        [
            (
                "if isinstance(left, Variable) and isinstance(right, Variable):\n        "
                "classes.merge(left, right)",
                "if isinstance(left, Variable) and occurs(left, right, classes):\n        raise "
                "MismatchError(left, right)\n"
                "    elif isinstance(left, Variable) and isinstance(right, Variable):\n        "
                "classes.merge(left, right)",
            )
        ],
        "variables",
        "A variable is equal to itself",
    ),
    "learns a variable": (
        [("        classes.merge(left, right)\n", "        classes.learn(left, right)\n")],
        "variables",
        "Both sides are variables",
    ),
    "ignores two variables": (
        [("        classes.merge(left, right)\n", "        pass\n")],
        "variables",
        "merge them",
    ),
    "learns an unrelated type": (
        [
            (
                "        classes.merge(left, right)\n",
                "        classes.merge(left, right)\n        classes.learn(left, number)\n",
            )
        ],
        "variables",
        "learns more than required",
    ),
    "does not terminate": (
        [(RIGHT_VARIABLE, RIGHT_VARIABLE.replace("right, left", "left, right"))],
        "variables",
        "receive smaller types?",
    ),
    "reports the outermost types": (
        [
            (
                "    for one, other in zip(left_parts, right_parts):\n        unify(one, other, classes)",
                "    try:\n        for one, other in zip(left_parts, right_parts):\n            "
                "unify(one, other, classes)\n"
                "    except MismatchError:\n        raise MismatchError(left, right)",
            )
        ],
        "names",
        "innermost parts that disagree",
    ),
    "reports strings": (
        [(TENSORS, "elif left != right:\n        raise MismatchError('left', 'right')")],
        "names",
        "takes the two types that disagree",
    ),
    "modifies an argument": (
        [
            (
                "        unify_all(left, right, left.fields, right.fields, classes)\n",
                "        unify_all(left, right, left.fields, right.fields, classes)\n        "
                "right.fields = left.fields\n",
            )
        ],
        "plain",
        "immutable",
    ),
}
WRONG = {
    f"{part}: {name}": (part, *wrong)
    for part, table in zip(PARTS, (WRONG_RESOLVE, WRONG_OCCURS, WRONG_UNIFY))
    for name, wrong in table.items()
}


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    part, changes, failed_property, hint = WRONG[name]
    feedback = check(f"unification.{part}", answer("unification", part, *changes))
    assert feedback.failed == failed_property, str(feedback)
    assert feedback.failure is not None
    assert hint in feedback.failure.hint, str(feedback)
    assert feedback.picture is not None
    assert len(feedback.failure.case) <= 200


def test_finds_smallest_equation() -> None:
    wrong = answer("unification", "unify", ("if occurs(left, right, classes):", "if False:"))
    failure = check("unification.unify", wrong).failure
    assert failure is not None
    assert failure.case == "unify(a, fn (a) -> float32, classes)"
    assert failure.expected == (
        "a MismatchError: a would have to contain itself, since it equals fn (a) -> float32"
    )


def test_refusing_everything_earns_few_points() -> None:
    def refuse(left: object, right: object, classes: object) -> None:
        raise MismatchError(left, right)  # type: ignore[arg-type]

    names = [line.name for line in check("unification.unify", refuse).lines]
    assert [name for name in names if check("unification.unify", refuse, name).passed] == []


# -- the provided classes


def test_merged_classes_share_their_type() -> None:
    a, b, c = map(Variable, "abc")
    classes = Classes()
    classes.merge(a, b)
    assert classes.find(a) is classes.find(b)
    assert classes.known(a) is None
    classes.learn(a, TupleType([c]))
    assert classes.known(b) == TupleType([c])
    classes.merge(b, c)
    assert classes.known(c) == TupleType([c])
    assert repr(classes) == "<Classes: a = b = c = (c,)>"


def test_classes_report_misuse() -> None:
    a, b = map(Variable, "ab")
    classes = Classes()
    classes.learn(a, F32)
    classes.learn(b, F32)
    with pytest.raises(ValueError, match=r"^a is already known to be float32$"):
        classes.learn(a, F32)
    with pytest.raises(ValueError, match=r"^a and b are both already known, as float32 and float32$"):
        classes.merge(a, b)
    with pytest.raises(TypeError, match=r"merge\(a, b\) makes two variables equal$"):
        classes.learn(a, b)
    with pytest.raises(TypeError, match=r"^merge takes variables, but float32 is not one$"):
        classes.merge(a, F32)  # type: ignore[arg-type]


# -- the oracle itself


def test_compares_types_up_to_renaming() -> None:
    a, b, c = map(Variable, "abc")
    assert same_up_to_names([TupleType([a, b, a])], [TupleType([b, c, b])])
    assert not same_up_to_names([TupleType([a, a])], [TupleType([b, c])])
    assert not same_up_to_names([TupleType([a, b])], [TupleType([c, c])])
    assert not same_up_to_names([a], [F32])


def test_drawn_program_has_same_solution() -> None:
    a, b = map(Variable, "ab")
    equal = [(TupleType([a, b]), TupleType([F32, a]))]
    assert solve(equal).types == {a: F32, b: F32}
    assert record(drawn(equal)).succeeded
    open_ = [(FuncType([a], b), FuncType([b], a))]
    assert solve(open_).failed is None
    assert record(drawn(open_)).succeeded
    endless = [(a, TupleType([b])), (b, TupleType([a]))]
    assert solve(endless).failed == 1
    assert solve(endless).infinite
    assert "contain itself" in str(record(drawn(endless)).error)
