"""Entries of a table of common mistakes, and the check of one entry."""

from __future__ import annotations

from typing import NamedTuple
from unittest.mock import patch

from relay_explorer.grading import Feedback, budget, check
from tests.exercises.answers import answer

FEW = 20  # random programs of a property; learners' answers are tried on three times as many


class Mistake(NamedTuple):
    """Changes of a solution's text, the property that then fails first, and a part of the hint. FEW random
    `programs` reveal most mistakes. An `endless` one gets a quarter of the usual time, because it would never
    finish.
    """

    changes: list[tuple[str, str]]
    failed_property: str
    hint: str
    endless: bool = False
    programs: int = FEW


def check_mistake(exercise: str, function: str, part: str, mistake: Mistake) -> Feedback:
    """Return the feedback for a mistake, after checking that it names the expected property and hint, and
    shows a small program and a picture.
    """
    with patch.object(budget, "SHARE", 0.25 if mistake.endless else 1.0):
        feedback = check(part, answer(exercise, function, *mistake.changes), programs=mistake.programs)
    assert feedback.failed == mistake.failed_property, str(feedback)
    assert feedback.failure is not None
    assert mistake.hint in feedback.failure.hint, str(feedback)
    assert feedback.failure.program is None or feedback.picture is not None
    assert len(feedback.failure.case) <= 2500, feedback.failure.case
    return feedback
