"""The operator reference: an entry for every operator, with what it declares, escaped, and its types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from docutils.core import publish_parts
from docutils.parsers.rst import directives, roles
from myst_parser.parsers.docutils_ import Parser
from relay_book import operator_text
from relay_book.operators import TABLES, is_reference

from relay_explorer import ops as operators
from relay_explorer.ir.attrs import Attrs, attr
from relay_explorer.ir.expr import Call, var
from relay_explorer.ir.op import Op
from relay_explorer.ops.anchors import address, anchor
from relay_explorer.ops.arguments import Operand
from relay_explorer.ops.left_out import LEFT_OUT
from relay_explorer.ops.operator import FAMILIES, operator
from relay_explorer.ops.relation import IDENTITY
from relay_explorer.text import parse
from relay_explorer.typing import infer_types

ROOT = Path(__file__).parents[2]
NAMES = Op.list_op_names()
PAGES = {family: operator_text.family_page(family) for family in FAMILIES}
NASTY = "<script>alert(1)</script> | a_b_c *d* [x](javascript:alert(2)) ${y}$ ``` {z} <b> &amp; \\ # end."


def entry(name: str) -> str:
    """Return the text of an operator's entry."""
    page = PAGES[Op.get(name).family]
    start = page.index(f"({anchor(name)})=\n")
    following = page.find("\n(op-", start + 1)
    return page[start : following if following >= 0 else len(page)]


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_says_what_the_operator_declares(name: str) -> None:
    op, text = Op.get(name), entry(name)
    assert operator_text.plain(op.description) in text
    assert op.formula in text
    assert f"Level {op.level}." in text
    for field in op.attrs_class._fields.values() if op.attrs_class else ():
        assert f"| `{field.name}` |" in text
        assert operator_text.prose(field.doc) in text
    assert text.count("**Stricter than TVM.**") == bool(op.lenient_in_tvm)


@pytest.mark.parametrize("name", NAMES)
def test_the_types_that_are_shown_hold(name: str) -> None:
    text = entry(name)
    programs = re.findall(r"^```\{code-block\} text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    has_form = Op.get(name).canonical is not None
    assert len(programs) == 1 + has_form
    assert text.count("**Canonical form.**") == has_form
    for program in programs:
        if "meta[" not in program:  # the constants that stand in a section at the end are not shown
            assert str(infer_types(parse(program))["main"].checked_type).startswith("fn (")
    assert len({program.partition("{\n")[0] for program in programs}) == 1  # of the same type


def test_anchors_are_different_and_are_what_html_makes_of_them() -> None:
    anchors = [anchor(name) for name in NAMES]
    assert len(set(anchors)) == len(anchors)
    assert all(re.fullmatch(r"op-[a-z0-9-]+[a-z0-9]", match) for match in anchors)
    assert address(Op.get("nn.conv2d")) == "reference/operators_convolution.html#op-nn-conv2d"


def test_the_index_has_every_operator_and_the_list_every_one_left_out() -> None:
    rows = operator_text.index_table().splitlines()[2:]
    for name, row in zip(NAMES, rows, strict=True):
        assert f"(#{anchor(name)})" in row
    left_out = operator_text.left_out_list()
    assert all(name in left_out for name in LEFT_OUT)


def test_every_family_has_its_page_in_the_contents() -> None:
    contents = (ROOT / "_toc.yml").read_text("utf-8")
    listed = re.findall(r"book/reference/operators_(\w+)", contents)
    assert listed == list(FAMILIES)
    for family in FAMILIES:
        page = ROOT / "book" / "reference" / f"operators_{family}.md"
        assert page.read_text("utf-8") == f"# {operator_text.TITLES[family]}\n"
    index = (ROOT / "book" / "reference" / "operators.md").read_text("utf-8")
    assert sorted(re.findall(r"<!-- operators: (\w+) -->", index)) == sorted(TABLES)
    assert is_reference("book/reference/operators")
    assert not is_reference("book/reference/language")


class NastyAttrs(Attrs, key="tests.NastyAttrs"):
    text: str = attr("a|b`c`<i>", NASTY)


@pytest.fixture
def nasty() -> Iterator[Op]:
    declared = operator(
        "nasty<b>op", description=NASTY, formula="y = x", relation=IDENTITY, attrs=NastyAttrs,
        lenient_in_tvm=f"It accepted {NASTY}",
    )  # fmt: skip

    @declared
    def nasty_op(data: Operand, text: str = NASTY) -> Call:
        """Return the operand."""
        return operators.call("nasty<b>op", [data], text=text)

    yield Op.get("nasty<b>op")
    Op.unregister("nasty<b>op")


def test_what_an_operator_declares_shows_as_it_was_written(
    nasty: Op, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Sphinx, where a test has loaded it, registers directives that need its environment.
    monkeypatch.setattr(directives, "_directives", {})
    monkeypatch.setattr(roles, "_roles", {})
    x = var("x", shape=(2,))
    call = Call(nasty, [x], NastyAttrs())

    def build(data: object, text: str = "</code><script>") -> None:
        """Builds ``` a <script> call."""

    known = {"nasty<b>op": build}
    result = "\n".join(operator_text.entry(nasty, call, known))
    settings = {"myst_enable_extensions": ["dollarmath"], "report_level": 5}
    html = publish_parts(result, parser=Parser(), writer_name="html5", settings_overrides=settings)["body"]
    assert "<script" not in html
    assert "<b>" not in html
    assert "javascript:alert(2)" in html
    assert 'href="javascript' not in html
    observed = re.sub(r"<[^>]+>", "", html)
    shown = NASTY.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert observed.count(shown.removesuffix(".")) >= 3
