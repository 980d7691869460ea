"""Chapters 10 to 12: their cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re
from typing import Any

import pytest

from relay_explorer import models, relay
from relay_explorer.ir import Attrs
from relay_explorer.ir.expr import TupleGetItem
from relay_explorer.ir.narrow import as_a, as_call, as_op, as_tensor_type
from relay_explorer.typing import infer_types, record
from relay_explorer.typing.events import Ended, Queued
from relay_explorer.widgets.page import element
from tests.book.chapters import BOOK, cells, executed, explorers, names, output, pictures, source

PAGES = ("ch10_types", "ch11_operators", "ch12_inference", "ch13_polymorphism")
DIFFER = r"result is (Tensor\[\(1, 4\), float32\]), but (Tensor\[\(1, 8\), float32\]) is required"


def infer(text: str) -> relay.IRModule:
    return relay.transform.InferType()(relay.parse(text))


def show(program: str) -> str:
    """Return the start of a cell that shows a program."""
    return f'show("""\n{program}'


def say(page: str, explorer: str, step: int) -> str:
    """Return the sentence of a step, counted from 1 as readers and addresses do."""
    view = explorers(page)[explorer].to_dict()
    template, *arguments = (view["strings"][s] for s in view["steps"][step - 1][2])
    return str(template.format(*arguments))


def node(page: str, explorer: str, number: int) -> tuple[str, str]:
    """Return the label and the attributes of a node."""
    view = explorers(page)[explorer].to_dict()
    result = view["nodes"][number]
    return view["strings"][result[0]], view["strings"][result[8]]


@pytest.mark.parametrize("page", PAGES)
class TestPage:
    def test_explorers_show_themselves_as_a_page_needs_them(self, page: str) -> None:
        assert len(explorers(page)) == source(page).count("relay_explorer.explore(")
        for name, explorer in explorers(page).items():
            assert name.startswith(page[:4] + "-")
            assert 'class="relay-explorer"' in explorer._repr_html_()

    def test_an_explorer_adds_little_to_the_page(self, page: str) -> None:
        """A page loads the front end once, so it is not counted."""
        added = {name: element(e.view, e.name, e.state) for name, e in explorers(page).items()}
        sizes = {name: len(html.encode()) for name, html in added.items()}
        assert {name: size for name, size in sizes.items() if size > 250_000} == {}

    def test_figures_exist(self, page: str) -> None:
        figures = re.findall(r"^```\{diagram\} (\w+)", source(page), re.MULTILINE)
        assert [f for f in figures if not (BOOK.parent / f"figures/svg/{f}.light.svg").is_file()] == []

    def test_links_into_explorers_lead_somewhere(self, page: str) -> None:
        links = re.findall(r"\(#rx-([\w-]+):(\w+)=(\d+)\)", source(page))
        assert len(links) == source(page).count("](#rx-")
        for name, key, number in links:
            assert say(page, name, int(number)) if key == "step" else node(page, name, int(number))

    def test_nothing_depends_on_the_time_or_on_chance(self, page: str) -> None:
        assert not re.search(r"\b(perf_counter|time\(|random|datetime|id\()", "".join(cells(page)))


