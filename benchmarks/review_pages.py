"""What the measurements of `review_explorers` share: rows of the table, pages with one explorer, programs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from playwright.sync_api import Browser, Page

from relay_explorer import explore, models
from relay_explorer.lower.profiling.measurement import stored
from tests.book.chapters import explorers
from tests.browser.pages import ORIGIN, Site, page_html

#: The explorers of nine chapters, most of those that the review measured.
CHAPTERS = (
    "ch05_sharing", "ch06_control_flow", "ch07_lists_trees_matching", "ch10_types", "ch16_fusion",
    "ch18_partial_evaluation", "ch19_gradients", "ch21_operators_to_loops", "ch26_tuning",
)  # fmt: skip
PASSES = "SimplifyInference, FoldScaleAxis, EliminateCommonSubexpr, FuseOps"
DESKTOP, PHONE = (1280, 800), (390, 844)
BAR = 52  # the height of the book's bar, which stays on top

Data = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A row of the table: what the review found, how it is measured now, and the measurement."""

    name: str
    then: str
    how: str
    measure: Callable[[Pages], str]


ROWS: list[Row] = []


def row(name: str, then: str, how: str) -> Callable[[Callable[[Pages], str]], Callable[[Pages], str]]:
    """Register the decorated function as the measurement of a row."""

    def register(measure: Callable[[Pages], str]) -> Callable[[Pages], str]:
        ROWS.append(Row(name, then, how, measure))
        return measure

    return register


class Pages:
    """Open explorers, each in a page of its own. `failures` are the errors of all of them, and the requests
    to elsewhere.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.failures: list[str] = []

    @contextlib.contextmanager
    def open(
        self,
        view: str | Data,
        size: tuple[int, int] = DESKTOP,
        *,
        fragment: str = "",
        script: str = "",
        letters: str = "100%",
        **options: Any,
    ) -> Iterator[Page]:
        """Yield a page with one explorer. `letters` is the size of the browser's text; `options` are those
        of a browser context.
        """
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]}, has_touch=size[0] < 600, **options
        )
        page = context.new_page()
        page.set_default_timeout(120_000)
        site = Site(page_html(view, f' data-theme="light" style="font-size: {letters}"', size[0]))
        site.watch(page)
        if script:
            page.add_init_script(script)
        try:
            page.goto(f"{ORIGIN}/{fragment}")
            page.wait_for_function("window.ready === true")
            page.evaluate(
                "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            yield page
        finally:
            self.failures += site.failures
            context.close()


@cache
def text_of(name: str, kind: str) -> str:
    """Return the data of a view of one of the package's models as JSON."""
    if kind == "run":
        return str(explore(stored(name), kernel=[]).to_json())
    passes = PASSES if kind == "pipeline" else None
    return str(explore(models.load(name), view=kind, title=name, passes=passes).to_json())


def model(name: str, kind: str) -> Data:
    """Return a copy of a view of a model."""
    data: Data = json.loads(text_of(name, kind))
    return data


def of_book(chapter: str, name: str) -> Data:
    """Return the data of an explorer of the book. The chapter's cells run once."""
    data: Data = json.loads(explorers(chapter)[name].view.to_json())
    return data


def every_of_book() -> dict[str, Data]:
    """Return the explorers of the chapters by name."""
    return {
        name: json.loads(explorer.view.to_json())
        for chapter in CHAPTERS
        for name, explorer in explorers(chapter).items()
    }


def listed(counts: dict[str, Any]) -> str:
    """Format what was counted by name."""
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"
