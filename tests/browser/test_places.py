"""Places in an explorer: scroll positions in links, bookmarks, and back and forward."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorers import Samples, press, state_of
from tests.browser.pages import ORIGIN, Opener

pytestmark = pytest.mark.browser

LARGE = "large.large(250)"


def tops(page: Page) -> list[int]:
    """The first whole row in the window of each grid."""
    result: list[int] = page.locator(".scroller").evaluate_all(
        """(grids) => grids.map((grid) => {
          const top = grid.getBoundingClientRect().top;
          const rows = [...grid.querySelectorAll(".row")];
          const at = rows.find((row) => row.getBoundingClientRect().top >= top);
          return at ? Number(at.dataset.row) : -1;
        })"""
    )
    return result


def wheel(page: Page, selector: str, by: int) -> None:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.wheel(0, by)


def test_a_link_restores_where_the_reader_scrolled(open_view: Opener) -> None:
    page = open_view(LARGE)
    assert "scroll" not in state_of(page)
    wheel(page, ".scroller", -2000)
    fragment = state_of(page)
    assert "scroll=" in fragment
    again = open_view(LARGE, fragment=fragment)
    again.wait_for_timeout(120)
    assert abs(tops(again)[0] - tops(page)[0]) <= 1
    assert state_of(again) == fragment
    # What the explorer scrolls itself follows from the step, so the link need not say it.
    press(page, "Home", "End")
    assert "scroll" not in state_of(page)


@pytest.mark.parametrize(
    ("view", "name", "state"), [("memory", "wide", "step=8&row=15"), ("sharing", "branches", "step=9&sel=5")]
)
def test_what_a_link_is_about_is_in_the_window(view: str, name: str, state: str, open_view: Opener) -> None:
    data: dict[str, Any] = Samples(view)(name)
    page = open_view(data, height=620, fragment=f"#rx-test:{state}")
    page.wait_for_timeout(120)
    selector = ".row[aria-selected=true]" if view == "memory" else ".row.is-same"
    inside = page.locator(selector).evaluate_all(
        """(rows) => rows.map((row) => {
          const [own, grid] = [row, row.closest(".scroller")].map((node) => node.getBoundingClientRect());
          return own.top >= grid.top - 1 && own.bottom <= grid.bottom + 1;
        })"""
    )
    assert inside
    assert any(inside)


def test_bookmarks_have_names_and_go_with_the_link(open_view: Opener) -> None:
    page = open_view("learner.waiting()", width=390, height=844)
    press(page, "b")
    name = page.get_by_label("name of the bookmark")
    expect(name).to_be_focused()
    assert name.input_value().startswith("step 9: ")
    name.fill("it waits <b>")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="it waits <b>", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    press(page, "Home")
    page.get_by_role("button", name="more tools").click()
    page.get_by_role("button", name="link").click()
    link = page.get_by_role("dialog").get_by_label("link").input_value()
    assert "marks=" in link
    page.keyboard.press("Escape")
    assert "marks=" not in state_of(page), "the browser keeps them"
    again = open_view("learner.waiting()", fragment=link.removeprefix(f"{ORIGIN}/"))
    expect(again.locator(".count")).to_have_text("1 / 12")
    press(again, "b")
    again.get_by_role("button", name="it waits <b>", exact=True).click()
    expect(again.locator(".count")).to_have_text("9 / 12")
    again.get_by_role("button", name="back to where you were").click()
    expect(again.locator(".count")).to_have_text("1 / 12")
    press(again, "b")
    again.get_by_role("button", name="delete the bookmark").click()
    expect(again.locator(".bookmarks li")).to_have_count(0)
    again.reload()
    again.wait_for_function("window.ready === true")
    # A link that still names it brings it back; the page alone does not.
    assert page.evaluate("Object.keys(localStorage).length") == 1


def test_a_long_name_leaves_room_for_the_sentence(open_view: Opener) -> None:
    name = "layer_" * 75 + "weight"
    data: dict[str, Any] = Samples("fusion")("obstacle")
    data["strings"] = [re.sub("^%.* ", f"%{name} ", text) for text in data["strings"]]
    page = open_view(data, width=390, height=844)
    press(page, "Home", "ArrowRight")
    more = page.locator(".say").get_by_role("button", name="the whole name").first
    expect(more).to_be_visible()
    short = page.locator(".say").inner_text()
    assert name not in short
    assert "…" in short
    more.click()
    assert name in page.locator(".say").inner_text()
    expect(page.locator(".say").get_by_role("button", name="shorten the name").first).to_be_focused()
