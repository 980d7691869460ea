"""Random and damaged programs in the playground's page: each gives a result or a message, and stays text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from relay_explorer.relay import astext
from relay_explorer.testing import generate
from tests.browser.playground_page import FIRST, Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROGRAMS = 40
VIEWS = (
    "types",
    "fusion",
    "evaluation",
    "sharing",
    "pipeline",
    "partial",
    "ir",
    "machine",
    "gradient",
    "memory",
)
#: What a page must not take for anything but text, and what the compiler must refuse in time.
PIECES = [
    "<script>window.ran = true</script>", "<img src=x onerror='window.ran = true'>", "javascript:alert(1)",
    "\u0000", "\u202e", "\u2066", "\u200b", "\U0001f600", "`", "${window.ran = true}", "%" + "long" * 500,
    "(" * 400, "{" * 300, "Tensor[(999999999999, 999999999999), float32]", "9" * 400, '"', "/*", "#[",
    "meta[", "fn (%x: float32) { %x }", "let %x = %x;", "@main", "ref(", "match (", "1e999f", "\\", "\n" * 50,
]  # fmt: skip
#: Count the answers, and remember the last.
LISTEN = """() => {
  const root = document.querySelector(".relay-playground").shadowRoot.querySelector(".pg");
  window.answers = 0;
  root.addEventListener("answered", ({ detail }) => {
    window.answers += 1;
    window.answer = { problems: detail.problems, shown: detail.view !== null, seconds: detail.seconds };
  });
}"""
STATE = """() => {
  const root = document.querySelector(".relay-playground").shadowRoot;
  return {
    ...window.answer,
    ran: "ran" in window,
    stale: root.querySelector(".picture-host").classList.contains("is-stale"),
    messages: [...root.querySelectorAll(".problem .message")].map((el) => el.textContent),
  };
}"""


def tokens(text: str) -> list[str]:
    return re.findall(r"\s+|[%@]?[\w.]+|.", text)


def damaged(rng: random.Random, text: str) -> str:
    """Delete, double, swap or replace tokens of a program, or insert something hostile, until it has changed:
    the page answers changes only.
    """
    while (changed := _damage(rng, text)) == text:
        pass
    return changed


def _damage(rng: random.Random, text: str) -> str:
    parts = tokens(text)
    for _ in range(rng.randint(1, 3)):
        at, to = rng.randrange(len(parts)), rng.randrange(len(parts))
        match rng.randrange(5):
            case 0:
                del parts[at]
            case 1:
                parts.insert(at, parts[at])
            case 2:
                parts[at], parts[to] = parts[to], parts[at]
            case 3:
                parts[at] = parts[to]
            case 4:
                parts.insert(at, rng.choice(PIECES))
    return "".join(parts)


def stream(seed: int) -> Iterator[str]:
    """Generate programs: well-typed ones, and each of them damaged."""
    rng = random.Random(seed)
    while True:
        text = astext(generate(rng, rng.choice([5, 15, 40])).module)
        yield text
        for _ in range(4):
            yield damaged(rng, text)


def test_every_program_gives_a_result_or_a_message(visit: Callable[..., Visit]) -> None:
    seen = visit()
    seen.run()
    seen.explorer("types")
    page = seen.page
    page.evaluate(LISTEN)
    programs = stream(7)
    slowest = 0.0
    for number in range(PROGRAMS):
        if number % (PROGRAMS // len(VIEWS)) == 0:
            before = page.evaluate("window.answers")
            page.get_by_label("View").select_option(VIEWS[number // (PROGRAMS // len(VIEWS))])
            page.wait_for_function("(n) => window.answers > n", arg=before)
        text = next(programs)
        before = page.evaluate("window.answers")
        seen.write(text)
        page.wait_for_function("(n) => window.answers > n", arg=before, timeout=FIRST)
        state = page.evaluate(STATE)
        assert state["shown"] or state["messages"], text
        assert state["stale"] != state["shown"], text
        assert all(state["messages"]), text
        assert not state["ran"], text
        slowest = max(slowest, state["seconds"])
    assert slowest < 10
    before = page.evaluate("window.answers")
    seen.write("def @main(%good: float32) { exp(%good) }")
    page.get_by_label("View").select_option("types")
    seen.explorer("types")
    expect(page.locator(".picture")).to_contain_text("%good")
    expect(page.locator(".problem")).to_have_count(0)
