"""What every explorer has: links, phone, themes, accessibility, and what damaged data ends in."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.pages import ORIGIN, ROOT, Opener, Site, page_html

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


# --- links -----------------------------------------------------------------------------------------


def test_a_link_restores_the_exact_state(open_view: Opener) -> None:
    page = open_view(LARGE)
    focus(page)
    page.keyboard.press("/")
    page.keyboard.type("τ40")
    page.get_by_label("where to search").select_option("var")
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
        chip.dispatch_event("click")  # the strip with the whole of the selected row may lie over it
    page.locator(".btn[aria-label^='first']").click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    root = "document.querySelector('.relay-explorer').shadowRoot"
    assert page.evaluate(f"{root}.querySelectorAll('img, script, iframe, [onerror]').length") == 0
    expect(page.locator(".say")).to_contain_text("<script>window.hacked=1</script>")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("view.version = 2", "This view has format version 2, and this page draws version 1"),
        ("view.view = 'horoscope'", "This page cannot draw a view called “horoscope”."),
        ("view.format = 'other'", "This is not a view that relay_explorer generated."),
        ("view.vars = null", "This view cannot be drawn: its data is damaged (variables)."),
        ("view.steps[3] = 7", "its data is damaged (steps[3])."),
        ("view.steps[5][4].push(['u', 0, 999])", "its data is damaged (steps[5].changes[3].second)."),
        ("view.rels[1][3] = [77]", "its data is damaged (relations[1].variables[0])."),
        ("view.program.rows[2][4] = 1e6", "its data is damaged (rows[2].end)."),
        ("view.strings.length = 5", "its data is damaged (rows[0].tokens[5].text)."),
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


REFERENCE = """async ([view, operators]) => {
  const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
  const host = document.createElement("div");
  document.querySelector("main").append(host);
  mount(host, view, { operators });
  return [...host.shadowRoot.querySelectorAll("a.op")].map((a) => [a.textContent, a.getAttribute("href")]);
}"""


@pytest.mark.parametrize("kind", ["pipeline_small", "fusion_apart", "sharing_shared"])
def test_operators_lead_to_where_they_are_described(open_view: Opener, kind: str) -> None:
    view = json.loads((ROOT / f"frontend/test/data/{kind}.json").read_text("utf-8"))
    page = open_view(view)
    expect(page.locator("a.op")).to_have_count(0)
    places = {
        "exp": "reference/operators_arithmetic.html#op-exp",
        "add": "reference/operators_arithmetic.html#op-add",
        "tanh": "javascript:alert(1)//reference/operators_arithmetic.html#op-tanh",
        "nn.dense": "https://elsewhere.test/reference/operators_matmul.html#op-nn-dense",
    }
    found = page.evaluate(REFERENCE, [view, places])
    assert found
    assert all(places[name] == href and name in ("exp", "add") for name, href in found)


def test_a_link_of_a_row_is_followed_by_the_keyboard(open_view: Opener) -> None:
    view = json.loads((ROOT / "frontend/test/data/pipeline_small.json").read_text("utf-8"))
    page = open_view(view)
    page.evaluate(REFERENCE, [view, {"exp": "reference/operators_arithmetic.html#op-exp"}])
    link = page.locator("a.op").first
    link.evaluate("(a) => a.setAttribute('href', '#followed')")
    page.locator(".pipeline-grid .row").filter(has=page.locator("a.op")).first.click(
        position={"x": 40, "y": 8}
    )
    expect(link).to_have_attribute("tabindex", "0")
    link.press("Enter")
    assert page.evaluate("location.hash") == "#followed"


def test_code_has_no_ligatures(open_view: Opener) -> None:
    """Else the reader sees an arrow where the program has `->`."""
    page = open_view(WAITING)
    code = page.locator(".cell.code").first
    assert code.evaluate("(node) => getComputedStyle(node).fontVariantLigatures") == "none"
