"""The built site: nothing asks for anything outside, every link arrives, and the front end is there once."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.book

# What a browser fetches by itself when it draws a page. An anchor is followed only by a reader.
FETCHING = {
    "script": ["src"],
    "img": ["src", "srcset"],
    "iframe": ["src"],
    "embed": ["src"],
    "source": ["src", "srcset"],
    "video": ["src", "poster"],
    "audio": ["src"],
    "object": ["data"],
    "use": ["href", "xlink:href"],
    "image": ["href", "xlink:href"],
}
LINK_RELATIONS = {
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "prefetch",
    "preconnect",
    "dns-prefetch",
    "manifest",
}


class Page(HTMLParser):
    """What a test asks of a page: what it fetches, where it leads, its identifiers, its inline scripts."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.path = path
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.scripts: list[str] = []
        self.explorers = 0
        self._in_script = False
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.fetched += [values[name] for name in FETCHING.get(tag, []) if values.get(name)]
        if tag == "link" and set(values.get("rel", "").split()) & LINK_RELATIONS:
            self.fetched.append(values["href"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if "id" in values:
            self.ids.append(values["id"])
        self.explorers += "relay-explorer" in values.get("class", "").split()
        self._in_script = tag == "script" and "src" not in values and values.get("type") != "application/json"

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts.append(data)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}


def is_outside(address: str) -> bool:
    return not address.startswith("data:") and bool(urlsplit(address).scheme or urlsplit(address).netloc)


def test_a_page_that_asks_outside_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<a href="https://a"><img src="//b/c.png"><script src="x.js"></script><link rel=preload href="http://d">'
    )
    assert [is_outside(address) for address in Page(page).fetched] == [True, False, True]


def test_no_page_asks_for_anything_outside(pages: dict[Path, Page]) -> None:
    assert not [
        (path.name, address)
        for path, page in pages.items()
        for address in page.fetched
        if is_outside(address)
    ]


def test_no_style_or_script_asks_for_anything_outside(site: Path) -> None:
    asks = re.compile(r"(?:@import|url\(|fetch\(|import\(|\.src\s*=)\s*[\"'(]?\s*(?:https?:)?//[^)\"'\s]+")
    result = {
        (path.relative_to(site).as_posix(), hit[0])
        for path in (site / "_static").rglob("*")
        if path.suffix in {".css", ".js"}
        for hit in asks.finditer(path.read_text("utf-8"))
    }
    assert not result


def test_what_pages_fetch_is_there(site: Path, pages: dict[Path, Page]) -> None:
    missing = [
        (path.name, address)
        for path, page in pages.items()
        for address in page.fetched
        if not address.startswith("data:") and not (path.parent / unquote(urlsplit(address).path)).exists()
    ]
    assert not missing


def test_every_link_within_the_site_arrives(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for address in page.links:
            if is_outside(address) or address.startswith(("mailto:", "data:")):
                continue
            where, _, fragment = address.partition("#")
            target = pages.get((path.parent / unquote(where)).resolve() if where else path)
            # `#rx-NAME:TOKEN` is the state of the explorer in the element `rx-NAME`.
            anchor = fragment.partition(":")[0] if fragment.startswith("rx-") else fragment
            if target is None or (anchor and unquote(anchor) not in target.ids):
                broken.append((path.name, address))
    assert not broken


def test_identifiers_are_unique_within_a_page(pages: dict[Path, Page]) -> None:
    twice = {
        (path.name, name) for path, page in pages.items() for name in page.ids if page.ids.count(name) > 1
    }
    assert not twice


def test_the_bundle_is_loaded_once_where_it_is_needed(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        loaded = sum("relay_explorer.js" in address for address in page.fetched)
        assert loaded == (1 if page.explorers or path.name == "playground.html" else 0), path.name
        # Nor does an explorer bring the bundle with it.
        assert max(map(len, page.scripts), default=0) < 4000, path.name


def test_the_cover_and_every_chapter_hold_an_explorer(site: Path, pages: dict[Path, Page]) -> None:
    chapters = [site / "book" / "index.html", *sorted((site / "book").glob("ch[0-9][0-9]*_*.html"))]
    assert not [path.name for path in chapters if not pages[path].explorers]


def test_formulas_bring_their_typesetter_and_nothing_else_does(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        needed = 'class="math' in path.read_text("utf-8")
        assert any("katex" in address for address in page.fetched) is needed, path.name


def test_pages_stay_light(pages: dict[Path, Page]) -> None:
    """A page's own HTML with all its explorers stays under 480 kB, the bundle not counted: the rows of
    chapter 14's ResNet-18, with their types, at every stage of a pipeline take half of that.
    """
    heavy = {path.name: size for path in pages if (size := path.stat().st_size) > 480_000}
    assert not heavy
