"""The measurements of the review's sections 3 to 5: what fits, sizes and speed, and what held."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import explorer_speed, graph_viewers
from benchmarks.review_pages import BAR, DESKTOP, PHONE, Pages, every_of_book, listed, model, row, text_of
from relay_explorer import explore, models
from relay_explorer.views import registry
from relay_explorer.widgets import page as notebook_page
from tests.browser import test_fit as fit
from tests.browser import test_hostile_names as names
from tests.browser.every_view import VIEWS, sample
from tests.browser.explorers import press, state_of

#: Code lines in the window, and how many of them are cut.
LINES = """() => {
  const grid = document.querySelector(".relay-explorer").shadowRoot.querySelector(".scroller");
  if (!grid) return [0, 0];
  const bottom = Math.min(innerHeight, grid.getBoundingClientRect().bottom);
  const cells = [...grid.querySelectorAll(".row .cell.code:first-of-type, .row .code")]
    .filter((cell) => cell.offsetParent && cell.getBoundingClientRect().top < bottom);
  return [cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length, cells.length];
}"""
MOTION = """() => document.querySelector(".relay-explorer").shadowRoot.getAnimations()
  .filter(({ playState }) => playState === "running").length"""


def heights(pages: Pages, size: tuple[int, int]) -> str:
    """Measure the heights of the book's explorers under its bar."""
    found: dict[str, list[int]] = {}
    with pages.open("learner.waiting()", size) as page:
        page.evaluate(fit.PAGE)
        for view in every_of_book().values():
            fit.show(page, view)
            found.setdefault(view["view"], []).append(page.evaluate("root().offsetHeight"))
    every = [height for values in found.values() for height in values]
    free = size[1] - BAR
    ranges = {kind: f"{min(values)}–{max(values)}" for kind, values in sorted(found.items())}
    return f"{sum(h > free for h in every)} of {len(every)} are higher than {free} px; {listed(ranges)}"


@row("height, 1280×800", "22 of 27 did not fit (550 to 1,327 px)", "the explorers of nine chapters")
def desktop(pages: Pages) -> str:
    return heights(pages, DESKTOP)


@row("height, 390×844", "fusion 888–1,093, types 958, memory 1,156", "the explorers of nine chapters")
def phone(pages: Pages) -> str:
    return heights(pages, PHONE)


@row(
    "the bar in sight",
    "buttons, sentence and scrubber scrolled away",
    "FIT of the tests, five sizes, all views",
)
def in_sight(pages: Pages) -> str:
    wrong = 0
    for size in fit.SIZES:
        with pages.open("learner.waiting()", size) as page:
            page.evaluate(fit.PAGE)
            for view in fit.views().values():
                fit.show(page, view)
                wrong += len(page.evaluate(fit.FIT))
    return f"{wrong} parts out of sight in {len(fit.SIZES)} sizes × {len(fit.views())} views"


@row(
    "cut lines, 1280 px",
    "types 11/20, fusion 13/27, memory 14/28, sharing 34/60, partial 22/45; only in a title",
    "resnet50, the first window; then ↓ until a cut row is shown whole",
)
def cut_lines(pages: Pages) -> str:
    out = []
    for kind in ("types", "fusion", "memory", "sharing", "partial"):
        view = every_of_book()["ch05-cell"] if kind == "sharing" else model("resnet50", kind)
        with pages.open(view) as page:
            cut, lines = page.evaluate(LINES)
            whole = 0
            press(page)
            for _ in range(40):
                page.keyboard.press("ArrowDown")
                page.wait_for_timeout(30)
                whole = page.locator(".whole:not([hidden])").count()
                if whole:
                    break
            out.append(f"{kind} {cut}/{lines}{', whole when selected' if whole else ''}")
    return "; ".join(out)


