"""ONNX's conditionals and loops become `if` and recursion, and give ONNX Runtime's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends import from_onnx
from relay_explorer.frontends.base.errors import ModelFileError
from relay_explorer.frontends.onnx import graph
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Expr, Function, If, Let
from relay_explorer.ir.types import TensorType
from relay_explorer.ir.walk import post_order
from tests.frontends.onnx.against_runtime import check, imported, parsed, runtime

EVERYWHERE = ("debug", "vm", "compiled")
X = np.array([0.3, -1.2, 0.7], "float32")


def loops(body: Expr) -> list[Function]:
    """Return the local functions of a program that call themselves."""
    return [n.value for n in post_order(body) if isinstance(n, Let) and isinstance(n.value, Function)]


def operators(body: Expr) -> list[str]:
    """Return the names of the operators that an expression calls, in order."""
    return [node.op.name for node in post_order(body) if isinstance(node, Call) and hasattr(node.op, "name")]


IF = """g (bool c, float[3,4] x) => (float[a,4] y) {
  y = If (c) <
    then_branch = t () => (float[1,4] u) { i = Constant<value_ints=[0]>() u = Gather(x, i) },
    else_branch = e () => (float[3,4] v) { v = Neg(x) }>
}"""


@pytest.mark.parametrize("condition", [True, False])
def test_branches_with_different_shapes(condition: bool) -> None:
    x = np.arange(12, dtype="float32").reshape(3, 4)
    check(parsed(IF), {"c": np.array(condition), "x": x}, EVERYWHERE)
    mod, _ = from_onnx(parsed(IF))
    type_ = relay.transform.InferType()(mod)["main"].body.checked_type
    assert str(type_) == "Tensor[(?, 4), float32]"


def test_a_constant_condition_selects_a_branch_at_once() -> None:
    text = IF.replace("bool c, ", "").replace(
        "y = If", "one = Constant<value_int=1>() c = Cast<to=9>(one) y = If"
    )
    mod, _ = from_onnx(parsed(text))
    assert not any(isinstance(node, If) for node in post_order(mod["main"].body))


def test_branches_that_no_type_fits_are_refused() -> None:
    text = IF.replace("v = Neg(x)", "k = Constant<value_ints=[0]>() v = ReduceSum<keepdims=0>(x, k)")
    text = text.replace("float[3,4] v", "float[4] v").replace("float[a,4] y", "float y")
    import onnx.parser

    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 18]> {text}')
    with pytest.raises(RelayError, match="Relay needs one type for both"):
        from_onnx(model)


LOOP = """g (int64 n, bool c, float[3] x) => (float[3] y, float[k,3] z) {
  h = Exp(x)
  y, z = Loop (OPERANDS) <body = b (int64 i, bool ci, float[3] a) => (bool co, float[3] ao, float[3] s) {
    f = Cast<to=1>(i) t = Add(a, h) ao = Add(t, f) s = Mul(ao, f)
    m = ReduceMax<keepdims=0>(ao) most = Constant<value_float=20.0>() co = GOES_ON
  }>
}"""
FORMS = [
    ("n, c, x", "Less(m, most)"),  # for i < n while the condition holds
    ("n, , x", "Less(m, most)"),  # the first condition is true
    ("n, , x", "Identity(ci)"),  # for i < n
    (", c, x", "Less(m, most)"),  # while
    ("n, c, x", "Identity(ci)"),  # the condition never changes
]


@pytest.mark.parametrize(("operands", "goes_on"), FORMS)
@pytest.mark.parametrize(("count", "condition"), [(5, True), (0, True), (20, True), (5, False)])
def test_loops_with_trip_count_and_condition(
    operands: str, goes_on: str, count: int, condition: bool
) -> None:
    model = parsed(LOOP.replace("OPERANDS", operands).replace("GOES_ON", goes_on))
    check(model, {"n": np.array(count), "c": np.array(condition), "x": X}, ("debug", "vm"))


@pytest.mark.parametrize(("operands", "goes_on"), FORMS)
def test_compiled_loops(operands: str, goes_on: str) -> None:
    model = parsed(LOOP.replace("OPERANDS", operands).replace("GOES_ON", goes_on))
    check(model, {"n": np.array(6), "c": np.array(True), "x": X}, ("compiled",))


def test_a_loop_is_a_tail_recursive_function() -> None:
    mod, _ = from_onnx(parsed(LOOP.replace("OPERANDS", "n, , x").replace("GOES_ON", "Identity(ci)")))
    (loop,) = loops(mod["main"].body)
    assert isinstance(loop.body, If)
    again = loop.body.true_branch
    assert isinstance(again, Call)
    assert len(again.args) == len(loop.params) == 3  # iteration, carried value, scan output


def test_values_from_outside_are_computed_before_the_loop() -> None:
    mod, _ = from_onnx(parsed(LOOP.replace("OPERANDS", "n, , x").replace("GOES_ON", "Identity(ci)")))
    (loop,) = loops(mod["main"].body)
    assert "exp" in operators(mod["main"].body)
    assert "exp" not in operators(loop)


STATIC = """g (float[3] x) => (float[3] y, float[6,3] z) {
  n = Constant<value_int=6>()
  y, z = Loop (n, , x) <body = b (int64 i, bool ci, float[3] a) => (bool co, float[3] ao, float[3] s) {
    f = Cast<to=1>(i) ao = Add(a, f) s = Mul(ao, ao) co = Identity(ci) }>
}"""


def test_a_known_trip_count_gives_static_types() -> None:
    check(parsed(STATIC), {"x": X}, EVERYWHERE)
    mod, _ = from_onnx(parsed(STATIC))
    (loop,) = loops(mod["main"].body)
    types = [param.type_annotation for param in loop.params]
    assert all(isinstance(type_, TensorType) and type_.is_static for type_ in types)
    assert str(types[-1]) == "Tensor[(6, 3), float32]"


GROWS = """g (int64 n, float[1] x) => (float[m] y) {
  y = Loop (n, , x) <body = b (int64 i, bool ci, float[p] a) => (bool co, float[q] ao) {
    s = ReduceSum<keepdims=1>(a) ao = Concat<axis=0>(a, s) co = Identity(ci) }>
}"""


def test_a_carried_value_whose_shape_changes() -> None:
    check(parsed(GROWS), {"n": np.array(4), "x": X[:1]}, EVERYWHERE)
    mod, _ = from_onnx(parsed(GROWS))
    (loop,) = loops(mod["main"].body)
    assert str(loop.params[1].type_annotation) == "Tensor[(?), float32]"


NESTED = """g (int64 n, float[3] x) => (float[3] y, float[k,3] z) {
  h = Exp(x)
  y, z = Loop (n, , x) <body = b (int64 i, bool ci, float[3] a) => (bool co, float[3] ao, float[3] s) {
    g = Tanh(a) three = Constant<value_int=3>()
    ao, s = Loop (three, , a) <body = i (int64 j, bool cj, float[3] b) => (bool co2, float[3] ao2, float r) {
      t = Mul(h, g) ao2 = Add(b, t) r = ReduceSum<keepdims=0>(ao2) co2 = Identity(cj) }>
    co = Identity(ci) }>
}"""


def test_nested_loops() -> None:
    check(parsed(NESTED), {"n": np.array(4), "x": X}, EVERYWHERE)
    mod, _ = from_onnx(parsed(NESTED))
    inner = min(loops(mod["main"].body), key=lambda function: len(post_order(function)))
    assert not {"exp", "tanh"} & set(operators(inner))


LENGTH = """g (int64 n, float[m] x) => (float[k,m] z) {
  one = Constant<value_int=1>() c = Cast<to=9>(one)
  z = Loop (n, c) <body = b (int64 i, bool ci) => (bool co, float[m] s) {
    f = Cast<to=1>(i) s = Mul(x, f) co = Identity(ci) }>
}"""


@pytest.mark.parametrize("count", [1, 4])
def test_scan_outputs_of_a_shape_that_is_known_at_run_time(count: int) -> None:
    check(parsed(LENGTH), {"n": np.array(count), "x": X}, EVERYWHERE)


def test_an_endless_loop_is_refused() -> None:
    text = LOOP.replace("OPERANDS", ", , x").replace("GOES_ON", "Identity(ci)")
    with pytest.raises(RelayError, match="neither a trip count nor a condition"):
        from_onnx(parsed(text))


SCAN = """g (float[STATE] s, float[EXTENTS] x) => (float[STATE] y, float[p,q] z) {
  y, z = Scan <num_scan_inputs=1, ATTRS body = b (float[STATE] a, float[STATE] e) =>
    (float[STATE] ao, float[STATE] o) { ao = Add(a, e) o = Mul(ao, e) }> (s, x)
}"""
SCANS = [
    "", "scan_input_directions=[1],", "scan_output_directions=[1],", "scan_output_axes=[1],",
    "scan_output_axes=[-1],", "scan_input_axes=[1],",
]  # fmt: skip


@pytest.mark.parametrize("attrs", SCANS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_scan_with_axes_and_directions(attrs: str, dynamic: bool) -> None:
    swapped = "input_axes" in attrs
    state, steps = (5, "3") if swapped else (3, "5")
    extent = "N" if dynamic else steps
    extents = f"{state},{extent}" if swapped else f"{extent},{state}"
    text = SCAN.replace("STATE", str(state)).replace("EXTENTS", extents).replace("ATTRS", attrs)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 3)).astype("float32")
    check(parsed(text), {"s": rng.standard_normal(state).astype("float32"), "x": x}, ("debug", "vm"))


def test_compiled_scan() -> None:
    text = SCAN.replace("STATE", "3").replace("EXTENTS", "5,3").replace("ATTRS", "")
    x = np.random.default_rng(0).standard_normal((5, 3)).astype("float32")
    check(parsed(text), {"s": X, "x": x}, ("compiled",))


def test_scan_inputs_of_different_lengths_are_refused() -> None:
    text = """g (float[3] s, float[5,3] x, float[4,3] w) => (float[3] y) {
      y = Scan <num_scan_inputs=2, body = b (float[3] a, float[3] e, float[3] f) => (float[3] ao)
        { t = Add(a, e) ao = Add(t, f) }> (s, x, w)
    }"""
    import onnx.parser

    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 18]> {text}')
    with pytest.raises(RelayError, match="different lengths: 5, 4"):
        from_onnx(model)


SEQUENCE_LOOP = """g (int64 n, float[3] x) => (seq(float[m]) y, float[p] z, int64 count) {
  e = SequenceEmpty()
  y = Loop (n, , e) <body = b (int64 i, bool ci, seq(float[q]) a) => (bool co, seq(float[q]) ao) {
    one = Constant<value_ints=[1]>() zero = Constant<value_ints=[0]>()
    j = Add(i, one) w = Slice(x, zero, j) ao = SequenceInsert(a, w) co = Identity(ci) }>
  z = ConcatFromSequence<axis=0>(y)
  count = SequenceLength(y)
}"""


def test_a_sequence_that_a_loop_builds() -> None:
    model = parsed(SEQUENCE_LOOP)
    given: dict[str, Any] = {"n": np.array(3), "x": X}
    expected = runtime(model, given)
    for kind in EVERYWHERE:
        y, z, count = imported(model, given, kind)
        assert [part.tolist() for part in y] == [part.tolist() for part in expected[0]]
        np.testing.assert_allclose(z, expected[1])
        assert count == expected[2]


def test_a_huge_trip_count_allocates_nothing() -> None:
    text = STATIC.replace("value_int=6", "value_int=1000000000000000000").replace("[6,3]", "[k,3]")
    mod, _ = from_onnx(parsed(text))
    (loop,) = loops(mod["main"].body)
    assert str(loop.params[-1].type_annotation) == "Tensor[(?, 3), float32]"


def test_deeply_nested_loops_whose_types_widen_do_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level tries two types for its variable, so that the importer would convert 2²⁰ bodies."""
    monkeypatch.setattr(graph, "MOST_NODES", 3000)
    body = "y0 = Concat<axis=0>(one, one)"
    for level in range(1, 21):
        formal = f"int64 i{level}, bool c{level}, float[p{level}] x{level}"
        results = f"bool d{level}, float[q{level}] a{level}"
        inner = f"d{level} = Identity(c{level}) {body} a{level} = Concat<axis=0>(x{level}, y{level - 1})"
        body = f"y{level} = Loop (n, , one) <body = b{level} ({formal}) => ({results}) {{ {inner} }}>"
    import onnx.parser

    text = f"g (int64 n, float[1] one) => (float[m] y20) {{ {body} }}"
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 18]> {text}')
    with pytest.raises(ModelFileError, match="expand to more than"):
        from_onnx(model)
