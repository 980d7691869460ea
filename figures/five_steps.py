"""One layer of LeNet at each of the five steps from Python to instructions."""

from __future__ import annotations

from figures.canvas import Canvas, Figure

WIDTH, HEIGHT = 480, 500
STEPS = (
    ("1  The model becomes a program", "hue-blue", ("relay.nn.conv2d(x, kernels, …)",)),
    ("2  Type inference finds the shapes", "hue-olive", ("%4 = nn.conv2d(%3, …)",
     "   : Tensor[(1, 16, 10, 10), float32]")),
    ("3  The program is a graph with costs", "hue-teal", ("480,000 operations, 2,400 weights",)),
    ("4  Passes make kernels", "hue-orange", ("one kernel: conv2d, bias, relu",)),
    ("5  Kernels become loops …", "hue-purple", (
        "for each channel, window row and column:",
        "  for 10 pixels, in 8 lanes:", "    acc += pixel * weight")),
    ("   … and loops become instructions", "hue-purple", ("vfmadd231ps %ymm0, %ymm1, %ymm9",)),
)  # fmt: skip


def draw(c: Canvas) -> None:
    y = 8.0
    for number, (title, hue, lines) in enumerate(STEPS):
        tall = 36 + 19 * len(lines)
        c.box(10, y, 460, tall, fill=f"{hue}-fill", edge=hue)
        c.text(24, y + 22, title.strip(), size=15, bold=True, color=hue)
        for i, line in enumerate(lines):
            c.text(42, y + 44 + 19 * i, line, size=13.5, mono=True)
        y += tall
        if number + 1 < len(STEPS):
            c.line((240, y + 2), (240, y + 17), edge="soft", arrow=True)
            y += 20


FIGURE = Figure(
    "five_steps", WIDTH, HEIGHT, "Five steps from Python to instructions",
    """Boxes from top to bottom for the second convolution of LeNet. Step 1, the model becomes a program:
    relay.nn.conv2d. Step 2, type inference finds the shape 1, 16, 10, 10. Step 3, the graph has costs:
    480,000 operations and 2,400 weights. Step 4, passes make one kernel of convolution, bias and ReLU. Step
    5, the kernel becomes loops, over 10 pixels and 8 lanes, and the loops become instructions such as
    vfmadd231ps with three registers.""",
    draw,
)  # fmt: skip
