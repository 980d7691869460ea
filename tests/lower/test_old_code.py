"""Scripts as they were written for TVM's Relay, compiled by this package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer.compat import compiling, tvm
from relay_explorer.ir.errors import RelayError
from relay_explorer.relay import create_executor

relay: Any = tvm.relay  # looked up when it is asked for
T: Any = tvm
X = np.arange(6, dtype="float32").reshape(2, 3)
PARAMS = {"w": np.arange(12, dtype="float32").reshape(4, 3) - 5, "b": np.ones(4, "float32")}
WANTED = np.maximum(X @ PARAMS["w"].T + PARAMS["b"], 0)

COUNT = """
def @count(%n: int32, %sum: int32) -> int32 {
  if (%n == 0) { %sum } else { @count(%n - 1, %sum + %n) }
}
def @main(%n: int32, %start: int32) { (@count(%n, %start), %n) }
"""


def layer() -> Any:
    data, w, b = (relay.var(n, shape=s) for n, s in (("data", (2, 3)), ("w", (4, 3)), ("b", (4,))))
    dense = relay.nn.relu(relay.nn.bias_add(relay.nn.dense(data, w), b))
    return T.IRModule.from_expr(relay.Function([data, w, b], relay.Tuple([dense, relay.sum(data)])))


def test_a_model_is_built_run_timed_and_deployed(tmp_path: Path) -> None:
    with T.transform.PassContext(opt_level=3):
        lib = relay.build(layer(), target="llvm -mcpu=x86-64", params=PARAMS)
    dev = T.device("llvm", 0)
    module = T.contrib.graph_executor.GraphModule(lib["default"](dev))
    module.set_input("data", T.nd.array(X))
    module.run()
    np.testing.assert_allclose(module.get_output(0).numpy(), WANTED)
    assert module.get_output(1).numpy() == X.sum()
    assert module.benchmark(dev, repeat=2, number=3, data=X).mean > 0
    assert "ret" in lib.get_lib().get_source("asm")
    path = str(tmp_path / "deployed.so")
    lib.export_library(path)
    loaded = T.contrib.graph_executor.GraphModule(T.runtime.load_module(path)["default"](dev))
    loaded.set_input(data=X, **PARAMS)  # they are the same: nothing changes
    loaded.run()
    np.testing.assert_allclose(loaded.get_output(0).numpy(), WANTED)
    with pytest.raises(RelayError, match="the parameter `w` became part of the program when it was built"):
        loaded.set_input("data", X, w=PARAMS["w"] + 1)
    with pytest.raises(RelayError, match="there is no code in the format 'elf'\nhelp: there are ll, llvm, s"):
        lib.get_source("elf")


def test_graph_library_and_parameters_as_three_files(tmp_path: Path) -> None:
    graph, lib, _ = relay.build(layer(), "llvm", params=None)
    (tmp_path / "graph.json").write_text(graph)
    lib.export_library(tmp_path / "lib.tar")
    (tmp_path / "weights.params").write_bytes(relay.save_param_dict(PARAMS))
    module = T.contrib.graph_executor.create(
        (tmp_path / "graph.json").read_text(), T.runtime.load_module(str(tmp_path / "lib.tar")), T.cpu(0)
    )
    module.load_params((tmp_path / "weights.params").read_bytes())
    module["set_input"]("data", X)
    module["run"]()
    np.testing.assert_allclose(module["get_output"](0).numpy(), WANTED)
    nodes = json.loads(graph)
    assert [node["name"] for node in nodes["nodes"] if node["op"] == "null"] == ["data", "w", "b"]
    assert nodes["attrs"]["shape"][1][nodes["heads"][0][0]] == [2, 4]
    assert nodes["node_row_ptr"][-1] == len(nodes["attrs"]["storage_id"][1])
    assert module.get_input_info() == (
        {"data": [2, 3], "w": [4, 3], "b": [4]}, dict.fromkeys(("data", "w", "b"), "float32"),
    )  # fmt: skip


def test_the_virtual_machine_is_compiled_saved_and_loaded() -> None:
    exe = relay.vm.compile(relay.parse(COUNT), target="llvm", params={"start": 5})
    vm = T.runtime.vm.VirtualMachine(exe, T.cpu())
    assert vm.run(4)[0].numpy() == 15
    assert vm.invoke("count", 2, 0).numpy() == 3
    code, lib = exe.save()
    assert "define" in lib.get_source()
    again = T.runtime.vm.VirtualMachine(T.runtime.vm.Executable.load_exec(code, lib), T.cpu())
    again.set_input("main", n=np.array(3, "int32"))
    again.invoke_stateful("main")
    assert [out.numpy() for out in again.get_outputs()] == [11, 3]
    with pytest.raises(RelayError, match="only `@main` of a loaded program can be called"):
        again.invoke("count", 2, 0)


@pytest.mark.parametrize("kind", ["graph", "vm", "aot"])
def test_executors_compile(kind: str) -> None:
    run = relay.create_executor(kind, layer(), T.cpu(), "llvm", PARAMS).evaluate()
    result, total = run(X)
    np.testing.assert_allclose(result.numpy(), WANTED, 1e-6)
    assert total.numpy() == X.sum()
    assert type(run.inner).__name__ == ("VMClosure" if kind == "vm" else "BuiltClosure")
    loop = relay.create_executor(kind, relay.parse(COUNT)).evaluate()
    assert loop(10, 0)[0].numpy() == 55
    x = relay.var("x")  # of any type
    assert relay.create_executor(kind).evaluate(x + relay.const(1), {x: relay.const(2)}).numpy() == 3
    with pytest.raises(RelayError, match=r"Tensor\[\(2, 3\), float32\]"):
        run(X.T)


def test_a_function_of_a_module_besides_main() -> None:
    module = relay.parse(COUNT + "def @twice(%n: int32) { let %two = @main(%n, %n); %two.0 * 2 }")
    run = create_executor("graph", module).evaluate(module.get_global_var("twice"))
    assert run(3).numpy() == 2 * (3 + 3 + 2 + 1)


def test_a_device_that_is_not_here_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_said", set())
    for target, text in (
        ("opencl", "opencl is a target without schedules here"),
        ("cuda", "no usable GPU"),
    ):
        with pytest.warns(UserWarning, match=text):
            lib = relay.build(layer(), {T.cuda(): T.target.Target(target)}, params=PARAMS)
    module = T.contrib.graph_executor.GraphModule(lib["default"](T.cuda()))
    module.run(data=X)
    np.testing.assert_allclose(module.get_output(0).numpy(), WANTED)
    arm = relay.build(layer(), "llvm -device=arm_cpu -mtriple=aarch64-linux-gnu", params=PARAMS)
    assert "fmla" in arm.get_lib().get_source("asm")


def test_what_a_debug_executor_tells() -> None:
    debug, aot = T.contrib.debugger.debug_executor, T.runtime.executor.AotModule
    lib = relay.build(layer(), "llvm", params=PARAMS)
    module = debug.create(lib.get_graph_json(), lib.get_lib(), T.cpu())
    report = module.profile(data=X)
    assert len(report.calls) == len(report.csv().splitlines()) - 1 == len(lib.program.program.steps)
    assert "ms a run" in str(report)
    nodes = json.loads(lib.graph_json)["nodes"]
    (first, dense) = next((k, node) for k, node in enumerate(nodes) if "dense" in node["name"])
    for node in (first, dense["name"]):
        np.testing.assert_allclose(module.debug_get_output(node).numpy(), WANTED)
    assert len(module.run_individual(2)) == len(nodes)
    with pytest.raises(
        RelayError, match=r"the graph has no kernel call 'dense'\nhelp: its calls are numbers"
    ):
        module.debug_get_output("dense")
    other = aot(lib["debug_create"]("default", T.cpu()))
    other.run(data=X)
    np.testing.assert_allclose(other.get_output(0).numpy(), WANTED)
    loop = debug.GraphModuleDebug(relay.build(relay.parse(COUNT)), [T.cpu()], "", None)
    with pytest.raises(RelayError, match="the program is not a graph of kernels"):
        loop.debug_get_output(0)


def test_arrays_that_are_not_copied() -> None:
    given, taken = T.nd.array(X), T.nd.empty((2, 4))
    module = T.contrib.graph_executor.GraphModule(relay.build(layer(), params=PARAMS)["default"](T.cpu()))
    module.set_input_zero_copy("data", given)
    module.set_output_zero_copy(0, taken)
    module.run()
    np.testing.assert_allclose(taken.numpy(), WANTED)
    given.copyfrom(0 * X)
    module.run()
    np.testing.assert_allclose(taken.numpy(), np.ones((2, 4)))
    assert T.nd.from_dlpack(given.to_dlpack()) == T.nd.from_dlpack(given) == given


def test_a_virtual_machine_is_compiled_in_steps_and_measured() -> None:
    compiler = relay.vm.VMCompiler()
    with pytest.raises(RelayError, match="there is no program yet"):
        compiler.get_exec()
    compiler.set_params(PARAMS)
    compiler.lower(layer(), "llvm")
    compiler.codegen()
    machine = T.runtime.profiler_vm.VirtualMachineProfiler(compiler.get_exec(), T.cpu())
    np.testing.assert_allclose(machine.invoke("main", X)[0].numpy(), WANTED)
    assert [call["Name"] for call in machine.profile(X).calls]


def test_a_virtual_machine_stores_its_inputs() -> None:
    x, y = (relay.var(name, shape=(3,)) for name in ("x", "y"))
    main = relay.Function([x, y], relay.Tuple([x - y, x]))
    vm = T.runtime.vm.VirtualMachine(relay.vm.compile(T.IRModule.from_expr(main), "llvm"), T.cpu())
    a, b = np.arange(3, dtype="float32"), np.ones(3, "float32")
    assert [vm.get_input_index(name) for name in ("y", "x", "z")] == [1, 0, -1]
    vm.set_input("main", a, b)
    np.testing.assert_array_equal(vm.invoke("main")[0].numpy(), a - b)
    vm.set_one_input("main", 0, b)
    np.testing.assert_array_equal(vm.invoke("main")[0].numpy(), b - b)
    vm.set_one_input("main", y=a)
    np.testing.assert_array_equal(vm.invoke("main")[0].numpy(), b - a)
    vm.invoke_stateful("main", a, a)
    assert [output.numpy().tolist() for output in vm.get_outputs()] == [[0, 0, 0], [0, 1, 2]]
    arrays = [T.nd.empty((3,)), T.nd.empty((3,))]
    vm.invoke_with_outputs("main", input_args={"x": a, "y": b}, output_args=arrays)
    assert [array.numpy().tolist() for array in arrays] == [[-1, 0, 1], [0, 1, 2]]
    with pytest.raises(RelayError, match="returns 2 tensors, but there are arrays for 1"):
        vm.invoke_with_outputs("main", {"x": a, "y": b}, arrays[:1])
    with pytest.raises(RelayError, match="has no input 'z'"):
        vm.set_one_input("main", z=a)
    with pytest.raises(RelayError, match="takes one input"):
        vm.set_one_input("main", "x")


def test_a_module_is_optimized_for_the_virtual_machine() -> None:
    optimized, params = relay.vm.VMCompiler().optimize(layer(), "llvm", params=PARAMS)
    assert params == {}
    assert [p.name_hint for p in optimized["main"].params] == ["data"]


def test_old_code_knows_the_version_of_llvm() -> None:
    assert T.target.codegen.llvm_version_major() >= 15


@pytest.mark.parametrize("executor", ["graph", "vm"])
def test_annotations_are_compiled_away(executor: str) -> None:
    x = relay.var("x", shape=(2, 3))
    y = relay.annotation.checkpoint(relay.annotation.on_device(x + x, T.cuda(), constrain_result=True))
    run = relay.create_executor(executor, T.IRModule.from_expr(relay.Function([x], y)), T.cpu(), "llvm")
    np.testing.assert_array_equal(run.evaluate()(X).numpy(), X + X)


def test_the_virtual_machine_adds_axes_of_extent_1_that_an_argument_lacks() -> None:
    x = relay.var("x", shape=(1, 3, 2))
    module = T.IRModule.from_expr(relay.Function([x], relay.squeeze(x, [0])))
    vm = T.runtime.vm.VirtualMachine(relay.vm.compile(module, "llvm"), T.cpu())
    data = np.arange(6, dtype="float32").reshape(3, 2)
    np.testing.assert_array_equal(vm.invoke("main", data).numpy(), data)
    np.testing.assert_array_equal(vm.invoke("main", T.nd.array(data[:, None])).numpy(), data)
    with pytest.raises(T.TVMError, match="must be"):
        vm.invoke("main", data.T)
