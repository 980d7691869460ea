"""Scripts in the manner of TVM's tutorials run to their end: tuning, pictures, downloads and sessions."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat import compiling, tvm
from relay_explorer.compat.relay_viz import interface, terminal
from relay_explorer.ir.errors import RelayError

tvm_: Any = tvm


@pytest.fixture
def fresh_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget which warnings were given before."""
    monkeypatch.setattr(compiling, "_said", set())


def network() -> tuple[Any, Any]:
    mod, params = tvm_.relay.testing.mlp.get_workload(1)
    return mod, params


def run(lib: Any) -> Any:
    module = tvm_.contrib.graph_executor.GraphModule(lib["default"](tvm_.cpu()))
    module.set_input("data", np.ones((1, 1, 28, 28), "float32"))
    module.run()
    return module.get_output(0).numpy()


@pytest.mark.usefixtures("fresh_warnings")
def test_a_script_that_tunes_with_autotvm(tmp_path: Path) -> None:
    autotvm = tvm_.autotvm
    mod, params = network()
    tasks = autotvm.task.extract_from_program(mod["main"], target="llvm", params=params)
    assert [task.name for task in tasks] == ["nn.dense"] * 3
    assert tasks[0].flop == 2 * 784 * 128
    only = (relay.op.get("nn.conv2d"),)
    assert autotvm.task.extract_from_program(mod["main"], target="llvm", params=params, ops=only) == []
    option = autotvm.measure_option(
        builder=autotvm.LocalBuilder(), runner=autotvm.LocalRunner(number=1, repeat=10, min_repeat_ms=0)
    )
    log, best = str(tmp_path / "tuning.log.tmp"), str(tmp_path / "tuning.log")

    def tune() -> None:
        for task in tasks:
            tuner = autotvm.tuner.XGBTuner(task, loss_type="rank")
            count = min(20, len(task.config_space))
            callbacks = [
                autotvm.callback.progress_bar(count, prefix="[1]"),
                autotvm.callback.log_to_file(log),
            ]
            tuner.tune(n_trial=count, early_stopping=10, measure_option=option, callbacks=callbacks)

    with pytest.warns(UserWarning, match="autotvm tunes nothing, and programs get the built-in") as said:
        tune()
    assert len(said) == 1
    autotvm.record.pick_best(log, best)
    Path(log).unlink()
    with pytest.warns(UserWarning, match="a log of tuning is not used"):
        history = autotvm.apply_history_best(best)
    with history, tvm_.transform.PassContext(opt_level=3):
        lib = tvm_.relay.build(mod, target="llvm", params=params)
    assert run(lib).shape == (1, 10)


@pytest.mark.usefixtures("fresh_warnings")
def test_a_script_that_tunes_with_the_auto_scheduler(tmp_path: Path) -> None:
    auto_scheduler = tvm_.auto_scheduler
    mod, params = network()
    target = tvm_.target.Target("llvm")
    tasks, weights = auto_scheduler.extract_tasks(mod["main"], params, target)
    assert weights == [1, 1, 1]
    assert "nn.dense" in tasks[0].workload_key
    assert "nn.dense" in str(tasks[0].compute_dag)
    log = str(tmp_path / "log.json")
    options = auto_scheduler.TuningOptions(
        num_measure_trials=200,
        runner=auto_scheduler.LocalRunner(repeat=10, enable_cpu_cache_flush=True),
        measure_callbacks=[auto_scheduler.RecordToFile(log)],
    )
    with pytest.warns(UserWarning, match="auto_scheduler tunes nothing"):
        auto_scheduler.TaskScheduler(tasks, weights).tune(options)
    config = {"relay.backend.use_auto_scheduler": True}
    with pytest.warns(UserWarning, match="a log of tuning is not used"):
        history = auto_scheduler.ApplyHistoryBest(log)
    with history, tvm_.transform.PassContext(opt_level=3, config=config):
        lib = tvm_.relay.build(mod, target=target, params=params)
    assert run(lib).shape == (1, 10)
    with pytest.raises(RelayError, match="a schedule of a single tensor expression is not available"):
        auto_scheduler.SearchTask(func=network, args=(1,), target=target)


