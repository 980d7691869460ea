"""A saved explorer, opened as a file in a real browser with the network cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from relay_explorer import Explorer, explore, models
from tests.views.programs import MARKUP, hostile
from tests.widgets.programs import SMALL

pytestmark = pytest.mark.browser
Open = Callable[[Explorer], Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Save an explorer and open the file. At the end, check that there were no requests, violations or log
    entries.
    """
    wrong: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            wrong.append(message.text)

    def open_(result: Explorer) -> Page:
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(("file:", "data:", "blob:")) else wrong.append(request.url)
            ),
        )
        page.goto(result.save(tmp_path / "saved.html").as_uri())
        return page

    yield open_
    context.close()
    assert wrong == []


def test_inference_can_be_stepped(opened: Open) -> None:
    page = opened(explore(SMALL, view="types", title="a small program"))
    expect(page).to_have_title("a small program")
    slider = page.get_by_role("slider").first
    slider.focus()
    page.keyboard.press("Home")
    first = slider.get_attribute("aria-valuenow")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert first is not None
    assert slider.get_attribute("aria-valuenow") == str(int(first) + 2)


def test_the_graph_of_resnet50(opened: Open) -> None:
    page = opened(explore(models.load("resnet50"), title="ResNet-50"))
    expect(page.locator(".rx canvas").first).to_be_visible()
    expect(page.get_by_role("group", name="what is chosen")).to_contain_text("25.6 million parameters")
    expect(page.locator("pre")).to_be_hidden()


def test_the_state_that_was_given_is_shown(opened: Open) -> None:
    page = opened(explore(SMALL, view="types", state="step=2"))
    other = opened(explore(SMALL, view="types", state="step=4"))
    values = [int(p.get_by_role("slider").first.get_attribute("aria-valuenow") or -1) for p in (page, other)]
    assert values[1] - values[0] == 2


def test_an_address_restores_a_state(opened: Open) -> None:
    page = opened(explore(SMALL, view="types", name="small", state="step=2"))
    before = page.get_by_role("slider").first.get_attribute("aria-valuenow")
    page.evaluate("window.location.hash = '#rx-small:step=5'")
    expect(page.get_by_role("slider").first).not_to_have_attribute("aria-valuenow", before or "")


@pytest.mark.parametrize("view", ["ir", "types"])
def test_names_that_are_markup_stay_text(opened: Open, view: str) -> None:
    page = opened(explore(hostile(), view=view, title=MARKUP, state=MARKUP))
    expect(page.locator(".rx").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    images = """() => [document, ...[...document.querySelectorAll("*")].map((e) => e.shadowRoot)]
      .filter(Boolean).flatMap((root) => [...root.querySelectorAll("img")]).length"""
    assert page.evaluate(images) == 0
    assert page.title() == MARKUP


def test_without_scripts_the_picture_is_seen(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(explore(SMALL).save(tmp_path / "still.html").as_uri())
    assert "%0 = tanh(%a);" in page.locator("pre").inner_text()
    context.close()
