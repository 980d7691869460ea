"""Chapters 6 and 7: their cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat import tvm
from relay_explorer.execute import list_items, record
from relay_explorer.models.tree_lstm import phrase
from tests.book.chapters import BOOK, explorers, names, output, source

PAGES = ("ch06_control_flow", "ch07_lists_trees_matching")


@pytest.mark.parametrize("page", PAGES)
class TestPage:
    def test_explorers_show_themselves_as_a_page_needs_them(self, page: str) -> None:
        assert len(explorers(page)) == source(page).count("relay_explorer.explore(")
        for name, explorer in explorers(page).items():
            assert name.startswith(page[:4] + "-")
            assert 'class="relay-explorer"' in explorer._repr_html_()
            assert len(json.dumps(explorer.to_dict())) < 200_000


class TestControlFlow:
    page = "ch06_control_flow"

    def test_five_iterations_are_wrong_for_two_messages_and_fifty_for_none(self) -> None:
        five, fifty = re.findall(r"\[(.*)\]", output(self.page, "from relay_explorer import relay"))
        assert [wrong == "'0.000'" for wrong in five.split(", ")] == [True, False, False]
        assert fifty == "'0.000', '0.000', '0.000'"

    def test_fifty_iterations_are_ten_times_what_the_easy_message_needs(self) -> None:
        assert "I love it!     5 iterations" in output(self.page, "import numpy as np")

    def test_the_program_does_what_the_python_loop_does(self) -> None:
        there = re.findall(r"(\d+) iterations", output(self.page, "import numpy as np"))
        here = re.findall(r"(\d+) iterations, True", output(self.page, "model = "))
        assert there == here

    def test_the_program_has_one_dense(self) -> None:
        assert names(self.page)["SETTLE"].count("nn.dense") == 1

    def test_a_step_as_a_closure(self) -> None:
        assert output(self.page, 'REPEAT = """') == "equal to the unrolled program: True\n"
        assert output(self.page, "adder = ") == "<fn (%b)> → 42\n"

    def test_stack_depth(self) -> None:
        assert output(self.page, 'stack_depth("""\ndef @main(%n: int32) -> int32 {') == (
            "calls: 1000, frames: 1001\ncalls: 1000, frames: 1\n"
        )

    def test_text_and_python_give_one_loop(self) -> None:
        assert tvm.ir.structural_equal(names(self.page)["built"], names(self.page)["module"]["settle"])

    def test_answers(self) -> None:
        both = output(self.page, "def attempt")
        assert both.startswith("0\n")
        assert "an integer is divided by zero" in both
        assert output(self.page, 'attempt("""\ndef @main(%n: int32) {\n  let') == "2\n"
        assert output(self.page, 'stack_depth("""\ndef @main(%n: int32) -> bool') == (
            "calls: 20001, frames: 1\n"
        )
        assert "calls are nested 10,000 deep" in output(self.page, "from relay_explorer.execute import inter")
        assert "a condition is a `bool`" in output(self.page, "two = ")

    def test_the_limit_is_put_back(self) -> None:
        names(self.page)
        from relay_explorer.execute import interpreter

        assert interpreter.MAX_STACK_DEPTH == 1_000_000
        assert "The interpreter stops at a million nested calls" in source(self.page)

    def test_answer_of_the_exercise(self) -> None:
        (solution,) = re.findall(
            r"Show a solution\n```\{code-block\} text\n(.*?)```", source(self.page), re.S
        )
        plain, quick = (relay.parse("def" + text) for text in solution.split("def")[1:])
        slow = record(plain, np.int32(15))
        fast = record(quick, np.int32(15), np.int32(0), np.int32(1))
        assert slow.totals.calls == 1972
        assert slow.totals.deepest == 15
        assert (fast.totals.calls, fast.totals.deepest) == (15, 1)
        run = relay.create_executor(mod=quick).evaluate()
        assert run(15, 0, 1).numpy() == relay.create_executor(mod=plain).evaluate()(15).numpy() == 610


