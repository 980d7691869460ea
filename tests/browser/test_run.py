"""The view of a measured run in a real browser, on a sample whose numbers are made up."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from relay_explorer.lower.profiling.measurement import stored
from tests.browser.explorers import Samples, press, refusal, say, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

sample = Samples("run")


def bars(page: Page) -> list[int]:
    """The launches that are lit."""
    found = page.locator(".run-bar.is-lit").evaluate_all(
        "bars => bars.map((bar) => Number(bar.dataset.launch))"
    )
    return [int(n) for n in found]


def test_the_first_frame_is_the_run_and_on_a_phone_nothing_is_lost(open_view: Opener, axe_core: str) -> None:
    page = open_view(sample("small"), motion="reduce")
    assert "A run takes 80.5 µs: 7 kernel calls of 4 kernels." in say(page)
    expect(page.locator(".roof-mark")).to_have_count(3)  # one kernel computes nothing
    expect(page.locator(".run-bar")).to_have_count(7)
    assert page.locator(".run-table tbody tr").first.inner_text().replace("\n", "").split("\t")[1:] == [
        "conv2d_NCHWc · add · relu", "1×4×14×14×8", "2", "62 µs", "77%", "58.9", "32.4",
        "59% arithmetic",
    ]  # fmt: skip
    page.get_by_text("The 7 launches as a table").click()
    expect(page.locator(".run-list tbody tr")).to_have_count(7)
    page.evaluate("location.hash = '#rx-test:kernel=2'")
    expect(page.locator("tr[aria-selected=true]")).to_contain_text("dense_pack")
    assert violations(page, axe_core) == []
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth <= 390")
    for part in (".roofline", ".run-time", ".run-table"):
        expect(page.locator(part).first).to_be_visible()
    assert violations(page, axe_core) == []


def test_a_kernel_is_lit_in_all_parts_and_opened_at_every_level(open_view: Opener) -> None:
    page = open_view(sample("small"))
    page.locator(".roof-mark[data-kernel='1']").hover()
    assert "Kernel 2" in say(page)
    assert bars(page) == [3, 4]
    expect(page.locator(".way-name")).to_have_text("62%")
    press(page, "ArrowDown", "ArrowDown")
    assert "Kernel 2" in say(page)
    expect(page.locator("tr[aria-selected=true]")).to_contain_text("dense_pack")
    page.keyboard.press("ArrowRight")
    assert "Launch 4 of 7: from 62.8 µs on, for 9 µs." in say(page)
    assert state_of(page) == "#rx-test:kernel=2&launch=4"
    page.keyboard.press("Enter")
    expect(page.locator(".lv-code .p-multiply-add").first).to_be_visible()
    page.keyboard.press("2")  # a key of the lowering explorer
    assert state_of(page) == "#rx-test:pane=levels&kernel=2&step=2&op=1"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator(".roofline")).to_be_visible()


def test_the_timeline_is_magnified_and_a_part_of_it_selected(open_view: Opener, axe_core: str) -> None:
    page = open_view(sample("small"), motion="reduce")
    time = page.locator(".run-wide")
    box = time.bounding_box()
    assert box is not None
    page.locator(".run-bar[data-launch='4']").click()
    assert "Launch 5 of 7" in say(page)
    left, middle = box["x"] + 12, box["y"] + 40
    page.keyboard.down("Shift")
    page.mouse.move(left, middle)
    page.mouse.down()
    page.mouse.move(left + box["width"] * 0.8, middle, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    told = page.locator(".run-part-sum")
    expect(told).to_contain_text("launches 1 to 4 · 4 launches · ")
    expect(told).to_contain_text("% of the run · ")
    expect(told).to_contain_text("read and written · ")
    assert violations(page, axe_core) == []
    time.focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(told).to_contain_text("launches 5 to 6")
    before = page.locator(".run-bar").count()
    for _ in range(6):
        page.keyboard.press("+")
    expect(page.locator(".run-time .part")).to_have_count(1)
    assert page.locator(".run-bar").count() < before
    page.keyboard.press("0")
    expect(page.locator(".run-bar")).to_have_count(before)
    page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="select a part of the timeline").click()
    expect(told).to_contain_text("launches 5 to 7")
    page.get_by_role("button", name="magnify the selected part").click()
    expect(page.locator(".run-time .part")).to_have_count(1)


def test_an_address_opens_a_step_of_a_kernel_and_damage_is_refused(open_view: Opener) -> None:
    page = open_view(sample("small"), fragment="#rx-test:pane=levels&kernel=2&step=4&op=0")
    expect(page.locator(".run-kernel .count")).to_have_text("4 / 22")
    expect(page.locator(".op-chip[aria-pressed=true]")).to_have_count(2)  # the kernel, and its operator
    page.get_by_role("tab", name="The run").click()
    page.locator(".run-bar[data-launch='0']").click()
    page.get_by_role("tab", name="One kernel at every level").click()
    expect(page.locator(".run-none")).to_contain_text("does not show kernel 1 at every level. It shows: 2.")
    view = sample("small")
    view["levels"][0][1]["steps"][3][4] = [[0]]
    assert "damaged (levels[0].view.steps[3].nest[0])" in refusal(page, view)


ASKS = """async (view) => {
  const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
  const host = document.createElement("div");
  host.id = "asks";
  document.querySelector("main").append(host);
  const made = mount(host, view, { token: "kernel=3", onAsk: (question) => { window.asked = question; } });
  window.tell = made.tell;
}"""


def test_in_a_notebook_python_is_asked_for_a_kernel(open_view: Opener) -> None:
    page = open_view(sample("small"))
    page.evaluate(ASKS, {**sample("small"), "live": True})
    page.locator("#asks").get_by_role("tab", name="One kernel at every level").click()
    expect(page.locator("#asks .run-none")).to_contain_text("Python is lowering kernel 3.")
    page.wait_for_function("window.asked")
    assert page.evaluate("window.asked") == {"kernel": 2}
    page.evaluate("tell('problem', 'It cannot be made.')")
    expect(page.locator("#asks .run-none")).to_have_text("It cannot be made.")


@pytest.mark.parametrize("name", ["resnet18", "mobilenet"])
def test_every_mark_of_a_real_run_has_its_number(open_view: Opener, name: str) -> None:
    from relay_explorer.views.run.view import run_view

    page = open_view(json.loads(run_view(stored(name), kernel=[]).to_json()))
    boxes = page.locator(".roof-mark text").evaluate_all(
        "list => list.map((text) => [text.textContent, text.getBBox()])"
        ".map(([n, b]) => [n, b.x, b.y + 2, b.x + b.width, b.y + b.height - 2])"
    )
    assert len(boxes) == page.locator(".roof-mark").count() > 15
    for number, a in enumerate(boxes):
        for b in boxes[number + 1 :]:
            assert not (a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]), (a, b)
    expect(page.locator(".roof-note")).to_contain_text("read their inputs from the caches")
