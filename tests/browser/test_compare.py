"""The explorer of two programs in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

import relay_explorer
from tests.browser.explorers import Samples, press, refusal, rx, say, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser
samples = Samples("compare")


def row(page: Page, text: str) -> str:
    """The selector of a row by its text."""
    return f".compare-grid .row:has-text('{text}')"


def test_differences_are_stepped_through_side_by_side(open_view: Opener) -> None:
    page = open_view(samples("hand"))
    assert "B (after) has 1 call fewer than A (before): −1 × floor" in say(page)
    expect(page.locator(".bar .count")).to_have_text("5 differences")
    heads = page.locator(".grid-head").inner_text()
    assert "A: before" in heads
    assert "B: after" in heads
    press(page, "ArrowRight")
    assert "is at another place in B" in say(page)
    assert page.locator(".compare-grid .row.is-now").count() == 2, "both places of the row that moved"
    press(page, "ArrowRight")
    assert "padding = [1, 1] in A, [0, 0] in B" in say(page)
    conv = page.locator(row(page, "nn.conv2d"))
    assert conv.locator(".old-token").all_inner_texts() == ["padding", "[1, 1]"]
    assert page.locator(row(page, "sqrt")).locator(".new-token").all_inner_texts() == ["sqrt"]
    assert "type" in page.locator(row(page, "exp(%z)")).locator(".c-mark").inner_text()
    address = state_of(page)
    assert "step=2" in address
    again = open_view(samples("hand"), fragment=address)
    assert "padding" in say(again)
    # A row leads to its difference, and one that moved to its other place.
    again.locator(row(again, "tanh")).click()
    assert "2 differ, 1 only in A" in say(again)
    press(again, "Home", "ArrowRight")
    again.locator(".compare-grid .row .link").first.click()
    expect(again.locator(".compare-grid .row[aria-selected=true] .cell.code").first).to_contain_text(
        "sigmoid"
    )
    # The list beside the text leads there too, and the search finds rows of either program.
    again.locator(".differences .entry").last.click()
    expect(again.locator(".bar .count")).to_have_text("5 of 5")
    press(again, "/")
    again.keyboard.type("sqrt")
    expect(again.locator(".find .hits")).to_contain_text("1 ")


def test_what_is_equal_folds_and_sizes_stand_side_by_side(open_view: Opener) -> None:
    page = open_view(samples("passes"))
    expect(page.locator(".folded-note").first).to_contain_text("more equal rows")
    rows = page.locator(".compare-grid")
    before = int(rows.get_attribute("aria-rowcount") or 0)
    press(page, "u")
    assert int(rows.get_attribute("aria-rowcount") or 0) > before
    press(page, "p")
    norms = page.locator(".sizes tr").filter(has_text="nn.batch_norm")
    assert norms.locator("td").all_inner_texts() == ["27", "0", "−27"]
    address = state_of(page)
    assert "equal=shown" in address
    assert "pane=sizes" in address
    same = open_view(samples("same"))
    assert "are the same program" in say(same)
    expect(same.locator(".bar .count")).to_have_text("no difference")


def test_the_graphs_move_and_are_chosen_together(open_view: Opener) -> None:
    page = open_view(samples("hand"), fragment="#rx-test:graphs=1&step=2")
    boxes = page.locator(".compare-graphs .graph")
    expect(boxes).to_have_count(2)
    selected = page.locator(".compare-graphs [role=option][aria-selected=true]")
    expect(selected).to_have_count(2)
    assert [text.strip() for text in selected.all_inner_texts()] == ["%y nn.conv2d, differs"] * 2
    # To choose in one graph chooses in the other, and what has no partner says so.
    page.locator(".compare-graphs [role=option]", has_text="floor").dispatch_event("click")
    assert [text.strip() for text in selected.all_inner_texts()] == ["%e floor, differs", "%n log, differs"]
    assert "floor in A, log in B" in say(page) or "tanh" in say(page)
    expect(page.locator(".compare-graphs [role=option]", has_text="tanh, only in A")).to_have_count(1)
    press(page, "g")
    expect(page.locator(".compare-grid")).to_be_visible()
    assert "graphs" not in state_of(page)


@pytest.mark.parametrize(("width", "system", "name"), [(1280, "light", "hand"), (390, "dark", "batch")])
def test_it_fits_and_is_accessible(
    open_view: Opener, axe_core: str, width: int, system: str, name: str
) -> None:
    page = open_view(samples(name), width=width, system=system)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page, axe_core) == []
    press(page, "g")
    assert violations(page, axe_core) == []


def test_on_a_phone_both_programs_are_one_text_and_tabs_show_each(open_view: Opener) -> None:
    page = open_view(samples("hand"), width=390, fragment="#rx-test:step=2")
    lines = page.locator(row(page, "nn.conv2d")).all_inner_texts()
    assert [line.lstrip()[0] for line in lines] == ["−", "+"]
    for tab, text, missing in [("A", "tanh", "log"), ("B", "log", "tanh")]:
        page.get_by_role("tab", name=tab, exact=True).click()
        expect(page.locator(row(page, text))).to_have_count(1)
        expect(page.locator(row(page, missing))).to_have_count(0)
    assert "padding" in say(page), "the difference stays"
    page.get_by_role("tab", name="Sizes and costs").click()
    expect(page.locator(".sizes table").first).to_be_visible()
    expect(page.locator(".compare-grid")).to_be_hidden()


def test_hostile_names_and_damage(open_view: Opener) -> None:
    name = "<img src=x onerror=alert(1)>{0}**`"
    text = "def @main(%x: float32) {{ {}(%x) }}"
    shown = relay_explorer.explore(text.format("exp"), against=text.format("log"), title=name, name="test")
    page = open_view(shown.to_dict())
    assert page.locator(".rx img").count() == 0
    assert rx(page).locator(".name").inner_text() == name
    view = samples("hand")
    view["pairs"][0] = 999
    assert "pairs[0]" in refusal(page, view)
