"""A lesson on Relay, in programs of our own: what such code asks for is there, and where it is usually
wrong, the error explains it.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from relay_explorer.compat import tvm
from relay_explorer.compat.tvm import relay


def test_types_are_made_and_printed() -> None:
    rows = tvm.tir.Var("rows", "int32")
    assert str(relay.TensorType((8, 3), "float32")) == "Tensor[(8, 3), float32]"
    assert str(relay.TensorType((rows, 3), "float16")) == "Tensor[(rows, 3), float16]"
    pair = relay.TupleType([relay.TensorType((8,), "int8"), relay.TensorType((), "bool")])
    assert str(pair) == "(Tensor[(8), int8], bool)"
    assert str(relay.FuncType([pair], relay.TensorType((2,)))) == (
        "fn ((Tensor[(8), int8], bool)) -> Tensor[(2), float32]"
    )


def test_the_type_of_a_convolution_is_found() -> None:
    image = relay.var("image", shape=(2, 3, 32, 48), dtype="float32")
    kernel = relay.var("kernel", shape=(8, 3, 5, 5), dtype="float32")
    module = tvm.IRModule.from_expr(relay.nn.conv2d(image, kernel, strides=(2, 2), padding=(2, 2)))
    typed = relay.transform.InferType()(module)
    assert (
        str(typed["main"].ret_type)
        == f"Tensor[(2, 8, {(32 + 4 - 5) // 2 + 1}, {(48 + 4 - 5) // 2 + 1}), float32]"
    )
    assert str(module["main"].ret_type) == "None"  # the pass made another module


def test_a_weight_the_wrong_way_round_is_explained() -> None:
    """The usual slip: weights (inputs, units), as in `x @ w`."""
    x = relay.var("x", shape=(4, 20))
    w1, b1 = relay.var("w1", shape=(20, 6)), relay.var("b1", shape=(6,))
    net = relay.Function([x, w1, b1], relay.nn.relu(relay.add(relay.nn.dense(x, w1), b1)))
    module = tvm.IRModule.from_expr(net)
    assert "%0 = nn.dense(%x, %w1);" in str(module)  # it can be built and printed
    with pytest.raises(tvm.TVMError) as caught:
        relay.transform.InferType()(module)
    text = str(caught.value)
    assert "`nn.dense`: the data has 20 features, but the weight (20, 6) takes 6" in text
    assert "dense's weight is (units, input features): pass relay.transpose(weight), which is (6, 20)" in text
    fixed = relay.Function([x, w1, b1], relay.add(relay.nn.dense(x, relay.transpose(w1)), b1))
    assert str(relay.transform.InferType()(tvm.IRModule.from_expr(fixed))["main"].ret_type) == (
        "Tensor[(4, 6), float32]"
    )


def test_let_names_what_is_computed_once() -> None:
    x = relay.var("x", shape=(3,))
    first, second = relay.var("first"), relay.var("second")
    body = relay.Let(first, relay.exp(x), relay.Let(second, relay.add(first, first), second))
    assert str(body).splitlines()[1:] == [
        "let %first = exp(%x);", "let %second = add(%first, %first);", "%second",
    ]  # fmt: skip


def test_an_expression_used_twice_is_not_computed_twice() -> None:
    """A Python variable used twice is one node: nothing is duplicated."""
    x = relay.var("x", shape=(3,))
    shared = relay.exp(x)
    assert str(relay.Function([x], relay.add(shared, shared))).count("exp(") == 1


@pytest.mark.parametrize("importer", ["from_onnx", "from_pytorch", "from_tensorflow", "from_keras"])
def test_the_importers_are_there(importer: str) -> None:
    assert getattr(relay.frontend, importer) is getattr(tvm.relay.frontend, importer)


@pytest.mark.parametrize("importer", ["from_caffe", "from_paddle", "from_coreml"])
def test_importers_of_other_frameworks_say_what_to_do_instead(importer: str) -> None:
    with pytest.raises(AttributeError, match=r"convert the model to ONNX and use relay\.frontend\.from_onnx"):
        getattr(tvm.relay.frontend, importer)


class Operators(relay.ExprVisitor):
    """Counts calls, and goes on below."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, int] = {}

    def visit_call(self, call: relay.Call) -> None:
        if isinstance(call.op, tvm.ir.Op):
            self.found[call.op.name] = self.found.get(call.op.name, 0) + 1
        super().visit_call(call)


class Swap(relay.ExprMutator):
    """Another activation in the place of ReLU."""

    def visit_call(self, call: relay.Call) -> relay.Expr:
        call = super().visit_call(call)
        if isinstance(call.op, tvm.ir.Op) and call.op.name == "nn.relu":
            return relay.nn.leaky_relu(call.args[0], alpha=0.2)
        return call


