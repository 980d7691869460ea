"""Find the common mistake that explains a wrong result, by computing what each mistake would give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any as Anything

from . import ADD, DENSE, HIGHEST, LEAKY_RELU, LOWEST, Case, Parameters, computed, numbers, reals

Candidate = tuple[Anything, str]


def hint(case: Case, result: Anything, right: Anything) -> str:
    """Return the hint of the first mistake that explains a result; general advice if none does."""
    import numpy as np

    differs = right != result
    wrong = result[differs].astype("int64")
    matching = [
        says for candidate, says in _candidates(case) if np.array_equal(_whole(candidate)[differs], wrong)
    ]
    if matching:
        # A result at the end of the range fits several mistakes that make it too large.
        clipped = np.isin(wrong, (LOWEST, HIGHEST)).all()
        return " Or: ".join(list(dict.fromkeys(matching))[: 2 if clipped else 1])
    return (
        "Compare with the definition: real = scale · (integer − zero point), for each operand and for the "
        "result. Compute the real result by hand for the smallest operands, and divide by the scale of the "
        "result."
    )


def _whole(steps: Anything) -> Anything:
    import numpy as np

    return np.clip(np.rint(steps), LOWEST, HIGHEST).astype("int64")


def _steps(case: Case, operands: list[Anything], out: Parameters) -> Anything:
    return computed(case.op, operands, case.alpha) / out.scale + out.zero_point


def _candidates(case: Case) -> Iterator[Candidate]:
    """Yield the results of common mistakes, the most likely first."""
    import numpy as np

    operands = reals(case)
    out = case.out
    exact = _steps(case, operands, out)
    names = ("x", "weight") if case.op == DENSE else ("the first operand", "the second operand")
    for index, (own, value) in enumerate(zip(case.parameters, numbers(case))):
        if own.zero_point:
            changed = [*operands]
            changed[index] = own.scale * value.astype("float64")
            yield (
                _steps(case, changed, out),
                f"The zero point of {names[index] if len(operands) > 1 else 'x'} is missing: its integer "
                f"{own.zero_point} stands for 0, so subtract it before anything is multiplied or compared.",
            )
    plain = [own.scale * value.astype("float64") for own, value in zip(case.parameters, numbers(case))]
    if len(operands) > 1:
        yield (
            _steps(case, plain, out),
            "The zero points of the operands are missing: subtract each from the integers of its operand.",
        )
    yield (
        _steps(case, operands, Parameters(out.scale, -out.zero_point)),
        "The zero point of the result is subtracted, but it must be added: integer = real / scale + zero "
        "point.",
    )
    yield (
        _steps(case, operands, Parameters(out.scale, 0)),
        "The zero point of the result is missing: add it after the division by the result's scale.",
    )
    yield (
        np.trunc(exact - out.zero_point) + out.zero_point,
        "Your result is rounded toward zero. A cast to an integer cuts the fraction off: use `relay.round` "
        "before it.",
    )
    yield np.floor(exact), "Your result is rounded down: use `relay.round` before the cast."
    wrapped = (np.rint(exact).astype("int64") - LOWEST) % 256 + LOWEST
    yield (
        wrapped,
        "A result beyond −128 … 127 wraps around when it is cast to int8. Clip it before the cast: "
        "`relay.clip(…, -128, 127)`.",
    )
    yield (
        np.clip(exact - out.zero_point, LOWEST, HIGHEST) + out.zero_point,
        "Your result is clipped before the zero point is added. Add first: the integers that are stored must "
        "lie between −128 and 127.",
    )
    yield (
        exact * out.scale + out.zero_point * (1 - out.scale),
        "The scale of the result is missing: divide the real result by it before you round.",
    )
    yield from _of_products(case) if case.op == DENSE else _of_pairs(case, exact)
    yield (
        (exact - out.zero_point) * out.scale**2 + out.zero_point,
        "The real result is multiplied by the scale of the result: divide by it.",
    )
    yield (
        np.clip(exact, -HIGHEST, HIGHEST),
        "The least integer of int8 is −128: clip to −128 … 127.",
    )
    yield (
        (np.clip(np.rint(exact), 0, 255) - LOWEST) % 256 + LOWEST,
        "The integers of int8 lie between −128 and 127, not between 0 and 255.",
    )
    for index, own in enumerate(case.parameters):
        if own.zero_point:
            changed = [*operands]
            changed[index] = own.scale * (numbers(case)[index].astype("float64") + own.zero_point)
            yield (
                _steps(case, changed, out),
                f"The zero point of {names[index] if len(operands) > 1 else 'x'} is added, but it must be "
                "subtracted: real = scale · (integer − zero point).",
            )
    added = [
        own.scale * (value.astype("float64") + own.zero_point)
        for own, value in zip(case.parameters, numbers(case))
    ]
    if len(operands) > 1:
        yield (
            _steps(case, added, out),
            "The zero points of the operands are added, but they must be subtracted: "
            "real = scale · (integer − zero point).",
        )


def _of_products(case: Case) -> Iterator[Candidate]:
    x, weight = (value.astype("int64") - own.zero_point for value, own in zip(numbers(case), case.parameters))
    sums, factor = x @ weight.T, case.parameters[0].scale * case.parameters[1].scale / case.out.scale
    for bits in (8, 16):
        half = 2 ** (bits - 1)
        narrow = (sums + half) % (2 * half) - half
        yield (
            narrow * factor + case.out.zero_point,
            f"The sums wrap around in {bits} bits. Products of 8-bit integers have up to 16 bits, and their "
            'sums have more: `relay.nn.dense(…, out_dtype="int32")`.',
        )
    byte = [(value - LOWEST) % 256 + LOWEST for value in (x, weight)]
    if any((narrow != wide).any() for narrow, wide in zip(byte, (x, weight))):
        yield (
            byte[0] @ byte[1].T * factor + case.out.zero_point,
            "The difference between an integer and its zero point wraps around in 8 bits: it needs 9. "
            'Convert to int32 before you subtract: `relay.cast(x.expr, "int32")`.',
        )
    yield (
        sums * (case.parameters[0].scale + case.parameters[1].scale) / case.out.scale + case.out.zero_point,
        "The scales of the operands are added. The scale of a product is the product of the scales.",
    )
    for place, name in enumerate(("x", "the weight")):
        yield (
            sums * case.parameters[1 - place].scale / case.out.scale + case.out.zero_point,
            f"The scale of {name} is missing: a product of integers must be multiplied by both scales.",
        )
    yield (
        sums / factor + case.out.zero_point,
        "The factor of the requantization is inverted: multiply by the operands' scales, and divide by "
        "the scale of the result.",
    )
    raw_x, raw_w = (value.astype("int64") for value in numbers(case))
    zx, zw = (own.zero_point for own in case.parameters)
    correct = raw_x @ raw_w.T - zw * raw_x.sum(-1, keepdims=True) - zx * raw_w.sum(-1)
    yield (
        correct * factor + case.out.zero_point,
        "A term of the expanded product is missing: k · (zero point of x) · (zero point of the weight).",
    )


def _of_pairs(case: Case, exact: Anything) -> Iterator[Candidate]:
    import numpy as np

    raw = [value.astype("int64") - own.zero_point for value, own in zip(numbers(case), case.parameters)]
    out = case.out
    if case.op == ADD:
        for place in (0, 1):
            scale = case.parameters[place].scale / out.scale
            yield (
                (raw[0] + raw[1]) * scale + out.zero_point,
                "Integers with different parameters are added as if they had one scale. Multiply each by its "
                "own scale first.",
            )
        parts = [np.rint(value * own.scale / out.scale) for value, own in zip(raw, case.parameters)]
        yield (
            parts[0] + parts[1] + out.zero_point,
            "Each operand is rounded before the addition, so two errors add up. Add the real numbers first, "
            "then round once.",
        )
    if case.op == LEAKY_RELU:
        x = numbers(case)[0].astype("int64")
        own = case.parameters[0]
        linear = raw[0] * own.scale / out.scale + out.zero_point
        by_sign = np.where(x < 0, case.alpha * raw[0], raw[0])
        yield (
            by_sign * own.scale / out.scale + out.zero_point,
            "A real number is negative if its integer is less than the *zero point*, not less than 0.",
        )
        yield linear, "Negative numbers are not multiplied by `alpha`."
        yield (
            np.where(raw[0] < 0, case.alpha * linear, linear),
            "`alpha` multiplies the zero point, too. Multiply before the zero point of the result is added.",
        )
        yield (
            np.where(raw[0] < 0, linear, case.alpha * (linear - out.zero_point) + out.zero_point),
            "The positive numbers are multiplied by `alpha`, but it is the negative ones that should be.",
        )
        yield (
            np.where(raw[0] < 0, out.zero_point, linear),
            "Negative numbers become 0, as in a plain ReLU: they should be multiplied by `alpha`.",
        )
