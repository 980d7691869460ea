"""Measure the explorers in Chromium: first paint, steps, scrolling, what is in the page. `explorer_layout`
measures every view on programs of up to 50,000 calls with it; alone, it compares the ResNets with an earlier
commit.

python -m benchmarks.explorer_speed --before TREE [--only PROGRAM …] [--views VIEW …]

TREE is a checkout of an earlier commit, whose package makes the data that its front end draws. With --only or
--views, the table is printed and not written.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Error, Page, Route, ViewportSize, sync_playwright

from benchmarks.common import median, report, table
from benchmarks.view_scale import LIMIT, VIEWS, limit, program, view_of

ROOT = Path(__file__).parents[1]
CHROMIUM = "/usr/bin/chromium-headless-shell"
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
SIZE: ViewportSize = {"width": 1280, "height": 800}
STEPS = 12
SCROLL_SECONDS = 2.0
#: By program, its views. The sequences of calls are those of `view_scale`.
PROGRAMS: dict[str, tuple[str, ...]] = {
    # The models are written in Relay, so they have no nodes of a framework for the view `source`.
    "resnet50": tuple(view for view in VIEWS if view != "source"),
    "transformer": tuple(view for view in VIEWS if view != "source"),
    "1,000 calls": VIEWS,
    "10,000 calls": VIEWS,
    "50,000 calls": VIEWS,
}
#: What is compared with an earlier commit.
COMPARED: dict[str, tuple[str, ...]] = {
    "resnet50": ("ir", "costs", "types", "fusion", "pipeline", "memory", "gradient", "partial"),
    "resnet18, chapter 14": ("pipeline",),
}

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>an explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ margin: 0 auto; max-width: 1280px; }}</style></head><body><main>
<div class="relay-explorer" id="rx-speed"><script type="application/json">{view}</script></div></main>
<script type="module">
performance.mark("start");
await import("/bundle.js");
window.ready = true;
</script></body></html>"""
PAINTED = """() => new Promise((done) => requestAnimationFrame(() => setTimeout(() =>
  done(performance.now() - performance.getEntriesByName("start")[0].startTime))))"""
#: Press a key `times` times; return, for each, the milliseconds until the frame after it was painted.
PRESS = """async ([times, key]) => {
  const root = document.querySelector(".relay-explorer").shadowRoot.querySelector(".rx");
  root.focus();
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const out = [];
  for (let i = 0; i < times; i++) {
    await frame();
    await frame();
    const start = performance.now();
    root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
    await new Promise((done) => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    }));
    out.push(performance.now() - start);
  }
  return out;
}"""
#: A point over the rows; where there are none, over what can be scrolled farthest.
ROWS = """() => {
  const rx = document.querySelector(".relay-explorer").shadowRoot.querySelector(".rx");
  const seen = [...rx.querySelectorAll("*")].filter((node) => node.checkVisibility());
  const far = (node) =>
    getComputedStyle(node).overflowY === "visible" ? 0 : node.scrollHeight - node.clientHeight;
  const rows = seen.find((node) => node.matches(".scroller")) ??
    seen.reduce((best, node) => (far(node) > far(best) ? node : best), rx);
  const { left, top, width, height } = rows.getBoundingClientRect();
  return [left + Math.min(200, width / 2), top + Math.min(height / 2, 300)];
}"""
FRAMES = """() => {
  const frames = (window.frames_ = []);
  const tick = (now) => { frames.push(now); window.ticking = requestAnimationFrame(tick); };
  window.ticking = requestAnimationFrame(tick);
}"""
STOP = "() => { cancelAnimationFrame(window.ticking); return window.frames_; }"
ELEMENTS = """() => document.querySelector(".relay-explorer").shadowRoot.querySelectorAll("*").length"""


def data(name: str, kind: str) -> str:
    """Return the data of a view of a program as JSON."""
    from relay_explorer import models
    from relay_explorer import transform as T

    if name.endswith("calls"):
        return view_of(kind, program(kind, int(name.split()[0].replace(",", ""))), name)
    if "chapter 14" in name:
        passes = [T.InferType(), T.SimplifyInference(), T.FoldConstant()]
        passes += [T.BackwardFoldScaleAxis(), T.FoldConstant(), T.FuseOps()]
        return view_of(kind, _with_weights(models.load("resnet18")), name, {"passes": passes})
    return view_of(kind, models.load(name), name)


def _with_weights(module: Any) -> Any:
    """Return a model whose weights are constants, so that passes can fold them."""
    import numpy as np

    from relay_explorer import relay

    random = np.random.default_rng(0)
    main: Any = relay.transform.InferType()(module)["main"]
    weights = {
        param.name_hint: random.uniform(0.1, 1, [int(n) for n in param.type_annotation.shape]).astype(
            "float32"
        )
        for param in main.params[1:]
    }
    return relay.IRModule.from_expr(relay.build_module.bind_params_by_name(main, weights))


