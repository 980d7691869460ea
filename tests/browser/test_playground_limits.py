"""Programs that would run forever, or fill the memory, in the playground: the page ends them and goes on."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.playground_page import FIRST, Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

GOOD = "def @main(%good: float32) { exp(%good) }"
ENDLESS = "def @f(%n: int32) -> int32 { %n + @f(%n + 1) }\ndef @main() -> int32 { @f(0) }"
DYNAMIC = """def @f(%n: int32, %x: float32) -> float32 { @f(%n + 1, @f(%n + 2, %x)) }
def @main(%x: float32) -> float32 { @f(0, %x) }"""
# Each iteration keeps four more megabytes.
KEEPING = """type Kept { More(Tensor[(1000, 1000), float32], Kept), None }
def @keep(%k: Kept) -> Kept { @keep(More(ones(shape=[1000, 1000], dtype="float32"), %k)) }
def @main() { @keep(None) }"""
# The worker is busy for longer than the tests wait.
LONG = "def @main(%x0: float32) {{ {} %x20000 }}".format(
    " ".join(f"let %x{i + 1} = exp(%x{i});" for i in range(20_000))
)


def good(seen: Visit) -> None:
    """Show that the next program works."""
    page = seen.page
    seen.write(GOOD)
    page.get_by_label("View").select_option("types")
    seen.run()
    seen.explorer("types")
    expect(page.locator(".picture")).to_contain_text("%good", timeout=FIRST)
    expect(page.locator(".problem")).to_have_count(0)


@pytest.mark.parametrize(
    ("view", "text", "told"),
    [
        ("evaluation", ENDLESS, "after 100,000 steps"),
        ("machine", ENDLESS, "steps"),
        ("partial", DYNAMIC, ""),
        ("evaluation", 'def @main() { zeros(shape=[99999, 99999], dtype="float32") }', "too large"),
    ],
    ids=["endless evaluation", "endless run of the machine", "endless partial evaluation", "huge"],
)
def test_a_run_without_end_is_shown_as_far_as_it_came(
    running: Visit, view: str, text: str, told: str
) -> None:
    page = running.page
    running.write(text)
    page.get_by_label("View").select_option(view)
    running.explorer(view)
    expect(page.locator(".picture-host.is-stale")).to_have_count(0, timeout=FIRST)
    page.locator(".picture .rx.framed").first.press("End")
    expect(page.locator(".picture")).to_contain_text(told)
    expect(page.locator(".problem")).to_have_count(0)
    good(running)


def test_a_run_that_keeps_everything_ends_at_a_limit(running: Visit) -> None:
    # Which limit is reached first, that of the memory or the 20 seconds, depends on the machine.
    page = running.page
    page.get_by_label("View").select_option("evaluation")
    running.write(KEEPING)
    ends = page.locator(".problem, .picture").filter(
        has_text=re.compile("memory of the page is used up|larger than the memory|Stopped after 20 seconds")
    )
    expect(ends.first).to_be_visible(timeout=FIRST)
    good(running)


def test_a_computation_is_stopped_after_twenty_seconds_or_by_the_button(running: Visit) -> None:
    page = running.page
    page.clock.install()
    running.write(LONG)
    expect(page.get_by_role("button", name="Stop")).to_be_enabled()
    page.clock.fast_forward(21_000)
    expect(page.locator(".problem")).to_contain_text("Stopped after 20 seconds")
    expect(page.locator(".cm-content")).to_contain_text("exp(%x")
    expect(page.locator(".picture-host.is-stale")).to_be_visible()
    expect(page.locator(".status")).to_contain_text("Press Run to start again")
    good(running)
    running.write(LONG)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".problem")).to_contain_text("Your text is kept")
    good(running)