class TestLists:
    page = "ch07_lists_trees_matching"

    def test_the_problem(self) -> None:
        assert "the recursion does not end" in output(self.page, "import numpy as np")

    def test_the_forgotten_form(self) -> None:
        assert "`Cons(_, Nil)`" in output(self.page, "def show")

    def test_a_shared_leaf_counts_twice(self) -> None:
        assert output(self.page, "run = ").endswith("has 3 values\n")

    def test_folds(self) -> None:
        assert output(self.page, "folds = ") == "-6 2 Cons(1, Cons(4, Cons(9, Nil)))\n"
        assert (
            "From the left the fold computes ((0 − 1) − 2) − 3, and from the right 1 − (2 − (3 − 0))"
            in source(self.page)
        )

    def test_the_table_of_the_prelude(self) -> None:
        table = re.findall(r"^\| (`[@S].*?) \| ", source(self.page), re.M)
        named = [name for row in table for name in re.findall(r"@(\w+)\(", row)]
        prelude = relay.prelude.Prelude().mod
        assert len(named) == 15
        assert [name for name in named if prelude.get_global_var(name) is None] == []

    def test_the_table_of_patterns(self) -> None:
        patterns = ["%x", "_", "Cons(%x, _)", "Cons(%x, Cons(%y, _))"]
        pieces = ["(%a, Nil)", *patterns]
        for pattern in pieces:
            assert f"| `{pattern}` |" in source(self.page)
            data = "(1, %l)" if pattern.startswith("(") else "%l"
            text = f"def @main(%l: List[int32]) {{ match ({data}) {{ {pattern} => 1, _ => 2 }} }}"
            relay.transform.InferType()(relay.parse(text, init_module=relay.prelude.Prelude().mod))

    def test_the_biases_are_the_difference_to_chapter_1(self) -> None:
        (count,) = re.findall(r"^(\d+) weights", output(self.page, "from math import prod"))
        assert int(count) == names("ch01_phone")["total"] + 300 + 750 + 5
        assert output(self.page, "from math import prod").count("(1, 5) 1.000") == 3

    def test_the_network_can_spell(self) -> None:
        assert (
            output(self.page, "from relay_explorer.models.char_rnn import char_rnn_writer")
            == " relay relay relay r\n"
        )

    def test_answers(self) -> None:
        read = output(self.page, "from relay_explorer.models.char_rnn import encode\n")
        assert read == "dense layers: 8\nframes: 3\nlanguages: (1, 18)\n"
        assert "`(Some(_), None)`" in output(self.page, 'show("""\ndef @either')
        assert "Counter({'encode': 7, 'word': 4, 'pair': 3, 'main': 1})" in output(
            self.page, "from collections"
        )
        assert output(self.page, 'greedy = """') == "well typed\n0\n"
        assert "no clause matches Nil" in output(self.page, "try:\n    run(function")
        assert "must be `List[int32]`" in output(self.page, 'show("def @main() { Cons')
        assert output(self.page, 'module = relay.parse(\n    "def') == "Cons(Some(1), Cons(Some(2), Nil))\n"
        assert "field 0 of `Word`, in field 0 of `Pair`, in field 1 of `Pair`" in output(
            self.page, "_, word, pa"
        )

    def test_the_share_of_the_operators_is_that_of_the_benchmark(self) -> None:
        measured = (BOOK.parent / "benchmarks" / "interpreter.md").read_text("utf-8")
        tree, rnn = re.findall(r"^\| NumPy's kernels .* (\d+%) \|$", measured, re.M)
        assert f"{rnn} of the interpreter's time in the character RNN and for {tree}" in source(self.page)

    def test_a_tree_of_64_words_is_127_products(self) -> None:
        namespace = names(self.page)
        sentence: Any = "bad"
        for _ in range(6):
            sentence = (sentence, sentence)
        value = phrase(namespace["small"], sentence, {"bad": [0, 1]})
        evaluation = record(namespace["small"], value, *namespace["weights"].values(), limit=100_000)
        functions = [a.code.function for a in evaluation.activations]
        assert sum(functions.count(namespace["small"][name]) for name in ("word", "pair")) == 127

    def test_answer_of_the_exercise(self) -> None:
        namespace = names(self.page)
        (solution,) = re.findall(
            r"Show a solution\n```\{code-block\} text\n(.*?)```", source(self.page), re.S
        )
        init = relay.parse("", init_module=namespace["small"])
        init.import_from_std("prelude.rly")
        module = relay.parse(solution, init_module=init)
        run = relay.create_executor(mod=module).evaluate
        one, two, three, four = (np.full(2, k) for k in range(1, 5))
        value = phrase(module, ((one, (two, three)), four))
        assert run(module.get_global_var("depth"))(value).numpy() == 3
        nil = namespace["make_list"](module, [])
        vectors = list_items(run(module.get_global_var("words"))(value, nil))
        assert [int(v.numpy()[0, 0]) for v in vectors] == [1, 2, 3, 4]
        _, single, group = module.get_type("Sentence")
        make = namespace["Value"]
        leaf = make(single.tag, [np.ones((1, 2), "float32")], single)
        nested = leaf
        for size in (2, 3):
            parts = namespace["make_list"](module, [nested] * size)
            nested = make(group.tag, [parts], group)
        assert run(module.get_global_var("count"))(nested).numpy() == 6


# What a link into an explorer promises to show: what the step's sentence begins with.
LINKS = {
    ("ch06-waiting", 5): "{0} is called",
    ("ch06-waiting", 21): "{0} is called",
    ("ch06-ahead", 6): "{0} is called",
    ("ch07-total", 2): "matches",
    ("ch07-total", 8): "matches",
    ("ch07-sentence", 3): "matches",
    ("ch07-sentence", 5): "matches",
    ("ch07-sentence", 7): "matches",
    ("ch07-sentence", 32): "@pair",
}


@cache
def views() -> dict[str, dict[str, Any]]:
    return {name: e.to_dict() for page in PAGES for name, e in explorers(page).items()}


def sentence_of(name: str, step: int) -> str:
    view = views()[name]
    template, *arguments = (view["strings"][word] for word in view["steps"][step - 1][3])
    return str(template) + "".join(arguments)


def test_links_into_explorers_are_these() -> None:
    matches = [link for page in PAGES for link in re.findall(r"\(#rx-([\w-]+):step=(\d+)\)", source(page))]
    assert {(name, int(number)) for name, number in matches} == set(LINKS)
    assert sum(source(page).count("#rx-") for page in PAGES) == len(matches)


@pytest.mark.parametrize(("link", "promised"), LINKS.items(), ids=str)
def test_a_link_leads_to_what_it_promises(link: tuple[str, int], promised: str) -> None:
    assert promised in sentence_of(*link)


def test_frames_at_the_linked_steps() -> None:
    """Six frames are on the stack; the tail call replaces its caller's frame; the last match reads `Nil`."""
    waiting, ahead = views()["ch06-waiting"], views()["ch06-ahead"]
    assert (waiting["totals"]["deepest"], ahead["totals"]["deepest"]) == (6, 1)
    assert [step[0] for step in waiting["steps"][:21]].count(2) == 5
    assert ahead["steps"][5][0] == 3
    assert "Nil" in sentence_of("ch07-total", 8)
    assert [step[0] for step in views()["ch07-sentence"]["steps"][:7]].count(2) == 3
