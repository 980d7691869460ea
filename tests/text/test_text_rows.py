"""The printed program as rows: what views rely on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from relay_explorer.ir import Call, Expr, IRModule, Let, Var, post_order
from relay_explorer.text import astext, parse, program_rows
from relay_explorer.text.rows import (
    BINDING,
    BLANK,
    BRANCH,
    CLOSE,
    HEADER,
    LET,
    LOCAL,
    OPERATOR,
    PARAM,
    RESULT,
    TYPE,
    lines,
)
from tests.text.random_programs import Programs

SOURCE = """
type L { C(float32, L), N }
def @main(%x: float32, %l: L, Primitive=1) -> float32 {
  let %y = exp(%x);
  %0 = match (%l) { C(%h, _) => %h, N => %y };
  if (less(%0, %y)) { add(%0, %y) } else { %0 }
}
"""
ROWS = [
    (TYPE, 0, "type L {", 3),
    (TYPE, 1, "C(float32, L),", -1),
    (TYPE, 1, "N,", -1),
    (CLOSE, 0, "}", -1),
    (BLANK, 0, "", -1),
    (HEADER, 0, "def @main(", 27),
    (PARAM, 1, "%x: float32,", -1),
    (PARAM, 1, "%l: L,", -1),
    (PARAM, 1, "Primitive=1", -1),
    (HEADER, 0, ") -> float32 {", -1),
    (LET, 1, "let %y = exp(%x);", -1),
    (BINDING, 1, "%0 = match (%l) {", 20),
    (BRANCH, 2, "C(", 16),
    (PARAM, 3, "%h, _", -1),
    (BRANCH, 2, ") => {", -1),
    (RESULT, 3, "%h", -1),
    (CLOSE, 2, "},", -1),
    (BRANCH, 2, "N => {", 19),
    (RESULT, 3, "%y", -1),
    (CLOSE, 2, "},", -1),
    (CLOSE, 1, "};", -1),
    (BINDING, 1, "%1 = less(%0, %y);", -1),
    (RESULT, 1, "if (%1) {", 24),
    (RESULT, 2, "add(%0, %y)", -1),
    (BRANCH, 1, "} else {", 26),
    (RESULT, 2, "%0", -1),
    (CLOSE, 1, "}", -1),
    (CLOSE, 0, "}", -1),
]


def test_kinds_depths_and_blocks() -> None:
    assert [(r.kind, r.depth, r.text, r.end) for r in program_rows(parse(SOURCE))] == ROWS


def test_rows_say_what_they_define() -> None:
    module = parse(SOURCE)
    main = module["main"]
    rows = {r.text: r.expr for r in program_rows(module)}
    let = main.body
    assert isinstance(let, Let)
    assert rows["def @main("] is main
    assert rows["%x: float32,"] is main.params[0]
    assert rows["let %y = exp(%x);"] is let.value
    assert rows["if (%1) {"] is let.body
    assert rows["%1 = less(%0, %y);"] is let.body.cond  # type: ignore[attr-defined]  # an If
    assert rows["add(%0, %y)"] is let.body.true_branch  # type: ignore[attr-defined]  # an If


def test_tokens_name_expressions() -> None:
    module = parse("def @main(%x: float32) { %0 = exp(%x); add(%0, 2f) }")
    binding, result = program_rows(module)[3:5]
    assert [(t.cls, t.text) for t in binding.tokens] == [
        (LOCAL, "%0"),
        (0, " = "),
        (OPERATOR, "exp"),
        (0, "("),
        (LOCAL, "%x"),
        (0, ")"),
        (0, ";"),
    ]
    call = module["main"].body
    assert isinstance(call, Call)
    named = {t.text: t.expr for t in (*binding.tokens, *result.tokens)}
    assert named["%0"] is call.args[0]
    assert named["exp"] is call.args[0]
    assert named["%x"] is module["main"].params[0]
    assert named["2f"] is call.args[1]
    assert named["add"] is call


def check(module: IRModule) -> None:
    rows = program_rows(module)
    text = astext(module, annotate=lambda expr: "")
    assert "\n".join(lines(rows)) == text.split("\n", 1)[1].split("\n#[metadata]")[0].rstrip("\n")
    for number, row in enumerate(rows):
        if row.end >= 0:
            assert number < row.end < len(rows)
            assert rows[row.end].depth == row.depth
            assert all(r.depth >= row.depth for r in rows[number : row.end])
        if row.kind == BINDING:
            assert row.tokens[0].expr is row.expr
    defined = [r.expr for r in rows if r.kind == BINDING]
    assert len(set(map(id, defined))) == len(defined)


@pytest.mark.parametrize("seed", range(25))
def test_rows_of_random_programs(seed: int) -> None:
    check(Programs(random.Random(seed)).module())


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "programs").glob("*.relay")), ids=lambda p: p.stem
)
def test_rows_of_the_golden_programs(path: Path) -> None:
    check(parse(path.read_text("utf-8")))


def test_every_call_has_a_row_of_its_own() -> None:
    module = parse("def @main(%x: float32) { exp(log(add(%x, sqrt(%x)))) }")
    owners: list[Expr | None] = [r.expr for r in program_rows(module) if r.kind in (BINDING, RESULT)]
    calls = [n for n in post_order(module["main"]) if isinstance(n, Call)]
    assert {id(o) for o in owners} == {id(c) for c in calls}


def test_every_expression_knows_its_place() -> None:
    source = "def @main(%x: float32) {\n  let %y = exp(%x);\n  (%y, 1f).0\n}"
    nodes = post_order(parse(source, "p.relay")["main"])
    spans = {f"{n.span}-{n.span.end_line}:{n.span.end_column}" for n in nodes if n.span is not None}
    assert spans == {
        "p.relay:1:1-4:2", "p.relay:1:11-1:22", "p.relay:2:3-3:13", "p.relay:2:7-2:9", "p.relay:2:12-2:19",
        "p.relay:3:3-3:11", "p.relay:3:3-3:13", "p.relay:3:8-3:10",
    }  # fmt: skip
    assert all(n.span is not None for n in nodes if isinstance(n, (Call, Let, Var)))
