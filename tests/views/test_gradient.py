"""The gradient view: the backward pass in words, what stands beside what, what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import explore, models
from relay_explorer.ir.declaration import Gradient
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.op import Op
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.views import picture
from relay_explorer.views.gradient.format import GradientMark, GradientView, Kept, Role
from relay_explorer.views.gradient.sentences import rule
from relay_explorer.views.gradient.view import gradient_view
from tests.support.views.check import check
from tests.views.gradients import CHOICE, DATA, FORK, LAYER, NAMES, PARTS, sample

ROOT = Path(__file__).parents[2]


def view(text: str) -> GradientView:
    return gradient_view(parse(text))


def told(shown: GradientView) -> list[str]:
    return [step.say[0].format(*step.say[1:]) for step in shown.steps]


def lines(shown: GradientView, name: str) -> list[str]:
    """What stands beside a value."""
    at = next(n for n, value in enumerate(shown.values) if value.name == name)
    return ["".join(t.text for t in line.tokens) for line in shown.lines if line.value == at]


def kept(shown: GradientView, how: Kept = Kept.NUMBERS) -> list[str]:
    return [value.name for value in shown.values if value.kept == how and not value.given]


def test_the_backward_pass_is_described_in_reverse() -> None:
    shown = view(LAYER)
    assert told(shown) == snapshot(
        [
            "The forward pass computes the result from 4 parameters by 6 operators. The backward pass "
            "starts at the result and visits each of them in reverse.",
            "%loss sum is the result. A change of it changes the result by the same amount, so its "
            "derivative, %d_loss, is **one**.",
            "**%loss sum** in reverse: it receives %d_loss and passes %d_q to %q multiply. Of %q only "
            "the shape is needed.",
            "**%q multiply** in reverse: it receives %d_q and passes %g2 and %g3 to %e subtract. It "
            "reads %e, **stored** by the forward pass.",
            "%e subtract was used twice, by %q multiply. %d_e is the **sum** of their derivatives.",
            "**%e subtract** in reverse: it receives %d_e and passes it unchanged to %y tanh and %d_t "
            "to %t. It needs no value from the forward pass.",
            "**%y tanh** in reverse: it receives %d_e and passes %d_z to %z nn.bias_add. It reads %y, "
            "**stored** by the forward pass.",
            "**%z nn.bias_add** in reverse: it receives %d_z and passes it unchanged to %h nn.dense and "
            "%d_b to %b. It needs no value from the forward pass.",
            "**%h nn.dense** in reverse: it receives %d_z and passes %d_x to %x and %d_w to %w. It "
            "reads %x and %w, parameters or constants.",
            "%x is a parameter. Its derivative is complete: %d_x, from %h nn.dense.",
            "%w is a parameter. Its derivative is complete: %d_w, from %h nn.dense.",
            "%b is a parameter. Its derivative is complete: %d_b, from %z nn.bias_add.",
            "%t is a parameter. Its derivative is complete: %d_t, from %e subtract.",
            "All derivatives have been computed. For them the forward pass stored **2 values, 24 "
            "bytes**; of 1 other value only the shape is needed.",
        ]
    )
    assert shown.summary == (
        "6 operators forward, 17 backward. The forward pass must store 2 values (24 bytes) for the "
        "backward pass."
    )


def test_each_line_stands_beside_the_operator_whose_rule_it_is() -> None:
    shown = view(LAYER)
    assert lines(shown, "%y") == [
        "%g4 = 1f",
        "%g5 = multiply(%y, %y)",
        "%g6 = subtract(%g4, %g5)",
        "%d_z = multiply(%d_e, %g6)",
    ]
    assert lines(shown, "%e") == ["%d_e = add(%g2, %g3)", "%d_t = negative(%d_e)"]
    assert lines(shown, "%loss")[0] == '%d_loss = ones(shape=[], dtype="float32")'
    assert [line.role for line in shown.lines].count(Role.SUM) == 1


def test_a_rule_is_said_as_a_formula_and_where_it_stands() -> None:
    tanh = next(
        step for step in view(LAYER).steps if "tanh** in reverse" in step.say[0].format(*step.say[1:])
    )
    assert tanh.rule[0] == snapshot(
        "rule: dx = dy · (1 − y²) · `tanh` in `relay_explorer/ops/unary/exponential.py`"
    )


def test_the_rule_of_every_gradient_is_its_formula_and_its_operators_file() -> None:
    for op in map(Op.get, Op.list_op_names()):
        if isinstance(op.gradient, Gradient):
            text, name = rule(op, [])
            assert (name, op.gradient.formula in text) == (op.name, True)
            path = text[text.index(" in `") + len(" in `") : -1]
            assert (ROOT / path).is_file() or (ROOT / path.replace(".py", "/__init__.py")).is_file()


def test_what_is_kept_is_freed_when_its_last_use_is_behind() -> None:
    shown = view(LAYER)
    assert (kept(shown), kept(shown, Kept.SHAPE)) == (["%y", "%e"], ["%q"])
    assert [step.kept for step in shown.steps] == [24, 24, 24, 12, 12, 12, 0, 0, 0, 0, 0, 0, 0, 0]
    assert shown.kept.bytes == 24
    assert shown.forward.flops == 39


def test_a_value_used_by_two_operators_gets_the_sum_of_both() -> None:
    shown = view(FORK)
    (added,) = [step for step in shown.steps if step.mark == GradientMark.SUM]
    assert added.say[0].format(*added.say[1:]) == snapshot(
        "%a exp was used twice, by %c sigmoid and %b multiply. %d_a is the **sum** of their derivatives."
    )
    assert told(shown)[-1] == snapshot(
        "All derivatives have been computed. For them the forward pass stored **2 values, 48 "
        "bytes**; of 1 other value only the shape is needed.\n"
        "The result does not depend smoothly on %i: the derivatives by it are zero."
    )
    assert lines(shown, "%i") == [
        '%d = zeros(shape=[2], dtype="int32")'.replace("%d =", f"{shown.lines[-1].name} =")
    ]


def test_tuples_hand_on_and_compute_nothing() -> None:
    shown = view(PARTS)
    assert lines(shown, "%p") == [
        '%g8 = zeros(shape=[4, 2], dtype="float32")',
        "%g9 = (%d_a, %g8, %d_x1)",
        "%d_x = concatenate(%g9, axis=1)",
    ]
    assert lines(shown, "%j")[1:] == [
        "%g4 = split(%d_j, indices_or_sections=[2], axis=1)",
        "%d_b = %g4.1",
        "%d_a = %g4.0",
    ]
    passed = [t for t, step in zip(told(shown), shown.steps, strict=True) if step.mark == GradientMark.PASSED]
    assert passed[0] == snapshot(
        "%x4 tuple groups values: the derivative of each field is passed to the value in it, %x3 sum."
    )
    assert passed[2] == snapshot("%x1 is one field of %p split, so its derivative is passed to that field.")


def test_a_block_that_is_not_on_the_way_is_shown_and_not_entered() -> None:
    shown = view(CHOICE)
    assert any("".join(t.text for t in row.tokens).startswith("let %two") for row in shown.rows)
    assert kept(shown) == ["%k"]
    assert told(shown)[-1] == snapshot("""\
