"""Old code's importers: the names of `relay.frontend`, its helpers, and what becomes of the parameters."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from relay_explorer import relay
from relay_explorer.compat import install, tvm, uninstall
from relay_explorer.frontends import from_pytorch
from relay_explorer.ir.span import SourceName, Span
from tests.frontends.onnx.support import model, value
from tests.frontends.pytorch.helpers import traced

DATA = Path(__file__).parents[1] / "data" / "mxnet"
common: Any = tvm.relay.frontend.common


@pytest.fixture
def hook() -> Iterator[None]:
    """Treat imports of this file as those of old code."""
    install()
    yield
    uninstall()


def test_the_namespace_of_importers_is_loaded_without_frameworks() -> None:
    program = (
        "import sys; from relay_explorer import relay; from relay_explorer.compat import tvm; "
        "relay.frontend, tvm.relay.frontend; "
        "print([m for m in ('torch', 'onnx', 'keras', 'tvm') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("importer", "parameters"),
    [
        ("from_onnx", ["model", "shape", "dtype", "opset", "freeze_params", "convert_config"]),
        ("from_pytorch", ["script_module", "input_infos"]),
        ("from_tensorflow", ["graph", "layout", "shape", "outputs", "convert_config"]),
        ("from_keras", ["model", "shape", "layout"]),
        ("from_tflite", ["model", "shape_dict", "dtype_dict"]),
        ("from_mxnet", ["symbol", "shape", "dtype", "arg_params", "aux_params"]),
    ],
)
def test_importers_take_the_arguments_that_they_took(
    hook: None, importer: str, parameters: list[str]
) -> None:
    module = importlib.import_module(f"tvm.relay.frontend.{importer.removeprefix('from_')}")
    function = getattr(module, importer)
    assert function is getattr(relay.frontend, importer)
    assert list(inspect.signature(function).parameters)[: len(parameters)] == parameters


def test_imported_parameters_work_wherever_old_code_passes_them() -> None:
    inputs = np.load(DATA / "checkpoint.npz")
    mod, params = tvm.relay.frontend.from_mxnet(
        str(DATA / "checkpoint-symbol.json"),
        {"data": (2, 4)},
        arg_params=str(DATA / "checkpoint-0000.params"),
    )
    weight = params["fc1_weight"]
    assert weight.shape == (6, 4)
    np.testing.assert_array_equal(weight.asnumpy(), weight.numpy())
    with tvm.transform.PassContext(opt_level=3):
        bound = tvm.relay.build(mod, "llvm", params=params)
        free = tvm.relay.build(mod, "llvm")
    graph_executor: Any = tvm.contrib.graph_executor
    for library, values in ((bound, {}), (free, params)):
        module = graph_executor.GraphModule(library["default"](tvm.cpu()))
        module.set_input("data", inputs["data"])
        module.set_input(**values)
        module.run()
        result = module.get_output(0).numpy()
        np.testing.assert_allclose(result, inputs["output_0"], rtol=1e-4, atol=1e-4)
    function = tvm.relay.build_module.bind_params_by_name(mod["main"], params)
    assert [var.name_hint for var in function.params] == ["data"]
    assert tvm.relay.load_param_dict(tvm.relay.save_param_dict(params))["fc1_weight"].shape == (6, 4)


def test_attributes_that_are_text() -> None:
    attrs = common.StrAttrsDict({"kernel": "(3, 3)", "axis": "None", "no_bias": "True", "eps": "1e-3"})
    assert attrs.get_int_tuple("kernel") == (3, 3)
    assert attrs.get_int("axis", 7) == 7
    assert attrs.get_bool("no_bias")
    assert attrs.get_float("eps") == 1e-3
    assert attrs.get_str("layout", "NCHW") == "NCHW"
    with pytest.raises(AttributeError, match="the node has no attribute 'stride'"):
        attrs.get_int("stride")


def test_shapes_and_values_of_expressions() -> None:
    x = relay.var("x", shape=(2, 3))
    doubled = relay.add(x, x)
    assert common.infer_shape(doubled) == (2, 3)
    ones = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(common.infer_value(doubled, {"x": ones}).numpy(), 2 * ones)
    assert common.infer_value_simulated(doubled, {}).shape == (2, 3)
    assert common.try_infer_value(doubled) == (doubled, False)
    value, known = common.try_infer_value(relay.const([1, 2]))
    assert known
    assert value.tolist() == [1, 2]
    with pytest.raises(ValueError, match="it depends on x"):
        common.infer_value(doubled, {})
    assert common.get_relay_op("conv2d") is relay.nn.conv2d
    assert common.shape_of(x).data.numpy().tolist() == [2, 3]


def test_expressions_by_name() -> None:
    table = common.ExprTable()
    x, y = relay.var("x"), relay.var("y")
    table.set_expr("a", x)
    table.set_expr("a", y)
    assert table.get_expr("a") is x
    table.set_expr("a", y, force_override=True)
    assert table.get_expr("a") is y
    assert table.new_const(np.ones(3, "float32")).name_hint in table.params


def test_spans_are_filled_unless_switched_off() -> None:
    def imported() -> relay.IRModule:
        return relay.frontend.from_mxnet(DATA / "checkpoint-symbol.json", {"data": (2, 4)})[0]

    with tvm.testing.enable_span_filling():
        marked = imported()
    with tvm.testing.disable_span_filling():
        unmarked = imported()
    assert marked["main"].body.span is not None
    assert unmarked["main"].body.span is None
    assert tvm.ir.structural_equal(marked, unmarked)


def test_spans_of_onnx_have_the_names_that_old_code_compares() -> None:
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "x"], ["h"], name="first"),
        onnx.helper.make_node("Mul", ["h", "w"], ["y"], name="second"),
    ]
    proto = model(nodes, [value("x", [2, 2])], ["y"], {"w": np.ones((2, 2), "float32")})
    main: Any = relay.frontend.from_onnx(proto)[0]["main"]
    dense, weight = main.body.args
    names = {part: part.span.source_name for part in (main.params[0], dense, weight, main.body)}
    assert list(names.values()) == ["first.x", "first", "second.w", "second"]
    for part, name in names.items():
        assert tvm.ir.structural_equal(part.span, Span(SourceName(name), 0, 0, 0, 0))
    assert (main.ret_type.shape, dense.attrs.out_dtype) == ((2, 2), "float32")


def test_spans_of_pytorch_have_the_names_that_old_code_compares() -> None:
    linear = torch.nn.Sequential(torch.nn.Linear(3, 2))
    main = from_pytorch(traced(linear, [torch.ones(1, 3)]), [("x", (1, 3))])[0]["main"]
    names = [str(param.span.source_name) for param in main.params if param.span is not None]
    assert names == ["aten::linear_0.x", "aten::linear_0.weight", "aten::linear_0.bias"]


def test_fields_of_a_wrapped_tuple_have_its_span() -> None:
    call = relay.split(relay.var("x", shape=(2,)), 2).astuple()
    span = Span(SourceName("node"), 0, 0, 0, 0)
    pair = tvm.relay.expr.TupleWrapper(tvm.relay.expr.CallWithFields(call, span=span), 2)
    assert [field.span for field in pair] == [pair[0].span, pair[1].span] == [span, span]


def test_the_variance_of_a_known_mean() -> None:
    x = relay.var("x", shape=(2, 3))
    mean = relay.mean(x, [1], keepdims=True, exclude=True)
    made = tvm.relay.op._make._variance(x, mean, [1], False, True, True)
    assert tvm.ir.structural_equal(made, relay.variance(x, [1], False, True, True, mean))


def test_set_span_marks_what_has_no_span() -> None:
    first = relay.const(1.0)
    second = relay.add(first, relay.const(2.0))
    common.set_span(first, "first")
    common.set_span(second, "second")
    assert first.span is not None
    assert second.span is not None
    assert (first.span.source.name, second.span.source.name) == ("first", "second")
    assert tvm.ir.structural_equal(second.span, Span(SourceName("second"), 0, 0, 0, 0))
    with tvm.testing.disable_span_filling():
        assert common.set_span(relay.var("x"), "x").span is None


def test_copies_with_other_parts() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    call = relay.add(x, x)
    assert tvm.relay.expr.CallWithFields(call) is call
    changed = tvm.relay.expr.CallWithFields(call, args=[x, y])
    assert list(changed.args) == [x, y]
    span = Span(SourceName("a"), 0, 0, 0, 0)
    assert tvm.relay.expr.TupleWithFields(relay.Tuple([x]), None, None, span).span is span
    assert tvm.relay.expr.VarWithFields(x, None, None, None, span).name_hint == "x"


def test_workloads_are_read_from_archives_that_were_fetched_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensorflow = ModuleType("tensorflow.compat.v1")
    monkeypatch.setattr(tensorflow, "GraphDef", SimpleNamespace(FromString=bytes.decode), raising=False)
    for name in ("tensorflow", "tensorflow.compat", "tensorflow.compat.v1"):
        monkeypatch.setitem(sys.modules, name, tensorflow)
    monkeypatch.setenv("TEST_DATA_ROOT_PATH", str(tmp_path / "data"))
    get_workload = tvm.relay.testing.tf.get_workload
    address = "https://example.com/models/net.tgz"
    with pytest.raises(FileNotFoundError, match=r"fetch https://example.com/models/net.tgz .*/net.tgz"):
        get_workload(address, "frozen.pb")
    (tmp_path / "frozen.pb").write_text("graph")
    (tmp_path / "data").mkdir()
    with tarfile.open(tmp_path / "data" / "net.tgz", "w:gz") as archive:
        archive.add(tmp_path / "frozen.pb", "./frozen.pb")
    assert get_workload(address, "frozen.pb") == "graph"
    with pytest.raises(FileNotFoundError, match=r"has no file other.pb, but frozen.pb"):
        get_workload(address, "other.pb")


CONFTEST = """
import pytest
import tvm
pytest_plugins = ["tvm.testing.plugin"]
IS_OURS = tvm.__name__
"""
OLD_TEST = """
import pytest
import tvm, tvm.testing
from conftest import IS_OURS
from tvm import relay

kind = tvm.testing.parameter("graph", "vm")

def test_target(target, dev, kind):
    assert IS_OURS.startswith("relay_explorer")
    assert target == "llvm" and dev == tvm.cpu()

@pytest.mark.gpu
def test_importers():
    assert relay.frontend.from_onnx
"""


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "relay_explorer.compat", "-m", "pytest"],
        ["-m", "pytest", "-p", "relay_explorer.compat.pytest_plugin"],
    ],
)
def test_pytest_runs_in_a_checkout_with_its_own_conftest(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_old.py").write_text(OLD_TEST)
    done = subprocess.run(
        [sys.executable, *command, "-q", "-p", "no:cacheprovider", "--strict-markers", "test_old.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr
