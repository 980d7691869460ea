"""Compare the drawing of graphs with Netron's and Google's Model Explorer's, and measure every view of the
explorer on programs of up to 50,000 calls, in one run.

python -m benchmarks.explorer_layout                         writes both tables to explorer_layout.md
python -m benchmarks.explorer_layout --only 100 1,000        prints the first for these graphs only
python -m benchmarks.explorer_layout --views types run [--programs "1,000 calls"]
                                                             prints the second for these only
python -m benchmarks.explorer_layout --data FOLDER           keeps the views' data there, and uses those of an
                                                             earlier run

The two other programs are installed in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Playwright, sync_playwright

from benchmarks import explorer_speed, graph_viewers
from benchmarks.common import report, table
from benchmarks.graph_viewers import CHROMIUM, SIZE, pan
from benchmarks.view_scale import VIEWS

ROOT = Path(__file__).resolve().parents[1]
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
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
    # Netron shows weights inside nodes, and the explorer's drawing omits them. Model Explorer draws them.
    first, rest = inputs[:1], inputs[1:]
    weights = [helper.make_tensor(value.name, TensorProto.FLOAT, [1], [0.0]) for value in rest]
    graph = helper.make_graph(onnx_nodes, view["title"], first, [output], weights)
    onnx.save(
        helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("relay", 1)]
        ),
        str(path),
    )


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


def measure_ours(browser: Browser, origin: str) -> dict[str, Any]:
    """Measure one graph in the explorer."""
    out: dict[str, Any] = {}
    for key, state in (("opens", ""), ("expanded", "fold=none")):
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
    out["pan"] = pan(page, x, y)
    page.get_by_role("button", name="show all").click()
    page.wait_for_timeout(1500)
    out["pan_far"] = pan(page, x, y)
    out["layout"] = page.evaluate(LAYOUT, True)
    page.close()
    return out


HEADINGS = [
    "graph",
    "program",
    "first paint",
    "everything expanded",
    "pan",
    "pan, whole graph in view",
    "layout",
]


def row(name: str, program: str, out: dict[str, Any]) -> list[str]:
    """Format a row of the table; a pan is given in frames per second and, in brackets, the 95th percentile
    and the longest of the frame times.
    """

    def pace(key: str) -> str:
        return "{:.0f}/s ({:.0f}, {:.0f} ms)".format(*out[key]) if key in out else "–"

    def time(key: str) -> str:
        return f"{out[key]:.2f} s" if key in out else "–"

    # A program that failed after it had opened the graph failed when it expanded it.
    failed = f"failed: {out['failed']}" if "failed" in out else ""
    opens = failed if failed and "opens" not in out else time("opens")
    return [
        name,
        program,
        opens,
        failed if failed and "opens" in out and "expanded" not in out else time("expanded"),
        pace("pan"),
        pace("pan_far"),
        f"{out['layout']:.0f} ms" if "layout" in out else "–",
    ]


def graphs(playwright: Playwright, only: list[str] | None) -> list[list[str]]:
    """Measure the graphs in the three programs; return the rows of the table."""
    rows = []
    with site() as origin, tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), graph_viewers.free_port()
        commands = graph_viewers.install(folder)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        webgl = playwright.chromium.launch(executable_path=CHROMIUM, args=graph_viewers.WEBGL_ARGUMENTS)
        command = graph_viewers.model_explorer(commands, port)
        with graph_viewers.server(command, port, folder) as address:
            for graph in only or GRAPHS:
                call = GRAPHS[graph]
                text = made_up(browser, origin, call) if call else model(MODELS[graph])
                Site.view = text.encode()
                path = folder / "graph.onnx"
                write_onnx(json.loads(text), path)
                for program, out in (
                    ("the explorer", measure_ours(browser, origin)),
                    ("Netron", graph_viewers.measure_netron(browser, commands, path)),
                    ("Model Explorer", graph_viewers.measure_model_explorer(webgl, address, path)),
                ):
                    rows.append(row(graph, program, out))
                    print(*rows[-1], sep="  ", flush=True)
        browser.close()
        webgl.close()
    return rows


def main(
    only: list[str] | None = None,
    views: list[str] | None = None,
    programs: list[str] | None = None,
    kept: Path | None = None,
) -> None:
    """Measure everything and write the page; with any argument, print these graphs, or these views of these
    programs, and write nothing.
    """
    views = views or (list(VIEWS) if programs else None)
    load, tables = os.getloadavg()[0], []
    with sync_playwright() as playwright:
        if only or not views:
            tables.append(table(HEADINGS, graphs(playwright, only)))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        if views or not only:
            chosen = {name: explorer_speed.PROGRAMS[name] for name in programs or explorer_speed.PROGRAMS}
            rows = explorer_speed.every(browser, chosen, views or VIEWS, {"": ROOT}, kept)
            tables.append(table(explorer_speed.HEADINGS, rows))
        version = browser.version
        browser.close()
    if only or views:
        print(*tables, sep="\n\n")
    else:
        tail = f"\nChromium {version}, software rendering; {', '.join(graph_viewers.PINS)}. "
        tail += f"Load average at the start: {load:.1f}.\n"
        report("explorer_layout.md", "\n\n".join(tables), tail)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=tuple(GRAPHS), help="these graphs")
    parser.add_argument("--views", nargs="+", choices=VIEWS, help="these views")
    parser.add_argument("--programs", nargs="+", choices=tuple(explorer_speed.PROGRAMS), help="of these")
    parser.add_argument("--data", type=Path, help="a folder that keeps the views' data for later runs")
    arguments = parser.parse_args()
    main(arguments.only, arguments.views, arguments.programs, arguments.data)
