"""Compare the explorer's layout, first paint and panning with Netron's, for the same graphs in the same run.

python -m benchmarks.explorer_layout                    prints the table and writes it to explorer_layout.md
python -m benchmarks.explorer_layout --only 100 1,000   prints it for these graphs only
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Page, ViewportSize, sync_playwright

from benchmarks.common import report, table

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SIZE: ViewportSize = {"width": 1280, "height": 800}
PAN_SECONDS = 3.0
MODELS = {"ResNet-50": "resnet50", "encoder, 12 layers": "transformer"}  # the package's own
GRAPHS = {
    **dict.fromkeys(MODELS, ""),
    "100": "ofSize(100)",
    "1,000": "ofSize(1000)",
    "10,000": "ofSize(10000)",
    "50,000": "ofSize(50000)",
    "10,000, random edges": "scattered(10000)",
}

PAINTED = "performance.getEntriesByName('relay-explorer-graph')"
FRAMES = """() => {
  const frames = (window.__frames = []);
  const tick = (now) => { frames.push(now); window.__timer = requestAnimationFrame(tick); };
  window.__timer = requestAnimationFrame(tick);
}"""


class Site(SimpleHTTPRequestHandler):
    """The bundle, the front end's sources and one view."""

    view = b"{}"

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        files = {
            "/": "benchmarks/explorer_page.html",
            "/relay_explorer.js": "relay_explorer/widgets/static/relay_explorer.js",
        }
        if path == "/view.json":
            body, kind = type(self).view, "application/json"
        elif path in files or path.startswith("/frontend/"):
            file = (ROOT / files.get(path, path.lstrip("/"))).resolve()
            if not file.is_relative_to(ROOT) or not file.is_file():
                return self.send_error(404)
            body, kind = file.read_bytes(), "text/html" if file.suffix == ".html" else "text/javascript"
        else:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing, because the table is the output."""


@contextmanager
def site() -> Iterator[str]:
    """Start a server, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def made_up(browser: Browser, origin: str, call: str) -> str:
    """Return the view of a graph that the front end's fixtures generate."""
    page = browser.new_page()
    page.goto(origin)
    module = "/frontend/test/fixtures/ir_views.js"
    text = page.evaluate(f"async () => JSON.stringify((await import('{module}')).{call})")
    page.close()
    return str(text)


def model(name: str) -> str:
    """Return the view of one of the package's models."""
    from relay_explorer import models
    from relay_explorer.views.ir.view import ir_view

    return ir_view(models.load(name), name).to_json()


def write_onnx(view: dict[str, Any], path: Path) -> None:
    """Write the calls of a view as an ONNX graph: operators are nodes, everything else is an input or a
    weight.
    """
    import onnx
    from onnx import TensorProto, helper

    strings, nodes = view["strings"], view["nodes"]
    operands: dict[int, list[int]] = {}
    for source, target, _ in zip(*[iter(view["edges"])] * 3, strict=True):
        operands.setdefault(target, []).append(source)
    onnx_nodes, inputs = [], []
    for number, node in enumerate(nodes):
        if number in operands:
            kind = strings[node[0]].split(".")[-1].title().replace("_", "")
            onnx_nodes.append(
                helper.make_node(
                    kind,
                    [f"v{i}" for i in operands[number]],
                    [f"v{number}"],
                    name=f"n{number}",
                    domain="relay",
                )
            )
        else:
            inputs.append(helper.make_tensor_value_info(f"v{number}", TensorProto.FLOAT, [1]))
    output = helper.make_tensor_value_info(f"v{len(nodes) - 1}", TensorProto.FLOAT, [1])
    # Netron shows weights inside nodes, and the explorer's drawing omits them.
    first, rest = inputs[:1], inputs[1:]
    weights = [helper.make_tensor(value.name, TensorProto.FLOAT, [1], [0.0]) for value in rest]
    graph = helper.make_graph(onnx_nodes, view["title"], first, [output], weights)
    onnx.save(
        helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("relay", 1)]
        ),
        str(path),
    )


