"""The faults B1 to B24 of the review of the explorers, tried again; `review_explorers` prints the results."""

from __future__ import annotations

import re
import subprocess
import sys

from playwright.sync_api import Page

from benchmarks import view_scale
from benchmarks.review_pages import DESKTOP, PHONE, Data, Pages, listed, model, of_book, row
from relay_explorer import explore, relay
from relay_explorer.ir import Function, IRModule
from tests.browser import test_fit as fit
from tests.browser.every_view import VIEWS, sample
from tests.browser.explorers import press, say, violations
from tests.browser.test_ir_graph import RECORD, graph, overlaps
from tests.browser.test_keyboard import FOCUSED
from tests.browser.test_keyboard import PAGE as LISTEN
from tests.views.programs import ILL_TYPED, program

AXE = "/frontend/node_modules/axe-core/axe.min.js"
#: Whether each of the elements lies within the scrolled part of the rows.
INSIDE = """(rows) => rows.map((row) => {
  const [own, grid] = [row, row.closest(".scroller")].map((node) => node.getBoundingClientRect());
  return own.top >= grid.top - 1 && own.bottom <= grid.bottom + 1;
})"""
#: How many of the elements are cut, and the width of the narrowest.
CUT = """(all) => [all.filter((node) => node.scrollWidth > node.clientWidth + 1).length, all.length,
  Math.min(...all.map((node) => node.clientWidth))]"""
PAINTED = "performance.getEntriesByName('relay-explorer-graph').length > 0"


def focused(page: Page) -> str:
    """Return where the focus is."""
    page.wait_for_timeout(30)
    return str(page.evaluate(FOCUSED))


def search(page: Page, query: str) -> None:
    """Search with the keyboard."""
    press(page, "/")
    page.keyboard.type(query)
    page.keyboard.press("Enter")
    page.wait_for_timeout(150)


@row("B1", "`/` left lowering and run for the book's search", "/ add Enter in all views")
def slash(pages: Pages) -> str:
    opened, left = 0, []
    for kind in VIEWS:
        with pages.open(sample(kind)) as page:
            page.evaluate(LISTEN)
            search(page, "add")
            opened += page.get_by_role("searchbox").locator("visible=true").count() == 1
            if "/" in page.evaluate("heard") or focused(page) == "the page":
                left.append(kind)
    return f"{opened} of {len(VIEWS)} views open their own search; keys reach the page in: {len(left)}"


@row("B2", "numbers 6 px wide, 9 of 10 cut", "evaluation, ch06-settle, 1280 px: the column of values")
def values(pages: Pages) -> str:
    with pages.open(of_book("ch06_control_flow", "ch06-settle")) as page:
        cut, count, width = page.locator(".c-value .numbers").evaluate_all(CUT)
    return f"narrowest {width} px, {cut} of {count} cut"


@row("B3", "after a search, the focus was on the page", "IR, resnet50: / relu Enter Esc ↓")
def focus(pages: Pages) -> str:
    with pages.open(model("resnet50", "ir")) as page:
        search(page, "relu")
        page.keyboard.press("Escape")
        after = focused(page)
        page.keyboard.press("ArrowDown")
        return f"on {after}, then on {focused(page)}"


@row("B5", "rows moved at 5 to 10 of 13 steps, by up to 160 px", "390×844, Home and → ×13 in all views")
def still(pages: Pages) -> str:
    moved = {}
    with pages.open("learner.waiting()", PHONE) as page:
        page.evaluate(fit.PAGE)
        for kind, view in fit.views().items():
            if kind in ("ir", "run"):
                continue
            fit.show(page, view)
            places = page.evaluate(fit.STEPS, ["Home"] + ["ArrowRight"] * 13)["places"]
            tops = {place.rsplit(" ", 1)[0] for place in places}
            if len(tops) > 1:
                moved[kind] = len(tops)
    return f"positions of the sentence and the rows change in: {listed(moved)}"


