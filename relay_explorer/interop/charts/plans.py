"""Charts of memory plans: where each tensor is stored from which step to which, and how much is live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from .style import BYTES, HUES, describe, listed, prepared, say, unit

if TYPE_CHECKING:
    from ...analysis.storage import StoragePlan

LABELLED = 0.03  # of the arena: smaller tensors have no label
THINNEST = 0.008  # of the arena: the height of a tensor that would hardly be visible
MAX_TENSORS = 5_000
MAX_LISTED = 60  # tensors, or steps, in the text alternative


def plot_memory(plan: StoragePlan, ax: Any = None, *, what: str = "addresses", theme: str = "light") -> Any:
    """Draw a memory plan. A result of `analysis.plan_memory` has this as `plan.plot()`. Return the Axes.

    With `what="addresses"`, a box is a tensor: it extends over the steps in which it is live, from left to
    right, and over its bytes of the arena, from top to bottom; its color stands for its buffer. With
    `what="bytes"`, a curve shows the number of live bytes at each step, and a dashed line the arena's size.
    """
    if what not in ("addresses", "bytes"):
        raise RelayError(f"there is no chart {what!r:.60}", help=["there are 'addresses' and 'bytes'"])
    size, name = unit(max(plan.arena, 1), BYTES)
    with prepared(ax, theme, 4.4 if what == "addresses" else 3.2) as (axes, colors):
        axes.set_xlim(0, max(1, len(plan.steps)))
        axes.set_xlabel(f"step of the evaluation, of {len(plan.steps):,}", loc="right")
        if what == "addresses":
            draw_addresses(axes, colors, plan, size)
            axes.set_ylabel(f"address in the arena, {name}")
            axes.set_title(f"An arena of {plan.arena:,} bytes", loc="left")
            describe(axes, _places(plan))
        else:
            _draw_bytes(axes, colors, plan, size)
            axes.set_ylabel(f"live, {name}")
            axes.set_title(f"At most {plan.peak:,} live bytes", loc="left")
            live = listed((str(step), f"{live:,}") for step, live in enumerate(plan.live[:MAX_LISTED]))
            describe(
                axes, f"A curve of the live bytes, with its peak at step {plan.peak_step}. Steps: {live}"
            )
    return axes


def draw_addresses(ax: Any, colors: dict[str, str], plan: StoragePlan, size: float) -> None:
    """Draw a box for each tensor of a plan, with addresses in units of `size` bytes."""
    placed = [place for place in plan.places if place.offset >= 0]
    if len(placed) > MAX_TENSORS:
        raise RelayError(
            f"the plan has {len(placed):,} tensors, too many for a chart of their addresses",
            help=['plan.plot(what="bytes") shows how many bytes are live'],
        )
    ax.set_ylim(max(plan.arena, 1) / size, 0)
    for place in placed:
        life = plan.lives[place.tensor]
        last = min(life.last, len(plan.steps) - 1)
        hue = f"hue-{HUES[place.buffer % len(HUES)]}"
        left, width = life.made + 0.05, last + 1 - life.made - 0.1
        ax.bar(
            [left], [max(place.size, THINNEST * plan.arena) / size], width, place.offset / size, align="edge",
            color=colors[f"{hue}-fill"], edgecolor=colors[hue], linewidth=1.2,
        )  # fmt: skip
        if place.size >= LABELLED * plan.arena and len(placed) <= 60:
            middle = (left + width / 2, (place.offset + place.size / 2) / size)
            say(ax, f"{place.size:,}", middle, (0, 0), ha="center", va="center", color=colors["ink"])


def _places(plan: StoragePlan) -> str:
    """Say where each tensor of a plan is stored."""
    placed = [place for place in plan.places if place.offset >= 0]
    lines = []
    for place in placed[:MAX_LISTED]:
        life = plan.lives[place.tensor]
        last = min(life.last, len(plan.steps) - 1)
        lines.append((f"steps {life.made} to {last}", f"{place.size:,} bytes at {place.offset:,}"))
    return f"A box for each of {len(placed):,} tensors, over its steps and its bytes. {listed(lines)}"


def _draw_bytes(ax: Any, colors: dict[str, str], plan: StoragePlan, size: float) -> None:
    edges = list(range(len(plan.live) + 1))
    ax.stairs(
        [live / size for live in plan.live], edges, fill=True, color=colors["hue-blue-fill"],
        edgecolor=colors["hue-blue"], linewidth=1.5,
    )  # fmt: skip
    ax.set_ylim(0, 1.18 * max(plan.arena, 1) / size)
    ax.axhline(plan.arena / size, color=colors["hue-orange"], linestyle=(0, (4, 3)))
    say(ax, f"arena: {plan.arena:,} bytes", (0, plan.arena / size), (4, 5), color=colors["hue-orange"])
    if plan.live:
        at = (plan.peak_step + 0.5, plan.peak / size)
        ax.plot(*at, "o", color=colors["hue-blue"], markersize=5)
    ax.grid(axis="y")
