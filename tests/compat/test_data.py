"""Arrays, devices, targets, parameters, JSON, sizes, pictures and workloads of old code."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat import tvm
from relay_explorer.ir import Attrs, structural_equal
from relay_explorer.ir.narrow import as_a, as_call, as_tensor_type

DTYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64"]


def test_arrays_are_made_filled_and_read() -> None:
    result = tvm.nd.array(np.array([[1, 2], [3, 4]], "float32"))
    assert (result.shape, result.dtype, str(result.device)) == ((2, 2), "float32", "cpu(0)")
    result[0, 1] = 7
    assert result.numpy().tolist() == [[1, 7], [3, 4]]
    other = tvm.nd.empty((2, 2), "int32", tvm.cuda(1))
    assert str(other.device) == "cuda(1)"
    assert result.copyto(other).numpy().tolist() == [[1, 7], [3, 4]]
    with pytest.raises(ValueError, match=r"shape \(3,\) cannot be copied to one of \(2, 2\)"):
        other.copyfrom([1, 2, 3])


def test_an_array_is_a_constant() -> None:
    constant = relay.const(tvm.nd.array(np.array([1.5], "float32")))
    assert isinstance(constant.data, tvm.nd.NDArray)
    assert constant.data.numpy().tolist() == [1.5]


def test_devices_and_targets() -> None:
    assert tvm.device("llvm -mcpu=skylake", 0) == tvm.cpu()
    assert (tvm.cpu().exist, tvm.gpu().exist) == (True, False)
    with pytest.raises(ValueError, match="there is no device 'abacus'"):
        tvm.device("abacus")
    target = tvm.target.Target("llvm -mcpu=skylake -fast")
    assert (target.kind.name, target.attrs) == ("llvm", {"mcpu": "skylake", "fast": True})
    assert target == tvm.target.Target({"kind": "llvm", "fast": True, "mcpu": "skylake"})
    with target:
        assert tvm.target.Target.current() is target
    assert tvm.target.Target.current() is None


def test_sizes_and_numbers() -> None:
    n = tvm.tir.Var("n", "int64")
    assert str(relay.TensorType((n, tvm.tir.IntImm("int32", 3)))) == "Tensor[(n, 3), float32]"
    assert relay.TensorType((tvm.tir.Any(), 2)) == relay.TensorType((relay.Any(), 2))
    assert (tvm.tir.const(3).dtype, tvm.tir.const(3.0).dtype, tvm.tir.const(3, "int8").value) == (
        "int32",
        "float32",
        3,
    )
    assert [item.dtype for item in tvm.runtime.convert([1, 2.0, True])] == ["int32", "float32", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_parameters_survive(dtype: str) -> None:
    values = {"w": np.arange(6).reshape(2, 3).astype(dtype), "größe": np.array(1, dtype)}
    read = tvm.relay.load_param_dict(tvm.relay.save_param_dict(values))
    assert list(read) == ["w", "größe"]
    for name, value in values.items():
        assert (read[name].dtype, read[name].shape) == (dtype, value.shape)
        assert read[name].numpy().tolist() == value.tolist()


def test_parameters_have_tvms_layout() -> None:
    written = tvm.runtime.save_param_dict({"w": np.array([1.0, 2.0], "float32")})
    assert bytes(written) == bytes.fromhex(
        "b79c04054f8de5f7 0000000000000000 0100000000000000"  # a list, reserved, one name
        "0100000000000000 77 0100000000000000"  # "w"; one array
        "3fa1b496f0405edd 0000000000000000 01000000 00000000 01000000"  # an array, reserved, cpu(0), rank 1
        "02 20 0100 0200000000000000 0800000000000000 0000803f 00000040"  # float32, shape, size, elements
    )


def test_every_shortening_of_parameters_is_refused() -> None:
    written = bytes(tvm.relay.save_param_dict({"w": np.ones((2, 2), "float32"), "b": np.ones(2, "int8")}))
    for length in range(len(written)):
        with pytest.raises(ValueError, match="the parameters end too early"):
            tvm.relay.load_param_dict(written[:length])
    with pytest.raises(ValueError, match=r"this is not a file of parameters: it begins with 0x0"):
        tvm.relay.load_param_dict(bytes(100))


PROGRAM = """
type List[A] { Cons(A, List[A]), Nil }
def @main(%x: Tensor[(2), float32], %n: Tensor[(k), int32]) {
  let %l = Cons(%x, Nil);
  (add(%x, meta[relay.Constant][0]), %l, %n)
}
#[metadata]
{"relay.Constant": [{"shape": [2], "dtype": "float32", "values": [0.5, 1.5]}]}
"""


def test_json_of_modules() -> None:
    module = relay.parse(PROGRAM)
    tvm.ir.assert_structural_equal(tvm.ir.load_json(tvm.ir.save_json(module)), module, map_free_vars=True)


def test_json_of_expressions_types_and_data() -> None:
    x = relay.var("x", shape=(2,))
    expr = relay.add(x, relay.const(np.array([1.0, 2.0], "float32")))
    assert tvm.ir.structural_equal(tvm.ir.load_json(tvm.ir.save_json(expr)), expr, map_free_vars=True)
    a = relay.TypeVar("a")
    for kind in (
        relay.TensorType((3, relay.Any()), "int8"),
        relay.TupleType([]),
        relay.FuncType([a], relay.RefType(a), [a]),
    ):
        assert tvm.ir.load_json(tvm.ir.save_json(kind)) == kind
    free = tvm.ir.load_json(tvm.ir.save_json(relay.TupleType([a, a])))
    assert free.fields[0] is free.fields[1]
    data = {"a": [1, 2.5, None, "é"], "b": (True, tvm.nd.array(np.arange(3)))}
    read = tvm.ir.load_json(tvm.ir.save_json(data))
    assert (read["a"], read["b"][0], read["b"][1].numpy().tolist()) == (data["a"], True, [0, 1, 2])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is not JSON that save_json wrote"),
        ("[" * 100_000, "this is not JSON that save_json wrote"),
        ('{"nodes": [], "root": 1}', "this JSON was written by TVM, as a graph of its own objects"),
        ('{"relay_explorer": 1, "kind": "list"}', "this JSON of save_json is damaged: KeyError('items')"),
    ],
)
def test_other_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(relay.RelayError) as caught:
        tvm.ir.load_json(text)
    assert caught.value.message == message


def test_the_visualizer_saves_our_explorer(tmp_path: Path) -> None:
    x = relay.var("<x>", shape=(2,))
    viz = tvm.contrib.relay_viz.RelayVisualizer(tvm.IRModule.from_expr(relay.nn.relu(x)))
    page = viz.render(tmp_path / "graph")
    assert page.name == "graph.html"
    assert 'class="relay-explorer"' in page.read_text("utf-8")
    assert "<x>" not in page.read_text("utf-8")
    assert viz.render(tmp_path / "graph", format="svg").read_text("utf-8").startswith("<svg")
    with pytest.raises(ValueError, match="relay_viz saves html and svg here, not pdf"):
        viz.render("graph", format="pdf")


def test_workloads_have_the_sizes_asked_for() -> None:
    module, params = tvm.relay.testing.resnet.get_workload(2, 10, image_shape=(3, 32, 32))
    assert str(module["main"].ret_type) == "Tensor[(2, 10), float32]"
    assert params["fc_weight"].shape == (10, 512)
    assert {v.name_hint for v in module["main"].params} - set(params) == {"data"}
    with pytest.raises(ValueError, match="a ResNet has 18, 34, 50, 101, 152 layers, not 20"):
        tvm.relay.testing.resnet.get_workload(num_layers=20)


@pytest.mark.parametrize(
    ("name", "options", "result"),
    [
        ("dcgan", {"batch_size": 2, "oshape": (3, 32, 32), "ngf": 8, "random_len": 5}, (2, 3, 32, 32)),
        ("densenet", {"classes": 5, "batch_size": 1, "image_shape": (3, 64, 64)}, (1, 5)),
        ("dqn", {"batch_size": 3, "num_actions": 4, "image_shape": (84, 84, 4), "layout": "NHWC"}, (3, 4)),
        ("inception_v3", {"num_classes": 3, "image_shape": (3, 107, 107)}, (1, 3)),
        ("lstm", {"iterations": 2, "num_hidden": 4, "batch_size": 3}, (3, 4)),
        ("mlp", {"batch_size": 2, "image_shape": (3, 4, 4)}, (2, 10)),
        ("mobilenet", {"num_classes": 6, "image_shape": (64, 64, 3), "layout": "NHWC"}, (1, 6)),
        ("resnet", {"num_layers": 50, "image_shape": (3, 32, 32), "dtype": "float16"}, (1, 1000)),
        ("resnet_3d", {"num_classes": 3, "image_shape": (3, 4, 32, 32)}, (1, 3)),
        ("squeezenet", {"version": "1.1", "num_classes": 2, "image_shape": (3, 64, 64)}, (1, 2)),
        ("vgg", {"num_layers": 13, "num_classes": 2, "image_shape": (3, 32, 32)}, (1, 2)),
    ],
)
def test_the_networks_of_old_code(name: str, options: dict[str, object], result: tuple[int, ...]) -> None:
    net = getattr(tvm.relay.testing, name).get_net(**options)
    assert isinstance(net, relay.Function)
    typed = relay.transform.InferType()(tvm.IRModule.from_expr(net))["main"]
    assert tuple(as_tensor_type(typed.ret_type).shape) == result
    assert as_tensor_type(typed.ret_type).dtype == options.get("dtype", "float32")


def test_the_steps_of_an_lstm_have_the_names_that_old_code_gives() -> None:
    net = tvm.relay.testing.lstm.get_net(iterations=3, num_hidden=2)
    assert [param.name_hint for param in net.params][:3] == ["data", "data1", "data2"]
    assert not relay.analysis.free_vars(net)


def test_a_workload_is_a_network_with_values() -> None:
    module, params = tvm.relay.testing.dcgan.get_workload(1, (1, 8, 8), 4, 6)
    image = relay.create_executor("debug", mod=module).evaluate()(np.ones((1, 6), "float32"), **params)
    assert image.numpy().shape == (1, 1, 8, 8)
    assert np.abs(image.numpy()).max() <= 1


def test_a_workload_runs_and_is_the_same_each_time() -> None:
    module, params = tvm.relay.testing.mlp.get_workload(batch_size=3, num_classes=4)
    again = tvm.relay.testing.mlp.get_workload(batch_size=3, num_classes=4)[1]
    assert all(again[name] == value for name, value in params.items())
    assert params["fc1_weight"] != params["fc2_weight"]
    result = relay.create_executor("debug", mod=module).evaluate()(
        np.ones((3, 1, 28, 28), "float32"), **params
    )
    tvm.testing.assert_allclose(result.numpy().sum(axis=1), np.ones(3), rtol=1e-5)


def test_run_opt_pass_gives_what_it_was_given() -> None:
    x = relay.var("x", shape=(2,))
    assert isinstance(tvm.relay.testing.run_infer_type(relay.exp(x)), relay.Call)
    assert isinstance(tvm.relay.testing.run_infer_type(relay.Function([x], x)), relay.Function)


def test_assert_allclose_compares_shapes_and_values() -> None:
    tvm.testing.assert_allclose(np.ones(2), [1.0, 1.0 + 1e-9])
    with pytest.raises(AssertionError, match="the shapes differ"):
        tvm.testing.assert_allclose(np.ones(2), 1.0)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        tvm.testing.assert_allclose(np.ones(2), np.zeros(2))


def test_natural_numbers_are_counted_as_values_and_as_expressions() -> None:
    prelude = tvm.relay.prelude.Prelude()
    prelude.mod.import_from_std("nat.rly")
    helpers = tvm.relay.testing
    for n in (0, 1, 5):
        assert helpers.count(prelude, helpers.make_nat_value(prelude, n)) == n
        run = relay.create_executor("debug", mod=prelude.mod)
        assert helpers.count(prelude, run.evaluate(helpers.make_nat_expr(prelude, n))) == n
    assert isinstance(
        run.evaluate(helpers.make_nat_expr(prelude, 1)), tvm.relay.backend.interpreter.ConstructorValue
    )


def test_sizes_and_attributes_know_their_type_to_old_code() -> None:
    x = relay.var("x", shape=(tvm.tir.Any(), 3, 8, 8))
    call = relay.nn.conv2d(x, relay.var("w", shape=(4, 3, 3, 3)), strides=(2, 2), channels=4)
    typed = tvm.relay.testing.run_infer_type(call)
    batch, channels, *extents = typed.checked_type.shape
    assert isinstance(batch, tvm.tir.Any)
    assert [d.value for d in extents] == [int(d) for d in extents] == [3, 3]
    assert (channels.value, channels.dtype) == (4, "int32")
    assert isinstance(channels, tvm.tir.IntImm)
    assert (channels * 2 + 1).value == 9
    assert (typed.attrs.strides[0].value, typed.attrs.channels.value) == (2, 4)
    assert typed.attrs.dilation[1].value == 1  # a default
    assert typed.checked_type == relay.TensorType((relay.Any(), 4, 3, 3))
    assert str(typed.checked_type) == "Tensor[(?, 4, 3, 3), float32]"
    assert pickle.loads(pickle.dumps(channels)).dtype == "int32"


def test_programs_are_equal_whether_or_not_their_numbers_know_their_type() -> None:
    x = relay.var("x", shape=(1, 4))
    plain = attrs_of(as_call(relay.reshape(x, (2, 2))), newshape=(2, 2))
    assert structural_equal(relay.reshape(x, (2, 2)), plain)
    assert "newshape=[2, 2]" in str(plain)


def attrs_of(call: relay.Call, **values: object) -> relay.Call:
    """Return the same call with values put directly into its attributes."""
    attrs = as_a(Attrs, call.attrs).replace()
    attrs.__dict__.update(values)
    return relay.Call(call.op, call.args, attrs)


def test_layers_make_weights_whose_shapes_inference_finds() -> None:
    layers = tvm.relay.testing.layers
    x = relay.var("data", shape=(2, 8, 8, 3))
    kernel_layout = layers.conv_kernel_layout("NHWC")
    net = layers.conv2d(
        x, channels=4, kernel_size=(3, 3), data_layout="NHWC", kernel_layout=kernel_layout, name="first"
    )
    net = relay.nn.relu(layers.batch_norm_infer(net, axis=3, epsilon=2e-5, name="first_bn"))
    net = layers.dense_add_bias(relay.nn.batch_flatten(net), units=5, name="last")
    module, params = tvm.relay.testing.create_workload(relay.Function(relay.analysis.free_vars(net), net))
    assert {name: value.shape for name, value in params.items()} == {
        "first_weight": (3, 3, 3, 4), "first_bn_gamma": (4,), "first_bn_beta": (4,),
        "first_bn_moving_mean": (4,), "first_bn_moving_var": (4,), "last_weight": (5, 144), "last_bias": (5,),
    }  # fmt: skip
    assert params["first_bn_moving_var"].numpy().tolist() == [1.0] * 4
    assert str(module["main"].ret_type) == "Tensor[(2, 5), float32]"
    assert layers.conv_kernel_layout("NHWC", is_depthwise=True) == "HWOI"
    with pytest.raises(ValueError, match="no kernel layout for NCWH"):
        layers.conv_kernel_layout("NCWH")


def test_attributes_of_several_numbers_are_written_as_arrays_were() -> None:
    x = tvm.relay.var("x", shape=(1, 2, 3, 4))
    call = tvm.relay.transpose(x, axes=[0, 2, 3, 1])
    assert str(call.attrs.axes) == "[0, 2, 3, 1]"
    assert call.attrs.axes == (0, 2, 3, 1)
    assert str(tvm.relay.nn.pad(x, pad_width=((0, 0), (1, 2), (0, 0), (0, 0))).attrs.pad_width).startswith(
        "[[0, 0], [1, 2]"
    )
