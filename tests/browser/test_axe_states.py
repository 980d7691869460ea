"""Every explorer in its states, one after the other in the same page: the checker of accessibility finds
nothing, and nothing is cut off.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.every_view import VIEWS, sample
from tests.browser.explorers import press, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser


# Whether something that cannot be scrolled to is cut off at the explorer's right edge, or below in the body.
CUT = """() => {
  const root = document.querySelector(".relay-explorer").shadowRoot.querySelector(".rx");
  const low = [...root.querySelectorAll(".newest")].filter((e) => e.scrollHeight > e.clientHeight + 1);
  if (root.scrollWidth > root.clientWidth) return `${root.scrollWidth} px in ${root.clientWidth}`;
  return low.length ? `${low[0].className}: ${low[0].scrollHeight} px in ${low[0].clientHeight}` : "";
}"""


def leave(page: Page) -> None:
    """Close what is open."""
    opened = page.locator("[role=searchbox], [role=dialog]").locator("visible=true")
    for _ in range(5):
        if opened.count() == 0:
            return
        page.keyboard.press("Escape")
    raise AssertionError("Escape does not close it")


def in_the_middle(page: Page) -> None:
    """Show a step in the middle, its whole sentence, and a selection."""
    press(page, "Home", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "d")


def search_in_the_middle(page: Page) -> None:
    """Search there for a letter that every program has, and open the list of hits. (Tests of pages check how
    explorers open.)
    """
    in_the_middle(page)
    press(page, "/")
    page.get_by_role("searchbox").locator("visible=true").fill("a")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("listbox", name="what was found").locator("visible=true")).to_be_visible()


def menu_and_legend(page: Page) -> None:
    """Fill the window, and open the legend and the menu where the bar has them."""
    press(page, "f")
    menu, legend = page.locator(".menu-button"), page.locator(".legend-button")
    if not menu.is_visible():
        return
    menu.click()
    if legend.is_visible():
        legend.click()
        menu.click()


def save(page: Page) -> None:
    """Open the dialog of the button `save`."""
    menu, button = page.locator(".menu-button"), page.get_by_role("button", name="save or print")
    if not button.is_visible():
        menu.click()
    button.click()
    expect(page.get_by_role("dialog")).to_be_visible()


STATES: dict[str, Callable[[Page], None]] = {
    "a step in the middle, its sentence, a selection, a search with its hits": search_in_the_middle,
    "the full window with menu and legend": menu_and_legend,
    "the dialog of save": save,
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("width", "system"), [(1280, "light"), (390, "dark")], ids=["wide", "narrow"])
def test_every_state(view: str, width: int, system: str, open_view: Opener, axe_core: str) -> None:
    page = open_view(sample(view), width=width, height=800, system=system)
    faults = {}
    for name, enter in STATES.items():
        leave(page)
        enter(page)
        if wrong := violations(page, axe_core):
            faults[name] = wrong
        if cut := page.evaluate(CUT):
            faults[name] = [*faults.get(name, []), cut]
    assert faults == {}
