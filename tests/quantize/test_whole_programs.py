"""Programs of several functions, with recursion, data types, branches and `let`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import Executor
from relay_explorer.ir import Call, Constant, IRModule, post_order
from relay_explorer.models import sentiment
from relay_explorer.models.tree_lstm import phrase
from relay_explorer.quantize import Role, Scheme, qconfig, trace
from relay_explorer.quantize.prepare import with_constant_arguments
from relay_explorer.quantize.schemes import (
    Int8Int16,
    PerChannelAsymmetric,
    Ternary,
    TvmSymmetric,
    Weights4BitGroups,
)
from relay_explorer.typing import infer_types
from tests.quantize.networks import decibels, normal, operators, run

VECTORS = sentiment.vectors()
SENTENCES = list(sentiment.sentences(2, 60))
CALIBRATION = list(sentiment.sentences(1, 40))


def accuracy(mod: IRModule, **params: Any) -> float:
    """Return the fraction of the sentences whose mood the program recognizes."""
    function = Executor("debug", mod).evaluate()
    right = [
        int(function(phrase(mod, tree, VECTORS), **params).numpy().argmax()) - 2 == sentiment.mood(tree)
        for tree in SENTENCES
    ]
    return sum(right) / len(right)


def test_the_float_program_recognizes_the_sentences() -> None:
    assert accuracy(sentiment.module(), **sentiment.weights()) == 1


@pytest.mark.parametrize(
    ("scheme", "least"),
    [
        (PerChannelAsymmetric(), 0.98),
        (Int8Int16(), 0.98),
        (TvmSymmetric(qconfig(skip_dense_layer=False)), 0.98),
        (Weights4BitGroups(group=16), 0.95),
        (Ternary(keep=()), 0.6),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_recursive_tree_lstm_stays_accurate(scheme: Scheme, least: float) -> None:
    mod = sentiment.module()
    dataset = [[phrase(mod, tree, VECTORS)] for tree in CALIBRATION]
    quantization = trace(mod, scheme, sentiment.weights(), dataset)
    assert accuracy(quantization.realized) >= least
    weights = [site for site in quantization.sites if site.quantizer.role is Role.WEIGHT]
    assert [site.function for site in weights] == ["word", "pair", "main"]


def test_calibration_sees_every_activation_of_a_recursive_function() -> None:
    mod = sentiment.module()
    tree = ((("not", "bad"), "film"), ("very", "good"))  # five words, four pairs
    quantization = trace(mod, PerChannelAsymmetric(), sentiment.weights(), [[phrase(mod, tree, VECTORS)]])
    seen = {
        site.function: site.statistics.tensors
        for site in quantization.sites
        if site.operand == 0 and site.statistics
    }
    assert seen == {"word": 5, "pair": 4, "main": 1}


def test_constants_move_into_the_functions_that_receive_them() -> None:
    mod = infer_types(
        relay.parse(
            """#[version = "0.0.5"]
def @scaled(%x: float32, %by: float32, %left: int32) -> float32 {
  if (%left == 0) { %x } else { @scaled(%x * %by, %by, %left - 1) }
}
def @twice(%x: float32, %by: float32) -> float32 { @scaled(%x, %by, 2) + %by }
def @main(%x: float32) -> float32 { @twice(@twice(%x, 3f), 3f) }
"""
        )
    )
    new = with_constant_arguments(mod)
    params = {var.name_hint: [p.name_hint for p in f.params] for var, f in new.functions.items()}
    assert params == {"scaled": ["x", "by", "left"], "twice": ["x", "by"], "main": ["x"]}


def test_one_constant_that_is_shared_moves_through_recursion() -> None:
    mod = relay.parse(
        """#[version = "0.0.5"]
def @scaled(%x: Tensor[(2), float32], %by: Tensor[(2), float32], %left: int32) -> Tensor[(2), float32] {
  if (%left == 0) { %x } else { @scaled(%x * %by, %by, %left - 1) }
}
def @main(%x: Tensor[(2), float32], %by: Tensor[(2), float32]) -> Tensor[(2), float32] {
  @scaled(@scaled(%x, %by, 2), %by, 1)
}
"""
    )
    from relay_explorer.quantize import prerequisite_optimize

    by = np.asarray([2, 3], "float32")
    bound = infer_types(prerequisite_optimize(mod, {"by": by}))
    new = infer_types(with_constant_arguments(bound))
    assert [p.name_hint for p in new["scaled"].params] == ["x", "left"]
    assert any(isinstance(node, Constant) and node.data.shape == (2,) for node in post_order(new["scaled"]))
    x = np.asarray([1, 1], "float32")
    np.testing.assert_array_equal(run(new, x), run(mod, x, by))


def test_a_function_that_is_passed_as_a_value_keeps_its_parameters() -> None:
    mod = infer_types(
        relay.parse(
            """#[version = "0.0.5"]
