"""Chapters 1 to 4: their cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from figures import forms, post_order, printing_steps, program_anatomy
from relay_explorer import relay
from relay_explorer.compat import tvm
from relay_explorer.ir import TupleType
from relay_explorer.ir.narrow import as_a
from relay_explorer.views.lowering.format import LoweringView
from tests.book.chapters import BOOK, executed, explorers, names, output, source

PAGES = ("ch01_phone", "ch02_define_and_run", "ch03_ten_minutes", "ch04_first_program")


def infer(text: str) -> relay.IRModule:
    return relay.transform.InferType()(relay.parse(text))


@pytest.mark.parametrize("page", PAGES)
class TestPage:
    def test_explorers_show_themselves_as_a_page_needs_them(self, page: str) -> None:
        explorers: list[Any] = [value for value in executed(page)[2] if type(value).__name__ == "Explorer"]
        assert len(explorers) == source(page).count("relay_explorer.explore(")
        for explorer in explorers:
            assert 'class="relay-explorer"' in explorer._repr_html_()

    def test_explorers_are_named_after_the_chapter(self, page: str) -> None:
        matches = re.findall(r"explore\(.*?name=\"([^\"]+)\"", source(page), re.DOTALL)
        assert matches
        assert all(name.startswith(page[:4] + "-") for name in matches)

    def test_figures_exist(self, page: str) -> None:
        figures = re.findall(r"^```\{diagram\} (\w+)", source(page), re.MULTILINE)
        assert [f for f in figures if not (BOOK.parent / f"figures/svg/{f}.light.svg").is_file()] == []


class TestPhone:
    page = "ch01_phone"

    def change(self, *changes: tuple[str, str]) -> relay.IRModule:
        text: str = names(self.page)["TREELSTM"]
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        return infer(text)

    def test_one_type_for_all_sentences(self) -> None:
        assert str(names(self.page)["typed"]["main"].checked_type).startswith("fn (Tree, ")

    def test_counts_of_weights_agree_with_the_explorer(self) -> None:
        total = relay.analysis.total_cost(names(self.page)["typed"]).parameters
        assert names(self.page)["total"] == total == 300 * 300 + 750 * 300 + 5 * 150

    def test_a_change_in_one_place_is_noticed_in_another(self) -> None:
        printed = output(self.page, "changed = ")
        error, note = re.findall(r"^sentiment.relay:(.*)$", printed, re.MULTILINE)
        assert "error: the first argument of `@word`" in error
        assert "(1, 300)" in error
        assert "(1, 200)" in error
        assert note.startswith("3:3: note: `%x` is a field of the constructor `Word`, which is declared with")

    def test_answer_one_type_and_one_chip_more(self) -> None:
        """With four types and four chips there are 16 variants of each operator instead of nine."""
        new = 7 * len(names(self.page)["operators"])
        assert output(self.page, "wider = ").splitlines()[0] == f"{new} new kernels by hand"

    def test_answer_seven_moods_take_one_change(self) -> None:
        typed = self.change(("%v: Tensor[(5, 150)", "%v: Tensor[(7, 150)"))
        assert str(typed["main"].ret_type) == "Tensor[(1, 7), float32]"

    def test_answer_shorter_vectors_take_these(self) -> None:
        typed = self.change(
            ("(1, 150)", "(1, 100)"), ("(300, 300)", "(200, 300)"), ("(750, 300)", "(500, 200)"),
            ("(5, 150)", "(5, 100)"),
        )  # fmt: skip
        assert str(as_a(TupleType, typed["pair"].ret_type).fields[0]) == "Tensor[(1, 100), float32]"

    @pytest.mark.parametrize("forgotten", ["(300, 300)", "(750, 300)", "(5, 150)"])
    def test_and_each_of_them_is_asked_for(self, forgotten: str) -> None:
        new = {
            "(1, 150)": "(1, 100)", "(300, 300)": "(200, 300)", "(750, 300)": "(500, 200)",
            "(5, 150)": "(5, 100)",
        }  # fmt: skip
        with pytest.raises(relay.TypeInferenceError):
            self.change(*((old, to) for old, to in new.items() if old != forgotten))


GCD = re.compile(r"```\{code-block\} text\n(def @gcd.*?)```", re.DOTALL)


class TestDefineAndRun:
    page = "ch02_define_and_run"

    def test_three_manners_one_answer(self) -> None:
        _, printed, shown = executed(self.page)
        assert [value for value in shown if isinstance(value, list)] == [[128, 160, 200]] * 2
        assert any("[128, 160, 200]\nPython called the condition 1 time" in text for text in printed)

    def test_answer_the_forgotten_branch(self) -> None:
        assert output(self.page, "def capped") == "multiply 4 400\n"

    def test_answer_the_replayed_trace_is_wrong(self) -> None:
        assert output(self.page, "def replay") == "6 multiplications, so 320\n"
        assert names(self.page)["double"](5) == 160

    def test_answer_the_branches_must_agree_before_any_input(self) -> None:
        assert "the branches of an `if` must have the same type" in output(self.page, "try:")

    def test_answer_the_loop_of_the_lstm_is_unrolled(self) -> None:
        printed = output(self.page, "from collections import Counter")
        assert "'split': 32" in printed
        assert "0 branches" in printed

    def test_answer_of_the_exercise(self) -> None:
        namespace = names(self.page)
        module = infer(as_a(re.Match, GCD.search(source(self.page)))[1])
        table = {**namespace["Evaluate"].operators, "equal": np.equal, "mod": np.mod}
        before = namespace["Evaluate"].operators
        namespace["Evaluate"].operators = table
        try:
            result = namespace["evaluate"](module, "gcd", np.int32(36), np.int32(60))
        finally:
            namespace["Evaluate"].operators = before
        assert result == np.gcd(36, 60)


class TestTenMinutes:
    page = "ch03_ten_minutes"

    def test_the_reader_builds_the_same_network(self) -> None:
        printed = output(self.page, "typed = ")
        assert printed.endswith("different: [('reshape', 'nn.batch_flatten')]\n")

    def test_an_importer_reads_the_weights(self) -> None:
        assert output(self.page, "import relay_explorer").startswith("10 arrays of weights: conv1.bias ")

    def test_what_is_said_of_lines_of_the_program(self) -> None:
        typed = str(names(self.page)["typed"])
        assert re.search(r"%8 = nn.batch_flatten\(%7\) /\* ty=Tensor\[\(1, 400\)", typed)
        assert re.search(r"%3 = nn.max_pool2d\(.*ty=Tensor\[\(1, 6, 14, 14\)", typed)

    def test_work_and_weights_are_in_different_places(self) -> None:
        work, heavy = names(self.page)["work"], names(self.page)["heavy"]
        assert (work.op.name, heavy.op.name) == ("nn.conv2d", "nn.dense")

    def test_answer_only_the_dense_layer_minds_the_size(self) -> None:
        printed = output(self.page, "larger = ")
        assert "576" in printed
        assert "400" in printed
        assert 16 * 6 * 6 == 576

    def test_the_kernel_goes_from_three_nests_to_one(self) -> None:
        shown = explorers(self.page)["ch03-kernel"].view
        assert isinstance(shown, LoweringView)
        assert (len(shown.steps), shown.steps[0].effect.nests, shown.steps[-1].effect.nests) == (20, 3, 1)
        assert [operator.name for operator in shown.operators] == [
            "nn.contrib_conv2d_NCHWc",
            "add",
            "nn.relu",
        ]

    def test_machine_code_gives_what_the_interpreter_gives(self) -> None:
        assert output(self.page, "here = ") == "(1, 10) the same as PyTorch: True\n"
        levels = re.findall(r"(\w+)\s+(\d+) lines", output(self.page, "kernel = max"))
        assert [name for name, _ in levels] == ["relay", "te", "tir", "scheduled", "llvm", "asm"]
        assert int(levels[-1][1]) > 1000
        printed = output(self.page, "import re\n")
        assert printed.startswith("2599 lines, 980 instructions,\n50 of them multiply and add")
        assert printed.count("ymm") == 9

    def test_instructions_of_the_kernel_are_those_of_the_explorer_and_the_others(self) -> None:
        code = explorers(self.page)["ch03-kernel"].view.steps[-1]
        sentence, reason = code.say[0], code.why[0]
        assert "**199 instructions**" in sentence
        assert "781 instructions that check arguments and divide the work among cores" in reason
        assert len(names(self.page)["instructions"]) == 980 == 199 + 781

    def test_going_deeper_memory(self) -> None:
        assert output(self.page, "from math import prod").splitlines() == [
            "86,120 bytes if all results stay in memory",
            "37,632 bytes at most if each is freed after its last use",
        ]

    def test_answer_every_result_is_read_once_by_the_next_line(self) -> None:
        body = str(names(self.page)["typed"]).split(") -> ")[1]
        lines = [line for line in body.splitlines() if "nn." in line]
        reads = [re.findall(r"%\d+", line.partition("(")[2]) for line in lines]
        assert reads == [[], *([f"%{n}"] for n in range(len(lines) - 1))]

    def test_answer_instructions_of_the_three_operators(self) -> None:
        printed = output(self.page, "for mnemonic in")
        assert printed == "vfmadd 50\nvaddps 10\nvmaxps 10\n"

    def test_answer_products_of_a_layer(self) -> None:
        assert output(self.page, "products = ").splitlines() == [
            "240,000 products, 30,000 instructions",
            "483,200 operations are counted for the kernel",
        ]

    @pytest.mark.parametrize(("padding", "features"), [(2, 576), (0, 400)])
    def test_answer_of_the_exercise(self, padding: int, features: int) -> None:
        """Three numbers are changed; without the padding, the third need not be."""
        namespace = names(self.page)
        x = namespace["convolution"](relay.var("data", shape=(1, 3, 32, 32)), "conv1", 3, 6, padding=padding)
        x = relay.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))
        x = namespace["convolution"](x, "conv2", 6, 16, padding=0)
        x = relay.nn.batch_flatten(relay.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2)))
        x = relay.nn.relu(namespace["dense"](x, "fc1", features, 120))
        x = relay.nn.relu(namespace["dense"](x, "fc2", 120, 84))
        module = tvm.IRModule.from_expr(relay.nn.softmax(namespace["dense"](x, "fc3", 84, 10)))
        costs = relay.analysis.costs(relay.transform.InferType()(module))
        heavy = max(costs, key=lambda call: costs[call].parameters)
        assert costs[heavy].parameters == features * 120


# What a link into an explorer promises to show: a node's label, or what the step's sentence speaks of.
LINKS = {
    ("ch01-treelstm", "sel", 45): "@encode",
    ("ch01-treelstm", "sel", 47): "@encode",
    ("ch02-double", "sel", 5): "@double",
    ("ch03-lenet-types", "step", 29): "reshape",
    ("ch03-lenet", "sel", 11): "nn.conv2d",
    ("ch03-lenet", "sel", 15): "nn.conv2d",
    ("ch03-lenet", "sel", 20): "nn.dense",
}
KERNEL_LINKS = {("ch03-kernel", "step", 1), ("ch03-kernel", "step", 20)}  # to the ends of the schedule


@cache
def views() -> dict[str, dict[str, Any]]:
    """Return the data of every explorer of these chapters, by its name."""
    shown = [value for page in PAGES for value in executed(page)[2]]
    explorers: list[Any] = [value for value in shown if type(value).__name__ == "Explorer"]
    return {
        as_a(re.Match, re.search(r'id="rx-([\w-]+)"', e._repr_html_()))[1]: e.to_dict() for e in explorers
    }


def test_links_into_explorers_are_these() -> None:
    pattern = r"\(#rx-([\w-]+):(\w+)=(\d+)\)"
    matches = [link for page in PAGES for link in re.findall(pattern, source(page))]
    assert {(name, key, int(number)) for name, key, number in matches} == set(LINKS) | KERNEL_LINKS
    assert sum(source(page).count("#rx-") for page in PAGES) == len(matches)


@pytest.mark.parametrize(("link", "promised"), LINKS.items(), ids=str)
def test_a_link_leads_to_what_it_promises(link: tuple[str, str, int], promised: str) -> None:
    name, key, number = link
    view = views()[name]
    words = view["nodes"][number][:1] if key == "sel" else view["steps"][number - 1][2]
    assert promised in [view["strings"][word] for word in words]


SOLUTION = re.compile(r"```\{code-block\} python\n(text = .*?)```", re.DOTALL)


class TestFirstProgram:
    page = "ch04_first_program"

    def test_text_and_python_give_one_program(self) -> None:
        assert tvm.ir.structural_equal(names(self.page)["built"], names(self.page)["digits"])
        assert [value for value in executed(self.page)[2] if isinstance(value, bool)] == [True] * 3

    def test_every_program_on_the_page_is_well_typed(self) -> None:
        for name in ("main", "scale", "program"):
            infer(names(self.page)[name].astext())

    def test_the_table_of_forms_holds(self) -> None:
        """Text and Python of each row give one expression."""
        x = relay.var("x", shape=(), dtype="bool")
        pair = relay.Tuple([x, x])
        rows = {
            "2": relay.const(2), "0.5f": relay.const(0.5), "True": relay.const(True),
            "fn (%x: bool) { %x }": relay.Function([x], x),
            "fn (%x: bool) { (%x, %x).0 }": relay.Function([x], relay.TupleGetItem(pair, 0)),
            "fn (%x: bool) { if (%x) { %x } else { %x } }": relay.Function([x], relay.If(x, x, x)),
            "fn (%x: bool) { let %y = %x; %y }": relay.Function([x], relay.Let(y := relay.var("y"), x, y)),
        }  # fmt: skip
        for text, built in rows.items():
            assert tvm.ir.structural_equal(relay.parse_expr(text), built), text

    def test_there_are_fifteen_kinds_of_expression(self) -> None:
        kinds = [
            kind
            for kind in relay.Expr.__subclasses__()
            if kind.__module__.startswith("relay_explorer.") and kind.__module__ != "relay_explorer.ir.node"
        ]  # without the twin of `Expr` that its constructors use
        assert len(kinds) == 15
        assert "is one of fifteen kinds" in source(self.page)

    def test_the_figure_shows_one_program_in_two_forms(self) -> None:
        a = relay.var("a", shape=(), dtype="float32")
        p = relay.exp(a)
        assert tvm.ir.structural_equal(relay.parse_expr("\n".join(forms.TEXT)), relay.Function([a], p + p))

    def test_answer_sharing_keeps_one_exp(self) -> None:
        assert names(self.page)["operators"](names(self.page)["program"]) == {"add": 10, "exp": 1}

    def test_answer_a_transposed_weight_is_refused_with_the_way_out(self) -> None:
        assert "relay.transpose" in output(self.page, "def check")

    def test_answer_an_unknown_operator_is_found_when_reading(self) -> None:
        assert "did you mean `nn.relu`" in output(self.page, "try:\n    relay.parse")

    def test_answer_two_parameters_of_one_name_are_kept_apart(self) -> None:
        assert "subtract(%x, %x1)" in output(self.page, "one, two = (relay")

    def test_the_readers_printer_keeps_two_parameters_of_one_name_apart(self) -> None:
        assert "subtract(%x, %x1)" in output(self.page, "one, two = Var")
        with pytest.raises(relay.ParseError, match="two parameters are called `%x`"):
            relay.parse("def @main(%x: int32, %x: int32) { subtract(%x, %x) }")

    def test_the_readers_printer_names_a_shared_call_in_each_branch(self) -> None:
        n = names(self.page)
        c, a = n["Var"]("c", "bool"), n["Var"]("a", "float32")
        p = n["call"]("exp", a)
        choice = n["If"](c, n["call"]("add", p, p), n["call"]("multiply", p, p))
        assert n["show"](n["Function"]((c, a), choice)).count("= exp(%a);") == 2

    def test_the_figures_show_what_is_visited_and_written(self) -> None:
        def visited(module: relay.IRModule) -> list[str]:
            nodes: list[relay.Expr] = []
            relay.analysis.post_order_visit(module["main"], nodes.append)
            calls = [as_a(relay.op.Op, node.op).name for node in nodes if isinstance(node, relay.Call)]
            return [node.name_hint for node in nodes if isinstance(node, relay.Var)] + calls

        assert visited(relay.parse(post_order.PROGRAM)) == visited(names(self.page)["digits"])
        relay.parse("\n".join(program_anatomy.TEXT))
        n = names(self.page)
        p = n["call"]("exp", n["Var"]("a"))
        assert n["show"](n["call"]("add", p, p)) == "\n".join(printing_steps.STEPS[-1][-1])

    def test_answer_of_the_exercise(self) -> None:
        result: dict[str, Any] = dict(names(self.page))
        exec(as_a(re.Match, SOLUTION.search(source(self.page)))[1], result)
        assert tvm.ir.structural_equal(result["text"], result["built"])
        assert tvm.ir.structural_equal(result["text"], relay.parse(result["show"](result["own"])))
        assert names(self.page)["operators"](result["text"]["main"])["exp"] == 1
        assert result["counts"] == {"exp": 1, "sum": 1, "divide": 1}

    def test_the_chain_grows_from_three_calls_to_five(self) -> None:
        def depth(body: relay.Expr) -> int:
            walk = names(self.page)["Depth"]()
            walk.visit(relay.Function([x], body))
            return int(max(walk.depth.values()))

        def softmax(y: relay.Expr) -> relay.Expr:
            return relay.exp(y) / relay.sum(relay.exp(y), axis=[1], keepdims=True)

        x = relay.var("x", shape=(1, 10), dtype="float32")
        assert depth(softmax(x)) == 3
        assert depth(softmax(x - relay.max(x, axis=[1], keepdims=True))) == 5


def test_the_glossary_links_to_chapters_and_is_in_order() -> None:
    text = source("glossary")
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        terms = re.findall(r"^(\w.*)\n: ", part, re.MULTILINE)
        assert terms == sorted(terms, key=str.casefold)
    entries = re.findall(r"^: .*$", text, re.MULTILINE)
    assert len(entries) > 30
    assert [entry for entry in entries if not re.search(r"\]\(ch\d\d[a-z]?_\w+\)$", entry)] == []
