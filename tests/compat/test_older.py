"""Names of TVM's versions and C++ objects."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer.compat import tvm
from relay_explorer.compat.tvm import relay


def test_everything_in_a_program_is_an_object() -> None:
    x = relay.var("x", shape=(2,))
    things = (x, x.type_annotation, relay.exp(x), tvm.IRModule(), tvm.nd.array(1), relay.PatternWildcard())
    assert all(isinstance(thing, tvm.Object) for thing in things)
    assert all(isinstance(thing, tvm.ir.Node) for thing in things)
    assert not isinstance("x", tvm.runtime.Object)
    assert isinstance(x, tvm.ir.BaseExpr)


@pytest.mark.parametrize(
    ("name", "parts"),
    [("float32", (2, 32, 1)), ("bool", (1, 1, 1)), ("uint8x4", (1, 8, 4)), ("bfloat16", (4, 16, 1))],
)
def test_element_types_have_parts(name: str, parts: tuple[int, int, int]) -> None:
    dtype = tvm.DataType(name)
    assert dtype == name
    assert (dtype.type_code, dtype.bits, dtype.lanes) == parts


def test_no_element_type() -> None:
    with pytest.raises(ValueError, match="there is no element type called '32'"):
        _ = tvm.DataType("32").bits


def test_what_runs_here() -> None:
    assert tvm.runtime.enabled("llvm -mcpu=core-avx2")
    assert not tvm.runtime.enabled("cuda")
    assert str(tvm.nd.device("cpu", 1)) == "cpu(1)"


def test_a_function_with_other_fields() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    function = relay.Function([x], relay.exp(x), None, None, tvm.ir.make_node("DictAttrs", mark=1))
    assert relay.FunctionWithFields(function) is function
    assert relay.FunctionWithFields(function, params=[x], body=function.body).origin == (function,)
    changed = relay.FunctionWithFields(function, [y], relay.log(y))
    assert (changed.params, changed.body.op.name, changed.attrs["mark"]) == ((y,), "log", 1)


def test_older_names() -> None:
    assert relay.Module is tvm.IRModule
    with relay.build_config(opt_level=3, disabled_pass=["FoldConstant"]) as context:
        assert tvm.transform.PassContext.current() is context
        assert context.disabled_pass == ("FoldConstant",)
    assert relay.ShapeVar("s").kind == relay.TypeKind.ShapeVar
    x = relay.var("x")
    assert (x.vid, isinstance(x.vid, relay.Id)) == (x.vid, True)
    assert issubclass(tvm.error.OpAttributeInvalid, tvm.error.TVMError)


def test_a_pass_that_prints(capsys: pytest.CaptureFixture[str]) -> None:
    module = tvm.transform.PrintIR("here")(relay.parse("def @main(%x: int32) { %x }"))
    assert capsys.readouterr().err.startswith("PrintIR(here):\ndef @main(%x: int32) -> int32 {")
    assert "main" in module


def test_initial_values_of_ones_own() -> None:
    net = relay.Function([w := relay.var("w", shape=(2,), dtype="int8")], w)
    _, params = relay.testing.create_workload(net, relay.testing.init.Constant(3))
    assert params["w"].numpy().tolist() == [3, 3]

    class Counting(relay.testing.init.Initializer):
        def __call__(self, name: str, values: np.ndarray) -> None:
            values[...] = np.arange(len(values))

    _, params = relay.testing.create_workload(net, Counting())
    assert params["w"].numpy().tolist() == [0, 1]
