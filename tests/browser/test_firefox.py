"""Every explorer in Firefox, opened from a file: it draws, steps, searches and fits the window."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from relay_explorer.widgets import bundle, page
from tests.browser.every_view import VIEWS, sample
from tests.browser.pages import ROOT

pytestmark = pytest.mark.browser

#: The view that is saved in every form.
SAVED = "fusion"
FIREFOX = "/usr/bin/firefox-esr"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>an explorer</title></head>
<body><main><h1>A page</h1><div class="relay-explorer" id="rx-test">
<script type="application/json">{view}</script></div><p style="height: 1500px">More.</p></main>
<script>{script}</script></body></html>"""


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory, npm_packages: Path) -> dict[str, list[dict[str, Any]]]:
    """What `frontend/firefox.mjs` saw of each view, at each size."""
    folder = tmp_path_factory.mktemp("firefox")
    pages = []
    for view in VIEWS:
        file = folder / f"{view}.html"
        data = page.script_json(json.dumps(sample(view)))
        file.write_text(PAGE.format(view=data, script=bundle.script()), "utf-8")
        pages.append({"name": view, "url": file.as_uri(), "files": view == SAVED})
    command = ["node", str(ROOT / "frontend/firefox.mjs"), FIREFOX]
    result = subprocess.run(command, input=json.dumps(pages), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    seen: dict[str, list[dict[str, Any]]] = {view: [] for view in VIEWS}
    for visit in json.loads(result.stdout):
        seen[visit["name"]].append(visit)
    return seen


@pytest.mark.parametrize("view", VIEWS)
def test_firefox(view: str, visits: dict[str, list[dict[str, Any]]]) -> None:
    assert [visit["width"] for visit in visits[view]] == [1280, 390]
    for visit in visits[view]:
        assert visit["errors"] == []
        first, last = visit["first"], visit["last"]
        assert first["height"] <= visit["height"], "it fits the window"
        assert first["overflow"] <= 0, "the page has no horizontal scroll bar"
        assert all(first["seen"].values()), "transport, sentence and time are in sight"
        assert last["find"], "the key / opens the search"
        if re.match(r"[–\d]+ / \d+$", first["count"]):
            assert len(set(visit["counts"])) > 2, "the keys step"
            assert all(last["seen"].values()), "transport, sentence and time stay in sight"
            assert abs(last["scrolled"] - first["scrolled"]) <= 1, "the page did not scroll while stepping"


def test_firefox_fills_the_window_and_saves(visits: dict[str, list[dict[str, Any]]]) -> None:
    (visit,) = (visit for visit in visits[SAVED] if visit["whole"])
    whole = visit["whole"]
    assert whole["full"]["height"] == visit["height"]
    assert whole["full"]["seen"] == {"transport": True, "sentence": True, "time": True}, whole
    assert whole["after"] < visit["height"], "and back"
    saved = whole["saved"]
    assert {form: begin for form, (_, begin) in saved.items()} == {
        "SVG": "<svg x",
        "PNG": "\x89PNG\r\n",
        "CSV": "\xef\xbb\xbfrow",
        "GIF": "GIF89a",
    }
    assert all(size > 100 for size, _ in saved.values())
