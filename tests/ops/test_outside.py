"""Operators that are declared outside of the package, by one file of public names, are operators."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.ir.errors import AttributeSchemaError, RelayError, TypeInferenceError
from relay_explorer.ir.expr import Call, Expr, Function
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.lower.executor import create_executor
from relay_explorer.ops import IDENTITY, Attrs, Operand, attr, operator
from relay_explorer.ops import call as call_of
from relay_explorer.text import astext, parse
from relay_explorer.transform import FuseOps, InferType, Sequential, SimplifyInference, gradient
from relay_explorer.typing import infer_types

FILE = Path(__file__).with_name("outside_operators.py")
PROGRAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 8), float32], %g: Tensor[(4, 8), float32]) {
  %0 = my.swish_gate(%x, %g, beta=2f);
  %1 = nn.relu(%0);
  my.spread(%1)
}
"""
RNG = np.random.default_rng(3)
X, G = RNG.normal(size=(2, 4, 8)).astype("float32")


@pytest.fixture(autouse=True, scope="module")
def mine() -> Iterator[Any]:
    """The file of the user's operators, imported; other tests do not see them."""
    spec = importlib.util.spec_from_file_location("outside_operators", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for name in ("my.swish_gate", "my.spread"):
        Op.unregister(name)


def expected(x: np.ndarray, g: np.ndarray) -> np.ndarray:
    value = np.maximum(x * g / (1 + np.exp(-2 * g)), 0)
    return np.asarray(value.max(-1) - value.min(-1))


def test_it_is_built_from_public_names_only() -> None:
    text = FILE.read_text("utf-8")
    imports = [line for line in text.splitlines() if "relay_explorer" in line and "import" in line]
    assert imports == ["from relay_explorer.ops import ("]


def test_its_builder_checks_its_arguments(mine: Any) -> None:
    x = relay.var("x", shape=(2, 3))
    assert "beta" not in astext(mine.swish_gate(x, x, beta=1.0))
    assert "beta=1.5f" in astext(mine.swish_gate(x, x))
    with pytest.raises(TypeError, match="unexpected keyword argument 'bta'"):
        mine.swish_gate(x, x, bta=1.0)
    with pytest.raises(AttributeSchemaError, match="attribute `beta` takes a number"):
        mine.swish_gate(x, x, "steep")


def test_it_is_parsed_typed_and_printed() -> None:
    module = infer_types(parse(PROGRAM))
    assert str(module["main"].ret_type) == "Tensor[(4), float32]"
    assert "my.swish_gate(%x, %g, beta=2f)" in astext(module)
    assert astext(infer_types(parse(astext(module)))) == astext(module)


def test_a_type_error_names_its_rule(mine: Any) -> None:
    x, y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(3, 2))
    with pytest.raises(TypeInferenceError, match="and its gate"):
        infer_types(IRModule.from_expr(Function([x, y], mine.swish_gate(x, y))))


def test_it_is_interpreted() -> None:
    run = create_executor("debug", mod=parse(PROGRAM)).evaluate()
    np.testing.assert_allclose(run(X, G).numpy(), expected(X, G), rtol=1e-5)


def test_it_is_fused_and_optimized() -> None:
    module = Sequential([SimplifyInference(), InferType(), FuseOps(2)])(parse(PROGRAM))
    assert astext(module).count("Primitive=1") == 1  # the gate and relu join the reduction


@pytest.mark.parametrize("executor", ["graph", "vm"])
def test_it_is_compiled_for_the_processor(executor: str) -> None:
    program = relay_explorer.build(parse(PROGRAM), executor=executor)
    np.testing.assert_allclose(np.asarray(program(X, G)), expected(X, G), rtol=1e-4, atol=1e-5)


def test_it_is_compiled_ahead_of_time_and_saved(tmp_path: Path) -> None:
    relay_explorer.build(parse(PROGRAM), executor="aot").save(tmp_path / "program.so")
    loaded = relay_explorer.load(tmp_path / "program.so")
    np.testing.assert_allclose(np.asarray(loaded(X, G)), expected(X, G), rtol=1e-4, atol=1e-5)


