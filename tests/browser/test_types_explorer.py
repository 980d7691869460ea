"""The type-inference explorer in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.pages import ORIGIN, Opener, Site, page_html

pytestmark = pytest.mark.browser

WAITING = "learner.waiting()"
FAILING = "learner.failing()"
HOSTILE = "learner.hostile()"
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
    assert step(page) == "11 / 12"
    expect(page.get_by_role("tab", name="Why", selected=True)).to_be_visible()
    expect(page.locator(".pane:visible .ask")).to_have_text("Why is γ known? Since step 11:")


def test_escape_comes_back_from_a_jump(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.locator('[data-var="4"]').click()
    assert step(page) == "11 / 12"
    page.locator(".entry[data-step='5']").first.click()
    assert step(page) == "6 / 12"
    focus(page)
    page.keyboard.press("Escape")
    assert step(page) == "11 / 12"
    page.keyboard.press("Escape")
    assert step(page) == "9 / 12"


def test_w_tells_why_the_current_step_could_happen(open_view: Opener) -> None:
    page = open_view(WAITING)
    focus(page)
    page.keyboard.press("w")
    expect(page.locator(".pane:visible .ask")).to_have_text("Why could this step happen?")
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
    expect(page.locator(".pane:visible .ask")).to_have_text("Why could this step happen?")


def test_help_lists_the_keys_and_gives_the_focus_back(open_view: Opener) -> None:
    page = open_view(WAITING)
    focus(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("why is this known")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(rx(page)).to_be_focused()


def test_the_page_hears_only_the_keys_that_are_its_own(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.evaluate("window.heard = []; addEventListener('keydown', (e) => heard.push(e.key))")
    focus(page)
    for key in ["ArrowRight", "/", "Escape", "x"]:
        page.keyboard.press(key)
    assert page.evaluate("heard") == ["x"]


def test_f_folds_the_block_and_the_step_inside_marks_its_first_line(open_view: Opener) -> None:
    page = open_view(WAITING, fragment="#rx-test:step=3&row=1")
    page.locator(".row[data-row='1']").focus()
    page.keyboard.press("f")
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
        "%x : (3, 4) f32, known", "φ : fn (α) → γ, known in part",
        "α β ε : (3, 4) f32, known", "γ δ, not known",
        "tanh, relation, done", "add, relation, waiting", "exp, relation, done",
    ]  # fmt: skip
    assert page.locator(".bipartite .wire").count() == 7
    page.locator(".bipartite .node", has_text="γ δ").click()
    assert step(page) == "11 / 12"


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


# --- links -----------------------------------------------------------------------------------------


def test_a_link_restores_the_exact_state(open_view: Opener) -> None:
    page = open_view(LARGE)
    focus(page)
    page.keyboard.press("/")
    page.keyboard.type("τ40")
    page.get_by_label("where to look").select_option("var")
    page.get_by_label("only these rows").check()
    page.locator('[data-var="48"]:visible, .row .chip.var:visible').first.click()
    fragment = state_of(page)
    before = (step(page), page.locator(".row").count(), page.locator(".ask").inner_text())
    again = open_view(LARGE, fragment=fragment)
    after = (step(again), again.locator(".row").count(), again.locator(".ask").inner_text())
    assert after == before
    assert state_of(again) == fragment


def test_the_link_button_offers_the_address(open_view: Opener) -> None:
    page = open_view(WAITING)
    focus(page)
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="link").click()
    assert page.get_by_role("dialog").get_by_label("link").input_value() == f"{ORIGIN}/#rx-test:step=8"


def test_following_a_link_within_the_page_moves_the_explorer(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.evaluate("location.hash = '#rx-test:step=4&pane=why'")
    expect(page.locator(".count")).to_have_text("4 / 12")
    expect(page.get_by_role("tab", name="Why", selected=True)).to_be_visible()


@pytest.mark.parametrize(
    "token",
    [
        "step=0",
        "step=-4",
        "step=1e9",
        "step=99999",
        "row=7777&sel=v99&fn=3&tab=zz&pane=__proto__",
        "fold=9.9.x",
        "%%%",
    ],
)
def test_a_damaged_link_still_opens_the_explorer(open_view: Opener, token: str) -> None:
    page = open_view(WAITING, fragment=f"#rx-test:{token}")
    assert re.fullmatch(r"\d+ / 12", step(page))
    expect(page.locator(".row.is-now")).to_have_count(1)


def test_in_a_notebook_the_link_is_a_token_and_the_address_is_left_alone(open_view: Opener) -> None:
    page = open_view(WAITING)
    page.evaluate(
        """async () => {
          const { default: widget } = await import("/relay_explorer/widgets/static/relay_explorer.js");
          const { waiting } = await import("/frontend/test/fixtures/learner.js");
          const values = { view: waiting(), state: "step=4" };
          window.model = {
            get: (k) => values[k], set: (k, v) => { values[k] = v; },
            save_changes() { window.saved = values.state; },
            on(event, fn) { (this.listeners ??= {})[event] = fn; }, off() {} };
          const el = document.createElement("div");
          el.id = "cell";
          document.body.append(el);
          window.cleanup = widget.render({ model, el });
        }"""
    )
    cell = page.locator("#cell")
    expect(cell.locator(".count")).to_have_text("4 / 12")
    cell.locator(".rx").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("window.saved === 'step=5'")
    assert page.evaluate("location.hash") == ""
    cell.get_by_role("button", name="link").click()
    assert page.get_by_label("token").input_value() == 'explore(…, state="step=5")'
    page.evaluate("model.set('state', 'step=2'); model.listeners['change:state']()")
    expect(cell.locator(".count")).to_have_text("2 / 12")
    page.evaluate("cleanup()")
    expect(cell.locator(".rx")).to_have_count(0)


# --- a large program -------------------------------------------------------------------------------


def test_a_run_of_resnet_50s_size_steps_smoothly(open_view: Opener) -> None:
    page = open_view(LARGE, fragment="#rx-test:step=400")
    spent: dict[str, Any] = page.evaluate(
        """async () => {
          const root = document.querySelector(".relay-explorer").shadowRoot;
          const rx = root.querySelector(".rx");
          let changed = 0;
          const inRows = ({ target }) => target.closest?.(".rows") && !target.closest("svg");
          const watch = new MutationObserver((list) => { changed += list.filter(inRows).length; });
          watch.observe(rx, { subtree: true, childList: true, attributes: true, characterData: true });
          const times = [];
          for (let i = 0; i < 60; i++) {
            const from = performance.now();
            rx.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
            rx.getBoundingClientRect();
            times.push(performance.now() - from);
            await new Promise(requestAnimationFrame);
          }
          watch.disconnect();
          times.sort((a, b) => a - b);
          return { spent: times[15], changed: changed / 60 };
        }"""
    )
    # The lower quartile: on a machine that does other work too, it is what a step costs.
    assert spent["spent"] < 16
    assert spent["changed"] < 40, "a step touches the rows that it concerns, not all of them"


def test_filtering_by_operator_narrows_rows_and_steps(open_view: Opener) -> None:
    page = open_view(LARGE)
    page.get_by_label("find in the program").fill("add")
    page.get_by_label("where to look").select_option("op")
    expect(page.locator(".hits")).to_have_text("35 matches")
    page.get_by_label("only these rows").check()
    expect(page.locator(".row")).to_have_count(35)
    focus(page)
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".row.is-now .code")).to_contain_text("add(")


def test_a_long_list_of_parameters_is_folded_until_it_is_opened(open_view: Opener) -> None:
    page = open_view(LARGE)
    expect(page.locator(".row[data-row='1']")).to_contain_text("143 more")
    expect(page.locator(".row[data-row='2']")).to_have_count(0)
    assert "fold" not in state_of(page)
    page.locator(".row[data-row='1'] .twist").click()
    expect(page.locator(".row[data-row='2']")).to_contain_text("%p")
    again = open_view(LARGE, fragment=state_of(page))
    expect(again.locator(".row[data-row='2']")).to_have_count(1)


# --- phone, themes, motion -------------------------------------------------------------------------


def test_on_a_phone_columns_become_tabs_and_none_is_lost(open_view: Opener) -> None:
    page = open_view(WAITING, width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    tabs = page.get_by_role("tablist", name="what to show", exact=True).get_by_role("tab")
    assert tabs.all_inner_texts() == ["Program", "Types", "Relations", "Why", "Constraints", "Classes"]
    shown = {
        "Program": ".row .code",
        "Types": ".chip.var",
        "Relations": ".chip.rel",
        "Why": ".chain",
        "Constraints": ".bipartite",
        "Classes": ".forest",
    }
    for name, selector in shown.items():
        tabs.filter(has_text=re.compile(f"^{name}$")).tap()
        expect(page.locator(selector).locator("visible=true").first).to_be_visible()
    for name in ["Program", "Types", "Relations"]:
        tabs.filter(has_text=re.compile(f"^{name}$")).tap()
        expect(page.locator(".row .code").first).to_be_visible()


def test_the_phone_tab_is_part_of_the_link(open_view: Opener) -> None:
    page = open_view(WAITING, width=390, height=844)
    page.get_by_role("tab", name="Relations").tap()
    again = open_view(WAITING, width=390, height=844, fragment=state_of(page))
    expect(again.get_by_role("tab", name="Relations", selected=True)).to_be_visible()


@pytest.mark.parametrize(
    ("theme", "system", "dark"),
    [("", "dark", True), ("", "light", False), ("dark", "light", True), ("light", "dark", False)],
)
def test_the_page_decides_the_theme_then_the_system(
    open_view: Opener, theme: str, system: str, dark: bool
) -> None:
    page = open_view(WAITING, theme=theme, system=system)
    paper = rx(page).evaluate("e => getComputedStyle(e).backgroundColor")
    assert paper == ("rgb(23, 24, 26)" if dark else "rgb(255, 255, 255)")


def test_the_theme_follows_the_page_when_it_changes(open_view: Opener) -> None:
    page = open_view(WAITING, theme="light")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    expect(rx(page)).to_have_attribute("data-theme", "dark")
    page.evaluate(
        "document.documentElement.removeAttribute('data-theme'); document.body.dataset.jpThemeLight = 'true'"
    )
    expect(rx(page)).to_have_attribute("data-theme", "light")


def test_less_motion_means_none(open_view: Opener) -> None:
    page = open_view(WAITING, motion="reduce")
    moving = page.evaluate(
        """() => [...document.querySelector(".relay-explorer").shadowRoot.querySelectorAll("*")]
          .map((element) => getComputedStyle(element))
          .filter((s) => parseFloat(s.transitionDuration) > 0 || s.animationName !== "none").length"""
    )
    assert moving == 0


def test_the_page_s_own_styles_do_not_reach_the_explorer(open_view: Opener) -> None:
    page = open_view(WAITING)
    before = rx(page).bounding_box()
    page.add_style_tag(
        content="""
        body { letter-spacing: 9px; text-transform: uppercase; white-space: pre; line-height: 4;
               font-size: 40px; text-align: right; word-spacing: 3em; }
        button, svg, code, .row { display: none !important; } div { padding: 3px; } h1 { display: none; }
        .relay-explorer { padding: 0 !important; }"""
    )
    page.evaluate("document.querySelector('main').style.padding = '0'")
    after = rx(page).bounding_box()
    assert before is not None
    assert after is not None
    assert (after["width"], after["height"]) == (before["width"], before["height"])
    expect(page.locator(".row").first).to_be_visible()


# --- assistive technology --------------------------------------------------------------------------


def axe(page: Page, source: str) -> list[str]:
    """What axe-core has against the explorer, as `rule: target`."""
    page.add_script_tag(url=source)
    found: list[str] = page.evaluate(
        """async () => {
          const host = document.querySelector(".relay-explorer");
          const { violations } = await axe.run(host, { resultTypes: ["violations"] });
          return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`));
        }"""
    )
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("view", "width"), [(WAITING, 1280), (FAILING, 1280), (WAITING, 390)])
def test_axe_finds_nothing(open_view: Opener, axe_core: str, view: str, width: int, theme: str) -> None:
    page = open_view(view, width=width, theme=theme)
    assert axe(page, axe_core) == []


def test_each_step_is_told_to_screen_readers(open_view: Opener) -> None:
    page = open_view(WAITING)
    focus(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator("[aria-live=polite]").first).to_have_text(
        re.compile(r"^Step 10 of 12\. requeue\. The relation that waits")
    )
    expect(page.get_by_role("slider")).to_have_attribute(
        "aria-valuetext", re.compile("^step 10 of 12: requeue")
    )
    expect(page.get_by_role("region", name="Type inference, step by step: let and broadcast")).to_have_count(
        1
    )


def test_the_rows_are_a_grid_with_counts(open_view: Opener) -> None:
    page = open_view("large.large(2100)")
    grid = page.get_by_role("treegrid")
    total = int(grid.get_attribute("aria-rowcount") or 0)
    assert total == 2104, "the header, the function's two lines, its folded parameters, 2,100 bindings"
    assert page.locator(".row").count() < 120, "rows outside the window are not in the page"
    focus(page)
    page.keyboard.press("Home")
    page.keyboard.press("End")
    last = page.locator(".row.is-now")
    expect(last).to_be_in_viewport()
    assert int(last.get_attribute("aria-rowindex") or 0) == total


# --- data that would do harm, or is not data --------------------------------------------------------


def test_names_that_are_markup_stay_text(open_view: Opener) -> None:
    page = open_view(HOSTILE)
    for name in ["Why", "Constraints", "Classes"]:
        page.get_by_role("tab", name=name).last.click()
    for chip in page.locator(".chip:visible").all():
        chip.click()
    page.locator(".btn[aria-label^='first']").click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    root = "document.querySelector('.relay-explorer').shadowRoot"
    assert page.evaluate(f"{root}.querySelectorAll('img, script, iframe, [onerror]').length") == 0
    expect(page.locator(".say")).to_contain_text("<script>window.hacked=1</script>")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("view.version = 2", "This view has version 2; this page draws version 1"),
        ("view.view = 'fusion'", "This page cannot draw a view called “fusion”."),
        ("view.format = 'other'", "This is not a view of relay_explorer."),
        ("view.vars = null", "This view cannot be drawn: its data is damaged (vars)."),
        ("view.steps[3] = 7", "its data is damaged (step 4)."),
        ("view.steps[5][4].push(['u', 0, 999])", "its data is damaged (step 6)."),
        ("view.rels[1][3] = [77]", "its data is damaged (relation 1)."),
        ("view.program.rows[2][4] = 1e6", "its data is damaged (row 3)."),
        ("view.strings.length = 5", "its data is damaged (row 1)."),
    ],
)
def test_what_cannot_be_drawn_says_so_above_the_picture(browser: Browser, change: str, said: str) -> None:
    page = browser.new_page()
    site = Site(page_html(f"(() => {{ const view = {WAITING}; {change}; return view; }})()", "", 1280))
    site.watch(page)
    page.goto(f"{ORIGIN}/")
    page.wait_for_function("window.ready === true")
    expect(page.get_by_role("alert")).to_contain_text(said)
    expect(page.get_by_text("the static picture")).to_be_visible()
    page.close()


def test_an_inference_without_steps_is_an_empty_one(open_view: Opener) -> None:
    nothing = "{ steps: [], vars: [], rels: [], start: null, conflict: null }"
    page = open_view(f"Object.assign({WAITING}, {nothing})")
    expect(page.locator(".say")).to_have_text("No step of this inference was recorded.")
    expect(page.locator(".row")).to_have_count(9)