@row("B6", "the first hit was `padding`; 268 rows of fusion matched", "/ add: IR MobileNet, fusion ResNet-18")
def tokens(pages: Pages) -> str:
    out = []
    for name, kind in (("mobilenet", "ir"), ("resnet18", "fusion")):
        with pages.open(model(name, kind)) as page:
            search(page, "add")
            first = page.locator(".row[aria-selected=true] .code").first.inner_text()
            marks = page.locator(".code mark").all_text_contents()
            hits = page.locator(".hits").first.inner_text()
            out.append(
                f"{kind}: {hits}, first `{' '.join(first.split())[:40]}`, letters marked: {set(marks)}"
            )
    return "; ".join(out)


@row("B7", "the selected row was out of sight", "links into ch16-memory and ch05-cell in a fresh page")
def links(pages: Pages) -> str:
    out = []
    for chapter, name, state, selector in (
        ("ch16_fusion", "ch16-memory", "step=8&row=15&q=add", ".row[aria-selected=true]"),
        ("ch05_sharing", "ch05-cell", "step=34&sel=20&row=0.20&q=add", ".row.is-same"),
    ):
        with pages.open(of_book(chapter, name), fragment=f"#rx-test:{state}") as page:
            page.wait_for_timeout(200)
            inside = page.locator(selector).evaluate_all(INSIDE)
            out.append(f"{name}: {sum(inside)} of {len(inside)} rows in the window")
    return "; ".join(out)


@row("B8", "the list for screen readers was a grey smear", "IR in forced colors: the sizes of its entries")
def smear(pages: Pages) -> str:
    with pages.open(model("resnet50", "ir"), forced_colors="active") as page:
        entries = graph(page).locator("li")
        sizes = entries.evaluate_all(
            "all => all.map((e) => `${e.offsetWidth}×${e.offsetHeight} px, ${getComputedStyle(e).clipPath}`)"
        )
    return f"{len(sizes)} entries, each {', '.join(sorted(set(sizes)))}"


@row("B9", "no mark told which rows are one kernel", "fusion, ch16-block, forced colors: brackets of rows")
def brackets(pages: Pages) -> str:
    view = of_book("ch16_fusion", "ch16-block")
    with pages.open(view, forced_colors="active") as page:
        press(page, "End")
        rows = page.locator(".c-kernel:is(.k0, .k1, .k2, .k3, .k4, .k5)")
        width = "(all) => all.map((cell) => getComputedStyle(cell).borderInlineStartWidth)"
        return f"{rows.count()} rows of kernels, bracket {', '.join(set(rows.evaluate_all(width)))}"


@row("B10", "Tab never reached the program", "Tab from the explorer in all views")
def tab(pages: Pages) -> str:
    missing = []
    for kind in VIEWS:
        with pages.open(sample(kind)) as page:
            press(page)
            name = ""
            for _ in range(40):
                page.keyboard.press("Tab")
                name = focused(page)
                if name == "the page" or {"row", "lv-line", "tr"} & set(name.split()):
                    break
            if not {"row", "lv-line", "tr"} & set(name.split()):
                missing.append(kind)
    return f"reached in {len(VIEWS) - len(missing)} of {len(VIEWS)} views" + (
        f"; not in {', '.join(missing)}" if missing else ""
    )


@row(
    "B11",
    "nested-interactive, scrollable-region-focusable",
    "axe: all views, two widths, first and last step",
)
def axe(pages: Pages) -> str:
    found: list[str] = []
    runs = 0
    for kind in VIEWS:
        for size in (DESKTOP, PHONE):
            with pages.open(sample(kind), size) as page:
                for keys in (("Home",), ("End",)):
                    press(page, *keys)
                    found += violations(page, AXE)
                    runs += 1
    return (
        f"{len(found)} violations in {runs} runs{': ' if found else ''}{', '.join(sorted(set(found)))[:200]}"
    )


