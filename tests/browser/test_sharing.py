"""The sharing view in a real browser, on runs that the interpreter measured."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explorers import Samples, press, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

NAMES = ["shared", "branches", "doubling"]
view_of = Samples("sharing")


def form(page: Page, index: int) -> Locator:
    return page.locator(f".form[data-form='{index}']")


def test_the_first_frame_compares_the_three_forms(open_view: Opener) -> None:
    page = open_view(view_of("shared"))
    numbers = page.locator(".form .numbers").all_inner_texts()
    assert numbers == [
        "4 evaluations · peak 192 B",
        "4 evaluations · peak 192 B",
        "9 evaluations · peak 256 B",
    ]
    expect(page.locator(".say")).to_contain_text("4 times as a tree (4 copies)")
    assert [form(page, i).locator(".row.is-same").count() for i in range(3)] == [1, 1, 4]


def test_choosing_a_line_marks_the_same_thing_in_every_form(open_view: Opener) -> None:
    page = open_view(view_of("shared"))
    form(page, 0).locator(".row", has_text="tanh").click()
    expect(page.locator(".say")).to_contain_text(re.compile(r"tanh\(%0\) is evaluated 1 time as a graph"))
    assert [form(page, i).locator(".row.is-same").count() for i in range(3)] == [1, 1, 2]
    assert all("tanh" in row for row in page.locator(".row.is-same").all_inner_texts())
    again = open_view(view_of("shared"), fragment=state_of(page))
    expect(again.locator(".say")).to_contain_text("tanh(%0)")
    press(page, "Escape")
    expect(page.locator(".row.is-same")).to_have_count(0)
    expect(page.locator(".say")).to_contain_text("9 as a tree")
    none = open_view(view_of("shared"), fragment=state_of(page))
    expect(none.locator(".row.is-same")).to_have_count(0)


def test_hovering_a_line_links_it_everywhere(open_view: Opener) -> None:
    page = open_view(view_of("shared"))
    form(page, 2).locator(".row", has_text="add(%1, %2)").locator(".c-runs").hover()
    assert [form(page, i).locator(".row.is-linked").count() for i in range(3)] == [1, 1, 2]


def test_the_copies_are_walked_with_n(open_view: Opener) -> None:
    page = open_view(view_of("shared"))
    press(page, "n")
    seen = []
    for _ in range(6):
        seen.append(page.locator(".row[aria-selected=true]").inner_text().split("\n")[0])
        page.keyboard.press("n")
    assert len([text for text in seen if "exp(%x)" in text]) == 6
    expect(page.locator(".row[aria-selected=true]")).to_have_count(1)


def test_stepping_moves_every_form_and_the_short_ones_are_done_first(open_view: Opener) -> None:
    page = open_view(view_of("shared"))
    press(page, "Home", "ArrowRight")
    assert page.locator(".count").inner_text() == "2 / 11"
    assert page.locator(".row.is-now").count() == 3
    expect(form(page, 0).locator(".axis")).to_contain_text("after step 2: 64 B")
    press(page, "End")
    expect(form(page, 0).locator(".axis")).to_contain_text("done after 6 steps")
    expect(form(page, 2).locator(".axis")).to_contain_text("after step 11: 64 B")


def test_a_value_s_bar_ends_where_nothing_needs_it(open_view: Opener) -> None:
    page = open_view(view_of("shared"), fragment="#rx-test:step=4")
    expect(form(page, 0).locator(".life.alive")).to_have_count(3)
    press(page, "ArrowRight")
    expect(form(page, 0).locator(".life.alive")).to_have_count(2)
    bars = form(page, 0).locator(".life").evaluate_all("bars => bars.map((bar) => bar.offsetWidth)")
    assert bars[0] > bars[1], "exp is used by two, tanh by one"


def test_a_form_that_is_too_long_says_so(open_view: Opener) -> None:
    page = open_view(view_of("doubling"))
    expect(form(page, 2)).to_contain_text("1,048,576")
    expect(form(page, 2).locator(".row")).to_have_count(0)
    press(page, "ArrowDown", "Enter", "]", "n", "End")


def test_finding_over_all_forms(open_view: Opener) -> None:
    page = open_view(view_of("shared"))
    press(page, "/")
    page.keyboard.type("exp")
    expect(page.locator(".hits")).to_have_text("6 matches")
    page.keyboard.press("Enter")
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("exp")
    page.get_by_label("only these lines").check()
    expect(page.locator(".row")).to_have_count(6)


@pytest.mark.parametrize("width", [390, 800])
def test_on_a_narrow_screen_the_forms_are_tabs(open_view: Opener, width: int) -> None:
    page = open_view(view_of("shared"), width=width)
    tabs = page.get_by_role("tab").all_inner_texts()
    assert tabs == ["as a graph · 4", "with let · 4", "as a tree · 9"]
    for index in range(3):
        page.get_by_role("tab").nth(index).click()
        expect(form(page, index)).to_be_visible()
        expect(page.locator(".form:visible")).to_have_count(1)
        expect(form(page, index).locator(".life").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "tab=2" in state_of(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "width"), [("shared", 1280), ("shared", 390), ("branches", 1280), ("doubling", 1000)]
)
def test_axe_finds_nothing(open_view: Opener, axe_core: str, name: str, width: int, theme: str) -> None:
    page = open_view(view_of(name), width=width, theme=theme)
    assert violations(page, axe_core) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_step_and_every_line_can_be_walked(open_view: Opener, name: str) -> None:
    view = view_of(name)
    page = open_view(view)
    press(page, "Home")
    steps = max(form["steps"] for form in view["forms"])
    for number in range(1, steps + 1):
        assert page.locator(".count").inner_text() == f"{number} / {steps}"
        page.keyboard.press("ArrowRight")
    for _ in range(len(view["program"]["rows"])):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.locator(".say").inner_text()
