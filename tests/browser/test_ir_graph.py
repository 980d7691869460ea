"""The graph of the IR explorer: modules level by level, colors, what belongs to a node, and its labels."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from relay_explorer import models, relay
from relay_explorer.ir import Function, IRModule
from relay_explorer.lower.profiling.measurement import stored
from relay_explorer.views.ir.view import ir_view
from tests.browser.explorers import press, rx, state_of, violations
from tests.browser.pages import Opener
from tests.views.programs import ILL_TYPED, program

pytestmark = pytest.mark.browser


@cache
def _text(name: str) -> str:
    run = stored(name) if name == "mobilenet" else None
    return ir_view(models.load(name), name, run=run).to_json()


def view(name: str) -> dict[str, Any]:
    """Return the view of a model, of MobileNet with the times of its stored measurement."""
    data: dict[str, Any] = json.loads(_text(name))
    return data


def graph(page: Page) -> Locator:
    return page.get_by_role("listbox", name=re.compile("^graph"))


def drawn(page: Page) -> list[str]:
    """Return what a screen reader says of the items of the drawing."""
    return graph(page).get_by_role("option").all_text_contents()


def heads(page: Page) -> list[str]:
    return [text.split(",")[0] for text in drawn(page)]


def crumbs(page: Page) -> str:
    return page.locator(".crumbs").inner_text().replace("\n", " ▸ ")


# --- modules ---


def test_modules_open_level_by_level(open_view: Opener) -> None:
    page = open_view(view("transformer"))
    assert heads(page) == ["%x", *(f"layer{n}" for n in range(1, 13))]
    expect(page.locator(".row", has_text="layer12")).to_be_visible()
    graph(page).evaluate("l => l.querySelector('[data-id]:nth-child(2)').click()")
    assert crumbs(page) == "program ▸ layer1"
    press_in_graph(page, "Enter")
    assert "attention" in heads(page)
    assert "query" not in heads(page)
    press_in_graph(page, "Enter", "Shift+Enter")
    assert heads(page).count("query") == 1
    assert sum(head.startswith("reshape") for head in heads(page)) == 4
    assert heads(page)[:3] == ["%x", "layer1", "attention"], "outer modules come first"
    graph(page).get_by_role("option", name=re.compile("^query, ")).dispatch_event("click")
    assert crumbs(page) == "program ▸ layer1 ▸ attention ▸ query"
    assert re.search(r"sel=g\d+&fold=", state_of(page))
    page.locator(".crumbs button", has_text="attention").click()
    expect(page.locator(".say")).to_contain_text("the module layer1_attention, 21 calls")
    press_in_graph(page, "Shift+Enter")
    assert "query" not in heads(page)
    page.get_by_role("button", name="fold: fold all blocks").click()
    assert len(heads(page)) == 13
    page.get_by_role("button", name="+1: open one more level").click()
    assert heads(page).count("attention") == 12
    assert "query" not in heads(page)
    page.get_by_role("button", name="−1: fold the innermost level").click()
    assert len(heads(page)) == 13


def press_in_graph(page: Page, *keys: str) -> None:
    graph(page).focus()
    for key in keys:
        page.keyboard.press(key)


def test_labels_can_be_read_at_first_sight(open_view: Opener) -> None:
    """The first frame writes names with 10 pixels or more."""
    for name in ("transformer", "tree_lstm", "resnet50"):
        page = open_view(view(name), script=RECORD)
        page.wait_for_function("performance.getEntriesByName('relay-explorer-graph').length > 0")
        texts = page.evaluate("window.texts")
        names = [t for t in texts if t["size"] >= 12]
        assert len(names) > 5
        assert min(t["size"] * t["scale"] for t in names) >= 10


# --- colors ---


def test_colors_show_costs_and_folded_modules_their_sums(open_view: Opener, axe_core: str) -> None:
    page = open_view(view("mobilenet"))
    colors = page.get_by_label("what the colors say")
    assert colors.locator("option").all_text_contents() == [
        "operators",
        "operations",
        "memory traffic",
        "measured time",
    ]
    colors.select_option("operations")
    sums = [text for text in drawn(page) if text.startswith("block")]
    assert len(sums) == 13
    assert all(re.search(r"calls, [\d.]+ MFLOP · [\d.]+%, folded", text) for text in sums)
    shares = [float(match) for text in drawn(page) for match in re.findall(r"· ([\d.]+)%", text)]
    assert 97 < sum(shares) < 101
    legend = page.locator(".ir-legend button")
    assert legend.all_text_contents()[-2:] == ["10–30%", "over 30%"]
    legend.filter(has_text="10–30%").click()
    expect(page.locator(".row.is-faded").first).to_be_visible()
    state = state_of(page)
    assert "by=flops&fam=5" in state
    press(page, "c", "c")
    assert "µs ·" in "".join(drawn(page))
    assert "by=time" in state_of(page)
    expect(page.locator(".say")).to_contain_text("Its kernels took 2.99 ms.")
    assert violations(page, axe_core) == []
    other = open_view(view("mobilenet"), fragment=f"#rx-test:{state.split(':')[1]}")
    expect(other.get_by_label("what the colors say")).to_have_value("flops")
    expect(other.locator(".ir-legend [aria-pressed=true]")).to_have_text("10–30%")


def test_colors_show_devices(open_view: Opener) -> None:
    x = relay.var("x", shape=(2,))
    there = relay.annotation.on_device(relay.exp(x), "cuda:0", constrain_result=False)
    module = IRModule.from_expr(Function([x], relay.sqrt(relay.tanh(there))))
    page = open_view(ir_view(module).to_dict(), fragment="#rx-test:by=device")
    assert any(text.startswith("exp") and text.endswith(", cuda:0") for text in drawn(page))
    assert [t.rstrip("0123456789") for t in page.locator(".ir-legend button").all_text_contents()] == [
        "cuda:",
        "any device",
    ]


# --- what belongs to a node ---


def test_everything_above_and_below_a_node_and_paths(open_view: Opener, axe_core: str) -> None:
    page = open_view("ir_views.tiny()")
    rows = page.locator(".row")
    rows.filter(has_text="tanh(%s)").first.click()
    page.keyboard.press("u")
    expect(page.locator(".say")).to_contain_text("Everything from which %0 is computed: 2 of ")
    expect(rows.filter(has_text="multiply(%0, %s)")).to_have_class(re.compile("is-faded"))
    expect(rows.filter(has_text="let %s").first).not_to_have_class(re.compile("is-faded"))
    count = len(drawn(page))
    page.get_by_role("button", name="only: leave everything else out").click()
    assert len(drawn(page)) < count
    assert {"add %s", "tanh %0"} <= set(heads(page))
    assert "reach=up.3&part=1" in state_of(page)
    page.keyboard.press("Escape")
    assert len(drawn(page)) == count
    page.get_by_role("button", name="↓ all: everything that is computed").click()
    expect(page.locator(".say")).to_contain_text("Everything that is computed from %0")
    press(page, "U")
    expect(page.locator(".say")).to_contain_text("%0 is tanh")
    rows.filter(has_text="let %s").first.click()
    page.keyboard.press("p")
    expect(page.locator(".say")).to_contain_text("Paths from %s: choose the node where they end")
    rows.filter(has_text="multiply(%0, %s)").first.click()
    page.keyboard.press("p")
    expect(page.locator(".say")).to_contain_text("Everything on the paths between %s and ")
    state = state_of(page)
    assert re.search(r"reach=paths\.\d+\.\d+", state)
    assert violations(page, axe_core) == []
    other = open_view("ir_views.tiny()", fragment=f"#rx-test:{state.split(':')[1]}&part=1")
    expect(other.locator(".say")).to_contain_text("Everything on the paths between %s and ")
    assert {"add %s", "tanh %0"} <= set(heads(other))


# --- labels ---

# Records the texts that are written: their boxes in the drawing, and with which size and scale.
RECORD = """
window.texts = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const { a } = this.getTransform();
  const width = this.measureText(text).width, size = parseFloat(/([\\d.]+)px/.exec(this.font)[1]);
  const left = x - (this.textAlign === "center" ? width / 2 : this.textAlign === "right" ? width : 0);
  const box = [left, y - size * 0.4, left + width, y + size * 0.4];
  window.texts.push({ text, size, scale: a / devicePixelRatio, box });
  return write.call(this, text, x, y);
};
"""


def overlaps(texts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the pairs of texts of the same scale that overlap by more than a pixel."""
    boxes = {(t["text"], *(round(v) for v in t["box"])): t["box"] for t in texts}
    entries = sorted(boxes.items(), key=lambda item: item[1][1])
    pairs = []
    for number, (key, a) in enumerate(entries):
        for other, b in entries[number + 1 :]:
            if b[1] > a[3]:
                break
            if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1:
                pairs.append((key[0], other[0]))
    return pairs


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("transformer", "fold=none"),
        ("tree_lstm", ""),
        ("resnet50", "weights=1&fold=none"),
        ("mobilenet", "by=time"),
        ("ill-typed", ""),
    ],
)
def test_no_text_overlaps_another(open_view: Opener, name: str, state: str) -> None:
    data = ir_view(program(ILL_TYPED)).to_dict() if name == "ill-typed" else view(name)
    page = open_view(data, fragment=f"#rx-test:{state}", script=RECORD)
    page.wait_for_function("performance.getEntriesByName('relay-explorer-graph').length > 0")
    texts = page.evaluate("window.texts")
    assert len(texts) >= 3
    assert overlaps(texts) == []
    assert not [t["text"] for t in texts if "…" in t["text"] and len(t["text"]) < 30]