@row(
    "B12", "letters kept 15 px", "the browser's text at 200 %: letters of all views, and what no longer fits"
)
def letters(pages: Pages) -> str:
    sizes: dict[str, dict[str, float]] = {"100%": {}, "200%": {}}
    wrong = []
    for size, measured in sizes.items():
        with pages.open("learner.waiting()", letters=size) as page:
            page.evaluate(fit.PAGE)
            for kind, view in fit.views().items():
                fit.show(page, view)
                measured[kind] = page.evaluate(fit.LETTERS)
                wrong += page.evaluate(fit.FIT)
    ratios = [sizes["200%"][kind] / sizes["100%"][kind] for kind in sizes["100%"]]
    return f"letters grow × {min(ratios):.1f} to × {max(ratios):.1f}; {len(wrong)} parts do not fit"


@row("B13", "`%d_conv2_wei` cut, without a way to read it", "gradient, ch19-lenet: a cut cell's row selected")
def derivative(pages: Pages) -> str:
    with pages.open(of_book("ch19_gradients", "ch19-lenet")) as page:
        cells = page.locator(".c-whole")
        cut, count, _ = cells.evaluate_all(CUT)
        shown = 0
        for cell in cells.all():
            text = cell.inner_text().strip()
            if text and cell.evaluate("(node) => node.scrollWidth > node.clientWidth + 1"):
                cell.locator("xpath=ancestor::*[contains(@class, 'row')][1]").click(
                    position={"x": 60, "y": 8}
                )
                shown += text in (page.locator(".whole").first.text_content() or "")
    return f"{cut} of {count} cells cut, {shown} of them shown whole when selected"


@row("B14", "the sentence printed backticks", "IR of an ill-typed program")
def backticks(pages: Pages) -> str:
    with pages.open(explore(program(ILL_TYPED), view="ir").view.to_dict()) as page:
        return f"{say(page).count('`')} backticks, {page.locator('.say code').count()} words in code"


@row("B15", "labels left their shapes or were cut", "graphs of resnet50, transformer, ill-typed: texts drawn")
def labels(pages: Pages) -> str:
    out = []
    views: dict[str, Data] = {
        "resnet50": model("resnet50", "ir"),
        "transformer": model("transformer", "ir"),
        "ill-typed": explore(program(ILL_TYPED), view="ir").view.to_dict(),
    }
    for name, view in views.items():
        with pages.open(view, script=RECORD) as page:
            page.wait_for_function(PAINTED)
            texts = page.evaluate("window.texts")
            cut = {text["text"] for text in texts if text["text"].endswith("…")}
            least = min(text["size"] * text["scale"] for text in texts)
            out.append(f"{name}: {len(overlaps(texts))} overlap, {len(cut)} cut, smallest {least:.0f} px")
    return "; ".join(out)


@row("B16", "9 numbers of the roofline hidden or struck", "run of ResNet-18: overlapping numbers of marks")
def roofline(pages: Pages) -> str:
    with pages.open(model("resnet18", "run")) as page:
        boxes = page.locator(".roof-mark text").evaluate_all(
            "list => list.map((text) => text.getBBox())"
            ".map((b) => [b.x, b.y + 2, b.x + b.width, b.y + b.height - 2])"
        )
        note = page.locator(".roof-note").count()
    over = sum(
        a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
        for number, a in enumerate(boxes)
        for b in boxes[number + 1 :]
    )
    return f"{over} overlaps among {len(boxes)} numbers; marks above the roofs explained: {bool(note)}"


@row(
    "B17", "one variable had two names; a long name filled 17 lines", "names `%<script>…` and of 450 letters"
)
def names(pages: Pages) -> str:
    x = relay.var("<script>alert(1)</script>", shape=(2, 2))
    hostile = IRModule.from_expr(Function([x], relay.nn.relu(relay.nn.relu(x))))
    with pages.open(explore(hostile, view="pipeline", passes="FuseOps").view.to_dict()) as page:
        shown = set(re.findall(r"%[_<]*script[^\s:,)]*", page.locator(".rx").first.inner_text()))
    x = relay.var("n" * 450, shape=(2, 2))
    long = IRModule.from_expr(Function([x], relay.nn.dense(x, x, units=2)))
    with pages.open(explore(long, view="ir").view.to_dict()) as page:
        page.locator(".row", has_text="nn.dense").first.click()
        height = page.locator(".say").evaluate("(e) => e.getBoundingClientRect().height")
    return f"names in the page: {', '.join(sorted(shown)) or 'none'}; the sentence is {height:.0f} px high"


