"""The memory explorer in a real browser, on samples that the real algorithm planned."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explorers import Samples, press, refusal, rx, say, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

view_of = Samples("memory")


def row(page: Page, text: str) -> Locator:
    """The row whose program text has `text` in it."""
    return page.locator(".memory-grid .row").filter(has=page.locator(".cell.code", has_text=text))


def places(page: Page) -> list[str]:
    """What stands in the column of places, row by row, where something is computed."""
    cells = page.locator(".memory-grid .cell.c-place").all_inner_texts()
    return [" ".join(text.split()) for text in cells if text.strip() and "given" not in text]


def tinted(page: Page) -> list[str]:
    """The rows whose value is in memory now, by their text."""
    rows = page.locator(".memory-grid .row[class*='is-k'] .cell.code").all_inner_texts()
    return [text.split(" = ")[0].removeprefix("let ").split(":")[0] for text in rows]


def extent(page: Page, text: str) -> tuple[float, float]:
    """Where the bar of a row begins and ends, in steps."""
    bar = row(page, text).locator(".life-bar")
    begin, end = bar.evaluate(
        """bar => {
          const own = bar.getBoundingClientRect(), cell = bar.closest(".cell").getBoundingClientRect();
          const span = Number(getComputedStyle(bar).getPropertyValue("--span"));
          return [own.left, own.right].map((x) => (x - cell.left) * span / cell.width);
        }"""
    )
    return round(begin, 1), round(end, 1)


def test_the_first_frame_is_the_peak(open_view: Opener) -> None:
    page = open_view(view_of("block"))
    assert page.locator(".count").inner_text() == "3 / 9"
    assert "%2 nn.bias_add needs 8.19 kB: a new buffer, b2, because" in say(page)
    expect(page.locator(".say small")).to_contain_text("Live: 24.6 kB, the peak.")
    chips = page.locator(".memory-grid .buf").all_inner_texts()
    assert chips == ["b0", "b1", "b2", "b1", "b2", "b1", "b2", "b0"]
    assert places(page)[2:4] == [
        "b2 8.19 kB new , a new buffer: no buffer was free",
        "b1 8.19 kB , after %1 nn.conv2d: a free buffer had exactly this size",
    ]
    assert tinted(page) == ["%0", "%1", "%2"]
    # Steps 1 to 7 of ten, beginning and end included.
    assert extent(page, "%0 = nn.relu") == (1, 8)
    assert extent(page, "%1 = nn.conv2d") == (2, 4)
    expect(page.locator(".memory-totals")).to_contain_text("no reuse65.5 kB")
    assert page.locator("svg.arena .band").count() == 3


def test_stepping_and_the_keys(open_view: Opener) -> None:
    page = open_view(view_of("block"), motion="reduce")
    press(page, "ArrowRight")
    assert "b1 is reused" in say(page)
    assert tinted(page) == ["%0", "%2", "%3"]
    expect(page.locator(".row.is-read")).to_contain_text("%2 = nn.bias_add")
    press(page, "w")
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("%1 = nn.conv2d")
    press(page, "End")
    assert "The result is computed." in say(page)
    assert tinted(page) == ["nn.relu(%6)"]
    press(page, "p")
    assert page.locator(".count").inner_text() == "3 / 9"
    press(page, "g")
    assert page.locator(".count").inner_text() == "4 / 9"
    press(page, "u")
    entries = page.locator(".in-use code")
    assert entries.all_inner_texts() == ["%0 nn.relu", "%2 nn.bias_add", "%3 nn.relu"]
    entries.nth(2).click()
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("%3 = nn.relu")
    page.keyboard.press("Escape")
    assert page.locator(".count").inner_text() == "3 / 9", "back to before the key g"


def test_other_plans_of_the_same_program(open_view: Opener) -> None:
    page = open_view(view_of("wide"))
    before = page.locator(".memory-grid .row").count()
    page.get_by_role("button", name="fused").click()
    expect(page.locator(".plan")).to_contain_text(
        "3 values are never stored. Peak 16.6 kB instead of 81.9 kB"
    )
    assert page.locator(".memory-grid .row").count() == before, "the rows stay"
    expect(row(page, "tanh").locator(".c-place")).to_have_text("in kernel 1, not stored")
    expect(page.locator(".memory-totals")).to_contain_text("was 81.9 kB")
    expect(page.get_by_role("button", name="fused")).to_be_focused()
    page.get_by_role("button", name="one per operator").click()
    page.get_by_role("button", name="depth first").click()
    expect(page.locator(".plan")).to_contain_text("Peak 33 kB instead of 81.9 kB")
    assert extent(page, "= tanh") == (1, 3), "its sum comes at once"
    state = state_of(page)
    assert "plan=0.0.1" in state
    again = open_view(view_of("wide"), fragment=state)
    expect(again.locator(".plan")).to_contain_text("order: depth first")
    press(again, "Escape")
    press(again, "V")
    expect(again.locator(".plan")).to_be_hidden()


def test_a_step_moves_one_band_beside_the_rows_and_restyles_none_of_them(open_view: Opener) -> None:
    page = open_view(view_of("scopes"))
    grid = page.locator(".memory-grid")
    press(page, "Home")
    styled = grid.get_attribute("style")
    for step in (1, 2):
        press(page, "ArrowRight")
        assert grid.get_attribute("style") == styled
        begin, end, later = grid.evaluate(
            """(grid) => {
              const cell = grid.querySelector(".c-life").getBoundingClientRect();
              const span = Number(grid.style.getPropertyValue("--span"));
              const [now, rest] = [".under i", ".over i"].map((part) =>
                grid.querySelector(`.moment${part}`).getBoundingClientRect());
              return [now.left, now.right, rest.left].map((x) => (x - cell.left) * span / cell.width);
            }"""
        )
        assert (round(begin, 1), round(end, 1), round(later, 1)) == (step, step + 1, step + 1)


def test_a_box_of_the_arena_leads_to_its_row(open_view: Opener) -> None:
    page = open_view(view_of("scopes"))
    area = page.locator("svg.arena").bounding_box()
    assert area is not None
    # `%t` is in the first buffer from step 1 to step 3 of twelve: right of the names, at the top.
    page.mouse.move(area["x"] + 26 + (area["width"] - 27) * 2.5 / 13, area["y"] + 8)
    expect(page.locator(".arena-tip")).to_have_text("%t tanh: b0, 256 B, steps 1 to 3")
    page.mouse.click(area["x"] + 26 + (area["width"] - 27) * 2.5 / 13, area["y"] + 8)
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("let %t")


def test_on_a_phone_columns_and_panes_are_tabs(open_view: Opener, axe_core: str) -> None:
    page = open_view(view_of("scopes"), width=390, system="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".c-life").first.is_visible()
    page.get_by_role("tab", name="Where").click()
    # The rows are drawn anew in a later frame.
    expect(page.locator(".memory-grid .cell.c-place", has_text="b0").first).to_be_visible()
    assert places(page)[0].startswith("b0")
    expect(page.locator(".moment.over")).to_be_hidden()
    page.get_by_role("tab", name="Arena").click()
    expect(page.locator("svg.arena")).to_be_visible()
    assert violations(page, axe_core) == []


def test_nothing_is_left_to_color_or_to_the_pointer(open_view: Opener, axe_core: str) -> None:
    page = open_view(view_of("wide"), fragment="#rx-test:plan=1.0.0&pane=use")
    heard = row(page, "%0 = sqrt").locator(".c-life .sr").inner_text()
    assert heard == "%0 sqrt is live from step 3 to step 4."
    assert violations(page, axe_core) == []
    assert rx(page).get_attribute("aria-label") == "Memory, step by step: wide"


def test_damage_ends_in_a_sentence(open_view: Opener) -> None:
    page = open_view(view_of("block"))
    view = view_of("block")
    view["variants"][0]["lives"][0][3] = 9
    assert "its data is damaged (variants[0].lives[0].buffer)" in refusal(page, view)
