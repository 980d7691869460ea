"""The language reference: its examples run, its grammar names what the parser reads, its claims are so."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.text import parse_expr, show
from tests.book.chapters import cells, executed, output, source

LANGUAGE, EXPRESSIONS, TYPES = (f"reference/language{part}" for part in ("", "_expressions", "_types"))
PAGES = (LANGUAGE, EXPRESSIONS, TYPES)

# What the grammar's rules are made of, in programs: each must be read, and come back from its print.
GRAMMAR = {
    "declaration": "type T[A] { C(A, T[A]), D } extern type E[A] def @main() { D[int32]() }",
    "function": "def @main[A](%x: A, %y, note=1) -> A { let %z: int32 = %y; %x }",
    "type_params": "def @main[A, B](%x: A, %y: B) { (%x, %y) }",
    "body": "free_var %f: int32; let %x = 1; %0 = exp(2f); (%x, %0); %0",
    "infix": "1 * 2 / 3 + 4 - 5 < 6 > 7 <= 8 >= 9 == 10 != 11",
    "suffix": "fn (%x) { -%x.0.1(2)[int8](3, axis=1).2 }",
    "atom": "if ({ True }) { ((1, 2f), (fn () { () })()) } else { ((ref_read(ref(1)), 2f), ()) }",
    "reference": "fn (%r: ref(int32)) { ref_write(%r, ref_read(%r)); (meta[relay.Constant][0], exp) }",
    "match": "type T { C(int32, T), D } def @main(%t: T) { match? (%t) { C(_, %x: T) => 1, D => 2 } }",
    "pattern": "fn (%p: (int32, (bool, float32))) { match (%p) { (_, (%a, %b)) => %b } }",
    "type": "fn (%a: Tensor[(2, ?, n, n + 1), int8], %b: (bool,), %c: fn [A](A) -> A, %d: ref(_)) { 1 }",
    "value": 'fn (a=1, b="s", c=None, d=[1], e=(1,), f={"k": True, 2: 3}, g=type((int8,)), h=bool) { 1 }',
}


def rules() -> list[str]:
    block = re.search(r"```\{code-block\} text\n(.*?)```", source(LANGUAGE), re.DOTALL)
    assert block is not None
    return re.findall(r"^(\w+) +=", block[1], re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_every_example_says_something(page: str) -> None:
    _, printed, shown = executed(page)
    for cell, text, value in zip(cells(page), printed, shown):
        answers = len(re.findall(r"^(?:example|result|print|refused)\(", cell, re.MULTILINE))
        assert len(text.splitlines()) >= answers, cell
        assert answers or value is not None or "\ndef " in cell or "try:" in cell, cell


@pytest.mark.parametrize("program", GRAMMAR.values(), ids=GRAMMAR)
def test_what_the_grammar_allows_is_read_and_printed(program: str) -> None:
    table = {"relay.Constant": [relay.const([1.0])]}
    read = relay.parse(program, init_meta_table=table)
    again = relay.parse(read.astext())
    assert relay.ir.structural_equal(read, again, map_free_vars=True)


def test_every_rule_is_used() -> None:
    defined = rules()
    block = source(LANGUAGE).split("```{code-block} text")[1].split("```")[0]
    words = re.sub(r'"[^"]*"', "", block)
    used = set(re.findall(r"[a-z_]+", re.sub(r"^\w+ +=", "", words, flags=re.MULTILINE)))
    assert len(defined) == len(set(defined))
    assert set(defined) - used == {"program"}
    assert used - set(defined) == {
        "version", "metadata", "global", "local", "graph", "name", "number", "string",
        "arithmetic", "with", "these",
    }  # fmt: skip


def test_the_keywords_of_the_text_are_in_the_grammar() -> None:
    from relay_explorer.text.names import KEYWORDS

    block = source(LANGUAGE).split("```{code-block} text")[1].split("```")[0]
    assert {word for word in KEYWORDS if f'"{word}"' not in block} == set()


def test_the_table_of_numbers() -> None:
    from relay_explorer.text.literals import SUFFIXES

    table = source(LANGUAGE).split("### Numbers")[1].split("### Strings")[0]
    named = set(re.findall(r"`[\d.e-]+([fiub][f\d]*)`", table)) | {"i"}
    assert named | {"f", "f32"} == set(SUFFIXES)


def test_what_the_page_says_of_evaluation() -> None:
    trace = """
        let %log = ref(0);
        let %mark = fn (%k: int32) { ref_write(%log, ref_read(%log) * 10 + %k); %k };
        let %make = fn () { %mark(1); fn (%a: int32, %b: int32) { %a } };
        %make()(%mark(2), %mark(3));
        ref_read(%log)
    """
    run = relay.create_executor("debug", mod=relay.IRModule.from_expr(parse_expr(trace)))
    assert run.evaluate()().numpy() == 123  # the callee, then the arguments from left to right
    late = "let %r = ref(1); %0 = ref_read(%r); ref_write(%r, 2); %0"
    run = relay.create_executor("debug", mod=relay.IRModule.from_expr(parse_expr(late)))
    assert run.evaluate()().numpy() == 2  # a node is evaluated where it is first needed


def test_a_known_size_and_an_unknown_one_fit_each_other() -> None:
    module = relay.parse("""
        def @three(%x: Tensor[(3), float32]) { %x }
        def @any(%x: Tensor[(?), float32]) { @three(%x) }
        def @main(%x: Tensor[(3), float32]) { @any(%x) }
    """)
    result = relay.create_executor("debug", mod=module).evaluate()(np.ones(3, "float32"))
    assert result.numpy().tolist() == [1, 1, 1]


def test_the_kinds_have_the_numbers_of_the_table() -> None:
    from relay_explorer.ir.types import KIND_NAMES

    table = source(TYPES).split("## Kinds")[1]
    for number, name in KIND_NAMES.items():
        assert re.search(rf"`{name}`.*\| [\d, ]*\b{number}\b", table), name
    assert output(TYPES, "tree = relay.parse") == "5 0\n"


def test_some_answers() -> None:
    assert output(LANGUAGE, 'example("""\n    def @even') == "(True, False) : (bool, bool)\n"
    assert output(EXPRESSIONS, 'example("""\n    def @sum_to') == "50005000 : int32\n"
    assert "no clause of the match handles `Green`" in output(EXPRESSIONS, 'refused("""\n    type Colour')
    assert "failed: operands could not be broadcast" in output(EXPRESSIONS, "module = relay.parse")
    assert output(TYPES, "def result") == "Tensor[(?, 4), float32]\nTensor[(2 * n, 4), float32]\n"


def test_the_precedences() -> None:
    assert show(parse_expr("1 == 2 < 3 + 4 * 5")).splitlines() == [
        "%0 = multiply(4, 5);", "%1 = add(3, %0);", "%2 = less(2, %1);", "equal(1, %2)",
    ]  # fmt: skip
