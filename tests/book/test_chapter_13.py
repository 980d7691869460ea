"""Chapter 13: what its text says of its explorers, its programs and their answers is so."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.typing import record
from relay_explorer.typing.events import Ended
from tests.book.chapters import explorers, names, output, source

PAGE = "ch13_polymorphism"


def say(explorer: str, step: int) -> str:
    """Return the sentence of a step, counted from 1 as readers and addresses do."""
    view = explorers(PAGE)[explorer].to_dict()
    template, *arguments = (view["strings"][s] for s in view["steps"][step - 1][2])
    return str(template.format(*arguments))


def show(program: str) -> str:
    return f'show("""\n{program}'


def test_the_problem_is_refused_for_its_second_call() -> None:
    printed = output(PAGE, "from relay_explorer import relay\n\ndef infer")
    assert printed.startswith("swap.relay:4:21: error: the first argument of `%swap` must be")
    assert "but `(%n, %n)` is `(int32, int32)`" in printed
    refused = output(PAGE, "import numpy")
    assert "must be `Tensor[(8, 300), float32]`" in refused
    assert "note: the first argument is a value from Python of type `Tensor[(32, 300), float32]`" in refused


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (1, "Inference begins with @map."),
        (10, "%f is called with %x. They agree: A."),
        (36, "@map is called with %embed, so fn (χ) -> ψ and fn (π) -> ρ are the same type."),
        (39, "@map is called with %score, so fn (α₁) -> β₁ and fn (τ) -> φ are the same type."),
        (40, "@map is called with %vectors, so List[τ] and List[ρ] are the same type."),
        (42, "so ρ = Tensor[(300), float32], and so are τ, α₁ and ψ, which are in the same class."),
    ],
)
def test_steps_say_what_the_text_says_of_them(step: int, words: str) -> None:
    assert words in say("ch13-words", step)
    assert f"](#rx-ch13-words:step={step})" in source(PAGE)


def test_only_the_first_size_of_the_network_is_open() -> None:
    resnet = relay.transform.InferType()(names(PAGE)["resnet"])
    fixed = relay.transform.InferType()(names(PAGE)["fixed"])
    convolutions = [call for call in relay.analysis.costs(resnet) if call.op.name == "nn.conv2d"]  # type: ignore[attr-defined]
    before = [call for call in relay.analysis.costs(fixed) if call.op.name == "nn.conv2d"]  # type: ignore[attr-defined]
    assert len(convolutions) == len(before) == 20
    for now, then in zip(convolutions, before):
        result, expected = now.checked_type, then.checked_type
        assert isinstance(result, relay.TensorType)
        assert isinstance(expected, relay.TensorType)
        assert result.shape == (relay.Any(), *expected.shape[1:])


def test_finding_them_was_no_more_work() -> None:
    events = [record(names(PAGE)[name]).events for name in ("fixed", "resnet")]
    assert output(PAGE, "from relay_explorer.typing import record") == f"{[len(events[0])] * 2}\n"
    runs = [sum(isinstance(event, Ended) for event in each) for each in events]
    assert runs[0] == runs[1]


def test_choices_are_the_type_arguments() -> None:
    assert output(PAGE, "def choices").splitlines() == [
        "@swap[Tensor[(3, 4), float32], int32]", "@pair[int32]", "@pair[(int32, int32)]",
    ]  # fmt: skip


def test_the_readers_solver_agrees() -> None:
    assert output(PAGE, "from pocket import bridge") == "True\n"


def test_refusals() -> None:
    double = output(PAGE, show("def @double"))
    assert double.startswith(
        "double.relay:2:30: error: `add`: the first argument (lhs) must be a tensor, not A"
    )
    assert "does not say enough" in output(PAGE, show("def @main() { @length(Nil) }"))
    assert output(PAGE, show("def @main() {\n  let %none")).startswith("well typed")
    kinds = output(PAGE, "for wrong in")
    assert "expects 1 type argument, got 0" in kinds
    assert "expects 1 type argument, got 2" in kinds
    assert "`n` is of kind ShapeVar" in output(PAGE, "size = relay.TypeVar")
    assert "matches `Option[_]`, but the matched value is `A`" in output(PAGE, show("def @both"))


def test_answer_the_case_that_is_missing() -> None:
    assert "match handles `Cons(None, _)`" in output(PAGE, show("def @main(%xs: List[Option"))


def test_what_the_clauses_leave() -> None:
    assert "no clause of the match handles `Some(None)`" in output(PAGE, "CASES")
    lines = output(PAGE, "cases = ").splitlines()
    assert lines[0] == "clauses: 0, left: [_]"
    assert set(lines[1].partition("[")[2].rstrip("]").split(", ")) == {"Some(None)", "None"}
    assert lines[2] == "clauses: 2, left: [Some(None)]"


