"""The printed figures are what the scripts draw, in light and dark, and say in words what they show."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from matplotlib import rc_context
from matplotlib.axes import Axes

from figures.canvas import Canvas
from figures.chart import Chart
from figures.gallery import FIGURES, FOLDER, render
from figures.style import palette
from relay_explorer.interop.charts.style import say
from tests.browser.pages import ARGUMENTS, CHROMIUM

SVG = "{http://www.w3.org/2000/svg}"
DRAWINGS = render(FIGURES)


def test_the_committed_drawings_are_what_the_scripts_draw() -> None:
    committed = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.svg")}
    assert sorted(committed) == sorted(DRAWINGS)
    assert [name for name, svg in DRAWINGS.items() if committed[name] != svg] == []


@pytest.mark.parametrize("name", DRAWINGS)
class TestDrawing:
    def test_says_in_words_what_it_shows(self, name: str) -> None:
        root = ElementTree.fromstring(DRAWINGS[name])
        assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
        assert len(root.findtext(f"{SVG}title", "")) > 5
        assert len(root.findtext(f"{SVG}desc", "").split()) > 25

    def test_asks_for_nothing_from_outside(self, name: str) -> None:
        svg = DRAWINGS[name].replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|url\(|<image|<script|<style", svg)

    def test_names_generic_fonts_only(self, name: str) -> None:
        families = set(re.findall(r'font-family="([^"]+)"', DRAWINGS[name]))
        assert families <= {"system-ui, sans-serif", "ui-monospace, monospace"}

    def test_text_can_be_read_on_a_phone(self, name: str) -> None:
        """At 340 px wide no text is smaller than 8 px."""
        root = ElementTree.fromstring(DRAWINGS[name])
        sizes = [float(node.attrib["font-size"]) for node in root.iter() if "font-size" in node.attrib]
        assert min(sizes) * 340 / float(root.attrib["width"]) >= 8


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio (WCAG 2.1) between two hexadecimal colors."""

    def luminance(color: str) -> float:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_the_page_and_from_its_box(theme: str) -> None:
    tokens = palette(theme)
    pairs = [
        ("ink", "paper"),
        ("soft", "paper"),
        ("ink", "known-bg"),
        ("known", "known-bg"),
        ("run", "run-bg"),
    ]
    pairs += [("queued", "queued-bg"), ("bad", "bad-bg"), ("partial", "partial-bg")]
    pairs += [(f"hue-{hue}", f"hue-{hue}-fill") for hue in ("blue", "orange", "purple", "teal", "olive")]
    assert {
        pair: contrast(tokens[pair[0]], tokens[pair[1]])
        for pair in pairs
        if contrast(tokens[pair[0]], tokens[pair[1]]) < 4.5
    } == {}


def test_a_sheet_escapes_what_is_written_on_it() -> None:
    sheet = Canvas(10, 10, "light")
    sheet.text(0, 0, "a < b & `</text><script>`")
    assert "<script>" not in sheet.parts[0]
    assert "a &lt; b &amp; <tspan" in sheet.parts[0]


def test_a_chart_does_not_depend_on_the_settings_of_matplotlib() -> None:
    (chart,) = [figure for figure in FIGURES if figure.name == "roofline"]
    with rc_context({"font.size": 30, "lines.linewidth": 9, "axes.grid": True, "svg.fonttype": "path"}):
        assert chart.svg("light") == DRAWINGS["roofline.light.svg"]


def test_a_chart_keeps_markers_and_text_at_their_places() -> None:
    def draw(axes: Axes, theme: str) -> None:
        axes.set_xlim(0, 10)
        axes.set_ylim(0, 10)
        axes.set_axis_off()
        axes.plot([5], [2], "o", color=palette(theme)["hue-blue"], markersize=6, markeredgewidth=0)
        say(axes, "a < b, $5", (5, 2), (10, 0))
        axes.text(0, 5, "upwards", rotation=90, rotation_mode="anchor")

    svg = Chart("dot", 200, 100, "A dot", "One dot.", (0, 0, 0, 0), draw).svg("light")
    assert '<circle cx="100" cy="80" r="3"' in svg
    assert '<text x="110" y="80"' in svg
    assert ">a &lt; b, $5</text>" in svg
    assert re.search(r'transform="rotate\(-90 0 50\)"[^>]*>upwards<', svg)


@pytest.mark.browser
def test_no_text_leaves_its_sheet() -> None:
    from playwright.sync_api import sync_playwright

    # Of what is drawn: the box of a text itself does not know of a rotation.
    measure = """() => { const sheet = document.querySelector('svg').getBoundingClientRect();
        return [...document.querySelectorAll('text')]
            .filter(t => { const b = t.getBoundingClientRect(); return b.left < sheet.left
                || b.top < sheet.top || b.right > sheet.right || b.bottom > sheet.bottom; })
            .map(t => t.textContent) }"""
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(offline=True)
        outside = {}
        for figure in FIGURES:
            page.set_content(figure.svg("light"))
            outside[figure.name] = page.evaluate(measure)
        browser.close()
    assert {name: texts for name, texts in outside.items() if texts} == {}
