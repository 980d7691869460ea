"""The machine explorer in a real browser, on samples that Python made. A page is loaded once for all that can
be asked of it.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorers import Samples, press, refusal, rx, say, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

sample = Samples("machine")


def registers(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(".regs tbody tr").all_inner_texts()]


def line(page: Page, name: str) -> str:
    """The instruction that is done now ("now"), or comes next ("next")."""
    return " ".join(page.locator(f".vm-line.is-{name} .ins-text").inner_text().split())


def to(page: Page, state: str) -> None:
    """Opens another state by the address."""
    page.evaluate(f"location.hash = '#rx-test:{state}'")
    expect(page.locator(".vm-body")).to_be_visible()


def test_instructions_are_stepped_through_beside_the_program(open_view: Opener) -> None:
    page = open_view(sample("tree"))
    # The first frame is where the stack is highest.
    assert say(page).startswith("@fold is called with r0 = Leaf([0.5, -1])")
    expect(page.locator(".count")).to_have_text("14 / 42")
    expect(page.locator(".vm-line")).to_have_count(14)
    assert line(page, "next").startswith("switch r0")
    assert registers(page)[0] == "r0 %t #1 Leaf([0.5, -1]) written"
    assert registers(page)[2] == "r2 empty"
    expect(page.locator(".stack .frame")).to_have_count(3)
    expect(page.locator(".without")).to_contain_text("this is a constructor of a data type")

    press(page, "ArrowRight", "ArrowRight")
    assert line(page, "now") == "get_field r2, r0, 0"
    assert registers(page)[2] == "r2 #0 (2) f32 [0.5, -1] written"
    press(page, "ArrowRight", "ArrowRight", "ArrowRight")
    assert say(page).startswith("The kernel k0 multiply reads")
    assert registers(page)[4].endswith("[0.25, 1] written")
    press(page, "o")
    assert "@fold returns [0.25, 1], and @fold continues" in say(page)
    press(page, "u")
    expect(page.locator(".stack .frame")).to_have_count(1)
    press(page, "End")
    assert "this is the result" in say(page)
    press(page, "Escape")
    assert "@fold returns [0.25, 1]" in say(page)

    to(page, "step=29")  # rows and instructions are linked
    expect(page.locator(".count")).to_have_text("29 / 42")
    now = page.locator(".row.is-now .code").all_inner_texts()
    assert [text.strip() for text in now] == ["%2 = add(%0, %1);", "tanh(%2)"]
    page.locator(".row", has_text="multiply(%v, %w)").hover()
    lit = page.locator(".vm-line.is-lit .num, .vm-line.is-lit .vm-num").all_inner_texts()
    assert lit == ["2", "3", "4", "5"]
    page.locator(".vm-line", has_text="invoke r4, @fold").hover()
    expect(page.locator(".row.is-linked")).to_contain_text("%1 = @fold(%r, %w);")
    page.locator(".vm-line .ins", has_text="add_tanh").click()
    assert line(page, "now").startswith("invoke_packed k1")
    assert state_of(page).startswith("#rx-test:step=30")


def test_why_and_finding_lead_to_other_steps(open_view: Opener) -> None:
    page = open_view(sample("tree"), fragment="#rx-test:step=20")
    press(page, "w")
    assert page.locator(".why-pane .entry .at").all_inner_texts()[:2] == ["20", "19"]
    page.locator(".why-pane .entry").nth(1).click()
    expect(page.locator(".count")).to_have_text("19 / 42")
    press(page, "/")
    page.keyboard.type("invoke_packed")
    page.get_by_label("only these steps").check()
    press(page, "Home", "ArrowRight", "ArrowRight")
    assert say(page).startswith("The kernel k1 add_tanh")


def test_another_frame_and_another_function_are_shown(open_view: Opener, axe_core: str) -> None:
    page = open_view(sample("map"), system="dark", motion="reduce")
    press(page, "[")
    expect(page.locator(".pinned")).to_be_visible()
    expect(page.locator(".regs-box .pane-head")).to_contain_text("which is waiting")
    assert line(page, "next").startswith("invoke")
    assert "frame=" in state_of(page)
    press(page, "Escape")
    expect(page.locator(".pinned")).to_have_count(0)
    page.get_by_label("which function's code").select_option(label="@main")
    expect(page.locator(".vm-line", has_text="alloc_closure")).to_be_visible()
    to(page, "step=20&pane=why")
    expect(page.locator(".why-pane")).to_be_visible()
    assert violations(page, axe_core) == []


def test_memory_says_what_is_held_and_the_graph_executors_plan_is_a_tab(
    open_view: Opener, axe_core: str
) -> None:
    page = open_view(sample("layers"), fragment="#rx-test:step=8", motion="reduce")
    page.get_by_role("tab", name="Memory", exact=True).click()
    storage = page.locator(".thing", has_text="#3 64 bytes")
    expect(storage.locator(".holder")).to_have_text("r3")
    expect(page.locator(".thing", has_text="#7")).to_contain_text("new")
    expect(page.locator(".memory-pane")).to_contain_text("show the 1 freed ones")
    page.get_by_text("show the 1 freed ones").click()
    expect(page.locator(".thing.is-gone")).to_have_count(1)
    assert violations(page, axe_core) == []
    storage.locator(".val").click()
    expect(page.locator(".why-pane")).to_contain_text("Tensors in it, one after another")
    expect(page.locator(".why-pane .chain li")).to_have_count(2)

    page.get_by_role("tab", name="graph executor: storage plan").click()
    rx(page).last.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert "a new buffer, b0" in say(page)
    assert state_of(page).startswith("#rx-test:form=graph&step=1")
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    assert violations(page, axe_core) == []
    page.get_by_role("tab", name="virtual machine").click()
    expect(page.locator(".vm-body")).to_be_visible()


def test_a_state_of_the_plan_is_restored(open_view: Opener) -> None:
    page = open_view(sample("layers"), fragment="#rx-test:form=graph&step=3")
    assert "b0 is reused" in say(page)
    to(page, "step=3")
    expect(page.locator(".count")).to_have_text("3 / 13")
    view = sample("tree")
    view["steps"][3][2] = 99
    assert "damaged (steps[3])" in refusal(page, view)
    view = sample("layers")
    view["plan"]["grid"] = [7]
    assert "damaged" in refusal(page, view)


def test_a_failure_and_what_is_left_out_are_said(open_view: Opener, axe_core: str) -> None:
    page = open_view(sample("unmatched"), width=900, motion="reduce")
    expect(page.locator(".failure")).to_contain_text("add a clause for Nil")
    expect(page.locator(".row.is-failed")).to_contain_text("match?")
    assert violations(page, axe_core) == []
    page = open_view(sample("gap"), fragment="#rx-test:step=61")
    assert "731 steps are left out" in say(page)
    press(page, "ArrowRight")
    assert registers(page)[0] == "r0 %n not recorded"


def test_bytecode_alone_has_no_column_for_a_program(open_view: Opener) -> None:
    view = sample("tree")
    view["program"]["rows"] = []
    for function in view["functions"]:
        function[1] = -1
        for code in function[4]:
            code[2] = []
    page = open_view(view)
    expect(page.locator(".vm-body > .grid")).to_be_hidden()
    press(page, "ArrowRight")
    assert line(page, "now").startswith("switch")


def test_on_a_phone_the_columns_are_tabs(open_view: Opener, axe_core: str) -> None:
    page = open_view(sample("tree"), width=390, motion="reduce")
    for name, part in (
        ("Program", ".grid"), ("Registers", ".regs"), ("Stack", ".stack"), ("Memory", ".things"),
        ("Why", ".why-pane"), ("Code", ".vm-code"),
    ):  # fmt: skip
        page.get_by_role("tab", name=name, exact=True).first.click()
        expect(page.locator(f".vm-body {part}")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= 390")
    press(page, "ArrowRight")
    assert line(page, "now").startswith("switch")
    assert violations(page, axe_core) == []