@row(
    "targets, 390 px",
    "14 to 22 px: folds, links, operators, chips",
    "WCAG 2.5.8 in all views, every tab and menu",
)
def targets(pages: Pages) -> str:
    small: dict[str, int] = {}
    with pages.open("learner.waiting()", PHONE) as page:
        page.evaluate(fit.PAGE)
        for kind, view in fit.views().items():
            fit.show(page, view)
            found = set(page.evaluate(fit.TARGETS))
            for tab in page.get_by_role("tab").all():
                if tab.is_visible() and not tab.is_disabled():
                    tab.click()
                    found |= set(page.evaluate(fit.TARGETS))
            if found:
                small[kind] = len(found)
    return f"too small and too near: {listed(small)}"


# --- sizes and speed ---


@cache
def speed(pages: Pages, name: str, kind: str) -> dict[str, float]:
    """Measure a view as `explorer_speed` does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "view.json"
        if name.endswith("calls"):
            explorer_speed.make(explorer_speed.ROOT, name, kind, path)
        else:
            path.write_text(text_of(name, kind), "utf-8")
        return explorer_speed.measure(pages.browser, explorer_speed.ROOT, path)


def summary(measured: dict[str, float]) -> str:
    return (
        f"first paint {measured['paint']:.0f} ms, {measured['elements']:,.0f} elements, "
        f"{measured['heap'] / 1e6:.1f} MB heap, scrolling {measured['fps']:.0f}/s "
        f"({measured['slow']:.0f} ms), "
        f"a step {measured['step']:.0f} ms (slowest {measured['slowest']:.0f})"
    )


@row(
    "B4", "430 to 1,040 ms a step, 16/s, 23,600 to 31,000 elements", "pipeline of resnet50, as explorer_speed"
)
def pipeline(pages: Pages) -> str:
    return summary(speed(pages, "resnet50", "pipeline"))


def measured_page(name: str, kind: str, then: str) -> None:
    """Register the row of one page of the review's table."""

    @row(f"{name}, {kind}", then, "the page's size, and explorer_speed")
    def measure(pages: Pages) -> str:
        out = summary(speed(pages, name, kind))
        if name == "resnet50":
            html = explore(models.load(name), view=kind, title=name, **options(kind)).to_html()
            out = f"{len(html.encode()) / 1e6:.2f} MB, {out}"
        if kind == "ir":
            out += f", pan {pan(pages, name):.0f}/s"
        return out


def options(kind: str) -> dict[str, Any]:
    from benchmarks.review_pages import PASSES

    return {"passes": PASSES} if kind == "pipeline" else {}


def pan(pages: Pages, name: str) -> float:
    """Return the frames per second while the graph is dragged."""
    from benchmarks.explorer_speed import data

    view = json.loads(data(name, "ir"))
    with pages.open(view) as page:
        box = page.locator("canvas.over").bounding_box()
        assert box is not None
        return graph_viewers.pan(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)[0]


for name_, kind_, then_ in (
    ("resnet50", "ir", "0.60 MB, 124 ms, 329 elements, 2.8 MB, 60/s, pan 60/s"),
    ("resnet50", "types", "0.67 MB, 120 ms, 4,207 elements, 3.0 MB, 59/s, a step 38 ms"),
    ("resnet50", "fusion", "0.74 MB, 160 ms, 4,453 elements, 3.1 MB, 59/s, a step 32 ms"),
    ("resnet50", "memory", "0.82 MB, 560 ms, 4,202 elements, 3.1 MB, 56/s, a step 68 ms"),
    ("resnet50", "pipeline", "1.27 MB, 228 ms (ready 1.3 s), 23,626 elements, 6.5 MB, 16/s, a step ~700 ms"),
    ("10,000 calls", "ir", "2.10 MB, 200 ms, 10,569 elements, 11.2 MB, 39/s, pan 60/s"),
    ("10,000 calls", "types", "4.93 MB, 340 ms, 984 elements, 21.2 MB, 59/s, a step 20 ms"),
):
    measured_page(name_, kind_, then_)


