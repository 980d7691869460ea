"""The figures' colours, which are those of the explorers, so a colour has one meaning in the whole book."""

from __future__ import annotations

from relay_explorer.interop.palette import PALETTES

MONO = "ui-monospace, monospace"
SANS = "system-ui, sans-serif"


def palette(theme: str) -> dict[str, str]:
    """Return the colours of a theme, `light` or `dark`: hexadecimal, by token."""
    return PALETTES[theme]
