"""Is this a lowering view? What `check` asks of one, beyond its schema."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.views.check import HUES, Checker, Json


def check_lowering(c: Checker, view: dict[str, Json]) -> None:
    """Tells `c` what is wrong with the fields of a lowering view."""
    kernel = view["kernel"]
    c.need(list(kernel) == ["name", "target", "rule", "choice", "flops"], "kernel", "has other fields")
    chosen = [text for pair in kernel["choice"] for text in pair]
    for text in (kernel["name"], kernel["target"], kernel["rule"], *chosen):
        c.text(text, "kernel")
    c.count(kernel["flops"], "kernel: flops")
    operators = len(view["operators"])
    for number, (row, name, hue, detail) in enumerate(view["operators"]):
        where = f"operator {number}"
        c.index(row, c.rows, f"{where}: row", none=True)
        for text in (name, hue, detail):
            c.text(text, where)
        c.need(view["strings"][hue] in HUES, where, "has no hue of the palette")
    for number, (operator, text) in enumerate(view["stages"]):
        c.index(operator, operators, f"stage {number}", none=True)
        c.text(text, f"stage {number}")
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
    _, primitive, told, why, nest, effect = step
    c.text(primitive, where)
    c.sentence(told, where)
    if why:
        c.sentence(why, where)
    c.need(len(effect) == 9, where, "must count nine things")
    for amount in effect:
        c.count(amount, f"{where}: effect")
    room = 0  # a part is at most one deeper than the loop before it
    for number, (kind, depth, name, text, extent, how, owners, touched) in enumerate(nest):
        part = f"{where}: part {number}"
        c.need(kind in (0, 1) and touched in (0, 1), part, "is neither a loop nor a block")
        c.need(0 <= depth <= room, part, f"stands at depth {depth}")
        room = depth if kind else depth + 1
        c.need(extent >= -1, part, "has no number of turns")
        for given in (name, text, how):
            c.text(given, part)
        c.need(owners == sorted(set(owners)), part, "names an operator twice")
        for owner in owners:
            c.index(owner, operators, part)


def _check_code(c: Checker, code: dict[str, Json], operators: int) -> None:
    c.need(list(code) == ["name", "purposes", "blocks", "lines", "others", "cut"], "code", "has other fields")
    for text in (code["name"], *code["purposes"]):
        c.text(text, "code")
    for number, owners in enumerate(code["blocks"]):
        for owner in owners:
            c.index(owner, operators, f"code: block {number}")
    for number, (text, purpose, block, depth) in enumerate(code["lines"]):
        where = f"code: line {number}"
        c.text(text, where)
        c.index(purpose, len(code["purposes"]), where, none=True)
        c.index(block, len(code["blocks"]), where, none=True)
        c.count(depth, where)
    c.count(code["others"], "code: others")
    c.count(code["cut"], "code: cut")
