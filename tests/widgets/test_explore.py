"""What `explore` takes, and what it gives."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from relay_explorer import Explorer, explore, models, relay
from relay_explorer.explorer import LARGEST
from relay_explorer.ir import Expr, Function, ParseError, RelayError
from relay_explorer.text import parse
from relay_explorer.transform import FuseOps
from relay_explorer.typing import record
from relay_explorer.views import picture
from relay_explorer.views.registry import ViewError, views
from tests.support.views.check import check
from tests.widgets.programs import SMALL

X = relay.var("x", shape=(2, 3))


@pytest.mark.parametrize(
    "thing",
    [
        parse(SMALL),
        SMALL,
        Function([X], relay.tanh(X)),
        relay.tanh(X),
        relay.split(X, 3, axis=1),
        record(parse(SMALL)),
    ],
    ids=["module", "text", "function", "expression", "several results", "inference"],
)
@pytest.mark.parametrize("view", ["ir", "types"])
def test_what_it_takes(thing: object, view: str) -> None:
    result = explore(thing, view=view)
    assert result.view.kind == view
    assert check(json.loads(result.to_json())) == []
    assert result.to_dict() == json.loads(result.to_json())


def test_an_inference_is_shown_as_one() -> None:
    assert explore(record(parse(SMALL))).view.kind == "types"
    assert explore(SMALL).view.kind == "ir"


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "small.relay"
    path.write_text(SMALL)
    result = explore(path)
    assert result.view.title == "small"
    assert result.name.startswith("small-ir")


@pytest.mark.parametrize("thing", [None, 3, [1], {"a": 1}, b"def", Explorer])
def test_what_it_does_not_take(thing: object) -> None:
    with pytest.raises(TypeError) as caught:
        explore(thing)
    assert str(caught.value).startswith(
        "explore takes a module, a function or another expression, "
        "an inference (relay_explorer.typing.record), an evaluation (relay_explorer.execute.record), "
        "a quantization (relay_explorer.quantize.trace), "
        "a program's text, the path of a file with a program or a model, a list of modules to compare, "
        "or a model of ONNX, PyTorch or Keras; this is a"
    )


def test_the_name_of_a_model_is_no_program() -> None:
    with pytest.raises(ParseError) as caught:
        explore("resnet50")
    assert caught.value.help[-1] == 'a string is parsed as a program; the model is models.load("resnet50")'


def test_the_name_of_a_file_is_no_program() -> None:
    with pytest.raises(ParseError) as caught:
        explore("programs/mine.relay")
    assert "pass a pathlib.Path for a file" in caught.value.help[-1]


def test_text_that_is_no_program_is_refused_with_its_place() -> None:
    with pytest.raises(ParseError, match="from_string:3:"):
        explore("\ndef @main(\n%x: float32 { %x }")


def test_an_ill_typed_program_is_shown() -> None:
    text = "def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }"
    assert "not well typed" in explore(text).view.summary
    assert "The program is rejected" in explore(text, view="types").view.summary


def test_too_large_a_program_is_refused_at_once() -> None:
    y: Expr = X
    for _ in range(LARGEST):
        y = relay.tanh(y)
    with pytest.raises(
        RelayError, match=r"the program has 60,00\d expressions, but an explorer shows at most 60,000"
    ):
        explore(Function([X], y))


def test_an_unknown_view() -> None:
    with pytest.raises(ValueError, match="there is no view 'kernels': views are 'ir', 'compare', 'costs'"):
        explore(SMALL, view="kernels")


def test_an_option_that_a_view_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="the view 'ir' has no option `passes`") as caught:
        explore(SMALL, view="ir", passes=[FuseOps()])
    assert isinstance(caught.value, ViewError)
    assert caught.value.help[0] == "'compare', 'pipeline' have it"
    with pytest.raises(ViewError, match="'fusion' has no option `limit`") as caught:
        explore(SMALL, view="fusion", limit=3)
    assert caught.value.help[0] == "'evaluation', 'machine', 'partial' have it"
    with pytest.raises(ViewError, match="there is no view 'fusoin'") as caught:
        explore(SMALL, view="fusoin")
    assert list(caught.value.help) == ["did you mean `fusion`?"]


def test_every_view_says_what_it_takes() -> None:
    for kind in views().values():
        assert kind.help
        assert set(kind.option_names()) <= set(inspect.signature(explore).parameters), kind.name
    assert {option.name: option.default for option in views()["evaluation"].options} == {
        "args": (),
        "limit": None,
    }


def test_an_input_that_a_view_does_not_show_is_refused() -> None:
    class Kernel:
        """Its name is all that is asked."""

    with pytest.raises(ViewError, match="the view 'types' does not show a Kernel") as caught:
        explore(Kernel(), view="types")
    assert list(caught.value.help) == ["the view that can: lowering"]


@pytest.mark.parametrize("view", ["evaluation", "machine"])
def test_a_run_without_arguments_says_how_to_give_them(view: str) -> None:
    with pytest.raises(RelayError, match="`@main` expects 1 argument, got 0") as caught:
        explore("def @main(%x: float32) { %x }", view=view)
    assert caught.value.help[0] == "they are %x: explore(…, args=[…])"


def test_costs_are_those_of_the_calls() -> None:
    shown = explore(models.load("mlp"), view="costs")
    assert shown.view.summary.startswith("6 calls: 407,100 FLOPs")
    assert check(shown.to_dict()) == []
    assert "50 FLOPs, 80 bytes" in picture.svg(shown.view)
    assert explore("def @main(%x: float32) { %x }", view="costs").view.summary.startswith(
        "The program calls no operator"
    )


def test_names() -> None:
    assert explore(SMALL, name="ch12-mlp").name == "ch12-mlp"
    with pytest.raises(ValueError, match="use letters, digits, `-` and `_`"):
        explore(SMALL, name="chapter 12")
    first, second = explore(SMALL, title="The Same"), explore(SMALL, title="The Same")
    assert first.name != second.name
    assert second.name.startswith("the-same-ir")


@pytest.mark.parametrize("given", ["step=3&sel=2", "#rx-cover:step=3&sel=2"])
def test_a_state_with_and_without_its_address(given: str) -> None:
    assert explore(SMALL, view="types", state=given).state == "step=3&sel=2"


def test_the_summary_is_what_a_terminal_shows() -> None:
    text = repr(explore(models.load("mlp"), title="an MLP"))
    assert text == (
        "<Explorer of 'an MLP' (ir): @main: 6 calls, 203,530 parameters, 407,100 floating-point operations.>"
    )


def test_saving(tmp_path: Path) -> None:
    result = explore(SMALL, title='<b>"A & B"</b>')
    path = result.save(tmp_path / "page")
    assert path == tmp_path / "page.html"
    text = path.read_text("utf-8")
    assert text == result.to_html()
    assert "<title>&lt;b&gt;&quot;A &amp; B&quot;&lt;/b&gt;</title>" in text
    assert result.save(str(tmp_path / "other.htm")) == tmp_path / "other.htm"


def test_saving_without_a_browser(tmp_path: Path) -> None:
    result = explore("def @main(%x: Tensor[(2), float32]) { let %a = exp(%x); tanh(%a) }", title="=1+1")
    assert result.save(tmp_path / "a.svg").read_text("utf-8").startswith("<svg ")
    assert json.loads(result.save(tmp_path / "a.json").read_text("utf-8"))["title"] == "=1+1"
    assert result.save(tmp_path / "a.txt").read_bytes().decode() == (
        "def @main(\n  %x: Tensor[(2), float32]) {\n  let %a = exp(%x);\n  tanh(%a)\n}\n"
    )
    table = result.save(tmp_path / "a.csv").read_bytes().decode("utf-8-sig").split("\r\n")
    assert table[0] == "row,depth,kind,program,name,operator,type,function,note,imported from"
    assert table[3].startswith('2,1,let,let %a = exp(%x);,%a,exp,"Tensor[(2), float32]",\'@main,')
    with pytest.raises(RelayError, match=r"a \.png file is drawn by a browser"):
        result.save(tmp_path / "a.png")
    with pytest.raises(RelayError, match=r"cannot be saved as \.docx"):
        result.save(tmp_path / "a.docx")


def test_the_package_is_light_until_it_is_used() -> None:
    code = (
        "import sys, relay_explorer; "
        "heavy = {'numpy', 'lark', 'networkx', 'anywidget', 'traitlets', 'IPython', 'tvm', 'json', 'html'}; "
        "print(sorted(heavy & set(sys.modules)), 'relay_explorer.ir' in sys.modules); "
        "relay_explorer.explore('def @main(%x: float32) { tanh(%x) }').to_html(); "
        "print(sorted({'numpy', 'networkx', 'anywidget', 'traitlets', 'IPython', 'tvm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[] False", "[]"]