def make(tree: Path, name: str, kind: str, path: Path) -> None:
    """Write a view's data, made by the package of a checkout in a separate process. Everything else there,
    this file too, is of this checkout.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "relay_explorer").symlink_to(tree / "relay_explorer")
        environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
        command = [sys.executable, str(Path(__file__).resolve()), "--make", name, kind, str(path)]
        subprocess.run(
            command, env=environment, cwd=folder, check=True, stderr=subprocess.PIPE, text=True,
            preexec_fn=limit,
        )  # fmt: skip


def measure(browser: Browser, tree: Path, path: Path) -> dict[str, float]:
    """Measure one view in the front end of a checkout."""
    bundle = (tree / "relay_explorer/widgets/static/relay_explorer.js").read_bytes()
    html = PAGE.format(view=path.read_text("utf-8").replace("</", "<\\/"))

    def serve(route: Route) -> None:
        if route.request.url.endswith("bundle.js"):
            route.fulfill(body=bundle, content_type="text/javascript")
        else:
            route.fulfill(body=html, content_type="text/html; charset=utf-8")

    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.route("**/*", serve)
    page.set_default_timeout(180_000)
    page.goto("http://explorer.test/")
    page.wait_for_function("window.ready === true")
    out = {"size": float(path.stat().st_size), "paint": page.evaluate(PAINTED)}
    page.wait_for_timeout(300)
    page.evaluate(PRESS, [2, "Home"])
    steps = page.evaluate(PRESS, [STEPS, "ArrowRight"])
    out |= {"step": median(steps), "slowest": max(steps)}
    out["select"] = median(page.evaluate(PRESS, [STEPS, "ArrowDown"]))
    out["elements"] = page.evaluate(ELEMENTS)
    out["heap"] = heap(context.new_cdp_session(page))
    out["fps"], out["slow"] = scroll(page)
    context.close()
    return out


def heap(session: CDPSession) -> float:
    """Return the bytes of the page's JavaScript objects after a collection of garbage."""
    session.send("Performance.enable")
    session.send("HeapProfiler.collectGarbage")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "JSHeapUsedSize"))


def scroll(page: Page) -> tuple[float, float]:
    """Turn the wheel over the rows; return the frames per second and the 95th percentile of the frame times,
    in milliseconds.
    """
    x, y = page.evaluate(ROWS)
    page.mouse.move(x, y)
    page.evaluate(FRAMES)
    end = time.perf_counter() + SCROLL_SECONDS
    while time.perf_counter() < end:
        page.mouse.wheel(0, 60)
    gaps = sorted(b - a for a, b in itertools.pairwise(page.evaluate(STOP)))
    return (1000 * len(gaps) / sum(gaps), gaps[int(0.95 * (len(gaps) - 1))]) if gaps else (0.0, 0.0)


HEADINGS = [
    "program", "view", "", "data", "first paint", "elements", "heap", "a step: median (slowest)",
    "a row selected", "scrolling (95 % of frames within)",
]  # fmt: skip


def every(
    browser: Browser,
    programs: dict[str, tuple[str, ...]],
    views: Sequence[str],
    trees: dict[str, Path],
    kept: Path | None = None,
) -> list[list[str]]:
    """Measure the programs' views in each checkout; return the rows of the table. `kept` is a folder that
    keeps the views' data for later runs: those of 50,000 calls take minutes.
    """
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for name, kinds in programs.items():
            for kind, (when, tree) in itertools.product([k for k in kinds if k in views], trees.items()):
                path = (kept or Path(temporary)) / f"{name}, {kind}, {when}.json"
                try:
                    if not path.exists():
                        make(tree, name, kind, path)
                    result = cells(measure(browser, tree, path))
                except subprocess.CalledProcessError as error:
                    why = re.findall(r"Error: (?:error: )?(.*)", error.stderr) or ["an unknown error"]
                    slow = error.returncode == -signal.SIGXCPU
                    text = f"its data took more than {LIMIT} s" if slow else f"failed: {why[-1]}"
                    result = [text, *["–"] * (len(HEADINGS) - 4)]
                except Error as error:
                    message = error.message.splitlines()[0]
                    result = [f"the page failed: {message}", *["–"] * (len(HEADINGS) - 4)]
                rows.append([name, kind, when, *result])
                print(*rows[-1], sep="  ", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="a checkout of an earlier commit")
    parser.add_argument("--only", nargs="+", choices=tuple(COMPARED), help="these programs")
    parser.add_argument("--views", nargs="+", choices=VIEWS, help="these views")
    parser.add_argument("--make", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        name, kind, path = options.make
        text = data(name, kind)
        Path(path).write_text(text, "utf-8")
        return
    load = os.getloadavg()[0]
    trees = {"now": ROOT, **({"before": options.before.resolve()} if options.before else {})}
    programs = {name: COMPARED[name] for name in options.only or COMPARED}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        rows = every(browser, programs, options.views or VIEWS, trees)
        browser.close()
    if options.only or options.views:
        print(table(HEADINGS, rows))
    else:
        report("explorer_speed.md", table(HEADINGS, rows), f"\nLoad average at the start: {load:.1f}.\n")


def cells(measured: dict[str, float]) -> list[str]:
    """Format one row of the table."""
    return [
        f"{measured['size'] / 1e6:.2f} MB",
        f"{measured['paint']:.0f} ms",
        f"{measured['elements']:,.0f}",
        f"{measured['heap'] / 1e6:.0f} MB",
        f"{measured['step']:.0f} ms ({measured['slowest']:.0f})",
        f"{measured['select']:.0f} ms",
        f"{measured['fps']:.0f}/s ({measured['slow']:.0f} ms)",
    ]


if __name__ == "__main__":
    main()
