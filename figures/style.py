"""The figures' colors, which are those of the explorers, so a color has one meaning in the whole book."""

from __future__ import annotations

from relay_explorer.interop.palette import PALETTES

MONO = "ui-monospace, monospace"
SANS = "system-ui, sans-serif"


def palette(theme: str) -> dict[str, str]:
    """Return the colors of a theme, `light` or `dark`: hexadecimal, by token."""
    return PALETTES[theme]
