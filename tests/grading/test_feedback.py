"""The feedback of a check, as text and as HTML, in which a learner's own text is escaped."""

from __future__ import annotations

import random

import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer.grading import check, grade
from relay_explorer.grading.check import Search, exercise
from relay_explorer.grading.feedback import FAILED, PASSED, WAITING, Failure, Feedback, Line, WrongAnswerError
from relay_explorer.ir import RelationError
from relay_explorer.text import parse

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'single' <img src=x onerror=alert(2)>"
LINES = [
    Line("one", "this holds", PASSED),
    Line("two", "`that` does not", FAILED),
    Line("three", "later", WAITING),
]


def test_formats_feedback_as_text() -> None:
    failure = Failure("f(1)\nf(2)", "1", "2", "Count `f`.", printed="hello\n", trace="line 3 of f: return 2")
    assert str(Feedback("Counting", LINES, failure, None)) == snapshot(
        "Counting: two does not hold (1 of 3 do so far)\n"
        "  ✓ one: this holds\n"
        "  ✗ two: `that` does not\n"
        "  · three: later\n"
        "\nOn:\n    f(1)\n    f(2)\n"
        "\nExpected:\n    1\n"
        "\nGot:\n    2\n"
        "\nYour code:\n    line 3 of f: return 2\n"
        "\nIt printed:\n    hello\n"
        "\nHint:\n    Count `f`."
    )


def test_formats_passed_feedback() -> None:
    feedback = Feedback("Counting", [LINES[0]], None, None)
    assert feedback
    assert feedback.failed is None
    assert str(feedback) == snapshot("""\
Counting: all checked properties hold
  ✓ one: this holds\
""")


def test_escapes_text_of_learner() -> None:
    failure = Failure(HOSTILE, HOSTILE, HOSTILE, HOSTILE, printed=HOSTILE, trace=HOSTILE)
    html = Feedback(HOSTILE, [Line(HOSTILE, HOSTILE, FAILED)], failure, None)._repr_html_()
    for raw in ("<script>alert", "<img", 'src="'):
        assert raw not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 10
    assert html.count("<style>") == 1


def test_marks_code_in_sentences() -> None:
    html = Feedback("Counting", LINES, Failure("f", "1", "2", "Count `f<1>`."), None)._repr_html_()
    assert "<code>that</code> does not" in html
    assert "<p>Count <code>f&lt;1&gt;</code>.</p>" in html


def test_escapes_output_and_errors_of_answer() -> None:
    def relation(types: object, num_inputs: int, attrs: object, reporter: object) -> bool:
        print(HOSTILE)
        raise KeyError(HOSTILE)

    feedback = check("type_relation", relation)
    assert feedback.failure is not None
    assert HOSTILE in feedback.failure.printed
    bundle = feedback._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    head = bundle["text/html"].partition('<div class="relay-explorer"')[0]
    assert "<script" not in head
    assert "<img" not in head


def test_escapes_relation_error_in_explorer() -> None:
    def relation(types: object, num_inputs: int, attrs: object, reporter: object) -> bool:
        raise RelationError("</script><script>alert(1)</script>")

    html = check("type_relation", relation)._repr_html_()
    assert "<script>alert" not in html
    assert "alert(1)" in html


@pytest.mark.parametrize("answer", [None, 3, "distances", [len]])
def test_hints_at_answer_that_is_not_a_function(answer: object) -> None:
    feedback = check("type_relation", answer)
    assert feedback.failed == "forward"
    assert feedback.failure is not None
    assert "without parentheses" in feedback.failure.hint


def test_reports_wrong_parameters() -> None:
    feedback = check("type_relation", lambda: True)
    assert feedback.failure is not None
    assert feedback.failure.expected == snapshot("a function, `relation(types, num_inputs, attrs, reporter)`")
    assert feedback.failure.got == snapshot(
        "`<lambda>()`, which cannot be called with these arguments: too many positional arguments"
    )


def test_lists_names_after_unknown_name() -> None:
    with raises(
        snapshot(
            "ValueError: there is no exercise 'fusion': there are 'free_variables', "
            "'alpha_equivalence', 'map_and_fold', 'count_operators', 'leaky_relu', "
            "'operator_converter', 'loop_to_function', 'type_relation', "
            "'unification', 'shape_analysis', 'a_normal_form', 'constant_folding', "
            "'common_subexpressions', 'dead_code', 'fusion_rule', 'combine_dense', 'partial_evaluator', "
            "'operator_gradient', 'realize_operator', 'kl_threshold', 'quantization_scheme', "
            "'lower_operator', 'read_assembly', 'schedule_matmul', 'choose_tile', 'warp_access', "
            "'plan_memory', 'vm_instruction'"
        )
    ):
        check("fusion", len)
    with raises(
        snapshot(
            "ValueError: there is no exercise 'unification': there are 'unification.resolve', "
            "'unification.occurs', 'unification.unify'"
        )
    ):
        check("unification", len)
    with raises(snapshot("ValueError: unification.occurs has no property 'unify': it has 'direct', 'known'")):
        check("unification.occurs", len, "unify")


def test_checks_single_property() -> None:
    feedback = check("unification.occurs", lambda variable, type, classes: True, "known")
    assert [line.name for line in feedback.lines] == ["known"]


def test_grade_raises_feedback_of_check() -> None:
    def always(variable: object, type: object, classes: object) -> bool:
        return True

    with pytest.raises(WrongAnswerError, match=r"^occurs: direct does not hold") as raised:
        grade("unification.occurs", always)
    assert str(raised.value) == str(check("unification.occurs", always))


def test_properties_have_names_and_sentences() -> None:
    for name in ("type_relation", "unification.resolve", "unification.occurs", "unification.unify"):
        result = exercise(name)
        names = [prop.name for prop in result.properties]
        assert len(set(names)) == len(names) > 1
        assert all(prop.says and prop.says[-1] != "." for prop in result.properties)


def test_search_shrinks_to_smallest_case() -> None:
    def judge(number: int) -> Failure | None:
        return Failure(str(number), "", "too large") if number >= 10 else None

    def smaller(number: int) -> list[int]:
        return [number // 2, number - 1]

    search: Search[int] = Search(judge, smaller)
    rng = random.Random(3)
    for _ in range(50):
        result = search([1, rng.randint(10, 10_000)])
        assert result is not None
        assert result.case == "10"
    assert search(range(10)) is None


def test_draws_failing_program() -> None:
    program = parse("def @main(%x: float32) { exp(%x) }")
    from relay_explorer.grading.check import _drawn

    assert _drawn(Failure("", "", "", program=program)).view.kind == "types"
    assert _drawn(Failure("", "", "", program=program, view="ir")).view.kind == "ir"
    assert _drawn(Failure("", "", "")) is None
