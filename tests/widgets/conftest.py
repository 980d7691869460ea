"""A browser for the tests of saved files and notebooks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.pages import ARGUMENTS, CHROMIUM


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, once a module: Playwright allows one at a time."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()
