"""The fusion explorer on programs that nobody wrote for it: the models, and random ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from relay_explorer import models
from relay_explorer.ir.module import IRModule
from relay_explorer.testing import generate
from relay_explorer.transform import SimplifyInference
from relay_explorer.views.fusion.view import fusion_view
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

#: Walks a view: its steps with every pane open in turn, what-if questions in between, rows and names clicked.
WALK = """async (json) => {
  const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
  const view = JSON.parse(json);
  const host = document.createElement("div");
  document.body.append(host);
  const { root, destroy, restore, token } = mount(host, view);
  const press = (key) => root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const count = Number(root.querySelector(".count").textContent.split(" / ")[1]);
  press("Home");
  for (let step = 0; step < Math.min(count, 42); step++) {
    press(["w", "t", "k", "x", "n", "m", "Enter"][step % 7]);
    press("x");
    press("ArrowRight");
    const things = root.querySelectorAll(".row, .stub, .named, .pane:not([hidden]) button");
    things[(step * 13) % things.length]?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    if (step % 9 === 4) for (const key of ["v", "ArrowRight", "V", "PageDown", "PageUp"]) press(key);
  }
  for (const at of [0.3, 0.6, 1]) {
    restore({ step: String(Math.ceil(at * count)), what: "2", pane: "tree", q: "add", only: "1" });
  }
  restore({ what: "99", step: "-5", row: "1e9", pane: "nothing", tab: "__proto__", fold: "0.99999" });
  press("End");
  const state = token();
  const said = root.querySelector(".say").textContent;
  const kernels = new Set([...root.querySelectorAll(".c-kernel code")].map((code) => code.textContent)).size;
  destroy();
  host.remove();
  return { state, said, kernels };
}"""

FIRST = """
def @main(%x: Tensor[(4), float32]) { tanh(%x) }
"""


def programs() -> Iterator[tuple[str, IRModule]]:
    for name in ("lenet", "lstm", "transformer", "resnet50"):
        yield name, SimplifyInference()(models.load(name))
    for seed in range(12):
        yield f"random {seed}", generate(80_000 + seed, size=10 + 5 * seed).module


def loaded(module: IRModule, title: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(fusion_view(module, title=title).to_json())
    return data


def test_every_program_can_be_walked(open_view: Opener) -> None:
    from relay_explorer.text import parse

    page = open_view(loaded(parse(FIRST), "first"))
    expect(page.locator(".say")).not_to_be_empty()
    for name, module in programs():
        left = page.evaluate(WALK, fusion_view(module, title=name).to_json())
        assert left["said"], name


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_resnet_is_drawn_where_the_cursor_is(open_view: Opener, width: int, height: int) -> None:
    """Deep in a program of a thousand rows, the row in question and its lane are in the window."""
    view = loaded(SimplifyInference()(models.load("resnet50")), "resnet50")
    page = open_view(view, width=width, height=height, fragment="#rx-test:step=400&tab=uses")
    now = page.locator(".row.is-now")
    expect(now).to_be_in_viewport()
    expect(page.locator(".fusion-wires .dot.asked")).to_be_in_viewport()
    page.locator(".relay-explorer .rx").focus()
    page.keyboard.press("End")
    expect(page.locator(".say")).to_contain_text("The groups are kernels now: 111 kernels.")
    page.keyboard.press("Home")
    expect(page.locator(".totals")).to_contain_text("now 707")
