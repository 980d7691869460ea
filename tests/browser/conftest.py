"""A browser with the network cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.pages import ARGUMENTS, CHROMIUM, ORIGIN, ROOT, Opener, Site, page_html

# Fixtures, for the tests of the playground.
from tests.browser.playground_page import playground_site as playground_site
from tests.browser.playground_page import running as running
from tests.browser.playground_page import visit as visit


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, once a module: Playwright allows one at a time."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def axe_core(npm_packages: Path) -> str:
    """The path, on the test site, of the accessibility checker, which comes with the front end's tools."""
    return f"/{(npm_packages / 'axe-core/axe.min.js').relative_to(ROOT)}"


@pytest.fixture
def open_view(browser: Browser) -> Iterator[Opener]:
    """Open a page with one view mounted in it.

    `theme` is what the page declares (``data-theme``), `system` what the system prefers; `script` runs before
    the page's own. At the end no page may have asked for anything outside itself, or have logged an error.
    """
    opened: list[tuple[Page, Site]] = []

    def open_(
        view: str | dict[str, Any],
        *,
        width: int = 1280,
        height: int = 800,
        theme: str = "",
        system: str = "light",
        motion: str = "no-preference",
        fragment: str = "",
        column: int = 1280,
        script: str = "",
    ) -> Page:
        attributes = f' data-theme="{theme}"' if theme else ""
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if system == "dark" else "light",
            reduced_motion="reduce" if motion == "reduce" else "no-preference",
            has_touch=width < 600,
        )
        page = context.new_page()
        site = Site(page_html(view, attributes, column))
        site.watch(page)
        if script:
            page.add_init_script(script)
        opened.append((page, site))
        page.goto(f"{ORIGIN}/{fragment}")
        page.wait_for_function("window.ready === true")
        return page

    yield open_
    failures = [failure for _, site in opened for failure in site.failures]
    for page, _ in opened:
        page.context.close()
    assert failures == []