class Shapes(relay.ExprVisitor):
    """The shapes of all calls that give a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[int]]] = []

    def visit_call(self, call: relay.Call) -> None:
        super().visit_call(call)
        if call.checked_type and isinstance(call.checked_type, relay.TensorType):
            name = call.op.name if isinstance(call.op, tvm.ir.Op) else "function"
            self.found.append((name, [int(extent) for extent in call.checked_type.shape]))


class TestAWholeModel:
    module, params = relay.testing.resnet.get_workload(num_layers=18, image_shape=(3, 64, 64))

    def test_it_is_printed_without_its_data(self) -> None:
        text = self.module.astext(show_meta_data=False)
        assert text.startswith('#[version = "0.0.5"]\ndef @main(%data: Tensor[(1, 3, 64, 64), float32], ')
        assert self.module["main"].params[0].name_hint == "data"
        assert f"{self.module['main'].ret_type}" == "Tensor[(1, 1000), float32]"

    def test_operators_and_parameters_are_counted(self) -> None:
        counts: dict[str, int] = {}

        def visit(node: relay.Expr) -> None:
            if isinstance(node, relay.Call) and hasattr(node.op, "name"):
                counts[node.op.name] = counts.get(node.op.name, 0) + 1

        relay.analysis.post_order_visit(self.module["main"], visit)
        visitor = Operators()
        visitor.visit(self.module["main"])
        assert counts == visitor.found
        assert (counts["nn.conv2d"], counts["nn.relu"], counts["nn.dense"]) == (20, 17, 1)
        total = sum(int(np.prod(param.shape)) for param in self.params.values())
        assert total == 11_689_512 + 2 * 4800  # with the means and variances of the norms

    def test_a_mutator_makes_another_function_and_leaves_the_old(self) -> None:
        changed, counter, before = Swap().visit(self.module["main"]), Operators(), Operators()
        counter.visit(changed)
        before.visit(self.module["main"])
        assert (counter.found.get("nn.relu"), counter.found["nn.leaky_relu"]) == (None, 17)
        assert before.found["nn.relu"] == 17
        assert "nn.leaky_relu(%1, alpha=0.2f)" in str(changed) or "alpha=0.2f" in str(changed)

    def test_shapes_along_the_way(self) -> None:
        analyser = Shapes()
        analyser.visit(relay.transform.InferType()(self.module)["main"])
        assert analyser.found[:2] == [("nn.conv2d", [1, 64, 32, 32]), ("nn.relu", [1, 64, 32, 32])]
        assert analyser.found[-1] == ("nn.softmax", [1, 1000])

    def test_a_picture(self, tmp_path: Path) -> None:
        viz = tvm.contrib.relay_viz.RelayVisualizer(self.module)
        page = viz.render(tmp_path / "graph")
        assert re.search(r"<html|<!doctype", page.read_text("utf-8"), re.IGNORECASE)
        assert viz.render(tmp_path / "graph", format="svg").suffix == ".svg"


def test_a_small_network_from_end_to_end() -> None:
    """Convolution, ReLU, pooling, flattening, dense: the sizes that one works out by hand."""
    x, k = relay.var("x", shape=(1, 1, 12, 12)), relay.var("k", shape=(4, 1, 3, 3))
    w, b = relay.var("w", shape=(5, 4 * 6 * 6)), relay.var("b", shape=(5,))
    pooled = relay.nn.max_pool2d(
        relay.nn.relu(relay.nn.conv2d(x, k, kernel_size=(3, 3), padding=(1, 1))),
        pool_size=(2, 2),
        strides=(2, 2),
    )
    out = relay.add(relay.nn.dense(relay.nn.batch_flatten(pooled), w), b)
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x, k, w, b], out)))
    assert str(module["main"].ret_type) == "Tensor[(1, 5), float32]"
    rng = np.random.default_rng(0)
    values = [
        rng.standard_normal(p.checked_type.concrete_shape).astype("float32") for p in module["main"].params
    ]
    result = relay.create_executor("debug", mod=module).evaluate()(*values).numpy()
    image = np.pad(values[0][0, 0], 1)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    maps = np.maximum(np.einsum("ijab,cab->cij", windows, values[1][:, 0]), 0)
    flat = maps.reshape(4, 6, 2, 6, 2).max(axis=(2, 4)).reshape(1, -1)
    np.testing.assert_allclose(result, flat @ values[2].T + values[3], rtol=1e-4, atol=1e-4)
