"""The type-inference explorer on real inferences, from the program's text to the drawing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from relay_explorer import models, relay
from relay_explorer.typing.infer import record
from relay_explorer.views.types.view import types_view
from tests.browser.pages import ROOT, Opener

pytestmark = pytest.mark.browser

BROADCAST = """
def @main(%x: Tensor[(3, 4), float32]) {
  let %f = fn (%a) {
    %0 = tanh(%a);
    add(%0, %a)
  };
  %1 = exp(%x);
  %f(%1)
}
"""
PERCEPTRON = """
def @main(%x: Tensor[(1, 784), float32], %w1: Tensor[(128, 784), float32], %b1: Tensor[(128), float32],
          %w2: Tensor[(10, 128), float32]) {
  %0 = nn.dense(%x, %w1, units=128);
  %1 = nn.bias_add(%0, %b1);
  %2 = nn.relu(%1);
  %3 = nn.dense(%2, %w2, units=10);
  nn.softmax(%3)
}
"""
TRANSPOSED = """
def @main(%x: Tensor[(1, 784), float32], %w: Tensor[(784, 128), float32], %b: Tensor[(128), float32]) {
  %0 = nn.dense(%x, %w);
  %1 = nn.bias_add(%0, %b);
  nn.relu(%1)
}
"""
UNDERDETERMINED = "def @main(%x) { add(%x, %x) }"
CONCATENATED = """
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4, 4), float32]) {
  let %b = nn.relu(%y);
  concatenate((%x, %b), axis=0)
}
"""
POLYMORPHIC = """
def @id[A](%v: A) -> A { %v }
def @main(%x: Tensor[(2, 3), float32]) {
  let %t = (@id(%x), 1f);
  if (True) { nn.relu(%t.0) } else { %t.0 }
}
"""
LEARNERS = {"broadcast": BROADCAST, "perceptron": PERCEPTRON, "transposed": TRANSPOSED}
ALL = {**LEARNERS, "underdetermined": UNDERDETERMINED, "polymorphic": POLYMORPHIC}


def view_of(source: str, title: str = "a program") -> dict[str, Any]:
    module = relay.parse(f'#[version = "0.0.5"]\n{source}')
    data: dict[str, Any] = json.loads(types_view(record(module), title).to_json())
    return data


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_sized_program_fits_the_screen(open_view: Opener, name: str) -> None:
    page = open_view(view_of(LEARNERS[name]))
    box = page.locator(".rx").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 800
    assert page.locator(".scroller").evaluate("e => e.scrollHeight <= e.clientHeight")


@pytest.mark.parametrize("name", ALL)
def test_every_step_can_be_walked_and_every_type_is_found(open_view: Opener, name: str) -> None:
    view = view_of(ALL[name])
    page = open_view(view)
    page.locator(".rx").focus()
    page.keyboard.press("Home")
    for step in range(len(view["steps"])):
        expect(page.locator(".count")).to_have_text(f"{step + 1} / {len(view['steps'])}")
        assert page.locator(".say").inner_text()
        assert page.locator(".row.is-now").count() == (1 if view["steps"][step][1] >= 0 else 0)
        page.keyboard.press("ArrowRight")
    if view["conflict"] is None:
        expect(page.locator(".chip.var:not(.known)")).to_have_count(0)
        expect(page.locator(".chip.rel:not(.done)")).to_have_count(0)
    else:
        expect(page.get_by_role("group", name="conflict")).to_be_visible()
        expect(page.locator(".chip.rel.refused")).to_have_count(1)


def test_too_little_known_is_not_told_as_a_disagreement(open_view: Opener) -> None:
    page = open_view(view_of(UNDERDETERMINED))
    conflict = page.get_by_role("group", name="conflict")
    expect(conflict).to_contain_text("What to try")
    expect(conflict).not_to_contain_text("disagree")


def test_one_type_that_is_refused_by_itself_stands_alone(open_view: Opener) -> None:
    page = open_view(view_of("def @main(%x: Tensor[(2, 3), float32]) { nn.softmax(%x, axis=7) }"))
    conflict = page.get_by_role("group", name="conflict")
    expect(conflict).to_contain_text("This is where it comes from.")
    expect(conflict.locator(".side")).to_have_count(1)


def test_two_fields_of_one_tuple_disagree(open_view: Opener) -> None:
    page = open_view(view_of(CONCATENATED))
    sides = page.get_by_role("group", name="conflict").locator(".side")
    types = sides.locator(".type code").all_inner_texts()
    assert types == ["Tensor[(2, 3), float32]", "Tensor[(4, 4), float32]"]
    expect(sides.nth(0)).to_contain_text("%x is annotated")
    expect(sides.nth(1)).to_contain_text("is Tensor[(4, 4), float32]")


def test_an_empty_module_says_that_it_is_empty(open_view: Opener) -> None:
    page = open_view(view_of(""))
    expect(page.locator(".say")).to_have_text("The module is empty, so there is nothing to infer.")
    expect(page.locator(".empty-note")).to_have_text("The program is empty.")


def test_resnet_50_opens_where_a_relation_first_continues(open_view: Opener) -> None:
    view = json.loads(types_view(record(models.load("resnet50")), "resnet50").to_json())
    page = open_view(view)
    expect(page.locator(".row.is-now", has_text="%18 = %16.0")).to_be_in_viewport()
    page.get_by_label("find in the program").fill("add")
    page.get_by_label("where to search").select_option("op")
    expect(page.locator(".hits")).to_have_text("17 matches")  # 16 residual additions, one bias_add
    page.get_by_role("button", name="next match").click()
    page.locator(".row[aria-selected=true] .chip.var").last.click()
    expect(page.locator(".ask")).to_contain_text("known later? From step")
    assert page.locator(".pane:visible .entry").count() > 10


#: Walks up to 120 steps of a view through every pane, asks why of 20 chips, and tells what was left open.
WALK = """async (json) => {
  const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
  const view = JSON.parse(json);
  const host = document.createElement("div");
  document.body.append(host);
  const { root, destroy } = mount(host, view);
  const press = (key) => root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const tabs = root.querySelectorAll(".aside .tab");
  press("Home");
  for (let step = 0; step < Math.min(view.steps.length, 120); step++) {
    tabs[step % 3].click();
    press("ArrowRight");
  }
  for (const chip of [...root.querySelectorAll(".chip")].slice(0, 20)) chip.click();
  press("End");
  const open = root.querySelectorAll(".chip.var.unknown, .chip.rel:not(.done)").length;
  const conflict = !root.querySelector(".conflict").hidden;
  destroy();
  host.remove();
  return { open, conflict };
}"""


def test_every_model_and_conformance_program_can_be_walked(open_view: Opener) -> None:
    data = (ROOT / "tests" / "data" / "conformance.json").read_text("utf-8")
    reference: dict[str, Any] = json.loads(data)
    programs = {name: relay.parse(case["text"]) for name, case in reference.items()}
    programs |= {name: models.load(name) for name in ["lenet", "mobilenet", "transformer", "lstm"]}
    page = open_view(view_of(BROADCAST))
    for name, module in programs.items():
        left = page.evaluate(WALK, types_view(record(module), name).to_json())
        typed = name not in reference or reference[name]["well_typed"]
        assert left["conflict"] is not typed, name
        assert not typed or left["open"] == 0, f"{name}: {left['open']} variables or relations are left open"


def test_a_relation_alone_on_its_row_shows_its_formula(open_view: Opener) -> None:
    """The row's line names the operator already; the whole label is the chip's title."""
    page = open_view(json.loads(types_view(record(relay.parse(PERCEPTRON))).to_json()))
    page.keyboard.press("End")
    chip = page.locator(".chip.rel").first
    expect(chip).to_have_text("✓ α = %x · %w1ᵀ")
    assert (chip.get_attribute("title") or "").startswith("nn.dense: α = ")
    assert chip.locator("span").last.evaluate("(node) => node.scrollWidth <= node.clientWidth")
