"""The sentences of the quantization explorer: what each phase decided, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..format import Sentence
from ..words import count, counted
from .format import QuantizeTotals, Site

OF_WEIGHT = "weight of "  # before the name of a value, in the name of a site
MOST_NAMES = 3
MOST_TITLES = 2
DECIBELS_PER_BIT = 6.02
THEIR_OWN = ("its weight", "its result")  # what a step calls values without a name


def number(value: float) -> str:
    """Write a number in a few letters: `0.0123`, `1.2e-07`, `31`."""
    return f"{value:.3g}"


def decibels(value: float | None) -> str:
    """Write a signal-to-quantization-noise ratio; without noise the value is exact."""
    return "exact" if value is None else f"{value:.1f} dB"


def quoted(text: str) -> Sentence:
    """Return a scheme's or a calibrator's own words as a sentence."""
    if not text:
        return ()
    escaped = _escaped(text)
    return (escaped[0].upper() + escaped[1:] + ("" if escaped.endswith(".") else "."),)


def _after(first: str, second: Sentence) -> str:
    """Append a small second sentence to a template."""
    return f"{first}\n{second[0]}" if second else first


def dtype(site: Site) -> str:
    return f"{'int' if site.signed else 'uint'}{site.bits}"


def range_text(site: Site) -> str:
    if site.kept_low == -site.kept_high:
        return f"±{number(site.kept_high)}"
    return f"{number(site.kept_low)} to {number(site.kept_high)}"


def of_site(site: Site) -> tuple[str, str]:
    """Return what a site is, apart from the value's name, and the name: `the weight of ` and `%4`."""
    name = site.name.removeprefix(OF_WEIGHT)
    return ("" if name == site.name else f"the {OF_WEIGHT}"), name


def begin(calls: int, dtypes: Sequence[str], constants: int) -> Sentence:
    """Describe the program before quantization: `calls` compute in floating point, in the element types
    `dtypes`; `constants` are the bytes of its constants.
    """
    held = f", {counted(constants, 'byte')} of constants" if constants else ""
    if not calls:
        return ("No call computes in floating point, so there is nothing to quantize.",)
    text = f"**{counted(calls, 'call')}** in {_and([f'`{dtype}`' for dtype in dtypes])}{held}."
    small = "`int8` takes a quarter of the memory, and four times as many fit in a vector."
    return (_after(text, (small,) if list(dtypes) == ["float32"] else ()),)


def simulated(title: str, sites: Sequence[tuple[str, Site]], why: Sentence) -> Sentence:
    """Describe the quantizers of a call: `sites` are the names of the values, and their quantizers."""
    args = [title]
    reads: dict[str, list[str]] = {}
    stores = []
    for name, site in sites:
        each = "" if site.per == "tensor" else f" (per {site.per})"
        if name == "its result":
            stores.append(f"store its result{each} as `{dtype(site)}`")
            continue
        if name not in THEIR_OWN:
            args.append(name)
            name = f"{{{len(args) - 1}}}"
        reads.setdefault(dtype(site), []).append(name + each)
    parts = [f"read {_and(names)} as `{type_}`" for type_, names in reads.items()]
    return (_after(f"**{{0}}** will {_and([*parts, *stores])}.", why), *args)


def left(title: str, why: str) -> Sentence:
    """Describe a layer that stays in float."""
    return (_after("**{0}** stays in float.", quoted(why)), title)


def left_others(operators: Sequence[str], are_more: bool) -> Sentence:
    """Describe the calls that stay in float because the scheme has no rule for them; `are_more`: steps before
    described others.
    """
    times = Counter(operators).most_common()
    names = [f"`{name}`" + (f" ×{n}" if n > 1 else "") for name, n in times[:MOST_NAMES]]
    more = f" and {count(len(times) - MOST_NAMES)} more" if len(times) > MOST_NAMES else ""
    one = len(operators) == 1
    calls = f"{count(len(operators))} {'other ' * are_more}{'call stays' if one else 'calls stay'}"
    why = "It has no integer form, or its operands" if one else "They have no integer form, or their operands"
    return (f"{calls} in float: {', '.join(names)}{more}.\n{why} are floats.",)


