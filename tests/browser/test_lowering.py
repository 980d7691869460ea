"""The lowering explorer in a real browser, on samples that TVM and LLVM made. A page is loaded once for all
that can be asked of it.
"""

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


def to(page: Page, state: str) -> None:
    """Opens another state by the address."""
    page.evaluate(f"location.hash = '#rx-test:{state}'")


def test_the_compiled_kernel_and_an_operator_that_is_lit_at_every_level(
    open_view: Opener,
) -> None:
    page = open_view(sample("layer"))
    assert page.locator(".where").inner_text() == "Step 2 of 22: the first change to the loops."
    press(page, "End")
    expect(page.locator(".where")).to_be_hidden()
    assert "In the innermost loops, 16 of 30 are multiply-adds." in say(page)
    heads = page.locator(".lv-head strong:visible").all_inner_texts()
    assert heads == ["Relay", "Tensor expressions", "Loops"]
    shown = page.locator(".lv-switch[aria-pressed=true]:visible")
    expect(shown).to_have_text("assembly")
    expect(page.locator(".lv-loops .is-loop")).to_have_count(11)
    expect(page.locator(".lv-loops .way-vectorized")).to_have_count(3)
    expect(page.locator(".lv-code .p-multiply-add").first).to_be_in_viewport()
    expect(page.locator(".lowering-effect")).to_contain_text("32 parallel tasks")

    press(page, "2")
    assert lit(page, "relay") == ["%1 = add(%0, %b);"]
    assert lit(page, "te") == ["add[i0, i1] = nn_contrib_dense_pack[i0, i1] + b[0, i1]"]
    assert len(lit(page, "loops")) == 1
    assert lit(page, "loops")[0].startswith("nn_relu[i0, i1] = 0.0 if")
    expect(page.locator(".lv-loops .is-lit.is-block").first).to_be_in_viewport()
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

    page.locator(".lv-switch:visible", has_text="LLVM IR").click()
    expect(page.locator(".lv-ir .p-multiply-add").first).to_be_visible()
    page.locator(".lv-switch:visible", has_text="assembly").click()
    expect(page.locator(".lv-ir")).to_be_hidden()


def test_the_schedule_is_stepped_through_with_what_each_step_is_worth(
    open_view: Opener, axe_core: str
) -> None:
    view = sample("layer")
    view["times"] = [100_000 - 4_000 * step for step in range(len(view["steps"]))]
    view["times"][6] = 20_000
    page = open_view(view, motion="reduce")
    press(page, "Home")
    assert "3 nests for 3 operators" in say(page)
    expect(page.locator(".lv-loops .is-touched")).to_have_count(0)
    expect(page.locator(".measured")).to_contain_text("measured 100 µs")
    press(page, *["ArrowRight"] * 6)
    assert "are divided among the cores" in say(page)
    expect(page.locator(".lv-loops .is-touched")).to_contain_text("i1_0_i0_0_fused × 32")
    expect(page.locator(".lowering-effect .changed:not(.measured)")).to_have_text(["32 parallel tasks"])
    expect(page.locator(".lowering-effect .estimated").first).to_contain_text("cycles of the busiest core")
    expect(page.locator(".measured")).to_contain_text("measured 20 µs, ")
    expect(page.locator(".measured")).to_contain_text("GFLOP/s, 4× faster")
    press(page, *["ArrowRight"] * 4)
    expect(page.locator(".lowering-effect .changed.estimated").first).to_contain_text("× fewer")
    page.get_by_role("button", name="machine code").click()
    assert "LLVM generates 111 instructions" in say(page)
    assert violations(page, axe_core) == []
    to(page, "step=4&op=0")
    expect(page.locator(".count")).to_have_text("4 / 22")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.locator(".rx[data-theme=dark]")).to_be_visible()
    assert violations(page, axe_core) == []


def test_lines_are_walked_with_the_keyboard_and_on_a_phone_the_levels_are_tabs(open_view: Opener) -> None:
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
    expect(page.locator(".count")).to_have_text("4 / 22")

    # Where the system sets the colors, what a step is about has an outline.
    page.emulate_media(forced_colors="active")
    expect(page.locator(".lv-loops .is-touched").first).to_have_css("outline-width", "3px")
    page.emulate_media(forced_colors="none")

    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= 390")
    for name, level in (("Relay", "relay"), ("TE", "te"), ("assembly", "code"), ("Loops", "loops")):
        page.get_by_role("tab", name=name, exact=True).click()
        expect(page.locator(".lv-panel:visible")).to_have_count(1)
        expect(page.locator(f".lv-{level}")).to_be_visible()

    view = sample("layer")
    view["steps"][3][4] = [[0]]
    assert "damaged (steps[3].nest[0])" in refusal(page, view)


#: Of the instructions that wrap, how far their second line stands in from the first; of the labels and of the
#: instructions that do not, where they begin.
INDENTS = """() => {
  const lines = [...document.querySelector(".relay-explorer").shadowRoot.querySelectorAll(".lv-ir .lv-line")];
  const out = { wrapped: [], pairs: [] };
  lines.forEach((line, i) => {
    const range = new Range();
    range.selectNodeContents(line.querySelector(".text"));
    const rects = [...range.getClientRects()].filter(({ width }) => width > 0);
    const second = rects.find(({ top }) => top > rects[0].bottom - 2);
    const label = line.querySelector(".label");
    if (second && !label) out.wrapped.push(second.left - rects[0].left);
    const next = lines[i + 1]?.querySelector(".text:not(.label)");
    if (!label || !next || line.style.cssText !== lines[i + 1].style.cssText) return;
    range.selectNodeContents(next);
    out.pairs.push(range.getClientRects()[0].left - rects[0].left);
  });
  return out;
}"""


def test_code_hangs_from_its_instruction_and_instructions_from_their_labels(open_view: Opener) -> None:
    page = open_view(sample("convolution"), width=390, height=844)
    page.get_by_role("tab", name="LLVM IR").click()
    expect(page.locator(".lv-ir .text").first).to_be_visible()
    indents = page.evaluate(INDENTS)
    assert len(indents["wrapped"]) > 20
    assert min(indents["wrapped"]) > 8
    assert indents["pairs"]
    assert min(indents["pairs"]) > 8
