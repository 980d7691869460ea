"""The checks of the exercise `operator_converter`: solutions pass, and each common mistake gets its hint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import explore, relay
from relay_explorer.grading import check
from relay_explorer.grading.operator_converter import Case, example, expected, numbers
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake, check_mistake

EXERCISE = "operator_converter"


@pytest.mark.parametrize("seed", range(2))
def test_solution_passes(seed: int) -> None:
    feedback = check(EXERCISE, answer(EXERCISE, "convert"), seed=seed)
    assert feedback.passed, str(feedback)


def test_solution_passes_in_importer_of_onnx_files() -> None:
    """The expected results are those of the package `onnx`, and the solution is a valid entry of
    `convert_map`.
    """
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    converters = {"RMSNormalization": answer(EXERCISE, "convert")}
    for attrs in ({}, {"axis": 1}, {"axis": -2, "epsilon": 0.5}):
        case = Case((2, 3, 4), (3, 4), tuple(attrs.items()), seed=3)
        node = helper.make_node("RMSNormalization", ["x", "scale"], ["y"], **attrs)
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "scale", "y")]
        model = helper.make_model(
            helper.make_graph([node], "one", infos[:2], infos[2:]),
            opset_imports=[helper.make_opsetid("", 23)],
        )
        x, scale = numbers(case)
        y: Any
        (y,) = ReferenceEvaluator(model).run(None, {"x": x, "scale": scale})
        np.testing.assert_allclose(expected(case), y, rtol=1e-5)
        mod, _ = relay.frontend.from_onnx(
            model, {"x": x.shape, "scale": scale.shape}, freeze_params=True, convert_map=converters
        )
        result = relay.create_executor("debug", mod=mod).evaluate()(x, scale)
        np.testing.assert_allclose(result.numpy(), y, rtol=1e-5)
        assert "rsqrt" not in mod["main"].astext()  # with which the importer's own converter divides


def test_alternative_solution_passes() -> None:
    """Multiply by the reciprocal root, average axis after axis, return a list, and raise a ValueError."""

    def convert(node: Any, inputs: Any) -> Any:
        x, scale = inputs
        attrs = {"axis": -1, "epsilon": 1e-5, "stash_type": 1, **node.attrs}
        type_, axis = x.checked_type, attrs["axis"]
        if attrs["stash_type"] != 1:
            raise ValueError("no other precision")
        if axis < 0:
            axis += len(type_.shape)
        if axis not in range(len(type_.shape)):
            raise ValueError(f"axis {axis}")
        if type_.dtype == "float16":
            x = x.astype("float32")
        work = "float64" if type_.dtype == "float64" else "float32"
        mean: Any = relay.power(x, relay.const(2.0, work))
        for number in range(axis, len(type_.shape)):
            mean = relay.mean(mean, axis=number, keepdims=True)
        inverse = relay.rsqrt(mean + relay.const(attrs["epsilon"], work))
        y = relay.multiply(inverse, x)
        for dtype in (type_.dtype, scale.checked_type.dtype):
            y = relay.cast(y, dtype)
        return [relay.multiply(scale, y)]

    feedback = check(EXERCISE, convert)
    assert feedback.passed, str(feedback)


def test_solution_that_reshapes_and_restores_sizes_passes() -> None:
    """Flatten the normalized axes into one, and restore the shape of x at the end."""

    def convert(node: Any, inputs: Any) -> Any:
        x, scale = inputs
        rank, axis = len(x.checked_type.shape), node.attrs.get("axis", -1)
        if not -rank <= axis < rank or node.attrs.get("stash_type", 1) != 1:
            raise relay.RelayError("it cannot be converted")
        flat = relay.reshape(relay.cast(x, "float32"), (*[0] * (axis % rank), -1))
        square = relay.mean(flat * flat, axis=-1, keepdims=True)
        normalized = flat / relay.sqrt(square + relay.const(node.attrs.get("epsilon", 1e-5)))
        y = relay.cast(relay.reshape_like(normalized, x), x.checked_type.dtype)
        return relay.cast(y, scale.checked_type.dtype) * scale

    feedback = check(EXERCISE, convert)
    assert feedback.passed, str(feedback)


AXIS = 'axis, rank = node.attrs.get("axis", -1), len(x.checked_type.shape)'
WIDE = 'wide = relay.cast(x, "float32")'
AXES = "axes = list(range(axis % rank, rank))"
MEAN = "square = relay.mean(wide * wide, axis=axes, keepdims=True)"
EPSILON = 'epsilon = relay.const(node.attrs.get("epsilon", 1e-5), "float32")'
ROOT = "wide / relay.sqrt(square + epsilon)"
NORMALIZED = f"normalized = relay.cast({ROOT}, x.checked_type.dtype)"
RETURN = "return relay.cast(normalized, scale.checked_type.dtype) * scale"
RANGE = "if not -rank <= axis < rank:"
STASH = 'if node.attrs.get("stash_type", 1) != 1:'
WRONG = {
    "requires the axis": Mistake(
        [('node.attrs.get("axis", -1)', 'node.attrs["axis"]')], "defaults", "node.attrs.get"
    ),
    "requires epsilon": Mistake(
        [('node.attrs.get("epsilon", 1e-5)', 'node.attrs["epsilon"]')], "defaults", "node.attrs.get"
    ),
    "has another default epsilon": Mistake([("1e-5)", "1e-6)")], "defaults", "default of epsilon is 1e-5"),
    "has default axis 0": Mistake(
        [('node.attrs.get("axis", -1)', 'node.attrs.get("axis", 0)')], "defaults", "all elements of x"
    ),
    "averages one axis": Mistake([(AXES, "axes = [axis]")], "axes", "not over `axis` alone"),
    "always averages the last axis": Mistake([(AXES, "axes = [rank - 1]")], "axes", "last axis alone"),
    "averages all axes": Mistake([(AXES, "axes = list(range(rank))")], "defaults", "all elements of x"),
    "averages the axes before": Mistake(
        [(AXES, "axes = list(range(axis % rank + 1))")], "defaults", "all elements of x"
    ),
    "misreads negative axes": Mistake(
        [(AXES, "axes = list(range(abs(axis) % rank, rank))")], "defaults", "counts from the end"
    ),
    "ranges over negative axes": Mistake(
        [(AXES, "axes = list(range(axis, rank))")], "defaults", "count a negative `axis` from the end first"
    ),
    "drops the axes": Mistake([("keepdims=True", "keepdims=False")], "defaults", "keepdims"),
    "has no epsilon": Mistake([(ROOT, "wide / relay.sqrt(square)")], "defaults", "Epsilon is missing"),
    "ignores the attribute epsilon": Mistake(
        [('node.attrs.get("epsilon", 1e-5)', "1e-5")], "epsilon", "only its default"
    ),
    "adds epsilon to the root": Mistake(
        [(ROOT, "wide / (relay.sqrt(square) + epsilon)")], "defaults", "under the root"
    ),
    "subtracts the mean": Mistake(
        [(WIDE, WIDE + "\n    wide = wide - relay.mean(wide, axis=-1, keepdims=True)")],
        "defaults",
        "does not subtract the mean",
    ),
    "divides by the standard deviation": Mistake(
        [(MEAN, "square = relay.variance(wide, axis=axes, keepdims=True)")], "defaults", "standard deviation"
    ),
    "sums the squares": Mistake([("relay.mean(", "relay.sum(")], "defaults", "root of the *sum*"),
    "takes no root": Mistake([(ROOT, "wide / (square + epsilon)")], "defaults", "The root is missing"),
    "averages magnitudes": Mistake(
        [("relay.mean(wide * wide", "relay.mean(relay.abs(wide)"), (ROOT, "wide / (square + epsilon)")],
        "defaults",
        "These are magnitudes, not squares",
    ),
    "multiplies": Mistake([(ROOT, "wide * relay.sqrt(square + epsilon)")], "defaults", "this is the product"),
    "ignores the scale": Mistake(
        [(RETURN, RETURN.removesuffix(" * scale"))], "defaults", "second stage is missing"
    ),
    "scales first": Mistake(
        [(WIDE, 'wide = relay.cast(x * scale, "float32")'), (RETURN, "return normalized")],
        "defaults",
        "Multiply by scale at the end",
    ),
    "adds one to the scale": Mistake(
        [("* scale", "* (scale + relay.ones_like(scale))")], "defaults", "not by one more"
    ),
    "computes in the type of x": Mistake(
        [
            (WIDE, "wide = x"),
            ('1e-5), "float32")', "1e-5), x.checked_type.dtype)"),
        ],
        "types",
        "the square of 256 is infinite",
    ),
    "has constants of another type": Mistake([(WIDE, "wide = x")], "types", "A constant has one, too"),
    "does not convert back": Mistake(
        [(NORMALIZED, f"normalized = {ROOT}"), (RETURN, "return normalized * relay.cast(scale, 'float32')")],
        "types",
        "float32",
    ),
    "returns the type of x": Mistake(
        [(RETURN, "return normalized * relay.cast(scale, x.checked_type.dtype)")],
        "types",
        "The result has the type of scale",
    ),
    "divides by a number": Mistake(
        [
            (MEAN, "count = 1\n    for at in axes: count *= int(x.checked_type.shape[at])\n    "
             "leading = [int(n) for n in x.checked_type.shape[:axis % rank]]\n    "
             "square = relay.sum(wide * wide, axis=axes, keepdims=True) / relay.const(float(count))")
        ],
        "sizes",
        "known only when the model runs",
    ),
    "loses sizes": Mistake(
        [
            (
                NORMALIZED,
                f"{NORMALIZED}\n    normalized = relay.reshape(normalized, relay.shape_of(x))",
            ),
        ],
        "defaults",
        "sizes of x are lost",
    ),
    "reshapes to named sizes": Mistake(
        [(NORMALIZED, f"{NORMALIZED}\n    normalized = relay.reshape(normalized, x.checked_type.shape)")],
        "sizes",
        "known only when the model runs",
    ),
    "reads the scale": Mistake([("* scale", "* relay.const(scale.data.numpy())")], "scale", "a parameter"),
    "accepts any axis": Mistake([(RANGE, "if False:")], "refuses", "hide an axis out of range"),
    "ignores the precision": Mistake([(STASH, "if False:")], "refuses", "Ignoring an attribute"),
    "returns nothing": Mistake([(RETURN, RETURN.replace("return", "y ="))], "defaults", "every path"),
    "returns an array": Mistake(
        [(RETURN, "import numpy as np\n    return np.ones(3)")], "defaults", "computes no values"
    ),
    "uses NumPy's functions": Mistake(
        [(ROOT, "wide / np.sqrt(square + epsilon)"), (WIDE, "import numpy as np\n    " + WIDE)],
        "defaults",
        "not those of NumPy",
    ),
    "uses a variable of its own": Mistake(
        [("* scale", "* relay.var('scale', shape=(2,))")], "defaults", "are in `inputs`"
    ),
    "returns a text": Mistake([(RETURN, "return 'y'")], "defaults", "return its Relay expression"),
    "returns two results": Mistake([(RETURN, RETURN + ", scale")], "defaults", "has one result"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_hints_at_common_mistake(name: str) -> None:
    check_mistake(EXERCISE, "convert", EXERCISE, WRONG[name])


def test_shows_smallest_node_and_its_program() -> None:
    wrong = answer(EXERCISE, "convert", (AXES, "axes = [axis]"))
    feedback = check(EXERCISE, wrong, "axes", seed=5)
    assert feedback.failure is not None
    assert feedback.failure.case.splitlines()[:3] == [
        "%y = RMSNormalization(%x, %scale) {axis=0, epsilon=1e-05}, where",
        "x: Tensor[(2, 2), float32]",
        "scale: Tensor[(2, 2), float32], a constant",
    ]
    assert feedback.failure.expected.startswith("y = [[")
    assert feedback.picture is not None
    assert feedback.picture.view.kind == "ir"


def test_shows_line_of_an_exception() -> None:
    wrong = answer(EXERCISE, "convert", (AXES, "axes = undefined_name"))
    failure = check(EXERCISE, wrong).failure
    assert failure is not None
    assert "NameError" in failure.got
    assert "of convert" in failure.trace
    assert "site-packages" not in failure.trace


def test_example_shows_nodes_of_operators() -> None:
    explorer = explore(example(answer(EXERCISE, "convert")), view="ir")
    assert explorer.view.kind == "ir"
    text = example(answer(EXERCISE, "convert"))["main"].astext()
    assert "Tensor[(batch, 8), float32]" in text
