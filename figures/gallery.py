"""All figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from figures import (
    bipartite,
    classes,
    closed,
    directions,
    dispatch,
    executors,
    folds,
    forms,
    frameworks,
    fusion,
    goals,
    gradient,
    inference,
    layers,
    layers_of_passes,
    layouts,
    many_targets,
    noise,
    numbering,
    one_nest,
    partial,
    passes,
    scales,
    schedule_steps,
    sharing,
    stack,
    threads_of_a_gpu,
    three_ways,
    tile_space,
    tiles_of_a_product,
    type_tree,
    waiting,
)
from figures.canvas import Figure

FOLDER = Path(__file__).parent / "svg"
FIGURES = (
    goals.FIGURE, frameworks.FIGURE, stack.FIGURE, three_ways.FIGURE, inference.FIGURE,
    bipartite.FIGURE, classes.FIGURE,
    forms.FIGURE, directions.FIGURE, type_tree.FIGURE, waiting.FIGURE, folds.FIGURE, sharing.FIGURE,
    closed.FIGURE, passes.FIGURE, numbering.FIGURE, fusion.FIGURE, layouts.FIGURE, scales.FIGURE,
    layers_of_passes.FIGURE,
    gradient.FIGURE,
    layers.FIGURE,
    partial.FIGURE,
    executors.FIGURE,
    many_targets.FIGURE,
    dispatch.FIGURE,
    tile_space.FIGURE,
    noise.FIGURE,
    one_nest.FIGURE,
    tiles_of_a_product.FIGURE,
    schedule_steps.FIGURE,
    threads_of_a_gpu.FIGURE,
)  # fmt: skip


def render(figures: Iterable[Figure]) -> dict[str, str]:
    """File name to file, in both themes."""
    return {f"{f.name}.{theme}.svg": f.svg(theme) for f in figures for theme in ("light", "dark")}
