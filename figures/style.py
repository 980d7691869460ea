"""The figures' colours: those of the explorers, so that a colour means one thing in the whole book."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

THEME = Path(__file__).parents[1] / "frontend" / "src" / "core" / "theme.css"
MONO = "ui-monospace, monospace"
SANS = "system-ui, sans-serif"


@cache
def palette(theme: str) -> dict[str, str]:
    """The tokens of `theme`, `light` or `dark`: name to hexadecimal colour."""
    text = THEME.read_text("utf-8")
    selector = r"\.rx" if theme == "light" else rf'\.rx\[data-theme="{theme}"\]'
    block = re.search(rf"^{selector} {{(.*?)^}}", text, re.DOTALL | re.MULTILINE)
    if block is None:
        raise ValueError(f"{THEME.name} has no colours for the theme {theme!r}")
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]{6})\b", block[1]))
