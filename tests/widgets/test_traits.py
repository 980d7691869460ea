"""A live widget's traits: what the reader does reaches Python, and what Python sets reaches the reader."""

from __future__ import annotations

from typing import Any

import pytest
from inline_snapshot import snapshot
from playwright.sync_api import Browser, expect

from relay_explorer import explore, models
from relay_explorer.widgets import bundle, states
from tests.widgets.programs import SMALL

# Colab's ipykernel and ipywidgets are older than its Python and its traitlets.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Parsing dates involving a day of month:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Deprecated in traitlets:DeprecationWarning"),
]
OTHER = "def @main(%x: Tensor[(3, 4), float32]) { let %long = tanh(%x); exp(%long) }"


def observed(widget: Any, *names: str) -> list[tuple[str, object]]:
    changes: list[tuple[str, object]] = []
    widget.observe(lambda change: changes.append((change["name"], change["new"])), list(names))
    return changes


def test_tokens_are_read_and_written_as_the_front_end_does() -> None:
    token = "step=9&q=a%20b%26c&damaged&=x"
    assert states.pairs(token) == {"step": "9", "q": "a b&c"}
    assert states.changed(token, {"step": "2", "row": "3"}) == "step=2&q=a%20b%26c&row=3"
    assert states.changed("step=2&row=3", {"row": ""}) == "step=2"


def test_what_the_reader_does_is_observed() -> None:
    widget = explore(SMALL, view="types", live=True).widget()
    changes = observed(widget, "step", "selection", "what_if", "state")
    widget.set_state({"state": "step=3&row=2"})  # as a message of the front end does
    assert ("step", 3) in changes
    assert ("state", "step=3&row=2") in changes
    assert widget.selection == {
        "row": 2, "text": "let %f = fn (", "name": "%f", "operator": "", "type": "", "function": "@main",
    }  # fmt: skip
    widget.set_state({"state": "step=3"})
    assert widget.selection == {}
    assert [name for name, _ in changes].count("step") == 1


def test_python_sets_the_step_and_the_selection() -> None:
    result = explore(SMALL, view="types", live=True)
    widget = result.widget()
    changes = observed(widget, "state")
    widget.step = 4
    widget.selection = {"name": "%f"}
    assert result.state == "step=4&row=2"
    assert widget.selection["text"].startswith("let %f")
    widget.selection = {}
    assert [new for _, new in changes] == ["step=4", "step=4&row=2", "step=4"]
    widget.step = 10_000
    assert widget.step == widget.steps
    with pytest.raises(ValueError, match="no row binds the name '%no'"):
        widget.selection = {"name": "%no"}
    with pytest.raises(ValueError, match="the view 'types' has no what-if questions"):
        widget.what_if = {"order": "greedy"}


def test_other_views_have_other_tokens() -> None:
    program = "def @main(%x: Tensor[(2, 2), float32]) { let %a = exp(%x); tanh(%a) }"
    graph = explore(program, live=True).widget()
    graph.selection = {"name": "%a"}
    assert graph.state.startswith("sel=")
    assert graph.selection["operator"] == "exp"
    assert graph.selection["type"] == "Tensor[(2, 2), float32]"
    fused = explore(program, view="fusion", live=True).widget()
    fused.what_if = {"what if": "no fusion"}
    assert fused.state == "what=1"
    memory = explore(program, view="memory", live=True).widget()
    assert memory.questions["kernels"] == ["one per operator", "fused"]
    assert memory.what_if == {}
    memory.what_if = {"kernels": "fused", "order": "program"}
    assert memory.state == "plan=1.0.0"
    assert memory.what_if == {"kernels": "fused"}, "what differs from the actual run"
    memory.set_state({"state": "step=2&plan=1.0.3"})  # as a message of the front end does
    assert memory.what_if == {"kernels": "fused", "order": "greedy"}
    memory.what_if = {}
    assert memory.state == "step=2"
    with pytest.raises(ValueError, match="there is no question 'kernel': the questions are 'kernels', "):
        memory.what_if = {"kernel": "fused"}
    with pytest.raises(ValueError, match="'kernels' has no answer 'two': the answers are 'one per operator'"):
        memory.what_if = {"kernels": "two"}
    stages = explore(program, view="pipeline", passes="FoldConstant, FuseOps", live=True).widget()
    stages.step = 1
    assert stages.state == "stage=1"


def test_a_row_of_a_pipeline_is_selected_in_the_stage_that_is_shown() -> None:
    program = "def @main(%x: Tensor[(2, 2), float32]) { let %a = exp(%x); add(tanh(%a), add(1f, 2f)) }"
    widget = explore(program, view="pipeline", passes="FoldConstant, ToGraphNormalForm", live=True).widget()
    assert widget.steps == 2
    widget.set_state({"state": "stage=1&row=3"})
    assert widget.selection == snapshot(
        {
            "row": 10,
            "text": "%0 = tanh(%a);",
            "name": "%0",
            "operator": "tanh",
            "type": "Tensor[(2, 2), float32]",
            "function": "@main",
        }
    )
    widget.set_state({"state": "stage=1&row=4"})
    removed = widget.selection
    assert removed == snapshot(
        {
            "row": 4,
            "text": "%1 = add(1f, 2f);",
            "name": "%1",
            "operator": "add",
            "type": "float32",
            "function": "@main",
        }
    )
    assert widget.state == "stage=1&row=4"
    widget.selection = {"name": "%a"}
    assert widget.selection["operator"] == "exp"
    assert widget.state == snapshot("stage=1&row=2")
    widget.selection = {}
    assert widget.state == "stage=1"


