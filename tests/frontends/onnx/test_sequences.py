"""ONNX's sequences are lists of Relay's prelude, and its optionals the prelude's options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer.frontends import from_onnx
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.types import Any as Unknown
from tests.frontends.onnx.against_runtime import check, imported, parsed

ROWS = [np.arange(3, dtype="float32") + 10 * i for i in range(4)]
EVERYWHERE = ("debug", "vm", "compiled")


def sequence_model(
    body: str, result: str = "seq(float[m]) y", inputs: str = "seq(float[m]) s, int64 i"
) -> Any:
    """Read a model of a sequence and an index."""
    return parsed(f"g ({inputs}) => ({result}) {{ {body} }}")


@pytest.mark.parametrize("position", [0, 2, -1, -4])
@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("y = SequenceAt(s, i)", "float[m] y"),
        ("y = SequenceErase(s, i)", "seq(float[m]) y"),
        ("x = SequenceAt(s, i) t = Neg(x) y = SequenceInsert(s, t, i)", "seq(float[m]) y"),
    ],
)
def test_positions_known_at_run_time(body: str, result: str, position: int) -> None:
    check(sequence_model(body, result), {"s": ROWS, "i": np.array(position)}, ("debug", "vm"))


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("y = SequenceAt(s, i)", "float[m] y"),
        ("y = SequenceErase(s)", "seq(float[m]) y"),
        ("y = SequenceLength(s)", "int64 y"),
        ("x = SequenceAt(s, i) y = SequenceInsert(s, x)", "seq(float[m]) y"),
        ("y = ConcatFromSequence<axis=0>(s)", "float[k] y"),
        ("y = ConcatFromSequence<axis=-1, new_axis=1>(s)", "float[m,k] y"),
        ("y = ConcatFromSequence<axis=0, new_axis=1>(s)", "float[k,m] y"),
    ],
)
def test_operators_on_a_sequence_of_unknown_length(body: str, result: str) -> None:
    check(sequence_model(body, result), {"s": ROWS, "i": np.array(1)}, EVERYWHERE)


def test_a_known_sequence_needs_no_list() -> None:
    """Elements of a sequence that the model builds are found when it is imported, with their own shapes."""
    text = """g (float[2,3] x, float[4,3] w) => (float[6,3] y, float[4,3] z, int64 n) {
      s = SequenceConstruct(x, w) y = ConcatFromSequence<axis=0>(s)
      one = Constant<value_int=1>() z = SequenceAt(s, one) n = SequenceLength(s)
    }"""
    mod, _ = from_onnx(parsed(text))
    assert "Cons" not in str(mod["main"])
    rng = np.random.default_rng(0)
    given = {
        name: rng.standard_normal(shape).astype("float32") for name, shape in (("x", (2, 3)), ("w", (4, 3)))
    }
    check(parsed(text), given)


def test_elements_of_different_shapes_have_a_dynamic_axis() -> None:
    text = """g (float[2,3] x, float[4,3] w, int64 i) => (float[k,3] y) {
      s = SequenceConstruct(x, w) y = SequenceAt(s, i)
    }"""
    rng = np.random.default_rng(0)
    given = {
        "x": rng.standard_normal((2, 3)).astype("float32"),
        "w": rng.standard_normal((4, 3)).astype("float32"),
    }
    for index in (0, 1, -1):
        check(parsed(text), {**given, "i": np.array(index)}, EVERYWHERE)


def test_elements_of_different_ranks_are_refused() -> None:
    text = """g (float[2,3] x, float[3] w, int64 i) => (float y) {
      s = SequenceConstruct(x, w) t = SequenceAt(s, i) y = ReduceSum<keepdims=0>(t)
    }"""
    with pytest.raises(RelayError, match="elements of type") as caught:
        from_onnx(parsed(text))
    assert "the same rank" in str(caught.value)


SPLIT = "g (float[EXTENT,4] x) => (seq(float[a,b]) y) { BODY }"


@pytest.mark.parametrize("extent", ["6", "n"])
@pytest.mark.parametrize(
    "body",
    [
        "y = SplitToSequence(x)",
        "k = Constant<value_int=4>() y = SplitToSequence(x, k)",
        "k = Constant<value_ints=[1, 3, 2]>() y = SplitToSequence(x, k)",
        "k = Constant<value_int=3>() y = SplitToSequence<axis=-1>(x, k)",
    ],
)
def test_split_to_sequence(extent: str, body: str) -> None:
    x = np.arange(24, dtype="float32").reshape(6, 4)
    check(parsed(SPLIT.replace("EXTENT", extent).replace("BODY", body)), {"x": x}, ("debug", "vm"))


@pytest.mark.parametrize("extent", ["6", "n"])
def test_split_without_the_axis(extent: str) -> None:
    text = SPLIT.replace("EXTENT", extent).replace("BODY", "y = SplitToSequence<keepdims=0>(x)")
    x = np.arange(24, dtype="float32").reshape(6, 4)
    check(parsed(text.replace("float[a,b]", "float[b]")), {"x": x}, EVERYWHERE)


def test_split_at_sizes_that_are_inputs() -> None:
    text = "g (float[6,4] x, int64[2] k) => (seq(float[a,4]) y) { y = SplitToSequence(x, k) }"
    x = np.arange(24, dtype="float32").reshape(6, 4)
    check(parsed(text), {"x": x, "k": np.array([2, 4])}, ("debug", "vm"))


def test_a_position_out_of_range_is_refused() -> None:
    text = """g (float[3] x) => (float[3] y) {
      s = SequenceConstruct(x, x) two = Constant<value_int=2>() y = SequenceAt(s, two)
    }"""
    with pytest.raises(RelayError, match="the position 2 is out of range for a sequence of 2"):
        from_onnx(parsed(text))


def test_the_rank_of_a_sequence_can_be_given() -> None:
    model = parsed("g (seq(float[m]) s) => (float[m] y) { i = Constant<value_int=1>() y = SequenceAt(s, i) }")
    model.graph.input[0].type.sequence_type.elem_type.tensor_type.ClearField("shape")
    with pytest.raises(RelayError, match="does not say how many axes"):
        from_onnx(model)
    (result,) = imported(model, {"s": ROWS}, shape={"s": [Unknown()]})
    np.testing.assert_array_equal(result, ROWS[1])


OPTIONAL = """g (optional(float[3]) o, float[3] x) => (bool h, float[3] y) {
  h = OptionalHasElement(o)
  y = If (h) <then_branch = t () => (float[3] u) { u = OptionalGetElement(o) },
              else_branch = e () => (float[3] v) { v = Neg(x) }>
}"""


@pytest.mark.parametrize("value", [ROWS[1], None])
def test_optional_inputs(value: Any) -> None:
    for kind in ("debug", "vm"):
        has, result = imported(parsed(OPTIONAL), {"o": value, "x": ROWS[2]}, kind)
        assert has == (value is not None)
        np.testing.assert_array_equal(result, -ROWS[2] if value is None else value)


def test_known_optionals_are_resolved_when_they_are_imported() -> None:
    text = """g (float[3] x) => (bool h, float[3] y) {
      o = Optional(x) h = OptionalHasElement(o) y = OptionalGetElement(o)
    }"""
    mod, _ = from_onnx(parsed(text))
    assert "Some" not in str(mod["main"])
    check(parsed(text), {"x": ROWS[0]})


MAP = """<ir_version: 9, opset_import: ["" : 18]> g (SOURCE, float[3] w) => (seq(float[3]) y) {
  PREFIX y = SequenceMap (s, w) <body = b (float[3] e, float[3] v) => (float[3] o) { o = Add(e, v) }>
}"""


@pytest.mark.parametrize(
    ("source", "prefix"), [("seq(float[3]) s", ""), ("float[3] x", "s = SequenceConstruct(x, x)")]
)
def test_sequence_map(source: str, prefix: str) -> None:
    import onnx.parser

    model = onnx.parser.parse_model(MAP.replace("SOURCE", source).replace("PREFIX", prefix))
    for kind in ("debug", "vm"):
        (result,) = imported(model, {"s": ROWS, "x": ROWS[1], "w": ROWS[2]}, kind)
        expected = [row + ROWS[2] for row in ROWS] if not prefix else [ROWS[1] + ROWS[2]] * 2
        np.testing.assert_array_equal(np.array(result), np.array(expected))
