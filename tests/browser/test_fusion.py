"""The fusion explorer in a real browser, on samples that the pass decided."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explorers import Samples, press, refusal, rx, say, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

NAMES = ["diamond", "apart", "obstacle", "joined", "bound", "called"]
view_of = Samples("fusion")


def row(page: Page, text: str) -> Locator:
    """The row whose program text has `text` in it."""
    return page.locator(".fusion-grid .row").filter(has=page.locator(".cell.code", has_text=text))


def kernels(page: Page) -> list[str]:
    """What stands in the kernel's column, row by row, where something does."""
    cells = page.locator(".fusion-grid .cell.c-kernel").all_inner_texts()
    return [" ".join(text.split()) for text in cells if text.strip()]


def tint(page: Page, text: str) -> str:
    found: str = (
        row(page, text).locator(".cell.code").evaluate("cell => getComputedStyle(cell).backgroundColor")
    )
    return found


def test_the_first_frame_is_a_refusal_that_tells_the_story(open_view: Opener) -> None:
    page = open_view(view_of("diamond"))
    assert page.locator(".count").inner_text() == "3 / 6"
    assert "Can %4 add be fused into the kernel of %5 mean? No." in say(page)
    expect(page.locator(".say > small")).to_contain_text(
        "rule: a complex-out-fusable operator is fused only along"
    )
    assert kernels(page) == [
        "conv2d·relu·exp·tanh·add",
        "in conv2d·relu·exp·tanh·add 1 launch for 5, 140 kB",
        "in conv2d·relu·exp·tanh·add",
        "in conv2d·relu·exp·tanh·add",
        "in conv2d·relu·exp·tanh·add",
        "mean 69.6 kB",
        "sqrt 8.19 kB",
    ]
    expect(page.locator(".row.is-now")).to_contain_text("%4 = add")
    expect(page.locator(".row.is-target")).to_contain_text("%5 = mean")
    expect(page.locator(".totals")).to_contain_text("launches 7 → 3")
    expect(page.locator(".totals")).to_contain_text("−73 %")


def test_groups_form_as_the_cursor_moves(open_view: Opener) -> None:
    page = open_view(view_of("diamond"), motion="reduce")
    press(page, "Home")
    assert kernels(page) == ["conv2d", "relu", "exp", "tanh", "add", "mean 69.6 kB", "sqrt 8.19 kB"]
    expect(page.locator(".totals")).to_contain_text("now 7")
    assert len({tint(page, operator) for operator in ("nn.conv2d", "nn.relu", "exp")}) == 3
    page.keyboard.press("ArrowRight")
    assert tint(page, "nn.conv2d") == tint(page, "nn.relu") == tint(page, "%4 = add")
    assert tint(page, "nn.conv2d") != tint(page, "%5 = mean")
    expect(page.locator(".totals")).not_to_contain_text("now")
    page.keyboard.press("ArrowLeft")
    assert tint(page, "nn.conv2d") != tint(page, "nn.relu")


def test_patterns_are_a_letter_and_a_word(open_view: Opener) -> None:
    page = open_view(view_of("diamond"))
    cells = [" ".join(text.split()) for text in page.locator(".c-pattern").all_inner_texts() if text.strip()]
    assert cells[:2] == ["C complex-out-fusable", "E element-wise"]
    assert cells[-2:] == ["R reduction", "E element-wise"]


def test_uses_are_lanes_with_the_arc_to_the_post_dominator(open_view: Opener) -> None:
    page = open_view(view_of("diamond"), fragment="#rx-test:step=2")
    assert page.locator(".fusion-wires circle.dot:not(.core)").count() == 7
    assert page.locator(".fusion-wires path.use").count() == 7
    assert page.locator(".fusion-wires path.use.hot").count() == 5
    assert page.locator(".fusion-wires path.dominator:not(.head)").count() == 1
    x = page.locator(".fusion-wires circle.dot:not(.core)").evaluate_all(
        "dots => dots.map((d) => d.getAttribute('cx'))"
    )
    assert len(set(x)) == 2, "a fork has two lanes"
    expect(row(page, "%0 = nn.conv2d").locator(".c-uses .sr")).to_have_text("used by %1 nn.relu, %3 tanh")
    press(page, "End")
    assert page.locator(".fusion-wires path.dominator").count() == 0


