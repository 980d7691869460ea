"""The machine view: runs in words, what took memory until when, and the plan beside it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import explore
from relay_explorer.execute.vm import Machine, compile_program
from relay_explorer.execute.vm.events import InstructionExecuted, ValueReturned
from relay_explorer.execute.vm.heap import HeapKind
from relay_explorer.execute.vm.record import MachineRecorder, record_machine
from relay_explorer.execute.vm.run import StepKind
from relay_explorer.ir import RelayError
from relay_explorer.ir.expr import Function, Var, const
from relay_explorer.ir.types import TensorType
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.views import picture
from relay_explorer.views.machine.format import MachineMark, MachineStep
from relay_explorer.views.machine.view import machine_view
from tests.support.views.check import check
from tests.views.machines import CELLS, DATA, LAYERS, MAP, NAMES, module, sample, view


def told(step: MachineStep) -> str:
    return step.say[0].format(*step.say[1:])


@pytest.mark.parametrize("name", NAMES)
def test_the_kept_samples_are_what_the_runs_are(name: str) -> None:
    kept = (DATA / f"machine_{name}.json").read_text("utf-8")
    assert kept == sample(name), "run `python -m tests.views.machines`"
    assert check(json.loads(kept)) == []


def test_a_recursion_over_a_tree_in_words() -> None:
    shown = view("tree")
    assert shown.summary == snapshot(
        "@main returns [0.612, 0.9614]: 19 instructions in 2 functions; 42 steps, 5 calls, at most 3 "
        "frames at once, 5 kernel launches."
    )
    said = [told(step) for step in shown.steps]
    assert said[5].startswith("@fold is called with r0 = Node(Node(Leaf(")
    assert "Its frame replaces that of @main, so the stack does not grow.\nThis is a tail call." in said[5]
    assert said[13] == snapshot(
        "@fold is called with r0 = Leaf([0.5, -1]) and r1 = [0.5, -1]. @fold waits at instruction 8."
    )
    assert said[14] == snapshot(
        "The constructor of r0 = Leaf([0.5, -1]) is Leaf, so execution continues at instruction 1."
    )
    assert said[18] == snapshot(
        "The kernel k0 multiply reads r2 = [0.5, -1] and r1 = [0.5, -1] and writes r4 = [0.25, 1]."
    )
    assert said[19] == snapshot("@fold returns [0.25, 1], and @fold continues: r3 is that value.")
    assert said[-1].startswith("@fold returns [0.612, 0.9614]: this is the result.")
    assert shown.steps[shown.start].mark == MachineMark.CALL


def test_rows_know_their_instructions() -> None:
    shown = view("tree")
    found = {row.text: shown.instructions().get(n, "") for n, row in enumerate(shown.rows)}
    assert found["match (%t) {"] == "@fold 0–1, 6–7"
    assert found["multiply(%v, %w)"] == "@fold 2–5"
    assert found["%1 = @fold(%r, %w);"] == "@fold 9"
    assert found["%2 = add(%0, %1);"] == found["tanh(%2)"] == "@fold 10–13"  # one kernel computes both
    assert "@fold 10–13" in picture.text(shown)


def test_what_a_closure_captured_comes_after_the_arguments() -> None:
    said = [told(step) for step in view("map").steps]
    assert "r2 is a closure of @main.f that captures r0 = 10.\nThe captured values outlive this call." in said
    called = next(text for text in said if text.startswith("@main.f is called"))
    assert called.startswith("@main.f is called with r0 = 1 and r1 = 10. @map waits at instruction 3.")
    assert called.endswith("The captured values follow the arguments, in r1.")


def test_a_cell_is_seen_to_change() -> None:
    said = [told(step) for step in view("cells").steps]
    written = [text.partition("\n")[0] for text in said if text.startswith("The content")]
    assert written == [
        f"The content of the cell r1 changes from {a} to r{r} = {b}."
        for a, b, r in zip((0, 4, 7, 9), (4, 7, 9, 10), [_register(t) for t in said if "The content" in t])
    ]
    assert said[-1].startswith("@main returns (10, ref(…))")


def _register(text: str) -> str:
    return text.rpartition(" to r")[2][0]


def test_memory_is_used_again_and_let_go() -> None:
    shown = view("layers")
    said = [told(step) for step in shown.steps]
    assert (
        "r4 is an uninitialized tensor (1, 8) f32 in the storage #3. #4, which was there, is dead, so its "
        "memory is reused." in said
    )
    first, second = (thing for thing in shown.objects if thing.storage == 3)
    assert first.last < second.made
    assert said[-1].endswith("No reference to #3 and #5 remains: their 128 bytes are freed.")


def test_a_failure_ends_where_it_goes_wrong() -> None:
    shown = view("unmatched")
    assert told(shown.steps[-1]) == snapshot("**The run fails here.** No clause matches Nil.")
    assert shown.steps[-1].mark == MachineMark.FAILURE
    assert shown.failure is not None
    assert shown.failure.tries == snapshot(
        (("add a clause for `Nil`, or for `_`, which matches any value",),)
    )
    frame = shown.frames[shown.steps[-1].frame]
    line = shown.functions[frame.function].code[shown.steps[-1].number]
    assert line.text.startswith("fatal r0")
    assert line.runs == 1


def test_what_is_left_out_is_said() -> None:
    shown = view("gap")
    assert shown.gap == (60, 731)
    assert told(shown.steps[60]) == snapshot(
        "731 steps are left out here: only the first 60 of 792 are recorded."
    )
    assert told(shown.steps[61]) == snapshot("The result is (1830, ref(…)).")
    assert shown.summary.endswith("The first 60 steps are recorded.")
    endless = view("endless")
    assert endless.summary.startswith("@main had not ended after 300,000 steps, and was stopped.")
    assert endless.gap == (40, 299_960)


def test_the_plan_is_the_graph_executors() -> None:
    shown = view("layers")
    assert shown.plan is not None
    (variant,) = shown.plan.variants
    assert [life.buffer for life in variant.lives] == [0, 1, 0, 1]
    assert view("tree").plan is None
    assert told_without(view("tree").without) == snapshot(
        "The graph executor cannot run this program. Memory is planned for operators, kernels, tuples, `let` "
        "and `if`, but this is a constructor of a data type."
    )


def told_without(say: tuple[str, ...]) -> str:
    return say[0].format(*say[1:])


def test_every_register_holds_what_the_recording_says() -> None:
    """The recording keeps account of what holds what; the machine's own registers are the truth."""

    expected: dict[int, int] = {}  # by activation: the instruction to come

    class Compared(MachineRecorder):
        compared = 0

        def did(self, event: InstructionExecuted) -> None:
            super().did(event)
            number, registers, now = event.number, event.registers, self._here()
            for held, value in zip(now.registers, registers):
                thing = self.things.all[held] if isinstance(held, int) else None
                data = thing is not None and thing.kind in (HeapKind.DATA, HeapKind.CLOSURE)
                if thing is not None and (data or (thing.text and hasattr(value, "dtype"))):
                    assert thing.text == self.text(value)
                    Compared.compared += 1
            assert expected.get(now.number, number) == number, "another one came than was foretold"
            expected[now.number] = now.following

        def returned(self, event: ValueReturned) -> None:
            super().returned(event)
            expected[self._here().number] = event.number + 1

    for text, value in ((MAP, 7), (CELLS, 6)):
        expected.clear()
        machine = Machine(compile_program(module(text)))
        with Compared():
            machine.call("main", [np.int32(value)])
    assert Compared.compared > 100