def calibrated(site: Site) -> Sentence:
    """Describe the range that calibration chose for a site."""
    what, name = of_site(site)
    args = [name, number(site.low), number(site.high), range_text(site)]
    ranges = "the range becomes" if len(site.scales) < 2 else "the ranges reach"
    text = f"{what.capitalize()}**{{0}}** lies between {{1}} and {{2}}; {ranges} **{{3}}**"
    if not site.tensors:
        text = f"Calibration did not observe {what}{{0}}; its range is **{{3}}**"
    if site.method:
        text += f" ({_escaped(site.method)})"
    small = "No scale"
    if len(site.scales) > 1:
        low, high = number(min(site.scales)), number(max(site.scales))
        span = f"all {low}" if low == high else f"from {low} to {high}"
        small = f"{count(len(site.scales))} scales, one per {site.per}, {span}"
    elif site.scales:
        small = f"Scale {number(site.scales[0])}"
        if site.zeros[0]:
            small += f", zero point {site.zeros[0]}"
    if site.clipped:
        small += f"; {count(site.clipped)} of {counted(site.values, 'value')} will be clipped"
    return (f"{text}.\n{small}.", *args)


def unreached(site: Site, is_empty: bool) -> Sentence:
    """Describe a site without a range; `is_empty`: a tensor without elements."""
    what, name = of_site(site)
    if is_empty:
        text = f"{what.capitalize()}**{{0}}** has no elements, so it has no range and stays in float."
        return (text, name)
    return (
        f"Calibration never computed {what}{{0}}: it has no range and stays in float.\nAdd inputs that take "
        "this branch.",
        name,
    )


def enters(site: Site, stored: str) -> Sentence:
    """Describe a float that becomes integers, in the element type `stored`."""
    lowest, highest = integers(site)
    shifted = " + zero point" if any(site.zeros) else ""
    small = f"Stored as `{stored}`, not `float32`."
    if stored.startswith("float"):
        small = f"These integers are still stored as `{stored}`."
    return (
        f"**{{0}}** is quantized: round(x / scale){shifted}, clipped to {{1}} … {{2}}.\n{small}",
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
        f"**{{0}}** multiplies {of} and accumulates in `{result}`.\nIts scale: the product of both scales.",
        title,
    )


def follows(titles: Sequence[str], keep_scale: bool) -> Sentence:
    """Describe calls that compute on integers between layers; `keep_scale`: their results have the scale of
    their operands.
    """
    marks = [f"**{{{place}}}**" for place in range(min(len(titles), MOST_TITLES))]
    if len(titles) > MOST_TITLES:
        marks.append(f"{count(len(titles) - MOST_TITLES)} more")
    verb, their = ("computes", "Its") if len(titles) == 1 else ("compute", "Their")
    small = (f"{their} scale does not change.",) if keep_scale else ()
    return (
        _after(f"{_and(marks)} {verb} on integers, with no float in between.", small),
        *titles[:MOST_TITLES],
    )


def leaves(title: str, is_result: bool, is_read: bool) -> Sentence:
    """Describe integers that become floats, which are the program's result, or are read by a call."""
    small: Sentence = ("The next call stays in float.",) if is_read else ()
    if is_result:
        small = ("It is the result.",)
    return (_after("**{0}** is dequantized: real = scale · (integer − zero point).", small), title)


def requantized(name: str, before: float, after: float, many: bool, stored: str) -> Sentence:
    """Describe integers whose scale changes; `many`: per channel, where the first scale is shown. `stored`
    is their element type.
    """
    change = "from per-channel scales ({1} …) to {2}" if many else "scale {1} → {2}"
    return (
        f"**{{0}}** is requantized: {change}, as `{stored}`.\n"
        "Multiply by the ratio of the scales, round, clip.",
        name,
        number(before),
        number(after),
    )


def cancelled(name: str, scale: float, many: bool) -> Sentence:
    """Describe a change of scale that is none; `many`: per channel, where the first scale is shown."""
    has = "these scales ({1} …)" if many else "the scale {1}"
    return (f"**{{0}}** needs no requantization: it already has {has}.", name, number(scale))


def noisiest(title: str, read: Sequence[float] | None, after: float | None, why: Sentence) -> Sentence:
    """Describe the row at which most noise is added; `read` are the ratios of operands with noise, None for a
    value that has no operands.
    """
    text = "Most noise is added at **{0}**: its SQNR is **{1}**"
    if not read:
        exact = "" if read is None else "; what it reads is exact"
        return (_after(f"{text}{exact}.", why), title, decibels(after))
    of = "that of its operand" if len(read) == 1 else "that of its worst operand"
    return (_after(f"{text}, {of} {{2}}.", why), title, decibels(after), decibels(min(read)))


def because_clipping(site: Site) -> Sentence:
    return (
        f"{count(site.clipped)} of {counted(site.values, 'value')} of {_code(site)} are **clipped** at "
        f"{range_text(site)}, which costs more accuracy than rounding.",
    )


def because_channels(site: Site, ratio: float) -> Sentence:
    return (
        f"All channels of {_code(site)} share **one scale**. The widest has {number(ratio)} times the range "
        "of a typical one, so that one uses few integers.",
    )


