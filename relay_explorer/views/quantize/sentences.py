"""The sentences of the quantization explorer: what each phase decided, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..format import Sentence
from ..words import count, counted
from .format import QuantizeTotals, Site

MOST_NAMES = 6
DECIBELS_PER_BIT = 6.02


def number(value: float) -> str:
    """Write a number in a few letters: `0.0123`, `1.2e-07`, `31`."""
    return f"{value:.3g}"


def decibels(value: float | None) -> str:
    """Write a signal-to-noise ratio; without noise the value is exact."""
    return "exact" if value is None else f"{value:.1f} dB"


def quoted(text: str) -> Sentence:
    """Return a scheme's or a calibrator's own words as a sentence."""
    if not text:
        return ()
    escaped = text.replace("{", "{{").replace("}", "}}")
    return (escaped[0].upper() + escaped[1:] + ("" if escaped.endswith(".") else "."),)


def _after(first: str, second: Sentence) -> str:
    """Append a small second sentence to a template."""
    return f"{first}\n{second[0]}" if second else first


def dtype(site: Site) -> str:
    return f"{'int' if site.signed else 'uint'}{site.bits}"


def per(site: Site) -> str:
    """Write what has a scale of its own: " (a scale per channel)"; "" for the whole tensor."""
    return "" if site.per == "tensor" else f" (a scale per {site.per})"


def range_text(site: Site) -> str:
    if site.kept_low == -site.kept_high:
        return f"±{number(site.kept_high)}"
    return f"{number(site.kept_low)} to {number(site.kept_high)}"


def begin(calls: int, weights: int) -> Sentence:
    """Describe the program before quantization."""
    held = f", with weights of {counted(weights, 'byte')}" if weights else ""
    return (
        f"{counted(calls, 'call')} in `float32`{held}. Quantization computes with **small integers** "
        "instead.\nAn 8-bit integer takes a quarter of a float's memory, and a processor multiplies several "
        "at a time.",
    )


def simulated(title: str, sites: Sequence[tuple[str, Site]], why: Sentence) -> Sentence:
    """Describe the quantizers of a call: `sites` are the names of the values, and their quantizers."""
    args = [title]
    parts = []
    for name, site in sites:
        args += [name, dtype(site)]
        parts.append(f"{{{len(args) - 2}}} as {{{len(args) - 1}}}{per(site)}")
    text = f"**{{0}}** will use {_and(parts)}."
    return (_after(text, why), *args)


def left(title: str, why: str) -> Sentence:
    """Describe a layer that stays in float."""
    reason = why.replace("{", "{{").replace("}", "}}")
    return (
        f"**{{0}}** stays in float: {reason}.\nThe comparison at the end shows what that is worth.",
        title,
    )


def left_others(operators: Sequence[str]) -> Sentence:
    """Describe the calls that stay in float because the scheme has no rule for them."""
    times = Counter(operators).most_common()
    names = [f"`{name}`" + (f" ×{n}" if n > 1 else "") for name, n in times[:MOST_NAMES]]
    more = f" and {count(len(times) - MOST_NAMES)} more" if len(times) > MOST_NAMES else ""
    one = len(operators) == 1
    subject = "One other call stays" if one else f"{count(len(operators))} other calls stay"
    them = "it" if one else "them"
    return (
        f"{subject} in float: {', '.join(names)}{more}.\nThe scheme has no rule for {them} here, or no "
        f"quantized operand reaches {them}.",
    )


def calibrated(site: Site) -> Sentence:
    """Describe the range that calibration chose for a site."""
    took = "has" if site.role == "weight" else "took"
    args = [site.name, number(site.low), number(site.high), range_text(site)]
    text = f"{{0}} {took} values from {{1}} to {{2}}; the integers cover **{{3}}**"
    if not site.tensors:
        text = "{0} was not looked at; the integers cover **{3}**"
    small = [f"Method: {site.method}."]
    if len(site.scales) > 1:
        args += [number(min(site.scales)), number(max(site.scales))]
        text += f" in steps of {{4}} to {{5}}, per {site.per}"
    elif site.scales:
        args.append(number(site.scales[0]))
        text += " in steps of {4}"
        if site.zeros[0]:
            small.append(f"Zero is the integer {site.zeros[0]}.")
    small[1:1] = site.why
    if site.clipped:
        are = "is" if site.clipped == 1 else "are"
        of = counted(site.values, "value")
        small.append(f"{count(site.clipped)} of {of} {are} outside and will be clipped.")
    return (f"{text}.\n{' '.join(small)}", *args)


def unreached(name: str) -> Sentence:
    return (
        "No run of the calibration reached {0}, so its range is unknown, and it stays in float.\nTypical "
        "inputs should make the program take each of its branches.",
        name,
    )


def enters(site: Site) -> Sentence:
    """Describe a float that becomes integers."""
    lowest, highest = integers(site)
    shifted = "The zero point is added. " if any(site.zeros) else ""
    return (
        "**{0}** becomes integers: divided by its step, rounded, clipped to {1} … {2}.\n"
        f"{shifted}From here on it takes {site.bits} bits for each element instead of 32.",
        site.name,
        str(lowest),
        str(highest),
    )


def integers(site: Site) -> tuple[int, int]:
    """Return the least and the greatest integer of a site."""
    if not site.signed:
        return 0, 2**site.bits - 1
    highest = 2 ** (site.bits - 1) - 1
    return (-highest if site.symmetric else -highest - 1), highest


def multiplies(title: str, operands: Sequence[str], result: str) -> Sentence:
    """Describe a layer that multiplies integers."""
    of = f"`{operands[0]}` by `{operands[1]}`" if len(operands) > 1 else "integers"
    return (
        f"**{{0}}** multiplies {of} and adds the products up in **{result}**.\nSums of many products need "
        "more bits. The step of the result is the product of both steps.",
        title,
    )


def follows(titles: Sequence[str]) -> Sentence:
    """Describe calls that work on integers as they did on floats."""
    marks = _and([f"**{{{place}}}**" for place in range(len(titles))])
    verb = "works" if len(titles) == 1 else "work"
    them = "it" if len(titles) == 1 else "they"
    return (
        f"{marks} {verb} on the integers as {them} did on floats.\nNothing has to be converted: the scale "
        "stays the same.",
        *titles,
    )


def leaves(title: str) -> Sentence:
    return (
        "**{0}** leaves the integers: each is multiplied by its step.\nThe next line reads real numbers.",
        title,
    )


def requantized(name: str, before: float, after: float, many: bool) -> Sentence:
    """Describe integers whose scale changes; `many`: per channel, of which the first is told."""
    first = " (the first channel's)" if many else ""
    return (
        f"**{{0}}** is rescaled: from steps of {{1}}{first} to steps of {{2}}.\nIts integers are multiplied "
        "by the ratio, rounded and clipped, because the next layer reads narrow ones.",
        name,
        number(before),
        number(after),
    )


def cancelled(name: str, scale: float) -> Sentence:
    """Describe a change of scale that is none."""
    return (
        "**{0}** needs no rescaling: its steps are {1} already, so both conversions **cancel**.\nAn operator "
        "that only moves or compares values keeps their scale.",
        name,
        number(scale),
    )


def noisiest(title: str, before: float | None, after: float | None, why: Sentence) -> Sentence:
    """Describe the row at which most noise is added."""
    start = "exact" if before is None else decibels(before)
    text = "Most noise is added at **{0}**: it reads values of {1}, and its own have **{2}**."
    if before is None:
        text = "Most noise is added at **{0}**: it reads exact values, and its own have **{2}**."
    return (_after(text, why), title, start, decibels(after))


def because_clipping(site: str, clipped: int, values: int, kept: str) -> Sentence:
    return (
        f"{count(clipped)} of {counted(values, 'value')} of {_code(site)} are **clipped** at {kept}: that "
        "loses more than rounding does.",
    )


def because_channels(site: str, ratio: float) -> Sentence:
    return (
        f"One **scale for all channels** of {_code(site)}: the widest channel has {number(ratio)} times the "
        "range of a typical one, which is left with few integers.",
    )


def because_rounding(site: str, bits: int, step: str) -> Sentence:
    return (
        f"**Rounding** of {_code(site)} to {bits} bits, in steps of {step}, loses most: a wider type or a "
        "narrower range would help.",
    )


def because_overflow() -> Sentence:
    return (
        "The integers differ from their simulation: **accumulators overflow**, or are rescaled coarsely.",
    )


def because_operands() -> Sentence:
    return ("Nothing is rounded here: the operator **amplifies** the errors of its operands.",)


def other_way(
    title: str, is_left: bool, is_end: bool, result: float | None, otherwise: float | None
) -> Sentence:
    """Describe what the opposite decision about a layer, the first or last one if `is_end`, would do to the
    result.
    """
    args = (title, decibels(result), decibels(otherwise))
    change = 0.0 if result is None or otherwise is None else result - otherwise
    if is_left:
        text = "Why is **{0}** left alone? Quantized too, the program ends at **{2}** instead of {1}."
        bits = number(change / DECIBELS_PER_BIT)
        small = f"For one layer that is much: {number(change)} dB are {bits} bits of precision."
        if change < 1:
            small = "That costs little here, so this layer could be quantized as well."
        elif change < DECIBELS_PER_BIT:
            small = f"That costs {number(change)} dB, less than one bit of precision."
        return (f"{text}\n{small}", *args)
    text = "With **{0}** left in float, the program ends at **{2}** instead of {1}."
    small = "No other layer costs more."
    if change > -1:
        small += " Even so, leaving it alone gains little."
    elif is_end:
        small += " First and last layers are often left alone for this reason."
    return (f"{text}\n{small}", *args)


def ended(totals: QuantizeTotals, target: str) -> Sentence:
    """Describe how well the integer program agrees with the float program: its result, or the value `target`
    from which the result is computed in float.
    """
    if totals.compared == 0:
        return ("The program is quantized. No input was given to compare it with the float program.",)
    what = "**{1}** in integers" if target else "The result in integers"
    text = f"{what} agrees with float to **{{0}}** (signal to noise)."
    if totals.result is None:
        text = f"{what} is **exactly** that in float."
    on = "all inputs" if totals.same == totals.compared else f"{totals.same} of {totals.compared} inputs"
    small = f"On {on} the result has the same largest element. Each bit is worth 6 dB."
    if totals.bytes_before:
        small += f" Constants: {count(totals.bytes_after)} instead of {count(totals.bytes_before)} bytes."
    return (f"{text}\n{small}", decibels(totals.result), target)


def summary(totals: QuantizeTotals, scheme: str, target: str) -> str:
    parts = f"{counted(totals.integer, 'call')} in integers, {count(totals.left)} in float, by {scheme}"
    if not totals.compared:
        return f"{parts}."
    agrees = "exactly" if totals.result is None else f"to {decibels(totals.result)}"
    return (
        f"{parts}. {target or 'The result'} agrees with the float program {agrees}; constants take "
        f"{count(totals.bytes_after)} bytes instead of {count(totals.bytes_before)}."
    )


def _code(text: str) -> str:
    return f"`{text.replace('{', '{{').replace('}', '}}')}`"


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
