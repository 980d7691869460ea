"""Is this a lowering view? What `check` asks of one, beyond its schema."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.views.check import HUES, Checker, Json


def check_lowering(c: Checker, view: dict[str, Json]) -> None:
    """Tells `c` what is wrong with the fields of a lowering view."""
    kernel = view["kernel"]
    c.need(list(kernel) == ["name", "target", "rule", "choice", "flops"], "kernel", "has other fields")
    [text for pair in kernel["choice"] for text in pair]
    operators = len(view["operators"])
    for number, (_row, _name, hue, _detail) in enumerate(view["operators"]):
        where = f"operator {number}"
        c.need(view["strings"][hue] in HUES, where, "has no hue of the palette")
    marks = [step[0] for step in view["steps"]]
    c.need(
        len(marks) > 1 and marks[0] == 0 and marks[-1] == 4 and all(m in (1, 2, 3) for m in marks[1:-1]),
        "steps", "must begin with the loops and end with the code",
    )  # fmt: skip
    for number, step in enumerate(view["steps"]):
        _check_step(c, f"step {number}", step, operators)
    times = view["times"]
    c.need(len(times) in (0, len(marks)) and all(t > 0 for t in times), "times", "are not one for each step")
    c.need(len(view["codes"]) in (1, 2), "codes", "are not one or two")
    for code in view["codes"]:
        _check_code(c, code, operators)


def _check_step(c: Checker, where: str, step: Sequence[Json], operators: int) -> None:
    _, _primitive, _told, _why, nest, effect = step
    c.need(len(effect) == 9, where, "must count nine things")
    room = 0  # a part is at most one deeper than the loop before it
    for number, (kind, depth, _name, _text, extent, _how, owners, touched) in enumerate(nest):
        part = f"{where}: part {number}"
        c.need(kind in (0, 1) and touched in (0, 1), part, "is neither a loop nor a block")
        c.need(0 <= depth <= room, part, f"stands at depth {depth}")
        room = depth if kind else depth + 1
        c.need(extent >= -1, part, "has no number of turns")
        c.need(owners == sorted(set(owners)), part, "names an operator twice")


def _check_code(c: Checker, code: dict[str, Json], operators: int) -> None:
    c.need(list(code) == ["name", "purposes", "blocks", "lines", "others", "cut"], "code", "has other fields")
    for _number, (_text, _purpose, _block, _depth) in enumerate(code["lines"]):
        pass
