"""The exercise of chapter 13: a shape analyser. What the learner is given."""

from __future__ import annotations


class ShapeError(Exception):
    """The shapes in a program do not fit."""
