"""The page of the playground with its policy, for tests: visits, and one page in which Python runs."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Dialog, Page, Route, expect
from relay_book.playground import SCRIPTS, policy

from relay_explorer import explore, relay
from relay_explorer.widgets.bundle import script
from relay_explorer.widgets.page import script_json
from tests.browser.pages import ORIGIN, ROOT
from tests.playground.models import layers

DATA = ROOT / "frontend" / "test" / "data"
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Playground</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>body {{ background: white; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #16171a; color: white; }} }}</style>
<meta http-equiv="Content-Security-Policy" content="{policy()}"></head>
<body><main><h1>Playground</h1><div class="relay-playground" data-files="/playground/">missing</div></main>
{"".join(f'<script src="/{name}"></script>' for name in SCRIPTS)}</body></html>"""
# A page of the book, one level below the site, as Sphinx says in `data-content_root`.
CHAPTER = """<!doctype html><html lang="en" data-content_root="../"><head><meta charset="utf-8">
<title>A chapter</title>
<link rel="icon" href="data:,"></head><body><main><h1>A chapter</h1>
<div class="relay-explorer" id="rx-view"><script type="application/json">%s</script></div></main>
<script src="/relay_explorer.js"></script></body></html>"""
FIRST = 60_000  # ms until Python has started, on a machine that is busy with other tests


@dataclass
class Visit:
    """A page, and what went wrong on it."""

    page: Page
    troubles: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Note the errors and dialogs of the page."""
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on(
            "console", lambda m: self.troubles.append(f"console: {m.text}") if m.type == "error" else None
        )
        self.page.on("dialog", self._refuse)

    def _refuse(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def run(self) -> None:
        self.page.get_by_role("button", name="Run", exact=True).click()

    def write(self, text: str) -> None:
        """Replace the program, as a reader does who pastes another."""
        self.page.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def explorer(self, kind: str) -> None:
        """Wait for the explorer of a view of the program that is in the editor."""
        expect(self.page.locator(f'.picture[data-view="{kind}"] .rx').first).to_be_visible(timeout=FIRST)


@pytest.fixture(scope="module")
def playground_site(playground_files: Path) -> dict[str, bytes]:
    """The files of the site."""
    return {
        "/": PAGE.encode(),
        "/book/playground.html": PAGE.encode(),
        "/book/chapter.html": (CHAPTER % (DATA / "fusion_diamond.json").read_text("utf-8")).encode(),
        "/book/pipeline.html": (CHAPTER % (DATA / "pipeline_shared.json").read_text("utf-8")).encode(),
        "/book/model.html": (CHAPTER % _imported()).encode(),
        "/relay_explorer.js": script().encode(),
        **{f"/playground/{path.name}": path.read_bytes() for path in playground_files.glob("*.js")},
    }


def _imported() -> str:
    """The data of an explorer of an imported model."""
    return script_json(explore(relay.frontend.from_onnx(layers())[0], "fusion").to_json())


@pytest.fixture(scope="module")
def visit(browser: Browser, playground_site: dict[str, bytes]) -> Iterator[Callable[..., Visit]]:
    """Open the page; at the end no page may have asked for anything else, logged an error or opened a
    dialog.
    """
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
            if f"{url.scheme}://{url.netloc}" != ORIGIN or url.path not in playground_site:
                seen.troubles.append(f"request: {route.request.url}")
                route.abort()
                return
            kind = mimetypes.guess_type(url.path)[0] or "text/html; charset=utf-8"
            route.fulfill(body=playground_site[url.path], content_type=kind)

        seen.page.route("**/*", serve)
        seen.listen()
        seen.page.goto(ORIGIN + path)
        return seen

    yield open_
    assert [trouble for seen in visits for trouble in seen.troubles] == []


@pytest.fixture(scope="module")
def running(visit: Callable[..., Visit]) -> Visit:
    """One page in which Python runs, which the tests share because starting it takes seconds."""
    seen = visit()
    expect(seen.page.get_by_text("They come from this site")).to_be_visible()
    seen.run()
    seen.explorer("types")
    return seen
