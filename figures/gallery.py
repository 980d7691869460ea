"""All figures of this folder, in the order of the files' names."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from figures.canvas import Sheet

FOLDER = Path(__file__).parent / "svg"


def _figures() -> tuple[Sheet, ...]:
    """Collect the `FIGURE` of each file, or its `FIGURES` if one script draws a series."""
    collected: list[Sheet] = []
    for file in sorted(pkgutil.iter_modules([str(Path(__file__).parent)]), key=lambda file: file.name):
        if file.name in {"__main__", "gallery"}:
            continue
        module = import_module(f"figures.{file.name}")
        if hasattr(module, "FIGURE"):
            collected.append(module.FIGURE)
        collected += getattr(module, "FIGURES", ())
    return tuple(collected)


FIGURES = _figures()


def render(figures: Iterable[Sheet]) -> dict[str, str]:
    """Return the files of both themes, by name."""
    return {f"{f.name}.{theme}.svg": f.svg(theme) for f in figures for theme in ("light", "dark")}
