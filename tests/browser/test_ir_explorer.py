"""The IR explorer in a real browser: program and graph together, keyboard, links, phone, themes, size."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from relay_explorer import models, relay
from relay_explorer.views.ir.view import ir_view
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

TINY = "ir_views.tiny()"
RESNET = "ir_views.resnet()"


def rx(page: Page) -> Locator:
    return page.locator(".relay-explorer .rx")


def graph(page: Page) -> Locator:
    return page.get_by_role("listbox", name=re.compile("^graph"))


def row(page: Page, text: str) -> Locator:
    return page.locator(".row", has_text=text).first


def node(page: Page, text: str) -> Locator:
    """The option that stands for a node of the drawing."""
    return graph(page).get_by_role("option", name=re.compile(text))


def active(page: Page) -> str:
    """What a screen reader would say of the current node."""
    found: str = graph(page).evaluate(
        "l => l.getRootNode().getElementById(l.getAttribute('aria-activedescendant'))?.textContent ?? ''"
    )
    return found


def place(page: Page, name: str) -> tuple[float, float]:
    """Where the pointer finds a node in the drawing: a sweep along the canvas, reading the tooltip."""
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    for x in range(int(box["width"] / 2) - 120, int(box["width"]) - 60, 34):
        for y in range(6, int(box["height"]), 9):
            page.mouse.move(box["x"] + x, box["y"] + y)
            tip = page.locator(".gtip b")
            if tip.is_visible() and tip.inner_text() == name:
                return box["x"] + x, box["y"] + y
    raise AssertionError(f"nothing called {name} is drawn")


def ink(page: Page, canvas: str = "canvas.base") -> float:
    """The share of a canvas that is painted."""
    share: float = page.locator(canvas).evaluate(
        """c => {
          const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
          let n = 0;
          for (let i = 3; i < data.length; i += 4) n += data[i] > 0;
          return (4 * n) / data.length;
        }"""
    )
    return share


def state_of(page: Page) -> str:
    """The state in the address, once it has settled."""
    page.wait_for_timeout(400)
    return str(page.evaluate("location.hash"))


# --- the first frame -----------------------------------------------------------------------------


def test_the_first_frame_shows_the_program_its_graph_and_its_size(open_view: Opener) -> None:
    page = open_view(RESNET)
    expect(page.locator(".say")).to_contain_text("16 residual blocks in 4 stages")
    expect(row(page, "stage 2, block 2 × 3")).to_be_visible()
    expect(page.locator(".details")).to_contain_text("parameters25.6 M")
    expect(page.get_by_text("the static picture")).to_be_hidden()
    page.wait_for_timeout(200)
    assert 0.02 < ink(page) < 0.6
    names = graph(page).get_by_role("option").all_text_contents()
    assert len(names) == 19
    assert any(n.startswith("stage 3, block 2, repeated blocks, 5 times, 65 calls, folded") for n in names)


def test_the_weights_are_left_out_until_asked_for(open_view: Opener) -> None:
    page = open_view(RESNET)
    toggle = page.get_by_role("button", name="weights: show")
    expect(toggle).to_have_attribute("aria-pressed", "false")
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    expect(node(page, "^%conv0_weight, ")).to_have_count(1)
    assert "weights=1" in state_of(page)


# --- one marks the other -------------------------------------------------------------------------


def test_hovering_a_line_marks_its_node_and_hovering_a_node_its_line(open_view: Opener) -> None:
    page = open_view(TINY)
    page.wait_for_timeout(200)
    before = ink(page, "canvas.over")
    row(page, "tanh(%s)").hover()
    page.wait_for_timeout(100)
    assert ink(page, "canvas.over") > before + 0.002
    x, y = place(page, "%2 = multiply")
    page.mouse.move(x, y)
    expect(page.locator(".row.is-hover")).to_contain_text("multiply(%0, %s)")


def test_choosing_a_node_in_the_drawing_chooses_its_line_and_tells_about_it(open_view: Opener) -> None:
    page = open_view(TINY)
    page.wait_for_timeout(200)
    page.mouse.click(*place(page, "%s = add"))
    expect(page.locator(".row.is-now")).to_contain_text("let %s = add(")
    expect(page.locator(".say")).to_contain_text("It is computed once and used 3 times.")
    expect(page.locator(".details .head")).to_have_text("add%s")
    assert "sel=2" in state_of(page)


def test_a_value_used_often_lights_all_its_uses(open_view: Opener) -> None:
    page = open_view(TINY)
    expect(row(page, "let %s")).to_contain_text("×3")
    row(page, "let %s").click()
    assert page.locator("[data-ref='2'].is-lit").count() >= 4
    expect(page.locator(".row.is-user")).to_have_count(3)
    expect(page.locator(".row.is-operand")).to_have_count(2)
    page.locator(".details li", has_text="multiply").get_by_role("button").click()
    expect(page.locator(".row.is-now")).to_contain_text("multiply(%0, %s)")


def test_the_scope_of_a_let_is_a_bar_beside_its_lines(open_view: Opener) -> None:
    page = open_view(TINY)
    bars = page.locator(".c-scope:has(i)")
    expect(bars).to_have_count(5)
    expect(row(page, "let %s").locator(".c-scope i.start")).to_have_count(1)
    expect(row(page, "%3 = add").locator(".c-scope i.end")).to_have_count(1)
    expect(row(page, "%x: Tensor").locator(".c-scope i")).to_have_count(0)


def test_the_details_of_an_expression(open_view: Opener) -> None:
    page = open_view(RESNET)
    row(page, "%0 = nn.conv2d").click()
    details = page.locator(".details")
    for text in (
        "typeTensor[(1, 64, 112, 112), float32]",
        "kernel_size[7, 7]",
        "parameters9.41 k",
        "operations236 MFLOP",
    ):
        expect(details).to_contain_text(text)
    expect(details.get_by_title("9,408 parameters")).to_have_count(1)
    expect(details.locator("li").first).to_contain_text("0%data")


# --- folding -------------------------------------------------------------------------------------


def test_a_block_opens_in_the_rows_and_in_the_graph(open_view: Opener) -> None:
    page = open_view(RESNET)
    row(page, "stage 2, block 1").locator(".twist").click()
    expect(row(page, "%59 = nn.batch_norm")).to_be_visible()
    expect(node(page, "^stage 2, block 1, block, 16 calls, open")).to_have_count(1)
    expect(graph(page).get_by_role("option")).to_have_count(19 + 16)
    assert "fold=" in state_of(page)
    page.get_by_role("button", name="fold: fold all blocks").click()
    expect(graph(page).get_by_role("option")).to_have_count(19)


def test_a_card_in_the_drawing_opens_at_its_twist(open_view: Opener) -> None:
    page = open_view(RESNET)
    page.wait_for_timeout(200)
    x, y = place(page, "stage 1, block 1")
    page.mouse.dblclick(x + 12, y)
    expect(row(page, "stage 1, block 1").locator(".twist")).to_have_attribute("aria-expanded", "true")


def test_following_a_link_opens_what_is_folded_around_it(open_view: Opener) -> None:
    page = open_view(RESNET)
    page.locator(".costly li").nth(2).get_by_role("button").click()
    expect(page.locator(".row.is-now")).to_contain_text("nn.conv2d")
    expect(page.locator(".row.is-now")).to_be_visible()
    assert active(page).startswith("nn.conv2d %")


# --- the keyboard --------------------------------------------------------------------------------


def test_arrows_walk_along_the_edges(open_view: Opener) -> None:
    page = open_view(TINY)
    graph(page).focus()
    page.keyboard.press("Home")
    assert active(page).startswith("%x, Tensor[(3, 4), float32]")
    page.keyboard.press("ArrowDown")
    assert active(page).startswith("add %s")
    page.keyboard.press("ArrowDown")
    assert active(page).startswith("tanh %0")
    page.keyboard.press("ArrowRight")
    assert active(page).startswith("exp %1")
    page.keyboard.press("ArrowUp")
    assert active(page).startswith("add %s, Tensor[(3, 4), float32], operands %x, ")
    expect(page.locator(".row.is-now")).to_contain_text("let %s")


def test_the_keyboard_reaches_everything_and_escape_leads_back(open_view: Opener) -> None:
    page = open_view(RESNET)
    rx(page).focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".row.is-now")).to_contain_text("%0 = nn.conv2d")
    page.keyboard.press("n")
    expect(page.get_by_role("button", name="1: only what is within")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(graph(page).get_by_role("option")).to_have_count(4)
    page.keyboard.press("n")
    expect(graph(page).get_by_role("option")).to_have_count(9)
    page.keyboard.press("Escape")
    expect(graph(page).get_by_role("option")).to_have_count(19)
    page.keyboard.press("g")
    expect(graph(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".row.is-now")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("between program and graph")


def test_enter_folds_and_opens_a_group(open_view: Opener) -> None:
    page = open_view(RESNET)
    graph(page).focus()
    node(page, "^stage 4, block 1, ").dispatch_event("click")
    page.keyboard.press("Enter")
    expect(node(page, "^stage 4, block 1, block, 16 calls, open")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(node(page, "^stage 4, block 1, block, 16 calls, folded")).to_have_count(1)


# --- finding and filtering -----------------------------------------------------------------------


def test_search_by_operator_name_and_type(open_view: Opener) -> None:
    page = open_view(RESNET)
    rx(page).focus()
    page.keyboard.press("/")
    page.keyboard.type("max_pool")
    expect(page.locator(".find .hits")).to_have_text("1 match")
    page.keyboard.press("Enter")
    expect(page.locator(".row.is-now")).to_contain_text("nn.max_pool2d")
    for where, query, hits in (
        ("type", "(1, 2048, 1, 1)", "1 match"),
        ("name", "%stage1_unit1", "28 matches"),
        ("operator", "nn.conv2d", "53 matches"),
    ):
        page.get_by_label("where to search").select_option(where)
        page.get_by_label("find in the program").fill(query)
        expect(page.locator(".find .hits")).to_have_text(hits)
    page.get_by_label("only these rows").check()
    expect(page.locator(".row")).to_have_count(53)
    assert "q=nn.conv2d" in state_of(page)


def test_the_legend_fades_the_other_families(open_view: Opener) -> None:
    page = open_view(RESNET)
    page.wait_for_timeout(200)
    button = page.get_by_role("button", name=re.compile("^pooling"))
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(row(page, "%0 = nn.conv2d")).to_have_class(re.compile("is-faded"))
    expect(row(page, "nn.max_pool2d")).not_to_have_class(re.compile("is-faded"))
    assert "fam=5" in state_of(page)


# --- moving about --------------------------------------------------------------------------------


def test_dragging_wheel_and_buttons_move_the_drawing(open_view: Opener) -> None:
    page = open_view(RESNET)
    page.wait_for_timeout(200)
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    x, y = box["x"] + 60, box["y"] + 300
    assert "zoom=" not in state_of(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y - 90, steps=4)
    page.mouse.up()
    assert "zoom=" in state_of(page)
    first = state_of(page)
    page.mouse.wheel(0, -300)
    assert state_of(page) != first, "the graph was pressed, so the wheel zooms"
    assert page.evaluate("scrollY") == 0
    page.get_by_role("button", name="show all").click()
    before = state_of(page)
    page.locator("canvas.minimap").wait_for(state="hidden")
    page.get_by_role("button", name="zoom in").click()
    page.get_by_role("button", name="zoom in").click()
    page.get_by_role("button", name="zoom in").click()
    expect(page.locator("canvas.minimap")).to_be_visible()
    assert state_of(page) != before
    here = state_of(page)
    page.locator("canvas.minimap").click(position={"x": 8, "y": 130})
    assert state_of(page) != here


def test_the_wheel_scrolls_the_page_until_the_graph_is_pressed(open_view: Opener) -> None:
    page = open_view(RESNET, height=500)
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.wheel(0, 200)
    page.wait_for_function("scrollY > 0")


def test_a_stub_jumps_along_the_edge_that_it_stands_for(open_view: Opener) -> None:
    page = open_view("ir_views.skipping(300)", fragment="#rx-test:zoom=1.000_0_100")
    page.wait_for_timeout(300)
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    # The first node is at (0, 0) of the drawing; its stub leaves below it, right of the straight edge.
    x, y = box["x"] + box["width"] / 2 + 9, box["y"] + box["height"] / 2 - 100 + 28 + 7
    page.mouse.move(x, y)
    expect(page.locator(".gtip")).to_contain_text("a long edge: press to jump to%298 = add")
    page.mouse.click(x, y)
    expect(page.locator(".row.is-now")).to_contain_text("%298 = add(%297, %data)")
    expect(page.locator(".say")).to_contain_text("It is a result")


def test_two_fingers_zoom(open_view: Opener) -> None:
    page = open_view(RESNET, width=390, height=844, column=390)
    page.wait_for_timeout(200)
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    x, y = box["x"] + 150, box["y"] + 200
    client = page.context.new_cdp_session(page)

    def touch(kind: str, apart: float) -> None:
        points = (
            []
            if kind == "touchEnd"
            else [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        )
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 30)
    for apart in (40, 55, 70, 90):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    zoomed = re.search(r"zoom=([\d.]+)_", state_of(page))
    assert zoomed
    assert float(zoomed[1]) > 1.2


# --- links ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token",
    [
        "sel=330&fold=none",
        "sel=g4",
        "sel=300&near=300.2",
        "weights=1&fam=0.3",
        "tab=details&q=dense&in=op",
        "sel=330&fold=none&zoom=0.900_20_400",
    ],
)
def test_a_link_restores_the_exact_state(open_view: Opener, token: str) -> None:
    page = open_view(RESNET, fragment=f"#rx-test:{token}")
    page.wait_for_timeout(300)
    graph(page).evaluate("l => l.dispatchEvent(new Event('nothing'))")
    page.get_by_role("button", name="link: a link to this state").click()
    link = page.get_by_role("dialog").get_by_label("link").input_value()
    for pair in token.split("&"):
        assert pair in link


@pytest.mark.parametrize(
    "token",
    [
        "sel=99999",
        "sel=g77&fold=99.1",
        "near=9.9&sel=x",
        "zoom=0_0_0",
        "zoom=9e9_1_1",
        "fam=40&fold=..",
        "%E0%A4%A&sel",
    ],
)
def test_a_damaged_link_still_opens_the_explorer(open_view: Opener, token: str) -> None:
    page = open_view(RESNET, fragment=f"#rx-test:{token}")
    expect(graph(page).get_by_role("option")).not_to_have_count(0)


# --- phone, themes, accessibility ----------------------------------------------------------------


def test_on_a_phone_program_graph_and_details_are_tabs(open_view: Opener) -> None:
    page = open_view(RESNET, width=390, height=844, column=390)
    expect(page.get_by_role("tab", name="Graph")).to_have_attribute("aria-selected", "true")
    expect(page.locator("canvas.over")).to_be_visible()
    expect(page.locator(".rows")).to_be_hidden()
    page.get_by_role("tab", name="Program").click()
    row(page, "%0 = nn.conv2d").click()
    page.get_by_role("tab", name="Details").click()
    expect(page.locator(".details")).to_contain_text("kernel_size")
    assert "tab=details" in state_of(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_drawing_follows_the_theme(open_view: Opener) -> None:
    page = open_view(TINY, theme="light")
    page.wait_for_timeout(200)

    def dark_share() -> float:
        """Of the painted pixels, the share that is nearer to black than to white."""
        share: float = page.locator("canvas.base").evaluate(
            """c => {
              const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
              let n = 0, dark = 0;
              for (let i = 0; i < data.length; i += 4) {
                if (data[i + 3] < 250) continue;
                n++;
                dark += data[i] + data[i + 1] + data[i + 2] < 384;
              }
              return dark / n;
            }"""
        )
        return share

    assert dark_share() < 0.4
    page.evaluate("document.documentElement.setAttribute('data-theme', 'dark')")
    page.wait_for_timeout(300)
    assert dark_share() > 0.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("view", "width"), [(TINY, 1280), (RESNET, 1280), (TINY, 390)])
def test_axe_finds_nothing(open_view: Opener, axe_core: str, view: str, width: int, theme: str) -> None:
    page = open_view(view, width=width, theme=theme, fragment="#rx-test:sel=2")
    page.add_script_tag(url=axe_core)
    found = page.evaluate(
        """async () => {
          const host = document.querySelector(".relay-explorer");
          const { violations } = await axe.run(host, { resultTypes: ["violations"] });
          return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`));
        }"""
    )
    assert found == []


def test_what_is_chosen_is_told_to_screen_readers(open_view: Opener) -> None:
    page = open_view(TINY)
    row(page, "tanh(%s)").click()
    expect(page.locator("[aria-live=polite]").first).to_have_text(
        re.compile(r"^%0 is tanh of %s: Tensor\[\(3, 4\), float32\]\.")
    )


def test_less_motion_is_honoured(open_view: Opener) -> None:
    page = open_view(RESNET, motion="reduce", fragment="#rx-test:fold=none")
    graph(page).focus()
    page.keyboard.press("Home")
    at = state_of(page)
    page.keyboard.press("End")
    page.wait_for_timeout(30)
    assert state_of(page) != at


# --- size and hostile data -----------------------------------------------------------------------


def test_names_that_are_markup_stay_names(open_view: Opener) -> None:
    page = open_view(TINY)
    page.evaluate("() => { window.alert = () => { window.broken = true; }; }")
    row(page, "<img src=x onerror=alert(1)>").click()
    expect(page.locator(".say")).to_contain_text("%<img src=x onerror=alert(1)>")
    page.get_by_label("find in the program").evaluate(
        "i => { i.value = '<img src=x>'; i.dispatchEvent(new Event('input')); }"
    )
    assert rx(page).locator("img").count() == 0
    assert page.evaluate("window.broken") is None


def test_ten_thousand_nodes_pan_smoothly(open_view: Opener) -> None:
    page = open_view("ir_views.ofSize(10000)")
    page.wait_for_function("performance.getEntriesByName('relay-explorer-graph').length > 0")
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(
        """() => {
          const tick = (now) => { window.frames_.push(now); requestAnimationFrame(tick); };
          window.frames_ = [];
          requestAnimationFrame(tick);
        }"""
    )
    for k in range(120):
        page.mouse.move(x + k % 40, y - k * 3)
    page.mouse.up()
    gaps = page.evaluate("window.frames_.slice(1).map((t, i) => t - window.frames_[i]).sort((a, b) => a - b)")
    # The middle frame, so that what else this machine does in between is not measured.
    assert gaps[len(gaps) // 2] < 1000 / 50
    assert graph(page).get_by_role("option").count() < 100, "a window of the list, with positions"
    expect(graph(page).get_by_role("option").first).to_have_attribute("aria-setsize", "10000")


def test_an_empty_program_is_empty(open_view: Opener) -> None:
    none = {"nodes": 0, "calls": 0, "params": 0, "flops": 0, "bytes": 0}
    empty: dict[str, Any] = {
        "format": "relay-explorer",
        "version": 1,
        "view": "ir",
        "title": "nothing",
        "summary": "Empty.",
        "strings": [],
        "program": {"rows": []},
        "families": [],
        "nodes": [],
        "edges": [],
        "groups": [],
        "scopes": [],
        "totals": none,
    }
    page = open_view(empty)
    expect(page.locator(".say")).to_contain_text("There is nothing in it.")


@pytest.mark.parametrize("name", models.names())
def test_every_model_of_the_book_is_drawn(open_view: Opener, name: str) -> None:
    page = open_view(ir_view(models.load(name), name).to_json())
    page.wait_for_timeout(300)
    assert ink(page) > 0.01
    assert 5 <= graph(page).get_by_role("option").count() <= 90


def test_a_link_brings_the_chosen_row_into_the_window(open_view: Opener) -> None:
    # Rows just below the window are the hard ones: the view is restored before the window has a height.
    steps = "".join(f"let %v{i + 1} = add(%v{i}, {i}f);" for i in range(30))
    program = f"def @main(%v0: Tensor[(2), float32]) {{ {steps} %v30 }}"
    view = json.loads(ir_view(relay.parse(f'#[version = "0.0.5"]\n{program}'), "chain").to_json())
    for chosen in (30, 33, 36, 39):
        page = open_view(view, fragment=f"#rx-test:sel={chosen}&fold=none")
        expect(page.locator(".row[aria-selected=true]")).to_be_in_viewport(ratio=0.9)