def because_rounding(site: Site) -> Sentence:
    return (
        f"**Rounding** {_code(site)} to {site.bits} bits adds most of the noise. More bits or a smaller "
        "range may help.",
    )


def overflowed(result: float | None, simulated: float | None) -> Sentence:
    """Describe integers that are much worse than their simulation."""
    reach = "is **exact**" if simulated is None else f"**{decibels(simulated)}**"
    return (
        f"The integers reach **{decibels(result)}**, their simulation {reach}.\n"
        "Likely an accumulator overflows.",
    )


def because_operands(own: float, read: Sequence[float] | None) -> Sentence:
    """Explain the ratio `own` of a value that nothing rounds, by those of its operands; None: not known."""
    if not read:
        return ("Nothing is rounded here: the error is that of its operands.",)
    worst = min(read)
    if own < worst:
        return ("Nothing is rounded here; the error of its operands weighs more, relative to this result.",)
    if own > worst:
        return ("Its result hides part of its operands' error.",)
    return ("It only passes on the error of its operands.",)


def if_quantized(title: str, result: float | None, otherwise: float | None) -> Sentence:
    """Describe the result if a layer that was left in float were quantized, too."""
    args = (title, decibels(result), decibels(otherwise))
    text = "If **{0}** were quantized too, the result would have **{2}**, not {1}."
    if otherwise is None:
        still = "still be **exact**" if result is None else "be **exact** instead of {1}"
        return (f"If **{{0}}** were quantized too, the result would {still}.", *args)
    if result is None:
        return ("If **{0}** were quantized too, the result would have **{2}**; now it is exact.", *args)
    change = result - otherwise
    bits = number(change / DECIBELS_PER_BIT)
    small = f"That is a lot for one layer: {number(change)} dB is about {bits} bits."
    if change < 1:
        small = "That costs little, so this layer could be quantized as well."
    elif change < DECIBELS_PER_BIT:
        small = f"That costs {number(change)} dB, less than one bit."
    return (f"{text}\n{small}", *args)


def if_left(title: str, is_end: bool, result: float | None, otherwise: float | None, tried: int) -> Sentence:
    """Describe the result if the layer that costs most of those that were `tried`, the first or last one if
    `is_end`, were left in float.
    """
    args = (title, decibels(result), decibels(otherwise))
    most = f"Of the {count(tried)} layers tried, it costs most." if tried > 1 else ""
    if result is None:
        would = "stays exact" if otherwise is None else "would have **{2}**; now it is exact"
        return (f"With **{{0}}** in float, the result {would}.", *args)
    if otherwise is None:
        text = "Left in float, **{0}** makes the result **exact** instead of {1}."
    else:
        text = "With **{0}** in float, the result would have **{2}**, not {1}."
        if otherwise - result < 1:
            most += " Even so, that gains little."
        elif is_end:
            most += " First and last layers are often left in float."
    return (_after(text, (most.strip(),) if most else ()), *args)


def ended(totals: QuantizeTotals, target: str) -> Sentence:
    """Describe how well the integer program agrees with the float program: its result, or the value `target`
    from which the result is computed in float.
    """
    if totals.compared == 0:
        return ("The program is quantized. No input was given to compare it with the float program.",)
    of, what = ("the result's", "**{1}**") if target else ("its", "The result")
    on = (
        "all inputs"
        if totals.same == totals.compared
        else f"{totals.same} of {counted(totals.compared, 'input')}"
    )
    same = f"{of} largest element is the same on {on}."
    if totals.result is None:
        exact = f"{what} equals that of the float program **exactly**"
        return (f"{exact}." if totals.same == totals.compared else f"{exact}; {same}", "exact", target)
    return (
        f"{what} has an SQNR of **{{0}}**; {same}\nOne more bit gains about 6 dB.",
        decibels(totals.result),
        target,
    )


def summary(totals: QuantizeTotals, scheme: str, target: str) -> str:
    computes = f"{scheme} computes {counted(totals.integer, 'call')} in integers"
    if totals.weights:
        computes += f", {count(totals.weights)} in float with integer weights,"
    text = f"{computes} and leaves {count(totals.left)} in float."
    if not totals.compared:
        return text
    ratio = f"has an SQNR of {decibels(totals.result)}"
    return (
        f"{text} {target or 'The result'} {'is exact' if totals.result is None else ratio}; constants take "
        f"{count(totals.bytes_after)} bytes instead of {count(totals.bytes_before)}."
    )


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _code(site: Site) -> str:
    """Write a site within a template: `%3` as code, or the weight of `%4`."""
    what, name = of_site(site)
    return f"{what}`{_escaped(name)}`"


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
