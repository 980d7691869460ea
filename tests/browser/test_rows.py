"""The rows that the explorers share, in a long program: what is in the page, and what stays right where it is
not.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from relay_explorer import explore, relay
from tests.browser.explorers import Samples, press
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

ORDER = """() => [...document.querySelector(".relay-explorer").shadowRoot.querySelectorAll(".rows > .row")]
  .map((row) => [Number(row.dataset.row), Number(row.getAttribute("aria-rowindex"))])"""


@cache
def long_program(calls: int) -> relay.IRModule:
    """Return a chain of calls, long enough that its rows are not all in the page."""
    lines = [f"  %{k} = {'exp' if k % 2 else 'tanh'}(%{k - 1 if k else 'x'});" for k in range(calls)]
    head = "def @main(%x: Tensor[(8, 8), float32]) {"
    module: relay.IRModule = relay.parse("\n".join([head, *lines, f"  add(%{calls - 1}, %0)", "}"]))
    return module


def view_of(kind: str, calls: int = 600, **options: Any) -> Any:
    return explore(long_program(calls), view=kind, **options).view.to_dict()


def rows_in_page(page: Page) -> list[tuple[int, int]]:
    """Return, for each row in the page in the page's order, its number and its index in the grid."""
    return [(row, index) for row, index in page.evaluate(ORDER)]


def scroll(page: Page, share: float) -> None:
    """Scroll the rows, and wait until those of the new window are there."""
    page.locator(".scroller").first.evaluate(
        """async (node, share) => {
          node.scrollTop = share * node.scrollHeight;
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }""",
        share,
    )


def test_programs_of_a_hundred_rows_keep_only_their_window_in_the_page(open_view: Opener) -> None:
    """Every row in the page costs time at each frame of scrolling, also where it is not drawn."""
    assert len(rows_in_page(open_view(view_of("types", calls=120)))) < 80


def test_long_programs_keep_only_their_window_in_the_page(open_view: Opener) -> None:
    page = open_view(view_of("types"))
    grid = page.locator("[role=treegrid]")
    expect(grid).to_have_attribute("aria-rowcount", "605")
    assert len(rows_in_page(page)) < 80
    # A row that is selected and has the focus stays in the page, wherever the window is.
    press(page, "Home", "ArrowDown", "ArrowDown", "ArrowDown")
    selected = page.locator(".row[aria-selected=true]")
    number = selected.get_attribute("data-row")
    assert selected.evaluate("(row) => row === row.getRootNode().activeElement")
    scroll(page, 1)
    rows = rows_in_page(page)
    assert len(rows) < 80
    assert rows == sorted(rows), "a screen reader reads the page's order"
    assert all(index == row + 2 for row, index in rows)
    assert rows[-1][0] == 603
    expect(selected).to_have_attribute("data-row", number or "")
    assert selected.evaluate("(row) => row === row.getRootNode().activeElement")
    page.keyboard.press("ArrowDown")
    expect(selected).to_be_in_viewport()
    expect(selected).to_have_attribute("data-row", str(int(number or 0) + 1))


def test_a_window_that_grows_is_filled(open_view: Opener) -> None:
    page = open_view(view_of("types"), height=500)
    page.set_viewport_size({"width": 1280, "height": 2400})
    press(page, "f")
    bottom = """() => {
      const root = document.querySelector(".relay-explorer").shadowRoot;
      const last = [...root.querySelectorAll(".rows > .row")].at(-1).getBoundingClientRect().bottom;
      return last - root.querySelector(".scroller").getBoundingClientRect().bottom;
    }"""
    page.wait_for_function(f"() => ({bottom})() > 0")


def test_marks_and_lit_names_are_there_when_their_rows_come_back(open_view: Opener) -> None:
    page = open_view(view_of("pipeline", passes="FuseOps"))
    press(page, "u")  # unfold what did not change
    page.locator(".row").nth(2).locator("[data-ref]").first.click()  # follow it
    page.mouse.move(2, 2)
    expect(page.locator(".row.is-kin").first).to_be_visible()
    before = page.locator(".is-lit").count(), page.locator(".row.is-kin").count()
    assert min(before) > 1
    scroll(page, 0.8)
    expect(page.locator(".row.is-kin")).to_have_count(1)  # the selected row, which stays
    scroll(page, 0)
    assert (page.locator(".is-lit").count(), page.locator(".row.is-kin").count()) == before