def test_an_obstacle_is_crossed_and_why_leads_to_it(open_view: Opener) -> None:
    page = open_view(view_of("obstacle"))
    press(page, "n")
    expect(page.locator(".obstacle-cross")).to_have_count(1)
    press(page, "w")
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("nn.dense")
    expect(page.locator(".way li.obstacle")).to_contain_text("prevents the merge")
    expect(page.locator(".pane:visible .rule")).to_contain_text("rule:")


def test_a_kernel_whose_rows_are_apart_has_a_line_and_ways_to_jump(open_view: Opener) -> None:
    page = open_view(view_of("apart"), fragment="#rx-test:step=6")
    expect(page.locator(".kernel-line")).to_have_count(2)
    assert tint(page, "%0 = nn.dense") == tint(page, "%2 = add")
    assert tint(page, "%1 = nn.dense") != tint(page, "%2 = add")
    row(page, "%0 = nn.dense").locator(".stub.down").click()
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("%2 = add")
    row(page, "%2 = add").locator(".stub.wide").click()
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("%0 = nn.dense")


def test_refusals_and_merges_are_walked_by_their_keys(open_view: Opener) -> None:
    page = open_view(view_of("diamond"), fragment="#rx-test:step=1")
    press(page, "n")
    assert page.locator(".count").inner_text() == "3 / 6"
    press(page, "n")
    assert page.locator(".count").inner_text() == "4 / 6"
    press(page, "n", "N")
    assert page.locator(".count").inner_text() == "4 / 6", "round the end, and back"
    press(page, "m")
    assert "Yes." in say(page)
    press(page, "Escape", "Escape", "Escape", "Escape", "Escape")
    assert page.locator(".count").inner_text() == "1 / 6"
    page.get_by_role("button", name="refused 2").click()
    assert "No." in say(page)


def test_what_if_keeps_the_question_and_says_what_changed(open_view: Opener) -> None:
    page = open_view(view_of("diamond"))
    expect(page.locator(".what-if")).to_be_hidden()
    page.get_by_role("button", name="mean were injective").click()
    expect(page.locator(".what-if")).to_have_text(
        "What if: mean were injective. 2 launches instead of 3, 210 kB of memory traffic, not 218 kB "
        "(−4 %). New: mean·sqrt. Gone: mean, sqrt.as it is"
    )
    assert "Can %4 add be fused into the kernel of %5 mean?" in say(page)
    expect(row(page, "%5 = mean").locator(".pattern")).to_have_class("pattern supposed")
    expect(row(page, "%5 = mean").locator(".pattern")).to_contain_text("injective")
    expect(page.locator(".totals")).to_contain_text("launches 7 → 2")
    expect(page.get_by_role("button", name="mean were injective")).to_be_focused()
    again = open_view(view_of("diamond"), fragment=state_of(page))
    expect(again.locator(".totals")).to_contain_text("launches 7 → 2")
    press(page, "Escape")
    expect(page.locator(".what-if")).to_be_hidden()
    assert "Can %4 add be fused into the kernel of %5 mean?" in say(page)


def test_the_cursor_finds_back_through_all_the_questions(open_view: Opener) -> None:
    """Where nothing is fused there is no such question, and yet the next answer shows it again."""
    view = view_of("diamond")
    page = open_view(view)
    before = say(page)
    for _ in view["functions"][0]["variants"]:
        press(page, "v")
    assert say(page) == before
    press(page, "v")
    assert "The groups are kernels now: 7 kernels." in say(page)
    press(page, "V")
    assert say(page) == before


