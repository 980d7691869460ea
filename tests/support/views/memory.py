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
    c.need(len(view["grid"]) == prod(len(choices) for _, choices in view["axes"]), "grid", "has gaps")
    c.need(view["variants"], "variants", "must not be empty")
    for number, variant in enumerate(view["variants"]):
        _check_variant(c, f"variant {number}", variant, len(view["values"]), len(view["rules"]))


def _check_variant(c: Checker, where: str, variant: dict[str, Json], values: int, rules: int) -> None:
    steps, lives, buffers = variant["steps"], variant["lives"], variant["buffers"]
    c.need(len(steps) > 1, where, "has no beginning and no end")
    for number, step in enumerate(steps):
        _check_step(c, f"{where}, step {number}", number, step, lives, values)
    used = [0] * len(steps)
    until: dict[int, int] = {}
    for number, (_value, made, last, buffer, size, _rule, _before, _name) in enumerate(lives):
        at = f"{where}, life {number}"
        c.need(0 < made <= last < len(steps), at, f"is needed from step {made} to step {last}")
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
    c.need(len(variant["inside"]) % 2 == 0, where, "what is inside comes in pairs")
    for value, _step in zip(variant["inside"][::2], variant["inside"][1::2]):
        c.need(all(life[0] != value for life in lives), where, f"value {value} is stored and is not")


def _check_step(c: Checker, where: str, number: int, step: Json, lives: Json, values: int) -> None:
    _mark, _label, _told, makes, reads, frees, _about = step
    c.need(all(lives[life][1] == number for life in makes), where, "makes what is made elsewhere")
    c.need(all(lives[life][2] == number for life in frees), where, "frees what is needed")
    c.need(
        all(lives[life][1] <= number <= lives[life][2] for life in reads), where, "reads what is not there"
    )