def pan(page: Page, x: float, y: float) -> tuple[float, float]:
    """Drag the mouse back and forth; return the frames per second and the 95th percentile of the frame times,
    in milliseconds.
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
        return 0.0, PAN_SECONDS * 1000
    return 1000 * len(gaps) / sum(gaps), gaps[int(0.95 * (len(gaps) - 1))]


LAYOUT = """async (whole) => {
  const { layout } = await import("/frontend/src/graph/layout.js");
  const { createModel } = await import("/frontend/src/graph/model.js");
  const { decode } = await import("/frontend/src/core/decode.js");
  const { asideAtStart, foldAtStart, specOf } = await import("/frontend/src/views/ir/spec.js");
  const model = createModel(decode(await (await fetch("/view.json")).json()));
  const spec = specOf(model, { folded: whole ? new Set() : foldAtStart(model), aside: asideAtStart(model) });
  const times = [];
  for (let i = 0; i < 7; i++) {
    const start = performance.now();
    layout(spec);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[3];
}"""


def measure_ours(browser: Browser, origin: str) -> dict[str, float]:
    """Measure one graph in the explorer."""
    out = {}
    for key, state in (("opens", ""), ("paint", "fold=none")):
        page = browser.new_page(viewport=SIZE)
        page.goto(f"{origin}/#rx-bench:{state}")
        page.wait_for_function(f"{PAINTED}.length > 0", timeout=120_000)
        out[key] = page.evaluate(f"{PAINTED}[0].startTime") / 1000
        if key == "opens":
            page.close()
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.wait_for_timeout(500)
    out["fps"], out["slow"] = pan(page, x, y)
    page.get_by_role("button", name="show all").click()
    page.wait_for_timeout(1500)
    out["fps_far"], out["slow_far"] = pan(page, x, y)
    out["layout"] = page.evaluate(LAYOUT, True) / 1000
    page.close()
    return out


def free_port() -> int:
    """Return a port that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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


def measure_netron(browser: Browser, path: Path) -> dict[str, float] | None:
    """Measure the same graph in Netron; return None where Netron did not draw it."""
    import netron

    port = free_port()
    with redirect_stdout(io.StringIO()):
        netron.start(str(path), address=("127.0.0.1", port), browse=False)
    page = browser.new_page(viewport=SIZE, bypass_csp=True)
    page.context.add_cookies([{"name": "consent", "value": "1", "url": f"http://127.0.0.1:{port}"}])
    page.add_init_script(NETRON_PAGE)
    try:
        page.route(
            "**/*", lambda route: route.continue_() if "127.0.0.1" in route.request.url else route.abort()
        )
        page.goto(f"http://127.0.0.1:{port}/")
        try:
            page.wait_for_function("window.__drawn > 0", timeout=180_000)
        except Error:
            return None
        out = {"paint": page.evaluate("window.__drawn") / 1000}
        page.wait_for_timeout(1000)
        out["fps"], out["slow"] = pan(page, 640, 400)
        return out
    finally:
        page.close()
        with redirect_stdout(io.StringIO()):
            netron.stop(("127.0.0.1", port))


def row(name: str, ours: dict[str, float], theirs: dict[str, float] | None) -> list[str]:
    """Format a row of the table; a pan is given in frames per second and, in brackets, the 95th percentile of
    100 frame times.
    """

    def pace(fps: float, slow: float) -> str:
        return f"{fps:.0f}/s ({slow:.0f} ms)"

    return [
        name,
        f"{1000 * ours['layout']:.0f} ms",
        f"{ours['opens']:.2f} s",
        f"{ours['paint']:.2f} s",
        pace(ours["fps"], ours["slow"]),
        pace(ours["fps_far"], ours["slow_far"]),
        f"{theirs['paint']:.2f} s" if theirs else "failed: the page crashed or took more than 3 minutes",
        pace(theirs["fps"], theirs["slow"]) if theirs else "–",
    ]


HEADINGS = [
    "graph",
    "layout",
    "first paint",
    "with everything unfolded",
    "pan",
    "pan, whole graph in view",
    "Netron: first paint",
    "Netron: pan",
]


def main(only: list[str] | None = None) -> None:
    """Measure all graphs and write the page; with `only`, print the named graphs and write nothing."""
    rows, load = [], os.getloadavg()[0]
    with sync_playwright() as playwright, site() as origin, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for name, call in GRAPHS.items():
            if only and name not in only:
                continue
            text = made_up(browser, origin, call) if call else model(MODELS[name])
            Site.view = text.encode()
            path = Path(folder) / "graph.onnx"
            write_onnx(json.loads(text), path)
            rows.append(row(name, measure_ours(browser, origin), measure_netron(browser, path)))
        version = browser.version
        browser.close()
    import netron

    if only:
        print(table(HEADINGS, rows))
    else:
        tail = f"\nChromium {version}, software rendering; Netron {netron.__version__}. "
        tail += f"Load average at the start: {load:.1f}.\n"
        report("explorer_layout.md", table(HEADINGS, rows), tail)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Measure the explorer's drawing beside Netron's.")
    arguments.add_argument("--only", nargs="*", help="names of graphs")
    main(arguments.parse_args().only)
