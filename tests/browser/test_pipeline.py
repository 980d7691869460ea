"""The pipeline explorer in a real browser, on samples that the passes made."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explorers import Samples, press, refusal, rx, say, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

NAMES = ["small", "orders", "shared", "power"]
view_of = Samples("pipeline")


def row(page: Page, text: str) -> Locator:
    """The first row with `text` in its program, before or after."""
    return page.locator(".pipeline-grid .row").filter(has=page.locator(".cell.code", has_text=text)).first


def selected(page: Page) -> Locator:
    return page.locator(".pipeline-grid .row[aria-selected=true]")


def current(page: Page) -> str:
    shot = page.locator(".shot[aria-current=step]")
    return " ".join(
        " ".join(shot.locator(f".{part}").inner_text() for part in ("shot-name", "changes")).split()
    )


def marks(page: Page) -> list[str]:
    """The words of the rows that changed, from the top."""
    words = page.locator(".pipeline-grid .c-mark .word").all_text_contents()
    return [word for word in words if word]


def ticks(page: Page) -> list[str]:
    return page.locator(".tick").all_inner_texts()


def test_the_first_frame_tells_what_the_first_pass_changed(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    assert current(page) == "1 FoldConstant ~1 −2"
    assert "FoldConstant changed the program." in say(page)
    expect(page.locator(".say a.source")).to_have_attribute(
        "href", "https://code.test/tree/relay_explorer/transform/fold_constant.py"
    )
    assert marks(page) == ["removed", "removed", "rewritten"]
    heads = page.locator(".grid-head [role=columnheader]").all_inner_texts()
    assert heads == ["before", "change", "after FoldConstant", "uses", "flops", "bytes"]
    expect(page.locator(".is-rewritten .old-token")).to_have_text("%scale")
    expect(page.locator(".is-rewritten .new-token")).to_have_text("14f")
    expect(page.locator(".changes-here")).to_have_text("~rewritten 1−removed 26 expressions eliminated")


def test_the_program_as_given_has_one_side(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    press(page, "Home")
    assert current(page) == "0 as given the start"
    heads = page.locator(".grid-head [role=columnheader]").all_inner_texts()
    assert heads == ["as given", "uses", "flops", "bytes"]
    expect(row(page, "%left")).to_contain_text("512 B")


def test_arrows_walk_the_passes_and_the_film_too(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    press(page, "ArrowRight")
    assert current(page).startswith("2 EliminateCommonSubexpr")
    press(page, "End", "ArrowRight")
    assert current(page).startswith("3 DeadCodeElimination")
    page.locator(".shot", has_text="FoldConstant").click()
    assert current(page).startswith("1 FoldConstant")
    page.keyboard.press("ArrowLeft")
    assert current(page).startswith("0 as given")
    expect(page.locator(".shot[aria-current=step]")).to_be_focused()
    assert state_of(page) == "#rx-test:stage=0"


def test_passes_that_changed_nothing_are_skipped_on_request(open_view: Opener) -> None:
    page = open_view(view_of("orders"), fragment="#rx-test:pipe=1&stage=3")
    expect(page.locator(".shot.idle .changes")).to_have_text("no change")
    press(page, "c", "ArrowRight")
    assert current(page).startswith("3 DeadCodeElimination")
    expect(page.locator(".shot.idle .shot-title")).to_be_hidden()
    press(page, "c", "ArrowRight")
    assert current(page).startswith("4 FoldConstant")
    assert "changed nothing" in say(page)
    assert marks(page) == []


def test_a_row_is_followed_through_all_passes(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    row(page, "nn.relu").locator(".c-after", has_text="nn.relu").click(position={"x": 300, "y": 10})
    assert ticks(page) == ["%1 nn.relu", "%0 nn.relu", "%1 nn.relu", "%1 nn.relu"]
    expect(page.locator(".pane.history")).to_contain_text("The history of %0 nn.relu")
    expect(page.locator(".row.is-kin")).to_have_count(1)
    lit = page.locator(".is-kin [data-ref].is-lit").all_inner_texts()
    assert lit == ["%1", "nn.relu", "%0", "nn.relu"], "on both sides"
    again = open_view(view_of("small"), fragment=state_of(page))
    assert ticks(again) == ticks(page)
    press(page, "Escape")
    expect(page.locator(".tick:visible")).to_have_count(0)


def test_what_becomes_nothing_says_where(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    row(page, "let %unused").locator(".c-after").click(position={"x": 200, "y": 10})
    assert ticks(page) == ["%unused exp", "%unused exp", "%unused exp", "not here"]
    moments = page.locator(".story li")
    expect(moments.last).to_contain_text("removed")
    moments.last.get_by_role("button").click()
    assert current(page).startswith("3 DeadCodeElimination")
    expect(selected(page)).to_contain_text("let %unused")
    press(page, "Escape")
    assert current(page).startswith("1 FoldConstant")


def test_a_name_in_a_row_is_followed_by_itself(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    row(page, "let %left").locator(".c-after [data-ref]", has_text="%w").click()
    expect(page.locator(".pane.history .heading")).to_contain_text("The history of %w")
    assert ticks(page) == ["%w"] * 4


def test_enter_follows_the_row_and_the_arrows_move(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    press(page, "ArrowDown", "ArrowDown", "Enter")
    assert ticks(page)[0] == "%x"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert ticks(page)[0] == "%w"
    assert "row=2&follow=" in state_of(page)


def test_changes_are_walked_by_their_key_and_by_their_mark(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    press(page, "n")
    expect(selected(page)).to_contain_text("%0 = add")
    page.keyboard.press("n")
    expect(selected(page)).to_contain_text("multiply(%1, %scale)")
    page.keyboard.press("n")
    expect(selected(page)).to_contain_text("%0 = add")
    page.keyboard.press("N")
    expect(selected(page)).to_contain_text("multiply(%1, %scale)")
    page.get_by_role("button", name="removed 2").click()
    expect(selected(page)).to_contain_text("%0 = add")


def test_a_row_that_moved_is_there_twice_and_its_cost_once(open_view: Opener) -> None:
    view = view_of("small")
    align = view["stages"][3]["align"]
    pairs = [align[i : i + 3] for i in range(0, len(align), 3)]
    strings, rows = view["strings"], view["program"]["rows"]
    relu = strings.index("nn.relu")
    at = next(i for i, (_, after, _) in enumerate(pairs) if after >= 0 and relu in rows[after][2][1::3])
    before, after, _ = pairs[at]
    pairs[at : at + 1] = []
    pairs[at - 3 : at - 3] = [[before, -1, 4]]
    pairs[at + 1 : at + 1] = [[-1, after, 4]]
    view["stages"][3]["align"] = [value for pair in pairs for value in pair]
    page = open_view(view, fragment="#rx-test:stage=3")
    assert marks(page).count("moved") == 2
    assert "⇅1" in current(page)
    moved = page.locator(".row.is-moved")
    texts = [" ".join(cell.split()) for cell in moved.locator(".c-bytes").all_inner_texts()]
    assert texts[0] == ""
    assert texts[1] != ""
    expect(page.locator(".changes-here")).to_contain_text("moved 1")


def test_what_is_unchanged_folds_and_a_change_never_does(open_view: Opener) -> None:
    page = open_view(view_of("power"), fragment="#rx-test:stage=2&fold=0")
    everything = page.locator(".pipeline-grid .row").count()
    before = marks(page)
    press(page, "u")
    expect(page.locator(".c-after .folded-note").first).to_contain_text("more unchanged")
    assert page.locator(".pipeline-grid .row").count() < everything
    assert marks(page) == before
    page.locator(".twist").first.click()
    assert page.locator(".pipeline-grid .row").count() == everything


def test_two_pipelines_have_a_strip_each_and_charts_side_by_side(open_view: Opener) -> None:
    page = open_view(view_of("orders"))
    expect(page.locator(".strip")).to_have_count(2)
    assert page.locator(".strip-name").all_inner_texts() == ["the passes", "against"]
    press(page, "p")
    assert current(page).startswith("1 EliminateCommonSubexpr")
    assert "pipe=1" in state_of(page)
    page.get_by_role("tab", name="Totals").click()
    flops = page.locator(".chart-line", has_text="flops").get_by_role("img")
    expect(flops).to_have_count(2)
    label = flops.nth(0).get_attribute("aria-label") or ""
    assert label.startswith("FLOPs, the passes: as given 1.19 k, DeadCodeElimination 1.15 k")
    row(page, "let %scale").locator(".code").first.click(position={"x": 300, "y": 10})
    assert ticks(page) == [
        "%scale multiply", "%scale multiply", "constant 14.0", "constant 14.0",
        "%scale multiply", "%scale multiply", "constant 14.0", "constant 14.0", "constant 14.0",
    ]  # fmt: skip


def test_the_rewrites_inside_a_pass_are_walked(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    expect(page.locator(".rewrites .rule").first).to_contain_text(
        "A call whose arguments are all constants is computed now."
    )
    link = page.locator(".rewrites a.source").first
    assert (link.get_attribute("href") or "").startswith(
        "https://code.test/tree/relay_explorer/transform/fold_constant.py#L"
    )
    press(page, "r")
    expect(page.locator(".entry[aria-current=step]")).to_contain_text("%0 = add(3f, 4f) → 7f")
    expect(page.locator(".row.is-rw-before")).to_contain_text("%0 = add(3f, 4f)")
    expect(page.locator(".flow-node.is-rewrite")).to_have_count(1)
    live = page.locator("[aria-live=polite]").first
    expect(live).to_contain_text("Rewrite 1 of 3: %0 = add(3f, 4f) becomes 7f. A call whose arguments")
    press(page, "r")
    expect(page.locator(".row.is-rw-after .c-after")).to_contain_text("14f")
    assert "rw=2" in state_of(page)
    again = open_view(view_of("small"), fragment=state_of(page))
    expect(again.locator(".entry[aria-current=step] .n")).to_have_text("2")
    press(page, "R", "R")
    expect(page.locator(".entry[aria-current=step] .n")).to_have_text("3")
    press(page, "ArrowRight")
    expect(page.locator(".rewrites .entry")).to_contain_text("%right = nn.dense(%x, %w) → %left")
    expect(page.locator(".row.is-rw-before")).to_have_count(0)


def test_a_decision_is_told_as_one(open_view: Opener) -> None:
    page = open_view(view_of("shared"), fragment="#rx-test:stage=4")
    expect(page.locator(".stepping")).to_contain_text("Inside FuseOps: 4 steps")
    expect(page.locator(".rewrites .entry").first).to_contain_text(
        "%0 = nn.dense(%x, %w) is fused into the kernel of %1 = add(%0, %0)"
    )
    assert page.locator(".flow-kernel").all_text_contents() == ["k1"] * 4


def test_a_link_goes_nowhere_but_to_the_source(open_view: Opener) -> None:
    view = view_of("small")
    view["strings"][view["tree"]] = "javascript:alert(1)//"
    page = open_view(view)
    expect(page.locator(".rewrites .rule").first).to_contain_text("fold_constant.py:")
    expect(page.locator("a")).to_have_count(0)


def places(page: Page) -> dict[str, str]:
    """Where each node of the graph stands, ghosts left out."""
    found: dict[str, str] = page.evaluate(
        """() => Object.fromEntries([...document.querySelector(".relay-explorer").shadowRoot
          .querySelectorAll(".flow-node:not(.n-removed)")]
          .map((n) => [n.querySelector(".flow-label").textContent, n.getAttribute("transform")]))"""
    )
    return found


@pytest.mark.parametrize("name", ["small", "shared"])
def test_nodes_stay_where_they_are_from_pass_to_pass(open_view: Opener, name: str) -> None:
    page = open_view(view_of(name))
    press(page, "Home")
    before = places(page)
    for _ in view_of(name)["stages"][1:]:
        press(page, "ArrowRight")
        after = places(page)
        both = (before.keys() & after.keys()) - {"add", "nn.dense", "multiply"}  # there are two of these
        assert len(both) >= 3
        assert {label: before[label] for label in both} == {label: after[label] for label in both}
        before = after


def test_the_graph_and_the_rows_follow_one_expression(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    expect(page.locator(".flow")).to_have_attribute(
        "aria-label", "graph of 10 values, 2 removed; the rows say the same in words"
    )
    page.locator(".flow-node", has_text="nn.relu").click()
    expect(page.locator(".pane.history .heading")).to_contain_text("The history of %0 nn.relu")
    expect(selected(page)).to_contain_text("nn.relu")
    expect(page.locator(".flow-node.is-kin .flow-label")).to_have_text("nn.relu")
    press(page, "ArrowDown", "ArrowUp")  # a reader's key brings the explorer into sight
    row(page, "%biased").locator(".c-after").hover()
    expect(page.locator(".flow-node.is-hover")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".flow-node.is-hover .flow-label")).to_have_text("multiply")


def test_lanes_can_be_left_out(open_view: Opener) -> None:
    page = open_view(view_of("small"), height=1000)  # all rows are in the window
    expect(page.locator(".fusion-wires .dot")).to_have_count(7)
    press(page, "l")
    expect(page.locator(".grid-head .h-uses")).to_have_count(0)
    assert "lanes=0" in state_of(page)
    narrow = open_view(view_of("small"), width=740)
    expect(narrow.locator(".grid-head .h-uses")).to_have_count(0)
    narrow.get_by_role("button", name="more tools").click()
    narrow.get_by_role("button", name="uses").click()
    expect(narrow.locator(".grid-head .h-uses")).to_have_count(1)


def test_the_final_programs_are_compared(open_view: Opener, axe_core: str) -> None:
    page = open_view(view_of("orders"))
    press(page, "e")
    assert "are the same program" in say(page)
    expect(page.locator(".compare-grid")).to_be_visible()
    assert state_of(page).startswith("#rx-test:ends=1")
    assert violations(page, axe_core) == []
    again = open_view(view_of("orders"), fragment=state_of(page))
    expect(again.locator(".compare-grid")).to_be_visible()
    press(again, "g")
    assert "graphs=1" in state_of(again)
    press(again, "e")
    expect(again.locator(".strips")).to_be_visible()
    again.get_by_role("tab", name="the final programs").click()
    expect(again.locator(".compare-grid")).to_be_visible()


@pytest.mark.parametrize("width", [390, 740, 1280])
def test_nothing_of_the_totals_is_cut(open_view: Opener, width: int) -> None:
    state = "tab=totals" if width < 620 else "pane=totals"
    page = open_view(view_of("orders"), width=width, fragment=f"#rx-test:{state}")
    cut = page.locator(".pane.totals").evaluate(
        """(pane) => [...pane.querySelectorAll(".chart-numbers, .columns")]
          .filter((el) => el.getBoundingClientRect().right > pane.getBoundingClientRect().right + 0.5
            || el.scrollWidth > el.clientWidth + 1).length"""
    )
    assert page.locator(".pane.totals .chart-numbers").count() == 8
    assert cut == 0


def test_the_time_of_passes_is_shown_where_it_was_kept(open_view: Opener) -> None:
    view = view_of("small")
    for number, stage in enumerate(view["stages"]):
        stage["ms"] = 1.5 * number if number else None
    page = open_view(view, fragment="#rx-test:pane=totals")
    assert "took 1.5 ms" in say(page)
    expect(page.locator(".chart-line", has_text="time")).to_contain_text("9 ms this pass 1.5 ms")


def test_finding_on_either_side(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    press(page, "/")
    page.keyboard.type("scale")
    expect(page.locator(".hits")).to_have_text("2 matches")
    page.get_by_label("where to search").select_option("after")
    expect(page.locator(".hits")).to_have_text("0 matches")
    page.get_by_label("where to search").select_option("before")
    page.get_by_role("searchbox").press("Enter")
    expect(selected(page)).to_contain_text("let %scale")
    page.get_by_label("only these rows").check()
    expect(page.locator(".pipeline-grid .row")).to_have_count(2)
    again = open_view(view_of("small"), fragment=state_of(page))
    expect(again.locator(".pipeline-grid .row")).to_have_count(2)
    press(page, "Escape")
    assert page.locator(".pipeline-grid .row").count() > 2


def test_focus_stays_in_the_explorer_when_the_rows_are_drawn_anew(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    row(page, "nn.relu").locator(".c-after", has_text="nn.relu").click(position={"x": 300, "y": 10})
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert current(page).startswith("3 DeadCodeElimination")
    expect(page.locator(".row.is-kin")).to_contain_text("nn.relu")


@pytest.mark.parametrize("system", ["light", "dark"])
def test_on_a_phone_there_are_tabs(open_view: Opener, system: str) -> None:
    page = open_view(view_of("small"), width=390, height=844, system=system)
    tabs = page.get_by_role("tab")
    assert tabs.all_inner_texts() == [
        "Before", "After", "Uses", "Cost", "Rewrites", "Graph", "History", "Totals",
    ]  # fmt: skip
    expect(row(page, "14f").locator(".c-after")).to_be_visible()
    page.get_by_role("tab", name="Before").click()
    expect(row(page, "%1, %scale").locator(".code")).to_be_visible()
    expect(page.locator(".c-after")).to_have_count(0)
    page.get_by_role("tab", name="Cost").click()
    expect(row(page, "nn.relu").locator(".c-flops")).to_contain_text("32")
    row(page, "nn.relu").locator(".c-flops").click()
    page.get_by_role("tab", name="History").click()
    expect(page.locator(".pane.history")).to_contain_text("%0 = nn.relu(%biased)")
    expect(page.locator(".pipeline-grid")).to_be_hidden()
    page.get_by_role("tab", name="Uses").click()
    expect(page.locator(".fusion-wires .dot").first).to_be_visible()
    page.get_by_role("tab", name="Rewrites").click()
    page.get_by_role("button", name="next rewrite").click()
    expect(page.locator(".rewrites .entry[aria-current=step]")).to_contain_text("%0 = add(3f, 4f) → 7f")
    page.get_by_role("tab", name="Graph").click()
    expect(page.locator(".flow-node.n-removed")).to_have_count(2)
    page.get_by_role("tab", name="Totals").click()
    expect(page.locator(".charts")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "tab=totals" in state_of(page)


def test_a_screen_reader_hears_the_pass(open_view: Opener) -> None:
    page = open_view(view_of("small"))
    expect(rx(page)).to_have_attribute("aria-label", "Pipeline, pass by pass: small")
    grid = page.get_by_role("treegrid")
    expect(grid).to_have_attribute("aria-label", "small: before and after FoldConstant")
    press(page, "ArrowRight")
    live = page.locator("[aria-live=polite]").first
    expect(live).to_contain_text("2 of 3: EliminateCommonSubexpr, 1 rewritten, 2 added, 1 removed.")
    expect(page.get_by_role("button", name="1 FoldConstant , 1 rewritten, 2 removed")).to_be_visible()
    removed = page.locator(".row.is-removed").first.get_by_role("gridcell").all_inner_texts()
    assert removed[1].split() == ["−", "removed"]


def test_a_damaged_view_is_refused_with_its_place(open_view: Opener) -> None:
    view = view_of("small")
    page = open_view(view)
    view["stages"][1]["align"][0] = 999
    assert "damaged (stages[1].align[0].before)" in refusal(page, view)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "width", "state"),
    [
        ("small", 1280, ""), ("small", 390, ""), ("orders", 1280, "pipe=1&stage=2&follow=9"),
        ("shared", 800, "stage=4&follow=5"), ("power", 390, "stage=2&follow=9&tab=history"),
        ("orders", 390, "tab=totals"), ("small", 1000, "stage=0&q=dense"),
        ("orders", 1280, "only=1&stage=3&pipe=1"), ("small", 390, "tab=rewrites&rw=2"),
        ("shared", 740, "stage=4&rw=1&lanes=1"), ("orders", 1000, "ends=1&pane=sizes"),
    ],
)  # fmt: skip
def test_axe_finds_nothing(
    open_view: Opener, axe_core: str, name: str, width: int, state: str, theme: str
) -> None:
    fragment = f"#rx-test:{state}" if state else ""
    page = open_view(view_of(name), width=width, theme=theme, motion="reduce", fragment=fragment)
    assert violations(page, axe_core) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_pass_and_every_row_can_be_walked(open_view: Opener, name: str) -> None:
    view = view_of(name)
    page = open_view(view, fragment="#rx-test:fold=0")
    for _, stages in view["pipelines"]:
        press(page, "Home")
        for number in range(len(stages)):
            assert current(page).startswith(f"{number} ")
            for _ in range(page.locator(".pipeline-grid .row").count()):
                page.keyboard.press("ArrowDown")
                page.keyboard.press("Enter")
            assert say(page)
            page.keyboard.press("ArrowRight")
        press(page, "p")


def test_in_a_low_window_the_rows_of_two_pipelines_have_room(open_view: Opener) -> None:
    page = open_view(view_of("orders"), height=600)
    grid = page.locator(".pipeline-grid")
    seen = grid.evaluate(
        """grid => [...grid.querySelectorAll(".row")].filter(row => {
          const [own, port] = [row, grid.closest(".holder")].map(node => node.getBoundingClientRect());
          return own.top >= port.top && own.bottom <= Math.min(port.bottom, innerHeight) + 1;
        }).length"""
    )
    assert seen >= 5
