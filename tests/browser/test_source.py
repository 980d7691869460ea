"""The source view in a real browser, and what other explorers show of an imported program."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import relay_explorer
from relay_explorer.views.comparison import comparison_view
from tests.browser.explorers import Samples, press, refusal, rx, say, state_of, violations
from tests.browser.pages import Opener
from tests.views.imports import convolutions, layers

pytestmark = pytest.mark.browser
sample = Samples("source")


def nodes(page: Page) -> Any:
    return page.locator(".map-nodes .row")


def marked(page: Page, side: str) -> list[str]:
    """The rows of a side that belong to the choice."""
    return page.locator(f".map-{side} .row.is-same .cell.code").all_inner_texts()


def test_the_first_frame_tells_what_became_of_the_model(open_view: Opener) -> None:
    page = open_view(sample("net"))
    assert say(page).startswith(
        "The ONNX model has 1 input, 2 weights and 13 nodes. "
        "Of these, 10 became expressions, 4 became constants and 2 have no expression."
    )
    expect(nodes(page).filter(has_text="weights")).to_contain_text("2 rows")
    expect(page.locator(".map-program .row").filter(has_text="%0 = nn.conv2d")).to_contain_text("conv")


def test_choosing_a_node_marks_the_lines_that_it_became(open_view: Opener) -> None:
    page = open_view(sample("net"))
    nodes(page).filter(has_text="BatchNorm").first.click()
    assert say(page).startswith("BatchNorm /net/layer/0/norm became 2 expressions: nn.batch_norm, .0.")
    assert [line.strip()[:17] for line in marked(page, "program")] == ["%1 = nn.batch_nor", "%2 = %1.0;"]
    expect(page.locator(".map-details")).to_contain_text("net.layer.0")


@pytest.mark.parametrize("width", [1280, 390])
def test_keys_work_on_while_rows_unfold_and_sides_change(open_view: Opener, width: int) -> None:
    """The focus stays in the explorer, and what is chosen stays in sight."""
    page = open_view(sample("encoder"), width=width)
    nodes(page).first.click()
    for key in ("ArrowRight", "ArrowRight", "End", "l", "ArrowLeft", "]", "ArrowDown", "[", "Home", "End"):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement !== document.body"), key
    expect(page.locator(".count").first).to_have_text(re.compile(r"^(\d+) / \1$"))
    expect(nodes(page).and_(page.locator("[aria-selected=true]"))).to_be_in_viewport()


def test_choosing_a_line_marks_its_nodes(open_view: Opener) -> None:
    page = open_view(sample("optimized"))
    page.locator(".map-program .row").filter(has_text="nn.conv2d").first.click()
    assert "came from Conv /net/layer/" in say(page)
    assert any("Conv" in text for text in marked(page, "nodes"))
    page.locator(".map-details button").first.click()
    assert say(page).startswith("Conv ")


def test_a_module_is_chosen_as_a_whole(open_view: Opener) -> None:
    page = open_view(sample("net"))
    nodes(page).filter(has_text="layer.1").first.click()
    assert say(page).startswith("The module net.layer.1: 6 nodes became 5 lines of the program.")
    assert len(marked(page, "program")) == 5


def test_the_heading_of_the_weights_is_no_module(open_view: Opener) -> None:
    page = open_view(sample("net"))
    nodes(page).filter(has_text="weights").first.click()
    assert say(page).startswith("The 2 weights appear in 2 lines of the program.")
    expect(page.locator(".map-details .head")).to_have_text("2 weights")


def test_stepping_says_what_became_of_each_node(open_view: Opener) -> None:
    page = open_view(sample("net"))
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    assert say(page).startswith("Conv /net/layer/0/conv became nn.conv2d.")
    press(page, "n")
    assert say(page).startswith("Dropout /net/layer/0/drop has no expression in the program.")
    assert "returns its operand unchanged" in say(page)
    press(page, "N", "Escape")
    assert say(page).startswith("Dropout")


def test_the_brackets_go_to_the_other_side(open_view: Opener) -> None:
    page = open_view(sample("net"), fragment="#rx-test:node=4")
    press(page, "]")
    expect(page.locator(".map-program .row[aria-selected='true']")).to_contain_text("nn.conv2d")
    press(page, "[")
    expect(page.locator(".map-nodes .row[aria-selected='true']")).to_contain_text("Conv")


def test_the_search_finds_operators_modules_places_and_attributes(open_view: Opener) -> None:
    page = open_view(sample("net"))
    press(page, "/")
    for wanted, count in (("net.py:8", "2 matches"), ("ratio=0.5", "2 matches"), ("/net/head", "3 matches")):
        page.locator(".find input[type=search]").fill(wanted)
        expect(page.locator(".find .hits")).to_have_text(count)


def test_the_address_keeps_what_is_chosen(open_view: Opener) -> None:
    page = open_view(sample("net"))
    nodes(page).filter(has_text="layer.1").first.click()
    address = state_of(page)
    again = open_view(sample("net"), fragment=address)
    assert say(again).startswith("The module net.layer.1")
    line = open_view(sample("net"), fragment="#rx-test:line=3")
    assert say(line).startswith("This line came from BatchNorm")


def test_a_large_model_is_folded_level_by_level(open_view: Opener) -> None:
    page = open_view(sample("encoder"))
    expect(nodes(page).filter(has_text="attention").first).to_have_attribute("aria-expanded", "false")
    nodes(page).filter(has_text="attention").first.locator(".twist").click()
    expect(nodes(page).filter(has_text="Softmax").first).to_be_visible()


def test_on_a_phone_the_sides_are_tabs(open_view: Opener) -> None:
    page = open_view(sample("net"), width=390, fragment="#rx-test:node=4")
    expect(page.locator(".map-program")).to_be_hidden()
    page.get_by_role("tab", name="Relay").click()
    expect(page.locator(".map-program .row.is-same")).to_be_visible()
    page.get_by_role("tab", name="Details").click()
    expect(page.locator(".map-details")).to_contain_text("pads")


@pytest.mark.parametrize(
    ("width", "system"), [(1280, "light"), (1280, "dark"), (390, "dark"), (390, "light")]
)
def test_it_fits_and_is_accessible(open_view: Opener, axe_core: str, width: int, system: str) -> None:
    page = open_view(sample("net"), width=width, system=system, fragment="#rx-test:node=5")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page, axe_core) == []


def test_damage_ends_in_a_sentence(open_view: Opener) -> None:
    view = sample("net")
    view["nodes"][0][0] = 99
    assert "nodes[0]" in refusal(open_view(sample("net")), view)


# -- other explorers of an imported program


def test_the_ir_explorer_groups_by_module(open_view: Opener) -> None:
    page = open_view(relay_explorer.explore(layers(2), name="test").to_dict())
    headings = page.locator(".pane-rows .row .t9").all_inner_texts()
    assert headings == [
        f"encoder.layer.{layer}{part}" for layer in (0, 1) for part in ("", ".attention", ".mlp")
    ]


def test_details_name_the_node_and_its_module(open_view: Opener) -> None:
    page = open_view(relay_explorer.explore(convolutions(), name="test").to_dict())
    page.locator(".pane-rows .row").filter(has_text="nn.conv2d").first.click()
    details = page.locator(".details")
    expect(details).to_contain_text("/net/layer/0/conv (Conv)")
    expect(details).to_contain_text("net.layer.0")
    expect(details).to_contain_text("net.py:7")
    expect(page.locator(".from-node")).to_contain_text("from the node /net/layer/0/conv (Conv)")


def test_search_finds_modules_in_the_ir_explorer(open_view: Opener) -> None:
    page = open_view(relay_explorer.explore(convolutions(), name="test").to_dict())
    press(page, "/")
    page.locator(".find input[type=search]").fill("net.py:8")
    expect(page.locator(".find .hits")).to_have_text("1 match")
    page.locator(".find select").select_option("node")
    expect(page.locator(".find .hits")).to_have_text("1 match")


@pytest.mark.parametrize("kind", ["costs", "types", "fusion", "memory"])
def test_a_chosen_line_says_which_node_it_came_from(open_view: Opener, kind: str) -> None:
    page = open_view(relay_explorer.explore(convolutions(), view=kind, name="test").to_dict())
    expect(rx(page).locator(".from-node")).to_be_hidden()
    page.locator(".grid .row").filter(has_text="nn.conv2d").first.click(position={"x": 60, "y": 12})
    expect(rx(page).locator(".from-node")).to_contain_text("net.layer.0, net.py:7")


def test_versions_of_a_model_stand_side_by_side_under_their_names(open_view: Opener) -> None:
    view = comparison_view([layers(2), layers(3)], names=["two", "three"])
    page = open_view(view.to_dict())
    assert "three beside two: 7 added." in say(page)
    heads = page.locator(".grid-head").first.inner_text()
    assert heads.split("\n")[0] == "two"
    assert "three" in heads
    assert "after" not in heads
