"""The view format: JSON and back, strings interned, and a checker that finds what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from inline_snapshot import snapshot

from relay_explorer.typing import record
from relay_explorer.views.format import Row, Token
from relay_explorer.views.ir.view import ir_view
from relay_explorer.views.types.view import types_view
from tests.support.views.check import check
from tests.views.programs import ILL_TYPED, LETS, SHARED, hostile, program


def ir() -> dict[str, Any]:
    return json.loads(ir_view(program(SHARED), "shared").to_json())  # type: ignore[no-any-return]  # JSON


def types(text: str = ILL_TYPED) -> dict[str, Any]:
    return json.loads(types_view(record(program(text)), "types").to_json())  # type: ignore[no-any-return]  # JSON


@pytest.mark.parametrize("view", [ir(), types(), types(LETS)], ids=["ir", "refused", "types"])
def test_what_python_makes_is_a_view(view: dict[str, Any]) -> None:
    assert check(view) == []


def test_the_header() -> None:
    view = ir()
    assert list(view)[:7] == ["format", "version", "view", "title", "summary", "strings", "program"]
    assert (view["format"], view["version"], view["view"], view["title"]) == (
        "relay-explorer",
        1,
        "ir",
        "shared",
    )


def test_strings_are_kept_once() -> None:
    view = ir()
    assert len(view["strings"]) == len(set(view["strings"]))
    assert view["strings"].count("%0") == 1


def test_rows_read_as_the_program() -> None:
    view = ir()
    kind, depth, tokens, node, end, *_ = view["program"]["rows"][3]
    assert "".join(view["strings"][s] for s in tokens[1::3]) == "%0 = add(%x, %b);"
    assert (kind, depth, end) == (3, 1, -1)
    assert view["strings"][view["nodes"][node][0]] == "add"


def test_a_rows_text() -> None:
    assert Row(3, 1, (Token(2, "%0"), Token(0, " = "), Token(2, "%x"))).text == "%0 = %x"


def test_no_string_breaks_an_encoder() -> None:
    module = hostile()
    module["half \ud800"] = module[module.get_global_vars()[0]]
    ir_view(module, "title \udfff").to_json().encode("utf-8")


def _set(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(view: dict[str, Any]) -> None:
        *way, last = [int(p) if p.lstrip("-").isdigit() else p for p in path.split(".")]
        at: Any = view
        for step in way:
            at = at[step]
        at[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("version", 2, snapshot(["not a view of relay-explorer, version 1"])),
        ("view", "kernel", snapshot(["an unknown view: 'kernel'"])),
        ("title", "", snapshot(["title: must be a text"])),
        ("strings.0", 3, snapshot(["strings: must be texts"])),
        ("program.rows.3.0", 10, snapshot(["rows[3].kind: 10 is none of the 10"])),
        ("program.rows.3.3", 99, snapshot(["row 3: node: 99 is not an index into 5"])),
        ("program.rows.3.4", 2, snapshot(["row 3: ends at 2, before it starts"])),
        (
            "families.0.1",
            "star",
            snapshot(["families[0].shape: 'star' is none of the 8"]),
        ),
        (
            "families.0.2",
            "mauve",
            snapshot(["families[0].hue: 'mauve' is none of the 10"]),
        ),
        ("nodes.0.9", 7, snapshot(["nodes[0].group: 7 is not an index into 1 groups"])),
        ("nodes.0.6", -1, snapshot(["nodes[0].flops: -1 is not a number that is at least 0"])),
        ("nodes.0.6", 1.5, snapshot(["nodes[0].flops: 1.5 is not a number that is at least 0"])),
        ("nodes.0.10", 9, snapshot(["node 0: says 9 uses, and has 1 edges"])),
        ("edges.0", 50, snapshot(["edges[0].source: 50 is not an index into 5 nodes"])),
        ("groups.0.1", 0, snapshot(["groups[0].parent: 0 is not an index into 0 groups"])),
        ("groups.0.3", -1, snapshot(["groups[0].last: -1 is not an index into 7 rows"])),
        ("totals.nodes", 4, snapshot(["totals: counts other nodes than there are"])),
    ],
)
def test_what_is_wrong_with_an_ir_view(path: str, value: object, problem: list[str]) -> None:
    view = ir()
    _set(path, value)(view)
    assert check(view) == problem


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("vars.0.1", 44, "variables[0].row: 44 is not an index into 5 rows"),
        ("rels.0.3", [0, 9], "relations[0].variables[1]: 9 is not an index into 3 variables"),
        ("steps.1.0", 8, "steps[1].mark: 8 is none of the 7"),
        ("steps.1.3", [1], "steps[1].because[0]: 1 is not an index into 1 steps"),
        ("steps.0.4", [["z", 1]], "steps[0].changes[0]: unknown change ['z', 1]"),
        ("steps.0.4", [["u", 0, 9]], "steps[0].changes[0].second: 9 is not an index into 3 variables"),
        ("steps.0.2", [], "steps[0].say: an empty sentence"),
        ("conflict.step", 40, f"conflict.step: 40 is not an index into {len(types()['steps'])} steps"),
    ],
)
def test_what_is_wrong_with_a_types_view(path: str, value: object, problem: str) -> None:
    view = types()
    _set(path, value)(view)
    assert problem in check(view)


def test_blocks_do_not_cross() -> None:
    view = ir()
    view["program"]["rows"][0][4] = 5
    view["program"]["rows"][3][4] = 6
    assert check(view) == snapshot(["row 3: its block, to 6, crosses the end of another"])


def test_a_sentence_has_all_its_arguments() -> None:
    view = types()
    view["strings"].append("{0} and {9}")
    view["steps"][0][2][0] = len(view["strings"]) - 1
    assert any("does not fit its arguments" in p for p in check(view))
