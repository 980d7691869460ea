"""What the page's worker asks the package, and what it answers, without a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from relay_explorer.playground.description import LEFT_OUT, VIEWS, description
from relay_explorer.playground.session import MAX_TEXT, Session
from relay_explorer.views.registry import views

FRONTEND = Path(__file__).parents[2] / "frontend"
# Imports of what is left out fail, as in the page; the errors that this causes are printed.
SCRIPT = """
import json, re, sys
class LeftOut:
    def find_spec(self, name, path, target=None):
        package, _, inside = name.partition(".")
        if package == "relay_explorer" and re.match(PATTERN, inside.replace(".", "/")):
            raise ModuleNotFoundError(f"no module {name}", name=name)
sys.meta_path.insert(0, LeftOut())
from relay_explorer.playground.description import VIEWS
from relay_explorer.playground.session import Session
session = Session()
text = "def @main(%x: Tensor[(2, 2), float32]) { sum(tanh(%x)) }"
for view in sorted({*VIEWS} - {"source"}):
    request = {"text": text, "view": view, "options": {"passes": "FuseOps"}}
    for problem in json.loads(session.answer(json.dumps(request)))["problems"]:
        print(view, problem["message"])
"""
LAYER = """\
def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(3, 4), float32]) {
  let %y = nn.dense(%x, %w);
  nn.relu(%y) // done
}
"""


def ask(session: Session, text: object = LAYER, view: str = "types", **options: object) -> dict[str, Any]:
    answer = session.answer(json.dumps({"text": text, "view": view, "options": options}))
    result: dict[str, Any] = json.loads(answer)
    return result


def test_an_answer_has_the_view_and_what_the_editor_needs() -> None:
    answer = ask(Session())
    assert answer["view"]["view"] == "types"
    assert answer["problems"] == []
    assert answer["params"] == [["x", "Tensor[(1, 4), float32]"], ["w", "Tensor[(3, 4), float32]"]]
    tokens = answer["tokens"]
    words = {LAYER[a : a + n]: cls for a, n, cls in zip(tokens[::3], tokens[1::3], tokens[2::3])}
    assert words["def"] == 1
    assert words["%x"] == 2
    assert words["@main"] == 3
    assert words["nn.dense"] == 4
    assert words["float32"] == 5
    assert words["4"] == 6
    assert words["// done"] == 9


def test_offsets_of_tokens_count_as_javascript_does() -> None:
    text = '/* 𝛼𝛽 */ def @main() { "𝛾" }'
    tokens = ask(Session(), text)["tokens"]
    units = text.encode("utf-16-le")
    spelled = [units[2 * a : 2 * (a + n)].decode("utf-16-le") for a, n in zip(tokens[::3], tokens[1::3])]
    assert spelled == ["/* 𝛼𝛽 */", "def", "@main", '"𝛾"']


def test_a_syntax_error_has_its_place_and_no_view() -> None:
    answer = ask(Session(), "def @main(%x: float32) {\n  add(%x, %q)\n}")
    assert answer["view"] is None
    (problem,) = answer["problems"]
    assert problem["place"][0] == 2
    assert answer["tokens"]


def test_a_type_error_is_shown_and_watched() -> None:
    text = "def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }"
    answer = ask(Session(), text)
    assert answer["view"]["view"] == "types"
    (problem,) = answer["problems"]
    assert "do not broadcast" in problem["message"]
    assert problem["place"] == [1, 65, 1, 76]
    assert ask(Session(), text, "fusion")["view"] is None


def test_another_view_of_the_same_text_neither_parses_nor_colors_it_again() -> None:
    session = Session()
    ask(session)
    inference = session._inference
    answer = ask(session, view="ir")
    assert answer["view"]["view"] == "ir"
    assert answer["tokens"] == []
    assert session._inference is inference


def test_options_are_texts() -> None:
    answer = ask(Session(), view="pipeline", passes="ToANormalForm, FuseOps(max_depth=4)")
    assert answer["problems"] == []
    answer = ask(Session(), view="pipeline", passes="FuseOp")
    assert "FuseOps" in str(answer["problems"])
    assert ask(Session(), view="pipeline", passes="__import__('os').system('true')")["view"] is None


@pytest.mark.parametrize("example", description()["examples"], ids=lambda example: str(example["title"]))
def test_every_example_shows_its_view(example: dict[str, Any]) -> None:
    answer = ask(Session(), example["text"], example["view"], **example["options"])
    assert answer["view"]["view"] == example["view"]
    # Two of them are there for their error.
    assert bool(answer["problems"]) == (example["title"] in ("A type error", "A match with a gap"))


def test_every_view_is_offered_or_left_out_for_a_reason() -> None:
    assert {*VIEWS, *LEFT_OUT} == set(views())
    problem = ask(Session(), view="lowering")["problems"][0]
    assert "TVM" in problem["help"][0]


@pytest.mark.parametrize(
    "request_",
    [
        "",
        "[]",
        "{",
        "null",
        '{"text": 3}',
        '{"text": "x", "view": {}}',
        '{"text": "x", "view": "types", "options": 3}',
        '{"text": "def @main() { 1 }", "view": "partial", "options": {"limit": "1e9"}}',
        '{"text": "def @main(%x: int32) { %x }", "view": "evaluation", "options": {"args": [[], {}]}}',
        '{"file": "../../etc/passwd", "view": "ir", "options": {}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_request_is_answered(request_: str) -> None:
    session = Session()
    answer = json.loads(session.answer(request_))
    assert answer["view"] is None or answer["problems"] == []
    assert ask(session)["view"]["view"] == "types"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        "def @main() { " + "add(1, " * 5_000 + "1" + ")" * 5_000 + " }",
        "def @main() { zeros(shape=[1000000000, 1000000000], dtype=\"float32\") }",
        "def @main() { " + "9" * 10_000 + " }",
        "\0\1\2",
        "\ud800",
        "def @`</script><script>alert(1)</script>`() { 1 }",
        "x" * (MAX_TEXT + 1),
    ],
    ids=["parentheses", "calls", "huge tensor", "huge number", "control", "surrogate", "script", "long"],
)  # fmt: skip
@pytest.mark.parametrize("view", ["types", "ir", "evaluation"])
def test_hostile_programs_are_answered(text: str, view: str) -> None:
    session = Session()
    answer = ask(session, text, view)
    assert answer["view"] is not None or answer["problems"]
    assert "the package failed" not in str(answer["problems"])
    assert len(json.dumps(answer)) < 13_000_000
    assert ask(session)["view"]["view"] == "types"


ENDLESS = "def @main(%n: int32) -> int32 { %n + @main(%n + 1) }"


def test_an_endless_run_is_stopped_soon() -> None:
    answer = ask(Session(), ENDLESS, "evaluation", args=["0"])
    assert answer["problems"] == []
    assert "had not ended after" in answer["view"]["summary"]
    assert answer["seconds"] < 15


def test_an_error_is_told_once() -> None:
    text = "def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }"
    for view in sorted({*VIEWS} - {"source"}):
        assert len(ask(Session(), text, view, args=["", ""], passes="FuseOps")["problems"]) == 1, view


def test_no_view_needs_what_is_left_out_of_the_page() -> None:
    """The compiler and the importers are not in the page: every view is made without them."""
    left_out = re.search(r"LEFT_OUT =\s*/(.+?)/;", (FRONTEND / "playground.mjs").read_text("utf-8"))
    assert left_out is not None
    code = SCRIPT.replace("PATTERN", repr(left_out[1].replace("\\/", "/")))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [], done.stderr
