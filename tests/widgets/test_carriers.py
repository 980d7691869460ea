"""One output of a notebook carries the bundle, and the others use it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from relay_explorer import explore
from relay_explorer.widgets import carriers, page
from relay_explorer.widgets.carriers import Carriers
from tests.widgets.programs import SMALL


class Notebook:
    """A front end: it runs cells, and notes which outputs carry the bundle."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.request: dict[str, Any] = {}
        self.started: list[Callable[[], None]] = []
        self.runs = 0
        self.session = "first"
        events = SimpleNamespace(register=lambda _, function: self.started.append(function))
        shell = SimpleNamespace(kernel=object(), events=events, get_parent=lambda: self.request)
        monkeypatch.setattr(carriers, "shell", lambda: shell)
        monkeypatch.setattr(carriers, "_carriers", Carriers())
        monkeypatch.setattr(carriers, "_watched", set())

    def run(
        self, cell: str, explorers: int = 1, deleted: tuple[str, ...] = (), named: bool = True
    ) -> list[bool]:
        """Run a cell that displays explorers; return which of them carry the bundle."""
        self.runs += 1
        self.request = {
            "header": {"session": self.session, "msg_id": str(self.runs)},
            "metadata": {"cellId": cell, "deletedCells": list(deleted)} if named else {},
            "content": {"code": cell},
        }
        for function in self.started:
            function()
        return [carriers.carries() for _ in range(explorers)]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    return Notebook(monkeypatch)


@pytest.mark.parametrize("named", [True, False], ids=["cells have names", "cells are known by their text"])
def test_the_first_of_several(notebook: Notebook, named: bool) -> None:
    assert notebook.run("a", 3, named=named) == [True, False, False]
    assert notebook.run("b", 2, named=named) == [False, False]
    assert notebook.run("c", named=named) == [False]


def test_everything_run_again(notebook: Notebook) -> None:
    for _ in range(3):
        assert [notebook.run(cell)[0] for cell in "abc"] == [True, False, False]


def test_the_cell_that_carried_it_shows_something_else(notebook: Notebook) -> None:
    notebook.run("a")
    notebook.run("b")
    notebook.run("a", 0)
    assert notebook.run("c") == [True]


def test_the_cell_that_carried_it_is_deleted(notebook: Notebook) -> None:
    notebook.run("a")
    assert notebook.run("b", 0, deleted=("a",)) == []
    assert notebook.run("c") == [True]


def test_a_cell_that_is_run_again_by_itself_is_complete(notebook: Notebook) -> None:
    """Its reader follows the note that is shown where the bundle is missing."""
    notebook.run("a")
    assert notebook.run("b") == [False]
    assert notebook.run("b") == [True]
    assert notebook.run("c") == [False]


def test_a_page_that_is_opened_again(notebook: Notebook) -> None:
    notebook.run("a")
    notebook.session = "second"
    assert notebook.run("b") == [True]


def test_frames_that_see_no_other_output(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    assert [notebook.run(cell)[0] for cell in "ab"] == [True, True]


def test_a_callback_of_a_widget(notebook: Notebook) -> None:
    notebook.run("a")
    notebook.request = {"header": {"msg_type": "comm_msg"}, "content": {"comm_id": "1"}}
    assert carriers.carries()


# -- in a browser


def _output(name: str, carries: bool) -> str:
    return page.output(explore(SMALL, view="types", name=name).view, name, carries=carries)


def _show(browser: Browser, *outputs: str) -> Page:
    opened = browser.new_page()
    opened.set_content("<!doctype html><title>a notebook</title>")
    for text in outputs:
        _insert(opened, text)
    return opened


def _insert(opened: Page, text: str) -> None:
    """Insert an output as notebooks do: the scripts in its markup are made anew so that they run."""
    opened.evaluate(
        """(text) => {
          const output = document.createElement("div");
          output.innerHTML = text;
          document.body.append(output);
          for (const script of output.querySelectorAll("script")) {
            const again = document.createElement("script");
            if (script.type) again.type = script.type;
            again.textContent = script.textContent;
            script.replaceWith(again);
          }
        }""",
        text,
    )


@pytest.mark.browser
def test_one_bundle_draws_the_outputs_before_and_after_it(browser: Browser) -> None:
    opened = _show(browser, _output("one", False), _output("two", True), _output("three", False))
    expect(opened.locator(".rx")).to_have_count(3)
    opened.evaluate("window.first = globalThis.relayExplorer")
    _insert(opened, _output("four", True))
    expect(opened.locator(".rx")).to_have_count(4)
    assert opened.evaluate("window.first === globalThis.relayExplorer"), "the bundle is loaded once"
    opened.close()


@pytest.mark.browser
def test_without_the_bundle_the_picture_says_what_to_do(browser: Browser) -> None:
    opened = browser.new_page()
    opened.clock.install()
    opened.set_content("<!doctype html><title>a notebook</title>")
    _insert(opened, _output("one", False))
    opened.clock.run_for(5000)
    expect(opened.get_by_role("note")).to_contain_text("run this cell again")
    expect(opened.locator("pre")).to_contain_text("%0 = tanh(%a);")
    _insert(opened, _output("two", True))
    expect(opened.locator(".rx")).to_have_count(2)
    expect(opened.get_by_role("note")).to_have_count(0)
    opened.close()
