"""What the view of a quantization must hold beyond its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.views.check import Checker

Json = Any


def check_quantize(checker: Checker, view: dict[str, Json]) -> None:
    """The parts fit together: states and rows, integers and rows, choices and axes."""
    split, rows = view["split"], checker.rows
    checker.need(split <= rows, "split", "more than there are rows")
    checker.need(len(view["states"]) == 4 * split, "states", "one for each row of the float program")
    checker.need(len(view["integers"]) == 3 * (rows - split), "integers", "one for each other row")
    phases = [step[1] for step in view["steps"]]
    checker.need(phases == sorted(phases), "steps", "the phases follow one another")
    for number, step in enumerate(view["steps"]):
        checker.sentence(step[3], f"steps[{number}]")
    sizes = [len(axis[1]) for axis in view["axes"]]
    choices = [variant[0] for variant in view["variants"]]
    checker.need(len({tuple(choice) for choice in choices}) == len(choices), "variants", "one is there twice")
    for number, choice in enumerate(choices):
        fits = len(choice) == len(sizes) and all(option < size for option, size in zip(choice, sizes))
        checker.need(fits, f"variants[{number}]", "an option for each axis")