def test_files_are_found_in_the_cache_and_nothing_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from relay_explorer.compat.download import download, download_testdata, folders

    monkeypatch.setenv("TEST_DATA_ROOT_PATH", str(tmp_path / "data"))
    monkeypatch.setenv("RELAY_EXPLORER_CACHE", str(tmp_path / "cache"))
    url = "https://example.org/models/net.onnx"
    target = tmp_path / "data" / "onnx" / "net.onnx"
    with pytest.raises(FileNotFoundError) as caught:
        download_testdata(url, "net.onnx", module="onnx")
    assert str(caught.value) == (
        f"relay_explorer downloads nothing: fetch {url} with a browser or curl, and save it as {target}"
    )
    (tmp_path / "cache" / "downloads").mkdir(parents=True)
    (tmp_path / "cache" / "downloads" / "net.onnx").write_bytes(b"cached")
    assert Path(download_testdata(url, "net.onnx", module="onnx")).read_bytes() == b"cached"
    download(url, tmp_path / "here" / "renamed.onnx")
    assert (tmp_path / "here" / "renamed.onnx").read_bytes() == b"cached"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"given")
    assert download_testdata(url, "net.onnx", module="onnx") == str(target)
    assert folders() == [tmp_path / "data", tmp_path / "cache" / "downloads"]
    with pytest.raises(FileNotFoundError, match="downloads nothing"):
        download("https://example.org/other.bin", str(tmp_path / "other.bin"))


def module() -> Any:
    first, second = relay.var("first", shape=(2,)), relay.var("second", shape=(2,))
    add = relay.GlobalVar("AddFunc")
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    main = relay.Function([x, y], relay.Call(add, [relay.Call(add, [x, y]), relay.const([1.0, 2.0])]))
    function = relay.Function([first, second], relay.nn.relu(relay.add(first, second)))
    return relay.IRModule({relay.GlobalVar("main"): main, add: function})


def test_a_program_as_a_tree_of_text(capsys: pytest.CaptureFixture[str]) -> None:
    viz = tvm_.contrib.relay_viz
    viz.RelayVisualizer(module(), {}, viz.TermPlotter()).render()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["@main", "`--Function params: x, y", "   `--Call AddFunc"]
    assert "   `--nn.relu" in lines
    assert "      `--add" in lines


def test_a_parser_and_a_graph_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    viz = tvm_.contrib.relay_viz

    class Parser(interface.VizParser):
        def __init__(self) -> None:
            self.delegate = terminal.TermVizParser()

        def get_node_edges(self, node: Any, relay_param: Any, node_to_id: Any) -> Any:
            if isinstance(node, relay.Var):
                return interface.VizNode(node_to_id[node], "AwesomeVar", node.name_hint), []
            return self.delegate.get_node_edges(node, relay_param, node_to_id)

    class Graph(terminal.TermGraph):
        def node(self, viz_node: Any) -> None:
            super().node(viz_node)
            if viz_node.type_name == "AwesomeVar":
                super().node(interface.VizNode(f"again_{viz_node.identity}", "double", ""))
                super().edge(interface.VizEdge(f"again_{viz_node.identity}", viz_node.identity))

    class Own(terminal.TermPlotter):
        def create_graph(self, name: str) -> Any:
            self._name_to_graph[name] = Graph(name)
            return self._name_to_graph[name]

    viz.RelayVisualizer(module(), {}, Own(), Parser()).render()
    shown = capsys.readouterr().out
    assert "AwesomeVar x\n" in shown
    assert shown.count("`--double") == 4


def test_a_program_for_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    viz = tvm_.contrib.relay_viz
    monkeypatch.setenv("PATH", str(tmp_path))
    plotter = viz.DotPlotter(get_node_attr=lambda node: {"color": "red"} if "relu" in node.type_name else {})
    picture = viz.RelayVisualizer(module(), plotter=plotter, parser=viz.DotVizParser())
    with pytest.warns(UserWarning, match="Graphviz, whose program `dot` draws .* is not installed"):
        picture.render(str(tmp_path / "picture"))
    text = (tmp_path / "picture.dot").read_text()
    assert text.startswith("digraph {")
    assert 'label="nn.relu", color="red"' in text
    assert 'subgraph "cluster_AddFunc"' in text


