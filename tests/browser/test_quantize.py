"""The quantization explorer in a real browser, on samples that the passes made."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explorers import Samples, press, refusal, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

view_of = Samples("quantize")


def say(page: Page) -> str:
    return " ".join(page.locator(".say").inner_text().split())


def row(page: Page, text: str) -> Locator:
    """The row whose program text has `text` in it."""
    return page.locator(".quantize-grid .row").filter(has=page.locator(".cell.code", has_text=text)).first


def columns(page: Page) -> list[str]:
    return page.locator(".quantize-grid .grid-head [role=columnheader]").all_inner_texts()


def test_the_first_frame_is_a_range_that_calibration_found(open_view: Opener) -> None:
    page = open_view(view_of("network"))
    assert say(page).startswith(
        "%3 lies between 0 and 9.41; the range becomes ±8.35 (KL divergence). Scale 0.0658"
    )
    assert "2 of 576 values will be clipped" in say(page)
    expect(page.locator(".q-phases .shot[aria-current=step]")).to_contain_text("calibrate")
    assert columns(page) == ["float program", "quantizer", "observed values", "scale"]
    now = page.locator(".row.is-now")
    expect(now.locator(".cell.code")).to_contain_text("%3 = annotation.stop_fusion")
    expect(now.locator(".q-small .limit")).to_have_count(2)
    expect(now.locator(".q-small .bar.out")).not_to_have_count(0)
    expect(now.locator(".c-quantizer")).to_contain_text("int8")
    expect(page.locator(".pane:visible .q-large")).to_have_attribute(
        "aria-label", re.compile("values from 0 to 9.41; range -8.35 to 8.35, 2 of 576 outside")
    )


def test_the_phases_lead_to_their_steps(open_view: Opener) -> None:
    page = open_view(view_of("layers"))
    page.locator(".q-phases").get_by_role("button", name="realize").click()
    assert columns(page) == ["float program", "quantizer", "integer program"]
    assert "%x is quantized" in say(page)
    press(page, "p")
    assert columns(page)[-1] == "SQNR"
    assert "Most noise is added at %x" in say(page)
    press(page, "P", "P", "P")
    expect(page.locator(".q-phases .shot[aria-current=step]")).to_contain_text("annotate")
    press(page, "Home")
    assert "4 calls in float32" in say(page)
    expect(page.locator(".c-quantizer .q-chip")).to_have_count(0)


def test_integer_lines_fill_in_beside_the_float_lines(open_view: Opener) -> None:
    page = open_view(view_of("layers"), fragment="#rx-test:step=8")
    lines = row(page, "let %c").locator(".q-int")
    expect(lines).to_have_count(2)
    expect(lines.nth(0)).to_have_class(re.compile("later"))
    press(page, "ArrowRight", "ArrowRight", "ArrowRight")
    assert "%c is requantized: from per-channel scales (6.18e-05 …) to 0.0101" in say(page)
    expect(lines.nth(0)).to_have_class(re.compile("there"))
    expect(lines.nth(1)).to_have_class(re.compile("now"))
    expect(lines.nth(1)).to_contain_text("requantize")
    expect(lines.nth(1)).to_contain_text("qnn.requantize")


def test_what_vanished_is_a_ghost(open_view: Opener) -> None:
    page = open_view(view_of("network"), fragment="#rx-test:step=16")
    ghost = row(page, "%2 = annotation.cast_hint")
    expect(ghost).to_have_class(re.compile("is-ghost"))
    expect(ghost.locator(".c-becomes")).to_have_text("no counterpart")


def test_the_line_that_adds_most_noise_says_why(open_view: Opener) -> None:
    page = open_view(view_of("network"))
    press(page, "e")
    assert "Most noise is added at %3 annotation.stop_fusion" in say(page)
    assert "clipped" in say(page)
    expect(page.locator(".row.is-worst .c-error")).to_contain_text("27.0 dB")
    expect(page.locator(".row.is-worst .q-worst")).to_be_visible()
    expect(page.locator(".pane:visible")).to_contain_text("Error (simulated)")
    press(page, "ArrowRight")
    assert "If %0 nn.conv2d were quantized too" in say(page)
    expect(row(page, "%0 = nn.conv2d").locator(".c-error")).to_have_text("if quantized 29.6 dB")
    press(page, "Escape")
    assert say(page).startswith("%3 lies between")


def test_what_if_answers_beforehand_and_is_in_the_address(open_view: Opener) -> None:
    page = open_view(view_of("layers"))
    press(page, "i")
    bits = page.locator(".q-axis", has_text="bits")
    expect(bits.get_by_role("button", pressed=True)).to_have_text(re.compile("846.7 dB"))
    bits.get_by_role("button", name=re.compile("^4")).click()
    expect(page.locator(".what-if")).to_contain_text("bits = 4 → ")
    expect(page.locator(".what-if")).to_contain_text("instead of 46.7 dB")
    expect(row(page, "%x: Tensor").locator(".c-quantizer")).to_contain_text("int4")
    expect(row(page, "let %d").locator(".c-error .q-meter b")).to_have_count(1)
    assert columns(page)[-1] == "SQNR"
    address = state_of(page)
    assert "if=0.1.1.0.0" in address
    again = open_view(view_of("layers"), fragment=address)
    expect(again.locator(".what-if")).to_contain_text("bits = 4 → ")
    again.locator(".what-if").get_by_role("button", name="back").click()
    expect(again.locator(".what-if")).to_be_hidden()
    assert "if=" not in state_of(again)


def test_what_is_not_possible_says_why(open_view: Opener) -> None:
    page = open_view(view_of("layers"), fragment="#rx-test:pane=whatif&if=2.1.1.0.0")
    method = page.locator(".q-axis", has_text="calibration of activations")
    expect(method.get_by_role("button", name="KL divergence")).to_contain_text("not possible")
    method.get_by_role("button", name="KL divergence").click()
    expect(page.locator(".q-refused")).to_contain_text("KL divergence works only per tensor")


def test_rows_and_keys(open_view: Opener) -> None:
    page = open_view(view_of("layers"))
    press(page, "Home")
    row(page, "let %c").click()
    page.keyboard.press("Enter")
    assert say(page).startswith("%c lies between")
    page.keyboard.press("Enter")
    assert "%c is requantized" in say(page)
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".row[aria-selected=true] .cell.code")).to_contain_text("let %d")
    press(page, "r")
    assert "%c is requantized" in say(page)
    press(page, "?")
    expect(page.get_by_role("dialog")).to_contain_text("what if: other bits, ranges, scales, methods")


def test_finding(open_view: Opener) -> None:
    page = open_view(view_of("tree"))
    press(page, "/")
    page.keyboard.type("qnn.dense")
    expect(page.locator(".hits")).to_have_text("3 matches")
    page.get_by_label("where to search").select_option("left")
    page.get_by_role("searchbox").fill("sigmoid")
    expect(page.locator(".hits")).to_have_text("5 matches")


def test_the_requantizations_are_listed(open_view: Opener) -> None:
    page = open_view(view_of("layers"))
    page.get_by_role("tab", name="Requantization").click()
    pane = page.locator(".pane:visible")
    expect(pane).to_contain_text("1 inserted, 0 cancelled")
    pane.get_by_role("button").click()
    assert "%c is requantized" in say(page)


def test_names_in_a_sentence_lead_to_their_rows(open_view: Opener) -> None:
    page = open_view(view_of("layers"))
    page.locator(".say .named", has_text="%c").click()
    expect(page.locator(".row[aria-selected=true] .cell.code")).to_contain_text("let %c")


def test_on_a_phone_the_tab_follows_the_phase(open_view: Opener) -> None:
    page = open_view(view_of("layers"), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    selected = page.locator(".tabs.narrow [aria-selected=true]")
    expect(selected).to_have_text("Values")
    press(page, "p")
    expect(selected).to_have_text("Integers")
    code, line = row(page, "let %c").locator(".cell.code"), row(page, "let %c").locator(".q-int").first
    above, below = code.bounding_box(), line.bounding_box()
    assert above is not None
    assert below is not None
    assert below["y"] >= above["y"] + above["height"] - 1
    page.get_by_role("tab", name="What if").click()
    press(page, "p")
    expect(selected).to_have_text("What if")
    page.get_by_role("tab", name="Error").click()
    expect(row(page, "let %d").locator(".c-error")).to_contain_text("46.7 dB")


@pytest.mark.parametrize("name", ["layers", "network", "tree"])
def test_every_step_and_every_row_can_be_walked(open_view: Opener, name: str) -> None:
    view = view_of(name)
    page = open_view(view)
    press(page, "Home")
    for number in range(1, len(view["steps"]) + 1):
        assert page.locator(".count").inner_text() == f"{number} / {len(view['steps'])}"
        page.keyboard.press("ArrowRight")
    for _ in range(view["split"]):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert say(page)


def test_in_a_notebook_a_variant_is_asked_for(open_view: Opener) -> None:
    full = view_of("layers")
    few = [variant for variant in full["variants"] if variant[0] in ([1, 1, 1, 0, 0], [2, 1, 1, 0, 0])]
    asked = {**full, "variants": few, "live": 1}
    page = open_view(asked)
    press(page, "i")
    option = page.locator(".q-axis", has_text="bits").get_by_role("button", name=re.compile("^4"))
    expect(option).to_be_disabled()  # a static page has no kernel to ask
    page.evaluate(
        """async (view) => {
          const { default: widget } = await import("/relay_explorer/widgets/static/relay_explorer.js");
          const values = { view, state: "pane=whatif", name: "" };
          const hear = {};
          const set = (key, value) => { values[key] = value; };
          window.model = {
            get: (key) => values[key], set, save_changes() {}, off() {},
            on: (event, run) => { hear[event] = run; },
            tell: (key, value) => { set(key, value); hear[`change:${key}`](); },
          };
          const el = document.createElement("div");
          el.id = "live";
          document.body.append(el);
          widget.render({ model: window.model, el });
        }""",
        asked,
    )
    live = page.locator("#live")
    option = live.locator(".q-axis", has_text="bits").get_by_role("button", name=re.compile("^4"))
    expect(option).to_contain_text("ask Python")
    option.click()
    expect(live.locator(".what-if")).to_contain_text("Python is quantizing the program")
    page.wait_for_function("model.get('ask')")
    assert page.evaluate("model.get('ask')") == {"choice": [0, 1, 1, 0, 0], "number": 1}
    page.evaluate("model.tell('problem', 'There is no such option.')")
    expect(live.locator(".what-if")).to_contain_text("There is no such option.")
    page.evaluate("view => model.tell('view', view)", {**full, "live": 1})
    expect(live.locator(".what-if")).to_contain_text("bits = 4 → ")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "width", "state"),
    [
        ("network", 1280, ""),
        ("network", 390, ""),
        ("layers", 1280, "step=16&pane=whatif&if=0.1.1.0.0"),
        ("layers", 390, "step=16&tab=line"),
        ("tree", 800, "step=16&pane=rescale"),
    ],
)
def test_axe_finds_nothing(
    open_view: Opener, axe_core: str, name: str, width: int, state: str, theme: str
) -> None:
    fragment = f"#rx-test:{state}" if state else ""
    page = open_view(view_of(name), width=width, theme=theme, motion="reduce", fragment=fragment)
    assert page.evaluate("document.documentElement.scrollWidth") <= max(
        width, 1280 if width > 1000 else width
    )
    assert violations(page, axe_core) == []


def test_damage_ends_in_a_sentence(open_view: Opener) -> None:
    page = open_view(view_of("layers"))
    view = view_of("layers")
    view["sites"][0][0] = 99
    assert "sites[0]" in refusal(page, view)
