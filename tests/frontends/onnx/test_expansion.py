"""Functions of a model, and operators that ONNX defines by others, are expanded."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest

from relay_explorer.frontends import from_onnx
from relay_explorer.frontends.base.errors import ModelFileError, UnsupportedOperatorsError
from relay_explorer.frontends.base.source import node_of
from relay_explorer.frontends.onnx import graph
from relay_explorer.ir.expr import Call
from relay_explorer.ir.walk import post_order
from tests.frontends.onnx.against_runtime import check, imported

X = np.array([-1.5, 0.2, 3.0], "float32")
HEADER = '<ir_version: 9, opset_import: ["" : 18, "mine" : 1]>'
FUNCTION = '<domain: "mine", opset_import: ["" : 18, "mine" : 1]>'


def read(graph: str, *functions: str) -> Any:
    """Read a model with functions of the domain `mine`."""
    return onnx.parser.parse_model("\n".join([f"{HEADER} {graph}", *[f"{FUNCTION} {f}" for f in functions]]))


DOUBLE = "double (x) => (y) { y = Add(x, x) }"


def test_a_function_is_inlined_at_each_call() -> None:
    model = read("g (float[3] x) => (float[3] y) { t = mine.double(x) y = mine.double(t) }", DOUBLE)
    check(model, {"x": X})
    mod, _ = from_onnx(model)
    assert str(mod["main"]).count("add(") == 2


def test_functions_take_attributes_and_optional_operands() -> None:
    scaled = (
        "scaled <alpha> (x, b) => (y) { "
        "c = Constant<value_float: float = @alpha>() s = Mul(x, c) y = Clip(s, b) }"
    )
    model = read("g (float[3] x) => (float[3] y) { y = mine.scaled<alpha=3.0>(x) }", scaled)
    (result,) = imported(model, {"x": X})
    np.testing.assert_allclose(result, X * 3)


def test_functions_call_functions() -> None:
    four = "four (x) => (y) { t = mine.double(x) y = mine.double(t) }"
    model = read("g (float[3] x) => (float[3] y) { y = mine.four(x) }", DOUBLE, four)
    check(model, {"x": X})


def test_nodes_of_a_function_know_the_call_that_they_belong_to() -> None:
    model = read("g (float[3] x) => (float[3] y) { [outer] y = mine.double(x) }", DOUBLE)
    mod, _ = from_onnx(model)
    (call,) = [node for node in post_order(mod["main"].body) if isinstance(node, Call)]
    node = node_of(call.span)
    assert node is not None
    assert (node.op, node.scope) == ("Add", ("outer",))


def test_recursive_functions_are_refused() -> None:
    first = "first (x) => (y) { y = mine.second(x) }"
    second = "second (x) => (y) { y = mine.first(x) }"
    model = read("g (float[3] x) => (float[3] y) { y = mine.first(x) }", first, second)
    with pytest.raises(ModelFileError, match="calls itself"):
        from_onnx(model)


def test_functions_that_expand_to_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function calls the one before it eight times: 8¹⁰ nodes from a file of a few kilobytes."""
    monkeypatch.setattr(graph, "MOST_NODES", 3000)
    calls = " ".join(f"t{i + 1} = mine.f0(t{i})" for i in range(8))
    functions = ["f0 (x) => (y) { y = Add(x, x) }"]
    for level in range(1, 11):
        body = calls.replace("f0", f"f{level - 1}").replace("t0", "x").replace("t8", "y")
        functions.append(f"f{level} (x) => (y) {{ {body} }}")
    model = read("g (float[1] x) => (float[1] y) { y = mine.f10(x) }", *functions)
    with pytest.raises(ModelFileError, match="expand to more than"):
        from_onnx(model)


def test_unsupported_operators_in_functions_are_reported_with_all_others() -> None:
    odd = "odd (x) => (y) { t = mine.missing(x) y = mine.absent(t) }"
    model = read("g (float[3] x) => (float[3] y) { t = mine.odd(x) u = mine.odd(t) y = mine.absent(u) }", odd)
    with pytest.raises(UnsupportedOperatorsError) as caught:
        from_onnx(model)
    assert set(caught.value.operators) == {"mine.missing", "mine.absent"}


def test_a_converter_of_the_user_replaces_a_function() -> None:
    from relay_explorer import relay

    model = read("g (float[3] x) => (float[3] y) { y = mine.double(x) }", DOUBLE)
    (result,) = imported(
        model, {"x": X}, convert_map={"mine.double": lambda node, inputs: relay.negative(inputs[0])}
    )
    np.testing.assert_array_equal(result, -X)


STANDARD = {
    "Celu<alpha=2.0>": 18, "MeanVarianceNormalization<axes=[0]>": 18, "Mish": 18,
    "Shrink<lambd=0.5, bias=0.1>": 18, "ThresholdedRelu<alpha=0.5>": 18, "Swish<alpha=0.7>": 24,
}  # fmt: skip


@pytest.mark.parametrize(("operator", "opset"), STANDARD.items())
def test_operators_that_the_standard_defines_by_others(operator: str, opset: int) -> None:
    name, _, attrs = operator.partition("<")
    text = f"{name}{'<' + attrs if attrs else ''}(x)"
    model = onnx.parser.parse_model(
        f'<ir_version: 9, opset_import: ["" : {opset}]> g (float[3] x) => (float[3] y) {{ y = {text} }}'
    )
    if name == "Swish":
        (result,) = imported(model, {"x": X})
        np.testing.assert_allclose(result, X / (1 + np.exp(-0.7 * X)), rtol=1e-5)
    else:
        check(model, {"x": X})


def test_a_definition_that_depends_on_the_types_of_operands() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 18]> g (float[4,3] x, int64[4] t) => (float l) {
          l = SoftmaxCrossEntropyLoss<ignore_index=1>(x, t) }"""
    )
    x = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")
    check(model, {"x": x, "t": np.array([0, 1, 2, 2])}, ("debug", "compiled"))