class TestTypes:
    page = "ch10_types"

    def test_the_mistake_waits_for_a_long_sentence(self) -> None:
        assert executed(self.page)[2][0] == (5,)
        assert "300 is different from 600" in output(self.page, "try:\n    mood")

    def test_the_table_of_types_holds(self) -> None:
        namespace = names(self.page)
        number, tensor = namespace["number"], relay.TensorType((8, 300), "float32")
        rows = {
            "Tensor[(8, 300), float32]": tensor,
            "float32": number,
            "(float32, bool)": relay.TupleType([number, relay.TensorType((), "bool")]),
            "fn (float32) -> bool": relay.FuncType([number], relay.TensorType((), "bool")),
            "ref(float32)": relay.RefType(number),
            "List[float32]": relay.GlobalTypeVar("List")(number),
        }
        for text, type_ in rows.items():
            assert str(type_) == text
            assert f"`{text}`" in source(self.page)

    def test_the_error_is_read_aloud_as_it_is(self) -> None:
        printed = output(self.page, "def show")
        assert printed.startswith("course.relay:5:8: error: `nn.dense`: the data has 784 features")
        assert "course.relay:2:11: note: `%x`" in printed
        assert "course.relay:3:11: note: `%w1`" in printed
        assert re.search(r"error: .* note: .* help: dense's weight is \(units", printed.replace("\n", " "))

    def test_steps_say_what_the_text_says_of_them(self) -> None:
        assert re.match(
            r"%network constructs a List\[fn \((\w)\) -> (?!\1)\w\]\.", say(self.page, "ch10-kinds", 47)
        )
        assert say(self.page, "ch10-kinds", 49).startswith("@apply is called with %network")
        view = explorers(self.page)["ch10-kinds"].to_dict()
        runs = [
            i for i, step in enumerate(view["steps"], 1) if any(c[:1] == ["r"] and c[2] == 2 for c in step[4])
        ]
        assert any(number > 49 for number in runs)
        assert not any(30 <= number <= 49 for number in runs)

    def test_both_ways_out_are_well_typed(self) -> None:
        for name in ("FIXED", "TRANSPOSED"):
            assert str(infer(names(self.page)[name])["main"].ret_type) == "Tensor[(1, 10), float32]"

    def test_the_path_of_the_long_sentence_is_refused_with_the_concatenation(self) -> None:
        printed = output(self.page, show("def @main(%long"))
        assert "the data has 600 features" in printed
        assert "note: the result of `concatenate(…)` is `Tensor[(1, 600), float32]`" in printed

    def test_the_picture_shrinks_and_the_channels_grow(self) -> None:
        shapes = [t.shape for t in names(self.page)["seen"] if len(t.shape) == 4]
        assert shapes[0][2] == 112
        assert shapes[-2] == (1, 2048, 7, 7)
        picture = names(self.page)["resnet"]["main"].params[0]
        assert picture.type_annotation.shape == (1, 3, 224, 224)

    def test_the_two_ways_meet_in_an_addition(self) -> None:
        assert node(self.page, "ch10-resnet", 287)[0] == "add"

    def test_answer_a_function_type_in_python(self) -> None:
        (code,) = re.findall(r"^```\{code-block\} python\n(floating.*?)^```$", source(self.page), re.M | re.S)
        values, type_ = code.split("\nrelay.FuncType", 1)
        namespace: dict[str, Any] = {"relay": relay}
        exec(values, namespace)
        built = eval(f"relay.FuncType{type_}", namespace)
        assert f"Write the type `{built}` in Python" in source(self.page)

    def test_answer_the_wider_layer_is_found_at_the_bias(self) -> None:
        assert "error: `add`: the shapes (1, 300) and (256)" in output(self.page, "show(FIXED")

    def test_answer_the_remedy_of_the_wider_layer(self) -> None:
        text = names(self.page)["FIXED"].replace("(256, 784)", "(300, 784)")
        with pytest.raises(relay.TypeInferenceError):
            infer(text.replace("(256), float32", "(300), float32"))
        text = text.replace("(256), float32", "(300), float32").replace("(10, 256)", "(10, 300)")
        assert str(infer(text)["main"].ret_type) == "Tensor[(1, 10), float32]"

    def test_answer_a_larger_image_changes_nothing_after_the_average(self) -> None:
        before, after = names(self.page)["seen"], names(self.page)["larger"]
        assert [t.shape[:2] for t in before] == [t.shape[:2] for t in after]
        *images, average = ((b.shape[2:], a.shape[2:]) for b, a in zip(before, after) if len(b.shape) == 4)
        assert average == ((1, 1), (1, 1))
        assert all((h * 2, w * 2) == doubled for (h, w), doubled in images)

    def test_answer_any_joins_to_any(self) -> None:
        printed = output(self.page, show("def @main(%x: Tensor[(?, 3), float32],\n"))
        assert printed.rstrip().endswith("-> Tensor[(?, 3), float32]")

    def test_answer_a_square_weight_is_not_found(self) -> None:
        head = "def @main(%x: Tensor[(1, 784), float32], %w: Tensor[(784, 784), float32])"
        for weight in ("%w", "transpose(%w, axes=None)"):
            assert (
                str(infer(f"{head} {{ nn.dense(%x, {weight}) }}")["main"].ret_type)
                == "Tensor[(1, 784), float32]"
            )

    def test_two_unknown_sizes_are_accepted(self) -> None:
        assert "well typed" in output(
            self.page, show("def @main(%x: Tensor[(?, 3), float32], %y: Tensor[(?, 3)")
        )

    def test_the_types_of_the_readers_compiler_print_as_the_packages_do(self) -> None:
        built, found, replaced = output(self.page, "image, scores").splitlines()
        assert built == "fn (Tensor[(1, 784), float32]) -> (Tensor[(1, 10), float32], bool)"
        assert found == "fn (List[A]) -> A contains [A]"
        assert replaced == "fn (List[Tensor[(1, 10), float32]]) -> Tensor[(1, 10), float32]"
        assert output(self.page, "from pocket import bridge").endswith("the same text: True\n")

    def test_answer_of_the_exercise(self) -> None:
        text = names(self.page)["KINDS"]
        text = text.replace("Cons(%second, Nil)", "Cons(%second, Cons(fn (%y) { nn.dense(%y, %v) }, Nil))")
        weight = "%w: Tensor[(8, 8), float32]"
        text = text.replace(f"{weight})", f"{weight}, %v: Tensor[(4, 8), float32])")
        with pytest.raises(relay.TypeInferenceError, match=DIFFER) as refused:
            infer(text)
        assert "`@apply` is called with `%network`" in str(refused.value)


