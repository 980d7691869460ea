"""The program's rows: what they say, and which expression stands where."""

from __future__ import annotations

from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer.ir import Call, Function, Let, Op, Tuple, post_order, var
from relay_explorer.typing import infer_types
from relay_explorer.views.rows import program_rows
from tests.views.programs import LETS, SHARED, TREES, program


def shown(text: str) -> list[str]:
    rows = program_rows(program(text)).rows
    return ["  " * row.depth + row.text + (f"  [{row.end}]" if row.end >= 0 else "") for row in rows]


def test_bindings_have_rows_of_their_own() -> None:
    assert shown(SHARED) == [
        "def @main(  [6]",
        "  %x: Tensor[(3, 4), float32],",
        "  %b: Tensor[(4), float32]) {",
        "  %0 = add(%x, %b);",
        "  %1 = tanh(%0);",
        "  multiply(%1, %0)",
        "}",
    ]


def test_blocks_name_their_last_row() -> None:
    assert shown(LETS) == [
        "def @main(  [18]",
        "  %x: Tensor[(2), float32],",
        "  %c: bool) {",
        "  let %f = fn (  [7]",
        "    %a) {",
        "    %0 = tanh(%a);",
        "    add(%0, %a)",
        "  };",
        "  let %y = if (%c) {  [11]",
        "    let %z = exp(%x);",
        "    add(%z, %x)",
        "  } else {  [13]",
        "    %x",
        "  };",
        "  let %r = ref(%y);",
        "  %1 = %f(%x);",
        "  let %u = ref_write(%r, %1);",
        "  ref_read(%r)",
        "}",
    ]


def test_pattern_variables_have_rows_of_their_own() -> None:
    rows = shown(TREES)
    assert "      %l," in rows
    assert "      %r) => {" in rows


def test_every_expression_has_a_row_and_what_is_bound_a_name() -> None:
    module = program(LETS)
    program_ = program_rows(module)
    main = module["main"]
    for node in post_order(main):
        if not isinstance(node, (Let, Op)):
            assert 0 <= program_.row(node) < len(program_.rows)
    assert program_.name(main) == "@main"
    lets = {n.var.name_hint: n for n in post_order(main) if isinstance(n, Let)}
    assert program_.name(lets["f"].value) == "%f"
    assert program_.row(lets["f"]) == program_.row(lets["f"].var) == program_.row(lets["f"].value) == 3
    assert program_.defines(3) is lets["f"].value
    tanh = next(n for n in post_order(main) if isinstance(n, Call) and str(n.op) == "tanh")
    assert program_.name(tanh) == "%0"


def test_rows_have_the_inferred_types_of_their_values() -> None:
    module = program(SHARED)
    types = [row.type for row in program_rows(module).rows]
    assert types == snapshot(
        [
            "",
            "Tensor[(3, 4), float32]",
            "Tensor[(4), float32]",
            "Tensor[(3, 4), float32]",
            "Tensor[(3, 4), float32]",
            "Tensor[(3, 4), float32]",
            "",
        ]
    )
    assert [row.type for row in program_rows(infer_types(module)).rows] == types
    assert {row.type for row in program_rows(module, {}).rows} == {""}


def test_rows_of_an_ill_typed_program_have_no_types() -> None:
    module = program("def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }")
    assert {row.type for row in program_rows(module).rows} == {""}


def test_what_is_not_in_the_program_has_no_row() -> None:
    assert program_rows(program(SHARED)).row(var("stranger")) == -1


def test_a_result_that_only_names_a_value_defines_nothing() -> None:
    x = var("x", shape=(2,))
    rows = program_rows(Function([x], x))
    assert [rows.defines(i) for i in range(len(rows.rows))].count(x) == 1
    assert rows.row(x) == 1


def test_long_lists_of_parameters_close_on_a_row_of_their_own() -> None:
    params = [var(f"p{i}", shape=(2,)) for i in range(9)]
    rows = program_rows(Function(params, Tuple(params))).rows
    assert [r.text for r in rows[9:11]] == ["%p8: Tensor[(2), float32]", ") {"]
    assert rows[0].end == len(rows) - 1


def test_too_deep_a_program_is_an_error() -> None:
    x = var("x", shape=(2,))
    body = x
    for _ in range(200_000):
        body = Call(Function([], body), [])  # type: ignore[assignment]  # any expression
    with raises(snapshot("RelayError: error: the program is nested too deeply to be shown")):
        program_rows(Function([x], body))