@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_random_programs_are_whole(seed: int) -> None:
    program = generate(random.Random(seed), size=30).module
    params: Sequence[Var] = program["main"].params
    if not all(isinstance(p.type_annotation, TensorType) and p.type_annotation.is_static for p in params):
        program["main"] = Function([], const(seed))
        params = []
    args = [np.ones(p.type_annotation.concrete_shape, p.type_annotation.dtype) for p in params]  # type: ignore[union-attr]
    assert check(machine_view(program, args, limit=200).to_dict()) == []


def test_a_recording_counts() -> None:
    program = compile_program(module(LAYERS))
    run = record_machine(
        program, [np.zeros((1, 16), "float32"), *[np.zeros((n, 16), "float32") for n in (16, 8)]]
    )
    assert run.steps[-1].kind is StepKind.END
    assert run.totals.storage == 160
    with raises(
        snapshot(
            "TypeError: the machine explorer takes a module or the result of relay_explorer.build(…, "
            'executor="vm"), not str'
        )
    ):
        machine_view("a text")


def test_explore_takes_arguments_and_refuses_wrong_ones() -> None:
    program = parse("def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }")
    shown = explore(program, view="machine", args=(np.array([1, 2], "float32"),), title="one")
    assert shown.view.title == "one"
    assert shown.view.summary.startswith("@main returns [2, 3]: ")
    assert "<script" in shown.to_html()
    with pytest.raises(RelayError, match="argument"):
        explore(program, view="machine")
    with raises(
        snapshot("""\
RelayError:
error: a recording of 0 steps is empty
help: record at least 1 step\
""")
    ):
        explore(program, view="machine", args=(np.array([1, 2], "float32"),), limit=0)


def test_texts_from_outside_stay_text() -> None:
    program = parse("def @main(%x: int32) { %x }")
    html = explore(program, view="machine", args=(3,), title="</script><img src=x>").to_html()
    assert "<img src=x>" not in html


def test_a_damaged_view_is_told() -> None:
    data = json.loads(sample("tree"))
    data["objects"][6][3] = 40
    assert check(data) == snapshot(["objects[6].storage: 40 is not an index into 6 objects"])
    data = json.loads(sample("tree"))
    data["steps"][3][6].append(["d", 9])
    assert check(data) == snapshot(
        [
            "step 3: object 9 goes, and is not there",
            "step 27: object 9 is written, and is not there",
            "step 41: object 9 goes, and is not there",
        ]
    )
