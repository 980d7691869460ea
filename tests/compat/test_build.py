"""What old code builds, where no compiler is installed: it runs the interpreter, and says so. `tests/lower`
has what is compiled.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat import compiling, tvm, virtual_machine
from relay_explorer.lower import executor


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if TVM were not installed, and everything had been said already."""
    for module in (compiling, virtual_machine):
        monkeypatch.setattr(module, "compiler_is_here", lambda: False)
    monkeypatch.setattr(executor, "_missing_compiler", lambda: "TVM is not installed")
    monkeypatch.setattr(compiling, "_said", {"relay.build", "relay.vm.compile"})


def affine() -> tuple[relay.IRModule, dict[str, np.ndarray]]:
    x, w, b = (relay.var(n, shape=s) for n, s in (("data", (2, 3)), ("w", (4, 3)), ("b", (4,))))
    both = relay.Tuple([relay.nn.bias_add(relay.nn.dense(x, w), b), relay.sum(x)])
    params = {"w": np.arange(12, dtype="float32").reshape(4, 3), "b": np.ones(4, "float32")}
    return relay.IRModule.from_expr(relay.Function([x, w, b], both)), params


DATA = np.arange(6, dtype="float32").reshape(2, 3)


def wanted(params: dict[str, np.ndarray]) -> np.ndarray:
    return np.asarray(DATA @ params["w"].T + params["b"])


def test_the_first_build_says_that_nothing_is_compiled() -> None:
    compiling._said.clear()
    with pytest.warns(UserWarning, match="relay.build does not compile here: the result runs in the interp"):
        tvm.relay.build(affine()[0], "llvm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tvm.relay.build(affine()[0], "llvm")


def test_set_run_get() -> None:
    module, params = affine()
    with tvm.transform.PassContext(opt_level=3):
        lib = tvm.relay.build(module, target=tvm.target.Target("llvm -mcpu=skylake"), params=params)
    run = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    run.set_input("data", DATA.astype("float64"))  # it takes the parameter's element type
    run.run()
    assert (run.get_num_inputs(), run.get_num_outputs()) == (1, 2)
    tvm.testing.assert_allclose(run.get_output(0).numpy(), wanted(params))
    assert run.get_output(1).numpy() == 15
    out = tvm.nd.empty((2, 4))
    run.get_output(0, out)
    assert out.numpy().tolist() == wanted(params).tolist()
    assert run.get_input("data").numpy().tolist() == run.get_input(0).numpy().tolist() == DATA.tolist()
    assert (run.get_input_index("data"), run.get_input_index("w")) == (0, -1)


def test_taken_apart_as_it_was_once() -> None:
    module, params = affine()
    graph, lib, kept = tvm.relay.build(module, "llvm", params=None)
    assert (kept, "nn.dense" in graph) == ({}, True)
    run = tvm.contrib.graph_runtime.create(graph, lib, tvm.cpu())
    run.load_params(tvm.runtime.save_param_dict(params))
    run.set_input(data=DATA, unrelated=DATA)
    run.run()
    tvm.testing.assert_allclose(run.get_output(0).numpy(), wanted(params))


def test_times_are_measured() -> None:
    module, params = affine()
    run = tvm.contrib.graph_executor.GraphModule(tvm.relay.build(module, params=params)["default"]())
    run.set_input(0, DATA)
    times = run.benchmark(tvm.cpu(), repeat=3, number=2)
    assert len(times.results) == 3
    assert times.min <= times.median <= times.max
    assert run.module.time_evaluator("run", tvm.cpu(), number=1)().mean > 0


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda run: run.run(), "the input 'data' is not set\nhelp: set it: module.set_input"),
        (lambda run: run.set_input("image", DATA), "no input 'image'\nhelp: its inputs are data"),
        (lambda run: run.get_output(0), "there is no output 0: nothing has run yet"),
        (lambda run: run.factory.export_library("lib.so"), "there is nothing compiled to save"),
        (lambda run: run.set_input("data", np.ones((3, 3), "float32")) or run.run(), "Tensor\\[\\(2, 3\\)"),
    ],
)
def test_what_goes_wrong_is_said(act: object, message: str) -> None:
    module, params = affine()
    run = tvm.contrib.graph_executor.GraphModule(tvm.relay.build(module, params=params)["default"]())
    with pytest.raises(tvm.TVMError, match=message):
        act(run)  # type: ignore[operator]  # a function


