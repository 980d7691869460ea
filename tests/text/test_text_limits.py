"""Long, deep and hostile programs: read, printed, or refused with a clear error, and soon."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from inline_snapshot import snapshot

from relay_explorer.ir import Function, If, Let, ParseError, Tuple, Var, const
from relay_explorer.text import parse, parse_expr, show

DEEP = 100_000
HEAD = "def @main(%x: float32, %c: bool) { "


@pytest.mark.parametrize(
    ("begin", "middle", "end"),
    [
        ("(", "%x", ")"),
        ("(", "%x", ",)"),
        ("exp(", "%x", ")"),
        ("{", "%x", "}"),
        ("-", "%x", ""),
        ("%x + ", "%x", ""),
        ("%x; ", "%x", ""),
        ("let %x = exp(%x); ", "%x", ""),
        ("", "%x", ".0"),
        ("ref(", "%x", ")"),
        ("/*", "*/ %x /*", "*/"),
    ],
    ids=[
        "parentheses",
        "tuples",
        "calls",
        "braces",
        "signs",
        "sums",
        "sequence",
        "lets",
        "fields",
        "references",
        "comments",
    ],
)
def test_deep_programs_are_read(begin: str, middle: str, end: str) -> None:
    if begin == "/*":
        begin, middle, end = "", "/*" * DEEP + "*/" * DEEP + "%x", ""
    parse(HEAD + begin * DEEP + middle + end * DEEP + " }")


@pytest.mark.slow
@pytest.mark.parametrize(("begin", "end"), [("exp(", ")"), ("let %x = exp(%x); ", "")], ids=["calls", "lets"])
def test_deep_programs_are_printed(begin: str, end: str) -> None:
    printed = show(parse(HEAD + begin * DEEP + "%x" + end * DEEP + " }"))
    assert printed.count("exp(") == DEEP


@pytest.mark.slow
@pytest.mark.parametrize(
    "deep",
    [
        "if (%c) { " * DEEP + "%x" + " } else { %x }" * DEEP,
        "fn (%y) { " * DEEP + "%x" + " }" * DEEP,
        "match (%x) { _ => " * 2 * DEEP + "%x" + " }" * 2 * DEEP,
        "exp(" * 1_000_000,
    ],
    ids=["if", "fn", "match", "calls without end"],
)
def test_what_is_nested_too_deeply_is_refused(deep: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(HEAD + deep + " }")
    assert caught.value.message == snapshot("the program is nested too deeply here")
    assert caught.value.span is not None
    assert caught.value.help == ("give inner expressions names: `%0 = …;` or `let %x = …;`",)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (f"def @main(%x: {'(' * DEEP}", snapshot("this type is nested more than 200 levels deep")),
        (f"def @main(%x: {'ref(' * DEEP}", snapshot("this type is nested more than 200 levels deep")),
        (f"def @main(a={'[' * DEEP}", snapshot("this attribute is nested more than 100 levels deep")),
        (f"def @main(a={'(' * DEEP}", snapshot("this attribute is nested more than 100 levels deep")),
        (
            f"type L {{ C(L) }} def @main(%x: L) {{ match (%x) {{ {'C(' * DEEP}",
            snapshot("this pattern is nested more than 200 levels deep"),
        ),
    ],
    ids=["tuple types", "reference types", "lists", "tuples", "patterns"],
)
def test_types_patterns_and_attributes_have_a_limit(source: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(source)
    assert caught.value.message == message


def test_nested_scopes_print_without_growing_quadratically() -> None:
    x, c = Var("x"), Var("c")
    body = x
    for _ in range(20_000):
        body = If(c, body, x)  # type: ignore[assignment]
    size = len(show(Function([x, c], body)))
    assert size < 20_000 * 1000  # with indentation to the full depth it would be 1.6 GB


def test_sharing_across_a_deep_chain_of_lets() -> None:
    """Where a shared node goes is found quickly even if its users are 20,000 scopes apart."""
    shared = [Tuple([]) for _ in range(200)]
    body = Tuple(shared)
    for number in range(20_000):
        body = Let(Var("v"), shared[number % 200], body)  # type: ignore[assignment]
    text = show(body)
    assert text.count(" = ();") == 200
    assert text.endswith("%2, %1, %0)")


def test_large_texts_are_refused_unread() -> None:
    with pytest.raises(ParseError) as caught:
        parse("(" * 50_000_000, "huge.relay")
    assert str(caught.value) == snapshot(
        "error: huge.relay: the program has 50,000,000 characters; the limit is 16,000,000 bytes\n"
        "help: give parse a larger max_bytes if it is meant to be so long"
    )


def test_the_limit_can_be_moved() -> None:
    with pytest.raises(ParseError, match="the limit is 10 bytes"):
        parse_expr("1 /* one */", max_bytes=10)
    assert show(parse_expr("1 /* one */", max_bytes=11)) == "1"


@pytest.mark.parametrize(
    "hostile",
    [
        "%x" + ".0" * DEEP + "a",
        "@a" + ".0" * DEEP,
        '"' + "\\" * DEEP,
        "[" + "1," * DEEP,
        "exp(%x, a=[" + "1, " * DEEP,
        "9" * DEEP,
        "#[metadata]\n" * DEEP,
        "/*/" * DEEP,
        "\n" * DEEP + "$",
    ],
)
def test_no_input_takes_quadratic_time(hostile: str) -> None:
    with pytest.raises(ParseError):
        parse(HEAD + hostile)


@pytest.mark.parametrize(
    "program",
    [
        "def @main(%x: int32) { %" + "a/" * 200_000 + "b }",
        "def @main(%" + "a/" * 100_000 + "c: int32) { %" + "a/" * 100_000 + "b }",
        "".join(f"free_var %v{n}: int32;\n" for n in range(40_000)) + "%v",
    ],
    ids=["name", "names", "free variables"],
)
def test_names_are_looked_up_in_linear_time(program: str) -> None:
    begin = time.process_time()
    with pytest.raises(ParseError, match="is not defined here"):
        parse(program)
    assert time.process_time() - begin < 4  # quadratic: over ten seconds


def test_ten_thousand_lines_in_seconds() -> None:
    lines = [
        f"  %{k + 1} = nn.conv2d(%{k}, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);"
        for k in range(10_000)
    ]
    source = "\n".join(["def @main(%x, %w) {", "  %0 = exp(%x);", *lines, "  %10000", "}"])
    module = parse(source)
    assert show(module).count("\n") == 10_002


def test_importing_the_package_loads_no_parser() -> None:
    heavy = "('lark', 'numpy', 'relay_explorer.text.parser', 'relay_explorer.text.printer')"
    code = f"import sys, relay_explorer.text; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_constant_needs_no_numpy() -> None:
    code = "import sys; from relay_explorer.ir import const; print(const(0.1), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{show(const(0.1))} False\n"
