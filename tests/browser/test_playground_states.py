"""The playground's page in all its states: accessibility, outline, phone, contrast themes, print, `file://`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import external_file
from playwright.sync_api import Browser, Page, ViewportSize, expect
from relay_book.playground import SCRIPTS

from relay_explorer.playground.description import VIEWS as OFFERED
from relay_explorer.widgets.bundle import script
from tests.browser.pages import ROOT
from tests.browser.playground_page import FIRST, PAGE, Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHECK = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`));
}"""
VIEWS = tuple(view for view in OFFERED if view != "source")  # which needs an ONNX file
FINE = "def @main(%x: Tensor[(2, 2), float32]) { sum(tanh(%x)) }"
WRONG = "def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) {\n  add(%x, %y)\n}"
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture
def ready(running: Visit) -> Visit:
    """The page in which Python runs, wide, light, and with a program that has no error."""
    page = running.page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(media="screen", color_scheme="light", forced_colors="none")
    running.write(FINE)
    page.get_by_label("View").select_option("types")
    running.explorer("types")
    expect(page.locator(".problem")).to_have_count(0)
    expect(page.locator(".picture-host.is-stale")).to_have_count(0)
    return running


def violations(page: Page, axe_core: str) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate((ROOT / axe_core.lstrip("/")).read_text("utf-8"))
    found: list[str] = page.evaluate(CHECK)
    return found


def turn(page: Page, tab: str) -> None:
    """Choose a tab of the playground; explorers have tabs of their own."""
    page.locator(".pg > .tabs").get_by_role("tab", name=tab).click()


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_the_outline(visit: Callable[..., Visit]) -> None:
    outline = visit().page.locator(".pg").aria_snapshot()
    assert outline + "\n" == external_file("outlines/playground.txt")


def test_the_outline_of_an_error_and_of_the_options(ready: Visit) -> None:
    page = ready.page
    page.get_by_label("View").select_option("pipeline")
    ready.explorer("pipeline")
    ready.write(WRONG)
    expect(page.locator(".problem")).to_have_count(1)
    outline = [page.locator(part).aria_snapshot() for part in (".program", ".options", ".stale")]
    assert "\n".join(outline) + "\n" == external_file("outlines/playground_error.txt")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_before_python_is_loaded(visit: Callable[..., Visit], axe_core: str, scheme: str) -> None:
    for size in ((1280, 800), (390, 844)):
        seen = visit(*size, scheme)
        assert violations(seen.page, axe_core) == []
        seen.page.context.close()


def test_axe_and_the_width_in_every_view(ready: Visit, axe_core: str) -> None:
    page = ready.page
    ready.write(FINE)
    for view in VIEWS:
        page.get_by_label("View").select_option(view)
        ready.explorer(view)
        expect(page.locator(".problem")).to_have_count(0)
        assert violations(page, axe_core) == [], view
        page.set_viewport_size({"width": 320, "height": 640})
        for tab in ("Explorer", "Program"):
            turn(page, tab)
            assert overflow(page) <= 0, (view, tab)
        page.set_viewport_size({"width": 1280, "height": 800})


def test_axe_in_errors_menus_and_the_dark(ready: Visit, axe_core: str) -> None:
    page = ready.page
    page.emulate_media(color_scheme="dark")
    ready.write(WRONG)
    expect(page.locator(".problem")).to_have_count(1)
    assert violations(page, axe_core) == [], "an error of types"
    page.get_by_label("View").select_option("memory")
    expect(page.locator(".picture-host.is-stale")).to_be_visible()
    assert violations(page, axe_core) == [], "an explorer that is out of date"
    page.set_viewport_size(PHONE)
    for tab in ("Explorer", "Program"):
        turn(page, tab)
        assert violations(page, axe_core) == [], f"an error on a phone: {tab}"
    ready.write(FINE)
    turn(page, "Explorer")
    ready.explorer("memory")
    page.get_by_role("button", name="more tools").click()
    assert violations(page, axe_core) == [], "a menu on a phone"


def test_a_contrast_theme_tells_what_is_out_of_date_and_updated(ready: Visit) -> None:
    page = ready.page
    page.emulate_media(forced_colors="active")
    ready.write(WRONG)
    expect(page.locator(".problem")).to_have_count(1)
    page.get_by_label("View").select_option("memory")
    stale = page.locator(".picture-host.is-stale")
    expect(stale).to_be_visible()
    assert stale.evaluate("(el) => getComputedStyle(el).outlineStyle") == "double"
    assert page.locator(".problem").evaluate("(el) => getComputedStyle(el).borderLeftStyle") == "solid"


def test_the_print_has_the_whole_program_and_the_explorer(ready: Visit) -> None:
    page = ready.page
    lines = "\n".join(f"  let %x{i + 1} = exp(%x{i});" for i in range(90))
    ready.write(f"def @main(%x0: float32) {{\n{lines}\n  %x90\n}}")
    ready.explorer("types")
    page.set_viewport_size(PHONE)
    page.emulate_media(media="print")
    expect(page.locator(".cm-line")).to_have_count(93)
    expect(page.locator(".head")).to_be_hidden()
    expect(page.locator(".picture .rx")).to_be_visible()


def test_run_turns_to_the_explorer_on_a_phone_and_typing_does_not(visit: Callable[..., Visit]) -> None:
    seen = visit(390, 844)
    page = seen.page
    explorer = page.locator(".pg > .tabs .tab").last
    seen.run()
    seen.explorer("types")
    expect(explorer).to_have_attribute("aria-selected", "true")
    turn(page, "Program")
    expect(page.locator(".tab.is-fresh")).to_have_count(0)
    seen.write("def @main(%typed: float32) { exp(%typed) }")
    expect(page.get_by_role("tab", name="Explorer, updated")).to_be_visible()
    expect(page.locator(".cm-content")).to_be_focused()
    turn(page, "Explorer")
    expect(page.locator(".picture")).to_contain_text("%typed")
    expect(page.locator(".tab.is-fresh")).to_have_count(0)
    turn(page, "Program")
    seen.write(WRONG.replace("add(%x, %y)", "add(%x, %q)"))
    expect(page.locator(".problem")).to_contain_text("%q")
    turn(page, "Explorer")
    page.get_by_role("button", name="Show the reason").click()
    expect(page.get_by_role("button", name="line 2")).to_be_focused()


def test_it_runs_from_a_file_without_a_server(
    browser: Browser, playground_files: Path, tmp_path: Path
) -> None:
    """A copy of the book on a disk, opened in Chromium: every request stays in its folder."""
    shutil.copytree(playground_files, tmp_path / "playground")
    (tmp_path / "relay_explorer.js").write_text(script(), "utf-8")
    page_text = PAGE.replace('"/playground/"', '"playground/"')
    for name in SCRIPTS:
        page_text = page_text.replace(f'"/{name}"', f'"{name}"')
    (tmp_path / "page.html").write_text(page_text, "utf-8")
    context = browser.new_context()
    seen = Visit(context.new_page())
    seen.listen()
    asked: list[str] = []
    seen.page.on("request", lambda request: asked.append(request.url))
    seen.page.goto((tmp_path / "page.html").as_uri())
    seen.run()
    seen.explorer("types")
    seen.write("def @main(%local: float32) { exp(%local) }")
    expect(seen.page.locator(".picture")).to_contain_text("%local", timeout=FIRST)
    assert [url for url in asked if not url.startswith((tmp_path.as_uri(), "blob:", "data:"))] == []
    assert seen.troubles == []
    context.close()
