"""The search that all explorers share: what comes first, the list of hits, marked letters, the language."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from relay_explorer import explore, models
from tests.browser.explorers import Samples, press, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser


def test_operators_come_first_with_their_letters_and_a_list(open_view: Opener, axe_core: str) -> None:
    view = json.loads(explore(models.load("resnet18"), view="fusion").to_json())
    page = open_view(view)
    press(page, "/")
    page.keyboard.type("add")
    box = page.get_by_role("searchbox")
    page.keyboard.press("Enter")
    chosen = page.locator(".row[aria-selected=true]")
    expect(chosen).to_contain_text("= add(")
    expect(page.locator(".hits")).to_contain_text("1 of ")
    assert chosen.locator(".code mark").all_inner_texts() == ["add"]
    assert page.locator(".code mark", has_text="padd").count() == 0
    # The tint of the group is under the mark of the match, not replaced by it.
    colors = page.locator(".row.is-match").evaluate_all(
        "(rows) => rows.map((row) => getComputedStyle(row).backgroundColor)"
    )
    assert len(set(colors)) > 1
    page.keyboard.press("ArrowDown")
    entries = page.get_by_role("listbox", name="what was found").get_by_role("option")
    expect(entries.first).to_contain_text("add(")
    expect(entries.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hits")).to_contain_text("2 of ")
    assert violations(page, axe_core) == []
    entries.nth(3).click()
    expect(page.locator(".hits")).to_contain_text("4 of ")
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox", name="what was found")).to_be_hidden()
    expect(box).to_be_focused()
    for query, first in (
        ("pattern: nn.relu(nn.batch_norm(*).0)", "nn.relu("),
        ("strides=[2, 2] op:nn.conv2d", "nn.conv2d("),
        ("/conv2d.*stage/ is:call", "nn.conv2d("),
    ):
        box.fill(query)
        page.keyboard.press("Enter")
        expect(chosen).to_contain_text(first)
    box.fill("/conv(/")
    expect(page.get_by_role("alert")).to_have_text("This regular expression cannot be read: a ( has no ).")
    page.get_by_role("button", name="how to search").click()
    expect(page.locator(".find-help")).to_contain_text("a dataflow pattern")
    expect(page.locator(".find-help")).to_contain_text("kernel:")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("mark")).to_have_count(0)
    # Esc now goes back to where the search began, and does not open it again.
    page.keyboard.press("Escape")
    page.wait_for_timeout(100)
    expect(box).to_be_hidden()


def marked(page: Page, rows: str) -> list[list[str]]:
    """The letters that are marked in each of these rows."""
    found: list[list[str]] = page.locator(rows).evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('mark.letters')].map(mark => mark.textContent))"
    )
    return found


def test_letters_are_marked_in_the_unified_comparison_and_in_a_run(open_view: Opener) -> None:
    page = open_view(Samples("compare")("hand"), width=390)
    press(page, "/")
    page.keyboard.type("tanh")
    found = marked(page, ".row.is-match")
    assert found
    assert all(letters == ["tanh"] for letters in found)
    page = open_view(Samples("run")("small"))
    press(page, "/")
    page.keyboard.type("op:nn.relu")
    assert marked(page, "tr.is-match") == [["relu"], ["relu"]]


def test_a_pattern_marks_all_rows_that_it_describes(open_view: Opener) -> None:
    view = json.loads(explore(models.load("resnet18"), view="fusion").to_json())
    page = open_view(view)
    press(page, "/")
    page.keyboard.type("pattern: nn.relu(nn.batch_norm(nn.conv2d(*), *, *, *, *).0)")
    page.keyboard.press("Enter")
    assert ["nn.relu"] in marked(page, ".row.is-match")
    parts = marked(page, ".row.is-match-part")
    assert ["nn.batch_norm"] in parts
    assert ["nn.conv2d"] in parts
    page.get_by_role("searchbox").fill("type:(1, 512, 1, 1)")
    page.keyboard.press("Enter")
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("nn.global_avg_pool2d")
