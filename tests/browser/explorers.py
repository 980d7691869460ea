"""What the browser tests of several explorers share: samples, the keyboard, the address, the two checks that
each of them makes.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from playwright.sync_api import Locator, Page

from tests.browser.pages import ROOT

AXE = """async () => {
  const host = document.querySelector(".relay-explorer");
  const { violations } = await axe.run(host, { resultTypes: ["violations"] });
  return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`));
}"""
REFUSED = """async (view) => {
  const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
  try { mount(document.createElement("div"), view); } catch (error) { return error.message; }
}"""


@cache
def _text(kind: str, name: str) -> str:
    return (ROOT / f"frontend/test/data/{kind}_{name}.json").read_text(encoding="utf-8")


class Samples:
    """The samples of one view that are kept for the front end's tests; `samples(name)` is a fresh copy."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, name: str) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(_text(self.kind, name))
        return data


def rx(page: Page) -> Locator:
    return page.locator(".relay-explorer .rx")


def press(page: Page, *keys: str) -> None:
    """Presses keys in the explorer as a whole, and waits until what they changed is on the screen: rows made
    anew have no `inner_text` before.
    """
    rx(page).last.focus()
    for key in keys:
        page.keyboard.press(key)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def say(page: Page) -> str:
    return page.locator(".say").inner_text()


def state_of(page: Page) -> str:
    """The state in the address, once it has settled."""
    page.wait_for_timeout(350)
    return str(page.evaluate("location.hash"))


def violations(page: Page, axe_core: str) -> list[str]:
    """What the checker of accessibility finds."""
    page.add_script_tag(url=axe_core)
    found: list[str] = page.evaluate(AXE)
    return found


def refusal(page: Page, view: dict[str, Any]) -> str:
    """Why a page refuses to draw a view that is damaged."""
    told: str = page.evaluate(REFUSED, view)
    return told
