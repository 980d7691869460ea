"""The lowering explorer in a real browser, on samples that TVM and LLVM made."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorers import Samples, press, refusal, say, state_of, violations
from tests.browser.pages import Opener

pytestmark = pytest.mark.browser

sample = Samples("lowering")


def lit(page: Page, level: str) -> list[str]:
    lines = page.locator(f".lv-{level} .lv-line.is-lit .text").all_inner_texts()
    return [" ".join(text.split()) for text in lines]


def test_the_first_frame_is_the_compiled_kernel(open_view: Opener) -> None:
    page = open_view(sample("layer"))
    assert "In the innermost loops, 16 of 30 multiply and add." in say(page)
    heads = page.locator(".lv-head strong:visible").all_inner_texts()
    assert heads == ["Relay", "Tensor expressions", "Loops"]
    shown = page.locator(".lv-switch[aria-pressed=true]:visible")
    expect(shown).to_have_text("assembly")
    page.locator(".lv-switch:visible", has_text="LLVM IR").click()
    expect(page.locator(".lv-ir .p-multiply-add").first).to_be_visible()
    page.locator(".lv-switch:visible", has_text="assembly").click()
    expect(page.locator(".lv-loops .is-loop")).to_have_count(11)
    expect(page.locator(".lv-loops .way-vectorized")).to_have_count(3)
    expect(page.locator(".lv-code .p-multiply-add").first).to_be_in_viewport()
    expect(page.locator(".lowering-effect")).to_contain_text("32 pieces for the cores")


def test_an_operator_is_lit_at_every_level(open_view: Opener) -> None:
    page = open_view(sample("layer"))
    press(page, "2")
    assert lit(page, "relay") == ["%1 = add(%0, %b);"]
    assert lit(page, "te") == ["add[i0, i1] = nn_contrib_dense_pack[i0, i1] + b[0, i1]"]
    assert len(lit(page, "loops")) == 1
    assert lit(page, "loops")[0].startswith("nn_relu[i0, i1] = 0.0 if")
    code = lit(page, "code")
    assert sum(text.startswith("vaddps") for text in code) == 8
    assert not any(text.startswith("vfmadd") for text in code)
    expect(page.locator(".lv-code .lv-tally")).to_have_text(
        "16 arithmetic · 2 load · 8 store · 5 bookkeeping · 1 jump"
    )
    assert sum(" fadd " in text for text in lit(page, "ir")) == 8
    assert state_of(page) == "#rx-test:step=22&op=1"
    page.keyboard.press("Escape")
    assert lit(page, "code") == []
    page.locator(".lv-code .lv-line", has_text="vfmadd231ps").first.click()
    assert lit(page, "relay") == ['%0 = nn.contrib_dense_pack(%x, %w, units=64, weight_layout="NC8n");']


def test_the_schedule_is_stepped_through(open_view: Opener) -> None:
    page = open_view(sample("layer"))
    press(page, "Home")
    assert "3 nests for 3 operators" in say(page)
    expect(page.locator(".lv-loops .is-touched")).to_have_count(0)
    press(page, *["ArrowRight"] * 6)
    assert "are shared out among the cores" in say(page)
    expect(page.locator(".lv-loops .is-touched")).to_contain_text("i1_0_i0_0_fused × 32")
    expect(page.locator(".lowering-effect .changed")).to_have_text(["32 pieces for the cores"])
    expect(page.locator(".lowering-effect .estimated").first).to_contain_text("cycles of the busiest core")
    press(page, *["ArrowRight"] * 4)
    expect(page.locator(".lowering-effect .changed.estimated").first).to_contain_text("× fewer")
    page.get_by_role("button", name="machine code").click()
    assert "LLVM makes 111 instructions" in say(page)


def test_measured_times_are_shown_with_what_a_step_was_worth(open_view: Opener) -> None:
    view = sample("layer")
    view["times"] = [100_000 - 4_000 * step for step in range(len(view["steps"]))]
    view["times"][6] = 20_000
    page = open_view(view, fragment="#rx-test:step=7")
    expect(page.locator(".measured")).to_contain_text("measured 20 µs, ")
    expect(page.locator(".measured")).to_contain_text("GFLOP/s, 4× faster")
    press(page, "Home")
    expect(page.locator(".measured")).to_contain_text("measured 100 µs")


def test_lines_are_walked_with_the_keyboard(open_view: Opener) -> None:
    page = open_view(sample("convolution"), fragment="#rx-test:step=3")
    press(page, "ArrowDown", "ArrowDown", "]")
    focused = page.evaluate(
        "document.querySelector('.relay-explorer').shadowRoot.activeElement.dataset.level"
    )
    assert focused == "ir"
    press(page, "[")
    page.keyboard.press("[")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".count")).to_have_text("4 / 23")


def test_on_a_phone_the_levels_are_tabs(open_view: Opener) -> None:
    page = open_view(sample("convolution"), width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= 390")
    for name, level in (("Relay", "relay"), ("TE", "te"), ("assembly", "code"), ("Loops", "loops")):
        page.get_by_role("tab", name=name, exact=True).click()
        expect(page.locator(".lv-panel:visible")).to_have_count(1)
        expect(page.locator(f".lv-{level}")).to_be_visible()


def test_damage_is_refused_with_its_place(open_view: Opener) -> None:
    view = sample("layer")
    view["steps"][3][4] = [[0]]
    assert "damaged (step 4: loops)" in refusal(open_view(sample("layer")), view)


@pytest.mark.parametrize(
    ("name", "width", "theme"), [("layer", 1280, "light"), ("softmax", 1280, "dark"), ("layer", 390, "dark")]
)
def test_axe_finds_nothing(open_view: Opener, axe_core: str, name: str, width: int, theme: str) -> None:
    page = open_view(sample(name), width=width, theme=theme, motion="reduce", fragment="#rx-test:step=4&op=0")
    assert violations(page, axe_core) == []
