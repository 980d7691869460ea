"""The figures' colours, which are those of the explorers, so a colour has one meaning in the whole book."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

THEME = Path(__file__).parents[1] / "frontend" / "src" / "core" / "theme.css"
MONO = "ui-monospace, monospace"
SANS = "system-ui, sans-serif"


@cache
def palette(theme: str) -> dict[str, str]:
    """Return the colours of a theme, `light` or `dark`: hexadecimal, by token."""
    text = THEME.read_text("utf-8")
    selector = r"\.rx" if theme == "light" else rf'\.rx\[data-theme="{theme}"\]'
    block = re.search(rf"^{selector} {{(.*?)^}}", text, re.DOTALL | re.MULTILINE)
    if block is None:
        raise ValueError(f"{THEME.name} has no colours for the theme {theme!r}")
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]{6})\b", block[1]))
