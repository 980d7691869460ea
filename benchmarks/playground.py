"""Measure the playground in Chromium: the first result after the click, later edits, and what is loaded.

python -m benchmarks.playground [FOLDER]

FOLDER is where `python -m tools.playground` puts the files, by default where it does so. A server in this
process serves them; each first result starts with an empty cache.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from benchmarks.common import median, report, table
from relay_explorer.playground.description import VIEWS
from relay_explorer.playground.examples import EXAMPLES
from relay_explorer.widgets.bundle import script
from tools import playground

CHROMIUM = "/usr/bin/chromium-headless-shell"
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
SIZE: ViewportSize = {"width": 1280, "height": 800}
SCRIPTS = ("relay_explorer.js", "playground/description.js", "playground/playground.js")
#: Examples, by title, whose first result is measured.
FIRST = ("A layer: its types", "A pipeline: a residual block", "Evaluation: a list")
EDITS = 20
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Playground</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"></head>
<body><main><h1>Playground</h1><div class="relay-playground" data-files="playground/"></div></main>
{"".join(f'<script src="{name}"></script>' for name in SCRIPTS)}</body></html>"""
#: Resolve with the milliseconds from now to the frame after the next answer was drawn.
ANSWERED = """() => {
  const root = document.querySelector(".relay-playground").shadowRoot.querySelector(".pg");
  const start = performance.now();
  window.drawn = new Promise((done, fail) => {
    root.addEventListener("answered", () =>
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))), { once: true });
    setTimeout(() => fail(new Error("no answer in a minute")), 60_000);
  });
  window.drawn.catch(() => {});
}"""
ELSEWHERE = {"source"}  # needs an ONNX file


def page_of_text(lines: int = 40) -> str:
    """Return a program of as many lines as a page of text has."""
    body = "\n".join(f"  let %h{i + 1} = nn.relu(add(nn.dense(%h{i}, %w), %h{i}));" for i in range(lines - 4))
    return (
        "def @main(%h0: Tensor[(8, 8), float32],\n          %w: Tensor[(8, 8), float32]) {\n"
        f"{body}\n  %h{lines - 4}\n}}\n"
    )


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and logs nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


def wait(page: Page) -> float:
    """Return the milliseconds until the answer was drawn."""
    return float(page.evaluate("() => window.drawn"))


def write(page: Page, text: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def first_result(browser: Browser, address: str, title: str) -> float:
    """Return the milliseconds from the click to the first explorer, with nothing in the cache."""
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.get_by_label("example").select_option(label=title)
    page.evaluate(ANSWERED)
    page.get_by_role("button", name="Run").click()
    milliseconds = wait(page)
    context.close()
    return milliseconds


def edits(browser: Browser, address: str) -> dict[str, list[float]]:
    """Return, for each view, the milliseconds from a key in a page of text to the new explorer."""
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.get_by_role("button", name="Run").click()
    page.locator(".picture .rx").first.wait_for()
    times: dict[str, list[float]] = {}
    for view in VIEWS:
        if view in ELSEWHERE:
            continue
        page.evaluate(ANSWERED)
        page.get_by_label("View").select_option(view)
        wait(page)
        page.evaluate(ANSWERED)
        write(page, page_of_text())
        wait(page)
        page.keyboard.press("Control+Home")
        times[view] = []
        for number in range(EDITS):
            page.evaluate(ANSWERED)
            # A comment's letters: the program stays valid, and all of it is read and drawn again.
            page.keyboard.insert_text("// edited\n" if number == 0 else "//\n")
            times[view].append(wait(page))
    context.close()
    return times


def sizes(folder: Path) -> list[list[str]]:
    """Return the rows of the files' sizes: as they are, and as a server compresses them."""
    rows = []
    for path in [folder / "relay_explorer.js", *sorted((folder / "playground").glob("*.js"))]:
        data = path.read_bytes()
        rows.append([path.name, f"{len(data) / 1e6:.2f} MB", f"{len(gzip.compress(data, 6)) / 1e6:.2f} MB"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=playground.BUILT)
    built = parser.parse_args().folder
    if not playground.build(built):
        sys.exit(1)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        shutil.copytree(built, folder / "playground")
        (folder / "relay_explorer.js").write_text(script(), "utf-8")
        (folder / "index.html").write_text(PAGE, "utf-8")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=name))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        file = (folder / "index.html").as_uri()
        views = {example.title: example.view for example in EXAMPLES}
        first = [
            [
                title,
                views[title],
                *(f"{first_result(browser, at, title) / 1000:.1f} s" for at in (address, file)),
            ]
            for title in FIRST
        ]
        times = edits(browser, address)
        files = sizes(folder)
        browser.close()
        server.shutdown()
    rows = [
        [view, f"{median(each):.0f} ms", f"{max(each):.0f} ms", sum(t <= 150 for t in each)]
        for view, each in times.items()
    ]
    text = "\n\n".join(
        [
            table(["program", "view", "first result from a server", "from a file"], first),
            table(["view", "an edit: median", "slowest", f"of {EDITS} within 150 ms"], rows),
            table(["file", "size", "compressed"], files),
        ]
    )
    report("playground.md", text, f"\nLoad average at the start: {load:.1f}.\n")


if __name__ == "__main__":
    main()