class TestOperators:
    page = "ch11_operators"

    def test_one_type_will_not_do(self) -> None:
        used = names(self.page)["used"]
        assert all(len(used[name]) > 10 for name in ("add", "nn.dense", "nn.conv2d"))

    def test_the_convolution_tells_the_kernel(self) -> None:
        typed = relay.transform.InferType()(names(self.page)["stem"])
        expected = ["(64, 3, 7, 7)", "(64)", "(64)", "(64)", "(64)", "(10, 64)"]
        result = [str(p.checked_type) for p in typed["main"].params[1:]]
        assert result == [f"Tensor[{shape}, float32]" for shape in expected]

    @pytest.mark.parametrize(
        ("explorer", "step", "words"),
        [
            ("ch11-stem", 17, "From the result follows: %kernel is Tensor[(64, 3, 7, 7), float32]."),
            (
                "ch11-stem",
                18,
                "From the result follows: %gamma, %beta, %mean and %var are Tensor[(64), float32].",
            ),
            ("ch11-turns", 14, "another relation, which has not run yet, computes the type of %z."),
            ("ch11-turns", 15, "tanh is solved at once: ζ = α, whatever that type will be."),
            ("ch11-turns", 17, "From the result follows: %z is Tensor[(2, ?), float32]."),
        ],
    )
    def test_steps_say_what_the_text_says_of_them(self, explorer: str, step: int, words: str) -> None:
        assert words in say(self.page, explorer, step)

    def test_all_arithmetic_of_the_attention_broadcasts(self) -> None:
        typed = relay.transform.InferType()(names(self.page)["attention"])
        for call in relay.analysis.costs(typed):
            if len(as_call(call).args) == 2:
                assert len({str(argument.checked_type) for argument in as_call(call).args}) == 2

    def test_grouped_kernels_see_one_channel(self) -> None:
        typed = relay.transform.InferType()(models.load("mobilenet"))
        convolutions = [c for c in relay.analysis.costs(typed) if as_op(as_call(c).op).name == "nn.conv2d"]
        grouped = [
            as_tensor_type(as_call(c).args[1]).shape[1]
            for c in convolutions
            if as_a(Attrs, as_call(c).attrs)["groups"] > 1
        ]
        assert grouped == [1] * 13
        assert len(convolutions) == 2 * 13 + 1
        grouped_one, other = (node(self.page, "ch11-mobilenet", number) for number in (142, 146))
        assert grouped_one[0] == other[0] == "nn.conv2d"
        assert "groups=32" in grouped_one[1]
        assert "groups" not in other[1]

    def test_a_relation_may_be_too_early(self) -> None:
        assert output(self.page, "class PrintingReporter").endswith("too early\n")
        assert output(self.page, 'ask("nn.dense"').endswith("too early\n")

    def test_the_relations_of_the_readers_compiler_agree(self) -> None:
        assert output(self.page, "def tensors").splitlines() == [
            "Tensor[(8, 7, 6, 5), float32]",
            "None",
            "Tensor[(1, 784), float32] does not fit Tensor[(784, 256), float32]",
        ]
        rows = output(self.page, "from pocket import bridge").splitlines()
        assert [row.split()[0] for row in rows] == ["lenet", "lstm", "tree_lstm", "resnet50"]
        assert rows[-1].split()[1] == "177"

    def test_the_first_try_accepts_what_the_second_refuses(self) -> None:
        assert output(self.page, "WRONG = ").startswith("well typed")
        printed = output(self.page, "from relay_explorer.ops.relation import")
        assert "element types differ: float32 and int8" in printed
        assert "elements of shapes (2, 5) and (3, 7) cannot alternate" in printed

    def test_our_relation_learns_sideways(self) -> None:
        types = explorers(self.page)["ch11-turns"].to_dict()
        assert types["conflict"] is None
        assert any("(4, ?)" in word for word in types["strings"])

    def test_the_register_is_left_as_it_was(self) -> None:
        executed(self.page)
        assert "book.interleave" not in relay.op.Op.list_op_names()
        assert "there is no operator" in output(self.page, 'relay.op.Op.unregister("book.interleave")')

    def test_the_table_lists_every_laxer_operator(self) -> None:
        (table,) = [vars(v)["data"] for v in executed(self.page)[2] if type(v).__name__ == "HTML"]
        for name in relay.op.Op.list_op_names():
            assert (f"<code>{name}</code>" in table) == bool(relay.op.get(name).lenient_in_tvm)
        assert "nn.dense: Without `units`" in output(self.page, "reasons = ")

    def test_the_numbers_of_relations_are_those_of_the_text(self) -> None:
        """The paper calls their number small; the text gives the package's."""
        counted, *_, alone = output(self.page, "from collections import Counter").splitlines()
        operators, relations = re.findall(r"\d+", counted)
        assert f"needs {relations} for its {operators} operators" in source(self.page)
        assert int(alone.split()[0]) > int(relations) / 2

    def test_answer_a_generic_relu_would_accept_a_function(self) -> None:
        assert "the first argument must be a tensor" in output(self.page, 'show("def @main(%f: fn (float32)')

    def test_answer_concatenate_takes_one_tuple(self) -> None:
        assert output(self.page, "entry = ").startswith("('data',)")

    def test_two_pictures_give_one_result(self) -> None:
        """Why a convolution does not find its picture from its result."""
        heights = {(h + 2 * 3 - 7) // 2 + 1 for h in (223, 224)}
        assert heights == {112}

    def test_answers(self) -> None:
        printed = output(self.page, 'ask("nn.conv2d", (1, 3, 32, 32)')
        assert "(16, 3, 3, 3)" in printed
        assert "(1, 16, 16, 16)" in printed
        assert "(3, 4)" in output(self.page, 'ask("add", (3, 1)')
        first, second = output(self.page, 'show("def @main(%x) -> ').split("\n", 1)
        assert first.startswith("well typed")
        assert "does not say enough: `add`" in second
        printed = output(self.page, show("def @main(%x: Tensor[(1, 784), float32], %w)"))
        assert "`nn.dense` cannot be typed" in printed
        assert "Tensor[(10, 784), float32]) -> Tensor[(1, 10), float32]" in printed


class TestInference:
    page = "ch12_inference"

    def test_one_walk_is_too_early(self) -> None:
        lines = output(self.page, "NAMED = ").splitlines()
        assert lines == ["tanh gives _", "add is too early", "exp gives Tensor[(3, 4), float32]"]

    @pytest.mark.parametrize(
        ("explorer", "step", "words"),
        [
            ("ch12-named", 9, "%f is called with %1, so β and ε are the same type"),
            ("ch12-named", 11, "tanh is solved at once"),
            ("ch12-named", 12, "add cannot be solved yet"),
            ("ch12-named", 13, "The relations that waited for this move to the front of the queue: add."),
            ("ch12-yours", 15, "tanh cannot be solved yet"),
            (
                "ch12-yours",
                17,
                "exp can be solved now: the type of %x is known",
            ),
            ("ch12-higher", 8, "%f is called with %0, so γ and δ are the same type"),
            (
                "ch12-higher",
                16,
                "%twice is called with %layer, so fn (γ) -> γ and fn (θ) -> κ are the same type",
            ),
        ],
    )
    def test_steps_say_what_the_text_says_of_them(self, explorer: str, step: int, words: str) -> None:
        assert words in say(self.page, explorer, step)
        assert f"](#rx-{explorer}:step={step})" in source(self.page)

    def test_the_first_explorer_opens_at_the_best_moment(self) -> None:
        assert explorers(self.page)["ch12-named"].to_dict()["start"] == 13 - 1

    def test_the_course_ends_on_its_conflict_with_two_chains(self) -> None:
        view = explorers(self.page)["ch12-course"].to_dict()
        conflict = view["conflict"]
        assert conflict["step"] == len(view["steps"]) - 1
        assert len(conflict["left"]["chain"]) > 3
        assert len(conflict["right"]["chain"]) == 1

    def test_half_of_the_long_timeline_generates(self) -> None:
        marks = [step[0] for step in explorers(self.page)["ch12-resnet"].to_dict()["steps"]]
        first = next(i for i, mark in enumerate(marks) if mark >= 2)
        assert 0.45 < first / len(marks) < 0.55

    def test_the_readers_solver_agrees_with_the_real_one(self) -> None:
        rows = output(self.page, "def expressions").splitlines()
        assert [row.split()[0] for row in rows] == ["lenet", "lstm", "tree_lstm", "resnet50"]
        assert all(row.endswith("same types: True") for row in rows)
        assert output(self.page, "class Counting") == "230 relations in 230 runs\n"

    def test_the_drawing_shows_what_is_solved(self) -> None:
        ((title, words),) = pictures(self.page)
        assert title == "The type variables and relations: 11 nodes"
        assert "from %z, %3 to %3 = sqrt; " in words
        assert "from %3 = sqrt to %z, %3." in words

    def test_the_annotations_that_a_program_lacks(self) -> None:
        assert output(self.page, "import networkx as nx").splitlines() == [
            "['%y, %0, %1', '%a']",
            "['%z, %3']",
        ]
        with pytest.raises(relay.TypeInferenceError, match="give `%y` a type"):
            infer_types(names(self.page)["little"])

    def test_the_readers_solver_needs_one_run_more_than_the_package(self) -> None:
        namespace = names(self.page)
        named = relay.parse(namespace["NAMED"])
        program = namespace["bridge"].from_relay(named)
        solver = namespace["Counting"](program)
        namespace["infer_types"](program, solver)
        assert solver.runs == 5
        assert sum(isinstance(event, Ended) for event in record(named).events) == 4

    def test_unification_of_the_drawing(self) -> None:
        assert output(self.page, "solver = Solver(module=None)").splitlines() == [
            "γ is fn (float32) -> float32 and β is float32",
            "fn (float32) -> float32 is not float32",
            "an infinite type",
        ]

    def test_a_generic_function_without_a_declared_result(self) -> None:
        """What the comparison says that only the package's solver can do."""
        text = (
            "def @pair[A](%a: A) { (%a, (%a, %a).0) }\n"
            "def @main(%x: float32, %n: int32) { (@pair(%x), @pair(%n)) }"
        )
        assert str(infer(text)["main"].ret_type) == "((float32, float32), (int32, int32))"
        program = names(self.page)["bridge"].from_relay(relay.parse(text))
        with pytest.raises(TypeError):
            names(self.page)["infer_types"](program)

    def test_the_walk_back_ends_at_what_somebody_wrote(self) -> None:
        lines = output(self.page, "from relay_explorer.typing.history").splitlines()
        assert [line.split(":")[0] for line in lines] == ["line 5", "line 7", "line 2"]
        assert lines[-1].endswith("`%x` is annotated `Tensor[(3, 4), float32]`")

    @pytest.mark.parametrize("model", ["mlp", "dqn", "resnet18", "vgg16"])
    def test_on_other_models_too(self, model: str) -> None:
        agree = names(self.page)["agreement"](models.load(model))
        assert agree
        assert all(agree)

    def test_the_wasted_runs_are_where_a_short_path_has_a_convolution(self) -> None:
        events = record(models.load("resnet50")).events
        wasted = [e.relation.call for e in events if isinstance(e, Ended) and not e.done]
        assert [as_op(as_call(call).op).name for call in wasted] == ["add"] * 4
        for (
            call
        ) in wasted:  # both are field 0 of a batch_norm; elsewhere one is the result of the block before
            fields = [as_a(TupleGetItem, argument) for argument in as_call(call).args]
            assert [as_op(as_call(part.tuple_value).op).name for part in fields] == ["nn.batch_norm"] * 2

    def test_the_table_of_orders_is_read_aloud_as_it_is(self) -> None:
        printed = output(self.page, "def late")
        rows = re.findall(r"^([a-z][\w, ]*?) +(\d+) +(\d+) +(\d+) +(\d+)$", printed, re.MULTILINE)
        table = {name: [int(n) for n in numbers] for name, *numbers in rows}
        assert table["late, 100"][0] == table["late, 100"][1] < table["late, 100"][2] < table["late, 100"][3]
        for name in ("joins, 100", "resnet50", "lstm", "tree_lstm"):
            relations, front, end, sweeps = table[name]
            assert relations == end == sweeps < front

    def test_sweeps_grow_with_the_square(self) -> None:
        namespace = names(self.page)

        def runs(n: int) -> int:
            module = namespace["bridge"].from_relay(namespace["late"](n))
            solver = namespace["Counting"](module)
            namespace["infer_types"](module, solver)
            return int(solver.runs)

        assert 3.5 < runs(80) / runs(40) < 4.5

    def test_waking_the_joined_as_well_makes_no_difference_to_the_table(self) -> None:
        """TVM also queues the relations of a class that is only joined with another."""
        namespace = names(self.page)

        base: Any = namespace["AtTheEnd"]

        class Joined(base):  # type: ignore[misc]  # a class of the page
            def wake(self, readers, type_):  # type: ignore[no-untyped-def]  # as there
                super().wake(readers, type_)
                if type_ in self.bound:
                    for relation in reversed(readers):
                        if relation in self.relations:
                            self.requeue(relation)

        programs = [namespace["late"](100), namespace["joins"](100)]
        for module in (*programs, *map(models.load, ("resnet50", "lstm", "tree_lstm"))):
            counts = []
            for kind in (base, Joined):
                converted = namespace["bridge"].from_relay(module)
                solver = kind(converted)
                namespace["infer_types"](converted, solver)
                counts.append(solver.runs)
            assert counts[0] == counts[1]

    def test_the_work_is_linear(self) -> None:
        each = re.findall(
            r"calls: (\S+) runs and (\S+) events",
            output(self.page, "from relay_explorer.typing.events import Started"),
        )
        assert len(each) == 3
        assert all(float(runs) == 1 and 5.9 < float(events) < 6.1 for runs, events in each)

    def test_a_solver_of_fewer_than_150_lines(self) -> None:
        solver = "".join(cell for cell in cells(self.page) if cell.startswith("%%pocket solver.py"))
        assert 100 <= len(re.findall(r"^ *\S.*$", solver, re.MULTILINE)) < 150

    def test_answer_the_inference_by_hand(self) -> None:
        runs = output(self.page, "by_hand = ").splitlines()
        assert runs == ["add too early", "exp solved", "add solved"]

    def test_answer_the_constraints_generated_by_hand(self) -> None:
        lines = output(self.page, "from relay_explorer.typing import record").splitlines()
        assert [line for line in lines if "relation" in line] == ["relation of tanh", "relation of exp"]
        equations = [line.removeprefix("equation from ") for line in lines if "equation" in line]
        assert equations == ["let", "condition", "argument", "branches"]
        (function,) = relay.transform.InferType()(names(self.page)["branches"]).functions.values()
        assert str(function.params[0].checked_type) == "bool"

    def test_answers(self) -> None:
        assert "would have to contain itself" in output(self.page, "def show")
        assert "does not say enough: `add`" in output(self.page, show("def @main(%x, %y: Tensor[(5, 7)"))
        printed = output(self.page, show("def @main(%x: Tensor[(3, 4), float32], %z"))
        assert "the first argument of `%f` must be" in printed
        assert re.search(r"late, 200 +201 +201 +400 ", output(self.page, 'compare("late, 200"'))

    def test_a_type_that_doubles_with_every_line_is_refused(self) -> None:
        assert "more than 50,000 parts" in output(self.page, "def program")

    def test_any_of_these_would_do(self) -> None:
        """The under-constrained prediction names four solutions."""
        for shape in ("(5, 7)", "(1, 7)", "(7)", "()"):
            head = f"def @main(%x: Tensor[{shape}, float32], %y: Tensor[(5, 7), float32])"
            typed = infer(f"{head} {{ add(nn.relu(%x), %y) }}")
            assert str(typed["main"].ret_type) == "Tensor[(5, 7), float32]"

    def test_every_relation_of_the_record_is_replayed(self) -> None:
        events = record(names(self.page)["named"]).events
        assert sum(isinstance(event, Queued) for event in events) == 3
