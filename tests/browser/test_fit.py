"""Every explorer fits its window: what steps stays in sight, the panes share the height, and nothing moves
while a reader steps.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorers import Samples, press, rx
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

#: A sample of each view, the largest that there is.
VIEWS = {
    "evaluation": "tree", "fusion": "called", "gradient": "lenet", "lowering": "softmax", "machine": "tree",
    "compare": "passes", "memory": "scopes", "partial": "tree", "pipeline": "orders", "quantize": "network",
    "run": "small", "sharing": "branches", "source": "encoder",
}  # fmt: skip
FIXTURES = {"types": "learner.waiting()", "ir": "ir_views.resnet()"}
SIZES = [(1280, 800), (922, 800), (390, 844), (844, 390), (320, 600)]
BAR = 52

#: A page like the book's, with a bar that stays on top, into which `show(view)` puts an explorer.
PAGE = """() => {
  document.querySelector("h1").remove();
  const bar = document.createElement("header");
  bar.style.cssText = "position: sticky; top: 0; height: 52px; background: silver";
  const after = document.createElement("p");
  after.style.height = "1500px";
  document.body.prepend(bar);
  document.body.append(after);
  let shown = null;
  window.show = async (view) => {
    const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
    shown?.destroy();
    document.querySelectorAll(".relay-explorer").forEach((node) => node.remove());
    const host = document.createElement("div");
    host.className = "relay-explorer";
    host.id = "rx-test";
    document.querySelector("main").append(host);
    shown = mount(host, view, { name: "test", address: true });
    scrollTo(0, host.getBoundingClientRect().top + scrollY - 52);
    await frames();
  };
  window.frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  window.root = () => document.querySelector(".relay-explorer").shadowRoot.querySelector(".rx");
}"""
#: Where the parts of the explorer are, and what is wrong with that.
FIT = """async () => {
  const rx = root(), wrong = [];
  const box = (node) => node.getBoundingClientRect();
  const whole = box(rx);
  if (whole.height > innerHeight - 52) wrong.push(`${whole.height} px high`);
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("wider than the window");
  for (const node of rx.querySelectorAll(".transport, .time, .bar .count, .whole-button, .said")) {
    if (!node.offsetParent) continue;
    const { top, bottom, left, right, width } = box(node);
    if (top < 51 || bottom > innerHeight || left < -1 || right > innerWidth + 1 || width < 10)
      wrong.push(`${node.className} at ${[left, top, right, bottom].map(Math.round)}`);
  }
  const within = (node) => {
    for (const part of node.children) {
      if (part.matches(".sr, .bar, .pop, svg, .from-node") || !part.offsetParent) continue;
      if (box(part).bottom > whole.bottom + 1) wrong.push(`${part.className} leaves the explorer`);
      if (part.matches(".body, .body *") && getComputedStyle(part).overflowY === "visible") within(part);
    }
  };
  within(rx);
  return wrong;
}"""
#: The size of the smallest letters of code and of buttons.
LETTERS = """() => Math.min(...[...root().querySelectorAll(".cell.code, .btn, .tab, .name, .say small")]
  .filter((node) => node.offsetParent).map((node) => parseFloat(getComputedStyle(node).fontSize)))"""
#: Targets of less than 24 by 24 pixels with another one in the circle around them (WCAG 2.5.8), by class.
TARGETS = """() => {
  const targets = "button, a[href], select, input, summary, [role=button], [role=tab]";
  const shown = (node) => node.offsetParent && getComputedStyle(node).visibility === "visible";
  const all = [...root().querySelectorAll(targets)].filter((node) => shown(node) && !node.closest(".sr"));
  const boxes = all.map((node) => node.getBoundingClientRect());
  const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
  const wrong = new Set();
  all.forEach((node, i) => {
    const { width, height } = boxes[i];
    if ((width >= 23.9 && height >= 23.9) || width === 0) return;
    // A link in a sentence is exempt.
    if (node.matches(".sentence a, p a, .say .named, .sentence .named")) return;
    const [x, y] = middle(boxes[i]);
    const near = boxes.some((box, j) => {
      if (i === j || all[j].contains(node) || node.contains(all[j]) || box.width === 0) return false;
      const small = box.width < 23.9 || box.height < 23.9;
      const [a, b] = middle(box);
      if (small && Math.hypot(x - a, y - b) < 24) return true;
      const dx = Math.max(box.left - x, 0, x - box.right), dy = Math.max(box.top - y, 0, y - box.bottom);
      return Math.hypot(dx, dy) < 12;
    });
    if (near) wrong.add(`${node.tagName}.${node.className} ${Math.round(width)}x${Math.round(height)}`);
  });
  return [...wrong].slice(0, 12);
}"""
#: Through the film: where the bar, the sentence and the rows begin, and how high the explorer is.
STEPS = """async (keys) => {
  const rx = root();
  rx.focus({ preventScroll: true });
  const box = (selector) => rx.querySelector(selector).getBoundingClientRect();
  const seen = new Set();
  const at = scrollY;
  let steps = 0;
  for (const key of keys) {
    rx.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    if (steps++ % 4 === 0) await frames();
    const places = [box(".bar").top, box(".said").top, box(".said").height, box(".parts").top];
    seen.add([...places, rx.getBoundingClientRect().height].map(Math.round).join(" "));
  }
  return { places: [...seen], scrolled: scrollY - at };
}"""


def views() -> dict[str, str | dict[str, Any]]:
    return {**{name: Samples(name)(sample) for name, sample in VIEWS.items()}, **FIXTURES}


def in_book(open_view: Opener, width: int, height: int, letters: str = "100%") -> Page:
    theme = f'light" style="font-size: {letters}'
    page = open_view("learner.waiting()", width=width, height=height, theme=theme)
    page.evaluate(PAGE)
    return page


def show(page: Page, view: str | dict[str, Any]) -> None:
    if isinstance(view, str):
        module, call = view.split(".")
        page.evaluate(f'async () => show((await import("/frontend/test/fixtures/{module}.js")).{call})')
    else:
        page.evaluate("(text) => show(JSON.parse(text))", json.dumps(view))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_explorer_fits_its_window(open_view: Opener, size: tuple[int, int]) -> None:
    page = in_book(open_view, *size)
    wrong = {}
    for name, view in views().items():
        show(page, view)
        wrong[name] = page.evaluate(FIT)
        if name == "run":
            page.get_by_role("tab", name="One kernel at every level").click()
            wrong[name] += page.evaluate(FIT)
        elif name != "ir" and size not in ((922, 800), (320, 600)):
            film = page.evaluate(STEPS, ["Home"] + ["ArrowRight"] * 12 + ["End"])
            # Each pass has rows of its own, and each phase of quantization columns: their height may change.
            whole = name not in ("pipeline", "quantize", "compare")
            places = {place if whole else place.rsplit(" ", 1)[0] for place in film["places"]}
            if len(places) > 1 or film["scrolled"]:
                wrong[name] += [film]
            wrong[name] += page.evaluate(FIT)
    assert wrong == {name: [] for name in wrong}


def test_text_grows_with_the_browsers_letters(open_view: Opener) -> None:
    sizes = {}
    for letters in ("100%", "200%"):
        page = in_book(open_view, 1280, 800, letters)
        for name, view in views().items():
            show(page, view)
            assert page.evaluate(FIT) == [], (name, letters)
            sizes[name, letters] = page.evaluate(LETTERS)
    for name in views():
        assert sizes[name, "200%"] >= 1.6 * sizes[name, "100%"], name


def test_f_fills_the_window_and_leaves_everything_where_it_was(open_view: Opener) -> None:
    page = in_book(open_view, 1280, 800)
    show(page, Samples("fusion")("called"))
    page.evaluate("() => { scrollBy(0, 30); root().querySelector('.scroller').scrollTop = 70; }")
    scroller = "[scrollY, root().querySelector('.scroller').scrollTop]"
    before = page.evaluate(scroller)
    row = page.locator(".row[aria-selected]").nth(8)
    row.click()
    text = page.locator(".say").inner_text()
    page.keyboard.press("f")
    box = rx(page).bounding_box()
    assert box == {"x": 0, "y": 0, "width": 1280, "height": 800}
    assert page.evaluate("document.elementFromPoint(640, 20) === document.querySelector('.relay-explorer')")
    expect(row).to_be_focused()
    page.mouse.wheel(0, 3000)
    page.keyboard.press("ArrowRight")
    assert page.locator(".say").inner_text() != text
    page.keyboard.press("ArrowLeft")
    assert page.locator(".say").inner_text() == text
    page.evaluate("root().querySelector('.scroller').scrollTop = 70")
    page.keyboard.press("f")
    expect(row).to_be_focused()
    assert page.evaluate(scroller) == before
    assert page.evaluate("root().offsetHeight") <= 800 - BAR
    page.keyboard.press("Escape")  # out of the row
    page.get_by_role("button", name="fill the window").click()
    assert rx(page).bounding_box() == box
    page.keyboard.press("Escape")
    assert page.evaluate(scroller) == before


def test_a_sentence_that_is_cut_opens_over_the_rows(open_view: Opener) -> None:
    page = in_book(open_view, 390, 844)
    show(page, Samples("memory")("scopes"))
    places = "['.said', '.parts'].map((name) => root().querySelector(name).getBoundingClientRect().top)"
    before = page.evaluate(places)
    more = page.get_by_role("button", name="more", exact=True)
    expect(more).to_be_visible()
    press(page, "d")
    expect(page.get_by_role("button", name="less")).to_have_attribute("aria-expanded", "true")
    cut = (
        "(() => { const say = root().querySelector('.say'); return say.scrollHeight - say.clientHeight; })()"
    )
    assert page.evaluate(cut) <= 1
    assert page.evaluate(places) == before
    press(page, "ArrowLeft", "Escape")
    expect(more).to_be_visible()
    more.click()
    assert page.evaluate(cut) <= 1


def test_on_a_phone_the_tools_and_the_foot_are_in_a_menu(open_view: Opener) -> None:
    page = in_book(open_view, 390, 844)
    show(page, Samples("evaluation")("tree"))
    foot = page.locator(".foot")
    expect(foot).to_be_hidden()
    expect(page.get_by_role("button", name="find")).to_be_hidden()
    menu = page.get_by_role("button", name="more tools")
    menu.click()
    expect(page.get_by_role("button", name="over")).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(page.get_by_role("button", name="over")).to_be_hidden()
    menu.click()
    page.get_by_role("button", name="legend and totals").click()
    expect(foot).to_be_visible()
    assert page.evaluate(FIT) == []


def test_a_long_run_is_magnified_and_a_part_of_it_selected(open_view: Opener) -> None:
    page = in_book(open_view, 1280, 800)
    show(page, "large.large(250)")
    film = page.locator(".time")
    note = page.get_by_role("group", name="selected part")
    box = film.bounding_box()
    assert box is not None
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 100, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 12)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(note).to_contain_text(re.compile(r"\d+ steps: wait \d+"))
    first = note.inner_text()
    page.mouse.move(box["x"] + 200, box["y"] + 12)  # the right handle
    page.mouse.down()
    page.mouse.move(box["x"] + 150, box["y"] + 12)
    page.mouse.up()
    assert note.inner_text() != first
    expect(film).to_have_attribute("aria-valuetext", re.compile("Selected: steps [0-9]+ to [0-9]+ · "))
    bins = film.locator(".bin").count()
    note.get_by_role("button", name="magnify").click()
    expect(film.locator(".part")).to_have_count(1)
    assert film.locator(".bin").count() > bins / 2, "the part has the whole width"
    press(page, "Escape")
    expect(note).to_be_hidden()
    film.focus()
    for key in ("0", "Home", "Shift+ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    expect(film.locator(".part")).to_have_count(0)
    expect(note).to_contain_text("steps 1 to 3 · 3 steps: generate 3")
    page.keyboard.press("+")
    expect(film.locator(".part")).to_have_count(1)
    page.mouse.move(box["x"] + 50, box["y"] + 12)
    page.mouse.wheel(0, 4000)
    expect(film.locator(".part")).to_have_count(0)


def test_the_speed_of_play_is_chosen(open_view: Opener) -> None:
    page = in_book(open_view, 1280, 800)
    page.evaluate(
        """() => {
          const wait = window.setTimeout;
          window.waits = [];
          window.setTimeout = (run, ms) => { waits.push(ms); return wait(run, ms); };
        }"""
    )
    show(page, Samples("memory")("scopes"))
    for speed in ("0.5", "1", "4", "read"):
        page.get_by_role("combobox", name="speed of play").select_option(speed)
        page.evaluate("() => { waits.length = 0; }")
        press(page, "Home", " ", " ")
        length = page.evaluate("root().querySelector('.say').textContent.length")
        expected = {"0.5": 3000, "1": 1500, "4": 375}.get(speed, 900 + 55 * length)
        assert expected in page.evaluate("waits")


def test_targets_are_large_enough_for_a_finger(open_view: Opener) -> None:
    page = in_book(open_view, 390, 844)
    wrong = {}
    for name, view in views().items():
        show(page, view)
        small = set(page.evaluate(TARGETS))
        for tab in page.get_by_role("tab").all():
            if tab.is_visible() and not tab.is_disabled():
                tab.click()
                small |= set(page.evaluate(TARGETS))
        menu = page.get_by_role("button", name="more tools").first
        if menu.is_visible():
            menu.click()
            small |= set(page.evaluate(TARGETS))
        wrong[name] = sorted(small)
    assert wrong == {name: [] for name in wrong}


def test_in_a_notebook_it_leaves_room_and_in_a_frame_that_grows_it_does_not_grow(open_view: Opener) -> None:
    page = in_book(open_view, 1280, 800)
    heights = page.evaluate(
        """async (text) => {
          const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
          const host = document.createElement("div");
          document.body.append(host);
          const heights = [];
          for (const colab of [undefined, {}]) {
            window.google = { colab };
            const shown = mount(host, JSON.parse(text), { address: false });
            heights.push(shown.root.offsetHeight);
            shown.destroy();
          }
          return heights;
        }""",
        json.dumps(Samples("fusion")("called")),
    )
    assert heights == [800 - 160, 640]
