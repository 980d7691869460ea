"""Models saved by TensorFlow give its outputs; see `tests/data/make/tensorflow.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import relay_explorer
from relay_explorer.frontends import from_tensorflow
from relay_explorer.frontends.base.source import node_of
from relay_explorer.frontends.tensorflow.messages import parse
from relay_explorer.ir import IRModule
from relay_explorer.ir.equal import structural_equal
from relay_explorer.ir.expr import Call, Expr, Function, If, Let
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import post_order
from relay_explorer.typing import infer_types
from tests.frontends.tensorflow.graphs import Saved, run

NAMES = (
    "attention", "conditionals", "convolutional", "elementwise", "frozen_functions", "functions", "indexing",
    "layers", "lowered", "lstm", "nested_loops", "selection", "tagger", "tensor_arrays",
)  # fmt: skip


def nodes(mod: IRModule) -> list[Expr]:
    """Return all expressions of `@main`."""
    return list(post_order(mod["main"]))


@pytest.mark.parametrize("name", NAMES)
def test_computes_what_tensorflow_computes(name: str) -> None:
    saved = Saved(name)
    mod, params = saved.imported()
    results = run(mod, params, saved.fed(mod))
    assert len(results) == len(saved.outputs)
    for result, expected in zip(results, saved.outputs):
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_interpolates_as_tensorflow_does_up_to_its_rounding_of_weights() -> None:
    saved = Saved("bicubic")
    mod, params = saved.imported()
    for result, expected in zip(run(mod, params, saved.inputs), saved.outputs):
        np.testing.assert_allclose(result, expected, atol=3e-3)


@pytest.mark.parametrize("name", NAMES)
def test_imports_a_module_that_is_well_typed(name: str) -> None:
    mod, _ = Saved(name).imported()
    infer_types(mod)


@pytest.mark.parametrize("name", ["lstm", "functions"])
def test_compiles_loops_for_a_batch_of_any_size(name: str) -> None:
    saved = Saved(name)
    mod, params = saved.imported()
    program = relay_explorer.build(mod, params=params)
    results = program(**saved.fed(mod))
    for result, expected in zip(results, saved.outputs):
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-4, atol=1e-5)


def test_turns_each_loop_into_a_function_that_calls_itself_last() -> None:
    mod, _ = Saved("nested_loops").imported()
    loops = [node for node in nodes(mod) if isinstance(node, Let) and isinstance(node.value, Function)]
    assert {loop.var.name_hint for loop in loops} == {"outer", "outer/inner"}
    for loop in loops:
        body = loop.value.body  # type: ignore[attr-defined]  # a function
        while isinstance(body, Let):
            body = body.body
        assert isinstance(body, If)
        again = body.true_branch
        assert isinstance(again, Call)
        assert again.op is loop.var


def test_keeps_values_that_a_loop_does_not_change_out_of_its_parameters() -> None:
    mod, _ = Saved("lstm").imported()
    (loop,) = (
        node
        for node in nodes(mod)
        if isinstance(node, Function) and len(node.params) > 1 and node != mod["main"]
    )
    # The step, the two states and the array; not the counter's limit, the weights or the batch.
    assert len(loop.params) == 4


def test_evaluates_only_the_branch_that_is_taken() -> None:
    saved = Saved("conditionals")
    mod, params = saved.imported()
    assert sum(isinstance(node, If) for node in nodes(mod)) >= 3
    given = {
        **saved.inputs,
        "x": -saved.inputs["x"],
    }  # the other branch of the inner one; `endless` never runs
    big = -saved.inputs["x"] + (10.0 if -saved.inputs["x"].sum() > 0 else -10.0)
    np.testing.assert_allclose(run(mod, params, given)[0], big.astype("float32"))


def test_gives_expressions_the_scope_that_is_in_their_nodes_names() -> None:
    mod, _ = Saved("convolutional").imported()
    found = {}
    for expr in nodes(mod):
        if isinstance(expr, Call) and isinstance(expr.op, Op) and (node := node_of(expr.span)) is not None:
            found[expr.op.name] = node
    assert found["nn.max_pool2d"].scope == ("block",)
    assert (found["nn.batch_norm"].op, found["nn.batch_norm"].path) == ("FusedBatchNormV3", "stem")


def test_puts_the_calls_around_nodes_of_functions_into_their_scope() -> None:
    mod, _ = Saved("functions").imported()
    paths = {node.path for expr in nodes(mod) if (node := node_of(expr.span)) is not None}
    assert "while.body.cond.then" in paths


def test_computes_convolutions_in_nchw_on_request() -> None:
    saved = Saved("convolutional")
    mod, params = saved.imported(layout="NCHW")
    layouts = {
        expr.attrs["data_layout"]
        for expr in nodes(mod)
        if isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == "nn.conv2d" and expr.attrs
    }
    assert layouts == {"NCHW"}
    for result, expected in zip(run(mod, params, saved.inputs), saved.outputs):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_names_the_weights_after_the_variables_of_a_saved_model() -> None:
    mod, params = Saved("functions").imported()
    assert {"kernel", "bias"} <= set(params)
    assert mod["main"].params[0].name_hint == "serving_default_x"


def test_gives_a_dynamic_axis_the_requested_name() -> None:
    mod, _ = Saved("attention").imported(shape={"tokens": ("batch", 5, 8)})
    assert "(%tokens: Tensor[(batch, 5, 8), float32]" in str(mod["main"])


def test_imports_the_same_from_a_message_and_from_bytes() -> None:
    saved = Saved("nested_loops")
    data = Path(saved.path).read_bytes()
    first = from_tensorflow(data, outputs=saved.names)[0]
    second = from_tensorflow(parse("GraphDef", data, "graph"), outputs=saved.names)[0]
    assert structural_equal(first["main"], second["main"])