@row(
    "notebook outputs",
    "0.60 MB each; ten cells add 5 MB",
    "outputs of resnet50's ir: with and without the bundle",
)
def outputs(pages: Pages) -> str:
    view = explore(models.load("resnet50"), view="ir").view
    first, next_ = (len(notebook_page.output(view, "a", "", carries).encode()) for carries in (True, False))
    ten = first + 9 * next_
    return f"the first {first / 1e6:.2f} MB, every other {next_ / 1e6:.2f} MB; ten {ten / 1e6:.1f} MB"


@row(
    "play",
    "90 s for any long run: 193 ms a step, no choice",
    "types, resnet50: each choice for five seconds, the time of one step",
)
def play(pages: Pages) -> str:
    with pages.open(model("resnet50", "types")) as page:
        choice = page.get_by_role("combobox", name="speed of play")
        out = {}
        for value in choice.locator("option").evaluate_all("(all) => all.map(({ value }) => value)"):
            choice.select_option(value)
            press(page, "Home", " ")
            page.wait_for_timeout(5000)
            press(page, " ")
            steps = int(page.locator(".count").inner_text().split("/")[0].replace(",", "")) - 1
            out[value] = f"{5000 / steps:.0f} ms" if steps else "more than 5 s"
    return listed(out)


# --- what held ---


@row("overflow", "none at 390 or 320 px", "the width of the page in all views")
def overflow(pages: Pages) -> str:
    wider = []
    for kind in VIEWS:
        for size in (PHONE, (320, 600)):
            with pages.open(sample(kind), size) as page:
                if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    wider.append(f"{kind} at {size[0]}")
    return f"wider than the window: {', '.join(wider) or 'none'}"


@row("reduced motion", "0 elements animated", "all views, → and a search")
def motion(pages: Pages) -> str:
    moving = 0
    for kind in VIEWS:
        with pages.open(sample(kind), reduced_motion="reduce") as page:
            press(page, "ArrowRight", "/")
            moving += page.evaluate(MOTION)
    return f"{moving} animations"


@row(
    "deep links",
    "token identical after reload in ten views",
    "all views: End, a row, the address opened again",
)
def deep_links(pages: Pages) -> str:
    same = []
    for kind in VIEWS:
        with pages.open(sample(kind)) as page:
            press(page, "End", "ArrowLeft", "ArrowDown")
            fragment = state_of(page)
        with pages.open(sample(kind), fragment=fragment) as page:
            same.append(state_of(page) == fragment)
    return f"identical in {sum(same)} of {len(same)} views"


@row("resizing", "1280→390→1280 kept the state", "all views: the address and the sentence before and after")
def resizing(pages: Pages) -> str:
    kept = 0
    for kind in VIEWS:
        with pages.open(sample(kind)) as page:
            press(page, "End", "ArrowLeft")
            before = state_of(page)
            for width in (390, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                page.wait_for_timeout(100)
            kept += state_of(page) == before
    return f"kept in {kept} of {len(VIEWS)} views"


@row("hostile names", "no script ran", "all views of a program whose names, attributes and title are markup")
def hostile(pages: Pages) -> str:
    ran = 0
    for kind, view in registry.views().items():
        module = names.imported() if kind == "source" else names.program()
        given: dict[str, Any] = {"title": names.HOSTILE[0]}
        if "args" in view.option_names():
            given["args"] = (np.ones((2, 3), "float32"),)
        if kind in ("pipeline", "compare"):
            given["passes"] = "FuseOps, ToANormalForm"
        with pages.open(json.loads(explore(module, view=kind, **given).to_json())) as page:
            names.look_around(page)
            ran += page.evaluate(names.FOUND) != []
    return f"markup became elements, or a script ran, in {ran} of {len(registry.views())} views"


@row("errors", "no console error anywhere", "all pages that these measurements opened")
def errors(pages: Pages) -> str:
    return (
        f"{len(pages.failures)}: {'; '.join(sorted(set(pages.failures)))[:300]}" if pages.failures else "none"
    )