All derivatives have been computed. For them the forward pass stored **1 value, 4 bytes**.
The result does not depend smoothly on %n: the derivatives by it are zero.\
""")


def test_a_result_that_moves_with_nothing() -> None:
    shown = view("def @main(%x: float32) { 2f }")
    assert [step.mark for step in shown.steps] == [GradientMark.BEGIN, GradientMark.END]
    assert shown.summary == snapshot(
        "0 operators forward, 1 backward. The forward pass must store nothing for the backward pass."
    )
    assert check(shown.to_dict()) == []


def test_sizes_that_are_not_known_are_lower_bounds() -> None:
    shown = view("def @main(%x: Tensor[(?, 3), float32]) { sum(tanh(%x)) }")
    assert shown.summary.endswith("must store 1 value (at least 12 bytes) for the backward pass.")
    assert "stored **1 value, at least 12 bytes**" in told(shown)[-1]


def test_functions_are_refused_with_what_to_do() -> None:
    with raises(
        snapshot(
            "RelayError:\n"
            "from_string:1:65: error: first-order differentiation goes through operators, tuples and "
            "`let`s, but not through a call of a function\n"
            "   1 | def @main(%x: float32) { let %f = fn (%v: float32) { exp(%v) }; %f(%x) }\n"
            "     |                                                                 ^^^^^^\n"
            'help: differentiate it with mode="higher_order", which follows the program while it runs\n'
            "help: or run PartialEvaluate or Inline first, if the callee or the condition is static"
        )
    ):
        explore("def @main(%x: float32) { let %f = fn (%v: float32) { exp(%v) }; %f(%x) }", view="gradient")
    with raises(snapshot("RelayError: error: the module has no function to differentiate")):
        explore("type T { A, }", view="gradient")


def test_models_and_random_programs_make_views() -> None:
    for name in ("lenet", "mlp", "lstm"):
        shown = explore(models.load(name), view="gradient").view
        assert isinstance(shown, GradientView)
        assert check(shown.to_dict()) == []
    made = 0
    for seed in range(60):
        module = generate(9_000 + seed, size=10 + seed % 30).module
        try:
            shown = gradient_view(module)
        except RelayError:
            continue
        made += 1
        assert check(shown.to_dict()) == [], seed
    assert made > 15


def test_a_long_program_takes_no_deep_stack() -> None:
    text = "".join(f"  %{n} = negative({'%x' if n == 0 else f'%{n - 1}'});\n" for n in range(3_000))
    shown = view(f"def @main(%x: float32) {{\n{text}  exp(%2999)\n}}")
    assert (shown.forward.calls, len(shown.values)) == (3_001, 3_002)


def test_the_checker_finds_what_does_not_fit() -> None:
    data = json.loads(sample("layer"))
    data["steps"][2][4] = [1, 2]
    data["lines"][3][7] = [8, 0]
    assert check(data) == snapshot(["line 3: uses numbers or a shape", "steps: must add each line once"])
    data["lines"][3][7] = [8, 3]
    assert check(data) == snapshot(["lines[3].uses[0].how: 3 is none of the 3"])
    data["values"][4][8] = [2]
    assert check(data) == snapshot(["values[4].users[0]: 2 is not an index into 10 values"])


def test_the_picture_has_derivatives_and_what_is_kept() -> None:
    text = picture.text(view(LAYER))
    assert any(row.endswith("%d_e, stored: 12 bytes") for row in text.splitlines())
    assert "<li>%q multiply in reverse: it receives %d_q" in picture.html(view(LAYER))


# Colab's old jupyter_client and traitlets, on a new Python.
@pytest.mark.filterwarnings("ignore:Parsing dates involving a day of month:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Deprecated in traitlets:DeprecationWarning")
def test_it_is_a_live_widget_and_one_file(tmp_path: Path) -> None:
    shown = explore(LAYER, view="gradient", live=True, state="step=6", name="mine")
    assert shown.widget().state == shown.state == "step=6"
    saved = explore(LAYER, view="gradient", title="layer").save(tmp_path / "layer").read_text("utf-8")
    assert '"view":"gradient"' in saved
    assert "http://" not in saved.replace("http://www.w3.org", "")


@pytest.mark.parametrize("name", NAMES)
def test_the_samples_are_what_the_pass_gives(name: str) -> None:
    assert (DATA / f"gradient_{name}.json").read_text("utf-8") == sample(name)
