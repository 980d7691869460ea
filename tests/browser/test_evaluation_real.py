"""The evaluation explorer and the sharing view on programs that nobody wrote for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from relay_explorer import relay
from relay_explorer.execute import make_list, record
from relay_explorer.ir.module import IRModule
from relay_explorer.models import char_rnn, tree_lstm
from relay_explorer.testing import generate
from relay_explorer.views.evaluation.view import evaluation_view
from relay_explorer.views.sharing.view import sharing_view
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

RINGS = """
type Stream[A] { More(A, fn () -> Stream[A]) }
def @from(%n: int32) -> Stream[int32] { More(%n, fn () { @from(add(%n, 1)) }) }
def @nth(%s: Stream[int32], %i: int32) -> int32 {
  match (%s) { More(%v, %rest) => { if (equal(%i, 0)) { %v } else { @nth(%rest(), subtract(%i, 1)) } } }
}
def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }
def @main() {
  let %knot = ref(fn (%x: int32) -> int32 { %x });
  let %loop = fn (%x: int32) -> int32 {
    if (less(%x, 1)) { 0 } else { let %f = ref_read(%knot); %f(subtract(%x, 1)) }
  };
  let %tied = ref_write(%knot, %loop);
  (%loop(5), @nth(@from(3), 4), @even(7), ref(ref((%knot, %knot))))
}
"""
DEEP = """
def @down(%n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { add(1, @down(subtract(%n, 1))) } }
def @main(%n: int32) -> int32 { @down(%n) }
"""

#: Walks a view: its steps with every pane open in turn; over, out and along a row; asks about values.
WALK = """async (json) => {
  const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
  const view = JSON.parse(json);
  const host = document.createElement("div");
  document.body.append(host);
  const { root, destroy, restore, token } = mount(host, view);
  const press = (key, on = root) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const count = Number(root.querySelector(".count").textContent.split(" / ")[1] ?? 0);
  press("Home");
  for (let step = 0; step < Math.min(count, 150); step++) {
    press(step % 7 === 3 ? "w" : step % 11 === 5 ? "Enter" : "x");
    press("x");
    press("ArrowRight");
    const things = root.querySelectorAll("[data-object], [data-frame], [data-step], .row");
    things[(step * 7) % things.length]?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    if (step % 5 === 0) for (const key of ["o", "u", "n", "N", "[", "]", "Escape"]) press(key);
  }
  for (const at of [0.3, 0.6, 1]) restore({ step: String(Math.ceil(at * count)), sel: "o3", pane: "why" });
  press("End");
  const state = token();
  const said = root.querySelector(".say").textContent;
  destroy();
  host.remove();
  return { state, said, count };
}"""


def programs() -> Iterator[tuple[str, IRModule, tuple[object, ...]]]:
    rng = np.random.default_rng(0)

    def weights(module: IRModule) -> list[object]:
        types = [p.type_annotation.concrete_shape for p in module["main"].params[1:]]  # type: ignore[union-attr]
        return [rng.normal(size=shape).astype("float32") for shape in types]

    lstm = tree_lstm.tree_lstm(2, 2, 3)
    words = [np.ones(2, "float32") * n for n in range(5)]
    sentence = tree_lstm.phrase(lstm, ((words[0], words[1]), (words[2], (words[3], words[4]))))
    yield "lstm", lstm, (sentence, *weights(lstm))
    reader = char_rnn.char_rnn(26, 3, 2)
    yield "reader", reader, (make_list(reader, [np.int32(n) for n in range(20)]), *weights(reader))
    yield "rings", relay.parse(f'#[version = "0.0.5"]\n{RINGS}'), ()
    yield "deep", relay.parse(f'#[version = "0.0.5"]\n{DEEP}'), (np.int32(3000),)
    for seed in range(14):
        yield f"random {seed}", generate(70_000 + seed, size=10 + 4 * seed, closed=True).module, ()


def blank() -> dict[str, Any]:
    """The view that the page opens with: a run of one step."""
    data: dict[str, Any] = json.loads(
        evaluation_view(record(relay.parse("def @main() { 1 }")), "one").to_json()
    )
    return data


def test_every_run_can_be_walked(open_view: Opener) -> None:
    page = open_view(blank())
    expect(page.locator(".say")).not_to_be_empty()
    for name, module, args in programs():
        with np.errstate(all="ignore"):
            run = record(module, *args, limit=600)
        left = page.evaluate(WALK, evaluation_view(run, name).to_json())
        assert left["said"], name


def test_every_computation_can_be_compared_with_itself(open_view: Opener) -> None:
    page = open_view(blank())
    for name, module, args in programs():
        with np.errstate(all="ignore"):
            view = sharing_view(module, args, name)
        assert page.evaluate(WALK, view.to_json())["said"], name
