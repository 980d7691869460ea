"""Converters of one's own: `convert_map`, and the subclasses of `OperatorConverter` that old scripts have."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.frontends.base.errors import UnsupportedOperatorsError
from relay_explorer.frontends.base.source import Node
from relay_explorer.frontends.tflite import OperatorConverter, from_tflite
from relay_explorer.frontends.tflite.operation import CONVERTERS
from relay_explorer.ir.expr import Expr
from tests.frontends.tflite.files import inputs_of, outputs_of, path_of, run


def test_a_converter_of_ones_own_takes_precedence() -> None:
    seen: list[Node] = []

    def double(node: Node, inputs: list[Expr]) -> Expr:
        seen.append(node)
        return relay.multiply(relay.nn.softmax(inputs[0]), relay.const(2.0))

    mod, params = from_tflite(path_of("conv_float"), convert_map={"SOFTMAX": double})
    (result,) = run(mod, params, inputs_of("conv_float"))
    np.testing.assert_allclose(result, 2 * outputs_of("conv_float")[0], rtol=1e-4)
    assert [node.attrs["beta"] for node in seen] == [1.0]


def test_all_unsupported_operators_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SOFTMAX", "CONV_2D"):
        monkeypatch.delitem(CONVERTERS, name)
    with pytest.raises(UnsupportedOperatorsError) as caught:
        from_tflite(path_of("conv_float"))
    assert set(caught.value.operators) == {"SOFTMAX", "CONV_2D"}
    assert "convert_map" in str(caught.value)


def test_operators_of_subgraphs_are_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(CONVERTERS, "LESS")
    with pytest.raises(UnsupportedOperatorsError, match=r"LESS \(2 nodes"):
        from_tflite(path_of("loops"))


def test_a_custom_operator_has_the_name_that_the_file_gives() -> None:
    def none(node: Node, inputs: list[Expr]) -> list[Expr]:
        return [
            relay.zeros((1, 5, 4), "float32"), relay.zeros((1, 5), "float32"), relay.zeros((1, 5), "float32"),
            relay.zeros((1,), "float32"),
        ]  # fmt: skip

    mod, params = from_tflite(path_of("detection_fast"), convert_map={"TFLite_Detection_PostProcess": none})
    assert not run(mod, params, inputs_of("detection_fast"))[0].any()


def test_an_old_converter_is_used() -> None:
    class Converter(OperatorConverter):
        def __init__(self, model: object, subgraph: object, exp_tab: object) -> None:
            super().__init__(model, subgraph, exp_tab)  # type: ignore[arg-type]  # as old scripts write it
            self.allow_custom_ops = True
            self.convert_map.update({"SOFTMAX": self.convert_softmax})

        def convert_softmax(self, op: object) -> Expr:
            (x,) = self.get_input_tensors(op)
            return relay.nn.softmax(relay.negative(self.get_expr(x.tensor_idx)))

    plain, params = from_tflite(path_of("conv_float"))
    changed, _ = from_tflite(path_of("conv_float"), op_converter=Converter)
    (before,), (after,) = (run(mod, params, inputs_of("conv_float")) for mod in (plain, changed))
    np.testing.assert_allclose(after, (1 / before) / (1 / before).sum(), rtol=1e-4)
