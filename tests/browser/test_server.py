"""The page of the local server in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from relay_explorer.widgets.server.documents import Documents
from relay_explorer.widgets.server.http import Server
from relay_explorer.widgets.server.work import Work
from tests.browser.pages import ROOT

pytestmark = pytest.mark.browser
PROGRAM = "def @main(%x: Tensor[(4), float32]) { let %y = exp(%x); let %z = tanh(%y); (%y, %z) }"
SLOW = 60_000  # a view is made in a process of its own
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  for (const kind of ["dragenter", "dragover", "drop"])
    dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
# A folder, as a browser describes one that is dropped; a script cannot make a real one.
DROP_FOLDER = """(tree) => {
  const entry = ([name, value], path) => {
    const fullPath = `${path}/${name}`;
    if (typeof value === "string")
      return { name, fullPath, isFile: true, file: (done) => done(new File([value], name)) };
    const parts = [Object.entries(value).map((pair) => entry(pair, fullPath)), []];
    const createReader = () => ({ readEntries: (done) => done(parts.shift()) });
    return { name, fullPath, isDirectory: true, createReader };
  };
  const items = Object.entries(tree).map((pair) => ({ webkitGetAsEntry: () => entry(pair, "") }));
  const event = new DragEvent("drop", { bubbles: true, cancelable: true });
  Object.defineProperty(event, "dataTransfer", { value: { items } });
  dispatchEvent(event);
}"""
AXE = """async () => (await axe.run({ resultTypes: ["violations"] })).violations.flatMap((v) =>
  v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`))"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    documents = Documents(tmp_path)
    (tmp_path / "net.relay").write_text(PROGRAM)
    documents.add(tmp_path / "net.relay")
    with Server(documents, Work(tmp_path)) as running:
        for target in (lambda: running.serve_forever(0.02), running.watch):
            threading.Thread(target=target, daemon=True).start()
        yield running
        running.stop()
        running.shutdown()


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """The page, which may only ask its own server, and log no error except those of views that fail."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    failures: list[str] = []
    page.on("request", lambda r: None if r.url.startswith(server.address) else failures.append(r.url))
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on(
        "console",
        lambda m: failures.append(m.text) if m.type == "error" and "status of 422" not in m.text else None,
    )
    page.goto(server.address)
    yield page
    context.close()
    assert [f for f in failures if not f.startswith(("data:", "blob:"))] == []


def test_without_a_file_there_is_nothing_to_set(browser: Browser, tmp_path: Path) -> None:
    with Server(Documents(tmp_path), Work(tmp_path)) as running:
        threading.Thread(target=lambda: running.serve_forever(0.02), daemon=True).start()
        page = browser.new_page()
        page.goto(running.address)
        for name in ("file", "view", "against"):
            expect(page.locator(f"#{name}")).to_be_disabled()
        expect(page.locator("#options")).to_be_hidden()
        page.evaluate(DROP, ["net.relay", PROGRAM])
        expect(page.locator("#main .rx")).to_contain_text("tanh", timeout=SLOW)
        expect(page.locator("#view")).to_be_enabled()
        expect(page.locator("#options")).to_be_visible()
        page.close()
        running.stop()
        running.shutdown()


def say(page: Page) -> str:
    return page.locator("#main .say").inner_text()


def test_a_file_is_shown_followed_and_compared(page: Page, tmp_path: Path) -> None:
    explorer = page.locator("#main .rx")
    expect(explorer).to_contain_text("tanh", timeout=SLOW)
    expect(page.locator("#welcome")).to_be_hidden(timeout=SLOW)
    page.get_by_label("view").select_option("types")
    expect(page.locator("#main .timeline, #main .time")).to_be_visible(timeout=SLOW)
    explorer.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#main .count")).to_contain_text("2 /", timeout=SLOW)
    # The file changes: the page shows it anew, in the same state.
    (tmp_path / "net.relay").write_text(PROGRAM.replace("tanh", "sigmoid"))
    expect(explorer).to_contain_text("sigmoid", timeout=SLOW)
    expect(page.locator("#main .count")).to_contain_text("2 /", timeout=SLOW)
    page.get_by_label("compare with").select_option("previous")
    expect(page.locator("#main .compare-grid")).to_be_visible(timeout=SLOW)
    assert "−1 × tanh, +1 × sigmoid" in say(page)
    # The choice is in the address.
    page.reload()
    expect(page.locator("#main .compare-grid")).to_be_visible(timeout=SLOW)
    page.get_by_label("compare with").select_option("")
    # A broken version says where and why, and the next one is drawn.
    (tmp_path / "net.relay").write_text(PROGRAM.replace("tanh", "tanhh"))
    problem = page.locator("#problem")
    expect(problem).to_contain_text("did you mean", timeout=SLOW)
    expect(problem).to_contain_text("net.relay:1:", timeout=SLOW)
    (tmp_path / "net.relay").write_text(PROGRAM)
    expect(problem).to_be_hidden(timeout=SLOW)
    page.locator("#options").get_by_label("shapes of inputs").fill("x=1")
    page.keyboard.press("Tab")
    expect(problem).to_contain_text("--shape and --dtype apply only to imported models", timeout=SLOW)


def test_files_are_dropped_and_nothing_in_them_is_markup(page: Page) -> None:
    expect(page.locator("#main .rx")).to_contain_text("tanh", timeout=SLOW)
    name = "<img src=x onerror=alert(1)>.relay"
    page.evaluate(DROP, [name, PROGRAM.replace("tanh", "sqrt")])
    expect(page.locator("#main .rx")).to_contain_text("sqrt", timeout=SLOW)
    assert page.get_by_label("file").locator("option:checked").inner_text() == name
    assert page.locator("img").count() == 0
    page.evaluate(DROP, ["module.py", "@I.ir_module\nclass Module: pass"])
    expect(page.locator("#problem")).to_contain_text(
        "of Relax or TensorIR, which cannot be read yet", timeout=SLOW
    )
    page.evaluate(
        DROP_FOLDER, {"models": {"a.relay": PROGRAM.replace("tanh", "sin"), "notes.md": "", ".x.relay": ""}}
    )
    expect(page.locator("#main .rx")).to_contain_text("sin", timeout=SLOW)
    assert page.get_by_label("file").locator("option:checked").inner_text() == "models/a.relay"
    page.evaluate(DROP_FOLDER, {"empty": {"notes.md": ""}})
    expect(page.locator("#problem")).to_contain_text("the folder empty contains no program or model")
    page.evaluate(DROP_FOLDER, {"saved": {"saved_model.pb": "", "variables": {}}})
    expect(page.locator("#problem")).to_contain_text("relay-explorer serve saved")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    code = (ROOT / "frontend/node_modules/axe-core/axe.min.js").read_text("utf-8")
    page.evaluate(code)
    assert page.evaluate(AXE) == []


def test_an_upload_says_how_far_it_is_and_can_be_cancelled(page: Page) -> None:
    expect(page.locator("#main .rx")).to_contain_text("tanh", timeout=SLOW)
    page.route("**/drop?*", lambda route: None)  # no answer
    page.evaluate(DROP, ["large.onnx", "x" * 3_000_000])
    status = page.locator("#status")
    expect(status).to_contain_text("copying large.onnx … ")
    expect(status).to_contain_text("of 3.0 MB (")
    status.get_by_role("button", name="cancel").click()
    expect(status).to_be_empty()
    expect(page.locator("#main .rx")).to_contain_text("tanh")
    page.unroute("**/drop?*")
