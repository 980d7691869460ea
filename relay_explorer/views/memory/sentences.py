"""Sentences of the memory view: what each step needs, where that is placed, and why."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.storage import RANGE
from ..format import Sentence
from ..words import counted
from .format import Life, MemoryTotals

_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
MAX_NAMED = 3

RULES = {
    "first": "no buffer was free",
    "apart": f"every free buffer was more than {RANGE} times too large or too small",
    "alone": "no buffer is reused",
    "same": "a free buffer had exactly this size",
    "larger": "it is the smallest free buffer that is large enough",
    "grown": "no free buffer was large enough, so the largest of them grows",
}


def sized(number: int) -> str:
    """Write a number of bytes: `768 bytes`, `8.19 kB`, `6.42 MB`."""
    for unit, name in _UNITS:
        if number >= unit:
            return f"{float(f'{number / unit:.3g}'):g} {name}"
    return counted(number, "byte")


def buffer_name(number: int) -> str:
    return f"b{number}"


def place(name: str, rule: str, life: Life, before: str, was: int, size: int) -> Sentence:
    """Describe where one new tensor is placed, and why."""
    needs = ("{0} needs {1}: ", name, sized(life.bytes), buffer_name(life.buffer))
    text = {
        "first": "**a new buffer**, {2}, because none is free.",
        "alone": "**a new buffer**, {2}.",
        "apart": f"**a new buffer**, {{2}}. The free ones are more than {RANGE} times too large "
        "or too small, "
        "and are left for tensors that fit them better.",
        "same": "**{2} is reused**. It held {3}, which is dead now and had the same size.",
        "larger": "**{2} is reused**. It held {3}, which is dead now. Of the free buffers that are large "
        "enough, {2} is the smallest, with {4}.",
        "grown": "**{2} grows** from {4} to {5} and is reused: no free buffer is large enough, "
        "and {2} is the "
        "largest of them. It held {3}, which is dead now.",
    }[rule]
    more = (before, sized(was), sized(size)) if before else ()
    return (needs[0] + text, *needs[1:], *more)


def places(name: str, lives: Sequence[Life], fresh: int) -> Sentence:
    """Describe where several new tensors are placed."""
    again = len(lives) - fresh
    parts = [f"**{counted(fresh, 'new buffer')}**"] if fresh else []
    parts += [f"**{counted(again, 'reused buffer')}**"] if again else []
    names = ", ".join(buffer_name(life.buffer) for life in lives[: 2 * MAX_NAMED])
    more = "" if len(lives) <= 2 * MAX_NAMED else " …"
    together = sum(life.bytes for life in lives)
    return (
        f"{{0}} computes {len(lives)} tensors, {{1}} in total: {' and '.join(parts)} ({{2}}{more}).",
        name, sized(together), names,
    )  # fmt: skip


def view(name: str, of: str) -> Sentence:
    return ("{0} is {1} with another shape: **nothing is stored** or copied.", name, of)


def branch(condition: str) -> Sentence:
    return (
        "{0} decides which branch of the `if` is taken. The plan covers both: only one of the "
        "branches runs, so "
        "they may share buffers.",
        condition,
    )  # fmt: skip


def copied(name: str, number: int, lives: Sequence[Life]) -> Sentence:
    which = ("true", "false")[number]
    if not lives:
        return (f"The {which} branch ends: its result is copied to the memory of {{0}}.", name)
    return (
        f"The {which} branch ends: its result is copied to {{1}}, which holds {{0}} from here on.",
        name, ", ".join(buffer_name(life.buffer) for life in lives),
    )  # fmt: skip


def begin(outside: int, steps: int) -> Sentence:
    follow = f"{counted(steps, 'step')} follow{'s' if steps == 1 else ''}"
    if not outside:
        return (f"Nothing is stored yet. {follow}.",)
    return (
        f"No buffer is in use yet. Parameters and constants, {{0}}, have memory of their own. "
        f"{follow}.",
        sized(outside),
    )  # fmt: skip


def end(totals: MemoryTotals, buffers: int) -> Sentence:
    packed = totals.packed
    better = packed is not None and sized(packed) != sized(totals.arena)
    less = (
        "\nIf values could lie at any address, and not only in whole buffers, {3} would suffice."
        if better
        else ""
    )
    return (
        f"The result is computed. At most {{0}} were live at once. {counted(buffers, 'buffer')}, "
        f"{{1}} in total, "
        f"held all values; without reuse they would have taken **{{2}}**.{less}",
        sized(totals.peak), sized(totals.arena), sized(totals.total),
        *([sized(packed)] if packed is not None and better else []),
    )  # fmt: skip


def after(say: Sentence, freed: Sequence[tuple[str, str]], live: int, peak: bool) -> Sentence:
    """Add a second line to a sentence: the live bytes, and the values that are dead after the step."""
    args = list(say[1:])

    def arg(text: str) -> str:
        args.append(text)
        return f"{{{len(args) - 1}}}"

    parts = [f"Live: {arg(sized(live))}{', the peak' if peak else ''}."]
    if freed:
        named = [f"{arg(name)} ({arg(buffer)})" for name, buffer in freed[:MAX_NAMED]]
        more = len(freed) - len(named)
        names = ", ".join(named) + (f" and {more} more" if more > 0 else "")
        parts.append(f"Dead after this step: {names}.")
    return (say[0] + "\n" + " ".join(parts), *args)


def variant(choices: Sequence[str], totals: MemoryTotals, first: MemoryTotals, inside: int) -> Sentence:
    """Describe a plan in comparison with the first."""
    lead = ", ".join(choices)
    text = f"**{lead[:1].upper() + lead[1:]}.** "
    stored = f"{counted(inside, 'value')} {'is' if inside == 1 else 'are'} never stored. " if inside else ""
    if totals == first:
        return (text + stored + "Peak and buffers are the same.",)
    args: list[str] = []

    def compared(what: str, now: int, was: int) -> str:
        args.extend(dict.fromkeys([sized(now), sized(was)]))
        same = sized(now) == sized(was)
        return (
            f"{what} {{{len(args) - 1}}}, as before"
            if same
            else f"{what} {{{len(args) - 2}}} instead of {{{len(args) - 1}}}"
        )

    peak, arena = compared("Peak", totals.peak, first.peak), compared("buffers", totals.arena, first.arena)
    return (f"{text}{stored}{peak}; {arena}.", *args)
