"""The type-inference explorer in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

WAITING = "learner.waiting()"
FAILING = "learner.failing()"
LARGE = "large.large(250)"


def rx(page: Page) -> Locator:
    return page.locator(".relay-explorer .rx")


def step(page: Page) -> str:
    return page.locator(".count").inner_text()


def focus(page: Page) -> None:
    rx(page).focus()


def state_of(page: Page) -> str:
    """The state in the address, once it has settled."""
    page.wait_for_timeout(350)
    return str(page.evaluate("location.hash"))


# --- the first frame -----------------------------------------------------------------------------


def test_the_first_frame_is_the_step_that_the_data_chose(open_view: Opener) -> None:
    page = open_view(WAITING)
    assert step(page) == "9 / 12"
    expect(page.locator(".say")).to_contain_text("exp can: %x is known")
    expect(page.locator(".row.is-now")).to_contain_text("exp(%x)")
    expect(page.get_by_text("the static picture")).to_be_hidden()


def test_types_fill_in_as_the_reader_steps(open_view: Opener) -> None:
    page = open_view(WAITING, fragment="#rx-test:step=7")
    gamma = page.locator('[data-var="4"]')
    expect(gamma).to_have_class(re.compile("unknown"))
    focus(page)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert step(page) == "11 / 12"
    expect(gamma).to_have_class(re.compile(r"\bknown"))
    expect(gamma).to_have_text("γ : (3, 4) f32")


def test_variables_and_relations_appear_when_they_are_made(open_view: Opener) -> None:
    page = open_view(WAITING, fragment="#rx-test:step=1")
    expect(page.locator(".chip.var:visible")).to_have_count(1)
    expect(page.locator(".chip.rel:visible")).to_have_count(0)
    page.locator(".btn[aria-label^='last']").click()
    expect(page.locator(".chip.var:visible")).to_have_count(7)
    expect(page.locator(".chip.rel.done:visible")).to_have_count(3)


@pytest.mark.parametrize("view", [WAITING, FAILING])
def test_a_learner_sized_program_fits_the_screen(open_view: Opener, view: str) -> None:
    page = open_view(view)
    box = rx(page).bounding_box()
    assert box is not None
    assert box["height"] <= 780
    assert page.locator(".scroller").evaluate("e => e.scrollHeight <= e.clientHeight")


# --- the keyboard ----------------------------------------------------------------------------------


def test_arrows_home_and_end_step(open_view: Opener) -> None:
    page = open_view(WAITING)
    focus(page)
    seen = []
    for key in ["ArrowLeft", "ArrowRight", "ArrowRight", "Home", "ArrowLeft", "End", "ArrowRight"]:
        page.keyboard.press(key)
        seen.append(step(page).split(" /")[0])
    assert seen == ["8", "9", "10", "1", "1", "12", "12"]


def test_up_and_down_move_along_the_program_and_enter_says_why(open_view: Opener) -> None:
    page = open_view(WAITING)
    focus(page)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".row:focus")).to_contain_text("%f(%1)")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".row:focus")).to_contain_text("add(%0, %a)")
    page.keyboard.press("Enter")
    assert step(page) == "9 / 12", "asking why does not move the film"
    expect(page.get_by_role("tab", name="Why", selected=True)).to_be_visible()
    expect(page.locator(".pane:visible .ask")).to_have_text(
        "Why is γ known later? From step 11 on; you are at step 9:"
    )


def test_escape_comes_back_from_a_jump(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.locator('[data-var="4"]').click()
    assert step(page) == "9 / 12"
    back = page.get_by_role("button", name="back to where you were")
    expect(back).to_be_hidden()
    page.locator(".entry[data-step='10']").first.click()
    assert step(page) == "11 / 12"
    page.locator(".entry[data-step='5']").first.click()
    assert step(page) == "6 / 12"
    focus(page)
    page.keyboard.press("Escape")
    assert step(page) == "11 / 12"
    back.click()
    assert step(page) == "9 / 12"
    expect(page.locator(".pane:visible .ask")).to_contain_text("Why is γ known later?")
    focus(page)
    page.keyboard.press("Shift+Backspace")
    assert step(page) == "11 / 12"
    page.keyboard.press("Backspace")
    assert step(page) == "9 / 12"


def test_w_tells_why_the_current_step_could_happen(open_view: Opener) -> None:
    page = open_view(WAITING)
    focus(page)
    page.keyboard.press("w")
    expect(page.locator(".pane:visible .ask")).to_have_text("What does this step depend on?")
    steps = page.locator(".pane:visible .entry .at").all_inner_texts()
    assert steps[0] == "9"
    assert "7" in steps
    assert steps == sorted(steps, key=int, reverse=True)


def test_slash_finds_and_escape_closes(open_view: Opener) -> None:
    page = open_view(WAITING)
    focus(page)
    page.keyboard.press("/")
    page.keyboard.type("add")
    expect(page.locator(".hits")).to_have_text("1 match")
    expect(page.locator(".row.is-match")).to_contain_text("add(%0, %a)")
    assert step(page) == "9 / 12"
    page.keyboard.press("Escape")
    expect(page.locator(".find")).to_be_hidden()
    expect(page.locator(".row.is-match")).to_have_count(0)


def test_a_relation_tells_its_story(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.locator('[data-rel="1"]').click()
    expect(page.locator(".pane:visible .ask")).to_have_text("What happened to add: γ = β ⊔ α?")
    assert page.locator(".pane:visible .entry .at").all_inner_texts() == ["4", "8", "10", "11"]
    again = open_view(WAITING, fragment=state_of(page))
    expect(again.locator(".pane:visible .soft").first).to_have_text("After this step: waiting.")


def test_stepping_on_asks_about_the_steps_again(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.locator('[data-var="4"]').click()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".pane:visible .ask")).to_have_text("What does this step depend on?")


def test_help_lists_the_keys_and_gives_the_focus_back(open_view: Opener) -> None:
    page = open_view(WAITING)
    focus(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("why this type is known")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(rx(page)).to_be_focused()


def test_the_page_hears_only_the_keys_that_are_its_own(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.evaluate("window.heard = []; addEventListener('keydown', (e) => heard.push(e.key))")
    focus(page)
    for key in ["ArrowRight", "/", "Escape", "j"]:
        page.keyboard.press(key)
    assert page.evaluate("heard") == ["j"]


def test_x_folds_the_block_and_the_step_inside_marks_its_first_line(open_view: Opener) -> None:
    page = open_view(WAITING, fragment="#rx-test:step=3&row=1")
    page.locator(".row[data-row='1']").focus()
    page.keyboard.press("x")
    expect(page.locator(".row")).to_have_count(6)
    expect(page.locator(".row.is-now")).to_have_attribute("data-row", "1")


# --- the mouse -------------------------------------------------------------------------------------


def test_dragging_the_scrubber_seeks(open_view: Opener) -> None:
    page = open_view(LARGE)
    box = page.get_by_role("slider").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 12, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, y, steps=8)
    page.mouse.up()
    at, count = (int(part) for part in step(page).split(" / "))
    assert abs(at / count - 0.5) < 0.02
    expect(page.locator(".row.is-now")).to_be_in_viewport()


def test_hovering_a_variable_lights_its_class_its_relations_and_its_tokens(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.locator('.chip[data-var="3"]').hover()
    linked = page.locator(".row.is-linked").evaluate_all("rows => rows.map((row) => row.dataset.row)")
    assert linked == ["2", "3", "5"]
    assert page.locator(".wire.lit").count() >= 3
    lit = page.locator("[data-ref].is-lit").all_inner_texts()
    assert set(lit) == {"%a", "%0", "%1"}
    page.mouse.move(2, 2)
    expect(page.locator(".is-lit")).to_have_count(0)


def test_a_name_in_the_sentence_lights_its_variable(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.locator(".say code", has_text="ε").hover()
    linked = page.locator(".row.is-linked").evaluate_all("rows => rows.map((row) => row.dataset.row)")
    assert linked == ["2", "5"], "its class, and the relation that mentions it"


def test_play_runs_to_the_end_and_stops(open_view: Opener) -> None:
    page = open_view(WAITING, fragment="#rx-test:step=10")
    page.get_by_role("button", name="play (space)").click()
    expect(page.locator(".count")).to_have_text("12 / 12", timeout=6000)
    expect(page.get_by_role("button", name="play (space)")).to_be_visible(timeout=4000)


def test_the_legend_goes_to_the_next_mark(open_view: Opener) -> None:
    page = open_view(WAITING, fragment="#rx-test:step=1")
    page.locator(".legend button", has_text="requeue").click()
    assert step(page) == "10 / 12"


def test_the_classes_are_drawn_as_a_forest(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.get_by_role("tab", name="Classes").click()
    captions = page.locator(".class figcaption").all_inner_texts()
    assert captions == ["(3, 4) f32 · 3 variables", "not known · 2 variables"]
    root = page.locator(".tree > .branch > .leaf").first
    expect(root).to_have_text("α")
    assert page.locator(".tree").first.locator(".below > .branch > .leaf").all_inner_texts() == ["β", "ε"]


def test_the_constraint_graph_joins_relations_to_classes(open_view: Opener) -> None:
    page = open_view(WAITING)
    labels = page.locator(".bipartite .node").evaluate_all(
        "nodes => nodes.map((n) => n.getAttribute('aria-label'))"
    )
    assert labels == [
        "%x : (3, 4) f32, known", "φ : fn (α) → γ, partly known",
        "α β ε : (3, 4) f32, known", "γ δ, not known",
        "tanh, relation, done", "add, relation, waiting", "exp, relation, done",
    ]  # fmt: skip
    assert page.locator(".bipartite .wire").count() == 7
    page.locator(".bipartite .node", has_text="γ δ").click()
    expect(page.locator(".pane:visible .ask")).to_contain_text("Why is γ known later? From step 11 on")
    assert step(page) == "9 / 12"


# --- a failing program -----------------------------------------------------------------------------


def test_a_failing_program_ends_on_the_conflict(open_view: Opener) -> None:
    page = open_view(FAILING)
    conflict = page.get_by_role("group", name="conflict")
    expect(conflict).to_be_visible()
    assert conflict.locator(".type code").all_inner_texts() == ["784", "128"]
    expect(conflict).to_contain_text("Transpose it: nn.dense(%x, transpose(%w), units=128)")
    assert page.locator(".row.is-a").evaluate_all("rows => rows.map((r) => r.dataset.row)") == ["1", "4"]
    assert page.locator(".row.is-b").evaluate_all("rows => rows.map((r) => r.dataset.row)") == ["2", "4"]
    expect(page.locator(".chip.rel.refused")).to_contain_text("✕ ")


def test_the_blame_path_leads_back_to_the_steps(open_view: Opener) -> None:
    page = open_view(FAILING)
    page.locator(".side-b .entry").first.click()
    assert step(page) == "2 / 6"
    expect(page.locator(".row.is-now")).to_contain_text("%w")
    expect(page.get_by_role("group", name="conflict")).to_be_hidden()


# --- a large program -------------------------------------------------------------------------------


def test_a_step_of_a_large_run_touches_only_the_rows_that_it_concerns(open_view: Opener) -> None:
    page = open_view(LARGE, fragment="#rx-test:step=400")
    changed = page.evaluate(
        """async () => {
          const rx = document.querySelector(".relay-explorer").shadowRoot.querySelector(".rx");
          let changed = 0;
          const inRows = ({ target }) => target.closest?.(".rows") && !target.closest("svg");
          const watch = new MutationObserver((list) => { changed += list.filter(inRows).length; });
          watch.observe(rx, { subtree: true, childList: true, attributes: true, characterData: true });
          for (let i = 0; i < 60; i++) {
            rx.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
            await new Promise(requestAnimationFrame);
          }
          watch.disconnect();
          return changed;
        }"""
    )
    assert 0 < changed / 60 < 40


def test_filtering_by_operator_narrows_rows_and_steps(open_view: Opener) -> None:
    page = open_view(LARGE)
    page.get_by_label("find in the program").fill("add")
    page.get_by_label("where to search").select_option("op")
    expect(page.locator(".hits")).to_have_text("35 matches")
    page.get_by_label("only these rows").check()
    expect(page.locator(".row")).to_have_count(35)
    focus(page)
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".row.is-now .code")).to_contain_text("add(")


def test_a_long_list_of_parameters_is_folded_until_it_is_opened(open_view: Opener) -> None:
    page = open_view(LARGE)  # at its last step, at the end of the program
    page.locator(".scroller").first.evaluate("(el) => el.scrollTo(0, 0)")
    expect(page.locator(".row[data-row='1']")).to_contain_text("143 more")
    expect(page.locator(".row[data-row='2']")).to_have_count(0)
    assert "fold" not in state_of(page)
    page.locator(".row[data-row='1'] .twist").click()
    expect(page.locator(".row[data-row='2']")).to_contain_text("%p")
    rows = page.locator("[role=treegrid]").get_attribute("aria-rowcount")
    again = open_view(LARGE, fragment=state_of(page))
    expect(again.locator("[role=treegrid]")).to_have_attribute("aria-rowcount", rows or "")
