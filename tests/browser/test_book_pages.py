"""Every page of the built book in a browser, the network cut: nothing fails, overflows or stays unmounted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, Request, TimeoutError, ViewportSize

from tests.browser.pages import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.book]

# Every formula of a page is drawn; on a page without any this holds at once.
TYPESET = "[...document.querySelectorAll('.math')].every((e) => e.querySelector('.katex math'))"
SIZES: dict[str, ViewportSize] = {
    "desktop": {"width": 1280, "height": 800},
    "phone": {"width": 390, "height": 844},
}


Scheme = Literal["light", "dark"]


@dataclass
class Visit:
    """A page that was opened, and what went wrong on it."""

    page: Page
    troubles: list[str] = field(default_factory=list)


def visit(
    browser: Browser, path: Path, size: str = "desktop", scheme: Scheme = "light", fragment: str = ""
) -> Visit:
    """Open a page as a file, with every request beyond the disk refused and noted."""
    context = browser.new_context(
        viewport=SIZES[size], color_scheme=scheme, offline=True, has_touch=size == "phone"
    )
    seen = Visit(context.new_page())
    seen.page.on(
        "console",
        lambda message: seen.troubles.extend([f"console: {message.text}"] if message.type == "error" else []),
    )
    seen.page.on("pageerror", lambda error: seen.troubles.append(f"exception: {error}"))
    seen.page.on("requestfailed", lambda request: seen.troubles.append(f"failed: {request.url}"))

    def note_outside(request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            seen.troubles.append(f"outside: {request.url}")

    seen.page.on("request", note_outside)
    seen.page.goto(path.as_uri() + fragment, wait_until="load")
    seen.page.evaluate("document.fonts.ready")
    return seen


def pages(site: Path) -> list[Path]:
    return sorted(
        path
        for path in site.rglob("*.html")
        if path.parent.name in ("book", "reference") or path.name == "search.html"
    )


def overflow(page: Page) -> list[str]:
    """What sticks out of the window sideways, if the page can be scrolled sideways."""
    found: list[str] = page.evaluate(
        """() => {
          const width = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= width) return [];
          return [...document.querySelectorAll("body *")]
            .filter((element) => element.getBoundingClientRect().right > width + 1)
            .slice(0, 5)
            .map((element) => `${element.tagName} .${element.className} ${element.textContent.slice(0, 40)}`);
        }"""
    )
    return found


def unmounted(page: Page) -> list[str]:
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll(".relay-explorer")]
             .filter((element) => {
               const host = [element, ...element.querySelectorAll("*")].find((inner) => inner.shadowRoot);
               const drawn = host?.shadowRoot.querySelector("[role], button");
               return !drawn || host.getBoundingClientRect().height < 80;
             })
             .map((element) => element.id)"""
    )
    return found


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_every_page(site: Path, browser: Browser, size: str, scheme: Scheme) -> None:
    wrong: dict[str, list[str]] = {}
    for path in pages(site):
        seen = visit(browser, path, size, scheme)
        seen.page.wait_for_timeout(300)
        try:
            seen.page.wait_for_function(TYPESET)
        except TimeoutError:
            seen.troubles.append("a formula is not drawn")
        troubles = seen.troubles + [f"sticks out: {what}" for what in overflow(seen.page)]
        troubles += [f"not mounted: {name}" for name in unmounted(seen.page)]
        if troubles:
            wrong[path.name] = troubles
        seen.page.context.close()
    assert not wrong


def test_the_theme_can_be_chosen_and_is_kept(site: Path, browser: Browser) -> None:
    seen = visit(browser, site / "book" / "index.html")
    theme = "document.documentElement.dataset.theme"
    assert seen.page.evaluate(theme) == "light"
    seen.page.get_by_role("button", name="Dark theme").click()
    assert seen.page.evaluate(theme) == "dark"
    seen.page.reload()
    assert seen.page.evaluate(theme) == "dark"
    seen.page.context.close()


def test_contents_on_a_phone(site: Path, browser: Browser) -> None:
    seen = visit(browser, site / "book" / "part1_why.html", "phone")
    contents = seen.page.get_by_role("navigation", name="Contents")
    assert not contents.is_visible()
    button = seen.page.get_by_role("button", name="Contents")
    button.click()
    assert contents.is_visible()
    assert seen.page.evaluate("document.activeElement.closest('#contents') !== null")
    seen.page.keyboard.press("Escape")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    contents.get_by_role("link").first.click()
    seen.page.wait_for_url("**/using.html")
    seen.page.context.close()


def test_keyboard_reaches_the_text_first(site: Path, browser: Browser) -> None:
    seen = visit(browser, site / "book" / "part1_why.html")
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.textContent") == "Skip to the text"
    seen.page.keyboard.press("Enter")
    assert seen.page.evaluate("document.activeElement.id") == "main"
    seen.page.context.close()


def test_search_finds(site: Path, browser: Browser) -> None:
    seen = visit(browser, site / "book" / "index.html")
    seen.page.keyboard.press("Control+k")
    seen.page.keyboard.type("compiler")
    seen.page.keyboard.press("Enter")
    # Results appear one after the other.
    seen.page.wait_for_selector("#search-results li a[href*='part1_why.html']", timeout=20_000)
    assert not seen.troubles
    seen.page.context.close()


def test_a_link_restores_an_explorer(site: Path, browser: Browser) -> None:
    """The address that an explorer makes leads back to the same state, from the book's cover."""
    cover = site / "book" / "index.html"
    seen = visit(browser, cover)
    name = seen.page.evaluate("document.querySelector('.relay-explorer').id")
    seen.page.context.close()
    first = visit(browser, cover, fragment=f"#{name}:step=1")
    second = visit(browser, cover, fragment=f"#{name}:step=3")
    shown = [
        seen.page.locator(f"#{name}").locator("[role=slider]").get_attribute("aria-valuenow")
        for seen in (first, second)
    ]
    assert shown[0] != shown[1]
    for seen in (first, second):
        assert not seen.troubles
        seen.page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "size"),
    [
        *[(name, "desktop") for name in ("index", "using", "part3_typing", "ch12_inference")],
        ("reference/operators_convolution", "desktop"),
        ("reference/operators_convolution", "phone"),
    ],
)
def test_axe_finds_nothing(
    site: Path, browser: Browser, axe_core: str, name: str, size: str, scheme: Scheme
) -> None:
    """The page around the explorers; they have tests of their own."""
    seen = visit(browser, site / "book" / f"{name}.html", size, scheme)
    if name.startswith("reference/"):  # its formulas are typeset after the page has loaded
        seen.page.wait_for_function(
            "[...document.querySelectorAll('div.math')].every((box) => box.querySelector('.katex'))"
        )
        seen.page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
    seen.page.evaluate((ROOT / axe_core.lstrip("/")).read_text("utf-8"))
    found = seen.page.evaluate(
        """async () => {
          const around = { exclude: [".relay-explorer"] };
          const { violations } = await axe.run(around, { resultTypes: ["violations"] });
          return violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target}`));
        }"""
    )
    assert found == []
    seen.page.context.close()
