"""The exercise of chapter 18: a partial evaluator for arithmetic and `if`. What the learner is given."""

from __future__ import annotations

from ..constant_folding import evaluate

__all__ = ["evaluate"]