def test_a_block_of_rows_is_selected_by_its_name() -> None:
    widget = explore(models.load("resnet18"), live=True).widget()
    widget.set_state({"state": "sel=g3"})
    assert {key: widget.selection[key] for key in ("group", "row", "last", "function")} == snapshot(
        {"group": "stage1_unit1", "row": 110, "last": 118, "function": "@main"}
    )
    assert widget.state == "sel=g3"
    group = widget.selection["group"]
    widget.selection = {}
    assert widget.state == ""
    widget.selection = {"group": group}
    assert widget.selection["group"] == group
    assert widget.state.startswith("sel=g")
    with pytest.raises(ValueError, match="the program has no group 'no'"):
        widget.selection = {"group": "no"}
    with pytest.raises(ValueError, match="the view 'types' has no group 'no'"):
        explore(SMALL, view="types", live=True).widget().selection = {"group": "no"}


def test_steps_are_counted_as_the_explorer_counts_them() -> None:
    program = "def @main(%x: Tensor[(2, 2), float32]) { let %a = exp(%x); tanh(%a) }"
    memory = explore(program, view="memory", live=True).widget()
    assert memory.steps == len(memory.view["variants"][memory.view["grid"][0]]["steps"]) - 1
    compared = explore(program, against=SMALL, live=True).widget()
    assert compared.steps == len(compared.view["differences"]) - 1
    assert explore(program, live=True).widget().steps == 0


def test_another_program_keeps_the_state() -> None:
    result = explore(SMALL, view="types", live=True)
    widget = result.widget()
    widget.step = 3
    result.update(OTHER)
    assert result.widget() is widget
    assert widget.view["view"] == "types"
    assert result.state == "step=3"
    widget.selection = {"name": "%long"}
    assert widget.selection["operator"] == "tanh"
    result.update(OTHER, view="fusion")
    assert widget.view["view"] == "fusion"


def test_it_composes_with_other_widgets_and_closes() -> None:
    import ipywidgets

    result = explore(SMALL, view="types", live=True)
    widget = result.widget()
    slider = ipywidgets.IntSlider(min=1, max=widget.steps)
    box = ipywidgets.VBox([slider, widget])
    ipywidgets.link((slider, "value"), (widget, "step"))
    slider.value = 5
    assert widget.step == 5
    widget.set_state({"state": "step=2"})
    assert slider.value == 2
    assert box.children[1] is widget
    result.close()
    assert widget.comm is None
    assert result.state == "step=2"
    assert result.widget() is not widget


# -- the front end

MODEL = """
const on = new Map();
window.listeners = () => [...on.values()].flat().length;
window.model = {
  values: {}, sent: [],
  get(name) { return this.values[name]; },
  set(name, value) {
    this.values[name] = value;
    this.sent.push(name);
    for (const listener of on.get(`change:${name}`) ?? []) listener();
  },
  save_changes() {},
  on(event, listener) { on.set(event, [...(on.get(event) ?? []), listener]); },
  off(event, listener) { on.set(event, on.get(event).filter((other) => other !== listener)); },
};
"""


@pytest.mark.browser
def test_the_widget_in_a_page(browser: Browser) -> None:
    """The kernel sends the bundle once, the widget reports its state, and close() removes its listeners."""
    widget = explore(SMALL, view="types", live=True).widget()
    page = browser.new_page()
    page.set_content("<!doctype html><title>a notebook</title><main></main><main></main>")
    page.evaluate(MODEL)
    values = {"view": widget.view, "name": "live", "state": "step=3", "digest": bundle.digest(), "code": ""}
    show = """async ([module, values, place]) => {
      Object.assign(model.values, values);
      const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
      window.module ??= (await import(url)).default;
      const el = document.querySelectorAll("main")[place];
      window.ends = [...(window.ends ?? []), window.module.render({ model, el })];
    }"""
    page.evaluate(show, [bundle.module("widget.js"), values, 0])
    expect(page.locator(".rx")).to_have_count(0)
    assert page.evaluate("model.sent") == ["needs_code"]
    page.evaluate("(code) => model.set('code', code)", bundle.compressed())
    expect(page.locator(".rx .count")).to_contain_text("3")
    page.evaluate(show, [bundle.module("widget.js"), {"code": ""}, 1])
    expect(page.locator(".rx .count")).to_have_count(2)
    assert page.evaluate("model.sent").count("needs_code") == 1
    page.get_by_role("button", name="next step").first.click()
    page.wait_for_function("model.values.state.includes('step=4')")
    expect(page.locator(".rx .count").nth(1)).to_contain_text("4")
    page.evaluate("document.querySelectorAll('main')[1].parentNode.style.display = 'inline-flex'")
    box = page.locator(".rx").nth(1).bounding_box()
    assert box is not None
    assert box["width"] > 300, "beside others it is not squeezed to nothing"
    page.evaluate("model.set('state', 'step=2')")
    expect(page.locator(".rx .count").first).to_contain_text("2")
    page.evaluate("async () => { for (const end of window.ends) (await end)(); }")
    assert page.evaluate("window.listeners()") == 0
    page.close()