def test_an_ill_typed_module_is_refused_when_it_is_built() -> None:
    x, w = relay.var("x", shape=(1, 784)), relay.var("w", shape=(784, 10))
    with pytest.raises(tvm.TVMError, match=r"dense's weight is \(units, input features\)"):
        tvm.relay.build(relay.IRModule.from_expr(relay.nn.dense(x, w)))


def test_another_name() -> None:
    lib = tvm.relay.build(affine()[0], mod_name="affine")
    assert isinstance(lib["affine"](tvm.cpu()), tvm.contrib.graph_executor.GraphModule)
    with pytest.raises(KeyError, match="built under the name 'affine', not 'default'"):
        lib["default"]


def test_the_virtual_machine() -> None:
    module = tvm.relay.parse("""
        def @count(%n: int32, %sum: int32) -> int32 {
          if (%n == 0) { %sum } else { @count(%n - 1, %sum + %n) }
        }
        def @main(%n: int32, %start: int32) { (@count(%n, %start), %n) }
    """)
    exe = tvm.relay.vm.compile(module, target="llvm", params={"start": 5})
    assert set(exe.globals) == {"main", "count"}
    assert "tail_invoke @count" in exe.bytecode
    assert exe.primitive_ops == ["equal", "subtract", "add"]
    vm = tvm.runtime.vm.VirtualMachine(exe, tvm.cpu())
    assert vm.run(4)[0].numpy() == 15
    assert vm.invoke("count", 2, 0).numpy() == 3
    vm.set_input("main", n=3)
    vm.invoke_stateful("main")
    assert [out.numpy() for out in vm.get_outputs()] == [11, 3]
    with pytest.raises(tvm.TVMError, match="no function `@mian`"):
        vm.invoke("mian")
    with pytest.raises(tvm.TVMError, match="there is no machine code to save: NumPy computes the kernels"):
        exe.save()


def test_targets_by_name() -> None:
    assert str(tvm.target.cuda("a100")) == "cuda -model=a100"
    arm = tvm.target.arm_cpu("rasp4b", options=["-mattr=+neon"])
    assert (arm.kind.name, arm.attrs["device"], arm.attrs["mattr"]) == ("llvm", "arm_cpu", "+neon")
    with tvm.target.rocm():
        assert tvm.target.Target.current().kind.name == "rocm"
    lib = tvm.relay.build(affine()[0], tvm.target.mali(), params=affine()[1])
    run = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cuda()))  # there is none: it runs here
    run.run(data=DATA)
    tvm.testing.assert_allclose(run.get_output(0).numpy(), wanted(affine()[1]))


def test_what_cannot_be_built_or_set() -> None:
    """Whatever is given: an error of one sentence, none from inside."""
    from relay_explorer.compat.build import GraphModule, build

    x = relay.var("x", shape=(2, 3))
    function = relay.Function([x], relay.nn.relu(x))
    refused: tuple[Any, ...] = (None, 3, [])
    for wrong in refused:
        with pytest.raises(
            relay.RelayError, match="a program is a module or a function, not a value of type"
        ):
            build(wrong, "llvm")
    with pytest.raises(
        relay.RelayError, match="`params` must map names to values, not be a value of type list"
    ):
        build(function, "llvm", params=[np.ones(3)])  # type: ignore[arg-type]
    module = GraphModule(build(function, "llvm")["default"](tvm.cpu(0)))
    for value in (None, "a"):
        with pytest.raises(TypeError, match="an array is one of numbers, not"):
            module.set_input("x", value)
    with pytest.raises(relay.RelayError, match="there is no output 'a': nothing has run yet"):
        module.get_output("a")  # type: ignore[arg-type]
