"""Charts of measurements: matplotlib draws the axes, and its SVG is rewritten to the form of all figures."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Plot

from figures.canvas import document, number
from figures.style import MONO, palette
from relay_explorer.interop.charts.style import look

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"
PAINT = (
    "fill", "fill-opacity", "opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
    "stroke-linecap", "stroke-linejoin",
)  # fmt: skip


def _paint(*nodes: ElementTree.Element) -> dict[str, str]:
    """Return the style of a shape as attributes; that of an earlier node prevails."""
    properties: dict[str, str] = {}
    for node in reversed(nodes):
        for declaration in filter(None, node.get("style", "").split(";")):
            name, value = declaration.split(":")
            properties[name.strip()] = value.strip()
    return properties


def _attributes(properties: dict[str, str]) -> str:
    def short(value: str) -> str:
        return re.sub(r"\d+\.\d+", lambda digits: number(float(digits[0])), value)

    shown = {name: properties[name] for name in PAINT if name in properties}
    return "".join(
        f' {name}="{value if value.startswith("#") else short(value)}"' for name, value in shown.items()
    )


def _path(d: str, x: float = 0, y: float = 0) -> str:
    """Shorten a path of absolute coordinates, moved by (x, y)."""
    steps = []
    for command, rest in re.findall(r"([MLCQz])([^MLCQz]*)", d):
        values = [float(value) for value in rest.split()]
        moved = (number(value + (y if place % 2 else x)) for place, value in enumerate(values))
        steps.append(command.upper() + " ".join(moved))
    return "".join(steps)


def _shape(path: ElementTree.Element, place: ElementTree.Element | None = None) -> str | None:
    """Write a path, or a marker at its place; a marker that is matplotlib's circle becomes a circle."""
    properties = _paint(path) if place is None else _paint(path, place)
    if properties.get("fill") == "none" and "stroke" not in properties:
        return None
    d, paint = path.attrib["d"], _attributes(properties)
    if place is None:
        return f'<path d="{_path(d)}"{paint}/>'
    x, y = float(place.attrib["x"]), float(place.attrib["y"])
    if re.sub(r"[^MLCz]", "", d) == "MCCCCCCCCz":
        radius = float(d.split()[2])
        return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"{paint}/>'
    return f'<path d="{_path(d, x, y)}"{paint}/>'


def _text(node: ElementTree.Element) -> str:
    properties = _paint(node)
    size = number(float(properties["font-size"].removesuffix("px")))
    place_x, place_y = (number(float(node.attrib[axis])) for axis in "xy")
    place = f'x="{place_x}" y="{place_y}" font-size="{size}"'
    anchor = properties.get("text-anchor", "start")
    align = "" if anchor == "start" else f' text-anchor="{anchor}"'
    weight = ' font-weight="650"' if properties.get("font-weight", "400") in {"bold", "700"} else ""
    family = f' font-family="{MONO}"' if "monospace" in properties["font-family"] else ""
    fill = properties.get("fill", "#000000")
    turned = re.match(r"rotate\(-90", node.get("transform", ""))
    turn = f' transform="rotate(-90 {place_x} {place_y})"' if turned else ""
    return f'<text {place} fill="{fill}"{align}{weight}{family}{turn}>{escape(node.text or "")}</text>'


def _flat(root: ElementTree.Element) -> Iterator[str]:
    """Yield the shapes and texts of matplotlib's SVG, markers in their places, without groups and clips."""
    markers = {path.attrib["id"]: path for path in root.iter(f"{SVG}path") if "id" in path.attrib}
    for node in root.iter():
        part = None
        if node.tag == f"{SVG}path" and "id" not in node.attrib:
            part = _shape(node)
        elif node.tag == f"{SVG}use":
            part = _shape(markers[node.attrib[f"{XLINK}href"].removeprefix("#")], node)
        elif node.tag == f"{SVG}text":
            part = _text(node)
        if part is not None:
            yield part


@dataclass(frozen=True)
class Chart:
    """A printed chart, the counterpart of `Figure`. A unit of the sheet is one of matplotlib's points."""

    name: str
    width: float
    height: float
    title: str
    description: str
    margins: tuple[float, float, float, float]  # of the axes: left, top, right, bottom
    draw: Callable[[Axes, str], None]

    def svg(self, theme: str) -> str:
        """Return the SVG file in one theme; `draw` gets the axes and the theme."""
        colors = palette(theme)
        left, top, right, bottom = self.margins
        width, height = self.width - left - right, self.height - top - bottom
        # "default" first, so that a matplotlibrc on this machine changes nothing.
        with style.context(["default", look(colors), {"figure.dpi": 72, "savefig.dpi": 72}]):
            plot = Plot(figsize=(self.width / 72, self.height / 72))
            FigureCanvasSVG(plot)
            place = (left / self.width, bottom / self.height, width / self.width, height / self.height)
            self.draw(plot.add_axes(place), theme)
            file = io.StringIO()
            plot.savefig(file, format="svg", metadata={"Date": None})
        return document(self, _flat(ElementTree.fromstring(file.getvalue())))
