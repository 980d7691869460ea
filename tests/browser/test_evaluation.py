"""The evaluation explorer in a real browser, on runs of the real interpreter."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from relay_explorer import relay
from relay_explorer.execute import record
from relay_explorer.views.evaluation.view import evaluation_view
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

TREE = """
type Tree { Leaf(int32), Node(Tree, Tree) }
def @sum(%t: Tree) -> int32 {
  match (%t) {
    Leaf(%v) => { %v },
    Node(%l, %r) => { add(@sum(%l), @sum(%r)) },
  }
}
def @main() -> int32 {
  let %t = Node(Node(Leaf(1), Leaf(2)), Node(Leaf(3), Leaf(4)));
  add(@sum(%t), 10)
}
"""
LIST = """
type List[A] { Cons(A, List[A]), Nil }
def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
  match (%xs) {
    Cons(%x, %rest) => { Cons(%f(%x), @map(%f, %rest)) },
    Nil => { Nil },
  }
}
def @main(%k: int32) -> List[int32] {
  let %xs = Cons(1, Cons(2, Cons(3, Nil)));
  let %scale = fn (%x: int32) -> int32 { multiply(%x, %k) };
  @map(%scale, %xs)
}
"""
LOOP = """
def @loop(%i: int32, %total: ref(int32)) -> int32 {
  if (equal(%i, 0)) { ref_read(%total) } else {
    let %u = ref_write(%total, add(ref_read(%total), %i));
    @loop(subtract(%i, 1), %total)
  }
}
def @main(%n: int32) -> int32 {
  let %total = ref(0);
  @loop(%n, %total)
}
"""
SHARED = """
def @main(%a: int32) -> int32 {
  let %plus = fn (%x: int32) -> int32 { add(%x, %a) };
  let %pair = (%plus, %plus);
  %pair.0(%pair.1(%a))
}
"""
FAILING = """
type List[A] { Cons(A, List[A]), Nil }
def @last(%xs: List[int32]) -> int32 {
  match? (%xs) {
    Cons(%x, Nil) => { %x },
    Cons(%x, %rest) => { @last(%rest) },
  }
}
def @main() -> int32 { add(@last(Cons(1, Nil)), @last(Nil)) }
"""
PLAIN = """
def @main(%n: int32) -> int32 {
  if (equal(%n, 0)) { 0 } else { add(%n, @main(subtract(%n, 1))) }
}
"""
SETTLE = """
def @settle(%h: Tensor[(1, 3), float32], %x: Tensor[(1, 3), float32]) -> Tensor[(1, 3), float32] {
  let %new = tanh(add(%h, %x));
  if (less(max(abs(subtract(%new, %h))), 0.1f)) { %new } else { @settle(%new, %x) }
}
def @main(%x: Tensor[(1, 3), float32]) -> Tensor[(1, 3), float32] { @settle(%x, %x) }
"""
RUNS: dict[str, tuple[str, tuple[int, ...]]] = {
    "tree": (TREE, ()),
    "list": (LIST, (10,)),
    "loop": (LOOP, (5,)),
    "shared": (SHARED, (3,)),
    "failing": (FAILING, ()),
    "plain": (PLAIN, (3,)),
}
CALL, RETURN, CHOICE = 2, 4, 5


@cache
def text_of(name: str, limit: int) -> str:
    source, args = RUNS[name]
    module = relay.transform.InferType()(relay.parse(f'#[version = "0.0.5"]\n{source}'))
    run = record(module, *[np.int32(a) for a in args], limit=limit)
    return evaluation_view(run, name).to_json()


def view_of(name: str, limit: int = 2000) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(text_of(name, limit))
    return data


def rx(page: Page) -> Locator:
    return page.locator(".relay-explorer .rx")


def step(page: Page) -> int:
    return int(page.locator(".count").inner_text().split(" / ")[0])


def press(page: Page, *keys: str) -> None:
    rx(page).focus()
    for key in keys:
        page.keyboard.press(key)


def state_of(page: Page) -> str:
    """The state in the address, once it has settled."""
    page.wait_for_timeout(350)
    return str(page.evaluate("location.hash"))


def steps_of(view: dict[str, Any], mark: int) -> list[int]:
    """The steps with this mark, counted from 1 as the page does."""
    return [number for number, entry in enumerate(view["steps"], 1) if entry[0] == mark]


# --- stepping --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNS)
def test_every_step_can_be_walked_both_ways(open_view: Opener, name: str) -> None:
    view = view_of(name)
    page = open_view(view)
    press(page, "Home")
    texts = []
    for number, (_, row, *_) in enumerate(view["steps"], 1):
        assert step(page) == number
        texts.append(page.locator(".say").inner_text())
        assert texts[-1]
        expect(page.locator(".row.is-now")).to_have_count(1 if row >= 0 else 0)
        page.keyboard.press("ArrowRight")
    for said in reversed(texts):
        assert page.locator(".say").inner_text() == said
        page.keyboard.press("ArrowLeft")


def test_the_value_at_a_line_is_that_of_the_frame_that_is_shown(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, fragment=f"#rx-test:step={steps_of(view, CHOICE)[2]}")
    line = page.locator(".row", has_text="%t: Tree")
    expect(line.locator(".val")).to_contain_text("Leaf(1)")
    expect(page.locator(".frame")).to_have_count(4)
    page.locator(".frame .head").nth(1).click()
    expect(line.locator(".val")).to_contain_text("Node(Node(")
    expect(page.locator(".frame.shown")).to_contain_text("waits at %0 = @sum(%l)")
    expect(page.locator(".row.is-waits")).to_contain_text("@sum(%l)")
    press(page, "]")
    expect(line.locator(".val")).to_contain_text("Node(Leaf(1), Leaf(2))")
    press(page, "Escape")
    expect(line.locator(".val")).to_contain_text("Leaf(1)")


def test_a_call_that_waits_says_for_whom_and_leads_there(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, fragment=f"#rx-test:step={steps_of(view, CHOICE)[2]}")
    page.locator(".frame .head").first.click()
    waits = page.locator(".val.waits")
    expect(waits).to_have_text("… waits for @sum")
    waits.click()
    expect(page.locator(".frame.shown .height")).to_have_text("2")


def test_over_out_and_the_same_row(open_view: Opener) -> None:
    view = view_of("tree")
    calls = steps_of(view, CALL)
    page = open_view(view, fragment=f"#rx-test:step={calls[0]}")
    height = page.locator(".frame").count
    before = height()
    page.get_by_role("button", name="over").click()
    assert step(page) == steps_of(view, RETURN)[-1]
    assert height() == before - 1
    press(page, "Escape")
    assert step(page) == calls[0]
    press(page, "ArrowRight", "ArrowRight")
    deeper = height()
    press(page, "u")
    assert height() == deeper - 1
    press(page, "U")
    assert height() < deeper


def test_the_same_row_in_the_next_frame(open_view: Opener) -> None:
    view = view_of("tree")
    choices = steps_of(view, CHOICE)
    page = open_view(view, fragment=f"#rx-test:step={choices[0]}")
    press(page, "n", "n")
    assert step(page) == choices[2]
    press(page, "N")
    assert step(page) == choices[1]
    page.get_by_role("button", name="same row").click()
    assert step(page) == choices[2]


def test_the_branch_that_was_not_taken_says_so(open_view: Opener) -> None:
    view = view_of("loop")
    page = open_view(view, fragment=f"#rx-test:step={steps_of(view, CHOICE)[0]}")
    expect(page.locator(".row.is-skipped")).to_have_text(re.compile(r"ref_read\(%total\)"))
    expect(page.locator(".row.is-skipped")).to_have_css("position", "absolute")
    press(page, "End")
    expect(page.locator(".row.is-skipped", has_text="ref_write")).to_have_count(1)


def test_a_tail_call_takes_a_place_and_says_so(open_view: Opener) -> None:
    view = view_of("loop")
    page = open_view(view, fragment=f"#rx-test:step={steps_of(view, 3)[3]}")
    expect(page.locator(".frame")).to_have_count(1)
    expect(page.locator(".turn")).to_contain_text(re.compile("[34] tail calls in this frame"))


# --- the heap ---------------------------------------------------------------------------------------


def test_the_tree_is_seen_being_used_up(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, fragment=f"#rx-test:step={steps_of(view, CHOICE)[3]}")
    expect(page.locator(".heap .box")).to_have_count(7)
    expect(page.locator(".heap .box.now")).to_have_attribute(
        "aria-label", re.compile(r"Leaf\(2\).*named %t.*inspected now")
    )
    expect(page.locator(".heap .box.gone")).to_have_attribute(
        "aria-label", re.compile(r"Leaf\(1\).*no longer")
    )
    expect(page.locator(".heap .box.open")).to_have_count(2)
    assert page.locator(".heap .flag").all_text_contents() == ["%t"]
    press(page, "End")
    expect(page.locator(".heap .box.gone")).to_have_count(7)


def test_the_list_is_a_chain_and_the_new_one_grows(open_view: Opener) -> None:
    page = open_view(view_of("list"))
    press(page, "End")
    texts = [text.strip() for text in page.locator(".heap .box text").all_text_contents()]
    assert texts[-5:] == ["Cons", "10", "20", "30", "Nil"]
    assert texts[:5] == ["Cons", "1", "2", "3", "Nil"], "the old one is used up, and still there"
    expect(page.locator(".heap .edge.chain")).to_have_count(4)
    expect(page.locator(".heap .flag", has_text="result")).to_have_count(1)


def settling() -> dict[str, Any]:
    """Return the data of a loop of tail calls over tensors, of which most are dead at any time."""
    module = relay.transform.InferType()(relay.parse(SETTLE))
    x = np.array([[0.9123, -0.2456, 0.4789]], "float32")
    data: dict[str, Any] = json.loads(evaluation_view(record(module, x), "settle").to_json())
    return data


@pytest.mark.parametrize("width", [1280, 390])
def test_the_elements_of_tensors_have_room_beside_their_lines(open_view: Opener, width: int) -> None:
    page = open_view(settling(), width=width, height=844)
    elements = page.locator(".c-value .numbers")
    assert elements.count() >= 5
    assert elements.evaluate_all("(all) => all.every((node) => node.scrollWidth <= node.clientWidth)")
    texts = elements.all_inner_texts()
    assert all(text.startswith("[[") and text.endswith("]]") for text in texts), texts
    assert page.locator(".c-value .gone .numbers").count() > 0
    struck = "(all) => all.some((node) => getComputedStyle(node).textDecorationLine !== 'none')"
    assert not page.locator(".c-value .val").evaluate_all(struck), "a struck number cannot be read"


def test_a_cell_shows_its_history_struck_through(open_view: Opener) -> None:
    page = open_view(view_of("loop"))
    press(page, "End")
    past = page.locator(".heap .seg-past")
    assert [text.strip() for text in past.all_text_contents()][-2:] == ["12", "14"]
    expect(past.first).to_have_css("text-decoration-line", "line-through")
    expect(page.locator(".heap .box.k-ref")).to_contain_text("15")
    page.locator(".heap .box.k-ref").click()
    held = page.locator(".why-pane .entry .sentence").all_inner_texts()
    assert held == ["0", "5", "9", "12", "14", "15"]
    assert page.locator(".why-pane .entry s").count() == 5
    page.locator(".why-pane .entry", has_text="9").first.click()
    expect(page.locator(".heap .box.k-ref")).to_contain_text("9")


def test_what_two_hold_is_drawn_once(open_view: Opener) -> None:
    view = view_of("shared")
    page = open_view(view)
    press(page, "Home", "ArrowRight", "ArrowRight")
    expect(page.locator(".heap .box.k-tuple")).to_have_count(1)
    expect(page.locator(".heap .box.k-closure")).to_have_count(1)
    expect(page.locator(".heap .edge.shared")).to_have_count(1)
    expect(page.locator(".heap .box.k-closure")).to_contain_text("%a=3")


def test_hovering_a_value_lights_it_everywhere(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, fragment=f"#rx-test:step={steps_of(view, CHOICE)[2]}")
    page.locator(".row", has_text="%t: Tree").locator(".val").hover()
    expect(page.locator(".heap .box.is-lit")).to_have_attribute("aria-label", re.compile(r"Leaf\(1\)"))
    assert page.locator(".frame .val.is-lit").count() == 1
    page.mouse.move(2, 2)


def test_arrows_walk_the_heap_and_enter_tells_a_value_s_story(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, fragment=f"#rx-test:step={steps_of(view, CHOICE)[2]}")
    page.locator(".heap .box[tabindex='0']").focus()
    before = step(page)
    page.keyboard.press("ArrowUp")
    expect(page.locator(".heap .box:focus")).to_have_attribute("aria-label", re.compile(r"Node\(Leaf\(1\)"))
    page.keyboard.press("ArrowRight")
    assert step(page) == before, "arrows in the picture do not step"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator(".why-pane .whole")).to_have_text(re.compile(r"Node\(Leaf\(1\), Leaf\(2\)\)"))
    expect(page.locator(".why-pane")).to_contain_text("A constructed value of type Tree")
    expect(page.locator(".heap .box.chosen")).to_have_count(1)


# --- why, find, link ----------------------------------------------------------------------------------


def test_w_tells_why_and_a_line_tells_what_it_gave_each_time(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, fragment=f"#rx-test:step={steps_of(view, RETURN)[1]}")
    press(page, "w")
    expect(page.locator(".why-pane .ask")).to_have_text("What does this step depend on?")
    numbers = page.locator(".why-pane .entry .at").all_inner_texts()
    assert numbers[0] == str(step(page))
    assert numbers == sorted(numbers, key=int, reverse=True)
    page.locator(".row", has_text="%0 = @sum(%l)").click()
    page.keyboard.press("Enter")
    expect(page.locator(".why-pane .ask")).to_contain_text("evaluation by evaluation?")
    assert page.locator(".why-pane .entry .sentence").all_inner_texts() == ["1", "3", "3"]
    page.locator(".why-pane .entry").nth(1).click()
    expect(page.locator(".row.is-now")).to_contain_text("%0 = @sum(%l)")
    press(page, "Escape")
    assert step(page) == steps_of(view, RETURN)[1]


def test_finding_a_value_and_walking_only_its_lines(open_view: Opener) -> None:
    page = open_view(view_of("tree"))
    press(page, "/")
    page.keyboard.type("match")
    expect(page.locator(".hits")).to_have_text("1 match")
    page.get_by_label("only these rows").check()
    expect(page.locator(".row")).to_have_count(1)
    press(page, "Home")
    choices = steps_of(view_of("tree"), CHOICE)
    seen = []
    for _ in choices:
        seen.append(step(page))
        page.keyboard.press("ArrowRight")
    assert set(choices) <= {*seen, step(page)}


def test_a_link_restores_step_frame_question_and_row(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, fragment=f"#rx-test:step={steps_of(view, CHOICE)[2]}")
    page.locator(".row", has_text="add(%0, %1)").click()
    page.locator(".frame .head").nth(1).click()
    page.locator(".heap .box").nth(2).click()
    state = state_of(page)
    again = open_view(view, fragment=state)
    expect(again.locator(".why-pane .whole")).to_have_text(page.locator(".why-pane .whole").inner_text())
    expect(again.locator(".row[aria-selected=true]")).to_contain_text("add(%0, %1)")
    again.get_by_role("tab", name="Stack").click()
    expect(again.locator(".frame.shown .height")).to_have_text("2")
    assert step(again) == step(page)


@pytest.mark.parametrize(
    "token", ["step=99999", "step=-4&frame=7777&sel=o99999&row=-3", "sel=x&fold=9999", "%E0=&frame=1"]
)
def test_a_damaged_link_still_opens_the_explorer(open_view: Opener, token: str) -> None:
    page = open_view(view_of("tree"), fragment=f"#rx-test:{token}")
    expect(page.locator(".say")).not_to_be_empty()


# --- failures and gaps --------------------------------------------------------------------------------


def test_a_failure_shows_the_line_the_stack_and_the_reason(open_view: Opener) -> None:
    page = open_view(view_of("failing"))
    press(page, "End")
    expect(page.locator(".row.is-failed")).to_contain_text("match? (%xs)")
    expect(page.locator(".say")).to_contain_text("Nil")
    expect(page.locator(".frame")).to_have_count(2)
    press(page, "ArrowLeft")
    expect(page.locator(".row.is-failed")).to_have_count(0)
    expect(page.get_by_role("group", name="failure")).to_be_hidden()


def test_what_was_left_out_is_a_step_that_says_how_much(open_view: Opener) -> None:
    view = view_of("loop", limit=12)
    assert view["gap"] is not None
    page = open_view(view, fragment=f"#rx-test:step={view['gap']['step'] + 1}")
    expect(page.locator(".say")).to_contain_text(re.compile(r"\d"))
    press(page, "End")
    expect(page.locator(".say")).to_contain_text("15")


# --- a phone, themes, assistive technology --------------------------------------------------------------


def test_on_a_phone_columns_become_tabs_and_none_is_lost(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, width=390, fragment=f"#rx-test:step={steps_of(view, CHOICE)[2]}")
    shown = {
        "Program": ".row.is-now",
        "Values": ".row .val",
        "Stack": ".frame.shown",
        "Heap": ".heap .box",
        "Why": ".why-pane .ask",
    }
    for tab, selector in shown.items():
        page.get_by_role("tab", name=tab).filter(visible=True).click()
        expect(page.locator(selector).first).to_be_visible()
        for other, hidden in shown.items():
            if other not in (tab, "Program", "Values"):
                expect(page.locator(hidden).first).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "tab=why" in state_of(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "width"), [("tree", 1280), ("tree", 390), ("loop", 800), ("failing", 1280), ("shared", 1280)]
)
def test_axe_finds_nothing(open_view: Opener, axe_core: str, name: str, width: int, theme: str) -> None:
    page = open_view(view_of(name), width=width, theme=theme)
    press(page, "w")
    page.add_script_tag(url=axe_core)
    found = page.evaluate(
        """async () => {
          const host = document.querySelector(".relay-explorer");
          const { violations } = await axe.run(host, { resultTypes: ["violations"] });
          return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}`));
        }"""
    )
    assert found == []


def test_each_step_is_told_to_screen_readers(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, fragment="#rx-test:step=3")
    press(page, "ArrowRight")
    expect(page.locator("[aria-live=polite]").first).to_have_text(re.compile(r"^Step 4 of \d+\. \w+\. "))
    expect(page.get_by_role("region", name="Evaluation, step by step: tree")).to_have_count(1)


@pytest.mark.parametrize("name", ["tree", "list", "loop"])
def test_a_learner_sized_run_fits_the_screen(open_view: Opener, name: str) -> None:
    page = open_view(view_of(name))
    box = rx(page).bounding_box()
    assert box is not None
    assert box["height"] <= 800


# --- live -------------------------------------------------------------------------------------------------


def test_in_a_notebook_the_run_is_asked_for_again(open_view: Opener) -> None:
    view = view_of("loop")
    text = len(view["strings"])
    view["strings"] += ["%n", "5"]
    view["live"] = {"limit": 2000, "args": [[text, text + 1]]}
    page = open_view(view_of("tree"))
    page.evaluate(
        """async (view) => {
          const { default: widget } = await import("/relay_explorer/widgets/static/relay_explorer.js");
          const values = { view, state: "", name: "" };
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
        view,
    )
    live = page.locator("#live")
    live.get_by_role("button", name="run again").click()
    live.get_by_label("argument %n").fill("3")
    live.get_by_role("button", name="run", exact=True).click()
    assert page.evaluate("model.get('ask')") == {"limit": 2000, "args": ["3"], "number": 1}
    page.evaluate("model.tell('problem', 'There is no such number.')")
    expect(live.get_by_role("alert")).to_have_text("There is no such number.")
    page.evaluate("view => model.tell('view', view)", view_of("loop", limit=12))
    expect(live.get_by_role("dialog")).to_have_count(0)
    expect(live.get_by_role("button", name="run again")).to_have_count(0)


def test_what_is_clicked_keeps_the_keys(open_view: Opener) -> None:
    view = view_of("tree")
    start = steps_of(view, CHOICE)[2]
    page = open_view(view, fragment=f"#rx-test:step={start}")
    clicks = [".frame .head >> nth=0", ".heap .box >> nth=2", ".entry >> nth=-1", ".val.k-data >> nth=0"]
    for target in clicks:
        if target.startswith(".entry"):
            page.keyboard.press("w")
        page.locator(target).click()
        before = step(page)
        page.keyboard.press("ArrowRight" if "box" not in target else "PageDown")
        assert step(page) != before, target
        page.keyboard.press("Home")
        for _ in range(start - 1):
            page.keyboard.press("ArrowRight")
        page.get_by_role("tab", name="Stack").click()


def test_the_legend_goes_to_the_next_mark(open_view: Opener) -> None:
    view = view_of("tree")
    page = open_view(view, fragment="#rx-test:step=1")
    page.locator(".legend button", has_text="choice").click()
    assert step(page) == steps_of(view, CHOICE)[0]


def test_a_run_without_anything_with_parts_has_no_heap(open_view: Opener) -> None:
    page = open_view(view_of("plain"))
    expect(page.locator(".heap-pane")).to_be_hidden()
    expect(page.locator(".frame").first).to_be_visible()
    phone = open_view(view_of("plain"), width=390)
    tabs = phone.get_by_role("tab").filter(visible=True).all_inner_texts()
    assert tabs == ["Program", "Values", "Stack", "Why"]