@row("B18", "“same type: none yet” at the end; “Annotate: …” as an order", "types, resnet50, End")
def last(pages: Pages) -> str:
    with pages.open(model("resnet50", "types")) as page:
        press(page, "End")
        text = page.locator(".rx").first.inner_text()
        return (
            f"“none yet” {text.count('none yet')} times; the sentence: “{' '.join(say(page).split())[:90]}”"
        )


@row("B19", "minimap and zoom buttons covered the graph", "IR of tree_lstm, 390 px")
def covered(pages: Pages) -> str:
    with pages.open(model("tree_lstm", "ir"), PHONE) as page:
        canvas, zoom = page.locator("canvas.over").bounding_box(), page.locator(".zoom").bounding_box()
        minimap = page.locator("canvas.minimap").is_visible()
    assert canvas is not None
    assert zoom is not None
    below = zoom["y"] + zoom["height"] > canvas["y"] + 1
    return f"minimap shown: {minimap}; zoom buttons over the graph: {below}"


@row("B20", "`--view pipeline` was no choice; explore() without passes raised", "command line, and explore()")
def command(pages: Pages) -> str:
    arguments = ["explore", "resnet50", "--view", "pipeline", "-o", "/dev/null"]
    code = f"import sys; from relay_explorer.cli import main; sys.exit(main({arguments!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    try:
        steps = f"{len(explore(ILL_FREE, view='pipeline').to_json()):,} bytes"
    except Exception as error:
        steps = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return f"exit {done.returncode}; without passes: {steps}"


ILL_FREE = "def @main(%x: Tensor[(2, 2), float32]) { nn.relu(exp(%x)) }"


@row("B21", "0.9 / 1.3 / 5.1 s at 500 / 1,000 / 2,000; 10,000 not in 190 s", "fusion's data, processor time")
def fusion(pages: Pages) -> str:
    from benchmarks.view_scale import ROOT, measured

    return " / ".join(view_scale.cell(measured(ROOT, "fusion", n)) for n in (500, 1_000, 2_000, 10_000))


@row(
    "B22",
    "asking why moved the film, without a way back by touch",
    "types, ch10-mended, 390 px: a chip tapped",
)
def why(pages: Pages) -> str:
    with pages.open(of_book("ch10_types", "ch10-mended"), PHONE) as page:
        press(page, "End")
        before = page.locator(".count").inner_text()
        page.locator("[data-var]").locator("visible=true").first.tap()
        page.wait_for_timeout(100)
        asked = page.locator(".count").inner_text()
        entry = page.locator(".entry[data-step]").locator("visible=true")
        if entry.count():
            entry.first.tap()
        jumped = page.locator(".count").inner_text()
        back = page.get_by_role("button", name="back to where you were").locator("visible=true")
        shown = back.count()
        if shown:
            back.first.tap()
        after = page.locator(".count").inner_text()
    return f"{before}, asked {asked}, jumped {jumped}; button back: {shown}, then {after}"


@row("B23", "`->` was drawn as an arrow", "font-variant-ligatures of code, in all views")
def ligatures(pages: Pages) -> str:
    found = set()
    for kind in VIEWS:
        with pages.open(sample(kind)) as page:
            style = "(all) => all.map((node) => getComputedStyle(node).fontVariantLigatures)"
            found |= set(page.locator(".code").evaluate_all(style))
    return ", ".join(sorted(found))


@row(
    "B24", "find, link and ? had a line of their own", "evaluation, ch07-sentence, 1280 px: lines of the bar"
)
def bar(pages: Pages) -> str:
    with pages.open(of_book("ch07_lists_trees_matching", "ch07-sentence")) as page:
        tops = (
            page.locator(".bar .btn")
            .locator("visible=true")
            .evaluate_all("(all) => all.map((node) => Math.round(node.getBoundingClientRect().top / 12))")
        )
    return f"{len(set(tops))} line(s) of {len(tops)} buttons"
