"""The memory explorer on programs that nobody wrote for it: a model, a gradient, random programs."""

from __future__ import annotations

import json

import pytest

from relay_explorer import models, relay
from relay_explorer.ir import IRModule
from relay_explorer.views.memory.view import memory_view
from tests.analysis.storage_programs import random_function
from tests.browser.explorers import Samples
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

#: Walks a view: keys and clicks in turn, other plans in between, states that do not exist.
WALK = """async (json) => {
  const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
  const host = document.createElement("div");
  document.body.append(host);
  const { root, destroy, restore, token } = mount(host, JSON.parse(json));
  const press = (key) => root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press("Home");
  for (let step = 0; step < 40; step++) {
    press(["w", "a", "u", "g", "n", "p", "Enter", "z", "x"][step % 9]);
    press("ArrowRight");
    const things = root.querySelectorAll(".row, .named, .link, .choice .btn, .pane:not([hidden]) button");
    things[(step * 13) % things.length]?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    if (step % 9 === 4) ["v", "ArrowRight", "V", "PageDown", "PageUp", "Escape"].forEach(press);
  }
  const none = { pane: "nothing", tab: "__proto__", fold: "0.99999", time: "x" };
  restore({ step: "-5", plan: "9.9.9.9", row: "1e9", ...none });
  press("End");
  const bars = root.querySelectorAll(".row .life-bar").length;
  const found = [token(), root.querySelector(".say").textContent, bars];
  destroy();
  host.remove();
  return found;
}"""


def test_walks_end_where_the_result_is(open_view: Opener) -> None:
    mlp = relay.transform.InferType()(models.load("mlp"))
    gradient = IRModule.from_expr(relay.transform.gradient(mlp["main"], mode="first_order"))
    programs = {"lenet": models.load("lenet"), "gradient": gradient}
    programs |= {f"random {seed}": IRModule.from_expr(random_function(seed)) for seed in range(4)}
    page = open_view(Samples("memory")("block"))
    for name, module in programs.items():
        view = memory_view(module, name)
        token, said, bars = page.evaluate(WALK, json.dumps(view.to_dict()))
        assert token.startswith(f"step={len(view.variants[0].steps) - 1}"), name
        assert "plan" not in token, name
        assert said.startswith("The result is computed."), name
        assert bars == len(view.variants[0].lives) > 0, name
