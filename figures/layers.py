"""The package's folders in the order in which they may import each other; drawn from `tools/layers.py`."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from figures.canvas import Canvas, Figure
from tools.layers import LAYERS, Layer

ROW = 27
HEAD = 34
GAP = 10
WIDTH = 560
PACKAGE = Path(__file__).parents[1] / "relay_explorer"


def _stands(layer: Layer) -> bool:
    """Whether the folder or module is there already, not only planned."""
    return (PACKAGE / layer.name).is_dir() or (PACKAGE / f"{layer.name}.py").is_file()


BANDS = [
    (band, list(layers))
    for band, layers in groupby(
        (layer for layer in LAYERS if layer.band and _stands(layer)), key=lambda layer: layer.band
    )
]
HEIGHT = sum(HEAD + ROW * len(layers) + GAP for _, layers in BANDS) + 24


def draw(c: Canvas) -> None:
    """Draw a box for each band and a row for each folder, with an arrow for the direction of imports."""
    y = 4.0
    for band, layers in BANDS:
        height = HEAD + ROW * len(layers)
        c.box(44, y, WIDTH - 50, height, fill="known-bg", edge="known")
        c.text(58, y + 23, band, size=14.5, bold=True)
        for number, layer in enumerate(layers):
            baseline = y + HEAD + ROW * number + 16
            c.text(58, baseline, layer.name, size=14, mono=True)
            c.text(226, baseline, layer.holds.replace("`", ""), size=13.5, color="soft")
        y += height + GAP
    c.line((22, y - GAP), (22, 8), edge="soft", arrow=True)
    c.text(8, HEIGHT - 8, "imports point up", size=13.5, color="soft")


FIGURE = Figure(
    "layers", WIDTH, HEIGHT, "The layers of the package",
    "A list of the package's folders. Each imports only from those above it: "
    + "; ".join(f"{band}: " + ", ".join(layer.name for layer in layers) for band, layers in BANDS)
    + ".",
    draw,
)  # fmt: skip
