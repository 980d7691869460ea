"""The checks of the exercise `shape_analysis`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Call, Function, Let, Tuple, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.types import Any, Dim, FuncType, TensorType
from ...ir.walk import post_order
from ..answer_values import repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, crashed
from ..feedback import Failure
from ..fragments import main_of, properties, snapshot, text, written
from . import ShapeError
from .programs import AXES, BINARY, UNARY, Maker, Shape, changed, forgetful

_ALL = (*UNARY, *BINARY, *AXES, "nn.dense")
CAPTION = "What the compiler infers"


def right_answer(module: IRModule) -> Shape | None:
    """Infer the shape of `@main`'s result; None if the shapes do not match."""
    from ...typing import infer_types

    try:
        type_ = infer_types(module)["main"].checked_type
    except RelayError:
        return None
    assert isinstance(type_, FuncType)
    assert isinstance(type_.ret_type, TensorType)
    return type_.ret_type.shape


def _judge(answer: Anything, module: IRModule) -> Failure | None:
    function = main_of(module)
    if not _in_language(function):  # shrinking can produce such a program
        return None
    right = right_answer(module)
    before = snapshot(function)
    outcome = limited(CASE_SECONDS, answer, function)
    refused = isinstance(outcome.error, ShapeError)
    got, hint = "", ""
    if refused:
        if right is None:
            return None
        got, hint = f"a ShapeError: {outcome.error}", _refused_hint(function)
    elif outcome.error is None:
        got, hint = _compared(function, right, outcome.value)
        if not got and snapshot(function) != before:
            got, hint = "the function has been changed", "The analysis must not change the function."
        if not got:
            return None
    case = f"shape_of(main), where main is\n{text(module)}"
    expected = "a ShapeError: the shapes do not match" if right is None else shown(right)
    if outcome.error is not None and not refused:
        hint = _crash_hint(outcome.error)
        return crashed(case, outcome, expected, program=module, view="types", caption=CAPTION, hint=hint)
    return Failure(case, expected, got, hint, module, "types", CAPTION, outcome.printed)


def _in_language(function: Function) -> bool:
    """Return whether the function consists of what the exercise lists, and returns a tensor."""
    if isinstance(function.body, Tuple):
        return False
    tuples = {n for n in post_order(function) if isinstance(n, Tuple)}
    for node in post_order(function):
        match node:
            case Var() | Let() | Tuple() | Op():
                continue
            case Call() if isinstance(node.op, Op) and node.op.name in _ALL:
                joins = node.op.name == "concatenate"
                if joins == any(arg in tuples for arg in node.args):
                    continue
        if node is not function:
            return False
    return True


def shown(shape: Iterable[object]) -> str:
    dims = [str(dim) for dim in shape]
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def _compared(function: Function, right: Shape | None, value: Anything) -> tuple[str, str]:
    """Describe the result, and the mistake that explains it; two empty strings if it is right."""
    if not isinstance(value, (tuple, list)):
        return (
            f"{repr_of(value)}, a {type(value).__name__}",
            "The function must return a tuple. Does every path through it end in a `return`?",
        )
    wrong = next((d for d in value if not isinstance(d, (int, Any)) or isinstance(d, bool)), None)
    if wrong is not None:
        return repr_of(value), "A shape is a tuple of integers and `relay.Any()`."
    got = tuple(value)
    if right is None:
        return shown(got), _accepted_hint(function)
    if len(got) == len(right) and all(_same(a, b) for a, b in zip(got, right)):
        return "", ""
    return shown(got), _wrong_hint(function, got, right)


def _same(a: Dim, b: Dim) -> bool:
    return isinstance(a, Any) == isinstance(b, Any) and (isinstance(a, Any) or a == b)


def _operators(function: Function) -> list[str]:
    return [n.op.name for n in post_order(function) if isinstance(n, Call) and isinstance(n.op, Op)]


def _unknown(function: Function) -> bool:
    types = [p.type_annotation for p in function.params]
    return any(isinstance(t, TensorType) and not t.is_static for t in types)


def _accepted_hint(function: Function) -> str:
    """Explain what is wrong with an ill-typed program that was accepted."""
    hints = {
        "nn.dense": (
            "`nn.dense` multiplies rows of the data by rows of the weight: they must have the same length."
        ),
        "concatenate": "Concatenated tensors must agree in all axes but the one they are concatenated along.",
        "add": "Aligned at the last axis, two dimensions must be equal, or one of them 1.",
        "reshape": "A reshape keeps the number of elements.",
    }
    for name in _operators(function):
        hint = hints.get("add" if name in BINARY else name)
        if hint:
            return f"{hint} Otherwise, raise a ShapeError."
    return "Raise a ShapeError if the shapes do not match."


def _refused_hint(function: Function) -> str:
    if _unknown(function):
        return "A dynamic dimension, `relay.Any()`, may be any number: it is never a mismatch."
    return "These shapes match."


