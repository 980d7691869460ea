"""The weights of eight units for one feature: spread over rows in the framework's layout, and packed."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 336
LANES, SHOWN, FEATURE = 8, 10, 3  # units of a vector; features that are drawn; the one that is marked
LEFT, CELL, ROW, TOP = 70, 34.0, 20.0, 50


def draw(c: Canvas) -> None:
    c.text(LEFT, 20, "as stored: (64 units, 64 features)", size=14, bold=True)
    for unit in range(LANES):
        y = TOP + ROW * unit
        c.text(LEFT - 8, y + 14, f"unit {unit}", size=13, anchor="end", color="soft")
        c.box(LEFT, y, CELL * SHOWN, ROW - 4, edge="line", width=1, radius=2)
        x = LEFT + CELL * FEATURE
        c.box(x, y, CELL - 4, ROW - 4, fill="hue-orange-fill", edge="hue-orange", width=1.6, radius=2)
        c.text(x + CELL / 2 - 2, y + 13, str(unit), size=13, anchor="middle")
        c.text(LEFT + CELL * SHOWN + 10, y + 12, "…", size=13, color="soft")
    c.text(LEFT + CELL * FEATURE + CELL / 2 - 2, TOP - 8, "feature 3", size=13, anchor="middle", color="soft")
    base = TOP + ROW * LANES
    c.text(LEFT, base + 16, "one vector: 8 cache lines", size=13.5, color="hue-orange", bold=True)
    below = base + 56
    c.text(LEFT, below, "packed: (8 blocks, 64 features, 8 units)", size=14, bold=True)
    y, width = below + 14, 15.0
    for feature in range(3):
        x = 14 + (width * LANES + 34) * feature
        mine = feature == 1
        for unit in range(LANES):
            hue = "orange" if mine else "grey"
            c.box(x + width * unit, y, width, 24, fill=f"hue-{hue}-fill" if mine else "none",
                  edge=f"hue-{hue}" if mine else "line", width=1.4 if mine else 1, radius=1)  # fmt: skip
            c.text(x + width * unit + width / 2, y + 17, str(unit), size=13, anchor="middle",
                   color="ink" if mine else "soft")  # fmt: skip
        c.text(
            x + width * LANES / 2, y + 43, f"feature {feature + 2}", size=13, anchor="middle", color="soft"
        )
    c.text(466, y + 17, "…", size=13, color="soft", anchor="end")


FIGURE = Figure(
    "packed_weight", WIDTH, HEIGHT, "A weight as stored, and packed",
    """Above, a weight with a row of 64 features for each unit; of units 0 to 7 the elements for feature 3 are
    marked. They stand one below the other, in eight rows, so a vector of them touches eight cache lines.
    Below, the packed weight: for feature 2, then feature 3, then feature 4 the elements of units 0 to 7 stand
    side by side; the eight marked elements are neighbors.""",
    draw,
)  # fmt: skip