# --- faults ---


def test_an_error_is_written_with_code(open_view: Opener) -> None:
    page = open_view(ir_view(program(ILL_TYPED)).to_dict())
    expect(page.locator(".say code").first).to_have_text("nn.dense")
    assert "`" not in page.locator(".say").inner_text()


def test_the_list_for_screen_readers_is_never_seen(open_view: Opener) -> None:
    """Also where a contrast theme would color transparent text."""
    page = open_view("ir_views.tiny()")
    page.emulate_media(forced_colors="active")
    sizes = (
        graph(page)
        .locator("li")
        .evaluate_all(
            "list => list.map((li) => [li.offsetWidth, li.offsetHeight, getComputedStyle(li).clipPath])"
        )
    )
    assert set(map(tuple, sizes)) == {(1, 1, "inset(50%)")}


def test_nothing_covers_the_graph_on_a_phone(open_view: Opener) -> None:
    page = open_view(view("tree_lstm"), width=390, height=844, column=390)
    expect(page.locator("canvas.minimap")).to_be_hidden()
    canvas, zoom = page.locator("canvas.over").bounding_box(), page.locator(".zoom").bounding_box()
    assert canvas is not None
    assert zoom is not None
    assert zoom["y"] + zoom["height"] <= canvas["y"] + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_long_name_stays_short(open_view: Opener) -> None:
    name = "n" * 450
    x = relay.var(name, shape=(2, 2))
    page = open_view(ir_view(IRModule.from_expr(Function([x], relay.nn.dense(x, x, units=2)))).to_dict())
    rx(page).focus()
    page.locator(".row", has_text="nn.dense").first.click()
    lines = page.locator(".say").evaluate("e => e.getBoundingClientRect().height")
    assert lines < 140
    assert page.locator(".details").evaluate("e => e.scrollHeight") < 700


def test_a_constant_shows_its_values(open_view: Opener) -> None:
    import numpy as np

    x = relay.var("x", shape=(50,))
    numbers = np.linspace(-1, 3, 50).astype("float32")
    page = open_view(ir_view(IRModule.from_expr(Function([x], relay.add(x, relay.const(numbers))))).to_dict())
    graph(page).get_by_role("option", name=re.compile("^constant")).dispatch_event("click")
    details = page.locator(".details")
    expect(details).to_contain_text("range-1 to 3")
    expect(details).to_contain_text("mean1")
    expect(details.get_by_role("img", name=re.compile("histogram from -1 to 3"))).to_be_visible()
    assert details.locator("rect").count() == 24
