"""`tvm`'s names: each leads somewhere, and what is missing says what took its place."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from relay_explorer import _missing as missing
from relay_explorer import relay
from relay_explorer.compat import install, installed, tvm, uninstall
from relay_explorer.compat.namespace import Namespace
from relay_explorer.ir.errors import RelayError


@pytest.fixture
def hook() -> Iterator[None]:
    """Treat imports of this file as those of old code."""
    install()
    yield
    uninstall()


def test_every_name_leads_somewhere() -> None:
    places = [module for module in list(sys.modules.values()) if isinstance(module, Namespace)]
    assert len(places) > 50
    for module in places:
        for name in dir(module):
            assert getattr(module, name) is not None, f"{module.__name__}.{name}"


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("tvm.relay.expr:Call", relay.Call),
        ("tvm.relay.ty:TensorType", relay.TensorType),
        ("tvm.relay.adt:Match", relay.Match),
        ("tvm.relay.function:Function", relay.Function),
        ("tvm.relay.expr_functor:ExprMutator", relay.ExprMutator),
        ("tvm.relay.type_functor:TypeVisitor", relay.TypeVisitor),
        ("tvm.relay.op.nn:conv2d", relay.nn.conv2d),
        ("tvm.relay.op:nn", None),
        ("tvm.relay:parse_expr", relay.parse_expr),
        ("tvm.parser:parse_expr", relay.parse_expr),
        ("tvm.ir.module:IRModule", relay.IRModule),
        ("tvm.ir.transform:PassContext", relay.transform.PassContext),
        ("tvm.transform:Sequential", relay.transform.Sequential),
        ("tvm.tir:Any", relay.Any),
        ("tvm.error:TVMError", relay.RelayError),
    ],
)
def test_modules_of_old_code(hook: None, name: str, same: object) -> None:
    module, _, attribute = name.partition(":")
    result = getattr(importlib.import_module(module), attribute)
    assert result is same if same is not None else result.relu is relay.nn.relu


def test_an_alias_is_hidden_by_no_earlier_place() -> None:
    for module in [module for module in sys.modules.values() if isinstance(module, Namespace)]:
        for place in module._places:
            source, alias, shown = place.partition(" as ")
            if alias:
                path, _, original = source.partition(":")
                expected = getattr(importlib.import_module(f"relay_explorer.{path}"), original)
                assert getattr(module, shown) is expected, f"{module.__name__}.{shown}"


def test_passes_of_functions_and_of_modules_are_told_by_their_old_classes() -> None:
    @tvm.relay.transform.function_pass(opt_level=1)
    def same(function: relay.Function, _mod: relay.IRModule, _ctx: object) -> relay.Function:
        return function

    for step in (same, tvm.relay.transform.FoldConstant(), tvm.relay.transform.DeadCodeElimination()):
        assert isinstance(step, tvm.relay.transform.FunctionPass)
        assert isinstance(step, tvm.transform.FunctionPass)
    assert isinstance(tvm.relay.transform.PartialEvaluate(), tvm.transform.ModulePass)


def test_the_lists_of_mixed_precision_are_those_of_the_declarations(hook: None) -> None:
    precision = importlib.import_module("tvm.relay.transform.mixed_precision")
    assert "nn.conv2d" in precision.DEFAULT_ALWAYS_LIST
    assert {"reshape", "transpose", "cast"} <= set(precision.DEFAULT_FOLLOW_LIST)
    assert "exp" in precision.DEFAULT_NEVER_LIST
    assert precision.generic_follow_op(None, "float16")[0] == precision.MIXED_PRECISION_FOLLOW


def test_a_missing_name_says_what_took_its_place() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = tvm.relay.frontend.from_caffe
    assert str(caught.value) == (
        "tvm.relay.frontend.from_caffe is not in relay_explorer's tvm: there are importers for ONNX, "
        "PyTorch, TensorFlow, Keras, TFLite and MXNet: for another framework, convert the model to ONNX and "
        "use relay.frontend.from_onnx"
    )
    with pytest.raises(AttributeError, match=r"did you mean tvm\.relay\.concatenate"):
        _ = tvm.relay.concatenat


def test_a_missing_module_says_what_took_its_place(hook: None) -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        exec("import tvm.relay.frontend.caffe", {"__name__": "old"})
    assert caught.value.name == "tvm.relay.frontend.caffe"
    assert "convert the model to ONNX" in str(caught.value)
    with pytest.raises(ImportError, match=r"tvm\.autotvm\.template is not in .* measures several tilings"):
        exec("from tvm.autotvm import template", {"__name__": "old"})


def leads_somewhere(name: str) -> bool:
    """Whether old code finds something under that name. A module counts for nothing: it can be imported, and
    the remedy is for what it lacks.
    """
    place: object = tvm
    for part in name.split(".")[1:]:
        try:
            place = getattr(place, part)
        except AttributeError:
            return False
    return not isinstance(place, ModuleType)


def test_what_has_a_remedy_is_missing() -> None:
    assert leads_somewhere("tvm.relay.nn.relu")
    assert [name for name in missing.REMEDIES if leads_somewhere(name)] == []


def test_installing_twice_and_undoing_it_once() -> None:
    before = __import__, importlib.import_module
    install()
    install()
    assert installed()
    uninstall()
    assert (__import__, importlib.import_module) == before
    assert not installed()


def test_the_namespace_loads_nothing_heavy() -> None:
    code = "import sys\nfrom relay_explorer.compat import tvm\nprint('numpy' in sys.modules, tvm.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False 0.14.0"


def test_a_renderer_of_diagnostics_is_stored() -> None:
    diagnostics = importlib.import_module("relay_explorer.compat.tvm.ir.diagnostics")
    first = diagnostics.get_renderer()
    rendered: list[object] = []
    diagnostics.override_renderer(rendered.append)
    diagnostics.get_renderer().render("context")
    diagnostics.override_renderer(None)
    assert rendered == ["context"]
    check = diagnostics.SpanCheck()
    check.visit(relay.parse('#[version = "0.0.5"]\ndef @main(%x: float32) { exp(%x) }')["main"].body)
    with pytest.raises(RelayError, match="this Var has no span: `free_var %x"):
        check.visit(relay.var("x"))
    assert diagnostics.get_renderer() is first