def _wrong_hint(function: Function, got: Shape, right: Shape) -> str:
    names = set(_operators(function))
    if _unknown(function) and any(isinstance(a, Any) != isinstance(b, Any) for a, b in zip(got, right)):
        return (
            "If a dynamic dimension broadcasts with a number larger than 1, the result is "
            "that number; with 1 it is dynamic. A sum of dimensions is dynamic if any of "
            "them is."
        )
    for name, hint in (
        (
            "transpose",
            "Axis `i` of the result is axis `axes[i]` of the data; without `axes`, the axes are reversed.",
        ),
        (
            "sum",
            "An axis that is summed over is removed, or becomes 1 with `keepdims`. Axes may be negative.",
        ),
        ("concatenate", "Along `axis`, the dimensions add up. The axis may be negative."),
        ("nn.dense", "The weight is (units, in): the last axis of the result is the weight's first."),
    ):
        if name in names:
            return hint
    if names & set(BINARY):
        return (
            "Broadcasting: align the shapes at the last axis. The result has as many axes as "
            "the longer shape, and of two dimensions the one that is not 1."
        )
    return "What is the shape of each subexpression? Follow the expression from the inside out."


def _crash_hint(error: BaseException) -> str:
    if isinstance(error, (RelayError,)):
        return "Raise a ShapeError, from relay_explorer.grading.shape_analysis, if shapes do not match."
    if isinstance(error, TypeError) and "Any" in str(error):
        return (
            "A dimension may be `relay.Any()`, which is not a number: test for it before you compute with it."
        )
    return ""


# -- test cases


def _programs(
    texts: Iterable[str],
    operators: tuple[str, ...],
    change: Callable[[random.Random, IRModule], IRModule] | None = None,
    lets: bool = False,
) -> Callable[[random.Random, int], Iterator[IRModule]]:
    def cases(rng: random.Random, count: int) -> Iterator[IRModule]:
        yield from written(*texts)
        for number in range(count):
            module = Maker(rng, operators, lets).module(1 + number % 4)
            yield module if change is None else change(rng, module)

    return cases


def _shared(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from _programs(
        ("(%x: Tensor[(2, 3), float32]) { let %y = tanh(%x); add(%y, %x) }",), ("tanh", *BINARY), None, True
    )(rng, count)
    rungs = "".join(f"%{n} = add(%{n - 1}, %{n - 1}); " for n in range(1, 40))
    yield written(f"(%x: Tensor[(2, 1), float32]) {{ %0 = tanh(%x); {rungs} exp(%39) }}")[0]


def _params(*shapes: str) -> str:
    return ", ".join(f"%{name}: Tensor[{shape}, float32]" for name, shape in zip("abc", shapes))


EXERCISE = {
    "": Exercise(
        "Shape analysis",
        "shape_of(function)",
        properties(
            _judge,
            (
                "broadcast",
                "element-wise operators broadcast",
                _programs(
                    (
                        f"({_params('(2, 3)')}) {{ %a }}",
                        f"({_params('(2, 3)')}) {{ tanh(%a) }}",
                        f"({_params('(2, 3)', '(2, 3)')}) {{ add(%a, %b) }}",
                        f"({_params('(2, 1)', '(3)')}) {{ multiply(%a, %b) }}",
                    ),
                    (*UNARY, *BINARY),
                ),
            ),
            (
                "dense",
                "`nn.dense` computes one row of units per row of data",
                _programs((f"({_params('(2, 3)', '(4, 3)')}) {{ nn.dense(%a, %b) }}",), ("tanh", "nn.dense")),
            ),
            (
                "axes",
                "axes can be transposed, summed over, concatenated along",
                _programs(
                    (
                        f"({_params('(2, 3)')}) {{ transpose(%a) }}",
                        f"({_params('(2, 3, 4)')}) {{ transpose(%a, axes=[1, 2, 0]) }}",
                        f"({_params('(2, 3)')}) {{ sum(%a) }}",
                        f"({_params('(2, 3)')}) {{ sum(%a, axis=[-1], keepdims=True) }}",
                        f"({_params('(2, 3)', '(2, 1)')}) {{ concatenate((%a, %b), axis=-1) }}",
                    ),
                    ("tanh", *AXES, *AXES),
                ),
            ),
            ("lets", "a variable has the shape of its value; shared expressions are visited once", _shared),
            (
                "refuse",
                "shapes that do not match raise a ShapeError",
                _programs(
                    (
                        f"({_params('(2, 3)', '(2)')}) {{ add(%a, %b) }}",
                        f"({_params('(2, 3)', '(3, 4)')}) {{ nn.dense(%a, %b) }}",
                        f"({_params('(2, 3)', '(3, 3)')}) {{ concatenate((%a, %b), axis=1) }}",
                    ),
                    _ALL,
                    lambda rng, module: changed(rng, module, None),
                ),
            ),
            (
                "dynamic",
                "dimensions may be dynamic",
                _programs(
                    (
                        f"({_params('(?, 3)', '(1)')}) {{ add(%a, %b) }}",
                        f"({_params('(?, 3)', '(2, 3)')}) {{ add(%a, %b) }}",
                        f"({_params('(?, 3)', '(2, 3)')}) {{ concatenate((%a, %b), axis=0) }}",
                    ),
                    _ALL,
                    forgetful,
                ),
            ),
        ),
    ),
}
