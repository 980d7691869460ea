"""The exercise of chapter 13: a shape analyzer. The error class given to the learner."""

from __future__ import annotations


class ShapeError(Exception):
    """The shapes in a program do not match."""
