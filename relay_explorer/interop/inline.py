"""Pictures that a notebook shows inside its page: SVG with a text alternative, and with colors that follow a
dark page.
"""

from __future__ import annotations

import hashlib
import re
from html import escape

from .palette import PALETTES

_ID = re.compile(r'\sid="([^"]*)"')
_REFERENCE = re.compile(r'(href="#|url\(#)([^")]+)')
_COLOR = re.compile(r"#[0-9a-f]{6}\b")
_TIP = re.compile(r'<a xlink:title="([^"]*)">')
_WIDTH = re.compile(r'\bwidth="([0-9.]+)pt"')
WIDE = 600  # pixels: a wider picture scrolls on a phone, where its text would be too small to read
SMALLEST = 0.62  # of the width of such a picture, at least


def inline_svg(svg: str, title: str, description: str, theme: str) -> str:
    """Return an SVG file as a part of an HTML page.

    Its text alternative is the title and the description. Drawn in the light theme, it takes the colors of
    the dark theme on a page whose `color-scheme` is dark. Identifiers are unique in the page, and what
    Graphviz writes as a link's title becomes a title, which browsers show as a tooltip.
    """
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<!--.*?-->|<title>[^<]*</title>|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = _TIP.sub(r"<g><title>\1</title>", svg).replace("</a>", "</g>")
    name = f"rx-{hashlib.sha256(svg.encode()).hexdigest()[:8]}"
    svg = _unique(svg, name).replace('<style type="text/css">*{', f'<style type="text/css">.{name} *{{')
    start, body = svg.split(">", 1)
    words = f"<title>{escape(title, quote=False)}</title><desc>{escape(description, quote=False)}</desc>"
    size = "max-width: 100%; height: auto;"
    pixels = float(_WIDTH.search(start)[1]) * 4 / 3  # type: ignore[index]  # both libraries write it in points
    if pixels > WIDE:
        size += f" min-width: {pixels * SMALLEST:.0f}px;"
    attributes = f'class="{name}" role="img" style="{size}"'
    picture = f"{start} {attributes}>{words}{_dark(svg, name, theme)}{body}"
    if pixels <= WIDE:
        return picture
    label = escape(title)
    return f'<div role="group" aria-label="{label}" tabindex="0" style="overflow-x: auto">{picture}</div>'


def _unique(svg: str, name: str) -> str:
    """Begin each identifier with `name`, and leave out those to which nothing refers."""
    used = {match[2] for match in _REFERENCE.finditer(svg)}
    svg = _ID.sub(lambda match: f' id="{name}-{match[1]}"' if match[1] in used else "", svg)
    return _REFERENCE.sub(lambda match: f"{match[1]}{name}-{match[2]}", svg)


def _dark(svg: str, name: str, theme: str) -> str:
    """Return the rules that give each color of the picture its counterpart in the dark theme. A browser that
    does not know `light-dark` ignores them, and shows the light theme.
    """
    paper = PALETTES[theme]["paper"]
    rules = [f".{name}{{background:{paper}}}"]
    if theme == "light":
        light, dark = PALETTES["light"], PALETTES["dark"]
        pairs = {light[token]: dark[token] for token in reversed(light)}  # of equal colors, the first
        rules.append(f".{name}{{background:light-dark({paper},{pairs[paper]})}}")
        for color in sorted(set(_COLOR.findall(svg)) & set(pairs)):
            for part in ("fill", "stroke"):
                both = f"{part}:light-dark({color},{pairs[color]})!important"
                rules.append(f'.{name} [{part}="{color}"],.{name} [style*="{part}: {color}"]{{{both}}}')
    return f"<style>{''.join(rules)}</style>"
