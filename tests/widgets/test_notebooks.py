"""An explorer in real kernels and in real JupyterLab and Notebook servers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect

from relay_explorer import explore
from relay_explorer.explorer import WIDGET_VIEW
from tests.widgets.programs import SMALL

ROOT = Path(__file__).resolve().parents[2]
CELL = f'import relay_explorer\nmade = relay_explorer.explore("""{SMALL}""", view="types")\nmade'
LIVE = CELL.replace('"types")', '"types", live=True)')


def ask_kernel(*cells: str) -> list[list[dict[str, Any]]]:
    """Return the displayed data of each output of each cell, run in a kernel of this interpreter."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3")
    assert manager.kernel_spec is not None
    manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager.start_kernel(cwd=str(ROOT))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        return [_shown(client, cell) for cell in cells]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _shown(client: Any, cell: str) -> list[dict[str, Any]]:
    request = client.execute(cell)
    result: list[dict[str, Any]] = []
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        content = message["content"]
        if message["msg_type"] == "error":
            raise AssertionError("\n".join(content["traceback"]))
        if message["msg_type"] in ("execute_result", "display_data"):
            result.append(content["data"])
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            return result


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_in_a_kernel() -> None:
    """IPython's own formatter, of this environment's version, takes the whole bundle."""
    (still,), (static, live) = ask_kernel(CELL, LIVE)
    assert set(still) == set(static) == {"text/plain", "text/html", "image/svg+xml"}
    assert still["text/html"].startswith('<div class="relay-explorer"')
    assert static["text/html"].startswith('<div class="relay-explorer-standin"')
    assert len(static["text/html"]) < 60_000, "the first output has the bundle already"
    assert set(live) == {"text/plain", "text/html", WIDGET_VIEW}
    assert live["text/html"].startswith("<!--")


def test_in_marimo(monkeypatch: pytest.MonkeyPatch) -> None:
    """marimo is given the live widget; without anywidget, the saved page in a frame."""
    marimo = ModuleType("marimo")
    marimo.ui = SimpleNamespace(anywidget=lambda widget: ("live", widget))  # type: ignore[attr-defined]  # a stand-in
    marimo.iframe = lambda html, height: ("frame", html)  # type: ignore[attr-defined]  # a stand-in
    monkeypatch.setitem(sys.modules, "marimo", marimo)
    result = explore(SMALL)
    monkeypatch.setattr(type(result), "widget", lambda self: "the widget")
    assert result._display_() == ("live", "the widget")
    monkeypatch.setattr("relay_explorer.widgets.widget.available", lambda: False)
    assert result._display_() == ("frame", result.to_html())


# -- servers


