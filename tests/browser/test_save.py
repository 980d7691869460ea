"""What an explorer saves: pictures, tables, texts, films; and what it prints."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from relay_explorer import explore
from tests.browser.pages import ROOT, Opener
from tests.views.programs import MARKUP, hostile

pytestmark = pytest.mark.browser
SVG = "{http://www.w3.org/2000/svg}"
DATA = ROOT / "frontend" / "test" / "data"


def view(name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return result


def menu(page: Page) -> Locator:
    """Open the menu, which is among the other tools on a phone."""
    more = page.get_by_role("button", name="more tools").first
    if more.is_visible():
        more.click()
    page.locator(".tools, .ir-tools").get_by_role("button", name="save", exact=False).first.click()
    return page.get_by_role("dialog", name="Save or print")


def saved(page: Page, button: str) -> bytes:
    """Press a button of the menu and return the file that the browser receives."""
    dialog = page.get_by_role("dialog", name="Save or print")
    with page.expect_download() as download:
        dialog.get_by_role("button", name=button, exact=True).click()
    expect(dialog.get_by_text("Saved as")).to_be_visible()
    return Path(download.value.path()).read_bytes()


def drawing(data: bytes) -> ElementTree.Element:
    """Parse a picture, and check that nothing in it runs, or lies outside of it."""
    root = ElementTree.fromstring(data)
    for node in root.iter():
        assert node.tag.removeprefix(SVG) not in ("script", "foreignObject", "image", "a", "use", "style")
        for key, value in node.attrib.items():
            assert not key.lower().startswith("on")
            assert "href" not in key
            assert "var(" not in value
            assert "color(" not in value
            assert set(re.findall(r"url\(([^)]*)\)", value)) <= {f"#{n.get('id')}" for n in root.iter()}
    return root


def words(root: ElementTree.Element) -> str:
    return " ".join("".join(node.itertext()) for node in root.iter(f"{SVG}text"))


def test_pictures_films_and_tables_of_a_run(open_view: Opener) -> None:
    page = open_view(view("fusion_diamond"), width=390, height=844, theme="dark")
    dialog = menu(page)
    picture = drawing(saved(page, "SVG"))
    assert "can %4 add be fused" in re.sub(r"\s+", " ", words(picture)).lower()
    assert "#17181a" in {node.get("fill") for node in picture.iter()}, "the colors are those that are shown"
    width = int(picture.get("width") or 0)
    assert (picture.find(f"{SVG}desc") or picture[1]).text != ""

    dialog.get_by_role("combobox", name="colors").select_option("light")
    png = Image.open(io.BytesIO(saved(page, "PNG")))
    assert png.width == 2 * width
    assert png.convert("RGB").getpixel((png.width // 2, 8)) == (0xF6, 0xF6, 0xF3)
    assert page.locator(".rx").first.get_attribute("data-theme") == "dark"

    table = saved(page, "CSV").decode("utf-8-sig").splitlines()
    assert table[0] == "row,depth,kind,program,uses,pattern,kernel"
    assert '"%0 = nn.conv2d(' in table[4], "columns that a phone does not show are there"
    assert "complex" in table[4]
    assert saved(page, "text").decode().startswith("def @main(\n  %x: Tensor[(1, 16, 32, 32), float32],\n")

    before = page.locator(".rx .count").first.inner_text()
    for label, value in (("first step", "2"), ("last step", "4")):
        dialog.get_by_role("spinbutton", name=label).fill(value)
    film = Image.open(io.BytesIO(saved(page, "GIF")))
    assert getattr(film, "n_frames", 1) == 3
    frames = []
    for i in range(3):
        film.seek(i)
        frames.append(film.convert("RGB").tobytes())
    assert len(set(frames)) == 3
    with zipfile.ZipFile(io.BytesIO(saved(page, "ZIP of SVGs"))) as archive:
        assert archive.namelist() == ["step-2.svg", "step-3.svg", "step-4.svg"]
        texts = {words(drawing(archive.read(name))) for name in archive.namelist()}
        assert archive.testzip() is None
    assert len(texts) == 3
    assert page.locator(".rx .count").first.inner_text() == before

    dialog.get_by_role("button", name="copy the path").click()
    expect(dialog.get_by_role("alert")).to_contain_text("choose a line of the program first")


def test_a_graph_is_saved_as_shapes_and_its_panes_alone(open_view: Opener) -> None:
    text = "def @main(%x: Tensor[(2), float32]) { let %a = exp(%x); let %b = tanh(%a); add(%a, %b) }"
    page = open_view(explore(text, view="ir").to_dict())
    page.locator(".row").filter(has_text="tanh").click()
    dialog = menu(page)
    what = dialog.get_by_role("combobox", name="what to save")
    labels = what.locator("option").all_inner_texts()
    what.select_option(label=next(label for label in labels if label.startswith("graph")))
    graph = drawing(saved(page, "SVG"))
    assert {"exp", "tanh", "add"} <= set(words(graph).split())
    assert "def" not in words(graph).split()
    assert len(list(graph.iter(f"{SVG}path"))) > 8
    dialog.get_by_role("button", name="copy the path").click()
    expect(dialog.get_by_role("textbox", name="the text, to copy")).to_have_value("@main/%b")


def test_names_that_are_markup_or_formulas_stay_text(browser: Browser, tmp_path: Path) -> None:
    """The saved page has the strictest policy of all, and is opened as a file."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    log: list[str] = []
    page.on("console", lambda message: log.append(message.text))
    page.goto(explore(hostile(), view="types", title=MARKUP).save(tmp_path / "saved.html").as_uri())
    menu(page)
    picture = drawing(saved(page, "SVG"))
    assert (picture[0].text or "") == MARKUP
    assert Image.open(io.BytesIO(saved(page, "PNG"))).width > 2000
    assert page.evaluate("window.hacked") is None
    assert log == []
    context.close()


def test_a_frame_that_refuses_downloads_shows_what_it_would_save(browser: Browser) -> None:
    page = browser.new_page()
    inner = explore("def @main(%x: float32) { exp(%x) }", view="types").to_html()
    page.set_content("<!doctype html><iframe sandbox='allow-scripts' width=900 height=700></iframe>")
    page.evaluate("(html) => { document.querySelector('iframe').srcdoc = html }", inner)
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="save or print what is shown").click()
    frame.get_by_role("button", name="PNG").click()
    expect(frame.get_by_role("img", name="preview of", exact=False)).to_be_visible()
    frame.get_by_role("button", name="CSV").click()
    expect(frame.get_by_role("textbox", name="the text, to copy")).to_have_value(
        re.compile(r"^row,depth,kind,program")
    )
    page.close()


def test_the_whole_program_is_printed(open_view: Opener) -> None:
    lines = "".join(f"let %v{i} = exp(%x);" for i in range(400))
    page = open_view(explore(f"def @main(%x: float32) {{ {lines} %x }}", view="types").to_dict())
    rows = page.locator(".row")
    assert rows.count() < 200
    page.emulate_media(media="print")
    expect(rows).to_have_count(404)
    expect(page.locator(".bar .btn").first).to_be_hidden()
    box = page.locator(".scroller").first.bounding_box()
    assert box is not None
    assert box["height"] > 404 * 20
    page.emulate_media(media="screen")
    page.wait_for_function(
        "document.querySelector('.relay-explorer').shadowRoot.querySelectorAll('.row').length < 200"
    )
