"""The costs explorer in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

import relay_explorer
from relay_explorer import models
from tests.browser.explorers import press, refusal, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser


def lenet() -> dict[str, Any]:
    return relay_explorer.explore(models.load("lenet"), view="costs", name="test").to_dict()


def marked(page: Page) -> list[str]:
    """The calls that are marked as those of the chosen operator."""
    rows = page.locator(".cost-grid .row.is-same .cell.code").all_inner_texts()
    return [text.split("(")[0].strip() for text in rows]


def test_the_first_frame_shows_the_costliest_call(open_view: Opener) -> None:
    page = open_view(lenet())
    expect(page.locator(".say")).to_contain_text("nn.conv2d does 84% of the operations")
    costliest = page.locator(".cost-grid .row").filter(has_text="%4 = nn.conv2d")
    expect(costliest).to_be_in_viewport(ratio=0.9)
    expect(costliest.locator(".c-flops")).to_contain_text("480 k")
    width = costliest.locator(".cost-bar").evaluate("bar => bar.style.getPropertyValue('--share')")
    assert width == "100%"
    # A cell's text is as high as its row allows: it was cut once.
    box, text = costliest.bounding_box(), costliest.locator(".c-bytes").bounding_box()
    assert box is not None
    assert text is not None
    assert text["y"] >= box["y"]
    assert text["height"] >= 15


def test_an_operator_marks_its_calls_and_the_address_keeps_it(open_view: Opener) -> None:
    page = open_view(lenet())
    page.get_by_role("button", name="nn.conv2d").click()
    assert marked(page) == ["%0 = nn.conv2d", "%4 = nn.conv2d"]
    address = state_of(page)
    assert "op=0" in address
    again = open_view(lenet(), fragment=address)
    assert marked(again) == ["%0 = nn.conv2d", "%4 = nn.conv2d"]


def test_keys_move_along_the_program(open_view: Opener) -> None:
    page = open_view(lenet(), fragment="#rx-test:row=13")
    press(page, "ArrowDown")
    expect(page.locator(".cost-grid .row[aria-selected='true'] .cell.code")).to_contain_text("nn.bias_add")


@pytest.mark.parametrize(("width", "system"), [(1280, "light"), (390, "dark")])
def test_it_fits_and_is_accessible(open_view: Opener, axe_core: str, width: int, system: str) -> None:
    page = open_view(lenet(), width=width, system=system)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page, axe_core) == []


def test_damage_ends_in_a_sentence(open_view: Opener) -> None:
    page = open_view(lenet())
    view = lenet()
    view["calls"][0][1] = 99
    assert "calls[0]" in refusal(page, view)
