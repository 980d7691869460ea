"""Open explorers in the hosts that are too heavy for the tests, and print a table of what works in each.

    python tools/hosts.py --python ENV/bin/python --code-server PATH/out/node/entry.js [HOST ...]

ENV is an environment with jupyterlab, notebook, voila, marimo, panel, ipywidgets_bokeh, nbconvert and
anywidget; PATH is the unpacked npm package `code-server` with its dependencies. The hosts run on 127.0.0.1
with a headless Chromium. The hosts of which a part is missing are reported as such.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, JSHandle, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = "/usr/bin/chromium-headless-shell"
PROGRAM = "def @main(%x: Tensor[(3, 4), float32]) { let %a = tanh(%x); let %b = add(%a, %a); exp(%b) }"
IMPORT = f'import relay_explorer\nPROGRAM = "{PROGRAM}"'
STATIC = ['relay_explorer.explore(PROGRAM, view="types")', 'relay_explorer.explore(PROGRAM, view="fusion")']
LIVE = (
    'live = relay_explorer.explore(PROGRAM, view="types", live=True)\nwidget = live.widget()\n'
    "import ipywidgets\nslider = ipywidgets.IntSlider(min=1, max=widget.steps)\n"
    'link = ipywidgets.link((slider, "value"), (widget, "step"))\nipywidgets.VBox([slider, widget])'
)
# The explorers that are drawn in a document, also inside of other shadow roots.
FIND = """() => {
  const hosts = [];
  const visit = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (!node.shadowRoot) continue;
      if (node.shadowRoot.querySelector(".rx .bar")) hosts.push(node);
      else visit(node.shadowRoot);
    }
  };
  visit(document);
  return hosts;
}"""
STEP = """async (host) => {
  const count = host.shadowRoot.querySelector(".bar .count");
  host.shadowRoot.querySelector("[aria-label^='first step']").click();
  host.shadowRoot.querySelector("[aria-label^='next step']").click();
  await new Promise((resolve) => setTimeout(resolve, 300));
  return /\\b2\\b/.test(count.textContent);
}"""
# A saved picture, or its preview where downloads are refused.
SAVE = """async (host) => {
  const root = host.shadowRoot;
  root.querySelector("[aria-label^='save or print']").click();
  [...root.querySelectorAll(".pop button")].find((b) => b.textContent === "PNG").click();
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  for (let i = 0; i < 100 && !root.querySelector(".saved img"); i++) await wait(100);
  const shown = root.querySelector(".saved img")?.naturalWidth > 100;
  root.querySelector(".pop .close").click();
  return shown;
}"""


@dataclass
class Setup:
    """What the hosts are started with."""

    python: str
    code_server: str
    folder: Path
    browser: Browser


@contextlib.contextmanager
def serving(command: list[str], port: int, setup: Setup, path: str = "/") -> Iterator[str]:
    """Start a server and yield its address once it answers."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(setup.folder), "NODE_OPTIONS": ""}
    log = (setup.folder / "server.log").open("w")
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=setup.folder,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            with contextlib.suppress(OSError), urllib.request.urlopen(address + path, timeout=5):
                break
            if process.poll() is not None:
                raise RuntimeError((setup.folder / "server.log").read_text()[-600:])
            time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        log.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def notebook(setup: Setup, cells: list[str], name: str, execute: bool = True) -> Path:
    """Write a notebook, and run it so that its outputs are stored."""
    path = setup.folder / name
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "id": f"cell{i}",
            "metadata": {},
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for i, source in enumerate(cells)
    ]
    path.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": spec}, "cells": content})
    )
    if execute:
        run = [setup.python, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", str(path)]
        subprocess.run(run, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return path


def trust(setup: Setup, path: Path) -> None:
    """Have Jupyter run the scripts of outputs that were stored by another program."""
    environment = {**os.environ, "HOME": str(setup.folder)}
    command = [setup.python, "-m", "jupyter", "trust", str(path)]
    subprocess.run(command, check=True, capture_output=True, env=environment)


def explorers(page: Page, count: int, seconds: int = 60) -> list[JSHandle]:
    """Wait until this many explorers are drawn in all frames of a page, and return them."""
    end = time.monotonic() + seconds
    result: list[JSHandle] = []
    while time.monotonic() < end:
        result = []
        for frame in page.frames:
            with contextlib.suppress(Exception):  # a frame may be gone by now
                result += frame.evaluate_handle(FIND).get_properties().values()
        if len(result) >= count:
            return result
        page.wait_for_timeout(500)
    raise AssertionError(f"{len(result)} of {count} explorers are drawn")


def check(page: Page, count: int, seconds: int = 60) -> str:
    """Step each explorer, and save a picture from the first one."""
    drawn = explorers(page, count, seconds)
    steps = sum(bool(host.evaluate(STEP)) for host in drawn)
    picture = "saved or shown" if drawn[0].evaluate(SAVE) else "refused"
    return f"{len(drawn)} drawn, {steps} step, PNG {picture}"


def versions(setup: Setup, *names: str) -> str:
    code = f"import importlib.metadata as m; print(', '.join(f'{{n}} {{m.version(n)}}' for n in {names!r}))"
    return subprocess.run(
        [setup.python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def jupyter(application: str, path: str) -> Callable[[Setup], tuple[str, str]]:
    def run(setup: Setup) -> tuple[str, str]:
        path_saved = notebook(setup, [IMPORT, *STATIC], "saved.ipynb")
        trust(setup, path_saved)
        fresh = notebook(setup, [IMPORT, *STATIC, LIVE], "fresh.ipynb", execute=False).name
        port = free_port()
        command = [setup.python, "-m", application, "--no-browser", "--allow-root", f"--port={port}"]
        command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={setup.folder}"]
        with serving(command, port, setup, "/api") as address:
            page = setup.browser.new_page(viewport={"width": 1280, "height": 2400})
            page.goto(f"{address}/{path}/{path_saved.name}")
            saved = check(page, 2)
            page.goto(f"{address}/{path}/{fresh}?reset")
            page.locator(".jp-CodeCell").first.wait_for(timeout=60_000)
            page.wait_for_timeout(6000)
            for number in range(4):
                page.locator(".jp-CodeCell").nth(number).locator(".cm-content").click()
                page.keyboard.press("Shift+Enter")
                page.wait_for_timeout(1500)
            ran = check(page, 3)
            slider = page.locator(".widget-readout").first.inner_text()
            page.close()
        return versions(
            setup, application, "ipywidgets", "anywidget"
        ), f"saved: {saved}; run: {ran}; slider {slider}"

    return run


def voila(setup: Setup) -> tuple[str, str]:
    path = notebook(setup, [IMPORT, *STATIC, LIVE], "voila.ipynb", execute=False)
    port = free_port()
    with serving(
        [setup.python, "-m", "voila", "--no-browser", f"--port={port}", str(path)], port, setup
    ) as address:
        page = setup.browser.new_page(viewport={"width": 1280, "height": 2400})
        page.goto(address, timeout=120_000)
        result = check(page, 3)
        page.wait_for_timeout(1000)
        result += f"; slider {page.locator('.widget-readout').first.inner_text()}"
        page.close()
    return versions(setup, "voila", "ipywidgets", "anywidget"), result


def marimo(setup: Setup) -> tuple[str, str]:
    body = f"""
import marimo
app = marimo.App()
@app.cell
def _():
    import relay_explorer
    PROGRAM = "{PROGRAM}"
    return PROGRAM, relay_explorer
@app.cell
def _(PROGRAM, relay_explorer):
    relay_explorer.explore(PROGRAM, view="types")
@app.cell
def _(PROGRAM, relay_explorer):
    live = relay_explorer.explore(PROGRAM, view="fusion", live=True)
    live
if __name__ == "__main__":
    app.run()
"""
    path = setup.folder / "page.py"
    path.write_text(body)
    port = free_port()
    command = [setup.python, "-m", "marimo", "run", str(path), "--headless", f"--port={port}", "--no-token"]
    with serving(command, port, setup) as address:
        page = setup.browser.new_page(viewport={"width": 1280, "height": 2400})
        page.goto(address)
        result = check(page, 2)
        page.close()
    return versions(setup, "marimo", "anywidget"), result


def panel(setup: Setup) -> tuple[str, str]:
    path = setup.folder / "served.py"
    path.write_text(
        f"import panel as pn\nimport relay_explorer\npn.extension('ipywidgets')\n"
        f"live = relay_explorer.explore('{PROGRAM}', view='types', live=True)\n"
        "label = pn.widgets.StaticText(name='step', value='none')\n"
        "live.widget().observe(lambda change: setattr(label, 'value', str(change['new'])), 'step')\n"
        "pn.Column(label, pn.pane.IPyWidget(live.widget(), sizing_mode='stretch_width')).servable()\n"
    )
    port = free_port()
    command = [setup.python, "-m", "panel", "serve", str(path), f"--port={port}", "--address=127.0.0.1"]
    with serving(command, port, setup, "/served") as address:
        page = setup.browser.new_page(viewport={"width": 1280, "height": 1600})
        # Panel loads anywidget's own script from a server of the network: here it comes from the environment.
        (script,) = Path(setup.python).parents[1].rglob("nbextensions/anywidget/index.js")
        headers = {"Access-Control-Allow-Origin": "*", "Content-Type": "text/javascript"}
        page.route(
            "https://unpkg.com/**",
            lambda route: route.fulfill(body=script.read_text("utf-8"), headers=headers),
        )
        page.goto(f"{address}/served")
        result = check(page, 1)
        page.wait_for_timeout(1500)
        result += f"; {' '.join(page.get_by_text('step:').first.inner_text().split())}"
        page.close()
    return versions(setup, "panel", "ipywidgets_bokeh", "anywidget"), result


def nbconvert(setup: Setup) -> tuple[str, str]:
    path = notebook(setup, [IMPORT, *STATIC], "page.ipynb")
    subprocess.run(
        [setup.python, "-m", "nbconvert", "--to", "html", str(path)], check=True, capture_output=True
    )
    page = setup.browser.new_page(viewport={"width": 1280, "height": 2400})
    page.goto(path.with_suffix(".html").as_uri())
    result = check(page, 2)
    page.close()
    return versions(setup, "nbconvert"), result


def colab(setup: Setup) -> tuple[str, str]:
    """Simulate Colab's page: each output is a frame of its own, with Colab's sandbox."""
    path = notebook(
        setup,
        ["import sys, types; sys.modules['google.colab'] = types.ModuleType('colab')", IMPORT, *STATIC],
        "colab.ipynb",
    )
    outputs = [o for c in json.loads(path.read_text())["cells"] for o in c["outputs"]]
    texts = ["".join(o["data"]["text/html"]) for o in outputs if "text/html" in o.get("data", {})]
    page = setup.browser.new_page(viewport={"width": 1280, "height": 2400})
    page.set_content("<!doctype html><title>frames</title>")
    for text in texts:
        page.evaluate(
            """(html) => {
              const frame = document.createElement("iframe");
              frame.sandbox = "allow-scripts allow-downloads allow-forms allow-modals allow-popups";
              frame.style = "width: 1200px; height: 800px";
              frame.srcdoc = html;
              document.body.append(frame);
            }""",
            text,
        )
    result = check(page, 2)
    page.close()
    return "a simulation: one sandboxed frame for each output", result


def vscode(setup: Setup) -> tuple[str, str]:
    """Open a saved notebook in VS Code's own notebook editor and its webview; no kernel is involved."""
    package = json.loads((Path(setup.code_server).parents[2] / "package.json").read_text())
    path = notebook(setup, [IMPORT, *STATIC], "saved.ipynb")
    work = setup.folder / "work"
    work.mkdir(exist_ok=True)
    path = path.rename(work / path.name)
    port = free_port()
    command = [
        "node",
        setup.code_server,
        "--auth=none",
        f"--bind-addr=127.0.0.1:{port}",
        "--disable-telemetry",
    ]
    command += [f"--config={setup.folder / 'config.yaml'}", f"--user-data-dir={setup.folder / 'data'}"]
    command += ["--disable-update-check", "--disable-workspace-trust", str(work)]
    with serving(command, port, setup) as address:
        page = setup.browser.new_page(viewport={"width": 1400, "height": 1400})
        page.goto(f"{address}/?folder={work}")
        entry = page.get_by_role("treeitem", name=path.name)
        entry.wait_for(timeout=90_000)
        page.wait_for_timeout(20_000)  # before its extensions have started, it opens notebooks as text
        entry.dblclick()
        result = check(page, 2, 120)
        page.close()
    return f"code-server {package['version']}", result


HOSTS: dict[str, Callable[[Setup], tuple[str, str]]] = {
    "JupyterLab": jupyter("jupyterlab", "lab/tree"),
    "Notebook 7": jupyter("notebook", "notebooks"),
    "VS Code": vscode,
    "Colab": colab,
    "marimo": marimo,
    "Panel": panel,
    "Voilà": voila,
    "nbconvert": nbconvert,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--code-server", default="")
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=", ".join(HOSTS))
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
        for name in options.hosts or HOSTS:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                setup = Setup(options.python, options.code_server, Path(folder), browser)
                try:
                    with_what, result = HOSTS[name](setup)
                    print(f"| {name} | {with_what} | {result} |", flush=True)
                except Exception as problem:
                    print(f"| {name} | | not checked: {str(problem).strip()[-300:]!r} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
