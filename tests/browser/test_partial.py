"""The explorer of partial evaluation in a real browser, on samples that the pass decided."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import ROOT, Opener

pytestmark = pytest.mark.browser


@cache
def text_of(name: str) -> str:
    return (ROOT / f"frontend/test/data/partial_{name}.json").read_text(encoding="utf-8")


def view_of(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(text_of(name))
    return data


def press(page: Page, *keys: str) -> None:
    page.locator(".relay-explorer .rx").focus()
    for key in keys:
        page.keyboard.press(key)


def say(page: Page) -> str:
    return " ".join(page.locator(".say").inner_text().split())


def row(page: Page, side: str, text: str) -> Locator:
    return page.locator(f".{side}-grid .row").filter(has=page.locator(".cell.code", has_text=text)).first


def known(page: Page, text: str) -> str:
    return " ".join(row(page, "program", text).locator(".c-known").inner_text().split())


def remaining(page: Page) -> list[str]:
    """The rows of what remains that are there."""
    cells = page.locator(".remains-grid .row:not(.is-unborn) .cell.code")
    return [" ".join(text.split()).removeprefix("▾ ") for text in cells.all_inner_texts()]


def test_the_first_frame_is_a_round_of_the_recursion(open_view: Opener) -> None:
    page = open_view(view_of("power"))
    assert page.locator(".count").inner_text() == "6 / 25"
    assert say(page) == (
        "@power is called again with %x and %n = 2: recursive call 1. %n was 3, and is now smaller, so "
        "the recursion must end, and is unrolled."
    )
    assert known(page, "%n: int32") == "● static: 2 ●2 static"
    expect(page.locator(".call.now")).to_contain_text("recursive call 1")
    assert remaining(page) == ["def @main(", "%x: float32) -> float32 {"]


def test_what_remains_grows_and_nothing_moves(open_view: Opener) -> None:
    page = open_view(view_of("power"), motion="reduce")
    place = row(page, "remains", "let %x3").evaluate("e => e.style.top")
    press(page, "n")
    assert "multiply has to wait" in say(page)
    assert remaining(page)[2:] == ["let %x1 = multiply(%x, 1f);"]
    expect(row(page, "remains", "let %x1")).to_have_class(re.compile("is-fresh"))
    press(page, "n")
    assert remaining(page)[2:] == ["let %x1 = multiply(%x, 1f);", "let %x2 = multiply(%x, %x1);"]
    press(page, "End")
    assert len(remaining(page)) == 7
    assert row(page, "remains", "let %x3").evaluate("e => e.style.top") == place
    press(page, "Home")
    assert remaining(page) == ["def @main(", "%x: float32) -> float32 {"]


def test_values_are_those_of_the_round(open_view: Opener) -> None:
    page = open_view(view_of("power"))
    shown = [known(page, "%n: int32").split()[2]]
    for _ in range(2):
        press(page, "r")
        shown.append(known(page, "%n: int32").split()[2])
    assert shown == ["2", "1", "0"]
    page.locator(".call button").nth(1).click()
    assert known(page, "%n: int32").split()[2] == "3"
    press(page, "Escape")
    assert known(page, "%n: int32").split()[2] == "0"


def test_over_a_call_and_out_of_it(open_view: Opener) -> None:
    page = open_view(view_of("power"))
    press(page, "o")
    assert say(page) == "@power returns %x2. @power continues."
    press(page, "Escape", "ArrowRight", "u")
    assert say(page) == "@power returns %x2. @power continues."


def test_effects_have_their_order_and_cells_what_they_hold(open_view: Opener) -> None:
    page = open_view(view_of("tree"), fragment="#rx-test:step=1")
    press(page, "e", "e")
    assert "The write stays here, in order" in say(page)
    assert " ".join(page.locator(".cells").inner_text().split()) == "%cell holds %b"
    assert known(page, "let %w = ref_write").startswith("◆ an effect: ()")
    press(page, "End")
    orders = page.locator(".remains-grid .order").all_inner_texts()
    assert [text.split()[-1] for text in orders] == ["1", "1", "2", "3"]


def test_what_nothing_asks_for_is_shown_on_request(open_view: Opener) -> None:
    page = open_view(view_of("tree"), fragment="#rx-test:step=48")
    assert not any("Node(" in text for text in remaining(page))
    press(page, "a")
    expect(row(page, "remains", "let %x7 = Node")).to_contain_text("not needed")
    page.get_by_role("button", name="only needed bindings").click()
    assert not any("Node(" in text for text in remaining(page))


def test_rows_lead_to_their_steps_and_to_one_another(open_view: Opener) -> None:
    page = open_view(view_of("tree"), fragment="#rx-test:step=48")
    row(page, "program", "exp(%v)").click()
    linked = page.locator(".remains-grid .row.is-linked .cell.code").all_inner_texts()
    assert linked == ["let %x8 = exp(%x1);", "let %x9 = exp(%b);"]
    page.keyboard.press("Enter")
    assert "exp has to wait" in say(page)
    press(page, "End")
    row(page, "remains", "let %x10 = add").click()
    expect(page.locator(".program-grid .row.is-linked")).to_contain_text("add(%0, %1)")
    page.keyboard.press("w")
    assert "computes it as %x10" in say(page)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".remains-grid .row[aria-selected=true]")).to_contain_text("let %x10 = add")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".remains-grid .row[aria-selected=true]")).to_contain_text("let %x9 = exp")


def test_a_state_is_an_address(open_view: Opener) -> None:
    page = open_view(view_of("tree"))
    press(page, "End", "a", "/")
    page.keyboard.type("leaf")
    expect(page.locator(".hits")).to_have_text("8 matches")
    page.wait_for_timeout(350)
    address = str(page.evaluate("location.hash"))
    again = open_view(view_of("tree"), fragment=address)
    expect(again.locator(".hits")).to_have_text("8 matches")
    assert again.locator(".count").inner_text() == "48 / 48"
    again.get_by_label("where to search").select_option("remains")
    expect(again.locator(".hits")).to_have_text("3 matches")


def test_a_phone_shows_one_at_a_time(open_view: Opener) -> None:
    page = open_view(view_of("tree"), width=390, fragment="#rx-test:step=30")
    expect(page.locator(".side-remains")).to_be_hidden()
    expect(page.locator(".newest")).to_have_text("residual program: nothing new")
    press(page, "n")
    expect(page.locator(".newest")).to_have_text("residual program: let %x10 = add(%x9, 2.718282f);")
    for tab, shown in (("Residual", ".side-remains"), ("Calls", ".calls"), ("Cells", ".work")):
        page.get_by_role("tab", name=tab).click()
        expect(page.locator(shown)).to_be_visible()
        expect(page.locator(".side-program")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("name", "width", "theme"), [("tree", 1280, "dark"), ("stays", 390, "")])
def test_accessible(open_view: Opener, axe_core: str, name: str, width: int, theme: str) -> None:
    page = open_view(view_of(name), width=width, theme=theme, fragment="#rx-test:step=16", motion="reduce")
    page.add_script_tag(url=axe_core)
    found = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
        "`${v.id}: ${v.nodes.map(n => n.target.flat().join(' ')).join(', ')}`))"
    )
    assert found == []


def test_a_gap_is_told(open_view: Opener) -> None:
    page = open_view(view_of("gap"), fragment="#rx-test:step=13")
    assert say(page) == "12 steps are left out here: only the first 12 of 25 are recorded."
    press(page, "ArrowRight")
    assert "The residual program has 3 bindings." in say(page)
