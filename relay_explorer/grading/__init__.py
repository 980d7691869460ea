"""Checks of a learner's answer, with feedback that shows the smallest program that it gets wrong.

from relay_explorer.grading import check
check("type_relation", distances)
"""

from __future__ import annotations

from .attempt import attempt
from .check import check, grade
from .feedback import Failure, Feedback, WrongAnswerError

__all__ = ["Failure", "Feedback", "WrongAnswerError", "attempt", "check", "grade"]
