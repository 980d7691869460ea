"""Install and drive the programs with which `explorer_layout` compares the drawing of graphs: Netron and
Google's Model Explorer.
"""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from playwright.sync_api import Browser, Error, Page, Route, TimeoutError, ViewportSize

#: Installed in an environment of its own, because the project needs none of them.
PINS = ("netron==9.3.3", "ai-edge-model-explorer==0.1.34", "model-explorer-onnx==0.4.2")
CHROMIUM = "/usr/bin/chromium-headless-shell"
# Model Explorer draws with WebGL, which needs a rasterizer where there is no graphics processor.
WEBGL_ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]  # fmt: skip
SIZE: ViewportSize = {"width": 1280, "height": 800}
LIMIT = 180  # seconds for one drawing
PAN_SECONDS = 3.0

FRAMES = """() => {
  const frames = (window.__frames = []);
  const tick = (now) => { frames.push(now); window.__timer = requestAnimationFrame(tick); };
  window.__timer = requestAnimationFrame(tick);
}"""

# Netron removes `eval`, which Playwright needs. The drawing is complete when its page has left the welcome
# state and contains nodes.
NETRON_PAGE = """{
  const kept = window.eval;
  Object.defineProperty(window, "eval", { get: () => kept, set: () => {} });
  const look = () => {
    const first = document.querySelector(".node[transform]");
    if (first && /default/.test(document.body.className)) window.__drawn = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""

# Count the elements that each frame draws with WebGL. Model Explorer draws only when something changes, so a
# drawing is complete in the first frame that has as many elements as the last one before the canvas rests.
MODEL_EXPLORER_PAGE = """{
  const frames = (window.__drawn = []);
  let frame = 0;
  const tick = () => { frame++; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  const count = (n) => {
    const last = frames.at(-1);
    if (last?.frame === frame) { last.elements += n; last.at = performance.now(); }
    else frames.push({ frame, elements: n, at: performance.now() });
  };
  for (const { prototype } of [WebGLRenderingContext, WebGL2RenderingContext])
    for (const [name, at] of Object.entries({
      drawElements: 1, drawArrays: 2, drawElementsInstanced: 1, drawArraysInstanced: 2 })) {
      const own = prototype[name];
      if (own) prototype[name] = function (...values) {
        count(values[at] * (name.endsWith("Instanced") ? values.at(-1) : 1));
        return own.apply(this, values);
      };
    }
  window.__complete = (after) => {
    const since = frames.filter(({ at }) => at > after);
    return since.find(({ elements }) => elements >= since.at(-1).elements).at - after;
  };
}"""
AT_REST = "(after) => { const at = __drawn.at(-1)?.at; return at > after && performance.now() - at > 2000; }"


class DrawingError(Exception):
    """Raised when a program does not draw a graph; the text says why."""


def install(folder: Path) -> Path:
    """Install the programs in `folder`; return the folder of their commands."""
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    commands = folder / "env/bin"
    subprocess.run([commands / "python", "-m", "pip", "install", "-q", *PINS], check=True)
    return commands


@contextmanager
def server(command: list[str | Path], port: int, folder: Path) -> Iterator[str]:
    """Run a server until the block ends; yield its address once it answers."""
    # Model Explorer writes its settings to the home folder.
    with (folder / "server.log").open("w") as log:
        environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(600):
            try:
                urlopen(address).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise DrawingError((folder / "server.log").read_text()[-300:]) from None
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


def model_explorer(commands: Path, port: int) -> list[str | Path]:
    """Return the command that starts Model Explorer's server."""
    return [
        commands / "model-explorer", "--host", "127.0.0.1", "--port", str(port), "--no_open_in_browser",
        "--extensions=model_explorer_onnx", "--skip_health_check",
    ]  # fmt: skip


def free_port() -> int:
    """Return a port that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def local(route: Route) -> None:
    """Refuse every request that leaves the machine."""
    if route.request.url.startswith("http://127.0.0.1"):
        route.continue_()
    else:
        route.abort()


def pan(page: Page, x: float, y: float) -> tuple[float, float, float]:
    """Drag the mouse back and forth; return the frames per second, and the 95th percentile and the longest of
    the frame times, in milliseconds.
    """
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    end, at, step = time.perf_counter() + PAN_SECONDS, 0.0, -14.0
    while time.perf_counter() < end:
        at += step
        if abs(at) > 260:
            step = -step
        page.mouse.move(x + at / 3, y + at)
    frames = page.evaluate("() => { cancelAnimationFrame(window.__timer); return window.__frames; }")
    page.mouse.up()
    gaps = sorted(b - a for a, b in itertools.pairwise(frames))
    if not gaps:
        return 0.0, PAN_SECONDS * 1000, PAN_SECONDS * 1000
    return 1000 * len(gaps) / sum(gaps), gaps[int(0.95 * (len(gaps) - 1))], gaps[-1]


def drawn(page: Page, errors: list[str], condition: str, argument: object = None) -> None:
    """Wait until `condition` holds. Raise `DrawingError` if it does not within the limit, or not within 30 s
    after an error of the page, which is in `errors`.
    """
    start, failed_at = time.perf_counter(), 0.0
    while time.perf_counter() < start + LIMIT:
        try:
            page.wait_for_function(condition, arg=argument, timeout=5_000)
            return
        except TimeoutError:
            if errors and not failed_at:
                failed_at = time.perf_counter()
            if errors and time.perf_counter() > failed_at + 30:
                raise DrawingError(errors[-1]) from None
        except Error as error:
            raise DrawingError(error.message.splitlines()[0]) from None
    raise DrawingError(f"not drawn after {LIMIT} s")


def measure_netron(browser: Browser, commands: Path, model: Path) -> dict[str, Any]:
    """Measure a graph in Netron."""
    port = free_port()
    command: list[str | Path] = [commands / "netron", "--host", "127.0.0.1", "--port", str(port), model]
    page = browser.new_page(viewport=SIZE, bypass_csp=True)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(error.message))
    out: dict[str, Any] = {}
    try:
        with server(command, port, model.parent) as address:
            page.context.add_cookies([{"name": "consent", "value": "1", "url": address}])
            page.add_init_script(NETRON_PAGE)
            page.route("**/*", local)
            page.goto(address)
            drawn(page, errors, "window.__drawn > 0")
            out["opens"] = page.evaluate("window.__drawn") / 1000
            page.wait_for_timeout(1000)
            out["pan"] = pan(page, 640, 400)
    except (DrawingError, Error) as error:
        out["failed"] = str(error).splitlines()[0]
    finally:
        page.close()
    return out


def measure_model_explorer(browser: Browser, address: str, model: Path) -> dict[str, Any]:
    """Measure a graph in Model Explorer, whose server runs at `address`: as it opens, with one folded layer,
    and then with everything expanded.
    """
    page = browser.new_page(viewport=SIZE)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(error.message))
    page.add_init_script(MODEL_EXPLORER_PAGE)
    page.route("**/*", local)
    page.set_default_timeout(LIMIT * 1000)
    out: dict[str, Any] = {}
    try:
        page.goto(f"{address}?data={quote(json.dumps({'models': [{'url': str(model)}]}))}")
        drawn(page, errors, AT_REST, 0)
        out["opens"] = page.evaluate("__complete(0)") / 1000
        button = page.get_by_text("unfold_more_double")
        button.wait_for()
        # The time from the click itself: Playwright's click would wait for the frame after it.
        start = button.evaluate("(it) => { const now = performance.now(); it.click(); return now; }")
        drawn(page, errors, AT_REST, start)
        out["expanded"] = page.evaluate("__complete", start) / 1000
        out["pan"] = pan(page, 455, 420)
    except (DrawingError, Error) as error:
        out["failed"] = str(error).splitlines()[0]
    finally:
        page.close()
    return out
