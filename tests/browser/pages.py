"""Pages that hold one explorer, for the browser tests: nothing outside them can be reached."""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Page, Route

ROOT = Path(__file__).resolve().parents[2]
ORIGIN = "http://explorer.test"
# Chromium without the windows, tabs and menus, which nobody sees here, but which make a page take three times
# as long.
CHROMIUM = "/usr/bin/chromium-headless-shell"
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

#: The files that a page may ask for: the bundle, the fixtures and the checker of accessibility.
SERVED = ("relay_explorer/widgets/static/", "frontend/test/fixtures/", "frontend/node_modules/axe-core/")

PAGE = """<!doctype html>
<html lang="en"{attributes}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>an explorer</title><link rel="icon" href="data:,">
<style>body {{ margin: 0 auto; max-width: {column}px; }}</style></head>
<body><main><h1>A page</h1><div class="relay-explorer" id="rx-test"></div></main>
<script type="module">
{imports}
const host = document.querySelector(".relay-explorer");
const data = document.createElement("script");
data.type = "application/json";
data.textContent = JSON.stringify({view});
const picture = document.createElement("p");
picture.textContent = "the static picture";
host.append(data, picture);
await import("/relay_explorer/widgets/static/relay_explorer.js");
window.ready = true;
</script></body></html>"""

Opener = Callable[..., Page]


def page_html(view: str | dict[str, Any], attributes: str, column: int) -> str:
    """The page of one view: data, or an expression over fixture modules such as ``learner.waiting()``."""
    if not isinstance(view, str):
        expression = json.dumps(view).replace("<", "\\u003c")
        return PAGE.format(imports="", view=expression, attributes=attributes, column=column)
    names = sorted(set(re.findall(r"\b([a-z_]+)\.(?=[a-zA-Z]+\()", view)))
    imports = "\n".join(f'import * as {name} from "/frontend/test/fixtures/{name}.js";' for name in names)
    return PAGE.format(imports=imports, view=view, attributes=attributes, column=column)


class Site:
    """Serves one page and the files beside it; every other request, and every error, is a failure."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.failures: list[str] = []

    def __call__(self, route: Route) -> None:
        url = urlsplit(route.request.url)
        path = unquote(url.path).lstrip("/")
        if f"{url.scheme}://{url.netloc}" != ORIGIN:
            self.failures.append(f"request to {route.request.url}")
            route.abort()
        elif path == "":
            route.fulfill(body=self.html, content_type="text/html; charset=utf-8")
        elif path.startswith(SERVED) and ".." not in path and (ROOT / path).is_file():
            kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
            route.fulfill(body=(ROOT / path).read_bytes(), content_type=kind)
        else:
            self.failures.append(f"no such file: {path}")
            route.fulfill(status=404, body="")

    def watch(self, page: Page) -> None:
        page.route("**/*", self)
        page.on("pageerror", lambda error: self.failures.append(f"error: {error}"))
        page.on(
            "console", lambda m: self.failures.append(f"console: {m.text}") if m.type == "error" else None
        )