@contextmanager
def server(application: str, folder: Path) -> Iterator[str]:
    """Start `jupyter lab` or `jupyter notebook` and yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = folder / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    environment.pop("RELAY_EXPLORER_BUNDLE", None)
    command = [sys.executable, "-m", application, "--no-browser", "--allow-root", f"--port={port}"]
    options = ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None"]
    log = (folder / "server.log").open("w")
    running = subprocess.Popen([*command, *options], env=environment, stdout=log, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address, folder / "server.log")
        yield address
    finally:
        running.terminate()
        try:
            running.wait(30)
        except subprocess.TimeoutExpired:  # it waits for its kernels, on a busy machine for long
            running.kill()
            running.wait()
        log.close()


def _wait_for(address: str, log: Path) -> None:
    for _ in range(240):
        try:
            with urllib.request.urlopen(f"{address}/api", timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"no server:\n{log.read_text()[-2000:]}")


def notebook(path: Path, *cells: str) -> None:
    result: list[dict[str, Any]] = [
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
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": spec}, "cells": result})
    )


def run_until(page: Page, number: int, output: Locator) -> None:
    """Run a cell until its output appears: a request before the page knows its kernel is lost."""
    for _ in range(12):
        cell(page, number).locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        try:
            output.wait_for(state="visible", timeout=8_000)
            return
        except TimeoutError:
            continue
    raise AssertionError(f"cell {number} gave nothing: {page.locator('.jp-Notebook').inner_text()}")


def cell(page: Page, number: int) -> Locator:
    """Return a cell of the notebook, with its output."""
    return page.locator(".jp-Notebook .jp-CodeCell").nth(number)


def answer(dialog: Locator) -> None:
    """Accept the application's proposal: on a busy machine, to restart the kernel. During a start,
    jupyter_server 2.21 sometimes responds with status 500 (its last activity is None by then).
    """
    print("a dialog:", dialog.inner_text())
    dialog.locator("button.jp-mod-accept").click()


def save(page: Page, path: Path) -> None:
    """Save the notebook, and wait until its file contains the explorer."""
    for _ in range(20):
        page.get_by_role("button", name="Save and create checkpoint").first.click()
        page.wait_for_timeout(1000)
        if "relay-explorer" in path.read_text("utf-8"):
            return
    raise AssertionError("the notebook was not saved")


def end_kernels(page: Page) -> None:
    """End every session, so that a notebook that is opened again has a kernel without widgets."""
    count = page.evaluate("""async () => {
      const headers = { "X-XSRFToken": /_xsrf=([^;]*)/.exec(document.cookie)?.[1] ?? "" };
      const sessions = await (await fetch("/api/sessions")).json();
      for (const { id } of sessions) await fetch(`/api/sessions/${id}`, { method: "DELETE", headers });
      return sessions.length - (await (await fetch("/api/sessions")).json()).length;
    }""")
    assert count == 1


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("application", "path"),
    [("jupyterlab", "lab/tree"), ("notebook", "notebooks")],
    ids=["JupyterLab", "Notebook 7"],
)
def test_in_a_notebook(browser: Browser, tmp_path: Path, application: str, path: str) -> None:
    notebook(tmp_path / "small.ipynb", CELL, LIVE, 'print("the state is", made.state)')
    with server(application, tmp_path) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 1200})
        outside: list[str] = []
        page.on("request", lambda request: outside.append(request.url))
        page.add_locator_handler(page.locator("dialog.jp-Dialog").first, answer, no_wait_after=True)
        page.goto(f"{address}/{path}/small.ipynb")
        expect(cell(page, 0)).to_be_visible(timeout=120_000)
        for number in (0, 1):
            slider = cell(page, number).get_by_role("slider").first
            run_until(page, number, slider)
            before = int(slider.get_attribute("aria-valuenow") or "")
            slider.focus()
            page.keyboard.press("ArrowLeft")
            expect(slider).to_have_attribute("aria-valuenow", str(before - 1))
        # What the reader does with a live explorer reaches Python.
        page.wait_for_timeout(1500)
        run_until(page, 2, page.get_by_text("the state is step="))
        # The static explorer of a live one is hidden while the live one is drawn.
        expect(cell(page, 1).get_by_role("slider")).to_have_count(1)
        # What was saved works without the kernel; of a live explorer, the static one.
        save(page, tmp_path / "small.ipynb")
        end_kernels(page)
        page.goto(f"{address}/{path}/small.ipynb")
        expect(cell(page, 0).get_by_role("slider").first).to_be_visible(timeout=60_000)
        slider = cell(page, 1).get_by_role("slider")
        expect(slider).to_be_visible(timeout=60_000)
        expect(cell(page, 1).get_by_text("No kernel is connected to this explorer")).to_be_visible()
        expect(cell(page, 1).get_by_text("Error displaying widget")).to_be_hidden()
        # Once its cell is run again, it is live again.
        run_until(page, 1, slider)
        expect(cell(page, 1).get_by_text("No kernel is connected")).to_have_count(0)
        expect(slider).to_have_count(1)
        page.close()
    assert [
        u for u in outside if not u.startswith((address, address.replace("http", "ws"), "data:", "blob:"))
    ] == []