def @by(%x: float32, %y: float32) -> float32 { %x * %y }
def @apply(%f: fn(float32, float32) -> float32, %x: float32) -> float32 { %f(%x, 5f) }
def @main(%x: float32) -> float32 { @by(@apply(@by, %x), 2f) }
"""
        )
    )
    new = infer_types(with_constant_arguments(mod))
    assert len(new["by"].params) == 2
    assert run(new, 3.0) == 30


BRANCHES = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 16), float32], %w: Tensor[(16, 16), float32], %v: Tensor[(16, 16), float32],
          %deep: bool) {
  let %first = nn.dense(%x, %w, units=16);
  let %second = nn.relu(%first);
  let %third = if (%deep) { nn.dense(tanh(%second), %v, units=16) } else { %second };
  let %pair = (%third, %second);
  nn.dense(%pair.0 + %pair.1, %v, units=16)
}
"""


def branches() -> tuple[IRModule, dict[str, Any], Any]:
    random = np.random.default_rng(0)
    params = {name: normal(random, (16, 16)) for name in ("w", "v")}
    return relay.parse(BRANCHES), params, normal(random, (2, 16))


def test_integers_flow_through_let() -> None:
    """The accumulators of the first layer reach the ReLU as integers, through a variable."""
    mod, params, x = branches()
    quantization = trace(
        mod, PerChannelAsymmetric(), params, [[x, np.asarray(deep)] for deep in (True, False)]
    )
    assert str(quantization.realized["main"]).count("let %first: Tensor[(2, 16), int32]") == 1
    for deep in (True, False):
        expected = run(mod, x, deep=np.asarray(deep), **params)
        assert decibels(expected, run(quantization.realized, x, np.asarray(deep))) > 25


@pytest.mark.parametrize("scheme", [PerChannelAsymmetric(), Int8Int16()], ids=lambda scheme: scheme.name)
def test_a_branch_that_calibration_never_takes_stays_in_float(scheme: Scheme) -> None:
    mod, params, x = branches()
    quantization = trace(mod, scheme, params, [[x, np.asarray(False)]])
    unreached = [place for place in quantization.kept if "calibration never computed it" in place.why]
    assert unreached
    assert "nn.dense" in operators(quantization.realized)
    expected = run(mod, x, deep=np.asarray(False), **params)
    assert decibels(expected, run(quantization.realized, x, np.asarray(False))) > 25
    assert np.isfinite(run(quantization.realized, x, np.asarray(True))).all()


def test_matches_and_closures_are_quantized_inside() -> None:
    mod = relay.parse(
        """#[version = "0.0.5"]
type Shape { Round(Tensor[(1, 8), float32]), Flat }
def @main(%s: Shape, %w: Tensor[(8, 8), float32]) -> Tensor[(1, 8), float32] {
  let %layer = fn (%x: Tensor[(1, 8), float32]) -> Tensor[(1, 8), float32] { nn.dense(%x, %w, units=8) };
  match (%s) { Round(%x) => { %layer(%layer(%x)) }, Flat => { zeros(shape=[1, 8], dtype="float32") } }
}
"""
    )
    random = np.random.default_rng(0)
    params, x = {"w": normal(random, (8, 8))}, normal(random, (1, 8))
    from relay_explorer.execute.results import ConstructorValue

    _, round_, _ = mod.get_type("Shape")
    value = ConstructorValue(round_.tag, [x], round_)
    quantization = trace(mod, PerChannelAsymmetric(), params, [[value]])
    assert quantization.sites[0].statistics is not None
    assert quantization.sites[0].statistics.tensors == 2
    assert decibels(run(mod, value, **params), run(quantization.realized, value)) > 25
    assert any(
        getattr(node.op, "name", "").endswith(".dense")
        for node in post_order(quantization.realized["main"])
        if isinstance(node, Call)
    )
