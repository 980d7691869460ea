"""The keyboard in every explorer: no key reaches the page, the focus stays in, Tab reaches the program."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from relay_explorer import explore
from tests.browser.every_view import VIEWS, sample
from tests.browser.explorers import press, rx, state_of, violations
from tests.browser.pages import Opener
from tests.views.programs import SHARED, program

pytestmark = pytest.mark.browser

# What the page hears of the keyboard, and where the focus is.
PAGE = """() => {
  window.heard = [];
  document.addEventListener("keydown", (event) => window.heard.push(event.key));
}"""
FOCUSED = """() => {
  const host = document.querySelector(".relay-explorer");
  let active = document.activeElement === host ? host.shadowRoot.activeElement : null;
  return active ? `${active.localName} ${active.className}` : "the page";
}"""


def focused(page: Page) -> str:
    page.wait_for_timeout(20)
    return str(page.evaluate(FOCUSED))


@pytest.mark.parametrize("view", VIEWS)
def test_the_keys_stay_in_the_explorer(view: str, open_view: Opener, axe_core: str) -> None:
    page = open_view(sample(view))
    page.evaluate(PAGE)
    press(page, "/")
    box = page.get_by_role("searchbox").locator("visible=true")
    expect(box).to_be_focused()
    page.keyboard.type("a/b")
    assert box.input_value() == "a/b", "the key that opens the search is an ordinary letter in it"
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    assert focused(page) != "the page", "after a search"
    press(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert focused(page) != "the page", "after the help"
    page.keyboard.press("ArrowDown")
    assert focused(page) != "the page"
    assert page.evaluate("heard").count("/") == 0
    assert "ArrowDown" not in page.evaluate("heard")
    for tab in page.get_by_role("tab").locator("visible=true").all():
        tab.click()
        assert focused(page) != "the page", "after a tab"
    assert [fault for fault in violations(page, axe_core) if "nested-interactive" in fault] == []


@pytest.mark.parametrize("view", VIEWS)
def test_tab_reaches_the_program(view: str, open_view: Opener) -> None:
    page = open_view(sample(view))
    rx(page).focus()
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        name = str(page.evaluate(FOCUSED))
        if name == "the page":
            break
        seen.append(name)
    rows = [name for name in seen if {"row", "lv-line", "tr"} & set(name.split())]
    assert rows, seen
    at = seen.index(rows[0])
    assert any("btn" in name for name in seen[:at]), "the bar comes first"
    assert not any("pane" in name for name in seen[:at]), "the panes come last"


@pytest.mark.parametrize("view", ["compare", "fusion", "memory", "pipeline", "sharing", "types"])
def test_the_last_step_has_the_number_that_python_expects(open_view: Opener, view: str) -> None:
    options: dict[str, Any] = {
        "compare": {"against": "FuseOps"},
        "pipeline": {"passes": "ToANormalForm, FuseOps"},
    }
    widget = explore(program(SHARED), view=view, live=True, **options.get(view, {})).widget()
    page = open_view(widget.view)
    press(page, "End")
    widget.state = state_of(page).partition(":")[2]
    assert widget.step == widget.steps > 0
