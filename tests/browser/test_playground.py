"""The playground in a browser: the page that a reader has, with its policy, and nothing beyond it."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from relay_book.playground import SCRIPTS, policy

from relay_explorer.widgets.bundle import script
from tests.browser.pages import ORIGIN, ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DATA = ROOT / "frontend" / "test" / "data"
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Playground</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="{policy()}"></head>
<body><main><h1>Playground</h1><div class="relay-playground" data-files="/playground/">missing</div></main>
{"".join(f'<script src="/{name}"></script>' for name in SCRIPTS)}</body></html>"""
# A page of the book, one level below the site, as Sphinx says in `data-content_root`.
CHAPTER = """<!doctype html><html lang="en" data-content_root="../"><head><meta charset="utf-8">
<title>A chapter</title>
<link rel="icon" href="data:,"></head><body><main><h1>A chapter</h1>
<div class="relay-explorer" id="rx-diamond"><script type="application/json">%s</script></div></main>
<script src="/relay_explorer.js"></script></body></html>"""
FIRST = 60_000  # ms until Python has started, on a machine that is busy with other tests


@dataclass
class Visit:
    """A page, and what went wrong on it."""

    page: Page
    troubles: list[str] = field(default_factory=list)

    def write(self, text: str) -> None:
        """Replace the program, as a reader does who pastes another."""
        self.page.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def explorer(self, kind: str) -> None:
        """Wait for the explorer of a view of the program that is in the editor."""
        expect(self.page.locator(f'.picture[data-view="{kind}"] .rx')).to_be_visible(timeout=FIRST)


@pytest.fixture(scope="module")
def files(playground_files: Path) -> dict[str, bytes]:
    """The files of the site."""
    return {
        "/": PAGE.encode(),
        "/book/playground.html": PAGE.encode(),
        "/book/chapter.html": (CHAPTER % (DATA / "fusion_diamond.json").read_text("utf-8")).encode(),
        "/relay_explorer.js": script().encode(),
        **{f"/playground/{path.name}": path.read_bytes() for path in playground_files.glob("*.js")},
    }


@pytest.fixture(scope="module")
def visit(browser: Browser, files: dict[str, bytes]) -> Iterator[Callable[..., Visit]]:
    """Open the page; at the end no page may have asked for anything else, or have logged an error."""
    visits: list[Visit] = []

    def open_(width: int = 1280, height: int = 800, scheme: str = "light", path: str = "/") -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            has_touch=width < 600,
        )
        visits.append(seen := Visit(context.new_page()))

        def serve(route: Route) -> None:
            url = urlsplit(route.request.url)
            if f"{url.scheme}://{url.netloc}" != ORIGIN or url.path not in files:
                seen.troubles.append(f"request: {route.request.url}")
                route.abort()
                return
            kind = mimetypes.guess_type(url.path)[0] or "text/html; charset=utf-8"
            route.fulfill(body=files[url.path], content_type=kind)

        seen.page.route("**/*", serve)
        seen.page.on("pageerror", lambda error: seen.troubles.append(f"error: {error}"))
        seen.page.on(
            "console", lambda m: seen.troubles.append(f"console: {m.text}") if m.type == "error" else None
        )
        seen.page.goto(ORIGIN + path)
        return seen

    yield open_
    assert [trouble for seen in visits for trouble in seen.troubles] == []


@pytest.fixture(scope="module")
def running(visit: Callable[..., Visit]) -> Visit:
    """One page in which Python runs, which the tests share because starting it takes seconds."""
    seen = visit()
    expect(seen.page.get_by_text("They come from this site")).to_be_visible()
    seen.page.get_by_role("button", name="Run").click()
    seen.explorer("types")
    return seen


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
    page.get_by_role("tab", name="Picture").click()
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
    chooser.set_input_files({"name": "m.onnx", "mimeType": "", "buffer": b"\x08\x07\x12\x00\xff"})
    expect(page.locator(".problem")).to_contain_text("relay-explorer serve")
    text = b"def @main(%dropped: float32) { %dropped }"
    chooser.set_input_files({"name": "p.relay", "mimeType": "text/plain", "buffer": text})
    expect(page.locator(".picture")).to_contain_text("%dropped")
