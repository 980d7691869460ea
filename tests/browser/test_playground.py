"""The playground in a browser: the page that a reader has, with its policy, and nothing beyond it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.playground_page import FIRST, Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_an_edit_changes_the_picture_and_an_error_greys_it(running: Visit) -> None:
    page = running.page
    running.write("def @main(%x: Tensor[(7, 3), float32]) { let %answer = exp(%x); %answer }")
    expect(page.locator(".picture")).to_contain_text("%answer")
    expect(page.locator(".picture")).to_contain_text("(7, 3)")
    expect(page.locator(".cm-content .tok-op")).to_have_text("exp")
    running.write("def @main(%x: Tensor[(7, 3), float32]) {\n  exp(%y)\n}")
    expect(page.locator(".problem")).to_contain_text("%y")
    expect(page.locator(".cm-lintRange-error")).to_have_text("%y")
    expect(page.locator(".picture-host.is-stale")).to_contain_text("%answer")
    page.locator(".problem").get_by_role("button", name="line 2").click()
    assert page.evaluate("getSelection().toString()") in ("%y", "")
    page.keyboard.insert_text("%x")
    expect(page.locator(".problem")).to_have_count(0)
    expect(page.locator(".picture-host.is-stale")).to_have_count(0)


def test_other_views_show_the_same_program(running: Visit) -> None:
    page = running.page
    running.write("def @main(%x: Tensor[(2, 3), float32]) { tanh(exp(%x)) }")
    for view in ("ir", "fusion", "pipeline"):
        page.get_by_label("View").select_option(view)
        running.explorer(view)
    page.get_by_label("add a pass: passes").select_option("ToANormalForm")
    expect(page.locator(".picture")).to_contain_text("ToANormalForm")
    page.get_by_role("button", name="remove FuseOps").click()
    expect(page.locator(".picture")).not_to_contain_text("FuseOps")
    page.get_by_label("View").select_option("types")


def test_the_keyboard_leaves_the_editor(running: Visit) -> None:
    page = running.page
    page.locator(".cm-content").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Run")).to_be_focused()
    page.locator(".cm-content").click()
    page.keyboard.press("Tab")
    expect(page.locator(".cm-content")).not_to_be_focused()


def test_programs_are_evaluated_on_small_arrays(running: Visit) -> None:
    page = running.page
    running.write("def @main(%x: Tensor[(2, 2), float32]) { nn.dense(%x, %x) + exp(%x) }")
    page.get_by_label("View").select_option("evaluation")
    running.explorer("evaluation")
    page.get_by_label("%x").fill("[[1, 2], [3, 0]]")
    expect(page.locator(".picture")).to_contain_text("7.718")  # 1·1 + 2·2 + e
    running.write("def @main(%x: float32) -> float32 { @main(%x) }")
    page.get_by_label("View").select_option("partial")
    running.explorer("partial")
    page.get_by_label("View").select_option("types")


def test_an_explorer_opens_its_program_here_and_the_address_keeps_it(visit: Callable[..., Visit]) -> None:
    """On a phone, in the dark: from a chapter's explorer to an edit, and back by the browser's history."""
    seen = visit(390, 844, "dark", "/book/chapter.html")
    page = seen.page
    page.get_by_role("button", name="more tools").click()
    page.get_by_role("button", name="edit this program").click()
    page.get_by_role("tab", name="Explorer").click()
    seen.explorer("fusion")
    expect(page.locator(".picture")).to_contain_text("nn.conv2d")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("tab", name="Program").click()
    expect(page.locator(".cm-content")).to_contain_text("nn.conv2d")
    before = page.url
    seen.write("def @main(%edited: float32) { %edited }")
    expect(page.locator(".cm-content .tok-keyword").first).to_have_text("def")
    expect(page).not_to_have_url(before)
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("%edited")
    page.go_back()
    expect(page.get_by_role("heading", name="A chapter")).to_be_visible()


def test_stop_ends_a_long_computation_and_keeps_the_text(running: Visit) -> None:
    page = running.page
    lines = "".join(f"let %x{i + 1} = exp(%x{i});" for i in range(20_000))
    running.write(f"def @main(%x0: float32) {{ {lines} %x20000 }}")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".problem")).to_contain_text("Stopped")
    expect(page.locator(".cm-content")).to_contain_text("exp(%x")
    expect(page.locator(".picture-host.is-stale")).to_be_visible()
    running.write("def @main(%again: float32) { %again }")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".picture")).to_contain_text("%again", timeout=FIRST)
    expect(page.locator(".problem")).to_have_count(0)


def test_a_file_of_text_is_opened_and_another_is_refused(running: Visit) -> None:
    page = running.page
    chooser = page.locator('.head input[type="file"]')
    chooser.set_input_files({"name": "m.npz", "mimeType": "", "buffer": b"PK\x03\x04" + b"\0" * 100})
    expect(page.locator(".problem")).to_contain_text("relay-explorer serve")
    text = b"def @main(%dropped: float32) { %dropped }"
    chooser.set_input_files({"name": "p.relay", "mimeType": "text/plain", "buffer": text})
    expect(page.locator(".picture")).to_contain_text("%dropped")


def test_an_edited_explorer_keeps_its_passes_and_its_step(visit: Callable[..., Visit]) -> None:
    """The playground shows what the chapter's explorer showed, in the step in which it was left."""
    seen = visit(path="/book/pipeline.html")
    page = seen.page
    page.locator(".rx").press("End")
    page.locator(".rx").press("ArrowLeft")
    count = page.locator(".count").inner_text()
    page.get_by_role("button", name="edit this program").click()
    seen.explorer("pipeline")
    assert page.locator('[data-option="passes"] input').last.input_value() == "FuseOps(fuse_opt_level=2)"
    expect(page.locator(".count")).to_have_text(count)
