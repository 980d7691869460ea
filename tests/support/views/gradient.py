"""Is this a gradient view? What `check` asks of one, beyond its schema."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.views.check import Checker, Json


def check_gradient(c: Checker, view: dict[str, Json]) -> None:
    """Tells `c` what is wrong with the fields of a gradient view."""
    values, lines = len(view["values"]), len(view["lines"])
    for number, value in enumerate(view["values"]):
        where = f"value {number}"
        given, users = value[5], value[8]
        c.need(given in (0, 1), where, "given must be 0 or 1")
        c.need(all(number < user < values for user in users), where, "is used before it is computed")
    for number, line in enumerate(view["lines"]):
        _check_line(c, number, line, values, lines)
    added: list[int] = []
    for number, step in enumerate(view["steps"]):
        _check_step(c, f"step {number}", step, values, lines)
        added += step[4]
    c.need(sorted(added) == list(range(lines)), "steps", "must add each line once")
    for name, keys in {
        "forward": ["calls", "flops", "bytes"], "backward": ["calls", "flops", "bytes"],
        "kept": ["values", "bytes"], "shapes": ["values", "bytes"],
    }.items():  # fmt: skip
        sums = view["totals"].get(name, {})
        c.need(list(sums) == keys, "totals", f"{name} must have {', '.join(keys)}")
    first = view["steps"][0] if view["steps"] else None
    c.need(
        first is not None and first[7] == view["totals"]["kept"]["bytes"],
        "totals", "what is kept at first is what is kept",
    )  # fmt: skip


def _check_line(c: Checker, number: int, line: Sequence[Json], values: int, lines: int) -> None:
    where = f"line {number}"
    tokens, uses = line[2], line[7]
    c.need(len(tokens) % 3 == 0 and len(uses) % 2 == 0, where, "tokens come in threes, uses in twos")
    for ref in tokens[2::3]:
        c.index(ref, values + lines, f"{where}: token's ref", none=True)
    for at in range(0, len(uses) - 1, 2):
        c.need(uses[at + 1] in (1, 2), where, "uses numbers or a shape")


def _check_step(c: Checker, where: str, step: Sequence[Json], values: int, lines: int) -> None:
    _mark, _value, _told, _rule, _added, _came, to, _kept = step
    c.need(len(to) % 2 == 0, where, "what is handed on comes in twos")
