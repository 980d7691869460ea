"""The gradient explorer in a real browser, on samples that the transformation made."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import ROOT, Opener

pytestmark = pytest.mark.browser


#: The first rule that uses a value of the forward pass.
RULE = "#rx-test:step=4"


@cache
def text_of(name: str) -> str:
    return (ROOT / f"frontend/test/data/gradient_{name}.json").read_text(encoding="utf-8")


def view_of(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(text_of(name))
    return data


def rx(page: Page) -> Locator:
    return page.locator(".relay-explorer .rx")


def press(page: Page, *keys: str) -> None:
    rx(page).focus()
    for key in keys:
        page.keyboard.press(key)


def row(page: Page, text: str) -> Locator:
    """The row whose program text has `text` in it."""
    return page.locator(".gradient-grid .row").filter(has=page.locator(".cell.code", has_text=text))


def say(page: Page) -> str:
    return page.locator(".say").inner_text()


def there(page: Page) -> list[str]:
    """The lines of the backward pass that are there, from the top."""
    return [" ".join(t.split()) for t in page.locator(".c-added .line:not(.later)").all_inner_texts()]


def test_it_opens_at_the_result_and_a_rule_uses_what_was_kept(open_view: Opener) -> None:
    page = open_view(view_of("layer"))
    assert page.locator(".where").inner_text() == "Step 2 of 14: the backward pass begins at the result."
    press(page, "ArrowRight", "ArrowRight")
    assert "%q multiply in reverse: it receives %d_q and passes %g2 and %g3 to %e subtract" in say(page)
    assert "ops/binary/arithmetic.py" in say(page)
    heads = page.locator(".grid-head [role=columnheader]").all_inner_texts()
    assert heads == ["forward pass ↓", "uses", "stored", "derivative", "backward pass ↑"]
    expect(page.locator(".row.is-now .cell.code")).to_have_text("let %q = multiply(%e, %e);")
    expect(page.locator(".row.is-target .cell.code")).to_have_text("let %e = subtract(%y, %t);")
    assert [t.split(" = ")[0] for t in there(page)] == ["%g2", "%g3", "1 %d_loss", "%g", "%g1", "%d_q"]
    expect(page.locator(".foot .totals")).to_contain_text("12 B of 24 B")
    expect(page.locator(".foot .totals")).to_contain_text("backward 17 operators")


def test_the_backward_pass_fills_from_the_bottom(open_view: Opener) -> None:
    page = open_view(view_of("layer"))
    press(page, "Home")
    assert there(page) == []
    expect(page.locator(".gradient-wires .use.gone")).to_have_count(0)
    press(page, "End")
    assert len(there(page)) == len(view_of("layer")["lines"])
    expect(page.locator(".gradient-wires .use.hot")).to_have_count(0)
    expect(page.locator(".gradient-wires .use.gone")).to_have_count(5)
    press(page, "ArrowLeft")
    assert "%t is a parameter" in say(page)


def test_a_value_is_held_used_and_freed(open_view: Opener) -> None:
    page = open_view(view_of("layer"), fragment=RULE)
    cell = row(page, "let %e").locator(".c-kept")
    expect(cell).to_have_text("■12 B, used now")
    press(page, "ArrowLeft")
    expect(cell).to_have_text("■12 B, stored")
    press(page, "ArrowRight", "ArrowRight")
    expect(cell).to_have_text("□12 B, freed")
    expect(row(page, "let %q").locator(".c-kept")).to_have_text("shape")
    expect(row(page, "%w:").locator(".c-kept")).to_have_text("given")


def test_the_use_that_is_gone_back_is_marked_with_its_head(open_view: Opener) -> None:
    page = open_view(view_of("fork"))
    press(page, "s")
    assert "was used twice, by %c sigmoid and %b multiply" in say(page)
    expect(page.locator(".legend")).to_contain_text("sum 1")
    press(page, "ArrowLeft")
    expect(page.locator(".gradient-wires .use.hot")).to_have_count(1)
    expect(page.locator(".gradient-wires .head")).to_have_count(1)
    expect(page.locator(".gradient-wires .dot.asked")).to_have_count(1)


def test_the_panes(open_view: Opener) -> None:
    page = open_view(view_of("layer"), fragment=RULE)
    press(page, "w")
    why = page.locator(".pane:visible")
    expect(why).to_contain_text("Forward values that it uses")
    expect(why).to_contain_text("stored, 12 B")
    press(page, "k")
    kept = page.locator(".kept-list tbody")
    expect(kept).to_have_count(2)
    expect(kept.nth(0)).to_contain_text("last needed by %y tanh")
    expect(kept.nth(1)).to_have_class("now")
    kept.nth(0).locator("button").click()
    expect(page.locator(".row[aria-selected=true] .cell.code")).to_have_text("let %y = tanh(%z);")


def test_the_two_graphs_and_what_is_kept_between_them(open_view: Opener) -> None:
    page = open_view(view_of("layer"), fragment=RULE)
    graph = page.locator(".pane:visible")
    expect(graph.locator(".box.forward")).to_have_text(
        ["%h dense", "%z bias_add", "%y tanh", "%e subtract", "%q multiply", "%loss sum"]
    )
    expect(graph.locator(".box.back")).to_have_count(6)
    expect(graph.locator(".box.now")).to_have_count(2)
    expect(graph.locator(".edge.back.hot")).to_have_count(2)  # the line and its head
    expect(graph.locator(".edge.keeps.now")).to_have_count(2)
    press(page, "End")
    expect(graph.locator(".edge.keeps.freed")).to_have_count(4)
    expect(graph.locator(".box.later")).to_have_count(0)
    graph.get_by_role("button", name="multiply ×2, subtract: the backward pass through %y tanh").click()
    expect(page.locator(".row[aria-selected=true] .cell.code")).to_have_text("let %y = tanh(%z);")


def test_names_light_up_wherever_they_are(open_view: Opener) -> None:
    page = open_view(view_of("layer"), fragment=RULE)
    page.locator(".say .named", has_text="%d_q").hover()
    lit = page.locator(".c-whole .is-lit, .c-added .is-lit").all_inner_texts()
    assert [" ".join(text.split()) for text in lit] == [
        "%d_q", "%d_q", "%d_q", "%d_q = broadcast_to_like(%g1, %q)", "%d_q",
    ]  # fmt: skip
    page.locator(".say .named", has_text="%e subtract").click()
    expect(page.locator(".row[aria-selected=true] .cell.code")).to_have_text("let %e = subtract(%y, %t);")


def test_a_row_leads_to_its_steps_and_escape_comes_back(open_view: Opener) -> None:
    page = open_view(view_of("layer"), fragment=RULE)
    row(page, "let %e").dblclick()
    assert "was used twice" in say(page)
    page.keyboard.press("Enter")
    assert "%e subtract in reverse" in say(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert "%q multiply in reverse" in say(page)
    page.wait_for_timeout(350)
    assert str(page.evaluate("location.hash")).startswith("#rx-test:step=4")


def test_finding(open_view: Opener) -> None:
    page = open_view(view_of("lenet"))
    press(page, "/")
    page.keyboard.type("max_pool2d")
    page.get_by_label("where to search").select_option("op")
    expect(page.locator(".hits")).to_have_text("2 matches")
    page.get_by_label("where to search").select_option("back")
    expect(page.locator(".hits")).to_have_text("2 matches")
    page.get_by_label("only these rows").check()
    expect(page.locator(".gradient-grid .row")).to_have_count(2)


def test_on_a_phone_the_lines_stand_under_their_row(open_view: Opener) -> None:
    page = open_view(view_of("layer"), fragment=RULE, width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= 390")
    code, line = row(page, "let %q").locator(".cell.code"), row(page, "let %q").locator(".line").first
    above, below = code.bounding_box(), line.bounding_box()
    assert above is not None
    assert below is not None
    assert below["y"] >= above["y"] + above["height"] - 1
    page.get_by_role("tab", name="Stored").click()
    expect(row(page, "let %e").locator(".c-whole")).to_have_text("%d_e")
    page.get_by_role("tab", name="Uses").click()
    expect(page.locator(".gradient-wires .dot")).to_have_count(6)
    page.get_by_role("tab", name="Why").click()
    expect(page.locator(".pane:visible")).to_contain_text("Where the derivative goes")


def test_damage_is_refused_with_its_place(open_view: Opener) -> None:
    left = open_view(view_of("layer")).evaluate(
        """async (view) => {
          const { mount } = await import("/relay_explorer/widgets/static/relay_explorer.js");
          view.steps[3][4] = [99];
          try { mount(document.createElement("div"), view); } catch (error) { return error.message; }
        }""",
        view_of("layer"),
    )
    assert "damaged (steps[3].lines[0])" in left


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "width", "state"), [("layer", 1280, ""), ("layer", 390, ""), ("parts", 800, "step=6&pane=kept")]
)
def test_axe_finds_nothing(
    open_view: Opener, axe_core: str, name: str, width: int, state: str, theme: str
) -> None:
    fragment = f"#rx-test:{state}" if state else ""
    page = open_view(view_of(name), width=width, theme=theme, motion="reduce", fragment=fragment)
    page.add_script_tag(url=axe_core)
    found = page.evaluate(
        """async () => {
          const host = document.querySelector(".relay-explorer");
          const { violations } = await axe.run(host, { resultTypes: ["violations"] });
          return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`));
        }"""
    )
    assert found == []


@pytest.mark.parametrize("name", ["parts", "choice"])
def test_every_step_and_every_row_can_be_walked(open_view: Opener, name: str) -> None:
    view = view_of(name)
    page = open_view(view)
    press(page, "Home")
    for number in range(1, len(view["steps"]) + 1):
        assert page.locator(".count").inner_text() == f"{number} / {len(view['steps'])}"
        page.keyboard.press("ArrowRight")
    for _ in view["program"]["rows"]:
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert say(page)