def test_the_tree_marks_the_question_and_its_target(open_view: Opener) -> None:
    page = open_view(view_of("diamond"))
    press(page, "t")
    names = page.locator(".tree-names .name").all_inner_texts()
    assert names[:3] == ["sqrt", "%5 mean", "%4 add"]
    assert len(names) == 7
    expect(page.locator(".tree-names .asked")).to_have_text("%4 add")
    expect(page.locator(".tree-names .target")).to_have_text("%5 mean")
    expect(page.get_by_role("button", name="%0 nn.conv2d, post-dominated by %4 add")).to_be_visible()
    page.get_by_role("button", name="%3 tanh, post-dominated by %4 add").click()
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("tanh")


def test_the_list_of_kernels_has_before_and_after(open_view: Opener) -> None:
    page = open_view(view_of("diamond"))
    press(page, "k")
    first = " ".join(page.locator(".kernels tbody").first.inner_text().split())
    assert first == "conv2d·relu·exp·tanh·add 5 → 1 730 kB → 140 kB 4.78 M"
    expect(page.locator(".kernels tfoot")).to_contain_text("808 kB → 218 kB")
    expect(page.locator(".kernels tbody.here")).to_contain_text("conv2d·relu")
    page.locator(".kernels tbody", has_text="sqrt").get_by_role("button").click()
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("sqrt")


def test_a_row_leads_to_the_decisions_about_it(open_view: Opener) -> None:
    page = open_view(view_of("joined"))
    row(page, "%0 = exp").click()
    page.keyboard.press("Enter")
    assert "Can %0 exp be fused into the kernel of %2 tuple? No." in say(page)
    page.keyboard.press("Enter")
    assert "Can %0 exp be fused into the kernel of %2 tuple? Yes." in say(page)
    row(page, "%1 = tanh").dblclick()
    assert "%1 tanh" in say(page)


def test_finding_operators_patterns_and_kernels(open_view: Opener) -> None:
    page = open_view(view_of("diamond"))
    press(page, "/")
    page.keyboard.type("relu")
    expect(page.locator(".hits")).to_have_text("5 matches")
    page.get_by_label("where to search").select_option("op")
    expect(page.locator(".hits")).to_have_text("1 match")
    page.get_by_label("where to search").select_option("pattern")
    page.get_by_role("searchbox").fill("reduction")
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("mean")
    page.get_by_label("only these rows").check()
    expect(page.locator(".row")).to_have_count(1)
    press(page, "Escape")
    expect(page.locator(".row")).to_have_count(11)


def test_the_names_in_a_sentence_lead_to_their_rows(open_view: Opener) -> None:
    page = open_view(view_of("diamond"))
    page.locator(".say .named", has_text="%5 mean").first.click()
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("%5 = mean")


