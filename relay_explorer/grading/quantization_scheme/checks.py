"""The checks of the exercise `quantization_scheme`: the budget of bits, and accuracy on unseen images."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any as Anything

from ...ir.errors import RelayError
from ...quantize import Scheme
from ..answer_values import repr_of
from ..budget import limited
from ..check import Exercise, Property, Remark, crashed
from ..feedback import Failure
from . import DATA_BITS, IN_FLOAT, WEIGHT_BITS, Quantized, quantize
from .hints import accuracy_hint, axis_hint, error_hint, sentences

SECONDS = 20.0  # for one network: forty times what the solution needs
BARS = {"digits": (0.9, 0.94), "perceptron": (0.95, 0.97)}  # for half of the points, and for all
VIEW, CAPTION = "ir", "The network, as your scheme has quantized it"
MANY = 100  # random cases, from which on grading uses all unseen images


def _quantized(answer: Anything, network: str, batches: Sequence[int]) -> Quantized | Failure:
    """Quantize a network by the scheme that an answer returns; return the failure if that is impossible."""
    case = f"the network `{network}`"
    wanted = "a scheme: an instance of a class derived from `Scheme`"
    outcome = limited(SECONDS, answer)
    if outcome.error is not None:
        says = sentences(outcome.error.help) if isinstance(outcome.error, RelayError) else ""
        return crashed("scheme()", outcome, wanted, hint=says)
    if not isinstance(outcome.value, Scheme):
        says = (
            "Return an instance: `return MyScheme()`, where the class begins with `class MyScheme(Scheme)`."
        )
        return Failure("scheme()", wanted, repr_of(outcome.value, 80), says, printed=outcome.printed)
    outcome = limited(SECONDS, quantize, outcome.value, network, batches)
    if outcome.error is None:
        result: Quantized = outcome.value
        return result
    if isinstance(outcome.error, RelayError):
        got = f"an error: {outcome.error.message}"
        cause = outcome.error.__cause__
        if cause is not None and not isinstance(cause, RelayError):  # the scheme raised it
            return crashed(case, outcome._replace(error=cause), "a quantized program")
        says = sentences([*outcome.error.help, error_hint(outcome.error)])
        return Failure(case, "a quantized program", got, says, printed=outcome.printed)
    return crashed(case, outcome, "a quantized program")


def _layers(result: Quantized) -> str:
    return "\n".join(f"layer {place}: {product}" for place, product in enumerate(result.products))


def _over_budget(result: Quantized, network: str) -> Failure | None:
    """Return the failure of a scheme that uses more than the budget allows."""
    case = f"the network `{network}`"
    wanted = (
        f"at most {IN_FLOAT} layer in float, and in the others 8-bit integers: weights of {WEIGHT_BITS} bits "
        f"(at most {2**WEIGHT_BITS} levels), data of {DATA_BITS} bits (at most {2**DATA_BITS})"
    )
    more: dict[str, Anything] = {"program": result.trace.realized, "view": VIEW, "caption": CAPTION}
    if not result.same:
        got = "another float program than the network"
        says = "Do not override `prepare`: the scheme quantizes the network, and does not change it."
        return Failure(case, wanted, got, says, **more)
    if len(result.products) != result.layers:
        got = f"{len(result.products)} products, for {result.layers} layers\n{_layers(result)}"
        says = "Each layer becomes one product of integers: two would have more bits together."
        if len(result.products) < result.layers:
            says = (
                "Some layers are replaced by other operators. Each becomes one product of 8-bit integers: do "
                "not override `realize`, or call `super().realize` in it."
            )
        return Failure(case, wanted, got, says, **more)
    if result.sums:
        got = f"`{result.sums[0]}` of floating-point numbers, which the network does not have"
        says = "Each layer adds up products of integers, and nothing else."
        return Failure(case, wanted, got, says, **more)
    if sum(product.in_float for product in result.products) > IN_FLOAT:
        says = (
            "A layer stays in float where `annotate` returns None or Keep, or where an operand has no "
            "quantizer. Annotate both operands: `Annotation([data, weight])`."
        )
        return Failure(case, wanted, _layers(result), axis_hint(result) or says, **more)
    for product in result.products:
        if product.in_float:
            continue
        if not product.dtype.endswith("int8"):
            says = "Data and weights are stored as int8 or uint8: leave `dtype` to the package."
            return Failure(case, wanted, _layers(result), says, **more)
        if product.weight_steps >= 2**WEIGHT_BITS or product.data_steps >= 2**DATA_BITS:
            says = (
                f"The bits of a quantizer are its second argument: `Quantizer(Role.INPUT, {DATA_BITS})` for "
                f"data and `Quantizer(Role.WEIGHT, {WEIGHT_BITS})` for weights."
            )
            return Failure(case, wanted, _layers(result), says, **more)
    return None


def _accurate(answer: Anything, network: str, bar: float, batches: Sequence[int]) -> Failure | Remark | None:
    result = _quantized(answer, network, batches)
    if isinstance(result, Failure):
        return result
    failure = _over_budget(result, network)
    if failure is not None:
        return failure
    if result.after >= bar:
        return Remark(f"{result.after:.1%}, of {result.before:.1%} in float")
    return Failure(
        f"the network `{network}`",
        f"at least {bar:.0%} of the unseen images ({result.before:.1%} in float)",
        f"{result.after:.1%}\n{_layers(result)}",
        accuracy_hint(result),
        result.trace.realized,
        VIEW,
        CAPTION,
    )


def _budget(answer: Anything, rng: random.Random, count: int) -> Failure | None:
    for network in BARS:
        result = _quantized(answer, network, (0,))
        if isinstance(result, Failure):
            return result
        failure = _over_budget(result, network)
        if failure is not None:
            return failure
    return None


def _on(network: str, well: bool) -> Property:
    bar = BARS[network][well]

    def test(answer: Anything, rng: random.Random, count: int) -> Failure | Remark | None:
        return _accurate(answer, network, bar, (0, 1, 2) if count > MANY else (0, 1))

    name = f"{network}_well" if well else network
    return Property(name, f"the network `{network}` recognizes {bar:.0%}", test)


EXERCISE = {
    "": Exercise(
        "A scheme of your own",
        "scheme()",
        (
            Property("budget", "the layers keep to the budget", _budget),
            *[_on(network, well) for network in BARS for well in (False, True)],
        ),
    ),
}
