"""Every construct, in the canonical print: what is read from it is printed back to the letter."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer.ir import Call, Function, GlobalVar, Match, Op, RefRead, Var, const, difference
from relay_explorer.text import astext, fromtext, parse, parse_expr, show
from relay_explorer.typing import infer_types

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.relay"), key=lambda p: p.stem)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_canonical_text_prints_back_to_the_letter(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    module = parse(source, path.name)
    assert astext(module) == source
    assert difference(module, parse(astext(module)), map_free_vars=True) is None


def body(text: str, params: str = "%x: float32, %y: float32, %c: bool") -> str:
    """Return the printed body of a function whose body is `text`."""
    lines = show(parse(f"def @main({params}) {{ {text} }}")).split("\n")
    return "\n".join(line.removeprefix("  ") for line in lines[1:-1])


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("%x + %y * %x - %y", "%0 = multiply(%y, %x);\n%1 = add(%x, %0);\nsubtract(%1, %y)"),
        ("%x * (%y + %x) / %y", "%0 = add(%y, %x);\n%1 = multiply(%x, %0);\ndivide(%1, %y)"),
        ("%x + 1f < %y == %c", "%0 = add(%x, 1f);\n%1 = less(%0, %y);\nequal(%1, %c)"),
        ("%x - %y - %x", "%0 = subtract(%x, %y);\nsubtract(%0, %x)"),
        ("%x >= %y", "greater_equal(%x, %y)"),
        ("%x <= %y", "less_equal(%x, %y)"),
        ("%x != %y", "not_equal(%x, %y)"),
        ("%x > %y", "greater(%x, %y)"),
        ("-%x", "negative(%x)"),
        ("- -%x * %y", "%0 = negative(%x);\n%1 = negative(%0);\nmultiply(%1, %y)"),
        ("-exp(%x)", "%0 = exp(%x);\nnegative(%0)"),
        ("%x -1f", "subtract(%x, 1f)"),
        ("- 1f", "-1f"),
        ("1.0", "1f"),
        ("1e3", "1000f"),
        ("7i32", "7"),
        ("exp(log(%x))", "%0 = log(%x);\nexp(%0)"),
        ("%x; exp(%y); %c", "let %_ = %x;\nlet %_1 = exp(%y);\n%c"),
        ("((((%x))))", "%x"),
        ("{ let %z = %x; { %z } }", "let %z = %x;\n%z"),
        ("exp((let %z = %x; %z))", "%0 = (\n  let %z = %x;\n  %z\n);\nexp(%0)"),
        ("if (%c) { %x } else { { %y } }", "if (%c) {\n  %x\n} else {\n  %y\n}"),
        ("/* a /* nested */ comment */ %x // and one to the end\n", "%x"),
        ("%x /* ty=float32 */ /* span=from_string:1:2 */", "%x"),
        ("(%x, %y,)", "(%x, %y)"),
        ("(%x, %y).1.0", "%0 = (%x, %y);\n%1 = %0.1;\n%1.0"),
        ("let %x = exp(%x); let %x = exp(%x); %x", "let %x1 = exp(%x);\nlet %x2 = exp(%x1);\n%x2"),
        ("%7 = exp(%x); %3 = add(%7, %7); %3", "%0 = exp(%x);\nadd(%0, %0)"),
        ('cast(%x, dtype=float16)', 'cast(%x, dtype="float16")'),
        ('cast(%x, dtype="f\\x6coat16")', 'cast(%x, dtype="float16")'),
        ("nn.softmax(%x, axis=-1)", "nn.softmax(%x)"),
        ("exp", "exp"),
    ],
)  # fmt: skip
def test_other_spellings_have_one_canonical_form(written: str, canonical: str) -> None:
    assert body(written) == canonical


@pytest.mark.parametrize(
    "source",
    [
        "def @main(%x: ref(float32)) { ref_read(%x) }",
        "def @main(%x: Ref[float32]) { ref_read(%x) }",
        '#[version = "0.0.5"] fn (%x: ref(float32)) { ref_read(%x) }',
        "free_var %x: ref(float32); ref_read(%x)",
    ],
)
def test_a_program_may_be_an_expression(source: str) -> None:
    main = fromtext(source)["main"]
    assert isinstance(main.body, RefRead)
    assert [str(p.type_annotation) for p in main.params] == ["ref(float32)"]


def test_scalars_are_tensors_of_rank_0() -> None:
    assert str(parse_expr("free_var %x: Tensor[(), int64]; %x").type_annotation) == "int64"  # type: ignore[attr-defined]


def test_a_branch_may_use_what_another_defined() -> None:
    """TVM's printer wrote a node that two branches share in the first of them only."""
    text = "def @main(%x: float32, %c: bool) { if (%c) { %0 = exp(%x); add(%0, %0) } else { %0 } }"
    branches = parse(text)["main"].body
    assert branches.true_branch.args[0] is branches.false_branch  # type: ignore[attr-defined]


