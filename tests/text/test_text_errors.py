"""What bad programs are told: the whole messages are in errors.txt, program first."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay_explorer.ir import ParseError
from relay_explorer.text import parse, parse_expr

CASES = [
    c.split("\n----\n") for c in (Path(__file__).parent / "errors.txt").read_text("utf-8").split("====\n")
]


@pytest.mark.parametrize(("program", "message"), CASES, ids=[c[1].split("\n")[0][:60] for c in CASES])
def test_message(program: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(program, "p.relay")
    assert str(caught.value) == message.rstrip("\n")


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize(
    ("binary", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "p.relay: byte 0 is not UTF-8: is this a binary file?"),
        ("\x7fELF\x02\x01", "p.relay:1:1: error: the character U+007F means nothing in a Relay program"),
        (
            b"def @main() { 1 }\x00",
            "p.relay:1:18: error: the character U+0000 means nothing in a Relay program",
        ),
    ],
)
def test_binary_files(binary: str | bytes, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(binary, "p.relay")
    text = str(caught.value)
    assert message in text
    assert text.replace("\n", "").isprintable()


def test_the_byte_order_mark_and_windows_line_ends_are_no_error() -> None:
    assert str(parse(b"\xef\xbb\xbfdef @main() {\r\n  1\r\n}\r\n")["main"].body) == "1"


def test_a_long_line_is_cut_around_the_caret() -> None:
    with pytest.raises(ParseError) as caught:
        parse("def @main() { (" + "1, " * 10_000 + "%x) }")
    message, excerpt, caret = str(caught.value).split("\n")[:3]
    assert message.endswith("`%x` is not defined here")
    assert len(excerpt) < 200
    assert excerpt[caret.index("^") :].startswith("%x")


def test_an_expression_ends_where_the_text_ends() -> None:
    with pytest.raises(ParseError, match="expected the end of the text after the expression, found `2`"):
        parse_expr("1 2")


def test_a_program_is_text() -> None:
    with pytest.raises(TypeError, match="a program is text, not NoneType"):
        parse(None)  # type: ignore[arg-type]


def test_a_name_that_the_module_has_already() -> None:
    library = parse("def @main() { 1 }")
    with pytest.raises(
        ParseError, match="`@main` is already defined, in the module that the program is added to"
    ):
        parse("def @main() { 2 }", init_module=library)
