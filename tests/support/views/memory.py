"""Is this a memory view? What `check` asks of one, beyond what it asks of every view."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.views.check import Checker

Json = Any


def check_memory(c: Checker, view: dict[str, Json]) -> None:
    """Every combination of choices has a variant; in each, no two lives share a buffer at one time, and the
    bytes in use are those of the lives.
    """
    for number, (row, name, label, type_, size, origin) in enumerate(view["values"]):
        where = f"value {number}"
        c.index(row, c.rows, f"{where}: row", none=True)
        for text in (name, label, type_):
            c.text(text, where)
        c.count(size, f"{where}: bytes")
        c.index(origin, 3, f"{where}: origin")
    for row, value in zip(view["same"][::2], view["same"][1::2], strict=True):
        c.index(row, c.rows, "same: row")
        c.index(value, len(view["values"]), "same: value")
    for rule in view["rules"]:
        c.text(rule, "rule")
    for name, choices in view["axes"]:
        for text in (name, *choices):
            c.text(text, "axes")
    c.need(len(view["grid"]) == prod(len(choices) for _, choices in view["axes"]), "grid", "has gaps")
    for number in view["grid"]:
        c.index(number, len(view["variants"]), "grid")
    c.need(view["variants"], "variants", "must not be empty")
    for number, variant in enumerate(view["variants"]):
        _check_variant(c, f"variant {number}", variant, len(view["values"]), len(view["rules"]))


def _check_variant(c: Checker, where: str, variant: dict[str, Json], values: int, rules: int) -> None:
    c.sentence(variant["say"], where)
    steps, lives, buffers = variant["steps"], variant["lives"], variant["buffers"]
    c.need(len(steps) > 1, where, "has no beginning and no end")
    for number, step in enumerate(steps):
        _check_step(c, f"{where}, step {number}", number, step, lives, values)
    used = [0] * len(steps)
    until: dict[int, int] = {}
    for number, (value, made, last, buffer, size, rule, before, name) in enumerate(lives):
        at = f"{where}, life {number}"
        c.index(value, values, at, none=True)
        c.need(0 < made <= last < len(steps), at, f"is needed from step {made} to step {last}")
        c.index(buffer, len(buffers), at)
        c.index(rule, rules, at)
        c.index(before, number, at, none=True)
        c.text(name, at)
        c.need(size <= buffers[buffer][1], at, "is larger than its buffer")
        c.need(until.get(buffer, -1) < made, at, "has a buffer that is in use")
        until[buffer] = last
        used[made] += size
        if last + 1 < len(steps):
            used[last + 1] -= size
    for number in range(1, len(steps)):
        used[number] += used[number - 1]
    c.need(variant["live"] == used, where, "the bytes in use are not those of the lives")
    c.need(variant["totals"]["peak"] == max(used), where, "the peak is not the most in use")
    for name, total in variant["totals"].items():
        if name != "packed" or total is not None:
            c.count(total, f"{where}: totals")
    c.need(len(variant["inside"]) % 2 == 0, where, "what is inside comes in pairs")
    for value, step in zip(variant["inside"][::2], variant["inside"][1::2]):
        c.index(value, values, f"{where}: inside")
        c.index(step, len(steps), f"{where}: inside")
        c.need(all(life[0] != value for life in lives), where, f"value {value} is stored and is not")


def _check_step(c: Checker, where: str, number: int, step: Json, lives: Json, values: int) -> None:
    mark, label, told, makes, reads, frees, about = step
    c.index(mark, 8, f"{where}: mark")
    c.text(label, where)
    c.sentence(told, where)
    for life in (*makes, *reads, *frees):
        c.index(life, len(lives), where)
    c.need(all(lives[life][1] == number for life in makes), where, "makes what is made elsewhere")
    c.need(all(lives[life][2] == number for life in frees), where, "frees what is needed")
    c.need(
        all(lives[life][1] <= number <= lives[life][2] for life in reads), where, "reads what is not there"
    )
    for value in about:
        c.index(value, values, where)