@pytest.mark.parametrize("system", ["light", "dark"])
def test_on_a_phone_the_columns_are_tabs(open_view: Opener, system: str) -> None:
    page = open_view(view_of("diamond"), width=390, height=844, system=system)
    tabs = page.get_by_role("tab")
    assert tabs.locator("visible=true").all_inner_texts() == [
        "Groups",
        "Uses",
        "Patterns",
        "Why",
        "Tree",
        "Kernels",
    ]
    expect(page.locator(".c-kernel").first).to_be_visible()
    page.get_by_role("tab", name="Uses").click()
    expect(page.locator(".c-uses").first).to_be_visible()
    expect(page.locator(".fusion-wires circle.dot").first).to_be_visible()
    page.get_by_role("tab", name="Patterns").click()
    expect(row(page, "mean").locator(".pattern")).to_contain_text("reduction")
    for name, what in (("Why", ".way"), ("Tree", ".tree-names"), ("Kernels", ".kernels")):
        page.get_by_role("tab", name=name).locator("visible=true").click()
        expect(page.locator(what)).to_be_visible()
        expect(page.locator(".fusion-grid")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "tab=list" in state_of(page)


def test_the_rows_of_a_kernel_come_together_when_asked(open_view: Opener) -> None:
    page = open_view(view_of("apart"))
    programs = page.locator(".fusion-grid .row .cell.code")
    assert [text.split(" =")[0] for text in programs.all_inner_texts()[4:7]] == ["%0", "%1", "%2"]
    press(page, "End", "g")
    assert [text.split(" =")[0] for text in programs.all_inner_texts()[4:7]] == ["%1", "%0", "%2"]
    expect(page.locator(".kernel-line")).to_have_count(0)
    assert kernels(page)[:2] == ["dense 512 B", "dense·add·tanh·multiply·add"]
    expect(page.locator("[aria-live=polite]").first).to_contain_text("The rows of each kernel are adjacent")
    again = open_view(view_of("apart"), fragment=state_of(page))
    assert kernels(again) == kernels(page)
    press(again, "v")  # nothing is fused: no rows belong together
    expect(again.get_by_role("button", name="by kernel")).to_be_disabled()
    press(page, "g")
    expect(page.locator(".kernel-line").first).to_be_attached()
    expect(open_view(view_of("diamond")).get_by_role("button", name="by kernel")).to_be_hidden()


def test_a_function_of_the_module_is_chosen(open_view: Opener) -> None:
    page = open_view(view_of("called"))
    assert kernels(page)[0] == "multiply·exp"
    page.get_by_label("function").select_option("@step")
    assert "Can %1 nn.dense be fused into the kernel of %2 add?" in say(page)
    assert "fn=1" in state_of(page)
    again = open_view(view_of("called"), fragment=state_of(page))
    expect(again.get_by_label("function")).to_have_value("1")
    assert "%1 nn.dense" in say(again)
    press(again, "]")
    expect(again.get_by_label("function")).to_have_value("0")
    expect(again.locator("[aria-live=polite]").first).to_contain_text("@main: 2 operators become")


def test_a_screen_reader_hears_the_decision(open_view: Opener) -> None:
    page = open_view(view_of("diamond"))
    expect(rx(page)).to_have_attribute("aria-label", "Fusion, decision by decision: diamond")
    expect(page.get_by_role("treegrid")).to_have_attribute("aria-rowcount", "12")
    press(page, "ArrowRight")
    expect(page.locator("[aria-live=polite]").first).to_contain_text(
        "Step 4 of 6. refused. Can %5 mean be fused into the kernel of sqrt? No."
    )
    slider = page.get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuenow", "4")
    assert "refused." in (slider.get_attribute("aria-valuetext") or "")


def test_a_damaged_view_is_refused_with_its_place(open_view: Opener) -> None:
    view = view_of("diamond")
    page = open_view(view)
    view["functions"][0]["variants"][1]["dominators"][2] = 1
    assert "damaged (functions[0].variants[1].dominators[2])" in refusal(page, view)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "width", "state"),
    [
        ("diamond", 1280, ""), ("diamond", 390, ""), ("diamond", 1280, "what=4&pane=list"),
        ("apart", 800, "step=6&pane=tree"), ("joined", 390, "tab=list"),
        ("obstacle", 1000, "step=2&q=exp"), ("diamond", 390, "tab=uses"),
        ("called", 1280, "fn=1&by=kernel"),
    ],
)  # fmt: skip
def test_axe_finds_nothing(
    open_view: Opener, axe_core: str, name: str, width: int, state: str, theme: str
) -> None:
    page = open_view(
        view_of(name),
        width=width,
        theme=theme,
        motion="reduce",
        fragment=f"#rx-test:{state}" if state else "",
    )
    assert violations(page, axe_core) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_step_and_every_row_can_be_walked(open_view: Opener, name: str) -> None:
    view = view_of(name)
    page = open_view(view)
    for what, variant in enumerate(view["functions"][0]["variants"]):
        press(page, "Home")
        for number in range(1, len(variant["steps"]) + 1):
            assert page.locator(".count").inner_text() == f"{number} / {len(variant['steps'])}"
            page.keyboard.press("ArrowRight")
        assert kernels(page), what
        press(page, "v")
    for _ in view["program"]["rows"]:
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert say(page)