def test_the_mean_ends_the_question_mark() -> None:
    first, *runs = output(PAGE, "ANY = ").splitlines()
    assert first.endswith("-> Tensor[(1, 5), float32]")
    assert runs == ["8 words: (1, 5)", "32 words: (1, 5)"]
    assert "the data has 300 features, but the weight (5, 200) takes 200" in output(PAGE, "show(ANY.replace")


def test_what_operators_make_of_a_question_mark() -> None:
    rows = [line.split(maxsplit=1) for line in output(PAGE, "sizes = ").splitlines()]
    assert [(name, type_[len("Tensor[") :].split("),")[0] + ")") for name, type_ in rows] == [
        ("transpose", "(3, ?)"), ("nn.dense", "(?, 4)"), ("concatenate", "(?, 3)"), ("concatenate", "(4, 6)"),
        ("add", "(?, 3)"), ("add", "(2, 3)"), ("argwhere", "(?, 2)"),
    ]  # fmt: skip


@pytest.mark.parametrize(("rows", "runs"), [(1, True), (2, True), (3, False)])
def test_an_addition_with_two_rows_runs_with_one_row_or_two(rows: int, runs: bool) -> None:
    namespace = names(PAGE)
    text = "def @main(%x: Tensor[(?, 3), float32], %two: Tensor[(2, 1), float32]) { add(%x, %two) }"
    call = relay.create_executor(mod=relay.parse(text)).evaluate()
    x, two = namespace["np"].ones((rows, 3), "float32"), namespace["np"].ones((2, 1), "float32")
    if runs:
        assert call(x, two).shape == (2, 3)
    else:
        with pytest.raises(relay.RelayError, match="could not be broadcast"):
            call(x, two)


def test_consistency_is_not_transitive() -> None:
    assert output(PAGE, "FORGET").startswith("well typed")
    late = output(PAGE, "two, three")
    assert late.startswith("forget.relay:4:3: error: `add` failed")
    direct = names(PAGE)["FORGET"].replace("@forget(%two)", "%two")
    with pytest.raises(relay.TypeInferenceError, match="do not broadcast"):
        names(PAGE)["infer"](direct)


def test_answers() -> None:
    composed = output(PAGE, 'typed = infer("""\ndef @swap').splitlines()
    assert composed[0] == "fn ((int32, bool)) -> (int32, bool)"
    assert composed[1].count("'(") == 3
    assert "`%cell` must be a reference that matches" in output(PAGE, show("def @main(%n: int32, %x"))
    rows = output(PAGE, 'typed = infer("""\ndef @main(%x: Tensor[(?, 3), float32], %y')
    assert rows.startswith("Tensor[(?, 3), float32]\nrows.relay:3:3: error: `add` failed")
    assert output(PAGE, show("type Nest")) == "well typed: fn () -> int32\n"
    depth = relay.create_executor(
        mod=relay.parse("""
type Nest[A] { Flat(A), Deeper(Nest[(A, A)]) }
def @depth[A](%nest: Nest[A]) -> int32 {
  match (%nest) { Flat(_) => 0, Deeper(%inner) => add(@depth(%inner), 1) }
}
def @main() { @depth(Deeper(Deeper(Flat(((1, 2), (3, 4)))))) }
""")
    ).evaluate()()
    assert depth.numpy() == 2


def test_the_first_of_the_first_chooses_its_types_twice() -> None:
    assert output(PAGE, 'typed = infer("""\ndef @first').splitlines() == [
        "@first[(int32, bool), float32]",
        "@first[int32, bool]",
    ]


def test_a_caller_keeps_what_a_type_parameter_connects() -> None:
    printed = output(PAGE, 'typed = infer("""\ndef @keep')
    assert printed == "(Tensor[(2, 3), float32], Tensor[(?, 3), float32])\n"


def test_who_notices_a_wrong_size() -> None:
    assert output(PAGE, "def who_notices").splitlines() == [
        "the compiler",
        "an operator, when it runs",
        "neither: (5, 300)",
    ]


def test_a_promise_that_nobody_keeps() -> None:
    printed = output(PAGE, 'typed = infer("""\ndef @main(%x: Tensor[(?, 3), float32]) -> Tensor[(2')
    assert printed.splitlines() == ["Tensor[(2, 3), float32]", "(5, 3)"]


def test_names_of_sizes() -> None:
    printed = output(PAGE, show("def @main(%x: Tensor[(n, 3), float32], %y"))
    assert printed.endswith("-> (Tensor[(n, 3), float32], Tensor[(n + m, 3), float32])\n")
    assert "must be `Tensor[(n, 3), float32]`, but `%x` is `Tensor[(2, 3), float32]`" in output(
        PAGE, show("def @rows")
    )
    with pytest.raises(TypeError):
        relay.TensorType([names(PAGE)["size"]])


def test_arrays_are_copied_for_each_shape() -> None:
    types, functions = zip(
        *(line.split() for line in output(PAGE, "prelude = relay.prelude.Prelude()").splitlines())
    )
    assert len(set(types)) == len(set(functions)) == 2