@pytest.mark.usefixtures("fresh_warnings")
def test_a_script_that_uses_tvmc(tmp_path: Path) -> None:
    tvmc = tvm_.driver.tvmc
    symbol = Path(__file__).parents[1] / "data" / "mxnet" / "checkpoint-symbol.json"
    model = tvmc.load(str(symbol), shape_dict={"data": [2, 4]})
    assert "fc1_weight" in model.params
    with pytest.warns(UserWarning, match=r"tvmc\.tune tunes nothing"):
        records = tvmc.tune(model, target="llvm", tuning_records=str(tmp_path / "log"))
    package = tvmc.compile(model, target="llvm", tuning_records=records, package_path=tmp_path / "net.tar")
    expected = np.load(symbol.parent / "checkpoint.npz")
    for loaded in (package, tvmc.TVMCPackage(tmp_path / "net.tar")):
        result = tvmc.run(loaded, device="cpu", inputs={"data": expected["data"]})
        np.testing.assert_allclose(result.get_output("output_0"), expected["output_0"], rtol=1e-4)
    filled = tvmc.run(package, device="cpu", fill_mode="ones", benchmark=True, repeat=2, number=2)
    assert "Output Names: ['output_0']" in str(filled)


def test_a_session_on_this_machine(tmp_path: Path) -> None:
    mod, params = network()
    lib = tvm_.relay.build(mod, target="llvm", params=params)
    path = tmp_path / "net.tar"
    lib.export_library(str(path))
    remote = tvm_.rpc.LocalSession()
    remote.upload(str(path))
    loaded = remote.load_module("net.tar")
    np.testing.assert_allclose(run(loaded), run(lib), rtol=1e-6)
    assert remote.cpu(0) == tvm_.cpu()
    with pytest.raises(RelayError, match=r"a connection to 10\.0\.0\.1:9090 is not available"):
        tvm_.rpc.connect("10.0.0.1", 9090)


def test_workloads_seed_numpy_as_they_did() -> None:
    x, w = relay.var("data", shape=(1, 4)), relay.var("w", shape=(3, 4))
    net = relay.Function([x, w], relay.nn.dense(x, w))
    _, params = tvm_.relay.testing.create_workload(net, seed=7)
    following = np.random.uniform()
    np.random.seed(7)
    bound = np.sqrt(3 / ((3 + 4) / 2))
    expected = np.random.uniform(-bound, bound, (3, 4)).astype("float32")
    np.testing.assert_array_equal(params["w"].numpy(), expected)
    assert following == np.random.uniform()


def test_classes_of_attributes_by_name() -> None:
    conv = relay.nn.conv2d(relay.var("x"), relay.var("w"), kernel_size=(3, 3))
    assert isinstance(conv.attrs, tvm_.relay.op.op_attrs.Conv2DAttrs)
    with pytest.raises(AttributeError, match="Conv9DAttrs"):
        _ = tvm_.relay.op.op_attrs.Conv9DAttrs


def test_divisions_by_constants_become_multiplications() -> None:
    x = relay.var("x", shape=(2,))
    mod = relay.IRModule.from_expr(relay.Function([x], relay.divide(x, relay.const(4.0))))
    changed = tvm_.relay.transform.DivToMul()(relay.transform.InferType()(mod))
    body = changed["main"].body
    assert body.op.name == "multiply"
    assert body.args[1].data.numpy() == 0.25
    whole = relay.IRModule.from_expr(relay.divide(relay.var("n", "int32"), relay.const(4)))
    assert tvm_.relay.transform.DivToMul()(whole)["main"].body.op.name == "divide"


def test_a_program_shows_itself_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    mod: Any = module()
    mod.show()
    assert capsys.readouterr().out == mod.script() + "\n"
    assert "nn.relu" in mod.script()


def test_tensor_expressions_are_those_of_the_installed_tvm() -> None:
    te, topi = tvm_.te, tvm_.topi
    x = te.placeholder((te.var("n"), 4), name="x")
    y = topi.nn.relu(te.compute(x.shape, lambda i, j: x[i, j] * 2.0, name="y"))
    assert [str(extent) for extent in y.shape] == ["n", "4"]
    with pytest.raises(AttributeError, match=r"tvm\.te\.create_schedule is not in .* schedules are real_tvm"):
        _ = te.create_schedule
    with pytest.raises(AttributeError, match=r"tvm\.topi\.schedule_injective is not in"):
        _ = topi.schedule_injective


def test_no_warning_without_tuning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tvm_.autotvm.task.extract_from_program(network()[0]["main"], target="llvm")