def test_the_graph_of_a_long_program_has_its_window_and_is_not_drawn_anew_for_the_pointer(
    open_view: Opener,
) -> None:
    page = open_view(view_of("pipeline", passes="FuseOps"))
    nodes = page.locator(".flow-node")
    expect(nodes.first).to_be_attached()
    assert nodes.count() < 100
    nodes.evaluate_all("(all) => { for (const node of all) node.seen = true; }")
    names = page.locator(".row:not(.is-now) [data-ref]")
    for at in (3, 6):
        names.nth(at).hover()
    expect(page.locator(".flow-node.is-hover, .row.is-linked").first).to_be_attached()
    assert nodes.evaluate_all("(all) => all.every((node) => node.seen)")


@pytest.mark.parametrize("width", [1280, 390])
def test_stacked_rows_of_unequal_height_stay_in_their_places(open_view: Opener, width: int) -> None:
    """On a phone a row has as many lines as its columns, and its place is the sum of the heights above it."""
    page = open_view(view_of("types"), width=width, height=844)
    scroll(page, 0.5)
    gaps = page.evaluate(
        """() => {
          const rows = [...document.querySelector(".relay-explorer").shadowRoot.querySelectorAll(".row")];
          const boxes = rows.map((row) => row.getBoundingClientRect());
          return boxes.slice(1).map(({ top }, i) => Math.abs(top - boxes[i].bottom));
        }"""
    )
    assert len(gaps) > 3
    assert max(gaps) < 1


#: Of the rows in the window, those with a cell that does not show all of its text, and this text.
CUT = """() => {
  const root = document.querySelector(".relay-explorer").shadowRoot;
  const wider = (node) => node.clientWidth > 44 && node.scrollWidth > node.clientWidth + 1;
  const hides = (node) => !node.matches(".sr") && getComputedStyle(node).overflowX !== "visible";
  const port = root.querySelector(".scroller").getBoundingClientRect();
  const out = {};
  for (const row of root.querySelectorAll(".row")) {
    const { top, bottom } = row.getBoundingClientRect();
    if (top < port.top || bottom > port.bottom) continue;
    for (const cell of row.children) {
      const inside = [...cell.querySelectorAll("*")].some((node) => wider(node) && hides(node));
      if (!wider(cell) && !inside) continue;
      const copy = cell.cloneNode(true);
      for (const node of copy.querySelectorAll(".sr, .twist, .folded-note")) node.remove();
      (out[row.dataset.row] ??= []).push(copy.textContent);
    }
  }
  return out;
}"""
TOPS = """() => {
  const root = document.querySelector(".relay-explorer").shadowRoot;
  const parts = [...root.querySelectorAll(".row, .say, .foot")];
  return parts.map(({ dataset, offsetTop }) => [dataset.row, offsetTop]);
}"""


@pytest.mark.parametrize(
    ("kind", "name", "width"),
    [
        ("gradient", "lenet", 1280),
        ("gradient", "lenet", 390),
        ("source", "net", 390),
        ("memory", "block", 390),
    ],
)
def test_what_is_cut_is_shown_whole_when_its_row_is_selected(
    open_view: Opener, kind: str, name: str, width: int
) -> None:
    """By keyboard and by touch, in every column, and nothing moves for it."""
    page = open_view(Samples(kind)(name), width=width, height=844)
    cut: dict[str, list[str]] = page.evaluate(CUT)
    assert cut, "the sample has no line that is too long"
    whole = page.locator(".whole:not([hidden])")
    expect(whole).to_have_count(0)
    before = page.evaluate(TOPS)
    for number, texts in list(cut.items())[:3]:
        row = page.locator(f".row[data-row='{number}']").first
        if whole.count():
            whole.get_by_role("button", include_hidden=True).click()  # it may lie over the next row
        if width < 600:
            row.locator(".cell.code").first.tap(position={"x": 60, "y": 8})
        else:
            row.locator("xpath=preceding-sibling::*[1]").locator(".code").click(position={"x": 60, "y": 8})
            page.keyboard.press("ArrowDown")
        expect(row).to_have_attribute("aria-selected", "true")
        for text in texts:
            assert " ".join(text.split()) in " ".join((whole.first.text_content() or "").split())
        box, strip = row.bounding_box(), whole.first.bounding_box()
        assert box
        assert strip
        assert box["y"] + box["height"] <= strip["y"] + 1 or strip["y"] + strip["height"] <= box["y"] + 1
        assert strip["width"] <= width
    assert page.evaluate(TOPS) == before
    whole.first.get_by_role("button", include_hidden=True).click()
    expect(whole).to_have_count(0)
