"""The sentences of the gradient explorer: for each step of the backward pass, the derivatives that it
receives and passes on, and the rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...ir.declaration import Gradient
from ...ir.op import Op
from ..format import Sentence
from ..words import count, counted

_SOURCE = "relay_explorer/transform/differentiation/reverse_mode.py"


def rule(op: Op, calls: Sequence[str]) -> Sentence:
    """Name the gradient rule of an operator: its formula and its source, or the operators it consists of."""
    if isinstance(op.gradient, Gradient) and "FPrimalGradient" not in op._attrs:
        source = f"{op.module.replace('.', '/')}.py"
        return (f"rule: {op.gradient.formula} · `{op.name.rpartition('.')[2]}` in `{source}`", op.name)
    return ("rule: set for {0} by `set_attr`" + _composed_of(calls), op.name)


def _composed_of(calls: Sequence[str]) -> str:
    if not calls:
        return ""
    parts = [name if times == 1 else f"{name} ×{times}" for name, times in Counter(calls).items()]
    return f", of {', '.join(parts[:6])}{' …' if len(parts) > 6 else ''}"


def listed(places: Sequence[int]) -> str:
    """Return placeholders as a list in words: `{0}`, `{0} and {1}`, `{0}, {1} and {2}`."""
    marks = [f"{{{place}}}" for place in places]
    return " and ".join([", ".join(marks[:-1]), marks[-1]] if len(marks) > 1 else marks)


def begin(calls: int, params: int, visited: int) -> Sentence:
    to = "each of them" if visited == calls else f"{visited} of them"
    return (
        f"The forward pass computes the result from {counted(params, 'parameter')} by "
        f"{counted(calls, 'operator')}. The backward pass starts at the result and visits {to} in reverse.",
    )


def seed(value: str, line: str) -> Sentence:
    if not line:
        return ("{0} is the result. Its first field is differentiated.", value, line)
    text = "{0} is the result. A change of it changes the result by the same amount, so its derivative, {1}, "
    return (f"{text}is **one**.", value, line)


SEED_RULE: Sentence = (
    "rule: a tensor is differentiated as the sum of its elements, so the derivative by each is "
    f"one · `{_SOURCE}`",
)


def summed(value: str, line: str, users: Sequence[str], times: int) -> Sentence:
    """Describe the derivative by a value that was used several times."""
    places = range(2, 2 + len(users))
    often = "twice" if times == 2 else f"{times} times"
    used = f"{{0}} was used {often}, by {listed(places)}"
    what = (
        "{1} is the **sum** of their derivatives."
        if line
        else "Their derivatives are **added**, field by field."
    )
    return (f"{used}. {what}", value, line, *users)


SUM_RULE: Sentence = (
    "rule: a value affects the result through each of its uses, and to first order these effects add up "
    f"· `{_SOURCE}`",
)


def ruled(
    value: str,
    derivative: str,
    to: Sequence[tuple[str, str]],
    kept: Sequence[str],
    given: Sequence[str],
    shapes: Sequence[str],
) -> Sentence:
    """Describe an operator in the backward pass: it receives `derivative` and passes on `to`, pairs of a
    value and the line of its derivative, "" where the derivative is passed on unchanged. It reads the values
    `kept`, which the forward pass stored, the parameters in `given`, and the `shapes` of others.
    """
    args = [value, derivative]

    def place(text: str) -> int:
        args.append(text)
        return len(args) - 1

    by_target: dict[str, list[str]] = {}
    for target, name in to:
        by_target.setdefault(target, []).append(f"{{{place(name)}}}" if name else "it unchanged")
    handed = [f"{_and(names)} to {{{place(target)}}}" for target, names in by_target.items()]
    template = "**{0}** in reverse: "
    template += "it receives {1} and " if derivative and handed else "it receives {1}. " if derivative else ""
    template += f"passes {_and(handed)}." if handed and derivative else ""
    template += f"it passes {_and(handed)}." if handed and not derivative else ""
    template += "" if handed else "No derivative is passed on from here."
    reads = []
    if kept:
        reads.append(f"{listed([place(v) for v in kept])}, **stored** by the forward pass")
    if given:
        what = "a parameter or constant" if len(given) == 1 else "parameters or constants"
        reads.append(f"{listed([place(v) for v in given])}, {what}")
    if reads:
        template += f" It reads {', and '.join(reads)}."
    if shapes:
        template += f" Of {listed([place(v) for v in shapes])} only the shape is needed."
    if handed and not kept and not given and not shapes:
        template += " It needs no value from the forward pass."
    return (template, *args)


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def passed(value: str, tuple_: bool, targets: Sequence[str]) -> Sentence:
    """Describe a tuple or a projection, for which nothing is computed."""
    to = listed(range(1, 1 + len(targets)))
    if tuple_:
        return (
            f"{{0}} groups values: the derivative of each field is passed to the value in it, {to}.",
            value,
            *targets,
        )
    return (f"{{0}} is one field of {to}, so its derivative is passed to that field.", value, *targets)


PASS_RULE: Sentence = (f"rule: tuples compute nothing, so neither do their derivatives · `{_SOURCE}`",)


def arrived(value: str, line: str, sources: Sequence[str]) -> Sentence:
    """Describe the derivative by a parameter."""
    by = f", from {listed(range(2, 2 + len(sources)))}" if sources else ""
    what = "Its derivative is complete: {1}" if line else "Its derivative is complete, field by field"
    return (f"{{0}} is a parameter. {what}{by}.", value, line, *sources)


def ended(kept: tuple[int, int], shapes: int, zeros: Sequence[str], exact: bool = True) -> Sentence:
    values, size = kept
    text = "All derivatives have been computed. For them the forward pass stored "
    text += f"**{counted(values, 'value')}, {_bytes(size, exact)}**" if values else "**nothing**"
    text += f"; of {counted(shapes, 'other value')} only the shape is needed." if shapes else "."
    if zeros:
        by = "it" if len(zeros) == 1 else "them"
        text += (
            f"\nThe result does not depend smoothly on {listed(range(len(zeros)))}: "
            f"the derivatives by {by} are zero."
        )
    return (text, *zeros)


def _bytes(size: int, exact: bool) -> str:
    """Write a size in bytes; a dynamic dimension counts as 1."""
    return counted(size, "byte") if exact else f"at least {counted(size, 'byte')}"


def summary(forward: int, backward: int, kept: tuple[int, int], exact: bool = True) -> str:
    values, size = kept
    held = f"{counted(values, 'value')} ({_bytes(size, exact)})" if values else "nothing"
    return (
        f"{counted(forward, 'operator')} forward, {count(backward)} backward. "
        f"The forward pass must store {held} for the backward pass."
    )
