"""Is this a gradient view? What `check` asks of one, beyond its schema."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.views.check import Checker, Json


def check_gradient(c: Checker, view: dict[str, Json]) -> None:
    """Tells `c` what is wrong with the fields of a gradient view."""
    values, lines = len(view["values"]), len(view["lines"])
    for number, value in enumerate(view["values"]):
        where = f"value {number}"
        row, name, label, type_, size, given, kept, line, users = value
        c.index(row, c.rows, f"{where}: row")
        for text in (name, label, type_):
            c.text(text, where)
        c.count(size, f"{where}: bytes")
        c.need(given in (0, 1), where, "given must be 0 or 1")
        c.index(kept, 3, f"{where}: kept")
        c.index(line, lines, f"{where}: derivative", none=True)
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
        for amount in sums.values():
            c.count(amount, f"totals: {name}")
    first = view["steps"][0] if view["steps"] else None
    c.need(
        first is not None and first[7] == view["totals"]["kept"]["bytes"],
        "totals", "what is kept at first is what is kept",
    )  # fmt: skip


def _check_line(c: Checker, number: int, line: Sequence[Json], values: int, lines: int) -> None:
    where = f"line {number}"
    value, role, tokens, name, type_, flops, size, uses = line
    c.index(value, values, f"{where}: value")
    c.index(role, 4, f"{where}: role")
    c.need(len(tokens) % 3 == 0 and len(uses) % 2 == 0, where, "tokens come in threes, uses in twos")
    for at in range(0, len(tokens) - 2, 3):
        c.index(tokens[at], 10, f"{where}: token class")
        c.text(tokens[at + 1], f"{where}: token")
        c.index(tokens[at + 2], values + lines, f"{where}: token's ref", none=True)
    for text in (name, type_):
        c.text(text, where)
    for amount in (flops, size):
        c.count(amount, where)
    for at in range(0, len(uses) - 1, 2):
        c.index(uses[at], values, f"{where}: uses")
        c.need(uses[at + 1] in (1, 2), where, "uses numbers or a shape")


def _check_step(c: Checker, where: str, step: Sequence[Json], values: int, lines: int) -> None:
    mark, value, told, rule, added, came, to, kept = step
    c.index(mark, 7, f"{where}: mark")
    c.index(value, values, f"{where}: value", none=True)
    c.sentence(told, where)
    if rule:
        c.sentence(rule, where)
    for line in added:
        c.index(line, lines, f"{where}: line")
    for source in came:
        c.index(source, values, f"{where}: came")
    c.need(len(to) % 2 == 0, where, "what is handed on comes in twos")
    for at in range(0, len(to) - 1, 2):
        c.index(to[at], values, f"{where}: to")
        c.index(to[at + 1], lines, f"{where}: to", none=True)
    c.count(kept, f"{where}: kept")