def test_sharing_survives() -> None:
    call = parse_expr("free_var %x: float32; %0 = exp(%x); (%0, exp(%x), %0)")
    first, second, third = call.fields  # type: ignore[attr-defined]
    assert first is third
    assert first is not second


def test_definitions_are_added_to_a_module() -> None:
    library = parse("type L { N } def @one() { 1 }")
    module = parse("def @main() { (@one(), N) }", init_module=library)
    assert [v.name_hint for v in module.functions] == ["one", "main"]
    assert [v.name_hint for v in library.functions] == ["one"]
    assert module["main"].body.fields[0].op is library.get_global_var("one")  # type: ignore[attr-defined]


def test_an_expression_alone_may_name_functions() -> None:
    function = parse_expr("fn (%x: float32) { @f(%x) }")
    assert show(parse_expr(show(function))) == show(function)


def test_attributes_of_another_operator() -> None:
    """Passes make calls whose attributes are not of the operator's own class."""
    softmax = Op.get("nn.softmax").attrs_class
    assert softmax is not None
    x = Var("x")
    for callee in (Op.get("exp"), Op.get("nn.relu"), GlobalVar("f")):
        call = Call(callee, [x], softmax(axis=1))
        text = show(call)
        assert text.endswith('(%x, axis=1, attrs_type_key="relay.attrs.SoftmaxAttrs")')
        assert difference(call, parse_expr(text), map_free_vars=True) is None


def test_numpy_numbers_as_attributes() -> None:
    attrs = {"a": numpy.int64(3), "b": numpy.float32(0.5), "c": numpy.bool_(True)}
    assert show(Function([], const(1), attrs=attrs)) == "fn (a=3, b=0.5f, c=True) {\n  1\n}"


def test_annotations_stay_comments() -> None:
    x = Var("x")
    call = Call(Op.get("exp"), [Call(Op.get("log"), [x])])
    text = astext(call, annotate=lambda e: "a */ b /* c" if e is call else "")
    assert text.endswith("%0 = log(%x);\nexp(%0) /* a * / b / * c */")
    assert difference(call, parse_expr(text), map_free_vars=True) is None


def test_types_that_inference_found_are_printed() -> None:
    module = infer_types(parse("def @main(%x: Tensor[(2), float32]) { let %y = exp(%x); (%y, 1f, log(%y)) }"))
    assert show(module).split("\n") == [
        "def @main(%x: Tensor[(2), float32]) -> (Tensor[(2), float32], float32, Tensor[(2), float32]) {",
        "  let %y: Tensor[(2), float32] = exp(%x);",
        "  %0 = log(%y) /* ty=Tensor[(2), float32] */;",
        "  (%y, 1f, %0) /* ty=(Tensor[(2), float32], float32, Tensor[(2), float32]) */",
        "}",
    ]


def test_parts_of_a_program_print_alone() -> None:
    clauses = "C(%h, (%t, _)) => exp(log(%h)), N => 1"
    module = parse(f"type L[A] {{ C(A, L[A]), N }} def @f[A](%l: L[A]) {{ match (%l) {{ {clauses} }} }}")
    match = module["f"].body
    assert isinstance(match, Match)
    first, second = match.clauses
    assert show(first) == "C(%h, (%t, _)) => {\n  %0 = log(%h);\n  exp(%0)\n}"
    assert show(second) == "N => {\n  1\n}"
    assert show(first.lhs) == "C(%h, (%t, _))"
    assert show(module["f"].params[0].type_annotation) == "L[A]"
    assert (
        show(module.type_definitions[module.get_global_type_var("L")])
        == "type L[A] {\n  C(A, L[A]),\n  N,\n}"
    )
    assert show(module.get_global_var("f")) == "@f"
    with raises(snapshot("TypeError: the text format has no int")):
        show(1)


def test_printing_is_deterministic() -> None:
    source = PROGRAMS[0].read_text()
    assert len({astext(parse(source)) for _ in range(3)}) == 1
