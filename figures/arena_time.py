"""LeNet's memory plan: which part of the arena each tensor has, and during which steps."""

from __future__ import annotations

from functools import cache

from figures.canvas import Canvas, Figure
from relay_explorer import models, relay
from relay_explorer.analysis.storage import StoragePlan

WIDTH, HEIGHT = 480, 380
LEFT, TOP, TALL = 62, 34, 270
HUES = ("blue", "orange", "purple", "teal")
STEPS = ("conv", "pool", "conv", "pool", "view", "dense", "dense", "dense", "softmax")


@cache
def plan() -> StoragePlan:
    """Return the plan of LeNet after fusion."""
    typed = relay.transform.InferType()(models.load("lenet"))
    fused = relay.transform.InferType()(relay.transform.FuseOps(2)(typed))
    return relay.analysis.plan_memory(fused["main"])


def draw(c: Canvas) -> None:
    whole = plan()
    column = (WIDTH - LEFT - 8) / len(whole.steps)
    scale = TALL / whole.arena
    for buffer in whole.buffers:
        y = TOP + buffer.offset * scale
        c.line((LEFT, y), (WIDTH - 8, y), edge="line", width=1)
        if buffer.number < 3:
            c.text(LEFT - 6, y + 11, f"{buffer.offset:,}", size=13, anchor="end", colour="soft")
    c.text(LEFT - 6, TOP - 16, "byte", size=13, anchor="end", colour="soft")
    c.line((LEFT, TOP + TALL), (WIDTH - 8, TOP + TALL), edge="line", width=1)
    for number, name in enumerate(STEPS):
        x = LEFT + column * (number + 0.5)
        c.text(x, TOP - 16, str(number), size=13, anchor="middle", colour="soft")
        y = TOP + TALL + (22 if number < len(STEPS) - 1 else 38)  # two lines: the last is long
        c.text(x, y, name, size=13, anchor="middle", colour="soft")
    for place, life in zip(whole.places, whole.lives):
        if place.offset < 0:
            continue
        last = min(life.last, len(whole.steps) - 1)
        x, y = LEFT + column * life.made + 2, TOP + place.offset * scale
        w, h = column * (last + 1 - life.made) - 4, max(place.size * scale, 3)
        hue = f"hue-{HUES[place.buffer]}"
        c.box(x, y + 1, w, h - 1, fill=f"{hue}-fill", edge=hue, width=1.3, radius=2)
        if place.size > 1000:
            c.text(x + w / 2, y + h / 2 + 5, f"{place.size:,}", size=13.5, anchor="middle")
    c.text(8, HEIGHT - 10, f"One arena of {whole.arena:,} bytes, four buffers. Time runs to the right.",
           size=13.5)  # fmt: skip


FIGURE = Figure(
    "arena_time", WIDTH, HEIGHT, "LeNet's arena over time",
    """A chart with LeNet's nine steps from left to right and the bytes of the arena from top to bottom. In
    the first buffer, at byte 0, lie the result of the first convolution, 18,816 bytes, in steps 0 and 1, and
    later that of the second, 6,400 bytes, in steps 2 and 3. In the second buffer, at byte 18,816, lie the
    two pooling results, 4,704 bytes in steps 1 and 2 and 1,600 bytes in steps 3 to 5, and then a dense
    layer's. The dense layers alternate between it and a small third buffer; the softmax has a fourth.""",
    draw,
)  # fmt: skip
