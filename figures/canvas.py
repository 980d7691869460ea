"""A sheet to draw on, which writes plain SVG. Text stays text, so files are small, and their bytes are always
the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from xml.sax.saxutils import escape, quoteattr

from figures.style import MONO, SANS, palette

Point = tuple[float, float]


def number(value: float) -> str:
    """Format a coordinate as briefly as possible."""
    return f"{round(value, 1):g}"


@dataclass
class Canvas:
    """A sheet `width` units wide. Colors are tokens of the palette (`ink`, `known-bg`); sizes are in units
    of the sheet.
    """

    width: float
    height: float
    theme: str
    parts: list[str] = field(default_factory=list)

    def color(self, token: str) -> str:
        return "none" if token == "none" else palette(self.theme)[token]

    def _stroke(self, token: str, width: float, dashed: bool) -> str:
        dash = f' stroke-dasharray="{number(width * 4)} {number(width * 3)}"' if dashed else ""
        return f'stroke="{self.color(token)}" stroke-width="{number(width)}"{dash}'

    def box(
        self, x: float, y: float, w: float, h: float, *,
        fill: str = "none", edge: str = "edge", width: float = 1.5, dashed: bool = False, radius: float = 8,
    ) -> None:  # fmt: skip
        """Draw a rectangle with rounded corners."""
        place = " ".join(
            f'{k}="{number(v)}"' for k, v in (("x", x), ("y", y), ("width", w), ("height", h), ("rx", radius))
        )
        self.parts.append(f'<rect {place} fill="{self.color(fill)}" {self._stroke(edge, width, dashed)}/>')

    def circle(
        self,
        x: float,
        y: float,
        r: float,
        *,
        fill: str = "none",
        edge: str = "edge",
        width: float = 1.5,
        opacity: float = 1,
    ) -> None:
        """Draw a circle; `opacity` is that of its interior."""
        pale = f' fill-opacity="{number(opacity)}"' if opacity < 1 else ""
        place = f'cx="{number(x)}" cy="{number(y)}" r="{number(r)}"'
        self.parts.append(
            f'<circle {place} fill="{self.color(fill)}"{pale} {self._stroke(edge, width, False)}/>'
        )

    def path(
        self, d: str, *, edge: str = "edge", width: float = 1.5, dashed: bool = False, fill: str = "none"
    ) -> None:
        """Draw a path; `d` is in SVG's notation."""
        stroke = self._stroke(edge, width, dashed)
        self.parts.append(f'<path d="{d}" fill="{self.color(fill)}" {stroke} stroke-linecap="round"/>')

    def line(
        self,
        *points: Point,
        edge: str = "edge",
        width: float = 1.5,
        dashed: bool = False,
        arrow: bool = False,
    ) -> None:
        """Draw straight lines from point to point, with a head at the end if `arrow`."""
        steps = " ".join(f"{number(x)} {number(y)}" for x, y in points)
        self.path(f"M{steps}", edge=edge, width=width, dashed=dashed)
        if arrow:
            (x0, y0), (x1, y1) = points[-2:]
            self.head(x1, y1, math.atan2(y1 - y0, x1 - x0), edge)

    def curve(
        self, start: Point, end: Point, *, edge: str = "edge", width: float = 1.5, dashed: bool = False
    ) -> None:
        """Draw an S-curve from one point to another, horizontal at both ends."""
        (x0, y0), (x1, y1) = start, end
        mid = (x0 + x1) / 2
        bend = " ".join(number(n) for n in (mid, y0, mid, y1, x1, y1))
        self.path(f"M{number(x0)} {number(y0)}C{bend}", edge=edge, width=width, dashed=dashed)

    def head(self, x: float, y: float, angle: float, token: str, size: float = 8) -> None:
        """Draw an arrow's head whose tip is at (x, y)."""
        left, right = angle + math.pi - 0.42, angle + math.pi + 0.42
        corners = [(x, y), *((x + size * math.cos(a), y + size * math.sin(a)) for a in (left, right))]
        points = " ".join(f"{number(px)},{number(py)}" for px, py in corners)
        self.parts.append(f'<polygon points="{points}" fill="{self.color(token)}"/>')

    def text(
        self, x: float, y: float, text: str, *,
        size: float = 15, color: str = "ink", anchor: str = "start", bold: bool = False, mono: bool = False,
    ) -> None:  # fmt: skip
        """Write a line of text whose baseline is at y; parts between backticks are set as code."""
        weight = ' font-weight="650"' if bold else ""
        family = f' font-family="{MONO}" xml:space="preserve"' if mono else ""
        spans = "".join(
            f'<tspan font-family="{MONO}" font-size="{number(size * 0.94)}">{escape(part)}</tspan>'
            if i % 2
            else escape(part)
            for i, part in enumerate([text] if mono else text.split("`"))
        )
        place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}"'
        align = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.parts.append(f'<text {place} fill="{self.color(color)}"{align}{weight}{family}>{spans}</text>')

    def lines(
        self,
        x: float,
        y: float,
        lines: Sequence[str],
        *,
        size: float = 13.5,
        leading: float = 1.36,
        **how: str | bool,
    ) -> None:
        """Write several lines of text, the first with its baseline at y."""
        for i, line in enumerate(lines):
            self.text(x, y + i * size * leading, line, size=size, **how)  # type: ignore[arg-type]


class Sheet(Protocol):
    """The properties of a picture that are written to its file besides the shapes."""

    @property
    def name(self) -> str: ...

    @property
    def width(self) -> float: ...

    @property
    def height(self) -> float: ...

    @property
    def title(self) -> str: ...

    @property
    def description(self) -> str: ...

    def svg(self, theme: str) -> str: ...


def document(sheet: Sheet, parts: Iterable[str]) -> str:
    """Return the SVG file of a picture. The background is transparent, so that the page's own shows."""
    width, height = number(sheet.width), number(sheet.height)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    label = f'role="img" aria-label={quoteattr(sheet.title)}'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {label} font-family="{SANS}">'
    words = " ".join(sheet.description.split())
    about = f"<title>{escape(sheet.title)}</title>\n<desc>{escape(words)}</desc>"
    return "\n".join([head, about, *parts, "</svg>", ""])


@dataclass(frozen=True)
class Figure:
    """A printed figure: `title` names it, `description` says in words what it shows."""

    name: str
    width: float
    height: float
    title: str
    description: str
    draw: Callable[[Canvas], None]

    def svg(self, theme: str) -> str:
        """Return the SVG file in one theme."""
        canvas = Canvas(self.width, self.height, theme)
        self.draw(canvas)
        return document(self, canvas.parts)