def test_a_lowering_that_fails_is_named_with_its_operands() -> None:
    module = parse("def @main(%x: Tensor[(2, 3), int32]) { my.swish_gate(%x, %x) }")
    with pytest.raises(RelayError) as caught:
        relay_explorer.build(module)(np.ones((2, 3), "int32"), np.ones((2, 3), "int32"))
    assert caught.value.message.startswith(
        "the lowering of `my.swish_gate` fails on Tensor[(2, 3), int32], Tensor[(2, 3), int32]: "
    )


def test_it_is_compiled_to_cuda_source() -> None:
    program = relay_explorer.build(parse(PROGRAM), target="cuda")
    sources = [kernel.source("cuda") for kernel in program.kernels]
    assert any("my_spread" in source and "__global__" in source for source in sources)


def test_its_gradient_is_the_slope() -> None:
    module = infer_types(parse(PROGRAM))
    backward = gradient(module["main"], mode="first_order")
    run = create_executor("debug", mod=IRModule.from_expr(backward)).evaluate()
    _, (by_x, by_g) = run(X, G)
    step = 1e-3
    for place in ((0, 0), (1, 5), (3, 7)):
        for array, found in ((X, by_x), (G, by_g)):
            original = array[place]
            sums = []
            for moved in (original + step, original - step):
                array[place] = moved
                sums.append(expected(X.astype("float64"), G.astype("float64")).sum())
            array[place] = original
            slope = (sums[0] - sums[1]) / (2 * step)
            assert abs(found.numpy()[place] - slope) < 5e-3


@pytest.mark.parametrize("view", ["ir", "types", "fusion", "gradient", "lowering", "pipeline", "sharing"])
def test_it_is_explained_and_drawn(view: str) -> None:
    options: dict[str, Any] = {"passes": "SimplifyInference, FuseOps"} if view == "pipeline" else {}
    shown = relay_explorer.explore(parse(PROGRAM), view=view, **options)
    assert "swish_gate" in shown.to_json()


def test_it_answers_every_question() -> None:
    for name in ("my.swish_gate", "my.spread"):
        op = Op.get(name)
        assert op.description
        assert op.example is not None
        assert op.example().op is op
        assert None not in (op.gradient, op.layout, op.precision, op.reference)
        assert callable(op.lowering)


def test_an_operator_can_be_declared_in_a_namespace_without_a_name() -> None:
    """Code cells run in such a namespace, where functions have no module."""
    declaration = (
        "from relay_explorer.ops import IDENTITY, Call, Operand, operator\n"
        "@operator('bare.same', formula='y = x', relation=IDENTITY)\n"
        "def same(data: Operand) -> Call:\n"
        "    'Return the operand.'\n"
    )
    try:
        exec(declaration, {"__builtins__": __builtins__})
        assert Op.get("bare.same").module == ""
    finally:
        Op.unregister("bare.same")


def test_an_operator_that_is_shorthand_needs_no_kernel() -> None:
    """The compiler replaces it by its canonical form; the interpreter evaluates its reference."""
    replaced: list[Call] = []

    def clipped(call: Call, operands: Sequence[Expr]) -> Expr:
        replaced.append(call)
        assert call.attrs is not None
        return relay.clip(operands[0], -1e30, call.attrs["most"])

    @operator(
        "my.at_most",
        formula=r"y = \min(x, m)",
        relation=IDENTITY,
        reference=lambda attrs, x: np.minimum(x, x.dtype.type(attrs.most)),
        canonical=clipped,
        attrs=AtMostAttrs,
    )
    def at_most(data: Operand, most: float = 1.0) -> Call:
        """Replace greater elements by `most`."""
        return call_of("my.at_most", [data], most=most)

    try:
        x = relay.var("x", shape=(3,))
        module = IRModule.from_expr(Function([x], at_most(relay.exp(x), 2.0)))
        values = np.array([-1, 0, 5], "float32")
        found = create_executor("graph", mod=module).evaluate()(values).numpy()
        assert len(replaced) == 1
        expected = create_executor("debug", mod=module).evaluate()(values).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert expected[2] == 2
    finally:
        Op.unregister("my.at_most")


class AtMostAttrs(Attrs, key="my.attrs.AtMostAttrs"):
    most: float = attr(1.0, "The greatest number.")
